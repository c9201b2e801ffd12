// The volume layer on every frame of every clip of the cast.
#include <cmath>
#include <cstdio>
#include <memory>

#include <gtest/gtest.h>

#include "derm/cast/cast.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/playback.h"
#include "derm/deform/region_volumes.h"
#include "derm/deform/volume_layer.h"

namespace derm {
namespace {

constexpr double kFrames_Hz = 30;

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
        feet_(regions_.jointCount()) {}

  std::vector<double> measure(const Playback& playback, const SkinFrame& frame) {
    regions_.jointPositions(playback.model(), feet_);
    measurePoints(surface_, frame.positions(), Vec3d::Zero(), points_);
    return volumes_.volumes(points_, feet_);
  }

 private:
  Diagnostics notes_;
  MeasuredSurface surface_;
  VolumeRegions regions_;
  RegionVolumes volumes_;
  std::vector<Vec3d> points_, feet_;
};

TEST(CastVolume, EveryRegionOfEveryFrameKeepsItsVolume) {
  for (const CastMember& member : castMembers()) {
    const auto c = std::make_shared<const Character>(makeCastMember(member.name).value());
    Meter meter(*c);
    for (const Clip& clip : c->clips) {
      SCOPED_TRACE(c->name + " " + clip.name);
      double worst = 0, worst_total = 0, before = 0, change = 0;
      play(c, clip, [&](const Playback& playback, const SkinFrame& frame) {
        const VolumeReport report = dynamic_cast<const VolumeLayer&>(playback.layer(2)).report();
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

/// Vertices of one tenth of a joint's share, and how large their section is at rest.
struct Section {
  std::string name;
  std::vector<std::uint32_t> vertices;
  double rest = 0;
};

double spread(std::span<const Vec3f> positions, const Section& s) {
  Vec3d middle = Vec3d::Zero();
  for (const std::uint32_t v : s.vertices) middle += positions[v].cast<double>();
  middle /= double(s.vertices.size());
  double sum = 0;
  for (const std::uint32_t v : s.vertices)
    sum += (positions[v].cast<double>() - middle).squaredNorm();
  return std::sqrt(sum / double(s.vertices.size()));
}

std::vector<Section> sectionsOf(const Character& c, std::span<const std::string_view> joints) {
  std::vector<Section> out;
  for (const std::string_view name : joints) {
    const JointId joint = c.skeleton.named(name).value();
    std::vector<Section> tenths(10);
    for (std::uint32_t v = 0; v < c.mesh.vertexCount(); ++v) {
      double share = 0;
      for (const Influence& i : c.skin[v])
        if (isBelow(c.skeleton, c.skin.slots[i.slot].joint, joint)) share += double{i.weight};
      if (share > 0.001 && share < 0.999) tenths[std::size_t(share * 10)].vertices.push_back(v);
    }
    for (std::size_t k = 0; k < 10; ++k) {
      if (tenths[k].vertices.size() < 8) continue;
      tenths[k].name = std::string(name) + " " + std::to_string(k);
      tenths[k].rest = spread(c.mesh.positions, tenths[k]);
      out.push_back(tenths[k]);
    }
  }
  return out;
}

TEST(CastVolume, SectionsKeepTheirSize) {
  struct Case {
    const char* member;
    std::vector<std::string_view> joints;
  };
  for (const Case& k :
       {Case{"arm", {"forearm", "forearm_twist", "hand"}},
        Case{"trousers", {"thigh_left", "thigh_right", "shin_left", "shin_right"}},
        // Of the cat what is a limb: across shoulders and spine a tenth is no section.
        Case{"cat",
             {"forearm_left", "forearm_right", "paw_back_left", "paw_back_right", "tail_1",
              "tail_2", "tail_3", "tail_4", "tail_5", "neck_2", "head"}}}) {
    const auto c = std::make_shared<const Character>(makeCastMember(k.member).value());
    const std::vector<Section> sections = sectionsOf(*c, k.joints);
    for (const Clip& clip : c->clips) {
      double least = 9, most = 0;
      std::string thin, thick;
      play(c, clip, [&](const Playback&, const SkinFrame& frame) {
        for (const Section& s : sections) {
          const double ratio = spread(frame.positions(), s) / s.rest;
          if (ratio < least) thin = s.name;
          if (ratio > most) thick = s.name;
          least = std::min(least, ratio);
          most = std::max(most, ratio);
        }
      });
      std::printf("%-9s %-6s sections %.3f (%s) .. %.3f (%s)\n", k.member, clip.name.c_str(), least,
                  thin.c_str(), most, thick.c_str());
      EXPECT_GE(least, 0.92) << k.member << " " << clip.name << " " << thin;
      EXPECT_LE(most, 1.21) << k.member << " " << clip.name << " " << thick;
    }
  }
}

}  // namespace
}  // namespace derm
