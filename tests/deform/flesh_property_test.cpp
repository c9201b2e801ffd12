#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "derm/anim/retarget.h"
#include "derm/base/rng.h"
#include "derm/deform/flesh_auto.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"

#include "deform/flesh_rig.h"
#include "deform/flesh_weights.h"
#include "support/compare.h"
#include "support/unpacked.h"

namespace derm::flesh_property_test {
namespace {

using namespace flesh_test;
using testing_support::kFloatEps;
using testing_support::largestCoordinate;
using testing_support::maxDistance;

std::vector<Vec3f> positionsOf(const SkinFrame& frame) {
  return {frame.positions().begin(), frame.positions().end()};
}

Vec3d randomDirection(Rng& rng) {
  Vec3d v;
  do v = Vec3d(rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-1, 1));
  while (v.norm() > 1 || v.norm() < 0.1);
  return v.normalized();
}

/// A cloud of vertices anywhere around and beyond the bone, some very near, all in one group.
Character cloud(Rng& rng, std::size_t vertices) {
  Character c = limb({});
  VertexGroup all{.name = "all"};
  std::vector<Influence> row;
  Diagnostics notes;
  SkinBuilder builder(c.skin.slots, vertices);
  c.mesh = {};
  for (std::uint32_t v = 0; v < vertices; ++v) {
    const double depth = std::pow(10.0, rng.uniform(-5, 0));
    const Vec3d aside = depth * randomDirection(rng);
    c.mesh.positions.push_back((Vec3d(0, rng.uniform(-0.3, 1.3), 0) + aside).cast<float>());
    all.vertices.push_back(v);
    all.strengths.push_back(static_cast<float>(rng.uniform()));
    row = {{0, static_cast<float>(rng.uniform(0.01, 1))}, {1, static_cast<float>(rng.uniform())}};
    builder.addVertex(row, 0, "cloud", notes);
  }
  c.mesh.normals.assign(vertices, Vec3f(0, 1, 0));
  c.mesh.groups = {all};
  c.instances.clear();
  c.parts.clear();
  c.skin = std::move(builder).finish();
  addDefaultParts(c);
  return c;
}

FleshDesc randomFlesh(Rng& rng) {
  FleshDesc d = upperFlesh();
  d.vertex_group = "all";
  d.frequency_hz = rng.uniform(0.5, 8);
  d.damping_ratio = rng.uniform(0, 0.4);
  d.gravity = rng.uniform();
  d.bone_radius_m = rng.below(2) == 0 ? 0 : rng.uniform(0, 0.2);
  d.shape_power = rng.below(2) == 0 ? 1 : rng.uniform(0.5, 3);
  d.attenuation = static_cast<FleshAttenuation>(rng.below(3));
  d.max_elongation = rng.uniform(0.3, 1);
  d.soft_limit = rng.below(3) == 0 ? 1 : rng.uniform();
  d.limit = static_cast<FleshLimit>(rng.below(2));
  d.rotation = rng.below(2) == 0;
  return d;
}

/// A violent pose: anywhere, turned, bent, and thinner or thicker than at rest.
Pose randomPose(Rng& rng, const Character& c) {
  Pose pose = c.restPose();
  pose.local[0].translation = (0.3 * randomDirection(rng)).cast<float>();
  const auto turn = [&](double max_angle) {
    return Quatf(Eigen::AngleAxisf(static_cast<float>(rng.uniform(-max_angle, max_angle)),
                                   Eigen::Vector3f(randomDirection(rng).cast<float>())));
  };
  pose.local[0].rotation = turn(0.8);
  pose.local[1].rotation = turn(2.0);
  pose.local[1].translation *= static_cast<float>(rng.uniform(0.5, 1.5));
  const auto thin = static_cast<float>(rng.uniform(0.4, 1.3));
  pose.local[0].scale = Vec3f(thin, 1, thin);
  return pose;
}

TEST(FleshProperty, NoneOfFourHundredThousandRandomVerticesCrossesTheBone) {
  Rng rng(11);
  std::size_t tried = 0, crossed = 0, moved = 0;
  double worst = 0;
  while (tried < 400000) {
    const auto c = std::make_shared<const Character>(cloud(rng, 4000));
    const FleshDesc desc = randomFlesh(rng);
    StackRunner plain(fleshStack(c, {})), fleshed(fleshStack(c, {desc}));
    fleshed.setPose(c->restPose(), 0);
    fleshed.reset();
    for (int i = 0; i < 5; ++i) {
      const Pose pose = randomPose(rng, *c);
      for (StackRunner* runner : {&plain, &fleshed}) runner->setPose(pose, 0);
      fleshed.step(rng.uniform(0.002, 0.1));
      const std::vector<Vec3f> before = positionsOf(plain.evaluate());
      const std::vector<Vec3f> after = positionsOf(fleshed.evaluate(rng.uniform()));
      const detail::VirtualBone bone{fleshed.model()[0].translation(),
                                     fleshed.model()[1].translation()};
      for (std::size_t v = 0; v < before.size(); ++v) {
        const double distance = bone.distance(before[v].cast<double>());
        const double way = (after[v] - before[v]).cast<double>().norm();
        // Twist keeps the distance from the bone; the rest of the way is what counts.
        const double now = bone.distance(after[v].cast<double>());
        const double share = (distance - now) / std::max(distance, 1e-12);
        const double rounding = 8 * kFloatEps * before[v].norm();
        worst = std::max(worst, share - rounding / std::max(distance, 1e-12));
        crossed += !std::isfinite(now) || now < (1 - desc.max_elongation) * distance - rounding ||
                   (!desc.rotation && way > desc.max_elongation * distance + rounding);
        moved += way > 1e-4;
        ++tried;
      }
    }
  }
  EXPECT_EQ(crossed, 0u) << "worst share of the way to the bone: " << worst;
  EXPECT_GT(moved, tried / 8);  // the test is about something
}

TEST(FleshProperty, NothingComesNearerThanTheBoneRadius) {
  Rng rng(12);
  std::size_t tried = 0, violations = 0;
  while (tried < 100000) {
    const auto c = std::make_shared<const Character>(cloud(rng, 4000));
    FleshDesc desc = randomFlesh(rng);
    desc.rotation = false;
    desc.bone_radius_m = rng.uniform(0.05, 0.3);
    StackRunner fleshed(fleshStack(c, {desc}));
    fleshed.reset();
    for (int i = 0; i < 3; ++i) {
      Pose pose = c->restPose();  // moved as a whole: the flesh is as thick as at rest
      pose.local[0].translation = (0.4 * randomDirection(rng)).cast<float>();
      fleshed.setPose(pose, 0);
      fleshed.step(1.0 / 60);
      const detail::VirtualBone bone{fleshed.model()[0].translation(),
                                     fleshed.model()[1].translation()};
      const detail::VirtualBone rest{Vec3d::Zero(), Vec3d(0, 1, 0)};
      const std::vector<Vec3f> after = positionsOf(fleshed.evaluate());
      for (std::size_t v = 0; v < after.size(); ++v) {
        const double before = rest.distance(c->mesh.positions[v].cast<double>());
        const double now = bone.distance(after[v].cast<double>());
        violations += now < std::min(before, desc.bone_radius_m) - 1e-6;
        ++tried;
      }
    }
  }
  EXPECT_EQ(violations, 0u);
}

/// All frames of all clips, one after the other.
std::vector<Vec3f> performed(const Character& character, const FleshDesc& desc) {
  const auto c = std::make_shared<const Character>(character);
  const auto stack = fleshStack(c, {desc});
  std::vector<Vec3f> out;
  for (const Clip& clip : c->clips) {
    Playback p = Playback::make(stack, &clip, {.end_s = 1}).value();
    for (double t = 0; t < 1; t += 0.1) {
      const std::vector<Vec3f> frame = positionsOf(p.frameAt(t));
      out.insert(out.end(), frame.begin(), frame.end());
    }
  }
  return out;
}

FleshDesc everything() {
  FleshDesc d = upperFlesh();
  d.rotation = true;
  d.gravity = 0.4;
  d.bone_radius_m = 0.03;
  d.contact = {{.joint = JointId(1), .from = Vec3d(0.2, 0.6, 0.3), .radius_m = 0.15}};
  return d;
}

TEST(FleshProperty, TurningTheWholeCharacterTurnsTheResult) {
  const Character c = limb(shakes());
  const Quatd turn(Eigen::AngleAxisd(0.9, Eigen::Vector3d(1, 2, -1).normalized()));
  Character turned = c;
  rotateAxes(turned, turn);
  FleshDesc desc = everything(), turned_desc = desc;
  turned_desc.gravity_direction = turn * desc.gravity_direction;
  turned_desc.contact[0].from = turn * desc.contact[0].from;
  std::vector<Vec3f> want = performed(c, desc);
  for (Vec3f& p : want) p = turn.cast<float>() * p;
  EXPECT_LT(maxDistance(performed(turned, turned_desc), want), 1e-4);
}

TEST(FleshProperty, ScalingTheWholeCharacterScalesTheResult) {
  const Character c = limb(shakes());
  for (const double factor : {0.01, 100.0}) {
    Character scaled = c;
    scaleLengths(scaled, factor);
    FleshDesc desc = everything();
    desc.gravity = 0;  // gravity has a length of its own
    FleshDesc scaled_desc = desc;
    scaled_desc.bone_radius_m *= factor;
    scaled_desc.contact_margin_m *= factor;
    scaled_desc.contact[0].from *= factor;
    scaled_desc.contact[0].radius_m *= factor;
    std::vector<Vec3f> want = performed(c, desc);
    for (Vec3f& p : want) p *= static_cast<float>(factor);
    EXPECT_LT(maxDistance(performed(scaled, scaled_desc), want), 1e-4 * factor);
  }
}

TEST(FleshProperty, AMirroredCharacterMovesAsItsMirrorImage) {
  const auto mirror = [](const Vec3f& p) { return Vec3f(-p.x(), p.y(), p.z()); };
  std::vector<Motion> motions = shakes(), mirrored_motions = motions;
  for (std::size_t i = 0; i < motions.size(); ++i) {
    const auto flip = [](const std::function<Quatd(double)>& turn) {
      return [turn](double t) {
        const Quatd q = turn(t);
        return Quatd(q.w(), q.x(), -q.y(), -q.z());
      };
    };
    mirrored_motions[i].position = [position = motions[i].position](double t) {
      const Vec3d p = position(t);
      return Vec3d(-p.x(), p.y(), p.z());
    };
    mirrored_motions[i].turn = flip(motions[i].turn);
    mirrored_motions[i].elbow = flip(motions[i].elbow);
  }
  const Character c = limb(motions);
  Character other = limb(mirrored_motions);
  for (Vec3f& p : other.mesh.positions) p = mirror(p);
  for (Vec3f& n : other.mesh.normals) n = mirror(n);
  for (Triangle& t : other.mesh.triangles) std::swap(t[1], t[2]);
  FleshDesc desc = everything(), other_desc = desc;
  other_desc.contact[0].from.x() *= -1;
  std::vector<Vec3f> want = performed(c, desc);
  for (Vec3f& p : want) p = mirror(p);
  EXPECT_LT(maxDistance(performed(other, other_desc), want), 1e-5);
}

TEST(FleshProperty, ReorderingVerticesReordersTheResult) {
  const Character c = limb(shakes());
  const std::size_t count = c.mesh.vertexCount();
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  Rng rng(5);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  Character shuffled = c;
  std::vector<std::uint32_t> back(count);
  SkinBuilder builder(c.skin.slots, count);
  std::vector<Influence> row;
  Diagnostics notes;
  for (std::uint32_t v = 0; v < count; ++v) {
    back[order[v]] = v;
    shuffled.mesh.positions[v] = c.mesh.positions[order[v]];
    shuffled.mesh.normals[v] = c.mesh.normals[order[v]];
    row.assign(c.skin[order[v]].begin(), c.skin[order[v]].end());
    builder.addVertex(row, 0, "limb", notes);
  }
  shuffled.skin = std::move(builder).finish();
  shuffled.mesh.groups.clear();
  for (Triangle& t : shuffled.mesh.triangles)
    for (std::uint32_t& corner : t) corner = back[corner];
  for (const FleshLimit limit : {FleshLimit::Vertex, FleshLimit::Element}) {
    FleshDesc desc = everything();
    desc.limit = limit;
    const std::vector<Vec3f> want = performed(c, desc), got = performed(shuffled, desc);
    ASSERT_EQ(want.size(), got.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_EQ(got[i], want[i / count * count + order[i % count]]) << i;
  }
}

/// A plain double-precision form of what the kernels do.
Vec3d plainMove(const FleshDesc& desc, const detail::VirtualBone& bone, const Vec3d& p,
                double alpha, const Vec3d& u) {
  const double limit = desc.max_elongation * std::max(0.0, bone.distance(p) - desc.bone_radius_m);
  const double wanted = alpha * u.norm();
  const double knee = desc.soft_limit * limit;
  double way = wanted;
  if (wanted > knee) {
    const double room = limit - knee, beyond = wanted - knee;
    way = knee + room * beyond / (beyond + room);
  }
  return wanted > 0 ? Vec3d(p + alpha * u * (way / wanted)) : p;
}

TEST(FleshProperty, TheKernelMovesVerticesAsThePlainFormulaDoes) {
  Rng rng(21);
  for (int round = 0; round < 20; ++round) {
    // Odd counts, so that registers are left part empty; every third vertex, so that gaps open.
    const auto c = std::make_shared<const Character>(cloud(rng, 97 + rng.below(700)));
    FleshDesc desc = randomFlesh(rng);
    desc.rotation = false;
    desc.limit = FleshLimit::Vertex;
    desc.gravity = 1;
    desc.gravity_direction = randomDirection(rng);
    StackRunner runner(fleshStack(c, {desc}));
    runner.reset();
    const SkinFrame& frame = runner.evaluate();
    const std::vector<Affine3d> bind = restModelMatrices(c->skeleton);
    const BoundSurface surface(c->mesh, c->skin);
    const detail::FleshWeights w = detail::fleshWeights(desc, c->skeleton, bind, surface).value();
    const detail::VirtualBone bone = detail::virtualBone(desc, bind);
    const SpringConstants spring = springOf(desc);
    const double limit = desc.max_elongation * w.safe_elongation_m;
    const double farthest = limit * (desc.soft_limit + 4 * (1 - desc.soft_limit));
    Vec3d u = 9.81 / (spring.omega * spring.omega) * desc.gravity_direction.normalized();
    if (u.norm() > farthest) u *= farthest / u.norm();
    std::vector<double> alpha(c->mesh.vertexCount(), 0.0);
    for (std::size_t i = 0; i < w.vertices.size(); ++i) alpha[w.vertices[i]] = w.alpha[i];
    for (std::size_t v = 0; v < alpha.size(); ++v) {
      const Vec3d p = c->mesh.positions[v].cast<double>();
      const Vec3d want = plainMove(desc, bone, p, alpha[v], u);
      ASSERT_LT((frame.positions()[v].cast<double>() - want).norm(), 2e-6) << v;
    }
  }
}

/// Triangles of `moved` that face against themselves in `before`.
int turned(std::span<const Triangle> triangles, std::span<const Vec3f> before,
           std::span<const Vec3f> moved) {
  const auto area = [](const Triangle& t, std::span<const Vec3f> x) {
    return Vec3f(Vec3f(x[t[1]] - x[t[0]]).cross(Vec3f(x[t[2]] - x[t[0]])));
  };
  return static_cast<int>(std::count_if(triangles.begin(), triangles.end(), [&](const Triangle& t) {
    return area(t, before).dot(area(t, moved)) < 0;
  }));
}

TEST(FleshProperty, AHeavyBellyDoesNotFoldOverItselfInARecordedJump) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(recordings, "mocap-cmu-bvh");
  Diagnostics notes;
  const auto c = std::make_shared<const Character>(
      loadCharacter(bodies / "mh_D_caucasian_female_young_heavy_rig163.glb", {}, notes).value());
  const BvhMotion motion = loadBvh(recordings / "13_11.bvh", {}, notes).value();
  RetargetDesc how;
  how.start_s = motionStart(motion.clip, motion.skeleton);
  how.source_reference_time_s = 0.0f;
  const Clip clip = retarget(motion.clip, motion.skeleton, c->skeleton, how, notes).value();
  const auto turnedWith = [&](double max_slope) {
    std::vector<LayerFactory> layers = {skinningLayer({.method = SkinningMethod::Centre})};
    StackRunner stiff(Stack::bind(c, layers, notes).value());
    const std::vector<FleshProposal> proposals = proposeFlesh(*c, notes).value();
    for (const FleshProposal& p : proposals) {
      FleshDesc desc = p.desc;
      desc.max_slope = max_slope;
      if (p.region == FleshRegion::Belly) {
        desc.softness = FleshSoftness::Belly;
        desc.frequency_hz.reset();
        desc.damping_ratio.reset();
        desc.max_elongation = FleshDesc().max_elongation;
      }
      layers.push_back(fleshLayer(desc));
    }
    Playback playback =
        Playback::make(Stack::bind(c, layers, notes).value(), &clip, {.end_s = clip.duration_s()})
            .value();
    int count = 0;
    for (double t = 1.5; t <= 3; t += 1.0 / 30) {
      const SkinFrame& frame = playback.frameAt(t);
      stiff.setPose(playback.pose(), 0);
      count +=
          turned(c->mesh.triangles, std::as_const(stiff.evaluate()).positions(), frame.positions());
    }
    return count;
  };
  EXPECT_GT(turnedWith(0), 0);
  EXPECT_EQ(turnedWith(FleshDesc().max_slope), 0);
}

}  // namespace
}  // namespace derm::flesh_property_test
