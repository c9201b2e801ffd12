#pragma once

#include <string>

#include "derm/mesh/surface_point.h"

namespace derm {

/// A labelled point of one head, found again on another.
struct LandmarkMatch {
  std::string label;
  SurfacePoint point;    ///< on the target's triangles
  float confidence = 0;  ///< [0,1]; ranks the points of one head, promises no distance

  bool operator==(const LandmarkMatch&) const = default;
};

}  // namespace derm
