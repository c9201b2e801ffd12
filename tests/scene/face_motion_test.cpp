// Motions of other faces: the recipe's section "face", and what can be a source.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/face/face_rig.h"
#include "derm/io/point_tracks_file.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"
#include "derm/scene/face_motion_input.h"
#include "derm/scene/scene.h"

#include "support/test_folder.h"

namespace derm::face_motion_test {
namespace {

class FaceMotionInput : public testing_support::FolderTest {
 protected:
  static const std::shared_ptr<const Character>& head() {
    static const auto made = std::make_shared<const Character>(makeCastMember("head-b").value());
    return made;
  }
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(folder_ / file) << text;
  }
  Result<Scene> opened(const std::string& text, Diagnostics& notes) const {
    write("r.toml", text);
    DERM_TRY(const Recipe recipe, loadRecipe(folder_ / "r.toml"));
    return openScene(recipe, {.character = head()}, notes);
  }
  std::string errorOf(const std::string& text) const {
    Diagnostics notes;
    const Result<Scene> scene = opened(text, notes);
    return scene.ok() ? "no error" : scene.error().text();
  }
  Result<FaceMotion> loaded(const FaceMotionChoice& choice) const {
    Diagnostics notes;
    Character target = *head();
    const FaceRig rig = addFaceRig(target, {.clips = false}, notes).value();
    return loadFaceMotion(choice, folder_, target, rig, notes);
  }
};

constexpr const char* kMixed = R"(
[face]
amplitude = 0.25

[[face.motion]]
source = "cast:head-a"
clip = "joy"
regions = "mouth,cheeks,jaw"
gain = { regions = "mouth", factor = 1.25 }

[[face.motion]]
source = "cast:head-c"
clip = "blink"
regions = "eyes"
offset_s = 0.2
)";

TEST_F(FaceMotionInput, IsTheLastClipAndTheDefault) {
  Diagnostics notes;
  Result<Scene> scene = opened(kMixed, notes);
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  const Character& character = *scene->character();
  EXPECT_TRUE(findFaceRig(character).has_value());
  EXPECT_EQ(scene->clip(), &character.clips.back());
  EXPECT_EQ(scene->clip()->name, "joy");
  const auto rest = scene->frame(0).positions();
  const std::vector<Vec3f> first(rest.begin(), rest.end());
  const std::size_t middle = scene->frameTimes().size() / 3;
  const auto now = scene->frame(middle).positions();
  double most = 0;
  for (std::size_t v = 0; v < first.size(); ++v)
    most = std::max(most, double((now[v] - first[v]).norm()));
  EXPECT_GT(most, 0.003);
}

/// Lids that close unfold: normals that joints merely turn would stay those of the fold.
TEST_F(FaceMotionInput, OfARigHasTheNormalsOfThePosedSkin) {
  Diagnostics notes;
  Character woman = makeCastMember("woman").value();
  ASSERT_TRUE(addFaceRig(woman, {}, notes).ok());
  write("blink.toml", "clip = \"blink\"\nfps = 20\n");
  const Recipe recipe = loadRecipe(folder_ / "blink.toml").value();
  Result<Scene> scene =
      openScene(recipe, {.character = std::make_shared<const Character>(woman)}, notes);
  ASSERT_TRUE(scene.ok()) << scene.error().text();
  const SkinFrame& shut = scene->frame(2);  // 0.1 s
  const std::vector<Vec3f> posed(shut.positions().begin(), shut.positions().end());
  const std::vector<std::uint32_t> weld = weldMap(woman.mesh.positions);
  const std::vector<Vec3f> wanted = areaWeightedNormals(posed, woman.mesh.triangles, weld);
  const std::vector<Vec3f> at_rest =
      areaWeightedNormals(woman.mesh.positions, woman.mesh.triangles, weld);
  const LabelledPoint* lid = nullptr;
  for (const LabelledPoint& p : woman.points)
    if (findFaceFeature(p.label)->number == "3.1") lid = &p;
  ASSERT_NE(lid, nullptr);
  const Vec3f margin = positionAt(lid->point, woman.mesh.triangles, woman.mesh.positions);
  std::size_t near = 0, unfolded = 0;
  for (std::size_t v = 0; v < posed.size(); ++v) {
    if ((woman.mesh.positions[v] - margin).norm() > 0.012f) continue;
    if ((woman.mesh.normals[v] - at_rest[v]).norm() > 1e-3f) continue;  // the eyeball's are exact
    ++near;
    EXPECT_LT((shut.normals()[v] - wanted[v]).norm(), 2e-3f) << v;
    unfolded += wanted[v].dot(woman.mesh.normals[v]) < 0.7f;
  }
  EXPECT_GT(near, 50u);
  EXPECT_GT(unfolded, 10u);
}

TEST_F(FaceMotionInput, OfARecipeCanBeWrittenAndReadBack) {
  const Recipe recipe = parseRecipe(kMixed, "r.toml").value();
  ASSERT_EQ(recipe.face.motions.size(), 2u);
  EXPECT_EQ(recipe.face.motions[0].gains[0], (FaceGain{"mouth", 1.25}));
  EXPECT_EQ(recipe.face.motions[1].offset_s, 0.2);
  const std::string text = writeRecipe(recipe);
  const Result<Recipe> again = parseRecipe(text, "again.toml");
  ASSERT_TRUE(again.ok()) << again.error().text() << "\n" << text;
  EXPECT_EQ(*again, recipe) << text;
}

TEST_F(FaceMotionInput, WhatIsWrongIsSaid) {
  EXPECT_NE(errorOf("[face]\nmotion = { clip = \"joy\" }\n").find("a motion has a source"),
            std::string::npos);
  EXPECT_NE(errorOf("[face]\nmotion = { source = \"cast:head-a\", region = \"eyes\" }\n")
                .find("did you mean \"regions\""),
            std::string::npos);
  EXPECT_NE(errorOf("[face]\nmotion = { source = \"cast:head-a\", regions = \"ears\" }\n")
                .find("\"ears\" is no region"),
            std::string::npos);
  EXPECT_NE(errorOf("[face]\nmotion = { source = \"not there.csv\" }\n").find("not there.csv"),
            std::string::npos);
  EXPECT_NE(errorOf("[face]\nmotion = { source = \"cast:head-a\", clip = \"jo\" }\n")
                .find("did you mean \"joy\""),
            std::string::npos);
  EXPECT_NE(errorOf("[face]\nmotion = { source = \"take.c3d\" }\n").find("C3D is not read"),
            std::string::npos);
}

TEST_F(FaceMotionInput, TablesOfPointsAreASource) {
  const Result<FaceMotion> clip = loaded({.source = "cast:head-a", .clip = "surprise"});
  ASSERT_TRUE(clip) << clip.error().text();
  for (const char* file : {"surprise.csv", "surprise.json"}) {
    ASSERT_TRUE(savePointTracks(folder_ / file, clip->points));
    const Result<FaceMotion> table = loaded({.source = file});
    ASSERT_TRUE(table) << table.error().text();
    EXPECT_EQ(table->name, "surprise");
    EXPECT_EQ(table->points.positions, clip->points.positions);
  }
}

TEST_F(FaceMotionInput, CoefficientsAreASourceWithoutAFace) {
  write("take.csv", "time,jawOpen,eyeBlinkLeft\n0,0,0\n0.5,1,1\n");
  const Result<FaceMotion> motion = loaded({.source = "take.csv"});
  ASSERT_TRUE(motion) << motion.error().text();
  ASSERT_TRUE(motion->shapes.has_value());
  const PointTracks& tracks = motion->points;
  ASSERT_EQ(tracks.frames(), 2u);
  const auto at = [&](std::string_view label) {
    return static_cast<std::size_t>(std::find(tracks.labels.begin(), tracks.labels.end(), label) -
                                    tracks.labels.begin());
  };
  EXPECT_LT(tracks.frame(1)[at("2.1")].y(), tracks.neutral[at("2.1")].y() - 0.005);
  EXPECT_LE((tracks.frame(1)[at("3.1")] - tracks.frame(1)[at("3.3")]).norm(), 1e-6);
  // On the target they are what they were: it is its own source.
  Diagnostics notes;
  Character target = *head();
  const Result<FaceMotion> played = addFaceMotion(
      std::vector<FaceMotionChoice>{{.source = "take.csv"}}, folder_, {}, target, notes);
  ASSERT_TRUE(played) << played.error().text();
  EXPECT_EQ(target.clips.back().name, "take");
  const PointTracks& points = played->points;
  for (std::size_t i = 0; i < points.labels.size(); ++i)
    if (points.labels[i][0] == '8') {
      EXPECT_LE((points.frame(1)[i] - tracks.frame(1)[at(points.labels[i])]).norm(), 1e-6);
    }
}

/// Mixed with other motions, coefficients turn a head that lies on its back about its own axes.
TEST_F(FaceMotionInput, CoefficientsTurnAHeadAboutItsOwnAxes) {
  write("take.csv", "time,jawOpen,HeadYaw,HeadPitch,HeadRoll\n0,0,0,0,0\n0.5,1,0.4,0.2,-0.1\n");
  const Result<FaceMotion> upright = loaded({.source = "take.csv"});
  ASSERT_TRUE(upright) << upright.error().text();
  const Quatd back(Eigen::AngleAxisd(1.5, Vec3d(-1, 0.2, 0.1).normalized()));
  Diagnostics notes;
  Character target = *head();
  rotateAxes(target, back);
  const FaceRig rig = addFaceRig(target, {.clips = false}, notes).value();
  const Result<FaceMotion> lying =
      loadFaceMotion({.source = "take.csv"}, folder_, target, rig, notes);
  ASSERT_TRUE(lying) << lying.error().text();
  ASSERT_EQ(upright->points.head.size(), 2u);
  ASSERT_EQ(lying->points.head.size(), 2u);
  const Quatd turn = upright->points.head[1].rotation.cast<double>();
  const Quatd turned = lying->points.head[1].rotation.cast<double>();
  EXPECT_GT(turn.angularDistance(Quatd::Identity()), 0.3);
  // Up and forward of a face that lies are measured, those of an upright one are the model's.
  EXPECT_LT(turned.angularDistance(back * turn * back.inverse()), 0.25);
  // The joint that the head turns about stays.
  std::vector<Affine3d> model(target.skeleton.size());
  localToModel(target.skeleton, target.bindPose().local, model);
  const Vec3d pivot = model[rig.head.index()].translation();
  EXPECT_LT((lying->points.head[1].matrixd() * pivot - pivot).norm(), 1e-5);
}

TEST_F(FaceMotionInput, MarkersOfABvhAreASource) {
  // Every marker has its place as channels; one is called by a number, one by a name, one by
  // somebody's word. The head goes up by 1.
  const std::vector<std::pair<std::string, Vec3d>> markers = {{"3.7", {3, 5, 0}},
                                                              {"3.12", {-3, 5, 0}},
                                                              {"nose_tip", {0, 2, 3}},
                                                              {"LipUp", {0, 0, 2}},
                                                              {"8.2", {0, -1, 2}}};
  std::string text =
      "HIERARCHY\nROOT root\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\n";
  std::string rest = "0 0 0", moved = "0 1 0";
  for (const auto& [name, at] : markers) {
    text += "JOINT " + name +
            "\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\nOFFSET 0 0 "
            "0\n}\n}\n";
    for (std::string* line : {&rest, &moved})
      for (int k = 0; k < 3; ++k)
        *line += " " + std::to_string(at[k] + (line == &moved && k == 1 && name == "8.2" ? -2 : 0));
  }
  write("take.bvh", text + "}\nMOTION\nFrames: 2\nFrame Time: 0.5\n" + rest + "\n" + moved + "\n");
  write("names.txt",
        "3.7 = 3.7\n3.12 = 3.12\nnose_tip = nose_tip\nLipUp = upper_lip_middle\n8.2 = 8.2\n");
  const Result<FaceMotion> motion = loaded({.source = "take.bvh", .map = "names.txt"});
  ASSERT_TRUE(motion) << motion.error().text();
  const PointTracks& tracks = motion->points;
  EXPECT_EQ(tracks.labels, (std::vector<std::string>{"3.7", "3.12", "9.3", "8.1", "8.2"}));
  ASSERT_EQ(tracks.frames(), 2u);
  EXPECT_NEAR(double(tracks.head[1].translation.y()), 1, 1e-5);
  EXPECT_LE((tracks.frame(1)[3] - Vec3d(0, 0, 2)).norm(), 1e-5);
  EXPECT_LE((tracks.frame(1)[4] - Vec3d(0, -3, 2)).norm(), 1e-5);
  // Without the table the unknown word is somebody's marker.
  const std::vector<std::string> labels = loaded({.source = "take.bvh"}).value().points.labels;
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "8.1"), 0);
  EXPECT_EQ(std::count(labels.begin(), labels.end(), "LipUp"), 1);
}

}  // namespace
}  // namespace derm::face_motion_test
