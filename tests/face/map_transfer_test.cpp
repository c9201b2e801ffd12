#include "derm/face/map_transfer.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"

namespace derm::map_transfer_test {
namespace {

/// A photo of 200 x 200 with one slope everywhere, inside a mask.
SlopeMap evenDetail(float p, float q) {
  SlopeMap map;
  map.slopes = FloatImage(200, 200, 2);
  map.mask = FloatImage(200, 200, 1, 1.0f);
  for (std::size_t i = 0; i < map.mask.values.size(); ++i) {
    map.slopes.values[2 * i] = p;
    map.slopes.values[2 * i + 1] = q;
  }
  return map;
}

/// A wavy plate of 21 x 21 points facing +z, one unit wide, whose texture is turned by an angle and
/// perhaps mirrored; with `seam` its left and right half are charts beside each other, the right
/// one turned by half a turn.
TriMesh plate(double turn_deg, bool mirrored, bool seam) {
  TriMesh mesh;
  const double c = std::cos(turn_deg * std::numbers::pi / 180),
               s = std::sin(turn_deg * std::numbers::pi / 180);
  const int halves = seam ? 2 : 1;
  for (int half = 0; half < halves; ++half) {
    const int columns = seam ? 11 : 21;
    const auto first = static_cast<std::uint32_t>(mesh.positions.size());
    for (int j = 0; j < 21; ++j)
      for (int i = 0; i < columns; ++i) {
        const double x = (i + 10 * half) / 20.0 - 0.5, y = 0.5 - j / 20.0;
        mesh.positions.emplace_back(static_cast<float>(x), static_cast<float>(y),
                                    static_cast<float>(0.05 * std::sin(5 * x) * std::cos(4 * y)));
        if (seam) {
          // Upright at the left of the texture, upside down at its right.
          const double u = half == 0 ? 0.5 * (x + 0.5) : 1 - 0.5 * x - 0.2;
          const double v = half == 0 ? 0.5 - 0.8 * y : 0.5 + 0.8 * y;
          mesh.uvs.emplace_back(static_cast<float>(u * 0.9), static_cast<float>(v));
        } else {
          const double right = 0.6 * (mirrored ? -x : x), down = -0.6 * y;
          mesh.uvs.emplace_back(static_cast<float>(0.5 + c * right + s * down),
                                static_cast<float>(0.5 - s * right + c * down));
        }
      }
    for (int j = 0; j < 20; ++j)
      for (int i = 0; i + 1 < columns; ++i) {
        const auto at = [&](int a, int b) {
          return first + static_cast<std::uint32_t>(b * columns + a);
        };
        mesh.triangles.push_back({at(i, j), at(i, j + 1), at(i + 1, j + 1)});
        mesh.triangles.push_back({at(i, j), at(i + 1, j + 1), at(i + 1, j)});
      }
  }
  return mesh;
}

struct Labels {
  std::vector<LabelledPoint> points;
  std::vector<PhotoLandmark> landmarks;
};
/// Nine corners of the plate, where a photo of 200 px from the front shows them.
Labels labelsOf(const TriMesh& mesh) {
  Labels out;
  for (std::uint32_t t = 0; t < mesh.triangles.size(); t += 47) {
    const Vec3f p = mesh.positions[mesh.triangles[t][0]];
    const std::string label = "m" + std::to_string(t);
    out.points.push_back({label, {t, Vec3f::UnitX()}});
    out.landmarks.push_back(
        {label,
         {100 + 180.0 * static_cast<double>(p.x()), 100 - 180.0 * static_cast<double>(p.y())}});
  }
  return out;
}

TEST(MapTransfer, SlopesTurnWithTheTexture) {
  // The photo at Rot(-30 degrees) u: slope (.6, 0) becomes (.519615, .3).
  SlopeMap map = evenDetail(0.6f, 0);
  std::vector<PhotoLandmark> photo, texture;
  const double c = std::cos(std::numbers::pi / 6), s = std::sin(std::numbers::pi / 6);
  for (int i = 0; i < 4; ++i) {
    const double u = i % 2 == 0 ? -40 : 40, v = i < 2 ? -40 : 40;
    texture.push_back({std::to_string(i), {64 + u, 64 + v}});
    photo.push_back({std::to_string(i), {100 + c * u + s * v, 100 - s * u + c * v}});
  }
  Diagnostics notes;
  const auto moved = transferDetail(map, photo, texture, {.width = 128, .height = 128}, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  EXPECT_NEAR(moved->slopes.at(64, 64, 0), 0.519615f, 1e-5f);
  EXPECT_NEAR(moved->slopes.at(64, 64, 1), 0.3f, 1e-5f);
  EXPECT_EQ(moved->mask.at(64, 64, 0), 1.0f);
}

TEST(MapTransfer, DirectionsOnTheSurfaceAreThePhotosWhateverTheChart) {
  const SlopeMap map = evenDetail(0.3f, 0.1f);
  for (const double turn : {0.0, 30.0, 90.0, 200.0})
    for (const bool mirrored : {false, true}) {
      const TriMesh mesh = plate(turn, mirrored, false);
      const Labels labels = labelsOf(mesh);
      Diagnostics notes;
      const auto moved = transferDetail(map, labels.landmarks, mesh, labels.points,
                                        {.width = 128, .height = 128}, notes);
      ASSERT_TRUE(moved.ok()) << moved.error().text();
      // At the middle the texture's axes are known; slopes along them are the photo's.
      const double c = std::cos(turn * std::numbers::pi / 180),
                   s = std::sin(turn * std::numbers::pi / 180);
      const double flip = mirrored ? -1 : 1;
      const double along_u = 0.3 * flip * c + 0.1 * s, along_v = -0.3 * flip * s + 0.1 * c;
      EXPECT_NEAR(moved->slopes.at(64, 64, 0), along_u, 0.02) << turn << mirrored;
      EXPECT_NEAR(moved->slopes.at(64, 64, 1), along_v, 0.02) << turn << mirrored;
      EXPECT_EQ(moved->slopes.at(1, 1, 0), 0.0f) << "no surface there";
    }
}

TEST(MapTransfer, DetailGoesOnAcrossSeams) {
  // A slope that grows from left to right, continuous; the seam runs through the middle.
  SlopeMap map = evenDetail(0, 0);
  for (int y = 0; y < 200; ++y)
    for (int x = 0; x < 200; ++x) map.slopes.at(x, y, 0) = static_cast<float>(x) / 400;
  const TriMesh mesh = plate(0, false, true);
  const Labels labels = labelsOf(mesh);
  Diagnostics notes;
  const auto moved = transferDetail(map, labels.landmarks, mesh, labels.points,
                                    {.width = 256, .height = 256, .padding = 4}, notes);
  ASSERT_TRUE(moved.ok()) << moved.error().text();
  EXPECT_EQ(notes.count("map-overlap"), 0u);
  const auto at = [&](std::uint32_t vertex) {
    const Vec2f uv = mesh.uvs[vertex];
    return sampleBilinear(moved->slopes, uv.x() * 256, uv.y() * 256, 0);
  };
  for (std::uint32_t j = 3; j < 18; ++j) {
    const std::uint32_t left = j * 11 + 10, right = 21 * 11 + j * 11;
    ASSERT_EQ(mesh.positions[left], mesh.positions[right]);
    EXPECT_NEAR(at(left), 0.25f, 0.01f) << "half way";
    EXPECT_NEAR(at(right), -at(left), 0.01f) << "this chart's u runs the other way";
  }
}

TEST(MapTransfer, SkinThatLooksAwayStaysFlat) {
  TriMesh mesh = plate(0, false, false);
  const Labels labels = labelsOf(mesh);
  const SlopeMap map = evenDetail(0.3f, 0);
  mesh.normals.assign(mesh.vertexCount(), Vec3f(1, 0, 0.05f).normalized());
  Diagnostics notes;
  const auto moved = transferDetail(map, labels.landmarks, mesh, labels.points,
                                    {.width = 64, .height = 64}, notes);
  ASSERT_TRUE(moved.ok());
  EXPECT_EQ(moved->masked, 0);
}

TEST(MapTransfer, SameBytesForAnyNumberOfThreads) {
  const TriMesh mesh = plate(30, false, false);
  const Labels labels = labelsOf(mesh);
  const SlopeMap map = evenDetail(0.3f, 0.2f);
  Diagnostics notes;
  std::vector<FloatImage> slopes;
  for (const int threads : {1, 3}) {
    const ThreadLimit limit(threads);
    slopes.push_back(transferDetail(map, labels.landmarks, mesh, labels.points,
                                    {.width = 64, .height = 64}, notes)
                         ->slopes);
  }
  EXPECT_EQ(slopes[0], slopes[1]);
}

TEST(MapTransfer, BadInputIsNamed) {
  const TriMesh mesh = plate(0, false, false);
  const Labels labels = labelsOf(mesh);
  const SlopeMap map = evenDetail(0.3f, 0);
  const auto fails = [&](const TriMesh& m, const Labels& l, const MapTransferDesc& d,
                         const char* word) {
    Diagnostics notes;
    const auto r = transferDetail(map, l.landmarks, m, l.points, d, notes);
    ASSERT_FALSE(r.ok()) << word;
    EXPECT_NE(r.error().text().find(word), std::string::npos) << r.error().text();
  };
  TriMesh bare = mesh;
  bare.uvs.clear();
  fails(bare, labels, {}, "no texture coordinates; unwrap");
  Labels few = labels;
  few.landmarks.resize(2);
  fails(mesh, few, {}, "2 landmarks in common");
  fails(mesh, labels, {.width = 4}, "16 to 16384");
  fails(mesh, labels, {.max_turn_deg = 120}, "max_turn_deg");
  Labels crossed = labels;
  std::swap(crossed.landmarks.front().position, crossed.landmarks.back().position);
  std::swap(crossed.landmarks[1].position, crossed.landmarks[10].position);
  fails(mesh, crossed, {}, "farthest off");
  // Names and numbers of feature points are one label.
  Labels named = labels;
  named.points[0].label = "8.1";
  named.landmarks[0].label = "upper_lip_middle";
  Diagnostics notes;
  EXPECT_TRUE(
      transferDetail(map, named.landmarks, mesh, named.points, {.width = 64, .height = 64}, notes)
          .ok());
  EXPECT_EQ(notes.count("landmark-unmatched"), 0u);
}

}  // namespace
}  // namespace derm::map_transfer_test
