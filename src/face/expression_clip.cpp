#include "derm/face/expression_clip.h"

#include <algorithm>
#include <optional>

#include "derm/face/face_rig.h"

namespace derm {
namespace {

bool hasMorph(const Character& character, std::string_view name) {
  return std::any_of(character.morphs.begin(), character.morphs.end(),
                     [&](const MorphTarget& m) { return m.name == name; });
}

Track startedTrack(Channel channel, JointId joint) {
  Track out;
  out.channel = channel;
  out.joint = joint;
  return out;
}

void addMorphTracks(const Character& character, std::span<const std::string_view> names,
                    Clip& clip) {
  for (const MeshInstance& instance : character.instances) {
    if (instance.morph_count == 0) continue;
    Track track = startedTrack(Channel::MorphWeights, {});
    track.first_morph = instance.first_morph;
    track.morph_count = instance.morph_count;
    for (std::size_t k = 0; k <= names.size(); ++k) {
      track.times_s.push_back(static_cast<float>(k));
      for (std::uint32_t m = 0; m < instance.morph_count; ++m)
        track.values.push_back(
            k > 0 && character.morphs[instance.first_morph + m].name == names[k - 1] ? 1.0f : 0.0f);
    }
    clip.tracks.push_back(std::move(track));
  }
}

Result<void> addRigTracks(Character& character, std::span<const std::string_view> names, Clip& clip,
                          Diagnostics& notes) {
  std::optional<FaceRig> rig = findFaceRig(character);
  if (!rig) {
    DERM_TRY(rig, addFaceRig(character, {.clips = false}, notes));
  }
  DERM_TRY(const FacePoser poser, FacePoser::make(character, *rig));
  DERM_TRY(const FacePoints points, facePoints(character.points, character.mesh));
  std::vector<Pose> poses(names.size() + 1, character.restPose());
  for (std::size_t k = 0; k < names.size(); ++k) {
    DERM_TRY(const std::vector<PointDisplacement> moves, expressionDisplacements(names[k], points));
    poser.pose(slidLids(moves, points), poses[k + 1]);
  }
  for (const JointId joint : rig->joints) {
    Track translation = startedTrack(Channel::Translation, joint);
    Track rotation = startedTrack(Channel::Rotation, joint);
    for (std::size_t k = 0; k < poses.size(); ++k) {
      const Transform& t = poses[k].local[joint.index()];
      translation.times_s.push_back(static_cast<float>(k));
      rotation.times_s.push_back(static_cast<float>(k));
      for (int c = 0; c < 3; ++c) translation.values.push_back(t.translation[c]);
      for (int c = 0; c < 4; ++c) rotation.values.push_back(t.rotation.coeffs()[c]);
    }
    clip.tracks.push_back(std::move(translation));
    clip.tracks.push_back(std::move(rotation));
  }
  return {};
}

}  // namespace

Result<std::string> addExpressionClip(Character& character, std::span<const std::string_view> names,
                                      Diagnostics& notes) {
  Clip clip;
  clip.name = "six expressions";
  const std::vector<std::string> taken = character.clipNames();
  while (std::find(taken.begin(), taken.end(), clip.name) != taken.end()) clip.name += "'";
  if (std::all_of(names.begin(), names.end(),
                  [&](std::string_view name) { return hasMorph(character, name); }))
    addMorphTracks(character, names, clip);
  else
    DERM_CHECK(addRigTracks(character, names, clip, notes));
  character.clips.push_back(clip);
  return clip.name;
}

}  // namespace derm
