#include "derm/view/mesh_film.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/image/compose.h"
#include "derm/mesh/measures.h"

#include "view/captions.h"
#include "view/framing.h"
#include "view/strip_layout.h"

namespace derm {
namespace {

constexpr double kCurveShare = 0.26;    // of the film's height
constexpr std::size_t kGridCells = 24;  ///< along each side of the grid that change is seen in
constexpr double kWorthSeeing = 0.15;   ///< of the largest area
/// Change between two frames, over the largest area, that counts as standing still.
constexpr double kStill = 0.02;

/// What all frames together take up.
struct Stage {
  Bounds box;
  FarthestPoints outline;
};

Stage stageOf(std::span<const TriMesh> frames, const MeshFilmDesc& desc) {
  Stage out;
  for (const TriMesh& mesh : frames) {
    out.box = united(out.box, bounds(mesh.positions));
    out.outline.add(mesh.positions);
  }
  if (desc.ground_y_m && !out.box.empty())
    out.box.low.y() = std::min(out.box.low.y(), *desc.ground_y_m);
  return out;
}

Result<Rgba8Image> picture(OffscreenRenderer& renderer, const TriMesh& mesh, const Stage& stage,
                           const MeshFilmDesc& desc, const PictureSize& size) {
  DrawList list;
  list.stage = stage.box;
  list.ground.height_m = desc.ground_y_m;
  if (!mesh.triangles.empty()) list.surfaces.push_back(drawSurfaceOf(mesh, desc.material));
  const Camera camera =
      orbitCamera(stage.outline.points(), desc.orbit, double(size.width) / double(size.height));
  return renderer.draw(list, camera, size);
}

/// Area per cell of a coarse grid over the stage; each triangle's shared out among the eight cells
/// around its middle, so that slow motion shows too.
std::vector<double> areaByCell(const TriMesh& mesh, const Bounds& box) {
  std::vector<double> out(kGridCells * kGridCells * kGridCells, 0.0);
  const double side = std::max(box.diagonal(), 1e-9) / (kGridCells - 2);
  for (const Triangle& t : mesh.triangles) {
    const Vec3f& a = mesh.positions[t[0]];
    const Vec3f ab = mesh.positions[t[1]] - a, ac = mesh.positions[t[2]] - a;
    const Vec3d at = (a + (ab + ac) / 3.0f - box.low).cast<double>() / side;
    std::array<std::size_t, 3> cell;
    Vec3d share;
    for (int i = 0; i < 3; ++i) {
      const double inside = std::clamp(at[i], 0.0, double(kGridCells - 2));
      cell[std::size_t(i)] = static_cast<std::size_t>(inside);
      share[i] = inside - std::floor(inside);
    }
    const double area = 0.5 * double(ab.cross(ac).norm());
    for (std::size_t corner = 0; corner < 8; ++corner) {
      double part = area;
      std::size_t index = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const std::size_t step = (corner >> i) & 1;
        part *= step == 1 ? share[int(i)] : 1 - share[int(i)];
        index = index * kGridCells + std::min(cell[i] + step, kGridCells - 1);
      }
      out[index] += part;
    }
  }
  return out;
}

double differenceOf(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
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
  const Stage stage = stageOf(frames, desc);
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

namespace {

/// Marked frames take the place of the nearest others, but not of the first and the last.
void showMarks(std::span<const FrameMark> marks, std::size_t count, std::size_t frames,
               std::vector<std::size_t>& shown) {
  std::vector<std::size_t> fixed;
  for (const FrameMark& mark : marks) {
    if (mark.frame >= frames || std::find(shown.begin(), shown.end(), mark.frame) != shown.end()) {
      fixed.push_back(mark.frame);
      continue;
    }
    if (shown.size() < count) {
      shown.push_back(mark.frame);
      fixed.push_back(mark.frame);
      std::sort(shown.begin(), shown.end());
      continue;
    }
    std::size_t best = shown.size();
    const auto way = [&](std::size_t i) {
      return shown[i] > mark.frame ? shown[i] - mark.frame : mark.frame - shown[i];
    };
    for (std::size_t i = 1; i + 1 < shown.size(); ++i)
      if (std::find(fixed.begin(), fixed.end(), shown[i]) == fixed.end() &&
          (best == shown.size() || way(i) < way(best)))
        best = i;
    if (best == shown.size()) return;  // all others are marks themselves
    shown[best] = mark.frame;
    fixed.push_back(mark.frame);
    std::sort(shown.begin(), shown.end());
  }
}

}  // namespace

std::vector<std::size_t> tellingFrames(std::span<const TriMesh> frames, std::size_t count,
                                       std::span<const FrameMark> marks) {
  Bounds box;
  double max_area = 0;
  for (const TriMesh& mesh : frames) {
    box = united(box, bounds(mesh.positions));
    max_area = std::max(max_area, area(mesh.positions, mesh.triangles));
  }
  std::size_t first = 0;
  while (first + 1 < frames.size() &&
         area(frames[first].positions, frames[first].triangles) < kWorthSeeing * max_area)
    ++first;
  // How much has changed since the first frame shown, at each of those after it.
  std::vector<double> changed = {0.0};
  std::vector<double> last;
  for (std::size_t f = first; f < frames.size(); ++f) {
    std::vector<double> now = areaByCell(frames[f], box);
    if (!last.empty()) {
      const double change = differenceOf(now, last);
      changed.push_back(changed.back() + (change > kStill * max_area ? change : 0.0));
    }
    last = std::move(now);
  }
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < count && !frames.empty(); ++i) {
    const double wanted =
        count == 1 ? 0.0 : changed.back() * double(i) / double(count - 1) * (1 - 1e-12);
    const auto at = std::lower_bound(changed.begin(), changed.end(), wanted);
    const std::size_t frame = first + static_cast<std::size_t>(at - changed.begin());
    if (out.empty() || frame > out.back()) out.push_back(frame);
  }
  // Slow change that no two frames show may still have come to something.
  if (!out.empty() && differenceOf(areaByCell(frames[out.back()], box), last) > kStill * max_area)
    out.back() = frames.size() - 1;
  showMarks(marks, count, frames.size(), out);
  return out;
}

Result<Rgba8Image> drawMeshStrip(std::span<const TriMesh> frames, const MeshFilmDesc& desc,
                                 std::size_t count) {
  const std::vector<std::size_t> shown = tellingFrames(frames, count, desc.marks);
  if (shown.empty()) return Error{ErrorCode::BadArgument, "a strip needs frames", {}};
  DERM_TRY(OffscreenRenderer renderer, OffscreenRenderer::create());
  std::vector<TriMesh> seen;
  for (const std::size_t f : shown) seen.push_back(frames[f]);
  const Stage stage = stageOf(seen, desc);
  const std::span<const Vec3f> points = stage.outline.points();
  const detail::StripLayout layout =
      detail::stripLayout(shown.size(), desc.size, points, desc.orbit);
  MeshFilmDesc cell = desc;
  const std::array plates = {labelPlate(layout.cell.width, layout.cell.height,
                                        detail::timeCaption(0), detail::kCaptionCorner,
                                        detail::kCaptionStyle)};
  cell.orbit.keep_free = detail::roomFor(plates, points, desc.orbit, layout.cell);
  std::vector<Rgba8Image> pictures;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    DERM_TRY(Rgba8Image drawn, picture(renderer, seen[i], stage, cell, layout.cell));
    std::string caption = detail::timeCaption(double(shown[i]) / desc.fps);
    for (const FrameMark& mark : desc.marks)
      if (mark.frame == shown[i]) caption += ": " + mark.label;
    drawLabel(drawn, caption, detail::kCaptionCorner, detail::kCaptionStyle);
    pictures.push_back(std::move(drawn));
  }
  return detail::stripOf(pictures, layout, desc.size);
}

}  // namespace derm
