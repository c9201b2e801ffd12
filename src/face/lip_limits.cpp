#include "face/lip_limits.h"

#include <algorithm>

#include "face/shape_projection.h"
#include "face/slit_curves.h"

namespace derm::detail {
namespace {

/// The points that keep lips apart; the corners follow both.
constexpr std::array<std::string_view, 6> kLipPoints = {"8.1", "8.2", "8.5", "8.6", "8.7", "8.8"};

}  // namespace

struct LipLimits::Placed {
  Placed(const Margin& margin, std::span<const double> sideways,
         std::span<const double> upwards) noexcept
      : count(margin.size()) {
    for (std::size_t i = 0; i < count; ++i) {
      const Node& node = margin[i];
      along[i] = node.along_m;
      up[i] = node.up_m;
      for (std::size_t j = 0; j < kControlPointCount; ++j) {
        along[i] += node.shares[j] * sideways[j];
        up[i] += node.shares[j] * upwards[j];
      }
    }
  }
  std::optional<AcrossSlit> across(double at) const noexcept {
    return acrossSlit(std::span(along).first(count), at);
  }
  double upAt(const AcrossSlit& at) const noexcept {
    return (1 - at.share) * up[at.segment] + at.share * up[at.segment + 1];
  }

  std::size_t count;
  std::array<double, kMostMarginNodes> along{}, up{};
};

LipLimits::LipLimits(const Character& rigged, const FaceRig& rig, const FacePoser& poser,
                     const FaceSlit& mouth)
    : along_(mouth.along), up_(mouth.up), tolerance_m_(1e-6 * mouth.width_m) {
  const WeldedMesh welded = weldedMesh(rigged.mesh);
  std::vector<int> joint_of_slot(rigged.skin.slots.size(), -1);
  for (std::size_t s = 0; s < joint_of_slot.size(); ++s)
    for (std::size_t j = 0; j < rig.joints.size(); ++j)
      if (rig.joints[j] == rigged.skin.slots[s].joint) joint_of_slot[s] = static_cast<int>(j);
  // How a displacement of each control point moves the joints: by the same share in all directions.
  const double step_m = 1e-2 * mouth.width_m;
  std::vector<std::vector<JointMove>> moves;
  for (const std::string_view number : controlPointNumbers())
    moves.push_back(poser.jointMoves(std::array{PointDisplacement{number, step_m * mouth.up}}));
  const auto margin = [&](std::span<const std::uint32_t> chain) {
    Margin out;
    for (const MarginNode& at : marginNodes(SlitCurve(welded, mouth, chain))) {
      Node node;
      node.counts = farFromCorners(at.parameter);
      for (const auto& [point, part] : {std::pair{at.first, 1 - at.share}, {at.second, at.share}}) {
        if (part == 0) continue;
        const Vec3d& p = welded.positions[point];
        node.along_m += part * along_.dot(p);
        node.up_m += part * up_.dot(p);
        for (const Influence& i : rigged.skin[welded.first_vertex[point]])
          if (const int j = joint_of_slot[i.slot]; j >= 0)
            for (std::size_t k = 0; k < kControlPointCount; ++k)
              node.shares[k] += part * double(i.weight) *
                                up_.dot(moves[k][static_cast<std::size_t>(j)].translation_m) /
                                step_m;
      }
      out.push_back(node);
    }
    return out;
  };
  upper_ = margin(mouth.upper);
  lower_ = margin(mouth.lower);
  const std::array<double, kControlPointCount> rest{};
  const Placed upper(upper_, rest, rest), lower(lower_, rest, rest);
  const auto limit = [](Margin& own, const Placed& at, const Placed& other, double sign) {
    for (std::size_t i = 0; i < own.size(); ++i) {
      Node& node = own[i];
      const std::optional<AcrossSlit> across = other.across(at.along[i]);
      node.counts = node.counts && across;
      if (across) node.least_m = std::min(sign * (at.up[i] - other.upAt(*across)), 0.0);
    }
  };
  limit(upper_, upper, lower, 1);
  limit(lower_, lower, upper, -1);
}

void LipLimits::keepApart(std::span<Vec3d> displacements) const noexcept {
  if (upper_.empty()) return;
  constexpr std::size_t kFree = kLipPoints.size();
  std::array<double, kControlPointCount> sideways{}, upwards{};
  for (std::size_t j = 0; j < kControlPointCount; ++j) {
    sideways[j] = along_.dot(displacements[j]);
    upwards[j] = up_.dot(displacements[j]);
  }
  // Heights change nothing of what is across from what: limits are linear in them.
  const Placed upper(upper_, sideways, upwards), lower(lower_, sideways, upwards);
  std::array<std::size_t, kFree> points{};
  std::array<double, kFree> heights{};
  for (std::size_t i = 0; i < kFree; ++i) {
    points[i] = controlPointIndex(kLipPoints[i]);
    heights[i] = upwards[points[i]];
  }
  std::array<double, 2 * kMostMarginNodes * kFree> rows{};
  std::array<double, 2 * kMostMarginNodes> limits{}, multipliers{};
  std::size_t count = 0;
  double worst = 0;
  const auto add = [&](const Margin& own, const Placed& at, const Margin& others,
                       const Placed& other, double sign) {
    for (std::size_t i = 0; i < at.count; ++i) {
      if (!own[i].counts) continue;
      const std::optional<AcrossSlit> across = other.across(at.along[i]);
      if (!across) continue;
      const Node &a = others[across->segment], &b = others[across->segment + 1];
      const double missing = own[i].least_m - sign * (at.up[i] - other.upAt(*across));
      worst = std::max(worst, missing);
      limits[count] = missing;
      for (std::size_t k = 0; k < kFree; ++k) {
        const std::size_t j = points[k];
        const double share = sign * (own[i].shares[j] - (1 - across->share) * a.shares[j] -
                                     across->share * b.shares[j]);
        rows[count * kFree + k] = share;
        limits[count] += share * heights[k];
      }
      ++count;
    }
  };
  add(upper_, upper, lower_, lower, 1);
  add(lower_, lower, upper_, upper, -1);
  if (!(worst > 0)) return;
  const std::array<double, kFree> before = heights;
  projectOntoLimits(heights, std::span(rows).first(kFree * count), std::span(limits).first(count),
                    std::span(multipliers).first(count), tolerance_m_);
  for (std::size_t i = 0; i < kFree; ++i)
    displacements[points[i]] += (heights[i] - before[i]) * up_;
}

}  // namespace derm::detail
