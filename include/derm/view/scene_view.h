#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/render/camera.h"
#include "derm/render/offscreen_renderer.h"
#include "derm/scene/plain_skin.h"
#include "derm/scene/scene.h"
#include "derm/view/character_look.h"

namespace derm {

/// How a result is shown against plain linear skinning of the same pose.
enum class Comparison {
  None,
  Split,       ///< one picture, linear left of a line, the result right of it
  SideBySide,  ///< two pictures of half the width
  Ghost,       ///< grey linear skinning under the glassy blue result
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
  bool field = false;  ///< strokes from linear skinning to the result, the documents' blue lines
  float field_scale = 1.0f;  ///< length of a stroke over that of the displacement
  std::optional<std::string> weights =
      {};  ///< name of the joint whose weights are shown as a heat-map
  Comparison comparison = Comparison::None;
  bool labels = true;      ///< name the sides of a comparison
  std::string label = {};  ///< a few words in the upper left corner of pictures without sides
};

/// Pictures of a scene's instants, drawn off-screen. Holds the scene's textures, a renderer and the
/// plain skin that comparisons need. Not thread-safe.
class SceneView {
 public:
  /// `scene` must outlive the view. Fails where there is no renderer, on a joint that does not
  /// exist, weights of a character without a skin, and sizes out of range.
  static Result<SceneView> make(Scene& scene, const ViewDesc& desc, Diagnostics& notes);

  const Scene& scene() const { return *scene_; }
  const ViewDesc& desc() const { return desc_; }
  /// Pictures from now on have this size.
  void resize(const PictureSize& size) { desc_.size = size; }

  /// Stands the camera where all of the surface is seen at each of these instants. Plays them
  /// through; until the next call every picture is taken with that camera. Can be cancelled.
  Result<void> aimAt(std::span<const double> times_s, const Progress& progress = {});

  /// The instant in clip time. Where nothing was aimed at yet, the camera is aimed at this instant.
  Result<Rgba8Image> picture(double time_s);

 private:
  struct Instant;

  SceneView(Scene& scene, const ViewDesc& desc, OffscreenRenderer renderer, Diagnostics& notes);
  Instant instantAt(double time_s);
  DrawSurface surfaceOf(DrawList& list, const SkinFrame& frame) const;
  void addSurface(DrawList& list, const SkinFrame& frame) const;
  void addOverlays(DrawList& list, const Instant& instant) const;
  void addField(DrawList& list, const Instant& instant) const;
  Result<Rgba8Image> draw(DrawList list, const Instant& instant, int width_px);
  Result<Rgba8Image> drawPair(const Instant& instant);

  Scene* scene_;
  ViewDesc desc_;
  OffscreenRenderer renderer_;
  CharacterLook look_;
  std::optional<PlainSkin> plain_;  ///< where something is shown against it
  std::vector<float> weights_;      ///< of the joint shown, one per vertex
  // Of all that was aimed at, about the place of each instant.
  std::optional<JointId> focus_;
  std::optional<Bounds> stage_;
  FarthestPoints outline_;
};

}  // namespace derm
