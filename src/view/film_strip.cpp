#include "derm/view/film_strip.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "derm/base/assert.h"
#include "derm/mesh/measures.h"

#include "view/strip_layout.h"

namespace derm {
namespace {

/// Mean way of the vertices, over the figure's size, below which two poses look the same.
constexpr double kSamePose = 0.01;
/// Share of the work that is finding the camera's position: playing without drawing.
constexpr double kAimingShare = 0.1;

Progress partOf(const Progress& progress, double from, double to) {
  if (!progress) return {};
  return
      [=](double done, std::string_view what) { return progress(from + (to - from) * done, what); };
}

/// How the figure stands at an instant, wherever that is: its vertices about their mean.
std::vector<Vec3f> attitudeAt(Scene& scene, double time_s) {
  const SkinFrame& frame = scene.playback().frameAt(time_s);
  std::vector<Vec3f> out(frame.positions().begin(), frame.positions().end());
  const Vec3f middle = centroid(out).cast<float>();
  for (Vec3f& p : out) p -= middle;
  return out;
}

/// Whether the last frame shows the first again, as clips that loop, or come back, do.
bool endsAsItBegan(Scene& scene, std::span<const double> frames) {
  const std::vector<Vec3f> first = attitudeAt(scene, frames.front());
  const std::vector<Vec3f> last = attitudeAt(scene, frames.back());
  double sum = 0;
  for (std::size_t v = 0; v < first.size(); ++v) sum += Vec3f(last[v] - first[v]).norm();
  return sum < kSamePose * bounds(first).diagonal() * static_cast<double>(first.size());
}

/// From the first frame to the last, or to the last but one where the end is the beginning.
std::vector<double> evenInstants(std::span<const double> frames, std::size_t count,
                                 bool comes_back) {
  std::vector<double> out;
  const std::size_t steps = std::max<std::size_t>(comes_back ? count : count - 1, 1);
  for (std::size_t i = 0; i < count; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    const double at = share * static_cast<double>(frames.size() - 1);
    out.push_back(frames[static_cast<std::size_t>(std::llround(at))]);
  }
  return out;
}

}  // namespace

Result<Rgba8Image> drawStrip(SceneView& view, std::size_t count, const Progress& progress) {
  DERM_REQUIRE(count >= 1);
  const PictureSize whole = view.desc().size;
  const std::span<const double> frames = view.scene().frameTimes();
  const std::vector<double> times =
      evenInstants(frames, count, endsAsItBegan(view.scene(), frames));
  DERM_CHECK(view.aimAt(times, partOf(progress, 0, kAimingShare)));
  const detail::StripLayout layout =
      detail::stripLayout(count, whole, view.outline(), view.desc().orbit);
  const bool with_times = view.desc().times;
  view.resize(layout.cell);
  view.showTimes(true);
  std::vector<Rgba8Image> pictures;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double done = static_cast<double>(i) / static_cast<double>(times.size());
    if (!keepGoing(partOf(progress, kAimingShare, 1), done, "drawing"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    DERM_TRY(Rgba8Image picture, view.picture(times[i]));
    pictures.push_back(std::move(picture));
  }
  view.resize(whole);
  view.showTimes(with_times);
  return detail::stripOf(pictures, layout, whole);
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
