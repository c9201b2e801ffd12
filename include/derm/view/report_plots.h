#pragma once

#include <filesystem>
#include <span>
#include <vector>

#include "derm/base/result.h"
#include "derm/image/plot.h"
#include "derm/scene/bake_report.h"

namespace derm {

/// The curves of a bake over time: volume and area as change from rest in percent, with those of
/// linear skinning beside them, and the largest and mean displacement. `width` and `height` [px]
/// are those of each. Measures that make no sense are left out: the volume of an open surface, and
/// anything of a report without frames.
std::vector<PlotDesc> plotsOf(const BakeReport& report, int width = 960, int height = 320);

/// Fails, before any work is done, where plots cannot be written by that ending.
Result<void> checkPlotEnding(const std::filesystem::path& file);

/// Plots below each other, as .svg or .png by the file's ending. Whole or not at all. Fails on
/// another ending, and where there is none to draw.
Result<void> savePlots(std::span<const PlotDesc> plots, const std::filesystem::path& file);

}  // namespace derm
