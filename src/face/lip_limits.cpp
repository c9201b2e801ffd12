#include "face/lip_limits.h"

#include <algorithm>

#include "face/shape_projection.h"
#include "face/slit_curves.h"
#include "face/welded_mesh.h"

namespace derm::detail {
namespace {

/// Heights of lips are compared at this many steps along the mouth.
constexpr int kLipSteps = 12;

/// The points that keep lips apart; the corners follow both.
constexpr std::array<std::string_view, 6> kLipPoints = {"8.1", "8.2", "8.5", "8.6", "8.7", "8.8"};

}  // namespace

LipLimits::LipLimits(const Character& rigged, const FaceRig& rig, const FacePoser& poser,
                     const FaceSlit& mouth)
    : up_(mouth.up) {
  // How a height of each control point's displacement moves the margins of the lips.
  const WeldedMesh welded = weldedMesh(rigged.mesh);
  const SlitCurve upper(welded, mouth, mouth.upper), lower(welded, mouth, mouth.lower);
  std::vector<int> joint_of_slot(rigged.skin.slots.size(), -1);
  for (std::size_t s = 0; s < joint_of_slot.size(); ++s)
    for (std::size_t j = 0; j < rig.joints.size(); ++j)
      if (rig.joints[j] == rigged.skin.slots[s].joint) joint_of_slot[s] = static_cast<int>(j);
  const double step_m = 1e-2 * mouth.width_m;
  std::vector<std::vector<JointMove>> moves;
  for (const std::string_view number : controlPointNumbers())
    moves.push_back(poser.jointMoves(std::array{PointDisplacement{number, step_m * mouth.up}}));
  const auto share = [&](const SlitCurve& curve, double t, std::size_t point) {
    const SlitCurve::At at = curve.at(t);
    double sum = 0;
    for (const auto& [index, part] : {std::pair{at.first, 1 - at.share}, {at.second, at.share}})
      for (const Influence& i : rigged.skin[welded.first_vertex[curve.points()[index]]])
        if (const int j = joint_of_slot[i.slot]; j >= 0)
          sum += part * double(i.weight) *
                 mouth.up.dot(moves[point][static_cast<std::size_t>(j)].translation_m) / step_m;
    return sum;
  };
  for (int k = 1; k < kLipSteps; ++k) {
    const double t = double(k) / kLipSteps;
    Limit limit;
    const double gap = mouth.up.dot(Vec3d(upper.valueAt(t, welded.positions)) -
                                    Vec3d(lower.valueAt(t, welded.positions)));
    limit.limit_m = -std::max(gap, 0.0);
    for (std::size_t j = 0; j < kControlPointCount; ++j)
      limit.shares[j] = share(upper, t, j) - share(lower, t, j);
    limits_.push_back(limit);
  }
}

void LipLimits::keepApart(std::span<Vec3d> displacements) const noexcept {
  if (limits_.empty()) return;
  constexpr std::size_t kFree = kLipPoints.size();
  std::array<std::size_t, kFree> points{};
  for (std::size_t i = 0; i < kFree; ++i) points[i] = controlPointIndex(kLipPoints[i]);
  std::array<double, kFree> heights{};
  std::array<double, kFree * kLipSteps> rows{};
  std::array<double, kLipSteps> limits{}, multipliers{};
  for (std::size_t i = 0; i < kFree; ++i) heights[i] = up_.dot(displacements[points[i]]);
  double worst = 0;
  for (std::size_t k = 0; k < limits_.size(); ++k) {
    double all = 0, fixed = 0;
    for (std::size_t j = 0; j < kControlPointCount; ++j)
      all += limits_[k].shares[j] * up_.dot(displacements[j]);
    fixed = all;
    for (std::size_t i = 0; i < kFree; ++i) {
      rows[k * kFree + i] = limits_[k].shares[points[i]];
      fixed -= rows[k * kFree + i] * heights[i];
    }
    limits[k] = limits_[k].limit_m - fixed;
    worst = std::max(worst, limits_[k].limit_m - all);
  }
  if (!(worst > 0)) return;
  const std::array<double, kFree> before = heights;
  projectOntoLimits(heights, std::span(rows).first(kFree * limits_.size()),
                    std::span(limits).first(limits_.size()),
                    std::span(multipliers).first(limits_.size()), 1e-7);
  for (std::size_t i = 0; i < kFree; ++i)
    displacements[points[i]] += (heights[i] - before[i]) * up_;
}

}  // namespace derm::detail
