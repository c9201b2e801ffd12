#include "face/shape_names.h"

#include "derm/base/assert.h"
#include "derm/face/expression_names.h"

namespace derm::detail {

std::size_t shapeIndex(std::string_view arkit_name) {
  const FaceShape* shape = findFaceShape(arkit_name);
  DERM_REQUIRE(shape != nullptr);
  return static_cast<std::size_t>(shape - faceShapes().data());
}

std::optional<NamedShape> shapeCalled(std::string_view name) {
  const auto indexOf = [](const FaceShape* shape) {
    return static_cast<std::size_t>(shape - faceShapes().data());
  };
  if (const FaceShape* shape = findFaceShape(name)) return NamedShape{indexOf(shape), false};
  for (const std::string_view side : {"_L", "_R", "_l", "_r", "Left", "Right"}) {
    if (!name.ends_with(side)) continue;
    const FaceShape* shape = findFaceShape(name.substr(0, name.size() - side.size()));
    if (shape != nullptr && shape->side == FaceSide::Middle)
      return NamedShape{indexOf(shape), true};
  }
  return {};
}

}  // namespace derm::detail
