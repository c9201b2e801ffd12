#include "deform/skinning_reference.h"

#include <cmath>

#include <Eigen/LU>

#include "derm/base/assert.h"
#include "derm/math/polar.h"
#include "derm/math/transform.h"

namespace derm {
namespace {

/// The inverse transpose but for a positive factor; defined for singular maps too.
Mat3d normalDirections(const Mat3d& m) {
  Mat3d cofactor;
  for (int c = 0; c < 3; ++c)
    cofactor.col(c) = Vec3d(m.col((c + 1) % 3)).cross(Vec3d(m.col((c + 2) % 3)));
  return m.determinant() < 0 ? Mat3d(-cofactor) : cofactor;
}

/// Scaled to the map's own size, so that it blends with those of other joints.
Mat3d normalMatrix(const Mat3d& linear) {
  const Mat3d directions = normalDirections(linear);
  const double size = linear.norm();
  if (!(directions.norm() > 1e-12 * size * size)) return Mat3d::Zero();
  return directions * (size / directions.norm());
}

Vec3d unitOr(const Vec3d& v, const Vec3d& rest, const Vec3d& last_resort) {
  const double length = v.norm();
  if (length > 1e-15 && length < 1e15) return v / length;
  const double rest_length = rest.norm();
  if (rest_length > 1e-15 && rest_length < 1e15) return rest / rest_length;
  return last_resort;
}

std::size_t pivotOf(std::span<const PreciseInfluence> row) {
  std::size_t pivot = 0;
  for (std::size_t i = 1; i < row.size(); ++i)
    if (row[i].weight > row[pivot].weight ||
        (row[i].weight == row[pivot].weight && row[i].slot < row[pivot].slot))
      pivot = i;
  return pivot;
}

/// Directions to unit length; `bent` holds what the maps made of them.
SkinnedVertex finished(SkinnedVertex bent, const SkinnedVertex& rest) {
  bent.normal = unitOr(bent.normal, rest.normal, Vec3d::UnitY());
  bent.tangent = unitOr(bent.tangent, rest.tangent, Vec3d::UnitX());
  return bent;
}

}  // namespace

SkinningReference::SkinningReference(std::span<const SkinSlot> slots,
                                     std::span<const Affine3d> palette) {
  DERM_REQUIRE(slots.size() == palette.size());
  for (std::size_t s = 0; s < slots.size(); ++s) {
    Slot slot;
    slot.matrix = Affine3d::Identity();
    if (palette[s].matrix().allFinite()) slot.matrix = palette[s];
    slot.normal_matrix = normalMatrix(slot.matrix.linear());
    bool invertible = false;
    slot.centre = inverseOrIdentity(slots[s].inverse_bind.cast<double>(), invertible).translation();
    const Polar polar = polarDecomposition(slot.matrix.linear());
    slot.rotation = Quatd(polar.rotation).normalized();
    slot.stretch = polar.stretch;
    slots_.push_back(slot);
  }
}

SkinnedVertex SkinningReference::linear(std::span<const PreciseInfluence> row,
                                        const SkinnedVertex& rest) const {
  Affine3d blended;
  blended.matrix().setZero();
  Mat3d normals = Mat3d::Zero();
  for (const PreciseInfluence& i : row) {
    blended.matrix() += i.weight * slots_[i.slot].matrix.matrix();
    normals += i.weight * slots_[i.slot].normal_matrix;
  }
  const Mat3d linear_part = blended.linear();
  return finished({.position = blended * rest.position,
                   .normal = normals * rest.normal,
                   .tangent = linear_part * rest.tangent,
                   .tangent_w = linear_part.determinant() < 0 ? -rest.tangent_w : rest.tangent_w},
                  rest);
}

DualQuat SkinningReference::motionAbout(const Slot& slot, const Vec3d& centre) const {
  const Vec3d moved = slot.stretch * centre - centre;
  return DualQuat::fromRigid(slot.rotation,
                             slot.matrix.translation() + slot.rotation.toRotationMatrix() * moved);
}

SkinnedVertex SkinningReference::dualQuaternion(std::span<const PreciseInfluence> row,
                                                const SkinnedVertex& rest) const {
  Vec3d centre = Vec3d::Zero();
  Mat3d stretch = Mat3d::Identity();
  for (const PreciseInfluence& i : row) {
    centre += i.weight * slots_[i.slot].centre;
    stretch += i.weight * (slots_[i.slot].stretch - Mat3d::Identity());
  }
  std::vector<DualQuat> motions;
  std::vector<double> weights;
  for (const PreciseInfluence& i : row) {
    motions.push_back(motionAbout(slots_[i.slot], centre));
    weights.push_back(i.weight);
  }
  const DualQuat motion = blend(motions, weights, pivotOf(row));
  const Vec3d stretched = rest.position + (stretch - Mat3d::Identity()) * (rest.position - centre);
  return finished({.position = motion.point(stretched),
                   .normal = motion.direction(normalDirections(stretch) * rest.normal),
                   .tangent = motion.direction(stretch * rest.tangent),
                   .tangent_w = stretch.determinant() < 0 ? -rest.tangent_w : rest.tangent_w},
                  rest);
}

SkinnedVertex SkinningReference::skin(std::span<const PreciseInfluence> row,
                                      const SkinnedVertex& rest, SkinningMethod method) const {
  DERM_REQUIRE(!row.empty() && method != SkinningMethod::Centre);
  switch (method) {
    case SkinningMethod::Rigid: {
      const PreciseInfluence only{row[pivotOf(row)].slot, 1.0};
      return linear({&only, 1}, rest);
    }
    case SkinningMethod::Linear:
      return linear(row, rest);
    case SkinningMethod::DualQuaternion:
    case SkinningMethod::Centre:
      break;
  }
  return dualQuaternion(row, rest);
}

void SkinningReference::alignSigns(std::span<const SlotLink> links) {
  for (const SlotLink& link : links) {
    Quatd& q = slots_[link.slot].rotation;
    if (q.dot(slots_[link.parent].rotation) < 0) q.coeffs() = -q.coeffs();
  }
}

SkinnedVertex SkinningReference::centre(std::span<const PreciseInfluence> row,
                                        const SkinnedVertex& rest, const Vec3d& centre,
                                        double alpha) const {
  if (row.size() == 1) return linear(row, rest);
  Mat3d stretch = Mat3d::Identity();
  Vec3d straight = Vec3d::Zero();
  DualQuat sum;
  sum.real.coeffs().setZero();
  for (const PreciseInfluence& i : row) {
    const Slot& slot = slots_[i.slot];
    stretch += i.weight * (slot.stretch - Mat3d::Identity());
    straight += i.weight * (slot.matrix * centre);
    const DualQuat motion = motionAbout(slot, centre);
    sum.real.coeffs() += i.weight * motion.real.coeffs();
    sum.dual.coeffs() += i.weight * motion.dual.coeffs();
  }
  const bool turns = sum.real.squaredNorm() > 1e-6;
  const DualQuat motion = turns ? normalised(sum) : DualQuat{};
  const Vec3d about =
      turns ? Vec3d(straight + alpha * (motion.point(centre) - straight)) : straight;
  return finished({.position = about + motion.direction(stretch * (rest.position - centre)),
                   .normal = motion.direction(normalDirections(stretch) * rest.normal),
                   .tangent = motion.direction(stretch * rest.tangent),
                   .tangent_w = stretch.determinant() < 0 ? -rest.tangent_w : rest.tangent_w},
                  rest);
}

SkinnedVertex SkinningReference::mix(std::span<const PreciseInfluence> row,
                                     const SkinnedVertex& rest, double share) const {
  SkinnedVertex mixed = linear(row, rest);
  const SkinnedVertex dual = dualQuaternion(row, rest);
  mixed.position += share * (dual.position - mixed.position);
  mixed.normal += share * (dual.normal - mixed.normal);
  mixed.tangent += share * (dual.tangent - mixed.tangent);
  return finished(mixed, rest);
}

std::vector<PreciseInfluence> preciseRow(const Skin& skin, std::size_t vertex) {
  std::vector<PreciseInfluence> row;
  for (const Influence& i : skin[vertex]) row.push_back({i.slot, i.weight});
  return row;
}

}  // namespace derm
