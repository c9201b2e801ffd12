#include "derm/view/scene_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "derm/image/colour_map.h"
#include "derm/image/compose.h"
#include "derm/image/role_colours.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

#include "view/captions.h"
#include "view/framing.h"
#include "view/layer_diagram.h"
#include "view/point_labels.h"

namespace derm {
namespace {

constexpr std::string_view kBeforeLabel = "linear skinning";
constexpr std::string_view kAfterLabel = "derm";
constexpr float kLabelGap_px = 6;
constexpr int kLegendMargin_px = 14;
constexpr int kLegendHeight_px = 240;
/// Channels whose largest number lies between this and 1 are taken for masks, on a scale to 1.
constexpr float kLeastShareOfOne = 0.1f;
/// Of a coordinate: what two ways to the same point may differ by in float.
constexpr float kRounding = 2e-6f;
// Stand for any instant's numbers where room is made for them.
constexpr double kUsualTime_s = 0.5;
constexpr float kUsualMove_mm = 12.5f;
constexpr float kFieldWidth_px = 2.4f;
/// Between strokes; of those nearer to each other the longest is shown.
constexpr float kFieldSpacing_px = 12.0f;
constexpr int kShapeFactor = 2;  ///< shapes for outlines are so many times larger
constexpr Rgba8 kOutlineColour = {44, 46, 52, 255};
constexpr float kOutlineWidth_px = 2.2f;
const Vec4f kGhostColour(0.10f, 0.30f, 0.85f, 1.0f);  ///< blue, light enough for dark strokes
const Vec4f kGhostStrokes(0.9f, 0.9f, 0.95f, 1.0f);   ///< of a field on that blue
constexpr std::uint8_t kBeyondAlpha = 200;  ///< of the grey where linear skinning sticks out

/// The next number whose quarters are short to write: 1, 2, 4 or 8 times a power of ten.
float roundedUp(float value) {
  if (!(value > 0) || !std::isfinite(value)) return 1.0f;
  const float power = std::pow(10.0f, std::floor(std::log10(value)));
  for (const float step : {1.0f, 2.0f, 4.0f, 8.0f})
    if (value <= step * power) return step * power;
  return 10 * power;
}

/// "derm" beside "linear skinning", where both are in one picture.
LabelStyle afterStyle() {
  const ClipRect first = labelPlate(1, 1, kBeforeLabel, Corner::TopLeft);
  return {.plate = kAfterColour, .inwards_px = first.right - first.left + kLabelGap_px};
}

/// 0 where there is none above.
float largestOf(std::span<const float> values) {
  float most = 0;
  for (const float value : values) most = std::max(most, value);
  return most;
}

/// Meshes that bend, where there are others too: the rest are props. Layers put what they add
/// behind a character's own vertices.
std::vector<MeshInstance> bodyMeshes(const Character& character) {
  std::vector<MeshInstance> out;
  for (const MeshInstance& instance : character.instances)
    if (!instance.rigid) out.push_back(instance);
  if (out.size() == character.instances.size()) out.clear();
  return out;
}

Bounds moved(const Bounds& box, const Vec3f& by) {
  return box.empty() ? box : Bounds{.low = box.low + by, .high = box.high + by};
}

}  // namespace

/// What is needed of one instant; valid until the scene plays on.
struct SceneView::Instant {
  const SkinFrame& after;
  const SkinFrame* before;  ///< null where nothing is compared
  /// Where a following camera looks, on the floor plane; else the origin.
  Vec3f position;
  std::optional<Vec3d> focus;  ///< where the joint is that the camera looks at

  /// [mm] how far the result is from linear skinning, per vertex; 0 where no triangle of this
  /// instant uses it, and for differences that are rounding. Requires `before`.
  std::vector<float> moved_mm() const {
    std::vector<float> out(after.vertexCount(), 0.0f);
    const auto measure = [&](std::size_t v) {
      const Vec3f from = before->positions()[v];
      const float way = (after.positions()[v] - from).norm();
      if (way > kRounding * from.cwiseAbs().maxCoeff()) out[v] = 1000 * way;
    };
    if (after.topology() == 0)
      for (std::size_t v = 0; v < out.size(); ++v) measure(v);
    else
      for (const Triangle& t : after.triangles())
        for (const std::uint32_t v : t) measure(v);
    return out;
  }

  /// Where strokes from linear skinning end that are so many times as long as the displacement.
  /// Requires `before`.
  std::vector<Vec3f> strokeEnds(float scale) const {
    std::vector<Vec3f> out(after.vertexCount());
    for (std::size_t v = 0; v < out.size(); ++v) {
      const Vec3f& from = before->positions()[v];
      out[v] = from + scale * (after.positions()[v] - from);
    }
    return out;
  }
};

/// A camera and the picture it takes.
struct SceneView::Shot {
  Camera camera;
  PictureSize size;
};

SceneView::SceneView(Scene& scene, const ViewDesc& desc, Diagnostics& notes)
    : scene_(&scene), desc_(desc), look_(*scene.character(), scene.stack().output(), notes) {}

Result<SceneView> SceneView::make(Scene& scene, const ViewDesc& desc, Diagnostics& notes) {
  DERM_TRY(SceneView view, makeWithoutRenderer(scene, desc, notes));
  DERM_TRY(view.renderer_, OffscreenRenderer::create(
                               {.lighting = desc.quick ? Lighting::Quick : Lighting::Studio}));
  return view;
}

namespace {

/// "gamma" is the channel of the first volume layer.
Result<ViewDesc> withGammaAsChannel(const Scene& scene, ViewDesc desc) {
  if (desc.diagram != Diagram::Gamma) return desc;
  for (const std::shared_ptr<const LayerBinding>& binding : scene.stack().layers())
    if (binding->type() == "volume") {
      desc.channel = binding->name();
      desc.diagram = Diagram::None;
      return desc;
    }
  return Error{ErrorCode::BadArgument,
               "gamma is a volume layer's: there is none",
               {.element = scene.character()->name}};
}

}  // namespace

Result<SceneView> SceneView::makeWithoutRenderer(Scene& scene, const ViewDesc& given,
                                                 Diagnostics& notes) {
  DERM_TRY(const ViewDesc desc, withGammaAsChannel(scene, given));
  const Character& character = *scene.character();
  std::vector<float> weights;
  const int heat_maps = int(desc.weights.has_value()) + int(desc.displacement_mm.has_value()) +
                        int(desc.channel.has_value());
  if (heat_maps > 1)
    return Error{
        ErrorCode::BadArgument, "weights, displacement and channel are heat-maps: show one", {}};
  if (desc.channel) DERM_CHECK(scene.keepChannels(std::array{*desc.channel}));
  if (desc.weights) {
    if (!character.hasSkin())
      return Error{ErrorCode::BadArgument,
                   "has no skin, so no weights to show",
                   {.element = character.name}};
    DERM_TRY(const JointId joint, character.skeleton.named(*desc.weights));
    weights = weightsOfJoint(scene.stack().output().skin, joint);
  }
  std::shared_ptr<const detail::LayerDiagram> diagram;
  if (desc.diagram != Diagram::None) {
    if (heat_maps > 0) return Error{ErrorCode::BadArgument, "heat-maps and diagrams: show one", {}};
    DERM_TRY(detail::LayerDiagram made, detail::LayerDiagram::make(scene, desc.diagram));
    diagram = std::make_shared<const detail::LayerDiagram>(std::move(made));
  }
  if (desc.points && character.points.empty())
    notes.warn("no-points", character.name, "has no labelled points to show");
  std::optional<JointId> focus;
  if (desc.focus) {
    DERM_TRY(focus, character.skeleton.named(*desc.focus));
  }
  SceneView view(scene, desc, notes);
  view.weights_ = std::move(weights);
  view.diagram_ = std::move(diagram);
  view.focus_ = focus;
  if (desc.comparison != Comparison::None || desc.field || desc.displacement_mm ||
      desc.diagram == Diagram::Correction) {
    DERM_TRY(std::shared_ptr<const Stack> plain, scene.linearReferenceStack());
    view.plain_.emplace(std::move(plain));
  }
  return view;
}

SceneView::Instant SceneView::instantAt(double time_s) {
  const SkinFrame& after = scene_->playback().frameAt(time_s);
  const SkinFrame* before = plain_ ? &plain_->evaluate(scene_->playback().pose(), time_s) : nullptr;
  Vec3f position = Vec3f::Zero();
  if (desc_.follow) {
    // The plain mean of the vertices: smooth in time, unlike the middle of their box.
    position = centroid(after.positions()).cast<float>();
    position.y() = 0;
  }
  std::optional<Vec3d> focus;
  if (focus_) focus = scene_->playback().model()[focus_->index()].translation();
  return {.after = after, .before = before, .position = position, .focus = focus};
}

Result<void> SceneView::aimAt(std::span<const double> times_s, const Progress& progress) {
  Bounds stage;
  FarthestPoints outline;
  std::optional<float> floor;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    if (!keepGoing(progress, static_cast<double>(i) / static_cast<double>(times_s.size()),
                   "framing"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    const Instant instant = instantAt(times_s[i]);
    const std::span<const Vec3f> positions = instant.after.positions();
    stage = united(stage, moved(bounds(positions), -instant.position));
    outline.add(positions, -instant.position);
    if (desc_.field) {
      outline.add(instant.before->positions(), -instant.position);
      outline.add(instant.strokeEnds(desc_.field_scale), -instant.position);
    }
    // The floor is under the feet, not under a sword that hangs lower.
    for (const MeshInstance& body : bodyMeshes(*scene_->character()))
      for (const Vec3f& p : positions.subspan(body.first_vertex, body.vertex_count))
        floor = std::min(floor.value_or(p.y()), p.y());
  }
  stage_ = stage;
  floor_m_ = floor;
  outline_ = std::move(outline);
  return {};
}

/// What will lie on a picture, the same for all instants, or the camera would move with their
/// numbers. Pairs have both labels in each half, so that both are seen by the same camera.
std::vector<ClipRect> SceneView::plates(const PictureSize& size) const {
  std::vector<ClipRect> out;
  const auto label = [&](std::string_view text, Corner corner, const LabelStyle& style = {}) {
    if (!text.empty()) out.push_back(labelPlate(size.width, size.height, text, corner, style));
  };
  if (desc_.comparison == Comparison::None) {
    label(desc_.label, Corner::TopLeft);
  } else if (desc_.labels) {
    const bool in_one = desc_.comparison == Comparison::Ghost;
    label(kBeforeLabel, Corner::TopLeft);
    label(kAfterLabel, in_one ? Corner::TopLeft : Corner::TopRight,
          in_one ? afterStyle() : LabelStyle());
  }
  label(captionOf(kUsualTime_s, kUsualMove_mm), detail::kCaptionCorner, detail::kCaptionStyle);
  if (const auto legend = legendOf(fullHeat(kUsualMove_mm), size.height))
    out.push_back({float(kLegendMargin_px), float(legendTop(size.height, legend->height)),
                   float(kLegendMargin_px + legend->width),
                   float(legendTop(size.height, legend->height) + legend->height)});
  return out;
}

std::optional<Rgba8Image> SceneView::legendOf(float full, int height_px) const {
  const int height = std::clamp(height_px / 2, 80, kLegendHeight_px);
  if (desc_.weights) return heatLegend("weight of " + *desc_.weights, full, height);
  if (desc_.displacement_mm) return heatLegend("moved, mm", full, height);
  if (desc_.channel) return heatLegend(*desc_.channel, full, height);
  if (diagram_) return diagram_->legend();
  return std::nullopt;
}

/// The number per vertex that is shown as a heat-map; none where there is no such map.
std::vector<float> SceneView::heatOf(const Instant& instant) const {
  const std::size_t n = instant.after.vertexCount();
  if (desc_.displacement_mm) return instant.moved_mm();
  if (desc_.weights) return {weights_.begin(), weights_.begin() + static_cast<std::ptrdiff_t>(n)};
  if (!desc_.channel) return {};
  std::vector<float> out(n, 0.0f);  // an edit may have taken the layer away
  const std::span<const float> channel = instant.after.channel(*desc_.channel);
  std::copy(channel.begin(), channel.end(), out.begin());
  return out;
}

/// What the heat-map's last colour stands for in a picture whose largest number that is.
float SceneView::fullHeat(float largest) const {
  if (desc_.displacement_mm)
    return *desc_.displacement_mm > 0 ? *desc_.displacement_mm : roundedUp(largest);
  if (!desc_.channel) return 1.0f;
  if (desc_.channel_max > 0) return desc_.channel_max;
  return largest >= kLeastShareOfOne && largest <= 1 ? 1.0f : roundedUp(largest);
}

/// [px] Where the legend starts: in the lower left corner, above what is written there.
int SceneView::legendTop(int height_px, int legend_px) const {
  const std::string caption = captionOf(kUsualTime_s, kUsualMove_mm);
  const int below = caption.empty()
                        ? height_px
                        : static_cast<int>(labelPlate(1, height_px, caption, detail::kCaptionCorner,
                                                      detail::kCaptionStyle)
                                               .top);
  return below - kLegendMargin_px - legend_px;
}

/// The words in the lower left corner; none where there is nothing to say.
std::string SceneView::captionOf(double time_s, float max_mm) const {
  std::string out = desc_.times ? detail::timeCaption(time_s) : "";
  if (desc_.displacement_mm || desc_.diagram == Diagram::Correction)
    out += (out.empty() ? "" : ", ") + detail::moveCaption(max_mm);
  return out;
}

SceneView::Shot SceneView::shotOf(const Instant& instant, int width_px) const {
  Shot shot{.camera = {}, .size = desc_.size};
  shot.size.width = width_px;
  OrbitDesc orbit = desc_.orbit;
  if (!instant.focus && orbit.zoom <= 1)
    orbit.keep_free = detail::roomFor(plates(shot.size), outline(), orbit, shot.size);
  shot.camera =
      orbitCamera(outline(), orbit, static_cast<double>(width_px) / std::max(shot.size.height, 1));
  Vec3d shift = instant.position.cast<double>();
  if (instant.focus) shift = *instant.focus - shot.camera.target;
  shot.camera.eye += shift;
  shot.camera.target += shift;
  return shot;
}

/// Linear skinning has the triangles of the announced surface; it is drawn with those of the
/// result.
DrawSurface SceneView::surfaceOf(DrawList& list, const SkinFrame& frame,
                                 const Instant& instant) const {
  DrawSurface surface = look_.surfaceOf(instant.after, scene_->playback().pose().controls, list);
  if (&frame != &instant.after) {
    surface.positions = frame.positions().first(surface.positions.size());
    surface.normals = frame.normals().first(surface.normals.size());
  }
  if (surface.normals.empty()) {
    TriMesh shaded;
    shaded.normals = areaWeightedNormals(surface.positions, surface.triangles,
                                         weldMap(surface.positions, surface.triangles));
    surface.normals = list.keep(std::move(shaded)).normals;
  }
  return surface;
}

void SceneView::addSurface(DrawList& list, const SkinFrame& frame, const Instant& instant) const {
  DrawSurface surface = surfaceOf(list, frame, instant);
  if (const std::vector<float> heat = heatOf(instant); !heat.empty())
    showHeatMap(list, surface, heat, fullHeat(largestOf(heat)));
  if (desc_.wireframe) addWireframe(list, surface.positions, surface.triangles);
  if (diagram_)
    diagram_->add(list, std::move(surface), instant.after, instant.before, *scene_);
  else
    list.surfaces.push_back(std::move(surface));
}

void SceneView::addOverlays(DrawList& list, const Instant& instant, const Shot& shot) const {
  if (desc_.skeleton)
    addSkeleton(list, skeletonJoints(*scene_->character(), scene_->playback().model()));
  if (desc_.field) addField(list, instant, shot);
}

/// Strokes must be seen through the skin, which they often lie under; those on the far side must
/// not, or a dense mesh becomes one blue blot. For the same reason there is one stroke per patch of
/// the picture: the longest of those that start there.
void SceneView::addField(DrawList& list, const Instant& instant, const Shot& shot) const {
  const Vec3f to_eye = directionToEye(desc_.orbit).cast<float>();
  const std::vector<float> lengths = instant.moved_mm();
  std::map<std::array<int, 2>, std::size_t> longest;
  for (std::size_t v = 0; v < lengths.size(); ++v) {
    if (!(lengths[v] > 0)) continue;
    if (!instant.after.normals().empty() && instant.after.normals()[v].dot(to_eye) < 0) continue;
    const Vec3d at = projectedPoint(shot.camera, instant.before->positions()[v].cast<double>(),
                                    shot.size.width, shot.size.height);
    if (!(at.z() > 0)) continue;
    const std::array<int, 2> patch = {static_cast<int>(std::floor(at.x() / kFieldSpacing_px)),
                                      static_cast<int>(std::floor(at.y() / kFieldSpacing_px))};
    const auto [shown, is_first] = longest.try_emplace(patch, v);
    if (!is_first && lengths[v] > lengths[shown->second]) shown->second = v;
  }
  std::vector<Vec3f> before;
  std::vector<Vec3f> after;
  for (const auto& [patch, v] : longest) {
    before.push_back(instant.before->positions()[v]);
    after.push_back(instant.after.positions()[v]);
  }
  FieldStyle style;
  if (desc_.comparison == Comparison::Ghost) style.colour = kGhostStrokes;
  style.width_px = kFieldWidth_px;
  style.scale = desc_.field_scale;
  style.on_top = true;
  addDisplacementField(list, before, after, style);
}

/// The result with all overlays.
DrawList SceneView::listOf(const Instant& instant, const Shot& shot) const {
  DrawList list;
  addSurface(list, instant.after, instant);
  addOverlays(list, instant, shot);
  return list;
}

Result<Rgba8Image> SceneView::draw(DrawList list, const Instant& instant, const Shot& shot) {
  if (!renderer_) return Error{ErrorCode::Unsupported, "the view was made without a renderer", {}};
  list.stage = moved(*stage_, instant.position);
  list.ground.height_m = floor_m_;
  return renderer_->draw(list, shot.camera, shot.size);
}

/// Two drawings of the same instant: linear skinning, then the result with all overlays.
Result<Rgba8Image> SceneView::drawPair(const Instant& instant) {
  const bool beside = desc_.comparison == Comparison::SideBySide;
  const Shot shot = shotOf(instant, beside ? std::max(desc_.size.width / 2, 1) : desc_.size.width);
  DrawList linear;
  addSurface(linear, *instant.before, instant);
  DERM_TRY(Rgba8Image before, draw(std::move(linear), instant, shot));
  DERM_TRY(Rgba8Image after, draw(listOf(instant, shot), instant, shot));
  drawPoints(after, instant, shot);
  if (desc_.labels) {
    drawLabel(before, kBeforeLabel, Corner::TopLeft);
    drawLabel(after, kAfterLabel, Corner::TopRight);
  }
  return beside ? sideBySide(std::array{std::move(before), std::move(after)})
                : splitView(before, after);
}

Result<ShapePicture> SceneView::drawShape(const SkinFrame& frame, const Instant& instant,
                                          const Shot& shot) {
  DrawList list;
  DrawSurface surface = surfaceOf(list, frame, instant);
  showDepth(list, surface, shot.camera);
  list.surfaces.push_back(std::move(surface));
  list.background.clear = true;
  list.ground.on = false;
  Shot large = shot;
  large.size = {.width = kShapeFactor * shot.size.width, .height = kShapeFactor * shot.size.height};
  DERM_TRY(Rgba8Image picture, draw(std::move(list), instant, large));
  return ShapePicture{std::move(picture), kShapeFactor};
}

/// Two surfaces that differ by little break through each other wherever one draws both; a picture
/// of one and the shape of the other do not.
Result<Rgba8Image> SceneView::drawGhost(const Instant& instant) {
  const Shot shot = shotOf(instant, desc_.size.width);
  DrawList list;
  DrawSurface result = surfaceOf(list, instant.after, instant);
  showInOneColour(result, kGhostColour);
  if (desc_.wireframe) addWireframe(list, result.positions, result.triangles);
  list.surfaces.push_back(std::move(result));
  addOverlays(list, instant, shot);
  DERM_TRY(Rgba8Image drawn, draw(std::move(list), instant, shot));
  DERM_TRY(const ShapePicture before, drawShape(*instant.before, instant, shot));
  DERM_TRY(const ShapePicture after, drawShape(instant.after, instant, shot));
  Rgba8 beyond = kBeforeColour;
  beyond.a = kBeyondAlpha;
  fillBeyond(drawn, before, after, beyond);
  drawOutline(drawn, before, {.colour = kOutlineColour, .width_px = kOutlineWidth_px});
  drawPoints(drawn, instant, shot);
  if (desc_.labels) {
    drawLabel(drawn, kBeforeLabel, Corner::TopLeft, {.plate = kOutlineColour});
    drawLabel(drawn, kAfterLabel, Corner::TopLeft, afterStyle());
  }
  return drawn;
}

Result<Rgba8Image> SceneView::drawPlain(const Instant& instant) {
  const Shot shot = shotOf(instant, desc_.size.width);
  DERM_TRY(Rgba8Image drawn, draw(listOf(instant, shot), instant, shot));
  drawPoints(drawn, instant, shot);
  if (!desc_.label.empty()) drawLabel(drawn, desc_.label, Corner::TopLeft);
  return drawn;
}

void SceneView::drawPoints(Rgba8Image& picture, const Instant& instant, const Shot& shot) const {
  if (!desc_.points) return;
  detail::drawPointLabels(picture, *scene_->character(), instant.after.positions(),
                          instant.after.normals(), shot.camera, directionToEye(desc_.orbit));
}

Result<Rgba8Image> SceneView::picture(double time_s) {
  if (!stage_) DERM_CHECK(aimAt(std::array{time_s}));
  const Instant instant = instantAt(time_s);
  const auto drawIt = [&]() -> Result<Rgba8Image> {
    if (desc_.comparison == Comparison::None) return drawPlain(instant);
    return desc_.comparison == Comparison::Ghost ? drawGhost(instant) : drawPair(instant);
  };
  DERM_TRY(Rgba8Image drawn, drawIt());
  const float largest =
      largestOf(desc_.diagram == Diagram::Correction ? instant.moved_mm() : heatOf(instant));
  if (const std::string caption = captionOf(time_s, largest); !caption.empty())
    drawLabel(drawn, caption, detail::kCaptionCorner, detail::kCaptionStyle);
  if (const auto legend = legendOf(fullHeat(largest), drawn.height))
    composite(drawn, *legend, kLegendMargin_px, legendTop(drawn.height, legend->height));
  return drawn;
}

Result<SceneDrawing> SceneView::drawing(double time_s) {
  if (!stage_) DERM_CHECK(aimAt(std::array{time_s}));
  const Instant instant = instantAt(time_s);
  const Shot shot = shotOf(instant, desc_.size.width);
  SceneDrawing out{.list = listOf(instant, shot), .camera = shot.camera, .legend = {}};
  out.list.stage = moved(*stage_, instant.position);
  out.list.ground.height_m = floor_m_;
  out.legend = legendOf(fullHeat(largestOf(heatOf(instant))), desc_.size.height);
  return out;
}

}  // namespace derm
