#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/live_runner.h"
#include "derm/face/face_weights.h"
#include "derm/io/file_overlay.h"
#include "derm/io/output_files.h"
#include "derm/scene/bake_report.h"
#include "derm/scene/linear_reference.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"

namespace derm::detail::capi {

/// What an edit did.
struct EditReport {
  std::vector<std::string> rebound;  ///< layers whose binding is another than before
  bool reopened = false;             ///< everything was bound anew
  double ms = 0;
  std::vector<std::string> notes;
};

/// What a ray met.
struct SurfaceHit {
  std::uint32_t triangle = 0;  ///< in Session::triangles()
  Vec3d barycentric = Vec3d::Zero();
  double distance = 0;
};

/// Where a labelled point goes.
struct PlacedPoint {
  std::string label;
  int triangle = -1;  ///< of the character's own mesh; negative = the point is taken away
  Vec3f barycentric = Vec3f::UnitX();
};

/// What stands behind a derm_scene: a recipe's text, the scene made of it, and the present frame,
/// which is always there: after an edit it is made when somebody asks for it, since who plays on
/// asks for the next one instead.
class Session {
 public:
  static Result<std::unique_ptr<Session>> open(std::shared_ptr<const MemoryFiles> files,
                                               std::string text, std::string name);

  const std::string& text() const { return text_; }
  const Scene& scene() const { return *scene_; }
  /// The character as it plays: with motions and what layers bring.
  const Character& character() const { return *scene_->character(); }
  const std::vector<std::string>& notes() const { return notes_; }

  /// A failure of any of these changes nothing.
  Result<EditReport> setText(std::string text);
  Result<EditReport> setRecipe(const Recipe& recipe);
  Result<EditReport> setGroup(std::string_view name, std::span<const float> strengths);
  Result<EditReport> setPoints(std::span<const PlacedPoint> points);
  Result<EditReport> addFaceShapes();

  /// The character without motions and what layers bring.
  const Character& ownCharacter() const { return *own_; }
  /// Work that reads the scene's files.
  template <class Work>
  auto withFiles(const Work& work) const {
    const FileOverlay overlay(*files_);
    return work();
  }

  void seek(double time_s);
  Result<void> step(double dt_s);
  Result<void> reset();
  Pose& pose() { return pose_; }
  Result<void> sample(int clip, double time_s);
  Result<void> holdControl(int control, double value);

  double time_s() const { return time_s_; }
  const SkinFrame& frame() {
    settle();
    return *frame_;
  }
  const BoundSurface& surface() const { return scene_->stack().output(); }
  /// Those of a part together.
  std::span<const Triangle> triangles() {
    settle();
    return triangles_;
  }
  /// For each, the one of the character's own mesh that it is a piece of.
  std::span<const std::uint32_t> sourceTriangles() {
    settle();
    return sources_;
  }
  /// First triangle and number of triangles of every part.
  std::span<const std::uint32_t> partRanges() {
    settle();
    return part_ranges_;
  }
  std::uint32_t topology() {
    settle();
    return topology_;
  }
  /// [s] that each layer of the stack took for the present frame; zeros after step().
  std::span<const double> layerSeconds() {
    settle();
    return layer_seconds_;
  }
  /// The layer at work; null where there is none.
  template <class T>
  const T* find(std::string_view name) {
    settle();
    return live_playing_ ? live_->find<T>(name) : scene_->playback().find<T>(name);
  }

  Result<std::span<const Vec3f>> linearPositions();
  std::span<const float> jointMatrices();
  std::span<const float> pointPositions();
  Result<std::span<const float>> channel(std::string_view name);
  std::optional<SurfaceHit> pick(const Vec3d& origin, const Vec3d& direction);

  struct BakeOptions {
    std::string format = "glb";
    std::string as = "cache";
    std::optional<std::size_t> shapes;
    std::optional<double> error_m;
    bool measure = true;
  };
  Result<std::vector<std::uint8_t>> bake(const BakeOptions& options);
  const std::string& bakeReport() const { return bake_report_; }

 private:
  Session() = default;
  Result<EditReport> apply(const Recipe& recipe, std::string text);
  Result<Scene> opened(const Recipe& recipe, std::shared_ptr<const Character> own,
                       Diagnostics& notes) const;
  /// The character in another unit of length, with what the host painted, placed and made on it.
  Result<std::shared_ptr<const Character>> inUnitOf(const Recipe& recipe, Diagnostics& notes) const;
  /// Goes on with the scene: its stack may be another.
  void goOn();
  /// A runner for the host's own poses, at rest in the present one.
  void makeLive();
  /// The host's pose; where that has numbers that are not finite, the last one that had none.
  /// Layers keep what they once got.
  const Pose& finitePose();
  /// The frame is another; it is made when somebody asks for it.
  void unsettle();
  void evaluateAgain();
  /// Makes the present frame where an edit left it to be made.
  void settle() {
    if (stale_) evaluateAgain();
  }
  /// seek() with motion as it is.
  void show(double time_s);
  void took(const SkinFrame& frame);
  void sortTriangles();
  Result<void> fillChannel(std::string_view name);
  Result<void> fillMask(const std::string& name);
  Result<void> fillRegion(std::string_view names);
  void fillCompression();
  Result<EditReport> changeCharacter(std::shared_ptr<const Character> character);

  std::shared_ptr<const MemoryFiles> files_;
  std::string text_, name_;
  std::shared_ptr<const Character> own_;  ///< without motions, as edited
  bool made_shapes_ = false;              ///< own_ has those of addFaceShapes()
  std::optional<Scene> scene_;
  std::optional<LiveRunner> live_;
  double live_rate_hz_ = 0;    ///< inner rate that live_ was made with
  bool live_playing_ = false;  ///< the present frame is of live_
  bool edited_ = false;        ///< motion so far is of layers from before an edit
  bool stale_ = false;         ///< the present frame is from before an edit
  std::vector<std::string> notes_;
  std::vector<std::string> kept_channels_;

  double time_s_ = 0;
  Pose pose_;         ///< what the host writes into
  Pose finite_pose_;  ///< the last that live_ was given
  const SkinFrame* frame_ = nullptr;
  std::vector<double> layer_seconds_;
  std::shared_ptr<const Stack> sorted_stack_;  ///< whose output is sorted below
  std::vector<Triangle> triangles_;
  std::vector<std::uint32_t> sources_, part_ranges_;
  std::uint32_t topology_ = 0;

  std::optional<LinearReference> linear_;
  std::shared_ptr<const Stack> linear_of_;   ///< whose surface it skins
  std::optional<FaceWeights> face_weights_;  ///< of own_, when they were asked for
  std::vector<float> matrices_, points_, channel_;
  std::string bake_report_;
};

}  // namespace derm::detail::capi
