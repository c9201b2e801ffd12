#pragma once

#include <span>
#include <string>
#include <string_view>

#include "derm/image/draw.h"

namespace derm::detail {

/// What a plot is drawn on: SVG text or pixels. One layout serves both.
class PlotSurface {
 public:
  virtual ~PlotSurface() = default;
  virtual void rect(const ClipRect& rect, Rgba8 colour) = 0;
  virtual void line(const Vec2f& from, const Vec2f& to, float width_px, Rgba8 colour) = 0;
  /// Kept inside `clip`.
  virtual void curve(std::span<const Vec2f> points, float width_px, Rgba8 colour, bool dashed,
                     const ClipRect& clip) = 0;
  virtual void text(const Vec2f& anchor, std::string_view text, const TextStyle& style) = 0;
};

class SvgSurface final : public PlotSurface {
 public:
  /// Identifiers in the drawing start with `prefix`, so that several can stand in one file.
  SvgSurface(int width, int height, std::string_view title, std::string prefix = {});
  void rect(const ClipRect& rect, Rgba8 colour) override;
  void line(const Vec2f& from, const Vec2f& to, float width_px, Rgba8 colour) override;
  void curve(std::span<const Vec2f> points, float width_px, Rgba8 colour, bool dashed,
             const ClipRect& clip) override;
  void text(const Vec2f& anchor, std::string_view text, const TextStyle& style) override;
  std::string finish() &&;

 private:
  std::string svg_;
  std::string prefix_;
  int clips_ = 0;
};

class PixelSurface final : public PlotSurface {
 public:
  PixelSurface(int width, int height) : image_(width, height, {255, 255, 255, 255}) {}
  void rect(const ClipRect& rect, Rgba8 colour) override;
  void line(const Vec2f& from, const Vec2f& to, float width_px, Rgba8 colour) override;
  void curve(std::span<const Vec2f> points, float width_px, Rgba8 colour, bool dashed,
             const ClipRect& clip) override;
  void text(const Vec2f& anchor, std::string_view text, const TextStyle& style) override;
  Rgba8Image finish() && { return std::move(image_); }

 private:
  Rgba8Image image_;
};

}  // namespace derm::detail
