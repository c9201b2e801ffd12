#include "derm/scene/volume_study.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/posed.h"

namespace derm::volume_study_test {
namespace {

TEST(VolumeStudy, MeasuresBeforeAndAfterRegionByRegion) {
  Recipe recipe = defaultVolumeRecipe("cast:cylinder");
  recipe.fps = 4;
  Diagnostics notes;
  const VolumeStudy study = studyVolume(recipe, {}, notes).value();
  EXPECT_NEAR(study.rest_m3, 62.1725, 1e-3);
  ASSERT_GE(study.frames.size(), 2u);
  for (const VolumeStudy::Frame& frame : study.frames) {
    ASSERT_EQ(frame.regions.size(), study.region_names.size());
    double sum = 0, area = 0;
    for (const VolumeStudy::Region& region : frame.regions) {
      sum += region.after.volume_m3;
      area += region.after.area_m2;
    }
    EXPECT_NEAR(sum, frame.after.volume_m3, 1e-9 * study.rest_m3);
    EXPECT_NEAR(area, frame.after.area_m2, 1e-9 * study.rest_area_m2);
    EXPECT_LE(frame.after.min_stretch, 1.0001);
    EXPECT_GE(frame.after.max_stretch, 0.9999);
  }
  EXPECT_LE(study.max_relative_error_after, 1e-5);
  // At rest nothing is moved.
  EXPECT_EQ(study.frames[0].max_move_m, 0);
}

TEST(VolumeStudy, WithoutAVolumeLayerBeforeAndAfterAreOne) {
  Recipe recipe = defaultVolumeRecipe("cast:cylinder");
  recipe.layers.clear();
  recipe.skinning = SkinningMethod::Linear;
  recipe.fps = 4;
  Diagnostics notes;
  const VolumeStudy study = studyVolume(recipe, {}, notes).value();
  EXPECT_EQ(study.region_names.size(), 1u);
  for (const VolumeStudy::Frame& frame : study.frames)
    EXPECT_EQ(frame.before.volume_m3, frame.after.volume_m3);
  EXPECT_GT(study.max_relative_loss_before, 0.05);
  EXPECT_EQ(study.max_relative_error_after, 0);
  EXPECT_NEAR(study.max_relative_change_unheld, study.max_relative_loss_before, 1e-12);
}

TEST(VolumeStudy, CountsWhatJointsDoToTheMorphedShapeNotWhatMorphsDo) {
  Character c = *testing_support::riggedTube();
  MorphTarget fat{.name = "fat", .default_weight = 1};
  for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v) {
    fat.vertices.push_back(v);
    fat.positions.push_back(0.3f * c.mesh.positions[v]);
  }
  c.morphs = {fat};
  c.instances[0].morph_count = 1;
  Recipe recipe = defaultVolumeRecipe("");
  recipe.clip = "bend";
  recipe.fps = 4;
  SceneOptions options;
  options.character = std::make_shared<const Character>(c);
  Diagnostics notes;
  const VolumeStudy study = studyVolume(recipe, options, notes).value();
  const double grown = 1.3 * 1.3 * 1.3;
  for (const VolumeStudy::Frame& frame : study.frames) {
    EXPECT_NEAR(frame.rest_m3, grown * study.rest_m3, 1e-5 * study.rest_m3);
    EXPECT_NEAR(frame.after.volume_m3, frame.rest_m3, 1e-5 * study.rest_m3);
    EXPECT_LT(std::abs(study.wholeChange(frame).after_percent), 1e-3);
    for (const VolumeStudy::Region& region : frame.regions)
      EXPECT_NEAR(region.target_m3, region.rest_m3, 1e-5 * study.rest_m3);
  }
  EXPECT_EQ(study.frames.front().max_move_m, 0);  // the clip begins without a bend
  EXPECT_GT(study.max_relative_loss_before, 1e-4);
  EXPECT_LT(study.max_relative_loss_before, 0.5);  // the shape itself has 1.2 times more
  EXPECT_LE(study.max_relative_error_after, 1e-5);
  const std::vector<VolumeComparison> rows = compareVolumeMethods(recipe, options, notes).value();
  for (const VolumeComparison& row : rows) EXPECT_LT(row.worst_percent, 50) << row.name;
}

/// Two regions, one that grows and one that shrinks, take turns at being the worst: a curve of "the
/// worst of each frame" would zigzag between signs.
TEST(VolumeStudy, ThePlotFollowsOneRegionThroughout) {
  VolumeStudy study{.region_names = {"grows", "shrinks"}, .region_loss_before = {0.05, 0.04}};
  for (int f = 0; f < 6; ++f) {
    const double grown = f % 2 == 0 ? 1.05 : 1.01, shrunk = f % 2 == 0 ? 0.99 : 0.96;
    VolumeStudy::Frame frame{.time_s = 0.1 * f, .rest_m3 = 2};
    frame.regions.resize(2);
    for (VolumeStudy::Region& region : frame.regions) region.rest_m3 = 1;
    frame.regions[0].before.volume_m3 = frame.regions[0].after.volume_m3 = grown;
    frame.regions[1].before.volume_m3 = frame.regions[1].after.volume_m3 = shrunk;
    study.frames.push_back(frame);
  }
  EXPECT_LT(study.worstRegionChange(study.frames[1]).before_percent, 0);
  const PlotDesc plot = plotOf(study);
  ASSERT_EQ(plot.series.size(), 4u);
  EXPECT_EQ(plot.series[2].name, "before, grows");
  for (const double y : plot.series[2].y) EXPECT_GT(y, 0.9);
}

TEST(VolumeStudy, CancelsWhenAsked) {
  Diagnostics notes;
  const auto stopped = studyVolume(defaultVolumeRecipe("cast:cylinder"), {}, notes,
                                   [](double, std::string_view) { return false; });
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code, ErrorCode::Cancelled);
}

TEST(VolumeStudy, NamesThatWouldBreakColumnsAreQuoted) {
  VolumeStudy study;
  study.region_names = {"left, \"upper\" arm"};
  study.region_rest_m3 = {1};
  const std::string csv = toCsv(study);
  EXPECT_NE(csv.find("\"left, \"\"upper\"\" arm before_m3\""), std::string::npos) << csv;
}

}  // namespace
}  // namespace derm::volume_study_test
