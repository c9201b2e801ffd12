#include "derm/image/plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "derm/base/number_text.h"

#include "image/plot_surface.h"

namespace derm {
namespace {

using detail::PlotSurface;

constexpr Rgba8 kInk = {38, 43, 51, 255};
constexpr Rgba8 kFaint = {104, 112, 124, 255};
constexpr Rgba8 kGrid = {226, 229, 234, 255};
constexpr Rgba8 kAxis = {150, 157, 168, 255};
/// Distinct in hue and lightness, so that they can be told apart in grey and by colour-blind eyes.
constexpr std::array<Rgba8, 8> kPalette = {{{38, 101, 196, 255},
                                            {219, 94, 33, 255},
                                            {24, 148, 108, 255},
                                            {168, 54, 140, 255},
                                            {214, 158, 22, 255},
                                            {82, 90, 102, 255},
                                            {60, 176, 206, 255},
                                            {140, 30, 38, 255}}};

/// An axis after layout: its span, ticks and the power of ten taken out of the numbers.
struct Scale {
  double low = 0;
  double high = 1;
  double step = 1;
  int exponent = 0;  ///< labels show value / 10^exponent
  int decimals = 0;
};

double niceStep(double rough) {
  const double magnitude = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (rough <= factor * magnitude * (1 + 1e-9)) return factor * magnitude;
  return 10 * magnitude;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double v) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  bool empty() const { return low > high; }
};

/// Values this large would overflow the span between two of them.
bool drawable(double v) { return std::abs(v) < 1e300; }

Scale scaleFor(const PlotAxis& axis, Range range, int max_ticks, bool tight) {
  if (axis.low) range.low = *axis.low;
  if (axis.high) range.high = *axis.high;
  if (range.empty()) {  // no data, or a fixed end beyond it
    if (!std::isfinite(range.low)) range.low = std::isfinite(range.high) ? range.high - 1 : 0;
    if (!(range.high > range.low)) range.high = range.low + 1;
  }
  // A flat curve gets room around it, relative to its own size.
  if (range.high - range.low <= 1e-12 * std::max(std::abs(range.low), std::abs(range.high))) {
    const double room = range.low == 0 ? 1 : 0.05 * std::abs(range.low);
    if (!axis.low) range.low -= room;
    if (!axis.high || range.high <= range.low) range.high += room;
  }
  Scale out;
  out.step = niceStep((range.high - range.low) / max_ticks);
  out.low = range.low;
  out.high = range.high;
  if (!axis.low && !tight) out.low = std::floor(range.low / out.step + 1e-9) * out.step;
  if (!axis.high && !tight) out.high = std::ceil(range.high / out.step - 1e-9) * out.step;
  const double largest = std::max(std::abs(out.low), std::abs(out.high));
  const int power = largest > 0 ? static_cast<int>(std::floor(std::log10(largest))) : 0;
  if (power >= 5 || power < -2) out.exponent = static_cast<int>(std::floor(power / 3.0)) * 3;
  const double shown_step = out.step / std::pow(10.0, out.exponent);
  out.decimals = std::clamp(static_cast<int>(-std::floor(std::log10(shown_step) + 1e-9)), 0, 12);
  return out;
}

std::vector<double> ticks(const Scale& scale) {
  std::vector<double> out;
  const double first = std::ceil(scale.low / scale.step - 1e-6);
  for (int i = 0; i < 64; ++i) {
    const double value = (first + i) * scale.step;
    if (value > scale.high + 1e-6 * scale.step) break;
    out.push_back(value);
  }
  return out;
}

std::string tickText(const Scale& scale, double value) {
  return fixedNumber(value / std::pow(10.0, scale.exponent), scale.decimals);
}

std::string axisText(const PlotAxis& axis, const Scale& scale) {
  std::string unit = axis.unit;
  if (scale.exponent != 0)
    unit = "1e" + std::to_string(scale.exponent) + (unit.empty() ? "" : " " + unit);
  if (unit.empty()) return axis.label;
  return axis.label + (axis.label.empty() ? "[" : " [") + unit + "]";
}

class Plotter {
 public:
  Plotter(const PlotDesc& desc, PlotSurface& surface) : desc_(desc), surface_(surface) {}

  void draw() {
    layOut();
    surface_.rect({0, 0, float(desc_.width), float(desc_.height)}, {255, 255, 255, 255});
    drawGrid();
    drawCurves();
    drawTexts();
    drawLegend();
  }

 private:
  void layOut() {
    text_px_ = std::clamp(float(desc_.height) / 32.0f, 11.0f, 18.0f);
    Range x_range, y_range;
    for (const PlotSeries& s : desc_.series)
      for (std::size_t i = 0; i < s.x.size(); ++i)
        if (drawable(s.x[i]) && drawable(s.y[i])) {
          x_range.add(s.x[i]);
          y_range.add(s.y[i]);
        }
    x_ = scaleFor(desc_.x, x_range, std::max(2, desc_.width / 110), true);
    y_ = scaleFor(desc_.y, y_range, std::max(2, desc_.height / 70), false);
    float label_width = 0;
    for (const double t : ticks(y_))
      label_width = std::max(label_width, textWidth(tickText(y_, t), text_px_));
    const bool y_named = !axisText(desc_.y, y_).empty();
    float top = text_px_ * 1.2f;
    if (!desc_.title.empty()) top += text_px_ * 2.2f;
    legend_y_ = top + text_px_ * 0.3f;
    if (legendWanted()) top += text_px_ * 1.8f * float(legendRows());
    area_ = {
        std::round(label_width + text_px_ * (y_named ? 3.2f : 1.6f)), std::round(top),
        std::round(float(desc_.width) - text_px_ * 1.8f),
        std::round(float(desc_.height) - text_px_ * (axisText(desc_.x, x_).empty() ? 2.2f : 3.8f))};
    area_.right = std::max(area_.right, area_.left + 1);
    area_.bottom = std::max(area_.bottom, area_.top + 1);
  }

  bool legendWanted() const {
    return desc_.series.size() > 1 || (desc_.series.size() == 1 && !desc_.series[0].name.empty());
  }
  float legendEntryWidth(const PlotSeries& s) const {
    return textWidth(s.name, text_px_) + text_px_ * 3.4f;
  }
  /// Entries run from left to right and wrap; calls place(entry, x, row) for each.
  template <class Place>
  int walkLegend(Place&& place) const {
    const float left = text_px_ * 1.6f, right = float(desc_.width) - text_px_;
    float x = left;
    int row = 0;
    for (std::size_t i = 0; i < desc_.series.size(); ++i) {
      const float width = legendEntryWidth(desc_.series[i]);
      if (x > left && x + width > right) {
        x = left;
        ++row;
      }
      place(i, x, row);
      x += width;
    }
    return row + 1;
  }
  int legendRows() const {
    return walkLegend([](std::size_t, float, int) {});
  }

  float px(double v) const {
    const double t = (v - x_.low) / (x_.high - x_.low);
    return area_.left + float(std::clamp(t, -10.0, 10.0)) * (area_.right - area_.left);
  }
  float py(double v) const {
    const double t = (v - y_.low) / (y_.high - y_.low);
    return area_.bottom - float(std::clamp(t, -10.0, 10.0)) * (area_.bottom - area_.top);
  }

  void drawGrid() {
    const auto sharp = [](float v) { return std::floor(v) + 0.5f; };
    for (const double t : ticks(x_))
      surface_.line(Vec2f(sharp(px(t)), area_.top), Vec2f(sharp(px(t)), area_.bottom), 1, kGrid);
    for (const double t : ticks(y_))
      surface_.line(Vec2f(area_.left, sharp(py(t))), Vec2f(area_.right, sharp(py(t))), 1,
                    t == 0 ? kAxis : kGrid);
    surface_.line(Vec2f(area_.left, sharp(area_.bottom)), Vec2f(area_.right, sharp(area_.bottom)),
                  1, kAxis);
    surface_.line(Vec2f(sharp(area_.left), area_.top), Vec2f(sharp(area_.left), area_.bottom), 1,
                  kAxis);
  }

  Rgba8 colourOf(std::size_t i) const {
    return desc_.series[i].colour.value_or(kPalette[i % kPalette.size()]);
  }

  void drawCurves() {
    const float width = std::max(1.5f, text_px_ * 0.15f);
    // Half a stroke more on each side, so that a curve along the border is whole.
    const ClipRect clip{area_.left - width, area_.top - width, area_.right + width,
                        area_.bottom + width};
    for (std::size_t k = 0; k < desc_.series.size(); ++k) {
      const PlotSeries& s = desc_.series[k];
      std::vector<Vec2f> run;
      const auto flush = [&] {
        if (!run.empty())
          surface_.curve(run, run.size() == 1 ? 2 * width : width, colourOf(k), s.dashed, clip);
        run.clear();
      };
      for (std::size_t i = 0; i < s.x.size(); ++i) {
        if (drawable(s.x[i]) && drawable(s.y[i]))
          run.push_back(Vec2f(px(s.x[i]), py(s.y[i])));
        else
          flush();
      }
      flush();
    }
  }

  void drawTexts() {
    TextStyle style;
    style.size_px = text_px_;
    style.colour = kFaint;
    style.align = TextAlign::Centre;
    for (const double t : ticks(x_))
      surface_.text(Vec2f(px(t), area_.bottom + text_px_ * 1.3f), tickText(x_, t), style);
    style.align = TextAlign::Right;
    for (const double t : ticks(y_))
      surface_.text(Vec2f(area_.left - text_px_ * 0.5f, py(t) + text_px_ * 0.35f), tickText(y_, t),
                    style);
    style.colour = kInk;
    style.align = TextAlign::Centre;
    const float middle_x = 0.5f * (area_.left + area_.right);
    surface_.text(Vec2f(middle_x, float(desc_.height) - text_px_ * 0.9f), axisText(desc_.x, x_),
                  style);
    style.upwards = true;
    surface_.text(Vec2f(text_px_ * 1.3f, 0.5f * (area_.top + area_.bottom)), axisText(desc_.y, y_),
                  style);
    style.upwards = false;
    style.align = TextAlign::Left;
    style.size_px = text_px_ * 1.3f;
    style.bold = true;
    surface_.text(Vec2f(text_px_ * 1.6f, text_px_ * 2.2f), desc_.title, style);
  }

  void drawLegend() {
    if (!legendWanted()) return;
    TextStyle style;
    style.size_px = text_px_;
    style.colour = kInk;
    const ClipRect whole{0, 0, float(desc_.width), float(desc_.height)};
    walkLegend([&](std::size_t i, float x, int row) {
      const float y = legend_y_ + text_px_ * 1.8f * float(row);
      const Vec2f stroke[] = {Vec2f(x, y), Vec2f(x + text_px_ * 1.5f, y)};
      surface_.curve(stroke, text_px_ * 0.22f, colourOf(i), desc_.series[i].dashed, whole);
      surface_.text(Vec2f(x + text_px_ * 2.0f, y + text_px_ * 0.35f), desc_.series[i].name, style);
    });
  }

  const PlotDesc& desc_;
  PlotSurface& surface_;
  float text_px_ = 12;
  float legend_y_ = 0;
  Scale x_, y_;
  ClipRect area_;
};

Result<void> validate(const PlotDesc& desc) {
  const auto bad = [](std::string message, std::string element) {
    return Error{ErrorCode::BadArgument, std::move(message), {.element = std::move(element)}};
  };
  if (desc.width < 160 || desc.width > 16384 || desc.height < 120 || desc.height > 16384)
    return bad("a plot is 160x120 to 16384x16384 pixels, not " + std::to_string(desc.width) + "x" +
                   std::to_string(desc.height),
               "plot");
  for (std::size_t i = 0; i < desc.series.size(); ++i) {
    const PlotSeries& s = desc.series[i];
    if (s.x.size() != s.y.size())
      return bad("\"" + s.name + "\" has " + std::to_string(s.x.size()) + " x but " +
                     std::to_string(s.y.size()) + " y values",
                 "series[" + std::to_string(i) + "]");
  }
  for (const PlotAxis* axis : {&desc.x, &desc.y}) {
    const bool finite =
        (!axis->low || drawable(*axis->low)) && (!axis->high || drawable(*axis->high));
    if (!finite || (axis->low && axis->high && !(*axis->low < *axis->high)))
      return bad("ends of an axis must be finite and in order",
                 axis == &desc.x ? "x axis" : "y axis");
  }
  return {};
}

Result<std::string> svgOf(const PlotDesc& desc, std::string prefix) {
  DERM_CHECK(validate(desc));
  detail::SvgSurface surface(desc.width, desc.height, desc.title, std::move(prefix));
  Plotter(desc, surface).draw();
  return std::move(surface).finish();
}

}  // namespace

Result<std::string> plotSvg(const PlotDesc& desc) { return svgOf(desc, ""); }

Result<std::string> stackedPlotSvg(std::span<const PlotDesc> plots) {
  std::string inside;
  int width = 0;
  int height = 0;
  for (std::size_t i = 0; i < plots.size(); ++i) {
    const PlotDesc& desc = plots[i];
    DERM_TRY(const std::string svg, svgOf(desc, "plot" + std::to_string(i) + "-"));
    inside += "<g transform=\"translate(0 " + std::to_string(height) + ")\">\n" + svg + "</g>\n";
    width = std::max(width, desc.width);
    height += desc.height;
  }
  const std::string size = std::to_string(width) + "\" height=\"" + std::to_string(height);
  return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
         std::to_string(width) + " " + std::to_string(height) + "\">\n" + inside + "</svg>\n";
}

Result<Rgba8Image> plotImage(const PlotDesc& desc) {
  DERM_CHECK(validate(desc));
  detail::PixelSurface surface(desc.width, desc.height);
  Plotter(desc, surface).draw();
  return std::move(surface).finish();
}

}  // namespace derm
