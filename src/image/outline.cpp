#include "derm/image/outline.h"

#include <array>
#include <cmath>

#include "derm/base/assert.h"

namespace derm {
namespace {

constexpr std::uint8_t kCovered = 128;  ///< alpha from which a pixel belongs to the shape

void requireFit(const Rgba8Image& canvas, const ShapePicture& shape) {
  DERM_REQUIRE(shape.factor >= 1 && shape.picture.width == shape.factor * canvas.width &&
               shape.picture.height == shape.factor * canvas.height);
}

/// Marks per pixel of a shape, and which share of a canvas pixel is marked.
class Marks {
 public:
  Marks(int width, int height)
      : width_(width), height_(height), marked_(std::size_t(width) * std::size_t(height), 0) {}

  void set(int x, int y) { marked_[std::size_t(y) * std::size_t(width_) + std::size_t(x)] = 1; }
  void setDisc(int x, int y, float radius) {
    const int reach = static_cast<int>(std::floor(radius));
    for (int dy = -reach; dy <= reach; ++dy)
      for (int dx = -reach; dx <= reach; ++dx)
        if (float(dx * dx + dy * dy) <= radius * radius && x + dx >= 0 && x + dx < width_ &&
            y + dy >= 0 && y + dy < height_)
          set(x + dx, y + dy);
  }

  void blendOnto(Rgba8Image& canvas, int factor, Rgba8 colour) const {
    const float each = 1.0f / float(factor * factor);
    for (int y = 0; y < canvas.height; ++y)
      for (int x = 0; x < canvas.width; ++x) {
        int sum = 0;
        for (int dy = 0; dy < factor; ++dy)
          for (int dx = 0; dx < factor; ++dx)
            sum += marked_[std::size_t(factor * y + dy) * std::size_t(width_) +
                           std::size_t(factor * x + dx)];
        if (sum > 0) blend(canvas.at(x, y), colour, float(sum) * each);
      }
  }

 private:
  int width_;
  int height_;
  std::vector<std::uint8_t> marked_;
};

/// Whether the shape ends between a pixel of it and the next one: at the background, or with a step
/// back that is more than the slope it had before.
bool endsTowards(const Rgba8Image& p, int x, int y, int dx, int dy, float min_step) {
  const auto inside = [&](int i, int j) { return i >= 0 && i < p.width && j >= 0 && j < p.height; };
  if (!inside(x + dx, y + dy)) return false;  // what the picture cuts off does not end there
  const Rgba8& next = p.at(x + dx, y + dy);
  if (next.a < kCovered) return true;
  const float here = linearFromSrgb(float(p.at(x, y).r) / 255);
  const float step = linearFromSrgb(float(next.r) / 255) - here;
  if (step < min_step) return false;
  const bool known = inside(x - dx, y - dy) && p.at(x - dx, y - dy).a >= kCovered;
  const float slope = known ? here - linearFromSrgb(float(p.at(x - dx, y - dy).r) / 255) : 0.0f;
  return step > 2 * slope;
}

}  // namespace

void drawOutline(Rgba8Image& canvas, const ShapePicture& shape, const OutlineStyle& style) {
  requireFit(canvas, shape);
  DERM_REQUIRE(style.width_px > 0);
  constexpr std::array<std::array<int, 2>, 4> kWays = {{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}};
  const Rgba8Image& p = shape.picture;
  Marks marks(p.width, p.height);
  const float radius = 0.5f * style.width_px * float(shape.factor);
  for (int y = 0; y < p.height; ++y)
    for (int x = 0; x < p.width; ++x) {
      if (p.at(x, y).a < kCovered) continue;
      for (const auto& [dx, dy] : kWays)
        if (endsTowards(p, x, y, dx, dy, style.min_step)) {
          marks.setDisc(x, y, radius);
          break;
        }
    }
  marks.blendOnto(canvas, shape.factor, style.colour);
}

void fillBeyond(Rgba8Image& canvas, const ShapePicture& shape, const ShapePicture& other,
                Rgba8 colour) {
  requireFit(canvas, shape);
  requireFit(canvas, other);
  DERM_REQUIRE(shape.factor == other.factor);
  Marks marks(shape.picture.width, shape.picture.height);
  for (int y = 0; y < shape.picture.height; ++y)
    for (int x = 0; x < shape.picture.width; ++x)
      if (shape.picture.at(x, y).a >= kCovered && other.picture.at(x, y).a < kCovered)
        marks.set(x, y);
  marks.blendOnto(canvas, shape.factor, colour);
}

}  // namespace derm
