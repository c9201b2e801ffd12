#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/mesh/measures.h"

#include "support/compare.h"

namespace derm::properties_test {
namespace {

using testing_support::maxDistance;

/// Plain linear skinning at a time of a clip, written out here so that it depends on nothing tested
/// elsewhere. No clip: the rest pose.
std::vector<Vec3f> skinned(const Character& c, const Clip* clip, float time_s) {
  Pose pose = c.restPose();
  if (clip) sampleClip(*clip, time_s, pose);
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  std::vector<Affine3f> palette(c.skin.slots.size());
  skinningMatrices(c.skin, model, palette);
  std::vector<Vec3f> out(c.mesh.vertexCount());
  for (std::size_t v = 0; v < out.size(); ++v) {
    out[v].setZero();
    for (const Influence& i : c.skin[v])
      out[v] += i.weight * (palette[i.slot] * c.mesh.positions[v]);
  }
  return out;
}

const Clip& clipOf(const Character& c, const char* name) {
  return c.clips[c.findClip(name).value()];
}

Vec3d jointAt(const Character& c, const Clip& clip, float time_s, const char* joint) {
  Pose pose = c.restPose();
  sampleClip(clip, time_s, pose);
  std::vector<Affine3d> model(c.skeleton.size());
  localToModel(c.skeleton, pose.local, model);
  return model[c.skeleton.named(joint).value().index()].translation();
}

double weightOn(const Character& c, std::size_t vertex, const std::string& name_part) {
  double sum = 0;
  for (const Influence& i : c.skin[vertex])
    if (c.skeleton[c.skin.slots[i.slot].joint].name.find(name_part) != std::string::npos)
      sum += i.weight;
  return sum;
}

double shareOfTrianglesBelow(const Character& c, double degrees) {
  std::size_t below = 0;
  for (const Triangle& t : c.mesh.triangles) {
    double min = 180;
    for (int i = 0; i < 3; ++i) {
      const Vec3f u = (c.mesh.positions[t[(i + 1) % 3]] - c.mesh.positions[t[i]]).normalized();
      const Vec3f v = (c.mesh.positions[t[(i + 2) % 3]] - c.mesh.positions[t[i]]).normalized();
      min = std::min(min,
                     std::acos(std::clamp<double>(u.dot(v), -1.0, 1.0)) * 180.0 / std::numbers::pi);
    }
    below += min < degrees;
  }
  return static_cast<double>(below) / static_cast<double>(c.mesh.triangles.size());
}

class EveryMember : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Cast, EveryMember,
                         testing::Values("arm", "mushroom", "wrist", "trousers", "cat"),
                         [](const auto& member) { return member.param; });

TEST_P(EveryMember, RestsInItsBindPoseHasFewInfluencesAndNoSlivers) {
  const Character c = makeCastMember(GetParam()).value();
  const double diagonal = bounds(c.mesh.positions).diagonal();
  EXPECT_LT(maxDistance(skinned(c, nullptr, 0), c.mesh.positions), 1e-6 * diagonal);
  EXPECT_LE(c.skin.maxInfluences(), 4u);
  EXPECT_LT(shareOfTrianglesBelow(c, 20.0), 0.01);
  for (const Clip& clip : c.clips) {
    SCOPED_TRACE(clip.name);
    for (const Track& t : clip.tracks) {
      if (t.channel != Channel::Rotation) continue;
      for (std::size_t k = 4; k + 3 < t.values.size(); k += 4) {
        double dot = 0;
        for (std::size_t i = 0; i < 4; ++i) dot += t.values[k + i] * t.values[k - 4 + i];
        // 40 degrees between keys would be a jump at any of our key rates.
        EXPECT_GT(dot, std::cos(20.0 * std::numbers::pi / 180.0))
            << c.skeleton[t.joint].name << " key " << k / 4;
      }
    }
  }
}

TEST(CastClips, LoopsEndExactlyAsTheyBegin) {
  for (const auto& [name, clips] : {std::pair{"cat", std::vector{"run", "idle"}},
                                    {"trousers", {"walk", "bend"}},
                                    {"mushroom", {"hop"}},
                                    {"wrist", {"flex"}}}) {
    const Character c = makeCastMember(name).value();
    for (const char* clip : clips)
      for (const Track& t : clipOf(c, clip).tracks) {
        const std::size_t width = t.valueWidth(), last = t.values.size() - width;
        for (std::size_t i = 0; i < width; ++i)
          EXPECT_NEAR(t.values[i], t.values[last + i], clip == std::string("run") ? 0.0 : 1e-6)
              << name << " " << clip << " " << c.skeleton[t.joint].name;
      }
  }
}

/// The vertex at the mirrored position, found by exact coordinates.
std::vector<std::size_t> mirrorVertices(const Character& c) {
  std::map<std::array<float, 3>, std::size_t> at;
  for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
    const Vec3f& p = c.mesh.positions[v];
    at[{p.x() + 0.0f, p.y(), p.z()}] = v;
  }
  std::vector<std::size_t> partner(c.mesh.vertexCount(), c.mesh.vertexCount());
  for (std::size_t v = 0; v < partner.size(); ++v) {
    const Vec3f& p = c.mesh.positions[v];
    const auto found = at.find({-p.x() + 0.0f, p.y(), p.z()});
    if (found != at.end()) partner[v] = found->second;
  }
  return partner;
}

std::string otherSide(std::string name) {
  if (const std::size_t l = name.rfind("_left"); l != std::string::npos)
    return name.replace(l, 5, "_right");
  if (const std::size_t r = name.rfind("_right"); r != std::string::npos)
    return name.replace(r, 6, "_left");
  return name;
}

TEST(CastSymmetry, CatAndTrousersAreMirrorImagesInShapeAndWeights) {
  for (const char* name : {"cat", "trousers"}) {
    SCOPED_TRACE(name);
    const Character c = makeCastMember(name).value();
    const std::vector<std::size_t> partner = mirrorVertices(c);
    for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v) {
      ASSERT_LT(partner[v], c.mesh.vertexCount()) << v;
      for (const Influence& i : c.skin[v]) {
        const std::string other = otherSide(c.skeleton[c.skin.slots[i.slot].joint].name);
        double weight = 0;
        for (const Influence& k : c.skin[partner[v]])
          if (c.skeleton[c.skin.slots[k.slot].joint].name == other) weight = k.weight;
        ASSERT_NEAR(weight, i.weight, 1e-6) << v << " " << other;
      }
    }
  }
}

TEST(CastWeights, LimbsDoNotPullEachOther) {
  const Character cat = makeCastMember("cat").value();
  for (std::size_t v = 0; v < cat.mesh.vertexCount(); ++v) {
    const Vec3f& p = cat.mesh.positions[v];
    if (p.y() > 0.12f || std::abs(p.x()) < 0.01f) continue;  // the legs below the belly
    EXPECT_EQ(weightOn(cat, v, p.x() > 0 ? "_right" : "_left"), 0.0) << p.transpose();
    EXPECT_EQ(weightOn(cat, v, p.z() > 0 ? "thigh" : "arm"), 0.0) << v;
  }
  const Character trousers = makeCastMember("trousers").value();
  for (std::size_t v = 0; v < trousers.mesh.vertexCount(); ++v) {
    const Vec3f& p = trousers.mesh.positions[v];
    if (p.y() > 0.60f) continue;
    EXPECT_EQ(weightOn(trousers, v, p.x() > 0 ? "_right" : "_left"), 0.0) << v;
  }
  const Character arm = makeCastMember("arm").value();
  for (std::size_t v = 0; v < arm.mesh.vertexCount(); ++v) {
    int fingers = 0;
    for (const char* finger : {"thumb", "index", "middle", "ring", "little"})
      fingers += weightOn(arm, v, finger) > 0.5;
    if (arm.mesh.positions[v].x() < 0.69f || fingers == 0) continue;  // beyond the webs
    const double own =
        std::max({weightOn(arm, v, "index"), weightOn(arm, v, "middle"), weightOn(arm, v, "ring"),
                  weightOn(arm, v, "little"), weightOn(arm, v, "thumb")});
    EXPECT_NEAR(own, 1.0, 1e-5) << v;
  }
}

TEST(CatClips, PawsStayAboveTheGround) {
  const Character c = makeCastMember("cat").value();
  for (const char* name : {"run", "jump", "idle"}) {
    const Clip& clip = clipOf(c, name);
    for (int f = 0; f <= 60; ++f) {
      const float t = clip.duration_s() * static_cast<float>(f) / 60.0f;
      EXPECT_GT(bounds(skinned(c, &clip, t)).low.y(), -0.01f) << name << " at " << t;
    }
  }
}

TEST(CatClips, StandingPawsDoNotSlideInTheJump) {
  const Character c = makeCastMember("cat").value();
  const Clip& jump = clipOf(c, "jump");
  EXPECT_GE(jump.duration_s(), 2.0f);
  const struct {
    const char* joint;
    float from, to;
  } stands[] = {{"paw_front_left", 0.0f, 0.55f},
                {"paw_back_left", 0.0f, 0.65f},
                {"paw_front_right", 1.36f, 2.2f},
                {"paw_back_right", 1.44f, 2.2f}};
  for (const auto& s : stands) {
    const Vec3d start = jointAt(c, jump, s.from, s.joint);
    for (float t = s.from; t < s.to; t += 0.05f)
      EXPECT_LT((jointAt(c, jump, t, s.joint) - start).norm(), 0.006) << s.joint << " at " << t;
  }
  // It does leap: forward by well over a body's half, and off the ground in between.
  EXPECT_GT(jointAt(c, jump, 2.2f, "pelvis").z() - jointAt(c, jump, 0.0f, "pelvis").z(), 0.5);
  EXPECT_GT(bounds(skinned(c, &jump, 1.05f)).low.y(), 0.1f);
}

TEST(CatClips, RunningPawsPassUnderTheBodyAtOneSpeed) {
  const Character c = makeCastMember("cat").value();
  const Clip& run = clipOf(c, "run");
  // In the first part of each stance (toes still flat) all paws move back at the ground's speed:
  // 0.21 m in 0.26 of half a second.
  const struct {
    const char* joint;
    float touch;
  } falls[] = {{"paw_back_left", 0.02f}, {"paw_front_left", 0.46f}, {"paw_front_right", 0.54f}};
  for (const auto& f : falls) {
    const float a = (f.touch + 0.06f) * run.duration_s(), b = (f.touch + 0.16f) * run.duration_s();
    const double speed =
        (jointAt(c, run, b, f.joint).z() - jointAt(c, run, a, f.joint).z()) / (b - a);
    EXPECT_NEAR(speed, -0.21 / 0.13, 0.1) << f.joint;
  }
}

TEST(ArmClips, FlexBendsTheElbowTo120AndTwistTurnsTheHandBy170) {
  const Character c = makeCastMember("arm").value();
  const auto largestTurn = [&](const char* clip_name, const char* joint) {
    const Clip& clip = clipOf(c, clip_name);
    double largest = 0;
    for (int f = 0; f <= 100; ++f) {
      Pose pose = c.restPose();
      sampleClip(clip, clip.duration_s() * static_cast<float>(f) / 100.0f, pose);
      const Quatf q = pose.local[c.skeleton.named(joint).value().index()].rotation;
      largest =
          std::max(largest, 2.0 * std::acos(std::min(1.0, std::abs(static_cast<double>(q.w())))) *
                                180.0 / std::numbers::pi);
    }
    return largest;
  };
  EXPECT_NEAR(largestTurn("flex", "forearm"), 120.0, 0.1);
  EXPECT_NEAR(largestTurn("twist", "forearm_twist"), 170.0, 0.1);
}

}  // namespace
}  // namespace derm::properties_test
