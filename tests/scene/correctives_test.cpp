#include "derm/scene/correctives.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/base/parallel.h"
#include "derm/deform/basic_layers.h"
#include "derm/mesh/measures.h"

#include "support/compare.h"
#include "support/posed.h"
#include "support/test_layers.h"

namespace derm::correctives_test {
namespace {

using testing_support::bumpLayer;
using testing_support::maxDistance;
using testing_support::poseAt;
using testing_support::riggedTube;
using testing_support::stackOf;

constexpr std::size_t kFrames = 30;

std::vector<double> frameTimes() {
  std::vector<double> out;
  for (std::size_t f = 0; f < kFrames; ++f) out.push_back(double(f) / double(kFrames - 1));
  return out;
}

/// A travelling bump on a clip of the tube: what a bake hands to the fitter.
struct Bumped {
  std::shared_ptr<const Character> character;
  std::vector<std::vector<Vec3f>> wanted;
  CorrectiveFitter fitter;
};

Bumped bumped(std::shared_ptr<const Character> character = riggedTube(), std::size_t clip = 0) {
  CorrectiveFitter fitter = CorrectiveFitter::make(character, kFrames).value();
  StackRunner plain(stackOf(character, {morphLayer(), skinningLayer({})}));
  StackRunner full(stackOf(character, {morphLayer(), skinningLayer({}), bumpLayer({})}));
  std::vector<std::vector<Vec3f>> wanted;
  for (const double t : frameTimes()) {
    const Pose pose = poseAt(*character, character->clips[clip], t);
    plain.setPose(pose, t);
    full.setPose(pose, t);
    const SkinFrame& frame = full.evaluate();
    fitter.addKey({.time_s = t,
                   .palette = plain.palette(),
                   .wanted = frame.streams(),
                   .plain = plain.evaluate().streams(),
                   .unskinned_normals = character->mesh.normals});
    wanted.emplace_back(frame.positions().begin(), frame.positions().end());
  }
  return {character, std::move(wanted), std::move(fitter)};
}

/// Largest distance when the corrected character is played by morphs and linear skinning.
double playedError(const Bumped& from, const Correctives& correctives, std::size_t clip = 0) {
  Diagnostics notes;
  const auto played = std::make_shared<const Character>(
      withCorrectives(*from.character, correctives, clip, std::nullopt, notes));
  EXPECT_TRUE(validate(*played).ok());
  StackRunner runner(stackOf(played, {morphLayer(), skinningLayer({})}));
  double largest = 0;
  for (std::size_t f = 0; f < kFrames; ++f) {
    runner.setPose(poseAt(*played, played->clips[clip], frameTimes()[f]), 0);
    largest = std::max<double>(largest, maxDistance(runner.evaluate().positions(), from.wanted[f]));
  }
  return largest;
}

TEST(Correctives, AllShapesReproduceEveryFrame) {
  for (const std::size_t clip : {0u, 1u}) {
    const Bumped bump = bumped(riggedTube(), clip);
    const Correctives all = bump.fitter.fit({}, {}).value();
    EXPECT_LE(all.shapes.size(), kFrames + 1);  // and the base
    EXPECT_GT(all.shapes.size(), 5u);
    const double diagonal = bounds(bump.character->mesh.positions).diagonal();
    EXPECT_LT(playedError(bump, all, clip), 1e-6 * diagonal);
    EXPECT_LT(all.max_error_m, 1e-6 * diagonal);
    EXPECT_EQ(all.near_singular, 0u);
  }
}

TEST(Correctives, MoreShapesGiveASmallerError) {
  const Bumped bump = bumped();
  double last = 1e9;
  for (const std::size_t n : {1u, 3u, 4u, 8u, 16u}) {
    const Correctives some = bump.fitter.fit({.shapes = n}, {}).value();
    EXPECT_EQ(some.shapes.size(), n);
    EXPECT_LT(some.rms_error_m, last);
    last = some.rms_error_m;
    EXPECT_NEAR(playedError(bump, some), some.max_error_m, 1e-5);
  }
}

TEST(Correctives, TheErrorBoundIsKeptWithAsFewShapesAsItTakes) {
  const Bumped bump = bumped();
  for (const double bound : {0.1, 0.01, 0.001, 1e-5}) {
    const Correctives kept = bump.fitter.fit({.error_m = bound}, {}).value();
    EXPECT_LE(kept.max_error_m, bound);
    EXPECT_LE(playedError(bump, kept), bound + 1e-6);
    if (kept.shapes.size() < 2) continue;
    const Correctives fewer = bump.fitter.fit({.shapes = kept.shapes.size() - 1}, {}).value();
    EXPECT_GT(fewer.max_error_m, bound);
  }
}

TEST(Correctives, ABoundThatCannotBeKeptGivesAllShapes) {
  const Bumped bump = bumped();
  const Correctives best = bump.fitter.fit({.error_m = 1e-12}, {}).value();
  const Correctives all = bump.fitter.fit({}, {}).value();
  EXPECT_GT(best.max_error_m, 1e-12);
  EXPECT_EQ(best.max_error_m, all.max_error_m);
  EXPECT_EQ(best.shapes.size(), all.shapes.size());
}

/// The bump halfway between every two frames.
void addChecks(Bumped& bump) {
  StackRunner plain(stackOf(bump.character, {morphLayer(), skinningLayer({})}));
  StackRunner full(stackOf(bump.character, {morphLayer(), skinningLayer({}), bumpLayer({})}));
  for (std::size_t f = 0; f + 1 < kFrames; ++f) {
    const double t = 0.5 * (frameTimes()[f] + frameTimes()[f + 1]);
    const Pose pose = poseAt(*bump.character, bump.character->clips[0], t);
    plain.setPose(pose, t);
    full.setPose(pose, t);
    bump.fitter.addCheck({.time_s = t,
                          .palette = plain.palette(),
                          .wanted = full.evaluate().streams(),
                          .plain = plain.evaluate().streams(),
                          .unskinned_normals = bump.character->mesh.normals});
  }
}

TEST(Correctives, ChecksMeasureWhatPlaysBetweenKeysAndGetNoKeys) {
  Bumped bump = bumped();
  const Correctives blind = bump.fitter.fit({.shapes = 8}, {}).value();
  addChecks(bump);
  const Correctives seeing = bump.fitter.fit({.shapes = 8}, {}).value();
  EXPECT_EQ(seeing.weights, blind.weights);
  EXPECT_EQ(seeing.max_error_m, blind.max_error_m);
  EXPECT_EQ(blind.max_error_between_m, 0);
  EXPECT_GT(seeing.max_error_between_m, 0);
  const Correctives all = bump.fitter.fit({}, {}).value();
  double largest = 0;
  for (std::size_t i = 0; i < bump.fitter.instantCount(); ++i)
    if (!bump.fitter.isKey(i)) largest = std::max(largest, bump.fitter.interpolationError(i));
  EXPECT_NEAR(all.max_error_between_m, largest, 1e-5)
      << "all shapes leave what linear weights leave";
}

TEST(Correctives, ACheckTurnedIntoAKeyIsReproduced) {
  Bumped bump = bumped();
  addChecks(bump);
  ASSERT_FALSE(bump.fitter.isKey(1));
  EXPECT_NEAR(bump.fitter.gapAround(1)[0], frameTimes()[0], 1e-12);
  EXPECT_NEAR(bump.fitter.gapAround(1)[1], frameTimes()[1], 1e-12);
  EXPECT_GT(bump.fitter.interpolationError(1), 1e-4);
  bump.fitter.turnIntoKey(1);
  EXPECT_LT(bump.fitter.interpolationError(1), 1e-6);
  const Correctives all = bump.fitter.fit({}, {}).value();
  EXPECT_EQ(all.times_s.size(), kFrames + 1);
  EXPECT_LT(all.max_error_m, 1e-5);
}

TEST(Correctives, BadNumbersAreErrors) {
  const Bumped bump = bumped();
  EXPECT_FALSE(bump.fitter.fit({.shapes = 0}, {}).ok());
  EXPECT_FALSE(bump.fitter.fit({.error_m = 0.0}, {}).ok());
  EXPECT_FALSE(bump.fitter.fit({.error_m = std::nan("")}, {}).ok());
  EXPECT_FALSE(CorrectiveFitter::make(riggedTube(), CorrectiveFitter::kMaxKeys + 1).ok());
  EXPECT_FALSE(CorrectiveFitter::make(riggedTube(300, 300), 4000).ok());
}

TEST(Correctives, WeightsLieBetweenZeroAndOneAndReachOne) {
  // Blender and others cut off what lies outside.
  for (const std::size_t n : {2u, 6u, 100u}) {
    const Correctives some = bumped().fitter.fit({.shapes = n}, {}).value();
    EXPECT_TRUE(some.unit_weights);
    EXPECT_LE(some.shapes.size(), n);
    for (std::size_t k = 0; k < some.shapes.size(); ++k) {
      float smallest = 1;
      float largest = 0;
      for (std::size_t f = 0; f < kFrames; ++f) {
        smallest = std::min(smallest, some.weight(f, k));
        largest = std::max(largest, some.weight(f, k));
      }
      EXPECT_GE(smallest, 0.0f);
      EXPECT_FLOAT_EQ(largest, 1.0f);
    }
  }
}

TEST(Correctives, VerticesThatNoLayerMovesAreInNoShape) {
  const Bumped bump = bumped();
  const Correctives all = bump.fitter.fit({}, {}).value();
  for (const Correctives::Shape& shape : all.shapes)
    for (const std::uint32_t v : shape.vertices) {
      bool moves = false;
      for (std::size_t f = 0; f < kFrames; ++f)
        moves |= bump.fitter.displacement(f)[v] != Vec3f(Vec3f::Zero());
      // The rim beside a moved vertex has a new normal, but stays.
      EXPECT_TRUE(moves || !shape.normals.empty());
    }
}

TEST(Correctives, NormalsFollowTheShapes) {
  const Bumped bump = bumped();
  const Correctives all = bump.fitter.fit({}, {}).value();
  Diagnostics notes;
  const auto played = std::make_shared<const Character>(
      withCorrectives(*bump.character, all, 0, std::nullopt, notes));
  StackRunner runner(stackOf(played, {morphLayer(), skinningLayer({})}));
  StackRunner full(stackOf(bump.character, {morphLayer(), skinningLayer({}), bumpLayer({})}));
  const double t = frameTimes()[14];
  runner.setPose(poseAt(*played, played->clips[0], t), t);
  full.setPose(poseAt(*bump.character, bump.character->clips[0], t), t);
  const auto got = runner.evaluate().normals();
  EXPECT_LT(maxDistance(got, full.evaluate().normals()), 0.02f);
  full.setPose(poseAt(*bump.character, bump.character->clips[0], t), 50);  // the bump is far away
  EXPECT_GT(maxDistance(got, full.evaluate().normals()), 0.3f) << "the bump turns normals";
}

TEST(Correctives, AllThreadCountsGiveTheSameBits) {
  std::vector<Correctives> results;
  for (const int threads : {1, 2, 8}) {
    const ThreadLimit limit(threads);
    results.push_back(bumped(riggedTube(60, 40)).fitter.fit({.shapes = 8}, {}).value());
  }
  for (const Correctives& other : {results[1], results[2]}) {
    EXPECT_EQ(other.weights, results[0].weights);
    EXPECT_EQ(other.max_error_m, results[0].max_error_m);
    for (std::size_t k = 0; k < 8; ++k) {
      EXPECT_EQ(other.shapes[k].vertices, results[0].shapes[k].vertices);
      EXPECT_EQ(other.shapes[k].positions, results[0].shapes[k].positions);
      EXPECT_EQ(other.shapes[k].normals, results[0].shapes[k].normals);
    }
  }
}

/// A tube twisted by half a turn: linear skinning collapses its middle to a line.
std::shared_ptr<const Character> twisted() {
  Character c = *riggedTube(129, 16);
  for (Joint& j : c.skeleton.joints) j.rest.rotation = Quatf::Identity();
  std::vector<Affine3d> model(3);
  localToModel(c.skeleton, restTransforms(c.skeleton), model);
  for (std::size_t s = 0; s < 3; ++s)
    c.skin.slots[s].inverse_bind = model[s].inverse().cast<float>();
  Track twist{.channel = Channel::Rotation, .joint = JointId(2), .times_s = {0, 0.5f, 1}};
  for (const double angle : {0.0, 0.5, 1.0}) {
    const Quatf q(Eigen::AngleAxisf(float(angle * std::numbers::pi), Eigen::Vector3f::UnitZ()));
    twist.values.insert(twist.values.end(), q.coeffs().data(), q.coeffs().data() + 4);
  }
  c.clips = {{"twist", {twist}}};
  return std::make_shared<const Character>(c);
}

TEST(Correctives, CollapsedJointsAreDampedCountedAndFinite) {
  const auto character = twisted();
  const Bumped bump = bumped(character);
  const Correctives all = bump.fitter.fit({}, {}).value();
  EXPECT_GT(all.near_singular, 0u);
  for (const Correctives::Shape& shape : all.shapes)
    for (const Vec3f& p : shape.positions) {
      ASSERT_TRUE(p.allFinite());
      // 50 times the bump's 0.4 m is the most that damping lets through, and shapes may add up.
      EXPECT_LT(p.norm(), 40.0f);
    }
  EXPECT_LE(playedError(bump, all), all.max_error_m + 1e-4);
}

TEST(Correctives, TheCharactersOwnMorphsAndWeightsStay) {
  Character c = *riggedTube();
  MorphTarget own{.name = "own", .default_weight = 0.25f, .vertices = {1, 5}};
  own.positions = {Vec3f(0.1f, 0, 0), Vec3f(0, 0.2f, 0)};
  c.morphs = {own, own};
  c.instances[0].morph_count = 2;
  Track weights{.channel = Channel::MorphWeights,
                .interpolation = Interpolation::Linear,
                .first_morph = 0,
                .morph_count = 2,
                .times_s = {0, 0.37f, 1},
                .values = {0, 1, 0.7f, 0.2f, 1, 0}};
  c.clips[0].tracks.push_back(weights);
  weights.interpolation = Interpolation::Cubic;
  weights.values = {0, 0, 0.1f, 0.2f, 0, 0, 0, 0, 0.3f, 0.4f, 0, 0, 0, 0, 0.5f, 0.6f, 0, 0};
  c.clips[1].tracks.push_back(weights);
  const auto character = std::make_shared<const Character>(c);
  const Bumped bump = bumped(character);
  const Correctives all = bump.fitter.fit({.shapes = 5}, {}).value();
  Diagnostics notes;
  const Character out = withCorrectives(c, all, 0, std::nullopt, notes);
  ASSERT_TRUE(validate(out).ok()) << validate(out).error().text();
  ASSERT_EQ(out.morphs.size(), 7u);
  EXPECT_EQ(out.morphs[0], own);
  EXPECT_EQ(out.instances[0].morph_count, 7u);
  for (std::size_t i = 0; i < 2; ++i)
    for (double t = 0; t <= 1; t += 0.01) {
      const Pose before = poseAt(c, c.clips[i], t);
      const Pose after = poseAt(out, out.clips[i], t);
      for (std::size_t m = 0; m < 2; ++m)
        EXPECT_NEAR(after.morph_weights[m], before.morph_weights[m], 1e-5f) << i << " " << t;
      EXPECT_EQ(after.local, before.local);
    }
  EXPECT_EQ(out.clips[1].tracks.back().interpolation, Interpolation::Cubic);
  EXPECT_LT(playedError(bump, bump.fitter.fit({}, {}).value()), 1e-5);
}

TEST(Correctives, InstancesThatDoNotMoveGetNoShapes) {
  Character c = *riggedTube(24, 16);
  const TriMesh far = shelf::sphere(6, 8, 0.2f, Vec3f(0, 0, -9));
  const auto shift = static_cast<std::uint32_t>(c.mesh.vertexCount());
  c.mesh.positions.insert(c.mesh.positions.end(), far.positions.begin(), far.positions.end());
  c.mesh.normals.insert(c.mesh.normals.end(), far.normals.begin(), far.normals.end());
  for (const Triangle& t : far.triangles)
    c.mesh.triangles.push_back({t[0] + shift, t[1] + shift, t[2] + shift});
  const auto count = static_cast<std::uint32_t>(far.vertexCount());
  c.parts.push_back({.name = "ball",
                     .first_triangle = c.parts[0].triangle_count,
                     .triangle_count = static_cast<std::uint32_t>(far.triangles.size()),
                     .first_vertex = shift,
                     .vertex_count = count});
  c.instances.push_back({.name = "ball",
                         .first_part = 1,
                         .part_count = 1,
                         .first_vertex = shift,
                         .vertex_count = count});
  for (std::uint32_t v = 0; v < count; ++v) {
    c.skin.influences.push_back({0, 1.0f});
    c.skin.offsets.push_back(static_cast<std::uint32_t>(c.skin.influences.size()));
  }
  ASSERT_TRUE(validate(c).ok()) << validate(c).error().text();
  Correctives one;
  one.shapes = {{.vertices = {3, 4}, .positions = {Vec3f(1, 0, 0), Vec3f(0, 1, 0)}},
                {.vertices = {4, shift}, .positions = {Vec3f(1, 0, 0), Vec3f(0, 1, 0)}}};
  one.weights = {0, 1, 1, 0};
  Diagnostics notes;
  one.times_s = {0, 1};
  const Character out = withCorrectives(c, one, 0, std::nullopt, notes);
  ASSERT_TRUE(validate(out).ok()) << validate(out).error().text();
  EXPECT_EQ(out.instances[0].morph_count, 2u);
  EXPECT_EQ(out.instances[1].morph_count, 1u);
  EXPECT_EQ(out.morphs[2].name, "derm 2");
  const Pose pose = poseAt(out, out.clips[0], 0);
  EXPECT_EQ(pose.morph_weights, (std::vector<float>{0, 1, 1}));
}

TEST(Correctives, WithoutAClipTheWeightsAreDefaults) {
  Correctives one;
  one.shapes = {{.vertices = {3}, .positions = {Vec3f(1, 0, 0)}}};
  one.weights = {-0.5f};
  Diagnostics notes;
  one.times_s = {0};
  const Character out = withCorrectives(*riggedTube(), one, std::nullopt, std::nullopt, notes);
  EXPECT_EQ(out.restPose().morph_weights, (std::vector<float>{-0.5f}));
}

TEST(Correctives, ALoopReturnsToTheFirstFramesWeights) {
  Correctives one;
  one.shapes = {{.vertices = {3}, .positions = {Vec3f(1, 0, 0)}}};
  one.weights = {0.25f, 1};
  Diagnostics notes;
  one.times_s = {0, 0.5};
  const Character out = withCorrectives(*riggedTube(), one, 0, 1.0, notes);
  EXPECT_FLOAT_EQ(poseAt(out, out.clips[0], 1.0).morph_weights[0], 0.25f);
  EXPECT_FLOAT_EQ(poseAt(out, out.clips[0], 0.75).morph_weights[0], 0.625f);
}

TEST(Correctives, CancellingStopsTheFit) {
  const Bumped bump = bumped();
  const Result<Correctives> none =
      bump.fitter.fit({}, [](double, std::string_view) { return false; });
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::Cancelled);
}

}  // namespace
}  // namespace derm::correctives_test
