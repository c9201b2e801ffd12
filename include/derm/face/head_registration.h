#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/face/head_correspondence.h"
#include "derm/face/landmark_match.h"
#include "derm/face/open_jaw.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Where a head has its face, and how large that is: the frame that all lengths of a registration
/// are measured in, so that nothing depends on a file's units.
struct FaceFrame {
  Vec3d origin = Vec3d::Zero();    ///< middle of the face's points [m]
  double unit = 1;                 ///< rms distance of the points to it [m]; 5 to 6 cm on people
  Mat3d axes = Mat3d::Identity();  ///< columns: the subject's left, up, gaze; a rotation

  Vec3d toFace(const Vec3d& p) const { return axes.transpose() * (p - origin) / unit; }
  Vec3d fromFace(const Vec3d& p) const { return origin + unit * (axes * p); }
  bool operator==(const FaceFrame&) const = default;
};

/// The frame of a head with labelled points: their centroid and rms radius. The axes are +X, +Y, +Z
/// (a face as it should be authored) unless labels of a known scheme say that the head stands
/// otherwise by more than 20 degrees: MPEG-4 feature points ("8.3") or the 68 landmarks of
/// Multi-PIE ("1" to "68"). Fails where there are fewer than four points, or all in one position.
Result<FaceFrame> faceFrame(const TriMesh& head, std::span<const LabelledPoint> points);

/// A map of space that takes one head to another: similarity, then a smooth warp
///   x' = A (x,1) + sum w_k |x - c_k|, sum w_k = 0, sum w_k c_k = 0
/// in the face frame. Defined everywhere, trustworthy near the face. Immutable; share it freely.
class HeadMap {
 public:
  HeadMap() = default;  ///< the identity
  HeadMap(const FaceFrame& source, const FaceFrame& target, std::vector<Vec3d> centres,
          std::vector<Vec3d> weights, const Affine3d& affine);

  /// A position of the source head [m], as it lies on the target head. O(centres).
  Vec3d operator()(const Vec3d& source) const;
  /// The position that the map takes to `target`, by a fixed-point iteration. O(10 centres).
  Vec3d inverse(const Vec3d& target) const;
  /// How the map stretches and turns the neighbourhood of a source position: d map / d position.
  Mat3d slope(const Vec3d& source) const;
  /// Source to target without the warp: rotation, one scale, translation.
  Affine3d pose() const;
  const FaceFrame& sourceFrame() const { return source_; }
  const FaceFrame& targetFrame() const { return target_; }

 private:
  Vec3d warp(const Vec3d& x) const;

  FaceFrame source_;
  FaceFrame target_;
  std::vector<Vec3d> centres_;
  std::vector<Vec3d> weights_;
  Affine3d affine_ = Affine3d::Identity();
};

/// What is known of how the target stands.
enum class HeadPose {
  Unknown,  ///< any rotation; found by the face's shape and symmetry
  Upright,  ///< about +Y up, facing +Z (within 50 degrees): surer and faster
};

struct RegistrationDesc {
  HeadPose pose = HeadPose::Unknown;
  /// Points of the target that are known, by hand or otherwise: the map honours those whose label
  /// the source has too, and the rest follows.
  std::vector<LabelledPoint> target_points;
  /// Of the source, where it is known better than its points tell.
  std::optional<FaceFrame> source_frame;
  /// Points of the source that the map is fitted at, [200, 4000]: more is slower and no better.
  int sites = 1200;
  /// Find the ends of the mouth's slit on both heads and bring them together.
  bool slits = true;
  /// What opening the jaw does to the source: jawOpening(). Where the target's mouth may be open at
  /// rest this is asked for, and the source matched with its own as far open. Without it lips that
  /// are apart are matched badly by lips that touch.
  std::function<JawOpening()> source_jaw;
};

/// How well two heads fit.
enum class RegistrationVerdict {
  Good,
  Doubtful,  ///< perhaps a wrong pose or another kind of head: look at it, or say how it stands
};

struct HeadRegistration {
  HeadMap map;
  /// Mean misfit of the face's surface, normals and curvatures, 0 = none: 0.1 to 0.4 between heads,
  /// above 0.5 for shapes without a face. A low one does not prove that every point is right.
  double residual = 0;
  RegistrationVerdict verdict = RegistrationVerdict::Good;
  std::vector<LandmarkMatch> landmarks;  ///< the source's points, in their order
  /// Share by which the source's jaw was opened, and where its vertices were then [m]: `map` is
  /// that of this rest shape. Empty: the source as it is.
  double jaw = 0;
  std::vector<Vec3f> source_positions;
};

/// Finds on the target head the points that the source head has labelled, from shape alone: no
/// texture, no common topology, any pose and scale of the target, whatever the triangles.
///
/// Method: both surfaces become samples with normals and curvatures; what cannot be seen from
/// outside (inside of mouth and nose) is left out. Pose: symmetry planes of the target, similarity
/// ICP from starts around them. Warp: robust matches of position, normal and curvature, fitted by a
/// stiff RBF in four stages from coarse to fine; ends of the mouth's slit are matched outright. A
/// mouth that is open at rest is matched by the source's own, as far open (note mouth-open). The
/// page docs/faces.md has formulas, measured errors and limits.
///
/// Errors: "cannot find a face: ..." with the reason; two heads in the target, of which no point is
/// known; points or triangles missing. Same bits for any thread count; the order of vertices and
/// triangles, scale and position change the result by rounding only. Cost: 1 to 2 s for heads of
/// 10k to 100k triangles on one thread.
Result<HeadRegistration> registerHeads(const TriMesh& source,
                                       std::span<const LabelledPoint> source_points,
                                       const TriMesh& target, const RegistrationDesc& desc,
                                       Diagnostics& notes, const Progress& progress = {});

/// For every vertex of the target its point on the source, by the inverse of the map and the
/// nearest triangle that looks the same way (normals within 72 degrees) and belongs to the same
/// side of mouth and lids. The source is as it was matched: with its jaw open where it was.
/// Vertices far from the face or without such a triangle have none.
/// O(target vertices * (centres + log source triangles)).
Result<HeadCorrespondence> denseCorrespondence(const TriMesh& source, const TriMesh& target,
                                               const HeadRegistration& registration,
                                               const Progress& progress = {});

}  // namespace derm
