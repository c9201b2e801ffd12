#pragma once

#include <span>
#include <string>

#include <gtest/gtest.h>

#include "derm/cast/heads.h"
#include "derm/face/landmark_match.h"

namespace derm::testing_support {

/// A head whose feature points are known.
struct SyntheticFace {
  SyntheticHeadDesc desc;
  Character head;
  double diagonal_cm = 0;

  explicit SyntheticFace(SyntheticHeadDesc from) : desc(std::move(from)) {
    Result<Character> made = makeSyntheticHead(desc);
    EXPECT_TRUE(made.ok());
    head = *std::move(made);
    Eigen::AlignedBox3f bounds;
    for (const Vec3f& p : head.mesh.positions) bounds.extend(Eigen::Vector3f(p));
    diagonal_cm = 100 * double(bounds.diagonal().norm());
  }

  const TriMesh& mesh() const { return head.mesh; }

  /// Mean distance of matches to the points that the formula gives, % of the diagonal.
  double meanError(std::span<const LandmarkMatch> matches) const {
    const SyntheticHeadSurface surface(desc.shape, desc.asymmetry_cm);
    double sum = 0;
    for (const LandmarkMatch& match : matches)
      for (const FeaturePoint& feature : featurePoints(desc.shape))
        if (feature.label == match.label) {
          const Vec3d found =
              100 *
              positionAt(match.point, head.mesh.triangles, head.mesh.positions).cast<double>();
          sum += (found - surface.frontPoint(feature.x, feature.y)).norm();
        }
    return 100 * sum / double(matches.size()) / diagonal_cm;
  }
};

/// No head is its own mirror image.
inline SyntheticHeadDesc slightlyAsymmetric(SyntheticHeadDesc desc) {
  desc.asymmetry_cm = 0.03;
  return desc;
}

/// The same surface with other triangles.
inline SyntheticHeadDesc retessellated(SyntheticHeadDesc desc) {
  using Mesh = SyntheticHeadDesc::Mesh;
  desc.mesh = desc.mesh == Mesh::LatLong ? Mesh::Octahedron : Mesh::LatLong;
  return desc;
}

}  // namespace derm::testing_support
