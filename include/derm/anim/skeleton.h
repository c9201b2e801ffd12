#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/ids.h"
#include "derm/base/result.h"
#include "derm/math/transform.h"

namespace derm {

struct Joint {
  std::string name;  ///< need not be unique; the first of a name is the one found
  JointId parent;    ///< invalid for a root
  Transform rest;    ///< relative to the parent; used where a clip has no track

  bool operator==(const Joint&) const = default;
};

/// A forest of joints, parents before children. For characters from files it holds every node of
/// the file, those above and beside the bones too, so that nothing that moves the skin is lost.
struct Skeleton {
  std::vector<Joint> joints;

  std::size_t size() const { return joints.size(); }
  const Joint& operator[](JointId id) const { return joints[id.index()]; }
  JointId find(std::string_view name) const;  ///< invalid if there is none
  /// The joint of that name, or an error that lists the nearest names.
  Result<JointId> named(std::string_view name) const;
  std::vector<std::string> names() const;
  bool operator==(const Skeleton&) const = default;
};

/// Parents come before children, numbers are finite, rotations have unit length (to 1e-2).
Result<void> validate(const Skeleton& skeleton, std::string_view name);

/// Joint-to-model matrices from local transforms: model_j = model_parent * local_j. In double,
/// since errors add up along the chain. Allocation-free; both spans have one entry per joint.
void localToModel(const Skeleton& skeleton, std::span<const Transform> local,
                  std::span<Affine3d> model) noexcept;

/// Convenience: rest transforms, and their model matrices.
std::vector<Transform> restTransforms(const Skeleton& skeleton);
std::vector<Affine3d> restModelMatrices(const Skeleton& skeleton);

/// True for `joint` itself and everything below `ancestor`.
bool isBelow(const Skeleton& skeleton, JointId joint, JointId ancestor);

}  // namespace derm
