#include "cast/members.h"

namespace derm::detail::cast {

void mouldOfClay(Character& c, const Vec4f& colour) {
  Material clay;
  clay.name = "clay";
  clay.base_colour = colour;
  clay.metallic = 0;
  clay.roughness = 0.6f;
  c.materials.push_back(clay);
  addDefaultParts(c);
  c.parts.front().material = 0;
}

}  // namespace derm::detail::cast
