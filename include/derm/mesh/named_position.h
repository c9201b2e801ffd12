#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "derm/math/vec.h"

namespace derm {

/// Where somebody says that a named point of a surface is: a vertex, or a position near the
/// surface. What a file of control points holds; face/control_points.h puts them onto a surface.
struct NamedPosition {
  std::string label;
  std::optional<std::uint64_t> vertex;  ///< of the mesh; not checked against one yet
  Vec3d position = Vec3d::Zero();       ///< in the file's unit; counts where there is no vertex

  bool operator==(const NamedPosition&) const = default;
};

}  // namespace derm
