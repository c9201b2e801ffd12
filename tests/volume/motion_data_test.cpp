// Recorded motion on real bodies, the whole stack on: what skin does at its worst.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <numbers>

#include <gtest/gtest.h>

#include "derm/anim/retarget.h"
#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/playback.h"
#include "derm/io/bvh.h"
#include "derm/io/character_file.h"
#include "derm/volume/volume_layer.h"

#include "support/unpacked.h"

namespace derm::motion_data_test {
namespace {

constexpr double kLooked_Hz = 6;

/// Inner edges of a mesh: their ends, the corners opposite them, length and dihedral angle at rest.
class Edges {
 public:
  explicit Edges(const TriMesh& mesh) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first;
    for (const Triangle& t : mesh.triangles)
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t a = t[k], b = t[(k + 1) % 3], opposite = t[(k + 2) % 3];
        const auto [at, is_new] = first.emplace(std::minmax(a, b), opposite);
        if (!is_new) edges_.push_back({a, b, opposite, at->second});
      }
    for (const Edge& e : edges_) {
      lengths_.push_back(length(e, mesh.positions));
      angles_.push_back(angle(e, mesh.positions));
    }
  }
  struct Worst {
    double stretch = 0;    ///< largest length over rest
    double stretched = 0;  ///< the same, of all but the worst thousandth
    double crease = 0;     ///< [rad] change of dihedral angle of all but the worst twentieth
    std::uint32_t vertex = 0;
  };
  Worst worst(std::span<const Vec3f> positions) const {
    std::vector<double> stretch(edges_.size()), bend(edges_.size());
    Worst out;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      stretch[i] = length(edges_[i], positions) / lengths_[i];
      bend[i] =
          std::abs(std::remainder(angle(edges_[i], positions) - angles_[i], 2 * std::numbers::pi));
      if (stretch[i] > out.stretch) {
        out.stretch = stretch[i];
        out.vertex = edges_[i].a;
      }
    }
    const auto share = [](std::vector<double>& values, double part) {
      const auto at = values.begin() + static_cast<std::ptrdiff_t>(part * double(values.size()));
      std::nth_element(values.begin(), at, values.end());
      return *at;
    };
    out.stretched = share(stretch, 0.999);
    out.crease = share(bend, 0.95);
    return out;
  }

 private:
  struct Edge {
    std::uint32_t a, b, left, right;
  };
  double length(const Edge& e, std::span<const Vec3f> x) const {
    return double{(x[e.a] - x[e.b]).norm()};
  }
  double angle(const Edge& e, std::span<const Vec3f> x) const {
    const auto at = [&](std::uint32_t v) -> Vec3d { return x[v].cast<double>(); };
    const Vec3d along = at(e.b) - at(e.a);
    const Vec3d l = along.cross(Vec3d(at(e.left) - at(e.a)));
    const Vec3d r = Vec3d(at(e.right) - at(e.a)).cross(along);
    return std::atan2(along.normalized().dot(l.cross(r)), l.dot(r));
  }
  std::vector<Edge> edges_;
  std::vector<double> lengths_, angles_;
};

std::shared_ptr<const Stack> fullStack(const std::shared_ptr<const Character>& c,
                                       Diagnostics& notes) {
  std::vector<LayerFactory> layers = {
      morphLayer(), skinningLayer({.method = SkinningMethod::Centre}), volumeLayer("volume", {})};
  const Result<std::vector<FleshProposal>> flesh = proposeFlesh(*c, notes);
  EXPECT_TRUE(flesh.ok());
  for (const FleshProposal& p : *flesh) layers.push_back(fleshLayer(p.desc));
  return Stack::bind(c, layers, notes).value();
}

/// The character's own clips and the recordings.
std::vector<Clip> motionsOf(const Character& c, const std::filesystem::path& recordings) {
  std::vector<Clip> out = c.clips;
  for (const char* file : {"02_01.bvh", "09_01.bvh", "13_11.bvh", "05_06.bvh"}) {
    Diagnostics notes;
    const BvhMotion motion = loadBvh(recordings / file, {}, notes).value();
    RetargetDesc desc;
    desc.start_s = motionStart(motion.clip, motion.skeleton);
    desc.source_reference_time_s = 0.0f;
    out.push_back(retarget(motion.clip, motion.skeleton, c.skeleton, desc, notes).value());
    out.back().name = file;
  }
  return out;
}

class MotionData : public testing::TestWithParam<const char*> {};

TEST_P(MotionData, SkinIsNeitherTornNorCreasedByRecordedMotion) {
  DERM_PACKED_DATA_OR_SKIP(bodies, "makehuman");
  DERM_DATA_OR_SKIP(recordings, "mocap-cmu-bvh");
  Diagnostics notes;
  const auto c =
      std::make_shared<const Character>(loadCharacter(bodies / GetParam(), {}, notes).value());
  const Edges edges(c->mesh);
  StackRunner linear(Stack::bind(c, std::vector{skinningLayer({})}, notes).value());
  const std::shared_ptr<const Stack> stack = fullStack(c, notes);
  for (const Clip& clip : motionsOf(*c, recordings)) {
    Playback playback = Playback::make(stack, &clip, {.end_s = clip.duration_s()}).value();
    double ours = 0, plain = 0, crease = 0, plain_crease = 0, stretch = 0, plain_stretch = 0,
           at = 0;
    double volume = 0;
    std::uint32_t vertex = 0;
    for (double t = 0; t <= double{clip.duration_s()} + 1e-6; t += 1 / kLooked_Hz) {
      const SkinFrame& frame = playback.frameAt(t);
      for (const Vec3f& p : frame.positions()) ASSERT_TRUE(p.allFinite());
      const VolumeReport report = playback.find<VolumeLayer>("volume")->report();
      for (std::size_t l = 0; l < report.regions.size(); ++l) {
        const RegionOutcome& r = report.regions[l];
        EXPECT_FALSE(r.short_of_target || r.clamped) << clip.name << " " << t;
        volume = std::max(volume, std::abs(report.after_m3[l] / r.target_m3 - 1));
      }
      const Edges::Worst now = edges.worst(frame.positions());
      linear.setPose(playback.pose(), 0);
      const Edges::Worst before = edges.worst(std::as_const(linear.evaluate()).positions());
      if (now.stretched > ours) {
        at = t;
        vertex = now.vertex;
      }
      ours = std::max(ours, now.stretched);
      plain = std::max(plain, before.stretched);
      stretch = std::max(stretch, now.stretch);
      plain_stretch = std::max(plain_stretch, before.stretch);
      crease = std::max(crease, now.crease);
      plain_crease = std::max(plain_crease, before.crease);
    }
    const auto joint = c->skin.slots[c->skin[vertex].front().slot].joint;
    std::printf(
        "%-12s stretch %.2f (linear %.2f), most %5.2f (%5.2f) at %.2f s near %s; creases %.1f "
        "(%.1f) deg; volume %.0e\n",
        clip.name.c_str(), ours, plain, stretch, plain_stretch, at, c->skeleton[joint].name.c_str(),
        crease * 57.3, plain_crease * 57.3, volume);
    EXPECT_LE(volume, 1e-5) << clip.name;
    EXPECT_LE(ours, 1.35 * plain) << clip.name;
    EXPECT_LE(crease, 1.35 * plain_crease) << clip.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Bodies, MotionData,
                         testing::Values("mh_A_caucasian_male_young_rig163.glb",
                                         "mh_B_african_female_young_rig163.glb",
                                         "mh_C_asian_male_old_heavy_rig163.glb",
                                         "mh_D_caucasian_female_young_heavy_rig163.glb",
                                         "mh_A_caucasian_male_young_cmurig31.glb"),
                         [](const auto& body) {
                           return std::string(body.param).substr(3, 1) +
                                  (std::string(body.param).find("31") == std::string::npos ? ""
                                                                                           : "31");
                         });

}  // namespace
}  // namespace derm::motion_data_test
