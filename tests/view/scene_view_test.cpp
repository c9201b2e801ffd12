#include "derm/view/scene_view.h"

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/image/compose.h"
#include "derm/scene/volume_study.h"
#include "derm/view/film_strip.h"
#include "derm/view/report_plots.h"

namespace derm::scene_view_test {
namespace {

Recipe armRecipe() {
  Recipe recipe;
  recipe.character = "cast:arm";
  recipe.clip = std::string("flex");
  recipe.fps = 10;
  recipe.skinning = SkinningMethod::DualQuaternion;
  return recipe;
}

ViewDesc small() {
  ViewDesc out;
  out.size = {.width = 160, .height = 120};
  return out;
}

/// How many pixels differ visibly.
std::size_t changed(const Rgba8Image& a, const Rgba8Image& b) {
  EXPECT_EQ(a.width, b.width);
  EXPECT_EQ(a.height, b.height);
  std::size_t out = 0;
  for (std::size_t i = 0; i < std::min(a.pixels.size(), b.pixels.size()); ++i)
    if (std::abs(a.pixels[i].r - b.pixels[i].r) + std::abs(a.pixels[i].g - b.pixels[i].g) +
            std::abs(a.pixels[i].b - b.pixels[i].b) >
        24)
      ++out;
  return out;
}

class SceneViewTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto renderer = OffscreenRenderer::create();
    if (!renderer) GTEST_SKIP() << renderer.error().text();
  }
  Rgba8Image pictureWith(const ViewDesc& desc, double time_s = 1.0) {
    SceneView view = SceneView::make(scene_, desc, notes_).value();
    return view.picture(time_s).value();
  }

  Diagnostics notes_;
  Scene scene_ = openScene(armRecipe(), {}, notes_).value();
};

TEST_F(SceneViewTest, ThePictureHasTheSizeAskedForAndShowsSomething) {
  const Rgba8Image drawn = pictureWith(small());
  EXPECT_EQ(drawn.width, 160);
  EXPECT_EQ(drawn.height, 120);
  ViewDesc empty = small();
  empty.orbit.zoom = 0.01;
  EXPECT_GT(changed(drawn, pictureWith(empty)), 500u);
}

TEST_F(SceneViewTest, EachOverlayChangesThePicture) {
  const Rgba8Image bare = pictureWith(small());
  std::vector<ViewDesc> descs(8, small());
  descs[0].skeleton = true;
  descs[1].wireframe = true;
  descs[2].field = true;
  descs[3].weights = scene_.character()->skeleton.joints.back().name;
  descs[4].comparison = Comparison::Split;
  descs[5].comparison = Comparison::SideBySide;
  descs[6].comparison = Comparison::Ghost;
  descs[7].displacement_mm = 0.0f;
  for (std::size_t i = 0; i < descs.size(); ++i)
    EXPECT_GT(changed(bare, pictureWith(descs[i], 1.0)), 20u) << i;
}

/// Bare characters show nothing of what layers make: the picture in colours differs everywhere.
TEST_F(SceneViewTest, LabelledPointsAreShownOnTheSideThatFacesTheCamera) {
  Recipe recipe;
  recipe.character = "cast:head-a";
  scene_ = openScene(recipe, {}, notes_).value();
  const auto shown = [&](double yaw_rad) {
    ViewDesc desc = small();
    desc.orbit.yaw_rad = yaw_rad;
    const Rgba8Image plain = pictureWith(desc, 0);
    desc.points = true;
    return changed(plain, pictureWith(desc, 0));
  };
  EXPECT_GT(shown(0), 200u);
  EXPECT_EQ(shown(3.14159), 0u);
  EXPECT_EQ(notes_.count("no-points"), 0u);
}

TEST_F(SceneViewTest, PointsOfACharacterWithoutAnyAreNoted) {
  ViewDesc desc = small();
  const Rgba8Image plain = pictureWith(desc);
  desc.points = true;
  EXPECT_EQ(changed(plain, pictureWith(desc)), 0u);
  EXPECT_EQ(notes_.count("no-points"), 1u);
}

TEST_F(SceneViewTest, EachDiagramShowsWhatItsLayerMade) {
  constexpr std::string_view kFolds =
      "character = \"cast:wrist\"\nclip = \"flex\"\n[[layer]]\ntype = \"wrinkles\"\n"
      "from = [0.072, 0.027, 0.0]\nto = [0.130, 0.019, 0.0]\nwidth_m = 0.06\n";
  const Recipe folds = parseRecipe(kFolds, "folds").value();
  for (const Diagram diagram : {Diagram::Regions, Diagram::Prisms, Diagram::Levels}) {
    const Recipe recipe = diagram == Diagram::Levels ? folds : defaultVolumeRecipe("cast:arm");
    Scene scene = openScene(recipe, {}, notes_).value();
    const Rgba8Image bare = SceneView::make(scene, small(), notes_).value().picture(1.0).value();
    ViewDesc desc = small();
    desc.diagram = diagram;
    const Rgba8Image shown = SceneView::make(scene, desc, notes_).value().picture(1.0).value();
    EXPECT_GT(changed(bare, shown), 500u) << static_cast<int>(diagram);
  }
}

TEST_F(SceneViewTest, GammaFleshWeightsAndCorrectionAreDrawn) {
  const Recipe flesh = parseRecipe(
                           "character = \"cast:mushroom\"\nclip = \"hop\"\n[[layer]]\ntype = "
                           "\"flesh\"\nname = \"all\"\ndominant = \"foot\"\nends = [\"cap\"]\n",
                           "flesh")
                           .value();
  for (const Diagram diagram :
       {Diagram::Gamma, Diagram::Flesh, Diagram::Weights, Diagram::Correction}) {
    const Recipe recipe = diagram == Diagram::Flesh ? flesh : defaultVolumeRecipe("cast:arm");
    Scene scene = openScene(recipe, {}, notes_).value();
    const Rgba8Image bare = SceneView::make(scene, small(), notes_).value().picture(0.8).value();
    ViewDesc desc = small();
    desc.diagram = diagram;
    Result<SceneView> view = SceneView::make(scene, desc, notes_);
    ASSERT_TRUE(view.ok()) << view.error().text();
    EXPECT_GT(changed(bare, view->picture(0.8).value()), 500u) << static_cast<int>(diagram);
  }
}

TEST_F(SceneViewTest, ADiagramOfWhatNoLayerMadeIsAnErrorThatSaysSo) {
  ViewDesc desc = small();
  for (const auto& [diagram, says] :
       {std::pair(Diagram::Regions, "volume layer"), std::pair(Diagram::Prisms, "volume layer"),
        std::pair(Diagram::Levels, "refines"), std::pair(Diagram::Gamma, "volume layer"),
        std::pair(Diagram::Flesh, "flesh layer")}) {
    desc.diagram = diagram;
    const Result<SceneView> view = SceneView::make(scene_, desc, notes_);
    ASSERT_FALSE(view.ok());
    EXPECT_NE(view.error().text().find(says), std::string::npos) << view.error().text();
  }
  desc.weights = "hand";
  const Result<SceneView> both = SceneView::make(scene_, desc, notes_);
  ASSERT_FALSE(both.ok());
  EXPECT_NE(both.error().text().find("show one"), std::string::npos) << both.error().text();
}

TEST_F(SceneViewTest, AnInstantLooksTheSameHoweverOneGetsThere) {
  SceneView view = SceneView::make(scene_, small(), notes_).value();
  ASSERT_TRUE(view.aimAt(scene_.frameTimes()).ok());
  const Rgba8Image first = view.picture(1.0).value();
  (void)view.picture(3.0).value();
  EXPECT_EQ(view.picture(1.0).value(), first);
}

TEST_F(SceneViewTest, TheJointLookedAtStaysInTheMiddle) {
  ViewDesc close = small();
  close.orbit.zoom = 12;
  const Rgba8Image middle = pictureWith(close, 0.0);
  close.focus = "hand";
  // So near that the middle of the picture is skin: brown, where the floor and the sky are grey.
  for (const double time_s : {0.0, 1.0, 2.0}) {
    const Rgba8Image at_hand = pictureWith(close, time_s);
    const auto& centre = at_hand.pixels[static_cast<std::size_t>(60 * 160 + 80)];
    EXPECT_GT(centre.r, centre.b + 20) << time_s;
    EXPECT_GT(changed(middle, at_hand), 1000u);
  }
  ViewDesc wrong = small();
  wrong.focus = "hnad";
  const Result<SceneView> view = SceneView::make(scene_, wrong, notes_);
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.error().text().find("\"hand\""), std::string::npos) << view.error().text();
}

TEST_F(SceneViewTest, AnUnknownJointIsAnErrorThatNamesTheNearest) {
  ViewDesc desc = small();
  desc.weights = scene_.character()->skeleton.joints.back().name + "x";
  const Result<SceneView> view = SceneView::make(scene_, desc, notes_);
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.error().text().find("did you mean"), std::string::npos) << view.error().text();
}

TEST_F(SceneViewTest, AStripHasTheWholeSize) {
  ViewDesc desc = small();
  desc.size = {.width = 401, .height = 99};
  SceneView view = SceneView::make(scene_, desc, notes_).value();
  const Rgba8Image strip = drawStrip(view, 4).value();
  EXPECT_EQ(strip.width, 401);
  EXPECT_EQ(strip.height, 99);
}

/// The arm fills a wide picture from corner to corner, so every label has to be given room.
TEST_F(SceneViewTest, LabelsDoNotLieOnTheFigure) {
  ViewDesc desc = small();
  desc.size = {.width = 480, .height = 160};
  const Rgba8Image bare = pictureWith(desc, 0.0);
  desc.label = "a label as long as the arm";
  const Rgba8Image labelled = pictureWith(desc, 0.0);
  const ClipRect plate = labelPlate(480, 160, desc.label, Corner::TopLeft);
  const auto isSkin = [](const Rgba8& p) { return p.r > p.b + 20; };
  int skin_below = 0, skin_before = 0;
  for (int y = int(plate.top); y < int(plate.bottom); ++y)
    for (int x = int(plate.left); x < int(plate.right); ++x) {
      skin_below += isSkin(labelled.at(x, y));
      skin_before += isSkin(bare.at(x, y));
    }
  ASSERT_GT(skin_before, 50);
  EXPECT_EQ(skin_below, 0);
}

TEST_F(SceneViewTest, TwoHeatMapsAreAnError) {
  ViewDesc desc = small();
  desc.displacement_mm = 0.0f;
  desc.weights = "hand";
  EXPECT_FALSE(SceneView::make(scene_, desc, notes_).ok());
}

/// "flex" ends as it begins: a strip of two shows the start and the bent arm, not the start twice.
TEST_F(SceneViewTest, AStripDoesNotShowTheFirstPoseAgain) {
  ViewDesc desc = small();
  desc.size = {.width = 404, .height = 150};
  SceneView view = SceneView::make(scene_, desc, notes_).value();
  const Rgba8Image strip = drawStrip(view, 2).value();
  const Rgba8Image left = cropped(strip, 0, 0, 200, 110), right = cropped(strip, 204, 0, 200, 110);
  EXPECT_GT(changed(left, right), 500u);
}

TEST_F(SceneViewTest, WorkCanBeCancelled) {
  SceneView view = SceneView::make(scene_, small(), notes_).value();
  const Progress stop = [](double, std::string_view) { return false; };
  const Result<Rgba8Image> strip = drawStrip(view, 4, stop);
  ASSERT_FALSE(strip.ok());
  EXPECT_EQ(strip.error().code, ErrorCode::Cancelled);
}

TEST(SkeletonJoints, LeavesOutWhatOnlyCarriesTheFigureAbout) {
  const Character cat = makeCastMember("cat").value();
  const Pose rest = cat.restPose();
  std::vector<Affine3d> model(cat.skeleton.size());
  localToModel(cat.skeleton, rest.local, model);
  const std::vector<SkeletonJoint> joints = skeletonJoints(cat, model);
  EXPECT_LT(joints.size(), cat.skeleton.size());
  EXPECT_GT(joints.size(), cat.skeleton.size() / 2);
  for (std::size_t j = 0; j < joints.size(); ++j) EXPECT_LT(joints[j].parent, static_cast<int>(j));
  EXPECT_EQ(joints.front().parent, -1);
}

TEST(ReportPlots, ShowOnlyWhatWasMeasured) {
  BakeReport report;
  EXPECT_TRUE(plotsOf(report).empty());
  report.frames = {{.time_s = 0, .volume_m3 = 1, .area_m2 = 6},
                   {.time_s = 1, .volume_m3 = 1.1, .area_m2 = 6.2}};
  report.rest_volume_m3 = 1;
  report.rest_area_m2 = 6;
  EXPECT_EQ(plotsOf(report).size(), 2u);  // an open surface has no volume to show
  report.closed = true;
  const std::vector<PlotDesc> plots = plotsOf(report);
  ASSERT_EQ(plots.size(), 3u);
  EXPECT_NEAR(plots[0].series[1].y[1], 10, 1e-9);  // percent
}

}  // namespace
}  // namespace derm::scene_view_test
