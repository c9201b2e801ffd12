#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "io/gltf/instance_writer.h"

namespace derm::detail::gltf {

/// As glTF calls it: "STEP", "LINEAR", "CUBICSPLINE".
const char* interpolationName(Interpolation interpolation);

/// Clips as animations, in the character's order. A clip that is as it was keeps its JSON; one that
/// changed keeps its extras and the channels derm does not understand.
class ClipWriter {
 public:
  ClipWriter(WriteContext& context, NodeWriter& nodes, const InstanceWriter& instances)
      : context_(context), nodes_(nodes), instances_(instances) {}

  void write();
  /// Per clip its animation in the file, -1 = none.
  const std::vector<int>& animations() const { return written_; }
  /// [s] Per clip how much earlier it is in the file than in the character: 0, or below.
  const std::vector<float>& starts() const { return starts_; }

 private:
  /// Node and path; no two channels of an animation may move the same.
  using Target = std::pair<std::size_t, std::string>;

  void matchSources();
  bool sameTrack(const Track& now, const Track& then) const;
  bool sameClip(const Clip& now, const Clip& then) const;
  std::vector<std::pair<Target, Track>> gatherTracks(const Clip& clip) const;
  Track gatherWeights(const std::vector<const Track*>& tracks, const MeshInstance& instance) const;
  void addUnreadChannels(std::size_t source, Json& animation) const;
  /// Null where nothing of the clip can be written. `start`: see starts().
  Json writeClip(const Clip& clip, int source, float& start) const;

  WriteContext& context_;
  NodeWriter& nodes_;
  const InstanceWriter& instances_;
  std::vector<int> match_;  ///< per clip its animation in the document, -1 = none
  std::vector<bool> unchanged_;
  std::vector<int> written_;
  std::vector<float> starts_;
};

}  // namespace derm::detail::gltf
