#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"

namespace derm {

/// One named curve. Points that are not finite leave a gap.
struct PlotSeries {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;        ///< as many as x
  std::optional<Rgba8> colour;  ///< the next of derm's own eight where not given
  bool dashed = false;
};

struct PlotAxis {
  std::string label;          ///< "volume"
  std::string unit;           ///< "cm³"; shown in brackets; may be empty
  std::optional<double> low;  ///< fixed end instead of the data's; low < high
  std::optional<double> high;
};

/// Curves over one x axis: volume per frame, displacement over time. Drawn as SVG for documents or
/// as pixels for the rest; both have the same layout. Axes end at round numbers; very large or
/// small ones get a common power of ten in the label. Cost O(points).
struct PlotDesc {
  std::string title = {};
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotSeries> series = {};
  int width = 960;   ///< [px] 160 to 16384
  int height = 480;  ///< [px] 120 to 16384
};

/// Bad sizes, x and y of different lengths, and axis ends out of order are BadArgument errors that
/// name the series or axis. A plot without any finite point is drawn with empty axes.
Result<std::string> plotSvg(const PlotDesc& desc);
Result<Rgba8Image> plotImage(const PlotDesc& desc);

/// Several plots below each other as one drawing.
Result<std::string> stackedPlotSvg(std::span<const PlotDesc> plots);

}  // namespace derm
