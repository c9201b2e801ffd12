// A renderer of one's own: a scene's view says what there is to draw at an instant, a few lines
// draw it. Asks for the triangles of the instant: where skin folds they are finer while it does.
// usage: derm_example_own_renderer RECIPE.toml SECONDS PICTURE.png
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "derm/image/rgba8_image.h"
#include "derm/io/png.h"
#include "derm/view/scene_view.h"

namespace {

int fail(const derm::Error& error) { return std::fprintf(stderr, "%s\n", error.text().c_str()), 1; }

/// Where a triangle's corners fall in the picture: x, y [px], z [m] from the eye.
using Corners = std::array<derm::Vec3d, 3>;

/// Twice the area of a, b, c in the picture; its sign says which way round they go.
double area(const derm::Vec3d& a, const derm::Vec3d& b, double x, double y) {
  return (b.x() - a.x()) * (y - a.y()) - (b.y() - a.y()) * (x - a.x());
}

class Canvas {
 public:
  Canvas(int width, int height)
      : image_(width, height, {226, 230, 235, 255}),
        depths_(image_.pixels.size(), std::numeric_limits<double>::infinity()) {}
  const derm::Rgba8Image& image() const { return image_; }

  void fill(const Corners& corners, const derm::Vec4f& colour) {
    const auto [a, b, c] = corners;
    const double whole = area(a, b, c.x(), c.y());
    if (whole == 0 || std::min({a.z(), b.z(), c.z()}) <= 0) return;
    const auto [left, right] = std::minmax({a.x(), b.x(), c.x()});
    const auto [top, bottom] = std::minmax({a.y(), b.y(), c.y()});
    for (int y = std::max(int(top), 0); y <= std::min(int(bottom), image_.height - 1); ++y)
      for (int x = std::max(int(left), 0); x <= std::min(int(right), image_.width - 1); ++x) {
        const double u = area(b, c, x + 0.5, y + 0.5) / whole;
        const double v = area(c, a, x + 0.5, y + 0.5) / whole;
        if (u < 0 || v < 0 || u + v > 1) continue;
        double& depth = depths_[static_cast<std::size_t>(y * image_.width + x)];
        const double here = u * a.z() + v * b.z() + (1 - u - v) * c.z();
        if (here >= depth) continue;
        depth = here;
        image_.at(x, y) = derm::encodedColour(colour);
      }
  }

 private:
  derm::Rgba8Image image_;
  std::vector<double> depths_;
};

/// Flat colours, lit from the camera; textures, strokes and shadows are left to better renderers.
void draw(const derm::DrawSurface& surface, const derm::Camera& camera, Canvas& canvas) {
  const derm::Vec3f to_eye = (camera.eye - camera.target).normalized().cast<float>();
  for (const derm::DrawPart& part : surface.parts)
    for (std::uint32_t t = 0; t < part.triangle_count; ++t) {
      const derm::Triangle& triangle = surface.triangles[part.first_triangle + t];
      Corners corners;
      derm::Vec4f colour = derm::Vec4f::Zero();
      for (std::size_t k = 0; k < 3; ++k) {
        const std::uint32_t v = triangle[k];
        corners[k] = derm::projectedPoint(camera, surface.positions[v].cast<double>(),
                                          canvas.image().width, canvas.image().height);
        const float light = 0.2f + 0.8f * std::max(surface.normals[v].dot(to_eye), 0.0f);
        derm::Vec4f own = part.material.base_colour;
        if (!surface.colours.empty()) own = own.cwiseProduct(surface.colours[v]);
        colour += light / 3 * own;
      }
      colour.w() = 1;
      canvas.fill(corners, colour);
    }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4)
    return std::fprintf(stderr, "usage: %s RECIPE.toml SECONDS PICTURE.png\n", argv[0]), 2;
  derm::Diagnostics notes;
  const derm::Result<derm::Recipe> recipe = derm::loadRecipe(argv[1]);
  if (!recipe) return fail(recipe.error());
  derm::Result<derm::Scene> scene =
      derm::openScene(*recipe, {.topology = derm::Topology::Adaptive}, notes);
  if (!scene) return fail(scene.error());
  derm::ViewDesc desc;
  desc.size = {.width = 640, .height = 480};
  derm::Result<derm::SceneView> view = derm::SceneView::makeWithoutRenderer(*scene, desc, notes);
  if (!view) return fail(view.error());
  const derm::Result<derm::SceneDrawing> drawing = view->drawing(std::atof(argv[2]));
  if (!drawing) return fail(drawing.error());
  Canvas canvas(desc.size.width, desc.size.height);
  for (const derm::DrawSurface& surface : drawing->list.surfaces) {
    std::printf("%zu triangles in %zu parts\n", surface.triangles.size(), surface.parts.size());
    draw(surface, drawing->camera, canvas);
  }
  const derm::Result<void> saved = derm::savePng(argv[3], canvas.image());
  return saved ? 0 : fail(saved.error());
}
