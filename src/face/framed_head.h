#pragma once

#include <vector>

#include "derm/face/head_registration.h"

#include "head_samples.h"

namespace derm::detail {

/// A head in a face frame.
struct FramedHead {
  std::vector<Vec3d> positions;  ///< face units
  std::vector<Vec3d> normals;
};
FramedHead framed(const WeldedHead& head, const FaceFrame& frame);

/// Samples of all of a head, with openness. Turns its normals outwards where they are not.
Samples wholeSamples(WeldedHead& head, const FaceFrame& frame);

/// Samples of the face and what surrounds it, denser, with openness.
Samples faceSamples(const FramedHead& head, const WeldedHead& welded);

}  // namespace derm::detail
