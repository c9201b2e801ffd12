#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "derm/deform/flesh.h"
#include "derm/image/colour_map.h"
#include "derm/image/difference.h"
#include "derm/io/png.h"
#include "derm/view/scene_view.h"

/// What a program with a renderer of its own is given: no test here but the last two draws.
namespace derm::scene_drawing_test {
namespace {

/// A wrist with two materials, whose skin is cut finer while it folds.
constexpr const char* kFolds = R"(character = "cast:wrist"
clip = "flex"
fps = 10
[[layer]]
type = "wrinkles"
name = "crease"
from = [0.072, 0.027, 0.0]
to = [0.130, 0.019, 0.0]
width_m = 0.06
)";
constexpr double kStraight_s = 0.0, kFolded_s = 2.8;

ViewDesc small() {
  ViewDesc out;
  out.size = {.width = 160, .height = 120};
  return out;
}

/// Half of the triangles in another colour: pieces must find theirs.
std::shared_ptr<const Character> sleevedWrist() {
  Diagnostics notes;
  Character wrist = openCharacter("cast:wrist", {}, {}, notes).value();
  MeshPart& first = wrist.parts.front();
  MeshPart second = first;
  wrist.materials = {{.name = "skin", .base_colour = {0.8f, 0.5f, 0.4f, 1}},
                     {.name = "sleeve", .base_colour = {0.2f, 0.3f, 0.8f, 1}}};
  first.material = 0;
  second.material = 1;
  second.name = "sleeve";
  first.triangle_count /= 2;
  second.first_triangle = first.triangle_count;
  second.triangle_count -= first.triangle_count;
  wrist.parts.push_back(second);
  wrist.instances.front().part_count = 2;
  return std::make_shared<const Character>(std::move(wrist));
}

Scene folds(Topology topology, std::string_view recipe = kFolds) {
  static const std::shared_ptr<const Character> wrist = sleevedWrist();
  Diagnostics notes;
  SceneOptions options;
  options.character = wrist;
  options.topology = topology;
  return openScene(parseRecipe(recipe, "folds").value(), options, notes).value();
}

SceneView viewOf(Scene& scene, const ViewDesc& desc) {
  Diagnostics notes;
  return SceneView::makeWithoutRenderer(scene, desc, notes).value();
}

/// The triangles that have each material's colour.
std::size_t trianglesIn(const DrawSurface& surface, const Vec4f& colour) {
  std::size_t out = 0;
  for (const DrawPart& part : surface.parts)
    if (part.material.base_colour == colour) out += part.triangle_count;
  return out;
}

/// The weights of one detail map at an instant, and the positions they belong to.
std::vector<float> mapWeights(const SceneDrawing& drawing, std::size_t map) {
  for (const DrawPart& part : drawing.list.surfaces.front().parts)
    if (part.material.detail_maps.size() > map)
      return {part.material.detail_maps[map].weights.begin(),
              part.material.detail_maps[map].weights.end()};
  return {};
}

TEST(SceneDrawing, DetailMapsAreWeightedByPaintControlsAndChannels) {
  Character wrist = *sleevedWrist();
  const std::size_t vertices = wrist.mesh.positions.size();
  wrist.images = {{"lines", "image/png", "", encodePng(Rgba8Image(2, 2))}};
  wrist.controls = {{.name = "frown", .preset = 0.5f}};
  wrist.mesh.groups.push_back({"knuckles", {}, {}});
  for (std::uint32_t v = 0; v < vertices; v += 2) {
    wrist.mesh.groups.back().vertices.push_back(v);
    wrist.mesh.groups.back().strengths.push_back(0.5f);
  }
  wrist.materials[0].detail_maps = {{.image = 0},
                                    {.image = 0, .vertex_group = "knuckles", .control = "frown"},
                                    {.image = 0, .channel = "crease"},
                                    {.image = 0, .channel = "nobody's"}};
  Diagnostics notes;
  SceneOptions options;
  options.character = std::make_shared<const Character>(std::move(wrist));
  for (const Topology topology : {Topology::Constant, Topology::Adaptive}) {
    options.topology = topology;
    Scene scene = openScene(parseRecipe(kFolds, "folds").value(), options, notes).value();
    ASSERT_TRUE(scene.keepChannels(std::array<std::string, 1>{"crease"}).ok());
    SceneView view = viewOf(scene, small());
    const SceneDrawing drawing = view.drawing(kFolded_s).value();
    ASSERT_TRUE(validate(drawing.list).ok()) << validate(drawing.list).error().text();
    EXPECT_TRUE(mapWeights(drawing, 0).empty());
    const std::vector<float> painted = mapWeights(drawing, 1);
    ASSERT_EQ(painted.size(), drawing.list.surfaces.front().positions.size());
    for (std::size_t v = 0; v < vertices; ++v) EXPECT_EQ(painted[v], v % 2 == 0 ? 0.25f : 0.0f);
    EXPECT_GT(
        *std::max_element(painted.begin() + static_cast<std::ptrdiff_t>(vertices), painted.end()),
        0);
    const std::span<const float> channel = scene.playback().frameAt(kFolded_s).channel("crease");
    EXPECT_TRUE(std::ranges::equal(mapWeights(drawing, 2), channel));
    EXPECT_GT(*std::max_element(channel.begin(), channel.end()), 0);
    const std::vector<float> unknown = mapWeights(drawing, 3);
    EXPECT_EQ(std::count(unknown.begin(), unknown.end(), 0.0f), std::ssize(unknown));
  }
}

TEST(SceneDrawing, HasTheSurfaceOfTheInstantWithItsMaterials) {
  Scene scene = folds(Topology::Constant);
  SceneView view = viewOf(scene, small());
  const SceneDrawing drawing = view.drawing(kFolded_s).value();
  ASSERT_TRUE(validate(drawing.list).ok()) << validate(drawing.list).error().text();
  ASSERT_EQ(drawing.list.surfaces.size(), 1u);
  const DrawSurface& surface = drawing.list.surfaces.front();
  const SkinFrame& frame = scene.playback().frameAt(kFolded_s);
  EXPECT_TRUE(std::ranges::equal(surface.positions, frame.positions()));
  EXPECT_TRUE(std::ranges::equal(surface.normals, frame.normals()));
  EXPECT_TRUE(std::ranges::equal(surface.triangles, frame.triangles()));
  const auto& materials = scene.character()->materials;
  EXPECT_GT(trianglesIn(surface, materials[0].base_colour), 0u);
  EXPECT_EQ(trianglesIn(surface, materials[0].base_colour) +
                trianglesIn(surface, materials[1].base_colour),
            surface.triangles.size());
  EXPECT_TRUE(drawing.list.stage.has_value());
  EXPECT_FALSE(drawing.legend.has_value());
}

TEST(SceneDrawing, HasTheOverlaysAskedFor) {
  Scene scene = folds(Topology::Constant);
  ViewDesc desc = small();
  desc.skeleton = desc.wireframe = desc.field = true;
  desc.displacement_mm = 0.0f;
  SceneView view = viewOf(scene, desc);
  const SceneDrawing drawing = view.drawing(kFolded_s).value();
  EXPECT_EQ(drawing.list.surfaces.size(), 2u) << "the skin and the bones";
  EXPECT_EQ(drawing.list.lines.size(), 2u) << "edges and strokes";
  EXPECT_FALSE(drawing.list.surfaces.front().colours.empty());
  EXPECT_TRUE(drawing.legend.has_value());
}

TEST(SceneDrawing, StrokesLongerThanTheFigureAreInThePicture) {
  Scene scene = folds(Topology::Constant);
  ViewDesc desc = small();
  desc.field = true;
  desc.field_scale = 60;
  SceneView view = viewOf(scene, desc);
  const SceneDrawing drawing = view.drawing(kFolded_s).value();
  ASSERT_EQ(drawing.list.lines.size(), 1u);
  ASSERT_FALSE(drawing.list.lines[0].points.empty());
  for (const Vec3f& p : drawing.list.lines[0].points) {
    const Vec3d at = projectedPoint(drawing.camera, p.cast<double>(), 160, 120);
    ASSERT_GT(at.z(), 0);
    EXPECT_TRUE(at.x() >= 0 && at.x() <= 160 && at.y() >= 0 && at.y() <= 120) << at.transpose();
  }
}

TEST(SceneDrawing, TrianglesOfAnAdaptiveSurfaceAreThoseOfTheInstant) {
  Scene scene = folds(Topology::Adaptive);
  SceneView view = viewOf(scene, small());
  const TriMesh& whole = scene.character()->mesh;
  const BoundSurface& finest = scene.stack().output();
  std::size_t count[2] = {0, 0};
  for (const double time_s : {kStraight_s, kFolded_s}) {
    const SceneDrawing drawing = view.drawing(time_s).value();
    ASSERT_TRUE(validate(drawing.list).ok()) << validate(drawing.list).error().text();
    const DrawSurface& surface = drawing.list.surfaces.front();
    count[time_s == kFolded_s] = surface.triangles.size();
    // Each part's share of the area is what it was.
    const Vec4f sleeve = scene.character()->materials[1].base_colour;
    std::size_t pieces = 0;
    const SkinFrame& frame = scene.playback().frameAt(time_s);
    const std::uint32_t first = scene.character()->parts[1].first_triangle;
    for (std::size_t t = 0; t < frame.triangles().size(); ++t)
      pieces += (frame.sourceTriangles().empty() ? t : frame.sourceTriangles()[t]) >= first;
    EXPECT_EQ(trianglesIn(surface, sleeve), pieces) << time_s;
  }
  EXPECT_EQ(count[0], whole.triangles.size()) << "nothing folds: nothing is cut";
  EXPECT_GT(count[1], whole.triangles.size());
  EXPECT_LE(count[1], finest.rest.triangles.size());
}

/// Heat-maps, strokes and diagrams are made for the vertices and triangles of the instant.
TEST(SceneDrawing, EveryOverlayFitsAnAdaptiveSurface) {
  Scene scene = folds(Topology::Adaptive);
  std::vector<ViewDesc> descs(6, small());
  descs[0].weights = scene.character()->skeleton.joints.back().name;
  descs[1].displacement_mm = 0.0f;
  descs[2].channel = "crease";
  descs[3].field = true;
  descs[4].wireframe = true;
  descs[5].diagram = Diagram::Levels;
  for (std::size_t i = 0; i < descs.size(); ++i) {
    SceneView view = viewOf(scene, descs[i]);
    for (const double time_s : {kStraight_s, kFolded_s, kStraight_s}) {
      const SceneDrawing drawing = view.drawing(time_s).value();
      ASSERT_TRUE(validate(drawing.list).ok())
          << i << ": " << validate(drawing.list).error().text();
      const DrawSurface& surface = drawing.list.surfaces.front();
      EXPECT_EQ(surface.triangles.size(), scene.playback().frameAt(time_s).triangles().size()) << i;
    }
  }
}

/// Of two folds on either side of the wrist one is flat, and vertices of its cut are there though
/// no triangle uses them. They lie anywhere and must not set the scale.
TEST(SceneDrawing, DisplacementsOfUnusedVerticesDoNotCount) {
  constexpr std::string_view kBoth =
      "character = \"cast:wrist\"\nclip = \"flex\"\n"
      "[[layer]]\ntype = \"wrinkles\"\nname = \"above\"\nwidth_m = 0.02\n"
      "from = [0.072, 0.027, 0.0]\nto = [0.130, 0.019, 0.0]\n"
      "[[layer]]\ntype = \"wrinkles\"\nname = \"below\"\nwidth_m = 0.02\n"
      "from = [0.072, -0.027, 0.0]\nto = [0.130, -0.019, 0.0]\n";
  ViewDesc desc = small();
  desc.displacement_mm = 0.0f;
  Scene constant = folds(Topology::Constant, kBoth), adaptive = folds(Topology::Adaptive, kBoth);
  SceneView fine = viewOf(constant, desc), view = viewOf(adaptive, desc);
  const SceneDrawing drawing = view.drawing(kFolded_s).value();
  const DrawSurface& surface = drawing.list.surfaces.front();
  std::vector<char> used(surface.positions.size(), 0);
  for (const Triangle& t : surface.triangles)
    for (const std::uint32_t v : t) used[v] = 1;
  EXPECT_GT(std::count(used.begin(), used.end(), 0), 20);
  for (std::size_t v = 0; v < used.size(); ++v)
    if (used[v] == 0) {
      ASSERT_EQ(surface.colours[v], zeroColour()) << v;
    }
  EXPECT_EQ(fine.drawing(kFolded_s).value().legend, drawing.legend);
}

/// Another skinning of a part that does not bend differs from linear skinning by rounding alone.
TEST(SceneDrawing, RoundingIsNotDrawnAsMotion) {
  constexpr std::string_view kLinear = "character = \"cast:wrist\"\nclip = \"flex\"\n";
  Scene linear = folds(Topology::Constant, kLinear);
  Scene centre =
      folds(Topology::Constant, std::string(kLinear) + "[skinning]\nmethod = \"centre\"\n");
  ViewDesc desc = small();
  desc.displacement_mm = 0.0f;
  const SceneDrawing drawing = viewOf(centre, desc).drawing(kFolded_s).value();
  const DrawSurface& surface = drawing.list.surfaces.front();
  const std::span<const Vec3f> before = linear.playback().frameAt(kFolded_s).positions();
  std::size_t moved = 0, rounded = 0;
  for (std::size_t v = 0; v < before.size(); ++v) {
    const bool zero = surface.colours[v] == zeroColour();
    moved += zero ? 0 : 1;
    rounded += zero && surface.positions[v] != before[v] ? 1 : 0;
  }
  EXPECT_GT(moved, 100u);
  EXPECT_GT(rounded, 100u);
}

/// A sword that hangs on one joint and points into the floor does not lift the character's feet.
TEST(SceneDrawing, TheFloorIsUnderTheBodyAndNotUnderAProp) {
  Diagnostics notes;
  Character armed = openCharacter("cast:mushroom", {}, {}, notes).value();
  TriMesh& mesh = armed.mesh;
  double low = 1e9;
  for (const Vec3f& p : mesh.positions) low = std::min(low, static_cast<double>(p.y()));
  const auto first = static_cast<std::uint32_t>(mesh.positions.size());
  const auto triangle = static_cast<std::uint32_t>(mesh.triangles.size());
  for (const Vec3f& p : {Vec3f(0, -0.5f, 0), Vec3f(0.1f, 0.2f, 0), Vec3f(0, 0.2f, 0.1f)}) {
    mesh.positions.push_back(p);
    if (!mesh.normals.empty()) mesh.normals.push_back(Vec3f::UnitX());
    if (!mesh.tangents.empty()) mesh.tangents.push_back({1, 0, 0, 1});
    if (!mesh.uvs.empty()) mesh.uvs.push_back({0, 0});
    if (!mesh.colours.empty()) mesh.colours.push_back({1, 1, 1, 1});
    armed.skin.influences.push_back({.slot = 0, .weight = 1});
    armed.skin.offsets.push_back(static_cast<std::uint32_t>(armed.skin.influences.size()));
  }
  mesh.triangles.push_back({first, first + 1, first + 2});
  MeshPart blade = armed.parts.front();
  blade.first_vertex = first;
  blade.vertex_count = 3;
  blade.first_triangle = triangle;
  blade.triangle_count = 1;
  MeshInstance sword;
  sword.name = "sword";
  sword.joint = JointId(0);
  sword.rigid = true;
  sword.first_part = static_cast<std::uint32_t>(armed.parts.size());
  sword.part_count = 1;
  sword.first_vertex = first;
  sword.vertex_count = 3;
  sword.first_morph = static_cast<std::uint32_t>(armed.morphs.size());
  armed.parts.push_back(blade);
  armed.instances.push_back(sword);
  SceneOptions options;
  options.character = std::make_shared<const Character>(std::move(armed));
  Scene scene =
      openScene(parseRecipe("character = \"cast:mushroom\"\nclip = \"\"\n", "armed").value(),
                options, notes)
          .value();
  const SceneDrawing drawing = viewOf(scene, small()).drawing(0).value();
  ASSERT_TRUE(drawing.list.ground.height_m.has_value());
  EXPECT_NEAR(static_cast<double>(*drawing.list.ground.height_m), low, 1e-5);
}

TEST(SceneDrawing, AChannelIsAHeatMapWhoseZeroIsApart) {
  for (const Topology topology : {Topology::Constant, Topology::Adaptive}) {
    Scene scene = folds(topology);
    ViewDesc desc = small();
    desc.channel = "crease";
    SceneView view = viewOf(scene, desc);
    const SceneDrawing drawing = view.drawing(kFolded_s).value();
    const std::span<const Vec4f> colours = drawing.list.surfaces.front().colours;
    const SkinFrame& frame = scene.playback().frameAt(kFolded_s);
    const std::span<const float> mask = frame.channel("crease");
    ASSERT_GT(frame.vertexCount(), scene.character()->mesh.vertexCount()) << "refined";
    ASSERT_EQ(colours.size(), mask.size());
    std::size_t shown = 0;
    for (std::size_t v = 0; v < mask.size(); ++v) {
      ASSERT_EQ(colours[v] == zeroColour(), mask[v] == 0) << v;
      if (mask[v] > 0) {
        ++shown;
        ASSERT_EQ(colours[v], mapColour(mask[v])) << v;
      }
    }
    EXPECT_GT(shown, 100u);
    EXPECT_LT(shown, mask.size());
    EXPECT_TRUE(drawing.legend.has_value());
  }
}

TEST(SceneDrawing, TheScaleOfAChannelCanBeSet) {
  Scene scene = folds(Topology::Constant);
  ViewDesc desc = small();
  desc.channel = "crease";
  desc.channel_max = 4.0f;
  SceneView view = viewOf(scene, desc);
  const SceneDrawing drawing = view.drawing(kFolded_s).value();
  const SkinFrame& frame = scene.playback().frameAt(kFolded_s);
  const std::span<const float> mask = frame.channel("crease");
  const auto most = std::max_element(mask.begin(), mask.end());
  EXPECT_EQ(drawing.list.surfaces.front().colours[std::size_t(most - mask.begin())],
            mapColour(*most / 4));
}

// A cylinder bent about y, corrected along x alone: what moves is red, what does not is dark.
TEST(SceneDrawing, ACorrectionAlongOneAxisHasItsColour) {
  Diagnostics notes;
  const Recipe recipe = parseRecipe(
                            "character = \"cast:cylinder\"\nclip = \"bend\"\n[skinning]\nmethod "
                            "= \"linear\"\n[[layer]]\ntype = \"volume\"\nmethod = "
                            "\"axes-exact\"\nregions = \"whole\"\nmask = \"everywhere\"\n"
                            "axis_shares = [1, 0, 0]\n",
                            "r")
                            .value();
  Scene scene = openScene(recipe, {}, notes).value();
  ViewDesc desc = small();
  desc.diagram = Diagram::Correction;
  SceneView view = SceneView::makeWithoutRenderer(scene, desc, notes).value();
  const SceneDrawing drawing = view.drawing(3.0).value();
  ASSERT_EQ(drawing.list.surfaces.size(), 1u);
  float red = 0, others = 0;
  for (const Vec4f& c : drawing.list.surfaces[0].colours) {
    red = std::max(red, c.x());
    others = std::max({others, c.y(), c.z()});
  }
  EXPECT_NEAR(red, 1, 1e-5);
  EXPECT_LT(others, 0.05f);
  EXPECT_TRUE(drawing.legend.has_value());
}

TEST(SceneDrawing, WeightsOfJointsMixTheirColours) {
  Diagnostics notes;
  Scene scene =
      openScene(parseRecipe("character = \"cast:cylinder\"\n", "r").value(), {}, notes).value();
  ViewDesc desc = small();
  desc.diagram = Diagram::Weights;
  SceneView view = SceneView::makeWithoutRenderer(scene, desc, notes).value();
  const SceneDrawing drawing = view.drawing(0.0).value();
  const Skin& skin = scene.character()->skin;
  const auto& colours = drawing.list.surfaces.at(0).colours;
  ASSERT_EQ(colours.size(), skin.vertexCount());
  // The ends follow one joint each; half way the colour lies between theirs.
  const Vec4f first = colours[0], last = colours[24 * 25];
  const Vec4f middle = colours[12 * 25];
  EXPECT_GT((first - last).norm(), 0.2f);
  EXPECT_NEAR((middle - 0.5f * (first + last)).norm(), 0, 0.02);
}

TEST(SceneDrawing, FleshHasItsBoneAndBothFrames) {
  Diagnostics notes;
  Scene scene =
      openScene(parseRecipe("character = \"cast:mushroom\"\nclip = \"hop\"\n[[layer]]\ntype = "
                            "\"flesh\"\nname = \"all\"\ndominant = \"foot\"\nends = "
                            "[\"cap\"]\n",
                            "r")
                    .value(),
                {}, notes)
          .value();
  ViewDesc desc = small();
  desc.diagram = Diagram::Flesh;
  SceneView view = SceneView::makeWithoutRenderer(scene, desc, notes).value();
  const SceneDrawing drawing = view.drawing(0.8).value();
  ASSERT_EQ(drawing.list.lines.size(), 3u);  // the bone, three axes at rest, three that swing
  ASSERT_EQ(drawing.list.points.size(), 2u);
  const Vec3f rest = drawing.list.points[0].positions.at(0);
  const Vec3f swinging = drawing.list.points[1].positions.at(0);
  EXPECT_GT((rest - swinging).norm(), 1e-4f);
  const auto* layer = scene.playback().find<FleshLayer>("all");
  ASSERT_NE(layer, nullptr);
  // The frame shows the mix of two inner steps, the layer tells the last.
  EXPECT_NEAR((swinging - rest).norm() / layer->elongation_m().norm(), 1, 0.1);
}

TEST(SceneDrawing, AnUnknownChannelIsAnErrorThatNamesTheNearest) {
  Scene scene = folds(Topology::Constant);
  Diagnostics notes;
  ViewDesc desc = small();
  desc.channel = "craese";
  const Result<SceneView> view = SceneView::makeWithoutRenderer(scene, desc, notes);
  ASSERT_FALSE(view.ok());
  EXPECT_NE(view.error().text().find("did you mean \"crease\""), std::string::npos)
      << view.error().text();
  desc.channel = "crease";
  desc.displacement_mm = 0.0f;
  EXPECT_FALSE(SceneView::makeWithoutRenderer(scene, desc, notes).ok()) << "two heat-maps";
}

TEST(SceneDrawing, WithoutARendererThereAreDrawingsButNoPictures) {
  Scene scene = folds(Topology::Constant);
  SceneView view = viewOf(scene, small());
  EXPECT_TRUE(view.drawing(kFolded_s).ok());
  const Result<Rgba8Image> picture = view.picture(kFolded_s);
  ASSERT_FALSE(picture.ok());
  EXPECT_EQ(picture.error().code, ErrorCode::Unsupported);
}

class DrawnSceneTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto renderer = OffscreenRenderer::create();
    if (!renderer) GTEST_SKIP() << renderer.error().text();
  }
  Rgba8Image picture(Scene& scene, const ViewDesc& desc, double time_s) {
    Diagnostics notes;
    SceneView view = SceneView::make(scene, desc, notes).value();
    return view.picture(time_s).value();
  }
};

TEST_F(DrawnSceneTest, ADrawingIsWhatThePictureShows) {
  Scene scene = folds(Topology::Constant);
  ViewDesc desc = small();
  desc.skeleton = true;
  const Rgba8Image own = picture(scene, desc, kFolded_s);
  SceneView view = viewOf(scene, desc);
  const SceneDrawing drawing = view.drawing(kFolded_s).value();
  OffscreenRenderer renderer = OffscreenRenderer::create().value();
  EXPECT_EQ(renderer.draw(drawing.list, drawing.camera, desc.size).value(), own);
}

/// All triangles are cut that fold: the same picture, from fewer triangles elsewhere.
TEST_F(DrawnSceneTest, AnAdaptiveSurfaceLooksAsTheFinestDoes) {
  Scene constant = folds(Topology::Constant), adaptive = folds(Topology::Adaptive);
  std::vector<ViewDesc> descs(4, small());
  descs[1].comparison = Comparison::Split;
  descs[2].comparison = Comparison::Ghost;
  descs[3].comparison = Comparison::SideBySide;
  descs[3].channel = "crease";
  for (std::size_t i = 0; i < descs.size(); ++i)
    for (const double time_s : {kStraight_s, kFolded_s}) {
      const ImageDifference difference =
          compareImages(picture(constant, descs[i], time_s), picture(adaptive, descs[i], time_s))
              .value();
      EXPECT_LT(difference.mean, 0.5) << i << " at " << time_s;
    }
}

}  // namespace
}  // namespace derm::scene_drawing_test
