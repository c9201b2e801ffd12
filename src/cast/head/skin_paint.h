#pragma once

#include "derm/image/rgba8_image.h"

#include "cast/head/head_cage.h"

namespace derm::detail::cast {

/// A point of the skin as the painter sees it: where it is on the bare head, and its labels.
struct SkinSample {
  Vec3d p = Vec3d::Zero();  ///< [cm]
  SkinLabels labels;
};

/// Paints skin, brows, lips, lids and hair as a function of the point, so that a texture and vertex
/// colours show the same. sRGB values [0,1].
class SkinPaint {
 public:
  explicit SkinPaint(const HeadDesign& design) : design_(design) {}
  Vec3d colour(const SkinSample& sample) const;

 private:
  Vec3d complexion(const SkinSample& s) const;
  void paintBrow(const SkinSample& s, Vec3d& c) const;
  void paintLips(const SkinSample& s, Vec3d& c) const;
  void paintLids(const SkinSample& s, Vec3d& c) const;
  void paintHair(const SkinSample& s, Vec3d& c) const;

  HeadDesign design_;
};

/// An eye seen along its axis: the distance from the middle is the angle from the gaze, half of the
/// picture's width is pi.
Rgba8Image eyePicture(const Palette& palette, int size_px);
Vec3d eyeColour(const Palette& palette, double x, double y);  ///< (x, y) in [-1,1]

/// Bytes of an sRGB colour.
Rgba8 rgba8Of(const Vec3d& colour);

}  // namespace derm::detail::cast
