// Folds as normal maps: what plays is what is stated, at frames and between them.
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>

#include "derm/deform/basic_layers.h"
#include "derm/io/character_file.h"
#include "derm/io/png.h"
#include "derm/mesh/uv_raster.h"
#include "derm/scene/bake.h"

#include "deform/wrinkle_rig.h"
#include "support/compare.h"
#include "support/posed.h"
#include "support/test_folder.h"

namespace derm {
namespace {

using testing_support::poseAt;
using testing_support::sheet;
using testing_support::squeezable;

/// A picture's normal at a texel's middle, as a shader decodes it.
Vec3f texel(const Rgba8Image& image, float u, float v) {
  const Rgba8& p = image.at(std::min(int(u * float(image.width)), image.width - 1),
                            std::min(int(v * float(image.height)), image.height - 1));
  return Vec3f(Vec3f(float(p.r), float(p.g), float(p.b)) * (2 / 255.0f) - Vec3f::Ones())
      .normalized();
}

class FoldMaps : public testing_support::FolderTest {
 protected:
  void SetUp() override {
    TriMesh mesh = sheet(12);
    for (const Vec3f& p : mesh.positions)
      mesh.uvs.push_back(Vec2f(0.1f + 0.8f * p.x(), 0.5f + 0.8f * p.z()));
    desc_.scene.character = std::make_shared<const Character>(squeezable(std::move(mesh)));
    desc_.recipe = parseRecipe(R"(fps = 10
[[layer]]
type = "wrinkles"
name = "folds"
from = [0.1, 0, 0]
to = [0.9, 0, 0]
width_m = 0.5
points = 9
h_max_m = 0.05
)",
                               "r.toml")
                       .value();
    desc_.output = folder_ / "sheet.glb";
    desc_.as = BakeAs::NormalMaps;
    desc_.fold_maps.size_px = 512;
  }
  BakeDesc desc_;
  Diagnostics notes_;
};

TEST_F(FoldMaps, TheMeshStaysAndTheClipCarriesTheWeights) {
  const Result<BakeReport> report = bake(desc_, notes_);
  ASSERT_TRUE(report.ok()) << report.error().text();
  ASSERT_TRUE(report->fold_maps);
  EXPECT_EQ(report->as, "normal-maps");
  const Scene scene = openScene(desc_.recipe, desc_.scene, notes_).value();
  const Character& own = *scene.character();
  const Character out = loadCharacter(desc_.output, {}, notes_).value();
  EXPECT_EQ(out.mesh.vertexCount(), own.mesh.vertexCount());
  EXPECT_EQ(out.mesh.triangles, own.mesh.triangles);
  std::size_t maps = 0;
  for (const Material& m : out.materials) maps += m.detail_maps.size();
  EXPECT_EQ(maps, report->fold_maps->maps);
  EXPECT_GT(maps, 0u);
  EXPECT_EQ(out.controls.size(), maps);
  const Clip& clip = out.clips[out.findClip("squeeze").value()];
  std::size_t tracks = 0;
  for (const Track& t : clip.tracks) {
    if (t.channel != Channel::Control) continue;
    ++tracks;
    for (const float w : t.values) {
      EXPECT_GE(w, 0.0f);
      EXPECT_LE(w, 1.0f);
    }
  }
  EXPECT_EQ(tracks, maps);
  EXPECT_EQ(poseAt(out, clip, 0).controls, std::vector<float>(maps, 0.0f)) << "no folds at rest";
}

/// Characters of several textures (UDIM) have their charts side by side.
TEST_F(FoldMaps, AreDrawnWhereverInTheTextureChartsLie) {
  Character beside = *desc_.scene.character;
  for (Vec2f& uv : beside.mesh.uvs) uv += Vec2f(1, 0);
  desc_.scene.character = std::make_shared<const Character>(beside);
  const Result<BakeReport> report = bake(desc_, notes_);
  ASSERT_TRUE(report.ok()) << report.error().text();
  EXPECT_GT(report->fold_maps->maps, 0u);
  EXPECT_GT(report->fold_maps->largest_turn_rad, 0.1);
}

TEST_F(FoldMaps, WhatPlaysIsWithinWhatIsStatedAtAndBetweenFrames) {
  const Result<BakeReport> report = bake(desc_, notes_);
  ASSERT_TRUE(report.ok()) << report.error().text();
  const auto file =
      std::make_shared<const Character>(loadCharacter(desc_.output, {}, notes_).value());
  const Clip& clip = file->clips[file->findClip("squeeze").value()];
  std::vector<Rgba8Image> images;
  for (const DetailMap& map : file->materials.front().detail_maps)
    images.push_back(
        decodePng(file->images[static_cast<std::size_t>(map.image)].bytes, "map").value());
  Scene folded = openScene(desc_.recipe, desc_.scene, notes_).value();
  Recipe smooth_recipe = desc_.recipe;
  for (RecipeLayer& layer : smooth_recipe.layers) layer.enabled = false;
  Scene smooth = openScene(smooth_recipe, desc_.scene, notes_).value();
  const TriMesh& coarse = folded.character()->mesh;
  const TriMesh& fine = folded.stack().output().rest;
  // At every vertex of the folded skin that has a texel of its own: where it lies on the coarse
  // mesh is found in the texture.
  constexpr int kSide = 1024;
  const UvRaster under =
      rasteriseUvs(coarse.uvs, coarse.triangles, {.width = kSide, .height = kSide});
  double most = 0, worst_rms = 0, most_flat = 0;
  const std::span<const double> times = folded.frameTimes();
  for (std::size_t i = 0; i + 1 < 2 * times.size(); i += 3) {
    const double t = i % 2 == 0 ? times[i / 2] : 0.5 * (times[i / 2] + times[i / 2 + 1]);
    const SkinFrame& f = folded.playback().frameAt(t);
    const SkinFrame& s = smooth.playback().frameAt(t);
    const Pose pose = poseAt(*file, clip, t);
    double squares = 0;
    std::size_t count = 0;
    for (std::size_t v = coarse.vertexCount(); v < fine.vertexCount(); ++v) {
      const Vec2f uv = fine.uvs[v];
      const int x = int(uv.x() * kSide), y = int(uv.y() * kSide);
      if (x < 0 || y < 0 || x >= kSide || y >= kSide) continue;
      const SurfacePoint& at = under.points[under.texel(x, y)];
      if (!under.hasSurface(under.texel(x, y))) continue;
      const Triangle& corners = coarse.triangles[at.triangle];
      const auto n = valueAt<Vec3f>(at, coarse.triangles, s.normals()).normalized();
      const Vec3f e1 = s.positions()[corners[1]] - s.positions()[corners[0]];
      const Vec3f e2 = s.positions()[corners[2]] - s.positions()[corners[0]];
      const Vec2f d1 = coarse.uvs[corners[1]] - coarse.uvs[corners[0]];
      const Vec2f d2 = coarse.uvs[corners[2]] - coarse.uvs[corners[0]];
      const Vec3f tu = (e2.cross(n) * d1.x() + n.cross(e1) * d2.x()).normalized();
      const Vec3f tv = (e2.cross(n) * d1.y() + n.cross(e1) * d2.y()).normalized();
      Vec3f sum(0, 0, 1);
      for (std::size_t m = 0; m < images.size(); ++m) {
        const Vec3f flat(0, 0, 1);
        const Vec3f one =
            (flat + pose.controls[m] * (texel(images[m], uv.x(), uv.y()) - flat)).normalized();
        sum = Vec3f(sum.x() + one.x(), sum.y() + one.y(), sum.z() * one.z());
      }
      const Vec3f local = sum.normalized();
      const Vec3f shown = (tu * local.x() - tv * local.y() + n * local.z()).normalized();
      const double angle = std::acos(std::clamp(double(shown.dot(f.normals()[v])), -1.0, 1.0));
      most = std::max(most, angle);
      most_flat =
          std::max(most_flat, std::acos(std::clamp(double(n.dot(f.normals()[v])), -1.0, 1.0)));
      squares += angle * angle;
      ++count;
    }
    ASSERT_GT(count, 50u);
    worst_rms = std::max(worst_rms, std::sqrt(squares / double(count)));
  }
  const BakeReport::FoldMaps& stated = *report->fold_maps;
  const double stated_rms = std::max(stated.rms_error_rad, stated.rms_error_between_rad);
  RecordProperty("rms_deg", std::to_string(worst_rms * 180 / M_PI));
  RecordProperty("stated_rms_deg", std::to_string(stated_rms * 180 / M_PI));
  EXPECT_GT(most_flat, 0.3) << "folds are deep";
  // Vertices lie where folds are steepest, and the nearest texel is half a texel off.
  EXPECT_LT(worst_rms, 1.5 * stated_rms + 0.02);
  EXPECT_LT(stated_rms, 0.1);
  EXPECT_LT(worst_rms, 0.3 * most_flat);
}

TEST_F(FoldMaps, WithoutTextureCoordinatesThereIsNothingToDrawIn) {
  Character bare = *desc_.scene.character;
  bare.mesh.uvs.clear();
  desc_.scene.character = std::make_shared<const Character>(std::move(bare));
  const Result<BakeReport> report = bake(desc_, notes_);
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.error().message.find("no texture coordinates"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(desc_.output));
}

}  // namespace
}  // namespace derm
