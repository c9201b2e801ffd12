#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/image/grey8_image.h"
#include "derm/track/marker_tracker.h"

namespace derm {

struct DotDetectionDesc {
  bool bright = false;         ///< dots brighter than the skin, as reflecting ones are
  double min_radius_px = 1.5;  ///< [px] (0,1000]
  double max_radius_px = 0;    ///< [px] 0 = a fortieth of the picture's height, at least 5
  double min_contrast = 20;    ///< [1,255] grey levels to the median around the dot
  std::size_t max_dots = 256;  ///< [1,65536] the strongest are kept
};

/// A round spot of a picture.
struct Dot {
  Vec3d position = Vec3d::Zero();  ///< [px] its centre, weighted by contrast: to about 0.05 px
  double radius_px = 0;
  double contrast = 0;   ///< grey levels
  double roundness = 0;  ///< [0,1] short axis over long
};

/// Dots of a picture, rows from top to bottom. What is dark, small and round: pupils and nostrils
/// are found as well. Needs OpenCV.
Result<std::vector<Dot>> detectDots(const Grey8Image& picture, const DotDetectionDesc& desc = {});

/// Moves every marker to the middle of the nearest dot within `reach_px`; no two to one dot. Gives
/// how many have one; the others stay.
std::size_t snapToDots(std::span<Marker> markers, std::span<const Dot> dots, double reach_px);

/// Dots without names: "dot1", "dot2", …
std::vector<Marker> unnamedMarkers(std::span<const Dot> dots);

/// Gives dots the names of a face's points: the face, seen from the front and turned by less than
/// 40 degrees in the picture, is laid over the dots so that most points meet one, then fitted by an
/// affine map. `face` has positions in model space (+y up, looking along +z). Dots that no point
/// meets are left out. Fails where fewer than four points, or less than half of them, meet a dot.
Result<std::vector<Marker>> nameDots(std::span<const Dot> dots, std::span<const Marker> face);

}  // namespace derm
