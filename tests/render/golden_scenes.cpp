#include "render/golden_scenes.h"

#include <cmath>

#include "derm/image/colour_map.h"
#include "derm/image/compose.h"
#include "derm/image/outline.h"
#include "derm/image/plot.h"
#include "derm/image/role_colours.h"
#include "derm/mesh/normals.h"
#include "derm/render/overlays.h"

#include "support/shelf.h"

namespace derm::golden {
namespace {

constexpr PictureSize kSize = {320, 180, 2};

Result<Rgba8Image> drawn(OffscreenRenderer& renderer, const DrawList& list,
                         const OrbitDesc& orbit = {}) {
  return renderer.draw(list, orbitCamera(list.stageBounds(), orbit, 16.0 / 9.0), kSize);
}

/// An upright limb, bent forward at its middle and pinched there by `pinch`, as linear skinning
/// does.
TriMesh limb(float pinch) {
  TriMesh m = shelf::sphere(40, 32, 0.5f);
  for (Vec3f& p : m.positions) {
    p.y() *= 2.4f;
    const float bend = 1.1f / (1.0f + std::exp(-8.0f * p.y()));
    const float thin = 1.0f - pinch * std::exp(-12.0f * p.y() * p.y());
    const float x = p.x() * thin, z = p.z() * thin, y = p.y();
    const float up = std::max(y, 0.0f);
    p = Vec3f(x, std::min(y, 0.0f) + up * std::cos(bend) - z * std::sin(bend),
              up * std::sin(bend) + z * std::cos(bend));
  }
  m.normals = areaWeightedNormals(m.positions, m.triangles);
  return m;
}

Result<Rgba8Image> studio(OffscreenRenderer& renderer) {
  const TriMesh ball = shelf::sphere(32, 48, 0.5f, Vec3f(0.45f, 0.5f, 0.1f));
  TriMesh box = shelf::cubeWithSplitFaces(0.8f);
  for (Vec3f& p : box.positions) p += Vec3f(-0.55f, 0.4f, -0.2f);
  DrawList list;
  DrawMaterial red;
  red.base_colour = Vec4f(0.55f, 0.08f, 0.05f, 1);
  red.roughness = 0.35f;
  list.surfaces.push_back(drawSurfaceOf(ball));
  list.surfaces.push_back(drawSurfaceOf(box, red));
  return drawn(renderer, list, {.pitch_rad = 0.35});
}

Result<Rgba8Image> textured(OffscreenRenderer& renderer) {
  TriMesh ball = shelf::sphere(32, 48, 0.5f);
  for (const Vec3f& p : ball.positions)
    ball.uvs.push_back(Vec2f(std::atan2(p.x(), p.z()) / 6.2832f + 0.5f, 0.5f - p.y()));
  auto checks = std::make_shared<Rgba8Image>(64, 64, Rgba8{235, 200, 120, 255});
  auto bumps = std::make_shared<Rgba8Image>(64, 64, Rgba8{128, 128, 255, 255});
  for (int y = 0; y < 64; ++y)
    for (int x = 0; x < 64; ++x) {
      if ((x / 8 + y / 8) % 2 == 0) checks->at(x, y) = {40, 70, 120, 255};
      bumps->at(x, y).r = static_cast<std::uint8_t>(128 + 60 * std::sin(x * 0.785f));
    }
  DrawMaterial plain, bumpy, metal;
  plain.base_colour = bumpy.base_colour = Vec4f::Ones();
  plain.base_colour_image = bumpy.base_colour_image = checks;
  bumpy.normal_image = bumps;
  metal.base_colour = Vec4f(0.9f, 0.7f, 0.35f, 1);
  metal.metallic = 1;
  metal.roughness = 0.25f;
  DrawList list;
  float x = -1.1f;
  for (const DrawMaterial& m : {plain, bumpy, metal}) {
    TriMesh moved = ball;
    for (Vec3f& p : moved.positions) p.x() += x;
    list.surfaces.push_back(drawSurfaceOf(list.keep(std::move(moved)), m));
    x += 1.1f;
  }
  return drawn(renderer, list, {.yaw_rad = 0.25});
}

Result<Rgba8Image> skeletonAndWire(OffscreenRenderer& renderer) {
  const TriMesh skin = limb(0.0f);
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(skin));
  addWireframe(list, skin.positions, skin.triangles);
  const SkeletonJoint joints[] = {
      {Vec3f(0, -1.1f, 0), -1}, {Vec3f(0, 0, 0), 0}, {Vec3f(0, 0.55f, 0.85f), 1}};
  addSkeleton(list, joints);
  return drawn(renderer, list, {.yaw_rad = 1.1});
}

Result<Rgba8Image> heatMap(OffscreenRenderer& renderer) {
  const TriMesh skin = limb(0.0f);
  std::vector<float> weights;
  for (const Vec3f& p : skin.positions)
    weights.push_back(std::clamp(0.5f + 1.2f * (p.y() + p.z()), 0.0f, 1.0f));
  DrawList list;
  DrawSurface surface = drawSurfaceOf(skin);
  showHeatMap(list, surface, weights);
  list.surfaces.push_back(surface);
  DERM_TRY(Rgba8Image picture, drawn(renderer, list, {.yaw_rad = 1.1}));
  composite(picture, heatLegend("weight", 1.0f, 130), 12, 38);
  return picture;
}

Result<Rgba8Image> ghostAndField(OffscreenRenderer& renderer) {
  const TriMesh before = limb(0.35f), after = limb(-0.05f);
  const Camera camera = orbitCamera(bounds(after.positions), {.yaw_rad = 1.1}, 16.0 / 9.0);
  DrawList list;
  DrawSurface blue = drawSurfaceOf(after);
  showInOneColour(blue, Vec4f(0.10f, 0.30f, 0.85f, 1.0f));
  list.surfaces.push_back(blue);
  FieldStyle field;
  field.stride = 2;
  field.min_m = 0.02f;
  field.colour = Vec4f(0.9f, 0.9f, 0.95f, 1.0f);
  field.on_top = true;
  addDisplacementField(list, before.positions, after.positions, field);
  DERM_TRY(Rgba8Image picture, renderer.draw(list, camera, kSize));
  std::vector<ShapePicture> shapes;
  for (const TriMesh* mesh : {&before, &after}) {
    DrawList flat;
    DrawSurface shape = drawSurfaceOf(*mesh);
    showDepth(flat, shape, camera);
    flat.surfaces.push_back(shape);
    flat.background.clear = true;
    flat.ground.on = false;
    DERM_TRY(Rgba8Image large, renderer.draw(flat, camera, {2 * kSize.width, 2 * kSize.height, 1}));
    shapes.push_back({std::move(large), 2});
  }
  fillBeyond(picture, shapes[0], shapes[1], kBeforeColour);
  drawOutline(picture, shapes[0]);
  return picture;
}

Result<Rgba8Image> beforeAfter(OffscreenRenderer& renderer) {
  const TriMesh pinched = limb(0.35f), whole = limb(0.0f);
  std::vector<Rgba8Image> halves;
  for (const TriMesh* mesh : {&pinched, &whole}) {
    DrawList list;
    list.surfaces.push_back(drawSurfaceOf(*mesh));
    list.stage = bounds(whole.positions);
    DERM_TRY(Rgba8Image half, drawn(renderer, list, {.yaw_rad = 0.7}));
    halves.push_back(std::move(half));
  }
  Rgba8Image out = splitView(halves[0], halves[1]);
  drawLabel(out, "before", Corner::TopLeft, {.size_px = 12});
  drawLabel(out, "after", Corner::TopRight, {.size_px = 12});
  return out;
}

Result<Rgba8Image> curves(OffscreenRenderer&) {
  PlotDesc desc;
  desc.title = "Volume of a bent limb";
  desc.x = {"time", "s", {}, {}};
  desc.y = {"volume", "cm\u00B3", {}, {}};
  desc.width = 480;
  desc.height = 270;
  PlotSeries linear, ours;
  linear.name = "linear";
  ours.name = "derm";
  linear.colour = kBeforeColour;
  linear.dashed = true;
  ours.colour = kAfterColour;
  for (int i = 0; i <= 60; ++i) {
    const double t = i / 30.0;
    linear.x.push_back(t);
    linear.y.push_back(412 - 55 * std::pow(std::sin(1.6 * t), 2));
    ours.x.push_back(t);
    ours.y.push_back(412);
  }
  desc.series = {linear, ours};
  return plotImage(desc);
}

}  // namespace

const std::vector<Scene>& scenes() {
  static const std::vector<Scene> all = {
      {"studio", studio},    {"textured", textured},         {"skeleton_wire", skeletonAndWire},
      {"heat_map", heatMap}, {"ghost_field", ghostAndField}, {"before_after", beforeAfter},
      {"curves", curves},
  };
  return all;
}

}  // namespace derm::golden
