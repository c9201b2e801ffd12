#pragma once

#include <span>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/view/scene_view.h"

namespace derm {

/// Colours of where wrinkle maps show.
enum class InfluenceColours {
  Thesis,      ///< the first map red, the second green, both yellow (Dutreve 2011, figure 5.15)
  ColourBlind  ///< orange, blue, both black: apart for every kind of colour vision
};

struct DetailSheetDesc {
  PictureSize cell{.width = 420, .height = 480};  ///< [px] of one picture
  OrbitDesc orbit{.yaw_rad = 0.12, .pitch_rad = 0.05};
  InfluenceColours colours = InfluenceColours::Thesis;
};

/// Instants of a scene with wrinkle maps as a sheet of three rows: without the maps, with them, and
/// where they show, in colours (maps beyond the second take the colours in turn). A column per
/// instant, under its label. Needs a renderer. Requires as many times as labels. Errors: no
/// renderer, no wrinkle maps in the scene.
Result<Rgba8Image> drawDetailSheet(Scene& scene, std::span<const double> times_s,
                                   std::span<const std::string_view> labels,
                                   const DetailSheetDesc& desc, Diagnostics& notes,
                                   const Progress& progress = {});

}  // namespace derm
