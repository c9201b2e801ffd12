#include "deform/flesh_slope.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/rng.h"

namespace derm::detail {
namespace {

Vec3f areaOf(const Triangle& t, std::span<const Vec3f> x) {
  return Vec3f(x[t[1]] - x[t[0]]).cross(Vec3f(x[t[2]] - x[t[0]]));
}

// Long thin triangles whose corners are thrown in all directions: more than passes towards the mean
// of each triangle can set right.
TEST(FleshSlope, NoTriangleTurnsHoweverThinAndHoweverItsCornersAreThrown) {
  constexpr int kSide = 14;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    const auto random = [&](double from, double to) {
      return static_cast<float>(from + (to - from) * rng.uniform());
    };
    TriMesh mesh;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x)
        mesh.positions.push_back({0.1f * static_cast<float>(x) + random(-0.04, 0.04),
                                  static_cast<float>(y), random(-0.02, 0.02)});
    for (std::uint32_t y = 0; y + 1 < kSide; ++y)
      for (std::uint32_t x = 0; x + 1 < kSide; ++x) {
        const std::uint32_t p = y * kSide + x;
        mesh.triangles.push_back({p, p + 1, p + kSide + 1});
        mesh.triangles.push_back({p, p + kSide + 1, p + kSide});
      }
    std::vector<std::uint32_t> vertices(mesh.positions.size());
    std::iota(vertices.begin(), vertices.end(), 0u);
    const FleshPatch patch =
        makeFleshPatch(mesh, vertices, std::vector<float>(vertices.size(), 1.0f));
    FleshSlopeScratch scratch(patch);
    std::vector<Vec3f> positions = mesh.positions;
    for (Vec3f& p : positions) p += Vec3f(random(-1, 1), random(-1, 1), random(-1, 1));
    limitSlope(patch, 0.5f, true,
               {.vertices = vertices,
                .before = mesh.positions,
                .positions = positions,
                .bone_from = Vec3f(0, 0, -10),
                .bone_along = Vec3f(0, 1, 0)},
               scratch);
    for (const Triangle& t : mesh.triangles)
      EXPECT_GT(areaOf(t, positions).dot(areaOf(t, mesh.positions)), 0) << seed;
  }
}

}  // namespace
}  // namespace derm::detail
