#include "derm/view/report_plots.h"

#include <algorithm>
#include <utility>

#include "derm/image/compose.h"
#include "derm/image/role_colours.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"
#include "derm/io/png.h"

namespace derm {
namespace {

using Frame = BakeReport::Frame;

PlotSeries seriesOf(const BakeReport& report, std::string name, double Frame::*value, double scale,
                    double offset) {
  PlotSeries out{.name = std::move(name)};
  for (const Frame& frame : report.frames) {
    out.x.push_back(frame.time_s);
    out.y.push_back(scale * frame.*value + offset);
  }
  return out;
}

PlotDesc changePlot(const BakeReport& report, std::string what, double Frame::*linear,
                    double Frame::*result, double rest) {
  PlotDesc out{
      .title = what + " of " + report.character + (report.clip.empty() ? "" : ", " + report.clip),
      .x = {.label = "time", .unit = "s"},
      .y = {.label = what + " against rest", .unit = "%"}};
  out.series = {seriesOf(report, "linear skinning", linear, 100 / rest, -100),
                seriesOf(report, "derm", result, 100 / rest, -100)};
  out.series[0].colour = kBeforeColour;
  out.series[0].dashed = true;
  out.series[1].colour = kAfterColour;
  return out;
}

}  // namespace

std::vector<PlotDesc> plotsOf(const BakeReport& report, int width, int height) {
  std::vector<PlotDesc> out;
  if (report.frames.empty()) return out;
  if (report.closed && report.rest_volume_m3 != 0)
    out.push_back(changePlot(report, "volume", &Frame::linear_volume_m3, &Frame::volume_m3,
                             report.rest_volume_m3));
  if (report.rest_area_m2 != 0)
    out.push_back(
        changePlot(report, "area", &Frame::linear_area_m2, &Frame::area_m2, report.rest_area_m2));
  PlotDesc moved{.title = "displacement against linear skinning",
                 .x = {.label = "time", .unit = "s"},
                 .y = {.label = "displacement", .unit = "mm", .low = 0.0}};
  moved.series = {seriesOf(report, "largest", &Frame::max_displacement_m, 1000, 0),
                  seriesOf(report, "mean", &Frame::mean_displacement_m, 1000, 0)};
  out.push_back(std::move(moved));
  for (PlotDesc& plot : out) {
    plot.width = width;
    plot.height = height;
  }
  return out;
}

Result<void> checkPlotEnding(const std::filesystem::path& file) {
  if (fileEnding(file) == ".svg" || fileEnding(file) == ".png") return {};
  return Error{
      ErrorCode::BadArgument, "plots are written as .svg or .png", {.file = file.string()}};
}

Result<void> savePlots(std::span<const PlotDesc> plots, const std::filesystem::path& file) {
  DERM_CHECK(checkPlotEnding(file));
  if (plots.empty())
    return Error{ErrorCode::BadArgument, "there are no frames to plot", {.file = file.string()}};
  if (fileEnding(file) == ".svg") {
    DERM_TRY(const std::string svg, stackedPlotSvg(plots));
    return writeFileWhole(file, svg);
  }
  std::vector<Rgba8Image> images;
  for (const PlotDesc& plot : plots) {
    DERM_TRY(Rgba8Image image, plotImage(plot));
    images.push_back(std::move(image));
  }
  return savePng(file, gridOf(images, 1));
}

}  // namespace derm
