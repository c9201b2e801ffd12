#include "derm/render/offscreen_renderer.h"

#include <cstdlib>

#include <gtest/gtest.h>

#include "support/shelf.h"

namespace derm {
namespace {

constexpr PictureSize kSmall = {96, 64, 1};

int brightness(Rgba8 p) { return (p.r + p.g + p.b) / 3; }

/// Looks straight at the front (+Z) of the unit cube.
Camera frontCamera() {
  Camera camera;
  camera.eye = Vec3d(0, 0, 4);
  camera.target = Vec3d::Zero();
  camera.near_m = 0.5;
  camera.far_m = 50;
  return camera;
}

/// A square of size 1 at z = 0 that faces +Z, with uvs (v down).
TriMesh card(float size = 1.0f) {
  TriMesh m;
  const float h = 0.5f * size;
  m.positions = {{-h, -h, 0}, {h, -h, 0}, {h, h, 0}, {-h, h, 0}};
  m.normals.assign(4, Vec3f::UnitZ());
  m.uvs = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
  m.triangles = {{0, 1, 2}, {0, 2, 3}};
  return m;
}

class Offscreen : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = OffscreenRenderer::create();
    if (!made.ok()) {
      ASSERT_EQ(made.error().code, ErrorCode::Unsupported);
      GTEST_SKIP() << made.error().message;
    }
    renderer_.emplace(std::move(*made));
  }
  Rgba8Image draw(const DrawList& list, const Camera& camera = frontCamera(),
                  const PictureSize& size = kSmall) {
    auto picture = renderer_->draw(list, camera, size);
    EXPECT_TRUE(picture.ok()) << picture.error().text();
    return picture.ok() ? *picture : Rgba8Image(size.width, size.height);
  }
  std::optional<OffscreenRenderer> renderer_;
};

TEST_F(Offscreen, NothingGivesTheBackground) {
  const Rgba8Image picture = draw(DrawList());
  EXPECT_EQ(picture.width, 96);
  EXPECT_EQ(picture.height, 64);
  EXPECT_GT(brightness(picture.at(48, 2)), brightness(picture.at(48, 62)));
  EXPECT_FALSE(renderer_->driver().empty());
}

TEST_F(Offscreen, TheSameListGivesTheSamePictureInEveryRenderer) {
  const TriMesh ball = shelf::sphere(16, 24, 0.5f), cube = shelf::cube(0.8f);
  DrawList list, other;
  list.surfaces.push_back(drawSurfaceOf(ball));
  other.surfaces.push_back(drawSurfaceOf(cube));
  const Rgba8Image first = draw(list);
  draw(other, frontCamera(), {50, 70, 2});
  EXPECT_EQ(draw(list), first);
  auto second = OffscreenRenderer::create();
  ASSERT_TRUE(second.ok());
  OffscreenRenderer moved = std::move(*second);
  EXPECT_EQ(*moved.draw(list, frontCamera(), kSmall), first);
  EXPECT_EQ(draw(list), first);
}

TEST_F(Offscreen, QuickLightingShowsTheSameShapeWithAShadowOnTheFloor) {
  const TriMesh ball = shelf::sphere(16, 24, 0.5f);
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(ball));
  Camera camera = frontCamera();
  camera.eye = Vec3d(0, 2, 4);
  auto quick = OffscreenRenderer::create({.lighting = Lighting::Quick});
  ASSERT_TRUE(quick.ok()) << quick.error().text();
  const Rgba8Image picture = quick->draw(list, camera, kSmall).value();
  EXPECT_EQ(*quick->draw(list, camera, kSmall), picture);
  list.ground.on = false;
  const Rgba8Image floating = quick->draw(list, camera, kSmall).value();
  list.surfaces.clear();
  const Rgba8Image nothing = quick->draw(list, camera, kSmall).value();
  list.surfaces.push_back(drawSurfaceOf(ball));
  const Rgba8Image studio = draw(list, camera);
  // Lit from the left above: the same side is bright as in the studio.
  EXPECT_GT(brightness(floating.at(42, 26)), brightness(floating.at(56, 40)) + 20);
  EXPECT_GT(brightness(studio.at(42, 26)), brightness(studio.at(56, 40)) + 20);
  std::size_t shape = 0, same_shape = 0, shadow = 0;
  for (std::size_t i = 0; i < picture.pixels.size(); ++i) {
    const auto differs = [&](const Rgba8Image& image) {
      return std::abs(brightness(image.pixels[i]) - brightness(nothing.pixels[i])) > 3;
    };
    shape += differs(floating);
    same_shape += differs(floating) && differs(studio);
    shadow += !differs(floating) && picture.pixels[i] != floating.pixels[i] &&
              brightness(picture.pixels[i]) < brightness(floating.pixels[i]);
  }
  EXPECT_GT(shape, 200u);
  EXPECT_GT(double(same_shape), 0.8 * double(shape));  // both are near the background somewhere
  EXPECT_GT(shadow, 30u);
}

TEST_F(Offscreen, ASurfaceIsWhereTheCameraSaysItIs) {
  const TriMesh square = card();
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(square));
  list.ground.on = false;
  DrawMaterial& material = list.surfaces[0].parts[0].material;
  material.base_colour = Vec4f(1, 0, 0, 1);
  material.self_lit = 1;
  const Rgba8Image picture = draw(list);
  const Vec3d corner = projectedPoint(frontCamera(), Vec3d(0.5, 0.5, 0), 96, 64);
  const int x = int(corner.x()), y = int(corner.y());
  EXPECT_EQ(picture.at(48, 32), (Rgba8{255, 0, 0, 255}));
  EXPECT_EQ(picture.at(x - 2, y + 2), (Rgba8{255, 0, 0, 255}));
  EXPECT_GT(int(picture.at(x + 2, y + 2).g), 150);
  EXPECT_GT(int(picture.at(x - 2, y - 2).g), 150);
}

TEST_F(Offscreen, AClearBackgroundHasAlpha) {
  const TriMesh ball = shelf::sphere(16, 24, 0.5f);
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(ball));
  list.background.clear = true;
  list.ground.on = false;
  const Rgba8Image picture = draw(list);
  EXPECT_EQ(picture.at(1, 1).a, 0);
  EXPECT_EQ(picture.at(48, 32).a, 255);
  int partly = 0;
  for (const Rgba8& p : picture.pixels)
    if (p.a > 0 && p.a < 255) {
      ++partly;
      EXPECT_GT(brightness(p), 20);  // straight colours: no dark fringe
    }
  EXPECT_GT(partly, 10);
}

TEST_F(Offscreen, PicturesLieOnSurfacesTheRightWayUp) {
  auto image = std::make_shared<Rgba8Image>(16, 16, Rgba8{255, 255, 255, 255});
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 16; ++x) {
      if (y < 8) image->at(x, y) = x < 8 ? Rgba8{255, 0, 0, 255} : Rgba8{0, 255, 0, 255};
      if (y >= 8 && x < 8) image->at(x, y) = {0, 0, 255, 255};
    }
  const TriMesh square = card();
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(square));
  DrawMaterial& material = list.surfaces[0].parts[0].material;
  material.base_colour = Vec4f::Ones();
  material.self_lit = 1;
  material.base_colour_image = image;
  const Rgba8Image picture = draw(list);
  EXPECT_GT(int(picture.at(42, 26).r), 200);
  EXPECT_LT(int(picture.at(42, 26).b), 60);
  EXPECT_GT(int(picture.at(54, 26).g), 200);
  EXPECT_LT(int(picture.at(54, 26).r), 60);
  EXPECT_GT(int(picture.at(42, 38).b), 200);
  // The same address with other pixels must not show the old ones.
  image = std::make_shared<Rgba8Image>(1, 1, Rgba8{0, 0, 0, 255});
  material.base_colour_image = image;
  EXPECT_LT(brightness(draw(list).at(42, 26)), 10);
}

TEST_F(Offscreen, AFlatNormalMapChangesNothingAndATiltedOneTurnsTheLight) {
  const TriMesh square = card();
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(square));
  list.ground.on = false;
  const int plain = brightness(draw(list).at(48, 32));
  const auto mapped = [&](Rgba8 normal) {
    list.surfaces[0].parts[0].material.normal_image = std::make_shared<Rgba8Image>(4, 4, normal);
    return brightness(draw(list).at(48, 32));
  };
  EXPECT_NEAR(mapped({128, 128, 255, 255}), plain, 2);
  // The key light comes from above and from the viewer's left.
  const int up = mapped({128, 218, 218, 255}), down = mapped({128, 38, 218, 255});
  const int left = mapped({38, 128, 218, 255}), right = mapped({218, 128, 218, 255});
  EXPECT_GT(up, plain);
  EXPECT_LT(down, plain - 20);
  EXPECT_GT(left, right + 10);
}

TEST_F(Offscreen, DetailMapsShowWhereTheirWeightsAre) {
  const TriMesh square = card();
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(square));
  list.ground.on = false;
  const Rgba8Image plain = draw(list);
  const auto tilted = std::make_shared<Rgba8Image>(4, 4, Rgba8{128, 38, 218, 255});  // downwards
  const auto flat = std::make_shared<Rgba8Image>(4, 4, Rgba8{128, 128, 255, 255});
  DrawMaterial& material = list.surfaces[0].parts[0].material;
  const auto at = [](const Rgba8Image& picture, int x) { return brightness(picture.at(x, 32)); };

  const std::vector<float> left = {1, 0, 0, 1};  // of the card's corners
  const std::vector<float> nowhere(4, 0.0f);
  // Six that show nothing before it: the seventh is in the second half of the weights.
  material.detail_maps.assign(6, {.image = tilted, .weights = nowhere});
  material.detail_maps.push_back({.image = tilted, .weights = left});
  const Rgba8Image half = draw(list);
  EXPECT_LT(at(half, 37), at(plain, 37) - 20);
  EXPECT_GT(at(half, 58), at(plain, 58) - 16);  // a twentieth of it
  EXPECT_LT(at(half, 37), at(half, 48));
  EXPECT_LT(at(half, 48), at(half, 58));

  // At rest nothing is left of them.
  material.detail_maps.assign(2, {.image = tilted, .weights = nowhere});
  EXPECT_EQ(draw(list).pixels, plain.pixels);
  // Pictures of two sizes, and one laid elsewhere, do not fit into one texture: nothing changes.
  const auto larger = std::make_shared<Rgba8Image>(8, 8, Rgba8{128, 38, 218, 255});
  material.detail_maps = {{.image = tilted, .strength = 0.5f}, {.image = tilted, .strength = 0.5f}};
  const int together = at(draw(list), 48);
  EXPECT_LT(together, at(plain, 48) - 20);
  material.detail_maps[1].image = larger;
  EXPECT_EQ(at(draw(list), 48), together);
  material.detail_maps[1] = {.image = tilted, .uv_scale = Vec2f(2, 2), .strength = 0.5f};
  EXPECT_EQ(at(draw(list), 48), together);

  // One map over a flat one is that map.
  material.detail_maps = {{.image = tilted}};
  const int alone = at(draw(list), 48);
  material.normal_image = flat;
  EXPECT_NEAR(at(draw(list), 48), alone, 1);
  material.detail_maps = {{.image = flat}};
  material.normal_image = tilted;
  EXPECT_NEAR(at(draw(list), 48), alone, 1);
  // Opposite slopes cancel (5.14).
  const auto opposite = std::make_shared<Rgba8Image>(4, 4, Rgba8{128, 218, 218, 255});
  material.detail_maps = {{.image = opposite}};
  EXPECT_NEAR(at(draw(list), 48), at(plain, 48), 2);
  // No slopes, no detail.
  material.normal_image = nullptr;
  material.detail_maps = {{.image = tilted, .strength = 0}};
  EXPECT_NEAR(at(draw(list), 48), at(plain, 48), 1);
}

TEST(DrawListDetailMaps, WrongOnesAreNamed) {
  const TriMesh square = card();
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(square));
  std::vector<DrawDetailMap>& maps = list.surfaces[0].parts[0].material.detail_maps;
  maps.resize(kMaxDetailMaps + 1);
  EXPECT_EQ(validate(list).error().text(),
            "surfaces[0].parts[0]: 9 detail maps, but at most 8 can be drawn");
  const std::vector<float> three(3, 1.0f);
  maps = {{.weights = three}};
  EXPECT_EQ(validate(list).error().text(),
            "surfaces[0].parts[0]: weights of a detail map do not fit the positions");
}

TEST_F(Offscreen, StrokesBehindASurfaceAreHiddenUnlessOnTop) {
  const TriMesh square = card();
  for (const bool on_top : {false, true}) {
    DrawList list;
    list.surfaces.push_back(drawSurfaceOf(square));
    DrawLines line;
    line.points = {Vec3f(-2, 0, -0.5f), Vec3f(2, 0, -0.5f)};
    line.colours = {Vec4f(0, 0, 1, 1)};
    line.width_px = 4;
    line.on_top = on_top;
    list.lines.push_back(line);
    DrawPoints dot;
    dot.positions = {Vec3f(0.2f, 0.2f, -0.5f)};
    dot.colours = {Vec4f(0, 0, 1, 1)};
    dot.diameter_px = 6;
    dot.on_top = on_top;
    list.points.push_back(dot);
    const Rgba8Image picture = draw(list);
    EXPECT_EQ(picture.at(48, 32).b > 200 && picture.at(48, 32).r < 30, on_top);
    EXPECT_TRUE(picture.at(10, 32).b > 200 && picture.at(10, 32).r < 30);  // beside the card
    const Vec3d at = projectedPoint(frontCamera(), Vec3d(0.2, 0.2, -0.5), 96, 64);
    EXPECT_EQ(picture.at(int(at.x()), int(at.y())).r < 30, on_top);
  }
}

TEST_F(Offscreen, AStrokeThroughTheCameraDoesNotGoWild) {
  DrawList list;
  DrawLines line;
  line.points = {Vec3f(0.1f, 0.1f, 1), Vec3f(0.1f, 0.1f, 30)};  // ends behind the eye
  line.colours = {Vec4f(1, 0, 0, 1)};
  line.width_px = 3;
  list.lines.push_back(line);
  const Rgba8Image picture = draw(list);
  int red = 0;
  for (const Rgba8& p : picture.pixels) red += p.r > 200 && p.g < 60;
  EXPECT_GT(red, 5);
  EXPECT_LT(red, 400);
}

TEST_F(Offscreen, BackFacesAreSeenOnlyWhereDoubleSided) {
  TriMesh square = card();
  for (Triangle& t : square.triangles) std::swap(t[1], t[2]);
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(square));
  list.ground.on = false;
  DrawMaterial& material = list.surfaces[0].parts[0].material;
  material.base_colour = Vec4f(1, 0, 0, 1);
  material.self_lit = 1;
  EXPECT_EQ(draw(list).at(48, 32).g, 0);
  material.double_sided = false;
  EXPECT_GT(int(draw(list).at(48, 32).g), 150);
}

TEST_F(Offscreen, AHalfClearSurfaceShowsWhatIsBehindOnce) {
  const TriMesh cube = shelf::cube();  // two layers, but only the nearest may count
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(cube));
  list.ground.on = false;
  list.background = {{0, 0, 0, 255}, {0, 0, 0, 255}, 0.0f, false};
  DrawMaterial& material = list.surfaces[0].parts[0].material;
  material.base_colour = Vec4f(1, 1, 1, 1);
  material.self_lit = 1;
  list.surfaces[0].opacity = 0.5f;
  EXPECT_NEAR(draw(list).at(48, 32).r, 188, 3);  // half the light of white
}

TEST_F(Offscreen, AThingDarkensTheFloorBelowIt) {
  const TriMesh ball = shelf::sphere(16, 24, 0.5f, Vec3f(0, 0.5f, 0));
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(ball));
  OrbitDesc desc;
  desc.pitch_rad = 0.5;
  const Camera camera = orbitCamera(bounds(ball.positions), desc, 1.5);
  const Rgba8Image with = draw(list, camera);
  list.ground.on = false;
  const Rgba8Image without = draw(list, camera);
  const Vec3d foot = projectedPoint(camera, Vec3d(0, 0, 0.12), 96, 64);
  int darker = 0;
  for (std::size_t i = 0; i < with.pixels.size(); ++i) {
    EXPECT_LE(brightness(with.pixels[i]), brightness(without.pixels[i]) + 1);
    darker += brightness(with.pixels[i]) < brightness(without.pixels[i]) - 25;
  }
  EXPECT_GT(darker, 60);
  EXPECT_GT(foot.z(), 0);
}

TEST_F(Offscreen, EveryShelfMeshCanBeDrawn) {
  for (const shelf::ShelfMesh& m : shelf::all()) {
    SCOPED_TRACE(m.name);
    DrawList list;
    list.surfaces.push_back(drawSurfaceOf(m.mesh));
    const auto picture =
        renderer_->draw(list, orbitCamera(bounds(m.mesh.positions), {}, 1.5), kSmall);
    EXPECT_TRUE(picture.ok()) << picture.error().text();
  }
}

TEST_F(Offscreen, WrongListsSizesAndCamerasAreErrors) {
  const TriMesh cube = shelf::cube();
  DrawList list;
  list.surfaces.push_back(drawSurfaceOf(cube));
  const auto code = [&](const DrawList& l, const Camera& c, const PictureSize& s) {
    const auto result = renderer_->draw(l, c, s);
    EXPECT_FALSE(result.ok());
    return result.ok() ? ErrorCode::Cancelled : result.error().code;
  };
  EXPECT_EQ(code(list, frontCamera(), {0, 10, 1}), ErrorCode::BadArgument);
  EXPECT_EQ(code(list, frontCamera(), {10, 10, 9}), ErrorCode::BadArgument);
  EXPECT_EQ(code(list, frontCamera(), {16384, 16384, 1}), ErrorCode::BadArgument);
  Camera broken = frontCamera();
  broken.eye.x() = NAN;
  EXPECT_EQ(code(list, broken, kSmall), ErrorCode::BadArgument);
  list.surfaces[0].normals = {};
  EXPECT_EQ(code(list, frontCamera(), kSmall), ErrorCode::BadArgument);
}

TEST(OffscreenRenderer, DescriptionsOutOfRangeAreRefused) {
  RendererDesc desc;
  desc.samples = 0;
  EXPECT_FALSE(OffscreenRenderer::create(desc).ok());
  desc = {};
  desc.sky_directions = 1000;
  EXPECT_FALSE(OffscreenRenderer::create(desc).ok());
}

}  // namespace
}  // namespace derm
