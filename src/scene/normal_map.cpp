#include "derm/scene/normal_map.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "derm/mesh/normals.h"
#include "derm/mesh/uv_raster.h"
#include "derm/scene/linear_reference.h"

namespace derm {
namespace {

constexpr int kMaxSide_px = 16384;

/// What a pixel shows: a normal in tangent space; all zero where nothing was drawn.
using Pixels = std::vector<Vec3f>;

struct Surfaces {
  std::span<const Triangle> triangles;
  std::span<const Vec3f> fine;      ///< normals with the layers
  std::span<const Vec3f> plain;     ///< without
  std::span<const Vec4f> tangents;  ///< without
};

Vec3f inTangentSpace(const Surfaces& s, const SurfacePoint& at) {
  const Vec3f normal = valueAt(at, s.triangles, s.plain).normalized();
  const Vec3f slanted = valueAt(at, s.triangles, s.tangents).head<3>();
  const Vec3f tangent = (slanted - normal * normal.dot(slanted)).normalized();
  const Vec3f bitangent = s.tangents[s.triangles[at.triangle][0]].w() * normal.cross(tangent);
  const Vec3f fine = valueAt(at, s.triangles, s.fine);
  const Vec3f out(fine.dot(tangent), fine.dot(bitangent), fine.dot(normal));
  const float length = out.norm();
  return length > 1e-6f && out.allFinite() ? Vec3f(out / length) : Vec3f(0, 0, 1);
}

/// Gives the rings around charts the mean of what lies beside them, ring after ring.
void widen(const UvRaster& raster, int padding, Pixels& pixels) {
  std::vector<std::pair<std::size_t, Vec3f>> found;
  for (int ring = 1; ring <= padding; ++ring) {
    found.clear();
    for (int y = 0; y < raster.height; ++y)
      for (int x = 0; x < raster.width; ++x) {
        const std::size_t at = raster.texel(x, y);
        // Those of a ring before whose neighbours cancelled out have another try.
        if (raster.rings[at] == 0 || raster.rings[at] > ring || !pixels[at].isZero()) continue;
        Vec3f sum = Vec3f::Zero();
        for (int j = std::max(y - 1, 0); j <= std::min(y + 1, raster.height - 1); ++j)
          for (int i = std::max(x - 1, 0); i <= std::min(x + 1, raster.width - 1); ++i)
            sum += pixels[raster.texel(i, j)];
        if (sum.norm() > 1e-6f) found.emplace_back(at, sum.normalized());
      }
    if (found.empty()) return;
    for (const auto& [at, normal] : found) pixels[at] = normal;
  }
}

std::uint8_t encoded(float component) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(127.5f * component + 127.5f), 0l, 255l));
}

}  // namespace

Result<Rgba8Image> foldNormalMap(Scene& scene, double time_s, const NormalMapDesc& desc,
                                 Diagnostics& notes) {
  for (const auto& [key, size] : {std::pair{"width", desc.width}, {"height", desc.height}})
    if (size < 1 || size > kMaxSide_px)
      return Error{ErrorCode::BadArgument, "must be 1 to 16384 pixels", {.element = key}};
  const TriMesh& rest = scene.stack().output().rest;
  if (rest.uvs.empty())
    return Error{ErrorCode::BadData,
                 "has no texture coordinates to draw a map in",
                 {.file = scene.character()->name}};
  DERM_TRY(const std::shared_ptr<const Stack> plain_stack, scene.linearReferenceStack());
  const SkinFrame& fine = scene.playback().frameAt(time_s);
  LinearReference plain(plain_stack);
  const SkinFrame& flat = plain.evaluate(scene.playback().pose(), time_s);
  std::vector<Vec4f> tangents(flat.tangents().begin(), flat.tangents().end());
  if (tangents.empty()) {
    TriMesh posed = rest;
    posed.positions.assign(flat.positions().begin(), flat.positions().end());
    posed.normals.assign(flat.normals().begin(), flat.normals().end());
    tangents = uvTangents(posed);
  }
  const Surfaces surfaces{rest.triangles, fine.normals(), flat.normals(), tangents};
  const UvRaster raster = rasteriseUvs(
      uvsInSquare(rest.uvs, squareOfMost(rest.uvs, rest.triangles)), rest.triangles,
      {.width = desc.width, .height = desc.height, .padding = std::max(desc.padding, 0)});
  if (raster.outside_corners > 0)
    notes.warn("uv-outside-map", scene.character()->name,
               "texture coordinates outside the square that most lie in are not drawn");
  Pixels pixels(raster.points.size(), Vec3f::Zero());
  for (std::size_t i = 0; i < pixels.size(); ++i)
    if (raster.hasSurface(i) && raster.rings[i] == 0)
      pixels[i] = inTangentSpace(surfaces, raster.points[i]);
  widen(raster, desc.padding, pixels);
  Rgba8Image out(desc.width, desc.height);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const Vec3f n = pixels[i].isZero() ? Vec3f(0, 0, 1) : pixels[i];
    out.pixels[i] = {encoded(n.x()), encoded(desc.y_up ? n.y() : -n.y()), encoded(n.z()), 255};
  }
  return out;
}

}  // namespace derm
