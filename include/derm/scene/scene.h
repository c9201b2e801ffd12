#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/playback.h"
#include "derm/deform/stack.h"
#include "derm/io/import_options.h"
#include "derm/scene/recipe.h"

namespace derm {

/// Reads "cast:NAME", or a file; a relative path starts at `folder`.
Result<Character> openCharacter(std::string_view source, const std::filesystem::path& folder,
                                const ImportOptions& options, Diagnostics& notes);

struct SceneOptions {
  /// Used instead of the recipe's own character.
  std::shared_ptr<const Character> character = {};
  ImportOptions import;  ///< how the recipe's character is read; its scale, if any, counts first
  /// Null = builtInLayerTypes(); those the recipe was read with.
  const LayerTypes* types = nullptr;
  Topology topology = Topology::Constant;  ///< Adaptive: for viewers that can take new triangles
  Progress progress = {};                  ///< of fitting a motion to the character; may cancel
};

/// A recipe at work: the character, its stack of layers (morphs, skinning, then the recipe's), and
/// the frames to make. Not thread-safe; movable.
class Scene {
 public:
  static constexpr std::size_t kMaxFrames = 100000;

  const Recipe& recipe() const { return recipe_; }
  const std::shared_ptr<const Character>& character() const { return character_; }
  const Clip* clip() const { return clip_; }  ///< null: the rest pose
  const Stack& stack() const { return playback_.stack(); }
  const std::shared_ptr<const Stack>& sharedStack() const { return playback_.sharedStack(); }
  Playback& playback() { return playback_; }
  const Playback& playback() const { return playback_; }

  /// [s] clip time of each frame: start + i / fps, the end too where it falls on a frame; a loop
  /// leaves the end out, since it is the start. At least one.
  std::span<const double> frameTimes() const { return frame_times_; }
  /// The surface of a frame, valid until the next call. Where the recipe loops any index goes
  /// round; otherwise index < frameTimes().size().
  const SkinFrame& frame(std::size_t index, std::span<double> layer_seconds = {});

  /// Goes on with an edited recipe of the same character and motion while it plays: only layers
  /// that changed are bound again (Stack::rebind), and motion goes on where it can
  /// (Playback::change). A failure changes nothing.
  Result<void> change(const Recipe& recipe, Diagnostics& notes);

  /// Another scene beside this one: an edited recipe of the same character and motion (another
  /// clip, say), sharing what does not change. Plays from its start.
  Result<Scene> another(const Recipe& recipe, Diagnostics& notes) const;

  /// From the next frame on, frames have these channels (SkinFrame::channel): masks of layers,
  /// named as the layers are in the recipe, beside those that frames have anyway. Fails on a name
  /// that no layer writes.
  Result<void> keepChannels(std::span<const std::string> names);

  /// Morphs and plain linear skinning of the surface that the stack gives: what an engine would
  /// play without derm. Where a layer refines, the refined rest surface is skinned, without morphs.
  /// Binds anew at every call.
  Result<std::shared_ptr<const Stack>> linearReferenceStack() const;

 private:
  friend Result<Scene> openScene(const Recipe&, const SceneOptions&, Diagnostics&);
  explicit Scene(Playback playback) : playback_(std::move(playback)) {}
  Result<void> checkSameCharacter(const Recipe& recipe) const;
  /// `before`: the stack whose bindings are used again; null = none.
  static Result<Scene> make(const Recipe& recipe, std::shared_ptr<const Character> character,
                            const LayerTypes& types, Topology topology, const Stack* before,
                            Diagnostics& notes);

  Recipe recipe_;
  std::shared_ptr<const Character> character_;
  const Clip* clip_ = nullptr;
  const LayerTypes* types_ = nullptr;
  Playback playback_;
  std::vector<double> frame_times_;
};

/// Loads the character, picks the clip and binds every enabled layer. A range that leaves the clip
/// is cut to it, with a note; one wholly outside is an error. A clip without length gives one
/// frame. Without any clip the rest pose is held over the range (without a range: one frame).
/// Errors that come from the recipe name its file, line and column.
Result<Scene> openScene(const Recipe& recipe, const SceneOptions& options, Diagnostics& notes);

}  // namespace derm
