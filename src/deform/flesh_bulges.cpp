#include "deform/flesh_bulges.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

namespace derm::detail {
namespace {

/// All in lengths of the trunk, hips to shoulders.
/// Skin up to this above the ground is soles; shins are looked at between these heights of the leg.
constexpr double kSole = 0.1;
constexpr double kShinLow = 0.25, kShinHigh = 0.45;
/// Feet must point somewhere by this much.
constexpr double kFootLength = 0.04;
/// Half the height of the slices in which a profile is taken.
constexpr double kSlice = 0.04;
/// Breasts are looked for between these distances below the shoulders.
constexpr double kBreastTop = 0.05, kBreastBottom = 0.5;
/// How far they stand out from the breastbone between them; chest muscles do less.
constexpr double kBreastDepth = 0.028;
/// Half the width of the breastbone.
constexpr double kBreastbone = 0.04;
/// Buttocks lie between these heights about the hips.
constexpr double kButtockBottom = -0.2, kButtockTop = 0.3;
/// How far they stand out from the straight line over the hollow of the back and the thigh.
constexpr double kButtockDepth = 0.03;
/// The bone lies this share of a bulge's height from top and bottom, and its own depth inside.
constexpr double kBoneInside = 0.9;
/// Motion ends at this many depths from the bone.
constexpr double kReach = 1.6;
/// Joints that carry less of a bulge's skin do not count.
constexpr double kMinShare = 0.1;

/// A trunk's own axes: right, up, front; lengths in trunk lengths above the hips.
class Torso {
 public:
  Torso(const Character& character, std::span<const Affine3d> bind, const Trunk& trunk,
        std::span<const std::uint8_t> is_prop)
      : c_(character), bind_(bind), trunk_(trunk), length_(trunk.shoulders_m - trunk.hips_m) {
    for (std::size_t v = 0; v < c_.skin.vertexCount(); ++v) {
      if (!is_prop.empty() && is_prop[v]) continue;
      float on_trunk = 0, on_legs = 0;
      for (const Influence& i : c_.skin[v]) {
        const std::size_t joint = c_.skin.slots[i.slot].joint.index();
        on_trunk += trunk_.trunk_joint[joint] ? i.weight : 0;
        on_legs += trunk_.leg_joint[joint] ? i.weight : 0;
      }
      if (on_trunk + on_legs < 0.5f) continue;
      vertices_.push_back(static_cast<std::uint32_t>(v));
      on_legs_.push_back(on_legs > on_trunk);
    }
  }

  bool findFront() {
    double ground = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < vertices_.size(); ++i)
      if (on_legs_[i]) ground = std::min(ground, position(i).y());
    const double leg = trunk_.hips_m - ground;
    Vec3d soles = Vec3d::Zero(), shins = Vec3d::Zero();
    double sole_count = 0, shin_count = 0;
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      if (!on_legs_[i]) continue;
      const double height = position(i).y() - ground;
      if (height < kSole * length_) {
        soles += position(i);
        ++sole_count;
      } else if (height > kShinLow * leg && height < kShinHigh * leg) {
        shins += position(i);
        ++shin_count;
      }
    }
    if (sole_count == 0 || shin_count == 0) return false;
    front_ = soles / sole_count - shins / shin_count;
    front_.y() = 0;
    if (!(front_.norm() > kFootLength * length_)) return false;
    front_.normalize();
    right_ = front_.cross(Vec3d::UnitY());
    middle_ = bind_[trunk_.pelvis.index()].translation();
    return true;
  }

  std::vector<FleshProposal> breasts() const {
    return pair(
        1, {.low = 1 - kBreastBottom, .high = 1 - kBreastTop, .on_legs = false},
        [&](const Bump& bump) {
          const std::optional<double> breastbone = profile(1, bump.height, 0, kBreastbone, false);
          return breastbone ? bump.out - *breastbone : 0.0;
        },
        kBreastDepth, FleshRegion::Breast);
  }

  std::vector<FleshProposal> buttocks() const {
    return pair(
        -1, {.low = kButtockBottom, .high = kButtockTop, .on_legs = true},
        [&](const Bump& bump) {
          const auto below = profile(-1, kButtockBottom, bump.aside - 0.1, bump.aside + 0.1, true);
          const auto above = profile(-1, kButtockTop, bump.aside - 0.1, bump.aside + 0.1, true);
          if (!below || !above) return 0.0;
          const double t = (bump.height - kButtockBottom) / (kButtockTop - kButtockBottom);
          return bump.out - ((1 - t) * *below + t * *above);
        },
        kButtockDepth, FleshRegion::Buttock);
  }

 private:
  /// Where the skin of one side stands out furthest. In trunk lengths.
  struct Bump {
    double out = 0;     ///< towards front or back
    double height = 0;  ///< above the hips
    double aside = 0;   ///< from the middle, > 0
  };
  struct Window {
    double low, high;
    bool on_legs;  ///< skin of the legs counts
  };

  Vec3d position(std::size_t i) const { return c_.mesh.positions[vertices_[i]].cast<double>(); }
  double heightOf(std::size_t i) const { return (position(i).y() - trunk_.hips_m) / length_; }
  double asideOf(std::size_t i) const { return (position(i) - middle_).dot(right_) / length_; }
  double outOf(std::size_t i, double way) const {
    return way * (position(i) - middle_).dot(front_) / length_;
  }

  /// The outline at a height, of skin between two distances from the middle on either side.
  std::optional<double> profile(double way, double height, double from, double to,
                                bool on_legs) const {
    std::optional<double> out;
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      if ((on_legs_[i] && !on_legs) || std::abs(heightOf(i) - height) > kSlice) continue;
      const double aside = std::abs(asideOf(i));
      if (aside >= from && aside <= to) out = std::max(out.value_or(-10), outOf(i, way));
    }
    return out;
  }

  std::optional<Bump> bump(double way, double side, const Window& window) const {
    std::optional<Bump> best;
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      const double height = heightOf(i), aside = side * asideOf(i);
      if ((on_legs_[i] && !window.on_legs) || height < window.low || height > window.high ||
          aside < 0.05)
        continue;
      const double out = outOf(i, way);
      if (!best || out > best->out) best = Bump{out, height, aside};
    }
    // What stands out furthest at the window's edge belongs to something else: a belly.
    if (best && (best->height < window.low + kSlice || best->height > window.high - kSlice))
      return {};
    return best;
  }

  template <class Depth>
  std::vector<FleshProposal> pair(double way, const Window& window, const Depth& depth,
                                  double min_depth, FleshRegion region) const {
    std::vector<FleshProposal> out;
    for (const double side : {1.0, -1.0}) {
      const std::optional<Bump> found = bump(way, side, window);
      if (!found || !(depth(*found) > min_depth)) return {};
      out.push_back(element(way, side, *found, window, region));
      if (!out.back().desc.dominant.valid()) return {};
    }
    return out;
  }

  FleshProposal element(double way, double side, const Bump& bump, const Window& window,
                        FleshRegion region) const {
    FleshProposal p{.region = region};
    // As deep as the bulge is high: half of that on either side of its apex.
    const double half = kBoneInside * std::min(bump.height - window.low, window.high - bump.height);
    const auto at = [&](double height) -> Vec3d {
      Vec3d q = middle_ + length_ * (side * bump.aside * right_ + way * (bump.out - half) * front_);
      q.y() = trunk_.hips_m + length_ * height;
      return q;
    };
    p.desc.from = at(bump.height + half);
    p.desc.to = at(bump.height - half);
    p.desc.reach_m = kReach * half * length_;
    p.desc.softness = FleshSoftness::Fat;
    p.desc.name = std::string(nameOf(region)) + (side > 0 ? " right" : " left");
    p.desc.dominant = carrier(0.5 * (*p.desc.from + *p.desc.to), *p.desc.reach_m, p.desc.ends);
    return p;
  }

  /// The joint that all the trunk's joints with a share in this skin hang on, and (in `ends`) the
  /// last of them below it.
  JointId carrier(const Vec3d& centre, double reach_m, std::vector<JointId>& ends) const {
    std::vector<double> share(c_.skeleton.size(), 0.0);
    double total = 0;
    for (std::size_t i = 0; i < vertices_.size(); ++i) {
      if ((position(i) - centre).norm() > reach_m) continue;
      for (const Influence& influence : c_.skin[vertices_[i]]) {
        const std::size_t joint = c_.skin.slots[influence.slot].joint.index();
        if (!trunk_.trunk_joint[joint]) continue;
        share[joint] += influence.weight;
        total += influence.weight;
      }
    }
    JointId common;
    for (std::size_t j = 0; j < share.size(); ++j) {
      if (!(share[j] > kMinShare * total)) continue;
      if (!common.valid()) common = JointId(j);
      while (common.valid() && JointId(j) != common && !isBelow(c_.skeleton, JointId(j), common))
        common = c_.skeleton[common].parent;
    }
    for (std::size_t j = 0; common.valid() && j < share.size(); ++j) {
      if (!(share[j] > kMinShare * total) || JointId(j) == common) continue;
      const bool has_later = [&] {
        for (std::size_t k = j + 1; k < share.size(); ++k)
          if (share[k] > kMinShare * total && isBelow(c_.skeleton, JointId(k), JointId(j)))
            return true;
        return false;
      }();
      if (!has_later) ends.push_back(JointId(j));
    }
    return common;
  }

  const Character& c_;
  std::span<const Affine3d> bind_;
  const Trunk& trunk_;
  double length_ = 0;  ///< [m] hips to shoulders
  std::vector<std::uint32_t> vertices_;
  std::vector<bool> on_legs_;
  Vec3d front_ = Vec3d::UnitZ();
  Vec3d right_ = Vec3d::UnitX();
  Vec3d middle_ = Vec3d::Zero();
};

}  // namespace

std::vector<FleshProposal> findBulges(const Character& character, std::span<const Affine3d> bind,
                                      const Trunk& trunk, std::span<const std::uint8_t> is_prop) {
  if (!(trunk.shoulders_m > trunk.hips_m)) return {};
  Torso torso(character, bind, trunk, is_prop);
  if (!torso.findFront()) return {};
  std::vector<FleshProposal> out = torso.breasts();
  for (FleshProposal& p : torso.buttocks()) out.push_back(std::move(p));
  return out;
}

}  // namespace derm::detail
