#include "derm/view/film_strip.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <vector>

#include "derm/image/compose.h"

namespace derm {
namespace {

constexpr int kGap_px = 4;
constexpr double kScreenShape = 1.2;  ///< width over height that suits most characters
/// Share of the work that is finding the camera's place: playing without drawing.
constexpr double kAimingShare = 0.1;

Progress partOf(const Progress& progress, double from, double to) {
  if (!progress) return {};
  return
      [=](double done, std::string_view what) { return progress(from + (to - from) * done, what); };
}

int columnsFor(std::size_t count, const PictureSize& whole) {
  int best = 1;
  double best_misfit = std::numeric_limits<double>::infinity();
  for (int columns = 1; columns <= static_cast<int>(count); ++columns) {
    const double rows = std::ceil(static_cast<double>(count) / columns);
    const double shape = (whole.width / static_cast<double>(columns)) / (whole.height / rows);
    // Empty cells at the end are as bad as a wrong shape.
    const double misfit = std::abs(std::log(shape / kScreenShape)) +
                          (columns * rows / static_cast<double>(count) - 1);
    if (misfit < best_misfit) {
      best = columns;
      best_misfit = misfit;
    }
  }
  return best;
}

std::vector<double> evenInstants(std::span<const double> frames, std::size_t count) {
  std::vector<double> out;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = count == 1 ? 0.0 : static_cast<double>(i) / static_cast<double>(count - 1);
    const double at = share * static_cast<double>(frames.size() - 1);
    out.push_back(frames[static_cast<std::size_t>(std::llround(at))]);
  }
  return out;
}

std::string timeLabel(double time_s) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), time_s,
                                 std::chars_format::fixed, 2);
  return std::string(digits.data(), end.ptr) + " s";
}

}  // namespace

Result<Rgba8Image> drawStrip(SceneView& view, std::size_t count, const Progress& progress) {
  const PictureSize whole = view.desc().size;
  const int columns = columnsFor(count, whole);
  const int rows = (static_cast<int>(count) + columns - 1) / columns;
  PictureSize cell = whole;
  cell.width = std::max((whole.width - (columns - 1) * kGap_px) / columns, 1);
  cell.height = std::max((whole.height - (rows - 1) * kGap_px) / rows, 1);
  const std::vector<double> times = evenInstants(view.scene().frameTimes(), count);
  DERM_CHECK(view.aimAt(times, partOf(progress, 0, kAimingShare)));
  view.resize(cell);
  std::vector<Rgba8Image> pictures;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double done = static_cast<double>(i) / static_cast<double>(times.size());
    if (!keepGoing(partOf(progress, kAimingShare, 1), done, "drawing"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    DERM_TRY(Rgba8Image picture, view.picture(times[i]));
    drawLabel(picture, timeLabel(times[i]), Corner::BottomLeft, 15.0f);
    pictures.push_back(std::move(picture));
  }
  view.resize(whole);
  // Columns rarely divide the width: a pixel or two stay empty, so that the size is the wanted one.
  const Rgba8Image grid = gridOf(pictures, columns, kGap_px);
  Rgba8Image strip(std::max(whole.width, grid.width), std::max(whole.height, grid.height),
                   {255, 255, 255, 255});
  composite(strip, grid, (strip.width - grid.width) / 2, (strip.height - grid.height) / 2);
  return strip;
}

Result<FilmResult> drawFilm(SceneView& view, const std::filesystem::path& file,
                            const Progress& progress, Diagnostics& notes) {
  const std::span<const double> times = view.scene().frameTimes();
  DERM_CHECK(view.aimAt(times, partOf(progress, 0, kAimingShare)));
  const FilmDesc desc{.width = view.desc().size.width,
                      .height = view.desc().size.height,
                      .fps = view.scene().recipe().fps};
  return writeFilm(
      file, desc, times.size(), [&](std::size_t i) { return view.picture(times[i]); },
      partOf(progress, kAimingShare, 1), notes);
}

}  // namespace derm
