#pragma once

#include <vector>

#include "face/depth_map.h"

/// Private to room face: maps between depth maps from profiles, row by row and column by column.
namespace derm::detail {

/// Where every pixel of one picture lies in another: known at grid points, bilinear between.
class PixelMap {
 public:
  static constexpr int kStep = 4;  ///< [px]

  explicit PixelMap(int size_px);

  int nodes() const { return nodes_; }  ///< a side
  Pixel positionOf(int i, int j) const { return Pixel(i, j) * kStep; }
  Pixel& at(int i, int j) { return mapped_[std::size_t(j * nodes_ + i)]; }
  const Pixel& at(int i, int j) const { return mapped_[std::size_t(j * nodes_ + i)]; }
  Pixel operator()(const Pixel& p) const;

 private:
  int nodes_;
  std::vector<Pixel> mapped_;
};

/// First this one, then `second`.
PixelMap chained(const PixelMap& first, const PixelMap& second);

/// How a head bends along x and y, in channels that heads have in common: second derivatives at
/// some scales, divided by their root mean square and limited, so that no rim and no nose drowns
/// the rest.
struct BendChannels {
  std::vector<Map> maps;
  /// [px] the column whose left and right bend most alike
  double mirror_axis = 0;

  explicit BendChannels(const DepthMap& head);
};

/// The map that aligns rows from top to bottom, then columns within rows, by dynamic time warping
/// of bends; then dense optical flow.
PixelMap alignProfiles(const DepthMap& source, const BendChannels& source_bends,
                       const DepthMap& target, const BendChannels& target_bends);

/// Mean difference of the channels under a map, 0 = none.
double bendResidual(const DepthMap& source, const BendChannels& source_bends,
                    const DepthMap& target, const BendChannels& target_bends, const PixelMap& map);

}  // namespace derm::detail
