// The volume layer on real characters, and those on joints measured before on MakeHuman bodies.
#include <cstdio>
#include <filesystem>
#include <memory>

#include "derm/deform/basic_layers.h"
#include "derm/deform/playback.h"
#include "derm/io/character_file.h"
#include "derm/volume/volume_layer.h"

#include "support/compare.h"
#include "support/joint_sections.h"
#include "support/unpacked.h"
#include "volume/section_rig.h"

namespace derm::volume_data_test {
namespace {

using namespace section_test;

constexpr const char* kGltfCharacters[] = {"CesiumMan.glb",     "Fox.glb",
                                           "RiggedFigure.glb",  "RiggedSimple.glb",
                                           "KayKit_Knight.glb", "SimpleSkin.gltf"};

std::shared_ptr<const Character> loaded(const std::filesystem::path& file) {
  Diagnostics notes;
  return std::make_shared<const Character>(loadCharacter(file, {}, notes).value());
}

/// A character skinned about its centres, and the same with its volume held.
class PlainAndHeld {
 public:
  explicit PlainAndHeld(const std::shared_ptr<const Character>& c)
      : plain_(stackOf(c, {})), held_(stackOf(c, {volumeLayer("v", {})})) {}
  /// Positions of both, until the next call.
  std::pair<std::span<const Vec3f>, std::span<const Vec3f>> at(const Pose& pose) {
    for (StackRunner* runner : {&plain_, &held_}) runner->setPose(pose, 0);
    return {std::as_const(plain_.evaluate()).positions(),
            std::as_const(held_.evaluate()).positions()};
  }

 private:
  static std::shared_ptr<const Stack> stackOf(const std::shared_ptr<const Character>& c,
                                              std::vector<LayerFactory> layers) {
    Diagnostics notes;
    layers.insert(layers.begin(), skinningLayer({.method = SkinningMethod::Centre}));
    return Stack::bind(c, layers, notes).value();
  }
  StackRunner plain_, held_;
};

TEST(VolumeData, TheBindPoseOfEveryGltfCharacterIsLeftAloneToTheBit) {
  DERM_DATA_OR_SKIP(folder, "gltf-characters");
  for (const char* file : kGltfCharacters) {
    const auto c = loaded(folder / file);
    PlainAndHeld both(c);
    const auto [before, after] = both.at(c->bindPose());
    EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin(), after.end())) << file;
  }
}

TEST(VolumeData, EveryFrameOfEveryGltfCharacterKeepsItsVolumes) {
  DERM_DATA_OR_SKIP(folder, "gltf-characters");
  for (const char* file : kGltfCharacters) {
    Diagnostics notes;
    const auto c = loaded(folder / file);
    const std::vector<LayerFactory> layers = {
        morphLayer(), skinningLayer({.method = SkinningMethod::Centre}), volumeLayer("volume", {})};
    const auto stack = Stack::bind(c, layers, notes).value();
    const MeasuredSurface surface =
        makeMeasuredSurface(c->mesh.positions, c->mesh.triangles, file, notes);
    const VolumeRegions regions =
        VolumeRegions::bind(surface, c->mesh, c->skeleton, c->skin, {}).value();
    const RegionVolumes volumes(surface, regions, RegionTables::Volumes);
    std::vector<Vec3d> points(surface.pointCount()), anchors(regions.jointCount());
    double worst = 0, worst_total = 0, own = 0, change = 0;
    std::size_t frames = 0;
    for (const Clip& clip : c->clips) {
      SCOPED_TRACE(std::string(file) + " " + clip.name);
      Playback playback = Playback::make(stack, &clip, {.end_s = clip.duration_s()}).value();
      for (double t = 0; t <= double{clip.duration_s()} + 1e-6; t += 1 / 30.0) {
        const SkinFrame& frame = playback.frameAt(t);
        const VolumeReport report = playback.find<VolumeLayer>("volume")->report();
        regions.jointPositions(playback.model(), anchors);
        const Vec3d origin = anchors[0];
        for (Vec3d& f : anchors) f -= origin;
        measurePoints(surface, frame.positions(), origin, points);
        const std::vector<double> now = volumes.volumes(points, anchors);
        double total = 0, wanted = 0;
        for (std::size_t l = 0; l < now.size(); ++l) {
          const RegionOutcome& r = report.regions[l];
          if (r.idle) continue;
          EXPECT_FALSE(r.short_of_target || r.clamped) << t;
          worst = std::max(worst, std::abs(now[l] / r.target_m3 - 1));
          total += now[l];
          wanted += r.target_m3;
        }
        if (wanted != 0) worst_total = std::max(worst_total, std::abs(total / wanted - 1));
        ++frames;
        own = std::max(own, report.largestError());
        change = std::max(change, report.largest_change);
        for (const Vec3f& p : frame.positions()) EXPECT_TRUE(p.allFinite());
      }
    }
    std::printf("%-20s %5zu frames, error %.1e (in double %.1e), total %.1e, radius %.3f\n", file,
                frames, worst, own, worst_total, change);
    EXPECT_LE(own, 1e-6);
    EXPECT_LE(worst_total, 1e-6);
    // Read back from float positions, which is all that a small region far from the origin can
    // tell: 2e-6 for one of the knight's, 2.3e-7 at most on the others.
    EXPECT_LE(worst, 5e-6);
    EXPECT_LE(change, 0.5);
  }
}

/// A skeleton's limbs: joints below which the skinned ones never branch, from the one that hangs on
/// the trunk on.
class Limbs {
 public:
  static constexpr std::uint32_t kTrunk = 0xFFFFFFFFu;

  explicit Limbs(const Character& c) : limb_(c.skeleton.size(), kTrunk) {
    const std::size_t n = c.skeleton.size();
    std::vector<double> weight(n, 0), below(n, 0);
    for (std::size_t v = 0; v < c.mesh.vertexCount(); ++v)
      for (const Influence& i : c.skin[v])
        weight[c.skin.slots[i.slot].joint.index()] += double{i.weight};
    std::vector<int> branches(n, 0);
    for (std::size_t j = n; j-- > 0;) {
      below[j] += weight[j];
      const JointId parent = c.skeleton.joints[j].parent;
      if (!parent.valid()) continue;
      below[parent.index()] += below[j];
      branches[parent.index()] += below[j] > 0.02 * double(c.mesh.vertexCount());
    }
    std::vector<char> trunk(n, 0);
    for (std::size_t j = n; j-- > 0;) {
      trunk[j] = trunk[j] || branches[j] > 1;
      if (const JointId parent = c.skeleton.joints[j].parent; trunk[j] && parent.valid())
        trunk[parent.index()] = 1;
    }
    for (std::uint32_t j = 0; j < n; ++j) {
      const JointId parent = c.skeleton.joints[j].parent;
      if (trunk[j] || !parent.valid()) continue;
      limb_[j] = trunk[parent.index()] ? j : limb_[parent.index()];
    }
  }
  std::uint32_t of(JointId joint) const { return limb_[joint.index()]; }
  /// The limb that all of a vertex follows, or kTrunk.
  std::uint32_t of(const Character& c, std::size_t vertex) const {
    const auto row = c.skin[vertex];
    if (row.empty()) return kTrunk;
    const std::uint32_t first = of(c.skin.slots[row.front().slot].joint);
    for (const Influence& i : row)
      if (of(c.skin.slots[i.slot].joint) != first) return kTrunk;
    return first;
  }

 private:
  std::vector<std::uint32_t> limb_;
};

TEST(VolumeData, ABentLimbLeavesTheOthersAlone) {
  DERM_DATA_OR_SKIP(folder, "gltf-characters");
  int all = 0, more = 0;  // bends; those that move another limb by more than a hundredth
  for (const char* file : {"CesiumMan.glb", "Fox.glb", "RiggedFigure.glb", "KayKit_Knight.glb"}) {
    const auto c = loaded(folder / file);
    PlainAndHeld both(c);
    const Limbs limbs(*c);
    double worst = 0;
    int bends = 0;
    for (std::size_t j = 0; j < c->skeleton.size(); ++j) {
      const std::uint32_t limb = limbs.of(JointId(j));
      if (limb == Limbs::kTrunk) continue;
      Pose pose = c->bindPose();
      turn(pose, j, 30, Vec3d(1, 0.5, 0.25).normalized());
      const auto [before, after] = both.at(pose);
      double active = 0, idle = 0;
      for (std::size_t v = 0; v < before.size(); ++v) {
        const std::uint32_t here = limbs.of(*c, v);
        double& max = here == limb || here == Limbs::kTrunk ? active : idle;
        max = std::max(max, (after[v] - before[v]).cast<double>().norm());
      }
      if (active < 1e-6 * c->mesh.positions[0].norm()) continue;
      ++bends;
      worst = std::max(worst, idle / active);
      more += idle > 0.01 * active;
      // Where a bend costs so much volume that the skin around it cannot make up for it alone (a
      // figure's neck, a fox's hip on 290 points), need is spread over more skin.
      EXPECT_LE(idle, 0.05 * active) << file << " " << c->skeleton.joints[j].name;
    }
    std::printf("%-20s %2d bends, other limbs move by %.2f %% of the bent one\n", file, bends,
                100 * worst);
    all += bends;
  }
  EXPECT_GE(all, 50);
  EXPECT_LE(more, 2);
}

/// Radii of a joint's sections, posed over rest.
JointSections::Range sectionsOf(const Section& s, JointId joint, std::span<const Vec3d> posed) {
  std::vector<Vec3d> vertices;
  for (const std::uint32_t welded : s.surface.welded_of_vertex) vertices.push_back(posed[welded]);
  return JointSections(s.character, joint).range(std::span<const Vec3d>(vertices));
}

class Bodies : public testing::TestWithParam<const char*> {
 protected:
  static Character load(const std::filesystem::path& folder, const std::string& name) {
    Diagnostics notes;
    return loadCharacter(folder / name, {}, notes).value();
  }
};

struct JointTest {
  const char* name;
  const char* joint;
  Vec3d axis;
  double degrees;
  double max;  ///< of the section
};

std::vector<JointTest> jointTests(const Character& c) {
  std::vector<Affine3d> model = restModelMatrices(c.skeleton);
  const auto at = [&](const char* n) -> Vec3d {
    return model[c.skeleton.named(n).value().index()].translation();
  };
  const Vec3d fore = (at("wrist.L") - at("lowerarm01.L")).normalized();
  const Vec3d arm = (at("lowerarm01.L") - at("upperarm01.L")).normalized();
  const Vec3d z = Vec3d::UnitZ();
  const Vec3d elbow = fore.cross(z).normalized(), shoulder = arm.cross(z).normalized();
  return {{"elbow", "lowerarm01.L", elbow, 90, 1.21},
          {"elbow", "lowerarm01.L", elbow, 120, 1.21},
          {"knee", "lowerleg01.L", Vec3d::UnitX(), 90, 1.09},
          {"knee", "lowerleg01.L", Vec3d::UnitX(), 120, 1.09},
          {"hip", "upperleg01.L", -Vec3d::UnitX(), 90, 1.09},
          {"hip", "upperleg01.L", -Vec3d::UnitX(), 120, 1.09},
          {"shoulder up", "upperarm01.L", z, 90, 1.09},
          {"shoulder fwd", "upperarm01.L", shoulder, 90, 1.09},
          {"wrist twist", "wrist.L", fore, 90, 1.09},
          {"wrist twist", "wrist.L", fore, 150, 1.09},
          {"wrist twist", "wrist.L", fore, 170, 1.09}};
}

/// Changes of radius of the correction.
JointSections::Range scaleOf(const Section::Posed& p) {
  JointSections::Range out{1, 1};
  for (std::size_t i = 0; i < p.base.size(); ++i) {
    const Vec3d d = p.base[i] - p.centres[i];
    if (!(d.squaredNorm() > 1e-12)) continue;
    const double scale = 1 + (p.corrected[i] - p.base[i]).dot(d) / d.squaredNorm();
    out.min = std::min(out.min, scale);
    out.max = std::max(out.max, scale);
  }
  return out;
}

TEST_P(Bodies, KeepVolumeAndShapeJointByJoint) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  Section s(load(folder, GetParam()));
  EXPECT_EQ(s.regions.regionCount(), 7u);
  for (const JointTest& t : jointTests(s.character)) {
    SCOPED_TRACE(std::string(t.name) + " " + std::to_string(int(t.degrees)));
    Pose pose = s.character.restPose();
    const JointId joint = s.character.skeleton.named(t.joint).value();
    turn(pose, joint.index(), t.degrees, t.axis);
    const Section::Posed p = s.pose(pose);
    const JointSections::Range section = sectionsOf(s, joint, p.corrected), scale = scaleOf(p);
    std::printf("%c %-13s %3.0f lbs %.3f section %.3f..%.3f s %.3f..%.3f move %4.1f mm steps %d\n",
                GetParam()[3], t.name, t.degrees, sectionsOf(s, joint, p.linear).min, section.min,
                section.max, scale.min, scale.max, 1e3 * p.report.largest_move_m,
                p.report.iterations);
    EXPECT_LE(s.worstRegion(p), 1e-12);
    EXPECT_LE(std::abs(s.change(p.corrected)), 1e-12);
    EXPECT_LE(p.report.iterations, 12);
    EXPECT_GE(section.min, 0.92);
    EXPECT_LE(section.max, t.max);
    EXPECT_GE(scale.min, 0.85);
    EXPECT_LE(scale.max, 1.21);
  }
}

TEST_P(Bodies, SpreadTheTwistOfAHandAlongTheForearm) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  const Character body = load(folder, GetParam());
  const SectionDesc desc{.tolerance = 1e-12};
  Section plain(body), spread(body, {}, desc, 0.5, TwistRule::Forearms);
  const JointTest twist = jointTests(body).back();
  ASSERT_EQ(twist.degrees, 170);
  const JointId wrist = body.skeleton.named(twist.joint).value();
  Pose pose = body.restPose();
  turn(pose, wrist.index(), twist.degrees, twist.axis);
  const Section::Posed before = plain.pose(pose), after = spread.pose(pose);
  const double worst = edgeStretch(plain.surface.triangles, plain.rest, before.corrected);
  const double min = edgeStretch(spread.surface.triangles, spread.rest, after.corrected);
  const JointSections::Range section = sectionsOf(spread, wrist, after.corrected);
  const JointSections::Range base = sectionsOf(spread, wrist, after.base);
  std::printf("%c wrist twist 170: edges %.2f -> %.2f, section %.3f..%.3f (base %.3f..%.3f)\n",
              GetParam()[3], worst, min, section.min, section.max, base.min, base.max);
  EXPECT_GE(worst, 5.0);
  EXPECT_LE(min, 1.6);
  EXPECT_GE(base.min, 0.979);
  EXPECT_LE(base.max, 1.017);
  // The prototype kept to that after the correction, too; ours has 0.970..1.034 on D.
  EXPECT_GE(section.min, 0.965);
  EXPECT_LE(section.max, 1.04);
  EXPECT_LE(spread.worstRegion(after), 1e-12);
}

TEST_P(Bodies, KeepVolumeAndShapeInArtistsPoses) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  Section s(load(folder, GetParam()));
  for (const Clip& clip : s.character.clips) {
    SCOPED_TRACE(clip.name);
    Pose pose = s.character.restPose();
    sampleClip(clip, 1.0f, pose);
    const Section::Posed p = s.pose(pose);
    const JointSections::Range scale = scaleOf(p);
    const auto all = [](auto, auto) { return true; };
    const double ours = dihedralChange(s.surface.triangles, s.rest, p.corrected, all);
    const double linear = dihedralChange(s.surface.triangles, s.rest, p.linear, all);
    std::printf("%c %-11s s %.3f..%.3f move %4.1f mm steps %d creases %.2f of linear\n",
                GetParam()[3], clip.name.c_str(), scale.min, scale.max,
                1e3 * p.report.largest_move_m, p.report.iterations, ours / linear);
    EXPECT_LE(s.worstRegion(p), 1e-12);
    EXPECT_LE(p.report.iterations, 12);
    EXPECT_GE(scale.min, 0.85);
    EXPECT_LE(scale.max, 1.21);
    EXPECT_LE(ours, 1.31 * linear);
  }
}

TEST_P(Bodies, RegionVolumesAddUpAndDoNotFeelRigidMotion) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  Section s(load(folder, GetParam()));
  Pose pose = s.character.restPose();
  sampleClip(s.character.clips.front(), 1.0f, pose);
  const Section::Posed p = s.pose(pose);
  const std::vector<double> each = s.volumes.volumes(p.base, p.anchors);
  double sum = 0;
  for (const double v : each) sum += v;
  EXPECT_NEAR(sum / volume(std::span<const Vec3d>(p.base), s.surface.triangles), 1, 1e-12);
  Affine3d motion = Affine3d::Identity();
  motion.linear() = Eigen::AngleAxisd(1.3, Eigen::Vector3d(1, 2, 3).normalized()).matrix();
  motion.translation() = Vec3d(1, 2, -3);
  std::vector<Vec3d> points = p.base, anchors = p.anchors;
  for (Vec3d& x : points) x = motion * x;
  for (Vec3d& f : anchors) f = motion * f;
  const std::vector<double> moved = s.volumes.volumes(points, anchors);
  for (std::size_t l = 0; l < each.size(); ++l) EXPECT_NEAR(moved[l] / each[l], 1, 1e-12);
}

TEST_P(Bodies, MoveSmoothlyThroughABendAndNotElsewhere) {
  DERM_PACKED_DATA_OR_SKIP(folder, "makehuman");
  Section s(load(folder, GetParam()));
  const JointTest elbow = jointTests(s.character)[0];
  const JointId joint = s.character.skeleton.named(elbow.joint).value();
  // Wholly in a region of the other arm or of a leg.
  std::vector<char> other_limb(s.rest.size(), 0);
  for (std::size_t i = 0; i < s.rest.size(); ++i) {
    const auto regions = s.regions.membership.columnsOf(i);
    const std::string& name = s.regions.regions[regions[0]].name;
    other_limb[i] = regions.size() == 1 && (name.starts_with("lowerleg") ||
                                            name.ends_with("arm01.R") || name == "wrist.R");
  }
  std::vector<Vec3d> last;
  double fastest = 0, idle = 0;
  for (double degrees = 0; degrees <= 141; degrees += 3) {
    Pose pose = s.character.restPose();
    turn(pose, joint.index(), degrees, elbow.axis);
    const Section::Posed p = s.pose(pose);
    std::vector<Vec3d> moves(p.base.size());
    for (std::size_t i = 0; i < moves.size(); ++i) {
      moves[i] = p.corrected[i] - p.base[i];
      if (!last.empty()) fastest = std::max(fastest, (moves[i] - last[i]).norm() / 3);
      if (other_limb[i]) idle = std::max(idle, moves[i].norm());
    }
    last = moves;
  }
  std::printf("%c elbow sweep: %.2f mm/deg, elsewhere %.4f mm\n", GetParam()[3], 1e3 * fastest,
              1e3 * idle);
  EXPECT_LE(fastest, 0.5e-3);
  EXPECT_LE(idle, 0.06e-3);
}

INSTANTIATE_TEST_SUITE_P(VolumeData, Bodies,
                         testing::Values("mh_A_caucasian_male_young_rig163.glb",
                                         "mh_B_african_female_young_rig163.glb",
                                         "mh_C_asian_male_old_heavy_rig163.glb",
                                         "mh_D_caucasian_female_young_heavy_rig163.glb"),
                         [](const auto& body) { return std::string(1, body.param[3]); });

}  // namespace
}  // namespace derm::volume_data_test
