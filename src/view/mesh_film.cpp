#include "derm/view/mesh_film.h"

#include <algorithm>
#include <cmath>

#include "derm/image/compose.h"
#include "derm/mesh/measures.h"

namespace derm {
namespace {

constexpr double kCurveShare = 0.26;  // of the film's height

Bounds stageOf(std::span<const TriMesh> frames, const MeshFilmDesc& desc) {
  Bounds all;
  for (const TriMesh& mesh : frames) all = united(all, bounds(mesh.positions));
  if (desc.ground_y_m && !all.empty()) all.low.y() = std::min(all.low.y(), *desc.ground_y_m);
  return all;
}

Result<Rgba8Image> picture(OffscreenRenderer& renderer, const TriMesh& mesh, const Bounds& stage,
                           const MeshFilmDesc& desc, const PictureSize& size) {
  DrawList list;
  list.stage = stage;
  list.ground.height_m = desc.ground_y_m;
  if (!mesh.triangles.empty()) list.surfaces.push_back(drawSurfaceOf(mesh, desc.material));
  const Camera camera = orbitCamera(stage, desc.orbit, double(size.width) / double(size.height));
  return renderer.draw(list, camera, size);
}

/// The plot up to a frame, its axes those of the whole.
Result<Rgba8Image> curveUntil(const PlotDesc& whole, std::size_t frame, int width, int height) {
  PlotDesc plot = whole;
  plot.width = width;
  plot.height = height;
  for (PlotSeries& s : plot.series) {
    if (!s.x.empty()) {
      plot.x.low = std::min(plot.x.low.value_or(s.x.front()), s.x.front());
      plot.x.high = std::max(plot.x.high.value_or(s.x.back()), s.x.back());
    }
    const std::size_t shown = std::min(s.x.size(), frame + 1);
    s.x.resize(shown);
    s.y.resize(shown);
  }
  if (plot.x.low && plot.x.high && !(*plot.x.low < *plot.x.high)) plot.x.high = *plot.x.low + 1;
  return plotImage(plot);
}

}  // namespace

Result<FilmResult> drawMeshFilm(std::span<const TriMesh> frames, const MeshFilmDesc& desc,
                                const std::filesystem::path& file, const Progress& progress,
                                Diagnostics& notes) {
  if (frames.empty()) return Error{ErrorCode::BadArgument, "a film needs frames", {}};
  DERM_TRY(OffscreenRenderer renderer, OffscreenRenderer::create());
  const Bounds stage = stageOf(frames, desc);
  const int curve_height =
      desc.curve ? std::max(120, static_cast<int>(desc.size.height * kCurveShare)) : 0;
  PictureSize size = desc.size;
  size.height -= curve_height;
  if (size.height < 1)
    return Error{ErrorCode::BadArgument, "too small for a film with a curve", {}};
  const FilmDesc film{.width = desc.size.width, .height = desc.size.height, .fps = desc.fps};
  return writeFilm(
      file, film, frames.size(),
      [&](std::size_t i) -> Result<Rgba8Image> {
        DERM_TRY(Rgba8Image shown, picture(renderer, frames[i], stage, desc, size));
        if (!desc.curve) return shown;
        DERM_TRY(const Rgba8Image plot, curveUntil(*desc.curve, i, size.width, curve_height));
        Rgba8Image whole(desc.size.width, desc.size.height);
        composite(whole, shown, 0, 0);
        composite(whole, plot, 0, size.height);
        return whole;
      },
      progress, notes);
}

Result<Rgba8Image> drawMeshStrip(std::span<const TriMesh> frames, const MeshFilmDesc& desc,
                                 std::size_t count) {
  count = std::min(count, frames.size());
  if (count == 0) return Error{ErrorCode::BadArgument, "a strip needs frames", {}};
  DERM_TRY(OffscreenRenderer renderer, OffscreenRenderer::create());
  const Bounds stage = stageOf(frames, desc);
  std::vector<Rgba8Image> pictures;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0 : double(i) / double(count - 1);
    const std::size_t at = static_cast<std::size_t>(std::lround(share * double(frames.size() - 1)));
    DERM_TRY(Rgba8Image shown, picture(renderer, frames[at], stage, desc, desc.size));
    pictures.push_back(std::move(shown));
  }
  const int columns = static_cast<int>(std::ceil(std::sqrt(double(count) * 1.5)));
  return gridOf(pictures, std::min(columns, static_cast<int>(count)), 4);
}

}  // namespace derm
