#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/face_features.h"
#include "derm/math/vec.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Where the feature points of one face are: a position under each number, or none. Plain data.
class FacePoints {
 public:
  /// Requires a number of faceFeatures().
  void set(std::string_view number, const Vec3d& position_m);
  /// Null where the point is not given.
  const Vec3d* find(std::string_view number) const;
  /// [m] Requires that it is given.
  const Vec3d& at(std::string_view number) const;
  /// Those of `numbers` that are not given.
  std::vector<std::string_view> missing(std::span<const std::string_view> numbers) const;

 private:
  std::array<std::optional<Vec3d>, 84> positions_;
};

/// The labels that are feature points, by number or name; the others are somebody else's. Where one
/// point has two labels, both for example "8.1" and "upper_lip_middle", they must lie together (to
/// 1e-6 of the mesh's size); else an error names them.
Result<FacePoints> facePoints(std::span<const LabelledPoint> points, const TriMesh& mesh);

/// The directions that words like up and outward mean on one face; unit vectors, right-handed.
struct FaceAxes {
  Vec3d left = Vec3d::UnitX();  ///< the subject's
  Vec3d up = Vec3d::UnitY();
  Vec3d forward = Vec3d::UnitZ();
};

/// Tells them from points of the midline and of both sides alike (chin, brows, eyes, mouth, nose
/// tip), so labels with left and right swapped do not change it. Left is what the sides say, +x
/// where they do so to within 10 degrees. As up is less sure, a face that stands upright to within
/// 40 degrees of what its sides allow is taken to do so exactly, as characters do; others get what
/// the points say. Requires 2.1, 4.3, 4.4, 8.3, 8.4, 9.3 and the eyes' corners.
FaceAxes faceAxes(const FacePoints& points);

/// Fails where mandatory points are missing (all 28 control points; the error lists them), where
/// two of them lie at one place, where upper and lower are swapped (lids, lips, brows and eyes,
/// nose and chin; it names them), and where left and right are (all pairs: it says so; some: it
/// names them).
Result<void> validateControlPoints(const FacePoints& points);
/// Only that points are swapped, of those that are there. Nothing is said where some are missing
/// that faceAxes() requires.
Result<void> validateFaceOrder(const FacePoints& points);

/// MPEG-4's facial animation parameter units (FAPU): lengths of a face that make one motion fit
/// all.
struct FaceUnits {
  double eye_separation_m = 0;  ///< ES: between the eyes' centres (the middle of the two lids)
  double eye_nose_m = 0;        ///< ENS: height of the eyes over the tip of the nose
  double mouth_nose_m = 0;      ///< MNS: height of the tip of the nose over the mouth's corners
  double mouth_width_m = 0;     ///< MW: between the mouth's corners
  double lid_opening_m = 0;     ///< IR: height of the upper lid over the lower one
};
/// The mean of both sides where they differ. Requires validated control points.
FaceUnits measureFaceUnits(const FacePoints& points);

}  // namespace derm
