#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "derm/anim/point_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/face/face_points.h"
#include "derm/math/rbf.h"
#include "derm/math/transform.h"

namespace derm {

/// Where the labelled points of a face are at rest. Labels are feature points, by number or name,
/// or anybody's markers.
struct NeutralFace {
  TrackSpace space = TrackSpace::Model;
  std::vector<std::string> labels;
  std::vector<Vec3d> positions;  ///< per label
};
NeutralFace neutralFace(const PointTracks& tracks);
/// The points of a character that are feature points, under their numbers.
NeutralFace neutralFace(const FacePoints& points);

/// Where the depth of a motion comes from that was seen in a picture.
enum class FaceDepth {
  Map,          ///< from the map alone: right where the face is at rest, a guess elsewhere
  Expressions,  ///< as the target's expressions go that look most like it from the front
};

struct FaceRetargetDesc {
  RbfKernel kernel = RbfKernel::Biharmonic;
  double sigma = 0;  ///< of RbfDesc
  /// [0,1] between the RBF's motion (0) and one in proportion to the faces' units (1), which keeps
  /// amplitudes. Contacts are the RBF's whatever it is.
  double amplitude = 0.5;
  FaceDepth depth = FaceDepth::Map;
  /// > 0, a share of the largest singular value of the expressions: how small expressions are
  /// preferred when a depth is looked for.
  double depth_smoothing = 0.1;
  /// Lids of the target keep the distance from the eye's centre that they have at rest.
  bool slide_lids = false;
};

/// Carries the motion of one face to another: fitted once to both at rest, then frame by frame.
///
/// Method: Dutreve 2011, chapter 4. f is the RBF map that takes the source's points at rest S to
/// the target's T; a point goes to T_j + f(P_j) - f(S_j), from a picture as from space. So a face
/// at rest stays at rest, and points that meet on the source meet on the target. With the blend
///   D_j = (1 - a) (f(P_j) - f(S_j)) + a A_j (P_j - S_j)
/// A_j scales along the directions of the face by the ratio of the faces' units (MPEG-4's FAPU).
/// That alone would leave contacts behind: a lid that closes on one face stops half way on
/// another. So every pair of points that can meet (lids; lips) gets the gap of the RBF back as it
/// closes: with c = (P_a - P_b).(S_a - S_b) / |S_a - S_b|^2, the share of the gap that is open,
/// the difference of the two gaps times smoothstep(1 - c) goes to both points by halves. Below
/// c = 0.3 the height of the gap goes over to c times that at rest, so that what closes or passes
/// through each other on the source is shut on the target, and never more than that.
///
/// Where not all control points are shared, A_j is the similarity that fits the faces best (note
/// "retarget-units"). Points of the target that the source does not have stay at rest (note
/// "retarget-points").
class FaceRetargeter {  ///< Immutable; share freely between threads.
 public:
  /// O(n^3). Fails on fewer than four shared labels (listing them), a target that is a picture,
  /// depth by expressions where the target lacks control points, parameters out of range, and as
  /// RbfMap::bind().
  static Result<FaceRetargeter> bind(const NeutralFace& source, const NeutralFace& target,
                                     const FaceRetargetDesc& desc, Diagnostics& notes);

  /// One frame. Requires a position for every label of the source and room for every label of the
  /// target. Allocation-free.
  void map(std::span<const Vec3d> source, std::span<Vec3d> target) const noexcept;
  /// How the target's head moves where the source's moves so: turned as much about the face's
  /// middle, and moved in proportion to the sizes of the faces.
  Transform mapHead(const Transform& source) const noexcept;

  /// Of the target, as many as bind() was given.
  std::span<const Vec3d> neutral() const { return neutral_; }
  std::size_t sourceCount() const { return source_count_; }
  std::size_t sharedCount() const { return shared_.size(); }

 private:
  struct Shared {
    std::size_t source = 0, target = 0;
    Vec3d at_rest = Vec3d::Zero();   ///< of the source
    Vec3d image = Vec3d::Zero();     ///< f of that
    Mat3d in_units = Mat3d::Zero();  ///< A
  };
  /// Two points that can meet, of shared_.
  struct Contact {
    std::size_t a = 0, b = 0;
    Vec3d per_gap = Vec3d::Zero();  ///< the source's gap at rest, over its squared length
    Vec3d apart = Vec3d::Zero();    ///< unit vector from b to a on the target; 0 = they meet there
    double height = 0;              ///< of the gap at rest on the target
  };
  struct Lid {
    std::size_t target = 0;
    Vec3d from_centre = Vec3d::Zero();  ///< at rest, from the middle of the eye
  };

  FaceRetargeter() = default;
  Vec3d mapped(const Vec3d& p) const noexcept;
  Vec3d byMap(const Shared& s, std::span<const Vec3d> source) const noexcept;
  void findContacts(const NeutralFace& source);
  void scaleInUnits(const NeutralFace& source, const NeutralFace& target, Diagnostics& notes);
  Result<void> learnDepth(const FacePoints& target, double smoothing);

  std::variant<RbfMap33, RbfMap23> rbf_;
  bool picture_ = false;
  double amplitude_ = 0;
  std::size_t source_count_ = 0;
  std::vector<Vec3d> neutral_;
  std::vector<std::string> labels_;  ///< of the target
  std::vector<Shared> shared_;
  std::vector<Contact> contacts_;
  std::vector<Lid> lids_;
  FaceAxes axes_;                           ///< of the target
  Eigen::MatrixXd depth_;                   ///< forward per left and up of the control points
  std::vector<std::size_t> depth_targets_;  ///< that depth_ is about; empty = from the map
  Mat3d head_turn_ = Mat3d::Identity();     ///< the source's directions as the target's
  double head_scale_ = 1;
  Vec3d source_middle_ = Vec3d::Zero(), target_middle_ = Vec3d::Zero();
};

}  // namespace derm
