#pragma once

#include <algorithm>
#include <vector>

#include "derm/cast/heads.h"
#include "derm/face/face_rig.h"

#include "support/posed.h"

namespace derm {

inline Character headCalled(char letter) {
  const SyntheticHeadDesc desc = letter == 'a'   ? syntheticHeadA()
                                 : letter == 'b' ? syntheticHeadB()
                                                 : syntheticHeadC();
  return makeSyntheticHead(desc).value();
}

inline FacePoints pointsOf(const Character& head) {
  return facePoints(head.points, head.mesh).value();
}

/// Column of a control point in FaceWeights.
inline std::uint32_t columnOf(std::string_view number) {
  const std::span<const std::string_view> all = controlPointNumbers();
  return static_cast<std::uint32_t>(std::find(all.begin(), all.end(), number) - all.begin());
}

/// The skin in an expression, by the program's own linear skinning.
inline std::vector<Vec3f> inExpression(const Character& rigged, const FaceRig& rig,
                                       std::string_view name, bool slid = false) {
  const FacePoser poser = FacePoser::make(rigged, rig).value();
  Pose pose = rigged.bindPose();
  const FacePoints points = pointsOf(rigged);
  const std::vector<PointDisplacement> moves = expressionDisplacements(name, points).value();
  poser.pose(slid ? slidLips(slidLids(moves, points), points) : moves, pose);
  return testing_support::skinned(rigged, pose, SkinningMethod::Linear).positions;
}

/// Longest edge over its length at rest.
inline double largestStretch(const TriMesh& rest, const std::vector<Vec3f>& posed) {
  double most = 0;
  for (const Triangle& t : rest.triangles)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t a = t[k], b = t[(k + 1) % 3];
      const double length = (rest.positions[a] - rest.positions[b]).cast<double>().norm();
      if (length < 1e-5) continue;  // 1e-3 cm, as the published table leaves them out
      most = std::max(most, (posed[a] - posed[b]).cast<double>().norm() / length);
    }
  return most;
}

}  // namespace derm
