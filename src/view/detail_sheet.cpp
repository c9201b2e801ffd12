#include "derm/view/detail_sheet.h"

#include <algorithm>
#include <array>
#include <vector>

#include "derm/base/assert.h"
#include "derm/image/compose.h"
#include "derm/image/srgb.h"

namespace derm {
namespace {

/// Linear colours where nothing shows, the first map, the second, and both.
using Corners = std::array<Vec4f, 4>;

Vec4f linear(Rgba8 c) {
  return linearFromSrgb(Vec4f(static_cast<float>(c.r) / 255, static_cast<float>(c.g) / 255,
                              static_cast<float>(c.b) / 255, 1.0f));
}

Corners cornersOf(InfluenceColours colours) {
  const Vec4f rest = linear({202, 202, 206, 255});
  if (colours == InfluenceColours::Thesis)
    return {rest, linear({214, 32, 28, 255}), linear({28, 168, 48, 255}),
            linear({240, 214, 24, 255})};
  return {rest, linear({230, 140, 0, 255}), linear({0, 92, 178, 255}), linear({24, 24, 28, 255})};
}

/// The weights of a surface's maps, as those of two: maps beyond the second in turn.
std::vector<Vec4f> influenceColours(const DrawSurface& surface, const Corners& corners) {
  std::array<std::vector<float>, 2> shown;
  for (std::vector<float>& s : shown) s.assign(surface.positions.size(), 0.0f);
  for (const DrawPart& part : surface.parts)
    for (std::size_t m = 0; m < part.material.detail_maps.size(); ++m) {
      const std::span<const float> weights = part.material.detail_maps[m].weights;
      for (std::size_t v = 0; v < weights.size(); ++v)
        shown[m % 2][v] = std::max(shown[m % 2][v], std::clamp(weights[v], 0.0f, 1.0f));
    }
  std::vector<Vec4f> out;
  for (std::size_t v = 0; v < surface.positions.size(); ++v) {
    const float a = shown[0][v], b = shown[1][v];
    out.push_back((1 - a) * (1 - b) * corners[0] + a * (1 - b) * corners[1] +
                  (1 - a) * b * corners[2] + a * b * corners[3]);
  }
  return out;
}

bool hasMaps(const DrawSurface& surface) {
  return std::any_of(surface.parts.begin(), surface.parts.end(),
                     [](const DrawPart& p) { return !p.material.detail_maps.empty(); });
}

void removeMaps(DrawList& list) {
  for (DrawSurface& surface : list.surfaces)
    for (DrawPart& part : surface.parts) part.material.detail_maps.clear();
}

void colourInfluences(DrawList& list, const Corners& corners) {
  for (DrawSurface& surface : list.surfaces) {
    if (!hasMaps(surface)) continue;
    surface.colours = list.keep(influenceColours(surface, corners));
    for (DrawPart& part : surface.parts) {
      if (part.material.detail_maps.empty()) continue;
      part.material.detail_maps.clear();
      part.material.base_colour_image = nullptr;
      part.material.base_colour = Vec4f::Ones();
      part.material.metallic = 0;
      part.material.roughness = 0.9f;
    }
  }
}

}  // namespace

Result<Rgba8Image> drawDetailSheet(Scene& scene, std::span<const double> times_s,
                                   std::span<const std::string_view> labels,
                                   const DetailSheetDesc& desc, Diagnostics& notes,
                                   const Progress& progress) {
  DERM_REQUIRE(times_s.size() == labels.size());
  DERM_TRY(SceneView view,
           SceneView::makeWithoutRenderer(scene, {.size = desc.cell, .orbit = desc.orbit}, notes));
  DERM_TRY(OffscreenRenderer renderer, OffscreenRenderer::create());
  DERM_CHECK(view.aimAt(times_s));
  const Corners corners = cornersOf(desc.colours);
  std::array<std::vector<Rgba8Image>, 3> rows;
  bool any = false;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    if (!keepGoing(progress, static_cast<double>(i) / static_cast<double>(times_s.size()),
                   "drawing"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    DERM_TRY(SceneDrawing with, view.drawing(times_s[i]));
    for (const DrawSurface& surface : with.list.surfaces) any = any || hasMaps(surface);
    DERM_TRY(Rgba8Image shown, renderer.draw(with.list, with.camera, desc.cell));
    DERM_TRY(SceneDrawing coloured, view.drawing(times_s[i]));
    colourInfluences(coloured.list, corners);
    DERM_TRY(Rgba8Image influences, renderer.draw(coloured.list, coloured.camera, desc.cell));
    removeMaps(with.list);
    DERM_TRY(Rgba8Image without, renderer.draw(with.list, with.camera, desc.cell));
    drawLabel(without, labels[i], Corner::TopLeft);
    rows[0].push_back(std::move(without));
    rows[1].push_back(std::move(shown));
    rows[2].push_back(std::move(influences));
  }
  if (!any)
    return Error{ErrorCode::BadData,
                 "has no wrinkle maps: the recipe needs a detail layer whose poses have maps",
                 {.file = scene.character()->name}};
  std::vector<Rgba8Image> all;
  for (std::vector<Rgba8Image>& row : rows)
    for (Rgba8Image& picture : row) all.push_back(std::move(picture));
  return gridOf(all, static_cast<int>(times_s.size()), 2);
}

}  // namespace derm
