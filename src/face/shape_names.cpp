#include "face/shape_names.h"

#include "derm/base/assert.h"
#include "derm/face/expression_names.h"

namespace derm::detail {
namespace {

std::optional<NamedShape> shapeSpelt(std::string_view name) {
  const auto indexOf = [](const FaceShape* shape) {
    return static_cast<std::size_t>(shape - faceShapes().data());
  };
  if (const FaceShape* shape = findFaceShape(name)) return NamedShape{indexOf(shape), false};
  for (const std::string_view side :
       {"_L", "_R", "_l", "_r", ".L", ".R", ".l", ".r", "Left", "Right"}) {
    if (!name.ends_with(side)) continue;
    const FaceShape* shape = findFaceShape(name.substr(0, name.size() - side.size()));
    if (shape != nullptr && shape->side == FaceSide::Middle)
      return NamedShape{indexOf(shape), true};
  }
  return {};
}

}  // namespace

std::size_t shapeIndex(std::string_view arkit_name) {
  const FaceShape* shape = findFaceShape(arkit_name);
  DERM_REQUIRE(shape != nullptr);
  return static_cast<std::size_t>(shape - faceShapes().data());
}

std::optional<NamedShape> shapeCalled(std::string_view name) {
  while (true) {
    if (const std::optional<NamedShape> found = shapeSpelt(name)) return found;
    // Maya's exporters put the deformer before the shape, others the mesh.
    const std::size_t separator = name.find_first_of(".:");
    if (separator == std::string_view::npos) return {};
    name.remove_prefix(separator + 1);
  }
}

}  // namespace derm::detail
