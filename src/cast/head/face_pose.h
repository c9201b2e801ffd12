#pragma once

#include <array>

#include "cast/head/head_skin.h"

namespace derm::detail::cast {

/// What the muscles of a face do; 0 is rest. Lengths in centimetres; x counts outwards.
struct FacePose {
  std::array<double, 2> close = {};   ///< [-1,1] upper lids, left and right: 1 shut, < 0 wide open
  std::array<double, 2> squint = {};  ///< [0,1] lower lids: 1 up to where shut lids meet
  Vec3d inner_brow = Vec3d::Zero(), middle_brow = Vec3d::Zero(), outer_brow = Vec3d::Zero();
  double cheek = 0;              ///< raised, with the skin under the eye
  double nose = 0;               ///< wings raised
  double nostrils = 0;           ///< flared
  Vec3d corner = Vec3d::Zero();  ///< of the mouth
  double upper_lip = 0;          ///< raised
  double lower_lip = 0;          ///< lowered
  double pout = 0;               ///< lower lip forwards and up
  double press = 0;              ///< lips made thinner
  double jaw = 0;                ///< [rad] opened
};

/// Moves a head's skin by rules on its rings: lids turn about the eye's middle and so stay on the
/// ball, lips part from corner to corner.
class FacePoser {
 public:
  FacePoser(const HeadSkin& skin, const HeadDesign& design);

  std::vector<Vec3d> posed(const FacePose& pose) const;

 private:
  Vec3d moved(std::size_t vertex, const FacePose& pose) const;
  Vec3d browMove(const Vec3d& p, const SkinLabels& l, const FacePose& pose) const;
  Vec3d mouthMove(const Vec3d& p, const SkinLabels& l, const FacePose& pose) const;
  double lidAngle(const SkinLabels& l, double close, double squint) const;
  double jawWeight(const Vec3d& p, const SkinLabels& l) const;

  const HeadSkin& skin_;
  HeadDesign design_;
  /// Angles about the eye's x axis of a lid's margin along s, upper and lower.
  struct Margin {
    double s, angle;
  };
  std::vector<Margin> upper_, lower_;
};

/// A point that follows the lower jaw.
Vec3d turnedWithJaw(const Vec3d& p, double angle);

}  // namespace derm::detail::cast
