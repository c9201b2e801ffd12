// The volume layer on every frame of every clip of the cast.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/playback.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/weld.h"
#include "derm/volume/region_volumes.h"
#include "derm/volume/volume_layer.h"

#include "cast/section_cuts.h"
#include "support/joint_sections.h"

namespace derm::volume_test {
namespace {

constexpr double kFrames_Hz = 60;  // as often as the cast's clips have keys

/// Plays a clip through centre skinning and the volume layer; calls look(pose's playback, frame).
template <class Look>
void play(const std::shared_ptr<const Character>& c, const Clip& clip, const Look& look) {
  Diagnostics notes;
  const std::vector<LayerFactory> layers = {
      morphLayer(), skinningLayer({.method = SkinningMethod::Centre}), volumeLayer("volume", {})};
  const auto stack = Stack::bind(c, layers, notes).value();
  Playback playback = Playback::make(stack, &clip, {.end_s = clip.duration_s()}).value();
  for (double t = 0; t <= double{clip.duration_s()} + 1e-6; t += 1 / kFrames_Hz) {
    const SkinFrame& frame = playback.frameAt(t);
    look(playback, frame);
  }
}

/// Measures what came out, in double.
class Meter {
 public:
  explicit Meter(const Character& c)
      : surface_(makeMeasuredSurface(c.mesh.positions, c.mesh.triangles, c.name, notes_)),
        regions_(VolumeRegions::bind(surface_, c.mesh, c.skeleton, c.skin, {}).value()),
        volumes_(surface_, regions_, RegionTables::Volumes),
        points_(surface_.pointCount()),
        anchors_(regions_.jointCount()) {}

  std::vector<double> measure(const Playback& playback, const SkinFrame& frame) {
    regions_.jointPositions(playback.model(), anchors_);
    measurePoints(surface_, frame.positions(), Vec3d::Zero(), points_);
    return volumes_.volumes(points_, anchors_);
  }

 private:
  Diagnostics notes_;
  MeasuredSurface surface_;
  VolumeRegions regions_;
  RegionVolumes volumes_;
  std::vector<Vec3d> points_, anchors_;
};

TEST(CastVolume, EveryRegionOfEveryFrameKeepsItsVolume) {
  for (const CastMember& member : castMembers()) {
    const auto c = std::make_shared<const Character>(makeCastMember(member.name).value());
    if (c->skin.empty()) continue;  // shapes and heads without joints
    if (!checkClosed(mapped(c->mesh.triangles, weldMap(c->mesh.positions))).closed()) continue;
    Meter meter(*c);
    for (const Clip& clip : c->clips) {
      SCOPED_TRACE(c->name + " " + clip.name);
      double worst = 0, worst_total = 0, before = 0, change = 0;
      play(c, clip, [&](const Playback& playback, const SkinFrame& frame) {
        const VolumeReport report = playback.find<VolumeLayer>("volume")->report();
        const std::vector<double> now = meter.measure(playback, frame);
        ASSERT_EQ(now.size(), report.regions.size());
        double total = 0, wanted = 0;
        for (std::size_t l = 0; l < now.size(); ++l) {
          const RegionOutcome& r = report.regions[l];
          EXPECT_FALSE(r.short_of_target || r.clamped || r.idle);
          worst = std::max(worst, std::abs(now[l] / r.target_m3 - 1));
          before = std::max(before, std::abs(r.before_m3 / r.target_m3 - 1));
          total += now[l];
          wanted += r.target_m3;
        }
        worst_total = std::max(worst_total, std::abs(total / wanted - 1));
        change = std::max(change, report.largest_change);
        for (const Vec3f& p : frame.positions()) EXPECT_TRUE(p.allFinite());
      });
      std::printf("%-14s %-8s lost %5.2f %%, error %.1e, total %.1e, radius %.3f\n",
                  c->name.c_str(), clip.name.c_str(), 100 * before, worst, worst_total, change);
      EXPECT_LE(worst, 1e-5);
      EXPECT_LE(worst_total, 1e-5);
      EXPECT_LE(change, 0.5);
    }
  }
}

TEST(CastVolume, CutsAcrossBonesKeepTheirSize) {
  for (const auto& [member, min_cuts] : {std::pair{"arm", 90u}, {"trousers", 40u}, {"cat", 160u}}) {
    const auto c = std::make_shared<const Character>(makeCastMember(member).value());
    const std::vector<section_cuts::Cut> cuts = section_cuts::acrossBones(*c, 5);
    EXPECT_GE(cuts.size(), min_cuts) << member;
    for (const Clip& clip : c->clips) {
      double min = 9, max = 0;
      std::string thin, thick;
      play(c, clip, [&](const Playback&, const SkinFrame& frame) {
        for (const section_cuts::Cut& cut : cuts) {
          const double ratio = cut.ratio(frame.positions());
          if (ratio < min) thin = cut.name;
          if (ratio > max) thick = cut.name;
          min = std::min(min, ratio);
          max = std::max(max, ratio);
        }
      });
      std::printf("%-9s %-6s %3zu sections %.3f (%s) .. %.3f (%s)\n", member, clip.name.c_str(),
                  cuts.size(), min, thin.c_str(), max, thick.c_str());
      EXPECT_GE(min, 0.92) << member << " " << clip.name << " " << thin;
      EXPECT_LE(max, 1.21) << member << " " << clip.name << " " << thick;
    }
  }
}

TEST(CastVolume, SectionsOfEveryJointKeepTheirSize) {
  for (const char* member : {"arm", "trousers", "cat"}) {
    const auto c = std::make_shared<const Character>(makeCastMember(member).value());
    std::vector<JointSections> joints;
    std::size_t sections = 0;
    for (std::size_t j = 0; j < c->skeleton.size(); ++j) {
      joints.emplace_back(*c, JointId(j));
      sections += joints.back().count();
    }
    EXPECT_GE(sections, 45u) << member;
    for (const Clip& clip : c->clips) {
      JointSections::Range range;
      std::string thin, thick;
      play(c, clip, [&](const Playback&, const SkinFrame& frame) {
        for (std::size_t j = 0; j < joints.size(); ++j) {
          const JointSections::Range here = joints[j].range(frame.positions());
          if (here.min < range.min) thin = c->skeleton.joints[j].name;
          if (here.max > range.max) thick = c->skeleton.joints[j].name;
          range.min = std::min(range.min, here.min);
          range.max = std::max(range.max, here.max);
        }
      });
      std::printf("%-9s %-6s %3zu tenths %.3f (%s) .. %.3f (%s)\n", member, clip.name.c_str(),
                  sections, range.min, thin.c_str(), range.max, thick.c_str());
      EXPECT_GE(range.min, 0.92) << member << " " << clip.name << " " << thin;
      EXPECT_LE(range.max, 1.21) << member << " " << clip.name << " " << thick;
    }
  }
}

/// The cat's trunk is no limb: it has one volume with hips and shoulders, and helps wherever these
/// move (docs/volume.md).
bool ofTrunk(const Character& c, std::size_t vertex) {
  for (const Influence& i : c.skin[vertex]) {
    const std::string& name = c.skeleton.joints[c.skin.slots[i.slot].joint.index()].name;
    if (name.starts_with("spine") || name == "pelvis") return true;
  }
  return false;
}

/// Per vertex whether no joint that it follows, nor one below those, is turned from its bind.
std::vector<char> idleVertices(const Character& c, const Pose& pose) {
  const std::vector<Transform> bind = bindTransforms(c.skeleton, c.skin);
  std::vector<char> turned(c.skeleton.size(), 0), near(c.skeleton.size(), 0);
  for (std::size_t j = 0; j < c.skeleton.size(); ++j) {
    turned[j] = std::abs(bind[j].rotation.dot(pose.local[j].rotation)) < 1 - 1e-6f;
    near[j] |= turned[j];
    if (const JointId parent = c.skeleton.joints[j].parent; turned[j] && parent.valid())
      near[parent.index()] = 1;
  }
  std::vector<char> out(c.mesh.vertexCount(), 1);
  for (std::size_t v = 0; v < out.size(); ++v)
    for (const Influence& i : c.skin[v])
      if (near[c.skin.slots[i.slot].joint.index()]) out[v] = 0;
  return out;
}

TEST(CastVolume, IdleLimbsStayIdle) {
  for (const char* member : {"arm", "cat"}) {
    const auto c = std::make_shared<const Character>(makeCastMember(member).value());
    for (const Clip& clip : c->clips) {
      Diagnostics notes;
      const auto skinned =
          Stack::bind(c, std::vector{skinningLayer({.method = SkinningMethod::Centre})}, notes)
              .value();
      StackRunner plain(skinned);
      double max_active = 0, max_still = 0, max_of_trunk = 0;
      std::size_t idle_frames = 0, max_idle = 0;
      play(c, clip, [&](const Playback& playback, const SkinFrame& frame) {
        const Pose& pose = playback.pose();
        plain.setPose(pose, 0);
        const auto before = std::as_const(plain.evaluate()).positions();
        const std::vector<char> idle = idleVertices(*c, pose);
        double active = 0, still = 0;
        std::size_t count = 0;
        for (std::size_t v = 0; v < idle.size(); ++v) {
          const double move = (frame.positions()[v] - before[v]).cast<double>().norm();
          if (idle[v] && ofTrunk(*c, v)) {
            max_of_trunk = std::max(max_of_trunk, move);
            continue;
          }
          (idle[v] ? still : active) = std::max(idle[v] ? still : active, move);
          count += idle[v] != 0;
        }
        max_active = std::max(max_active, active);
        if (count < 20) return;  // no limb is idle
        ++idle_frames;
        max_idle = std::max(max_idle, count);
        max_still = std::max(max_still, still);
      });
      std::printf("%-4s %-6s idle in %3zu frames (%4zu vertices): %.4f mm of %.4f mm\n", member,
                  clip.name.c_str(), idle_frames, max_idle, 1e3 * max_still, 1e3 * max_active);
      EXPECT_GT(idle_frames, 0u) << clip.name;
      EXPECT_LE(max_still, 0.01 * max_active) << clip.name;
      EXPECT_LE(max_of_trunk, 2.6e-3) << clip.name;
    }
  }
}

}  // namespace
}  // namespace derm::volume_test
