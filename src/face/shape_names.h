#pragma once

#include <optional>
#include <string_view>

namespace derm::detail {

/// Which of faceShapes() a name means.
struct NamedShape {
  std::size_t shape = 0;
  bool half = false;  ///< one side of a shape that ARKit has once: "browInnerUp_L"
};
/// What stands before a dot or a colon is left out where the whole is no shape:
/// "blendShape1.jawOpen".
std::optional<NamedShape> shapeCalled(std::string_view name);

/// Index in faceShapes(). Requires one of its names.
std::size_t shapeIndex(std::string_view arkit_name);

}  // namespace derm::detail
