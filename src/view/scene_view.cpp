#include "derm/view/scene_view.h"

#include <algorithm>
#include <utility>

#include "derm/image/colour_map.h"
#include "derm/image/compose.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

namespace derm {
namespace {

constexpr std::string_view kBeforeLabel = "linear skinning";
constexpr std::string_view kAfterLabel = "derm";
constexpr int kLegendMargin_px = 24;
constexpr float kFieldWidth_px = 1.0f;

Bounds moved(const Bounds& box, const Vec3f& by) {
  return box.empty() ? box : Bounds{.low = box.low + by, .high = box.high + by};
}

}  // namespace

/// What is needed of one instant; valid until the scene plays on.
struct SceneView::Instant {
  const SkinFrame& after;
  const SkinFrame* before;  ///< null where nothing is compared
  Vec3f place;              ///< where a following camera looks, on the floor plane; else the origin
  std::optional<Vec3d> focus;  ///< where the joint is that the camera looks at
};

SceneView::SceneView(Scene& scene, const ViewDesc& desc, OffscreenRenderer renderer,
                     Diagnostics& notes)
    : scene_(&scene),
      desc_(desc),
      renderer_(std::move(renderer)),
      look_(*scene.character(), scene.stack().output(), notes) {}

Result<SceneView> SceneView::make(Scene& scene, const ViewDesc& desc, Diagnostics& notes) {
  const Character& character = *scene.character();
  std::vector<float> weights;
  if (desc.weights) {
    if (!character.hasSkin())
      return Error{ErrorCode::BadArgument,
                   "has no skin, so no weights to show",
                   {.element = character.name}};
    DERM_TRY(const JointId joint, character.skeleton.named(*desc.weights));
    weights = weightsOfJoint(scene.stack().output().skin, joint);
  }
  std::optional<JointId> focus;
  if (desc.focus) {
    DERM_TRY(focus, character.skeleton.named(*desc.focus));
  }
  DERM_TRY(OffscreenRenderer renderer, OffscreenRenderer::create());
  SceneView view(scene, desc, std::move(renderer), notes);
  view.weights_ = std::move(weights);
  view.focus_ = focus;
  if (desc.comparison != Comparison::None || desc.field) {
    DERM_TRY(std::shared_ptr<const Stack> plain, scene.plainStack());
    view.plain_.emplace(std::move(plain));
  }
  return view;
}

SceneView::Instant SceneView::instantAt(double time_s) {
  const SkinFrame& after = scene_->playback().frameAt(time_s);
  const SkinFrame* before = plain_ ? &plain_->evaluate(scene_->playback().pose(), time_s) : nullptr;
  Vec3f place = Vec3f::Zero();
  if (desc_.follow) {
    // The plain mean of the vertices: smooth in time, unlike the middle of their box.
    place = centroid(after.positions()).cast<float>();
    place.y() = 0;
  }
  std::optional<Vec3d> focus;
  if (focus_) focus = scene_->playback().model()[focus_->index()].translation();
  return {.after = after, .before = before, .place = place, .focus = focus};
}

Result<void> SceneView::aimAt(std::span<const double> times_s, const Progress& progress) {
  Bounds stage;
  FarthestPoints outline;
  for (std::size_t i = 0; i < times_s.size(); ++i) {
    if (!keepGoing(progress, static_cast<double>(i) / static_cast<double>(times_s.size()),
                   "framing"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    const Instant instant = instantAt(times_s[i]);
    const std::span<const Vec3f> positions = instant.after.positions();
    stage = united(stage, moved(bounds(positions), -instant.place));
    outline.add(positions, -instant.place);
  }
  stage_ = stage;
  outline_ = std::move(outline);
  return {};
}

DrawSurface SceneView::surfaceOf(DrawList& list, const SkinFrame& frame) const {
  DrawSurface surface = look_.surfaceOf(frame);
  if (surface.normals.empty()) {
    TriMesh shaded;
    shaded.normals =
        areaWeightedNormals(surface.positions, surface.triangles, weldMap(surface.positions));
    surface.normals = list.keep(std::move(shaded)).normals;
  }
  return surface;
}

void SceneView::addSurface(DrawList& list, const SkinFrame& frame) const {
  DrawSurface surface = surfaceOf(list, frame);
  if (desc_.weights) showHeatMap(list, surface, weights_);
  if (desc_.wireframe) addWireframe(list, surface.positions, surface.triangles);
  list.surfaces.push_back(std::move(surface));
}

void SceneView::addOverlays(DrawList& list, const Instant& instant) const {
  if (desc_.skeleton)
    addSkeleton(list, skeletonJoints(*scene_->character(), scene_->playback().model()));
  if (desc_.field) addField(list, instant);
}

/// Strokes must be seen through the skin, which they often lie under; those on the far side must
/// not, or a dense mesh becomes one blue blot.
void SceneView::addField(DrawList& list, const Instant& instant) const {
  const Vec3f to_eye = directionToEye(desc_.orbit).cast<float>();
  std::vector<Vec3f> before;
  std::vector<Vec3f> after;
  for (std::size_t v = 0; v < instant.after.vertexCount(); ++v) {
    if (!instant.after.normals().empty() && instant.after.normals()[v].dot(to_eye) < 0) continue;
    before.push_back(instant.before->positions()[v]);
    after.push_back(instant.after.positions()[v]);
  }
  addDisplacementField(list, before, after,
                       {.width_px = kFieldWidth_px, .scale = desc_.field_scale, .on_top = true});
}

Result<Rgba8Image> SceneView::draw(DrawList list, const Instant& instant, int width_px) {
  list.stage = moved(*stage_, instant.place);
  PictureSize size = desc_.size;
  size.width = width_px;
  Camera camera = orbitCamera(outline_.points(), desc_.orbit,
                              static_cast<double>(size.width) / std::max(size.height, 1));
  Vec3d shift = instant.place.cast<double>();
  if (instant.focus) shift = *instant.focus - camera.target;
  camera.eye += shift;
  camera.target += shift;
  return renderer_.draw(list, camera, size);
}

/// Two drawings of the same instant: linear skinning, then the result with all overlays.
Result<Rgba8Image> SceneView::drawPair(const Instant& instant) {
  const bool beside = desc_.comparison == Comparison::SideBySide;
  const int width = beside ? std::max(desc_.size.width / 2, 1) : desc_.size.width;
  DrawList linear;
  addSurface(linear, *instant.before);
  DERM_TRY(Rgba8Image before, draw(std::move(linear), instant, width));
  DrawList result;
  addSurface(result, instant.after);
  addOverlays(result, instant);
  DERM_TRY(Rgba8Image after, draw(std::move(result), instant, width));
  if (desc_.labels) {
    drawLabel(before, kBeforeLabel, Corner::TopLeft);
    drawLabel(after, kAfterLabel, Corner::TopRight);
  }
  return beside ? sideBySide(std::array{std::move(before), std::move(after)})
                : splitView(before, after);
}

Result<Rgba8Image> SceneView::picture(double time_s) {
  if (!stage_) DERM_CHECK(aimAt(std::array{time_s}));
  const Instant instant = instantAt(time_s);
  Result<Rgba8Image> drawn = Rgba8Image();
  if (desc_.comparison == Comparison::Split || desc_.comparison == Comparison::SideBySide) {
    drawn = drawPair(instant);
  } else {
    DrawList list;
    if (desc_.comparison == Comparison::Ghost) {
      DrawSurface before = surfaceOf(list, *instant.before);
      DrawSurface after = surfaceOf(list, instant.after);
      addGhost(list, std::move(before), std::move(after));
    } else {
      addSurface(list, instant.after);
    }
    addOverlays(list, instant);
    drawn = draw(std::move(list), instant, desc_.size.width);
    if (drawn && !desc_.label.empty()) drawLabel(*drawn, desc_.label, Corner::TopLeft);
  }
  if (drawn && desc_.weights) {
    const Rgba8Image legend = heatLegend("weight of " + *desc_.weights, 1);
    composite(*drawn, legend, kLegendMargin_px, drawn->height - kLegendMargin_px - legend.height);
  }
  return drawn;
}

}  // namespace derm
