#include "track_overlay.h"

#include <algorithm>
#include <cmath>

#include "derm/image/draw.h"

namespace derm::cli {
namespace {

constexpr Rgba8 kSeen = {60, 220, 90, 255};
constexpr Rgba8 kDoubtful = {240, 210, 40, 255};
constexpr Rgba8 kLost = {240, 60, 50, 255};
constexpr Rgba8 kUnder = {0, 0, 0, 255};

Rgba8 mixed(Rgba8 a, Rgba8 b, float share) {
  blend(a, b, share);
  return a;
}

}  // namespace

void drawMarkers(Rgba8Image& frame, std::span<const std::string> labels,
                 std::span<const Vec3d> positions, std::span<const float> confidence,
                 const std::string& caption) {
  const float unit = std::max(1.0f, static_cast<float>(frame.height) / 480.0f);
  const float radius = 8 * unit;
  std::vector<Vec2f> ring(25);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    // Tracks count from the middle of the first pixel, drawing from its corner.
    const Vec2f at(static_cast<float>(positions[i].x()) + 0.5f,
                   static_cast<float>(positions[i].y()) + 0.5f);
    const bool seen = confidence[i] > 0;
    const float doubt = std::clamp((1 - confidence[i]) / 0.4f, 0.0f, 1.0f);
    const Rgba8 colour = seen ? mixed(kSeen, kDoubtful, doubt) : kLost;
    if (seen) {
      for (std::size_t k = 0; k < ring.size(); ++k) {
        const float angle =
            6.2831853f * static_cast<float>(k) / static_cast<float>(ring.size() - 1);
        ring[k] = at + radius * Vec2f(std::cos(angle), std::sin(angle));
      }
      drawPolyline(frame, ring, 1.5f * unit, colour);
      drawLine(frame, at, at, 1.5f * unit, colour);
    } else {
      const Vec2f d(0.7f * radius, 0.7f * radius), e(0.7f * radius, -0.7f * radius);
      drawLine(frame, at - d, at + d, 1.5f * unit, colour);
      drawLine(frame, at - e, at + e, 1.5f * unit, colour);
    }
    const Vec2f beside = at + Vec2f(radius + 2 * unit, -0.4f * radius);
    drawText(frame, beside + Vec2f(unit, unit), labels[i],
             {.size_px = 11 * unit, .colour = kUnder});
    drawText(frame, beside, labels[i], {.size_px = 11 * unit, .colour = colour});
  }
  const Vec2f corner(10 * unit, static_cast<float>(frame.height) - 10 * unit);
  drawText(frame, corner + Vec2f(unit, unit), caption, {.size_px = 14 * unit, .colour = kUnder});
  drawText(frame, corner, caption, {.size_px = 14 * unit, .colour = {255, 255, 255, 255}});
}

Result<void> OverlayFilm::open(double fps, const Rgba8Image& frame, Diagnostics& notes) {
  fps_ = std::clamp(std::round(fps * 1000) / 1000, 1.0, 240.0);
  FilmDesc desc;
  desc.width = frame.width;
  desc.height = frame.height;
  desc.fps = fps_;
  DERM_TRY(film_, FilmWriter::open(file_, desc, notes));
  return {};
}

Result<void> OverlayFilm::show(const Rgba8Image& frame, double time_s) {
  const std::size_t due = static_cast<std::size_t>(std::lround((time_s - start_s_) * fps_)) + 1;
  for (; shown_ < due; ++shown_) DERM_CHECK(film_->add(frame));
  return {};
}

Result<void> OverlayFilm::add(Rgba8Image frame, double time_s, Diagnostics& notes) {
  if (film_) return show(frame, time_s);
  if (!first_) {
    start_s_ = time_s;
    first_ = std::move(frame);
    return {};
  }
  DERM_CHECK(open(1.0 / std::max(1e-6, time_s - start_s_), frame, notes));
  DERM_CHECK(show(*first_, start_s_));
  first_.reset();
  return show(frame, time_s);
}

Result<FilmResult> OverlayFilm::finish(Diagnostics& notes) {
  if (!film_ && first_) {
    DERM_CHECK(open(30, *first_, notes));
    DERM_CHECK(show(*first_, start_s_));
  }
  if (!film_) return Error{ErrorCode::BadArgument, "no frames", {.file = file_.string()}};
  return film_->finish();
}

}  // namespace derm::cli
