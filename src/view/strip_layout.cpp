#include "view/strip_layout.h"

#include <algorithm>

#include "derm/image/compose.h"

namespace derm::detail {
namespace {

constexpr int kCellGap_px = 4;

}  // namespace

StripLayout stripLayout(std::size_t count, const PictureSize& whole, std::span<const Vec3f> points,
                        const OrbitDesc& orbit) {
  StripLayout best;
  double largest = 0;
  for (int columns = 1; columns <= static_cast<int>(count); ++columns) {
    const int rows = (static_cast<int>(count) + columns - 1) / columns;
    PictureSize cell = whole;
    cell.width = std::max((whole.width - (columns - 1) * kCellGap_px) / columns, 1);
    cell.height = std::max((whole.height - (rows - 1) * kCellGap_px) / rows, 1);
    const Camera camera = orbitCamera(points, orbit, double(cell.width) / cell.height);
    // Empty cells at the end are ugly: what is gained must be worth them.
    const double full = double(count) / (columns * rows);
    const double size = full * cell.height / Vec3d(camera.eye - camera.target).norm();
    if (size <= largest) continue;
    largest = size;
    best = {columns, cell};
  }
  return best;
}

Rgba8Image stripOf(std::span<const Rgba8Image> cells, const StripLayout& layout,
                   const PictureSize& whole) {
  const Rgba8Image grid = gridOf(cells, layout.columns, kCellGap_px);
  Rgba8Image strip(std::max(whole.width, grid.width), std::max(whole.height, grid.height),
                   {255, 255, 255, 255});
  composite(strip, grid, (strip.width - grid.width) / 2, (strip.height - grid.height) / 2);
  return strip;
}

}  // namespace derm::detail
