#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/image/draw.h"
#include "derm/image/outline.h"
#include "derm/render/camera.h"
#include "derm/render/offscreen_renderer.h"
#include "derm/scene/linear_reference.h"
#include "derm/scene/scene.h"
#include "derm/view/character_look.h"

namespace derm {

namespace detail {
class LayerDiagram;
}

/// How a result is shown against plain linear skinning of the same pose.
enum class Comparison {
  None,
  Split,       ///< one picture, linear left of a line, the result right of it
  SideBySide,  ///< two pictures of half the width
  /// the result in blue, linear skinning as dark strokes around its shape, grey where it sticks out
  Ghost,
};

/// What layers made of the surface, drawn in colours instead of its materials.
enum class Diagram {
  None,
  Regions,     ///< those of the first volume layer: what keeps its volume on its own
  Prisms,      ///< some of the bodies between triangles and their anchors (volume/region_volumes.h)
  Levels,      ///< how often each triangle was cut in four for folds
  Gamma,       ///< where the first volume layer may move the skin: the heat-map of its mask
  Flesh,       ///< weights of all flesh elements, their bones, and both frames of each
  Weights,     ///< weights of all joints, in a colour each
  Correction,  ///< the way from linear skinning to the result, |x| |y| |z| as red, green, blue
};

/// What a picture of a scene shows; plain and editable.
struct ViewDesc {
  PictureSize size;
  OrbitDesc orbit;
  /// The camera goes along with the character instead of standing where all of the motion is seen.
  bool follow = false;
  /// Name of the joint that the camera looks at, instead of the character's middle; wants a zoom.
  std::optional<std::string> focus = {};
  bool skeleton = false;
  bool wireframe = false;
  bool points = false;  ///< labelled points on the side that faces the camera, with their names
  bool field = false;   ///< strokes from linear skinning to the result, in blue
  float field_scale = 1.0f;  ///< length of a stroke over that of the displacement
  /// Name of the joint whose weights are shown as a heat-map.
  std::optional<std::string> weights = {};
  /// [mm] heat-map of how far the result is from linear skinning, up to this much; 0 = up to the
  /// picture's largest. The largest is written below. Of the heat-maps one can be shown.
  std::optional<float> displacement_mm = {};
  /// Name of a channel of the frames (SkinFrame::channel) that is shown as a heat-map: a layer's
  /// mask, named as the layer is in the recipe, or what a layer of one's own writes.
  std::optional<std::string> channel = {};
  /// What its last colour stands for; 0 = 1, or the picture's largest where that is not in [0.1,1].
  float channel_max = 0;
  /// Not together with the heat-maps above.
  Diagram diagram = Diagram::None;
  Comparison comparison = Comparison::None;
  bool quick = false;      ///< Lighting::Quick: for looking at motion
  bool labels = true;      ///< name the sides of a comparison
  std::string label = {};  ///< a few words in the upper left corner of pictures without sides
  bool times = false;      ///< the instant in the lower left corner
};

/// All that a renderer needs to draw an instant of a scene.
struct SceneDrawing {
  /// Positions, normals, triangles, materials, decoded textures and overlays. Refers to the frame
  /// and to the view: valid until the scene plays on or the view is gone.
  DrawList list;
  Camera camera;
  std::optional<Rgba8Image> legend;  ///< of a heat-map or diagram, to be laid on the picture
};

/// Pictures of a scene's instants, drawn off-screen. Holds the scene's textures, a renderer and the
/// plain skin that comparisons need. Where a label or legend would lie on the figure, the camera
/// leaves it room (not with a zoom or a focus, which cut the figure anyway). Not thread-safe.
class SceneView {
 public:
  /// `scene` must outlive the view. Fails where there is no renderer, on a joint that does not
  /// exist, weights of a character without a skin, a channel that no layer writes, a diagram of
  /// what no layer made, and sizes out of range. Frames of the scene keep the channel from here on.
  static Result<SceneView> make(Scene& scene, const ViewDesc& desc, Diagnostics& notes);
  /// The same for a program with a renderer of its own: no OpenGL is touched, drawing() works
  /// everywhere, picture() is an Unsupported error.
  static Result<SceneView> makeWithoutRenderer(Scene& scene, const ViewDesc& desc,
                                               Diagnostics& notes);

  Scene& scene() const { return *scene_; }
  const ViewDesc& desc() const { return desc_; }
  /// Pictures from now on have this size.
  void resize(const PictureSize& size) { desc_.size = size; }
  void showTimes(bool on) { desc_.times = on; }

  /// Stands the camera where all of the surface, and of a field's strokes, is seen at each of these
  /// instants. Plays them through; until the next call every picture is taken with that camera.
  /// Can be cancelled.
  Result<void> aimAt(std::span<const double> times_s, const Progress& progress = {});

  /// A few points that stand for all that was aimed at, about the position of each instant.
  std::span<const Vec3f> outline() const { return outline_.points(); }

  /// The instant in clip time. Where nothing was aimed at yet, the camera is aimed at this instant.
  Result<Rgba8Image> picture(double time_s);

  /// The same for a renderer of one's own: the result with its overlays, seen by the camera that
  /// picture() would use. Where the scene plays with Topology::Adaptive its triangles are those of
  /// this instant. Comparisons, labels and captions are put together from pictures: not in it.
  Result<SceneDrawing> drawing(double time_s);

 private:
  struct Instant;
  struct Shot;

  SceneView(Scene& scene, const ViewDesc& desc, Diagnostics& notes);
  Instant instantAt(double time_s);
  Shot shotOf(const Instant& instant, int width_px) const;
  std::vector<ClipRect> plates(const PictureSize& size) const;
  std::optional<Rgba8Image> legendOf(float full, int height_px) const;
  int legendTop(int height_px, int legend_px) const;
  std::vector<float> heatOf(const Instant& instant) const;
  float fullHeat(float largest) const;
  std::string captionOf(double time_s, float max_mm) const;
  DrawSurface surfaceOf(DrawList& list, const SkinFrame& frame, const Instant& instant) const;
  void addSurface(DrawList& list, const SkinFrame& frame, const Instant& instant) const;
  void addOverlays(DrawList& list, const Instant& instant, const Shot& shot) const;
  void addField(DrawList& list, const Instant& instant, const Shot& shot) const;
  DrawList listOf(const Instant& instant, const Shot& shot) const;
  void drawPoints(Rgba8Image& picture, const Instant& instant, const Shot& shot) const;
  Result<Rgba8Image> draw(DrawList list, const Instant& instant, const Shot& shot);
  Result<ShapePicture> drawShape(const SkinFrame& frame, const Instant& instant, const Shot& shot);
  Result<Rgba8Image> drawPair(const Instant& instant);
  Result<Rgba8Image> drawGhost(const Instant& instant);
  Result<Rgba8Image> drawPlain(const Instant& instant);

  Scene* scene_;
  ViewDesc desc_;
  std::optional<OffscreenRenderer> renderer_;
  CharacterLook look_;
  std::optional<LinearReference> plain_;                 ///< where something is shown against it
  std::vector<float> weights_;                           ///< of the joint shown, one per vertex
  std::shared_ptr<const detail::LayerDiagram> diagram_;  ///< or null
  // Of all that was aimed at, about the position of each instant.
  std::optional<JointId> focus_;
  std::optional<Bounds> stage_;
  FarthestPoints outline_;
  std::optional<float> floor_m_;  ///< where it is not the stage's lowest point
};

}  // namespace derm
