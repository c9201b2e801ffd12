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
  std::string name;  ///< need not be unique, see Skeleton::find()
  JointId parent;    ///< invalid for a root
  Transform rest;    ///< relative to the parent; used where a clip has no track
  /// Which bone of a humanoid it is where the file says so, in VRM's words ("leftUpperArm"): counts
  /// for more than the name, which may be in any language or a number.
  std::string role = {};

  bool operator==(const Joint&) const = default;
};

/// A forest of joints, parents before children. For characters from files it holds every node of
/// the file, those above and beside the bones too, so that nothing that moves the skin is lost.
struct Skeleton {
  std::vector<Joint> joints;

  std::size_t size() const { return joints.size(); }
  const Joint& operator[](JointId id) const { return joints[id.index()]; }
  /// The joint of that name; of several the first. "NAME#2" is the second of a name, and so on,
  /// where no joint is called so. Invalid if there is none.
  JointId find(std::string_view name) const;
  /// The joint of that name, or an error that lists the nearest names.
  Result<JointId> named(std::string_view name) const;
  /// What find() knows every joint by: its name, with "#2" and so on where it is not the first.
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
