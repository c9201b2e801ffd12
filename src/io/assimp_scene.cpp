#include "io/assimp_scene.h"

#include <algorithm>
#include <cmath>

namespace derm::detail::assimp {
namespace {

constexpr double kAssumedTicksPerSecond = 25;  // assimp's own default where the file says nothing

/// Keys of one channel, made strictly increasing in time.
class TrackBuilder {
 public:
  TrackBuilder(Channel channel, JointId joint, double ticks_per_second)
      : ticks_per_second_(ticks_per_second) {
    track_.channel = channel;
    track_.joint = joint;
  }
  /// False where the key was left out: not after the one before, or not finite.
  bool add(double ticks, std::span<const float> value) {
    const auto time_s = static_cast<float>(ticks / ticks_per_second_);
    const bool finite =
        std::isfinite(time_s) &&
        std::all_of(value.begin(), value.end(), [](float v) { return std::isfinite(v); });
    if (!finite || (!track_.times_s.empty() && !(time_s > track_.times_s.back()))) return false;
    track_.times_s.push_back(time_s);
    track_.values.insert(track_.values.end(), value.begin(), value.end());
    return true;
  }
  void finish(Clip& clip) && {
    if (!track_.times_s.empty()) clip.tracks.push_back(std::move(track_));
  }
  Track& track() { return track_; }

 private:
  Track track_;
  double ticks_per_second_;
};

void addNodeTracks(const aiNodeAnim& motion, JointId joint, double rate, std::string_view file,
                   Clip& clip, Diagnostics& notes) {
  const auto leftOut = [&](bool added) {
    if (!added)
      notes.warn("key-left-out", file, "key frame that is not finite or not after the one before");
  };
  TrackBuilder positions(Channel::Translation, joint, rate);
  for (unsigned k = 0; k < motion.mNumPositionKeys; ++k) {
    const Vec3f value = vec(motion.mPositionKeys[k].mValue);
    leftOut(positions.add(motion.mPositionKeys[k].mTime, {value.data(), 3}));
  }
  std::move(positions).finish(clip);
  TrackBuilder rotations(Channel::Rotation, joint, rate);
  for (unsigned k = 0; k < motion.mNumRotationKeys; ++k) {
    const aiQuaternion& q = motion.mRotationKeys[k].mValue;
    const Quatf value = normalisedOrIdentity(Quatf(q.w, q.x, q.y, q.z));
    leftOut(rotations.add(motion.mRotationKeys[k].mTime, {value.coeffs().data(), 4}));
  }
  std::move(rotations).finish(clip);
  TrackBuilder scales(Channel::Scale, joint, rate);
  for (unsigned k = 0; k < motion.mNumScalingKeys; ++k) {
    const Vec3f value = vec(motion.mScalingKeys[k].mValue);
    leftOut(scales.add(motion.mScalingKeys[k].mTime, {value.data(), 3}));
  }
  std::move(scales).finish(clip);
}

/// Assimp names a morph channel after the node (or the mesh), with "*" and a number behind it.
const MeshInstance* morphedInstance(const Character& character, const NodeList& nodes,
                                    std::string name) {
  name = name.substr(0, name.find('*'));
  for (const MeshInstance& i : character.instances)
    if (i.morph_count > 0 && i.name == name) return &i;
  const auto node = nodes.by_name.find(name);
  if (node == nodes.by_name.end()) return nullptr;
  for (const MeshInstance& i : character.instances)
    if (i.morph_count > 0 && i.joint == JointId(node->second)) return &i;
  return nullptr;
}

void addMorphTrack(const aiMeshMorphAnim& motion, const MeshInstance& instance, double rate,
                   Clip& clip) {
  TrackBuilder builder(Channel::MorphWeights, JointId(), rate);
  builder.track().first_morph = instance.first_morph;
  builder.track().morph_count = instance.morph_count;
  std::vector<float> weights(instance.morph_count);
  for (unsigned k = 0; k < motion.mNumKeys; ++k) {
    const aiMeshMorphKey& key = motion.mKeys[k];
    std::fill(weights.begin(), weights.end(), 0.0f);
    for (unsigned i = 0; i < key.mNumValuesAndWeights; ++i)
      if (key.mValues[i] < weights.size())
        weights[key.mValues[i]] = static_cast<float>(key.mWeights[i]);
    builder.add(key.mTime, weights);
  }
  std::move(builder).finish(clip);
}

}  // namespace

Affine3d affine(const aiMatrix4x4& m) {
  Affine3d out;
  for (unsigned r = 0; r < 3; ++r)
    for (unsigned c = 0; c < 4; ++c) out.matrix()(r, c) = static_cast<double>(m[r][c]);
  return out;
}

NodeList listNodes(const aiScene& scene) {
  NodeList out;
  std::vector<std::pair<const aiNode*, std::uint32_t>> open = {
      {scene.mRootNode, JointId::kInvalid}};
  while (!open.empty()) {
    const auto [node, parent] = open.back();
    open.pop_back();
    const auto index = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes.push_back(node);
    out.parents.push_back(parent);
    out.by_name.emplace(text(node->mName), index);
    for (unsigned i = node->mNumChildren; i-- > 0;) open.emplace_back(node->mChildren[i], index);
  }
  return out;
}

Skeleton skeletonOf(const NodeList& nodes, std::string_view file, Diagnostics& notes) {
  constexpr double kVisibleShear = 1e-4;
  Skeleton skeleton;
  for (std::size_t i = 0; i < nodes.nodes.size(); ++i) {
    const Decomposed local = decompose(affine(nodes.nodes[i]->mTransformation));
    if (local.shear > kVisibleShear)
      notes.warn("node-sheared", file, "node matrix is no translation, rotation and scale", i);
    Joint joint;
    joint.name = text(nodes.nodes[i]->mName);
    if (nodes.parents[i] != JointId::kInvalid) joint.parent = JointId(nodes.parents[i]);
    joint.rest = local.transform;
    skeleton.joints.push_back(std::move(joint));
  }
  return skeleton;
}

void addClips(const aiScene& scene, const NodeList& nodes, std::string_view file,
              Character& character, Diagnostics& notes) {
  for (unsigned a = 0; a < scene.mNumAnimations; ++a) {
    const aiAnimation& animation = *scene.mAnimations[a];
    Clip clip;
    clip.name = text(animation.mName);
    if (clip.name.empty()) clip.name = "clip" + std::to_string(a);
    const double rate =
        animation.mTicksPerSecond > 0 ? animation.mTicksPerSecond : kAssumedTicksPerSecond;
    for (unsigned c = 0; c < animation.mNumChannels; ++c) {
      const auto node = nodes.by_name.find(text(animation.mChannels[c]->mNodeName));
      if (node == nodes.by_name.end() || character.skeleton.size() == 0)
        notes.warn("track-without-joint", file, "motion of a node that does not exist; ignored", c);
      else
        addNodeTracks(*animation.mChannels[c], JointId(node->second), rate, file, clip, notes);
    }
    for (unsigned c = 0; c < animation.mNumMorphMeshChannels; ++c) {
      const aiMeshMorphAnim& motion = *animation.mMorphMeshChannels[c];
      const MeshInstance* instance = morphedInstance(character, nodes, text(motion.mName));
      if (instance == nullptr)
        notes.warn("track-without-morphs", file, "motion of morphs that do not exist; ignored", c);
      else
        addMorphTrack(motion, *instance, rate, clip);
    }
    if (!clip.tracks.empty()) character.clips.push_back(std::move(clip));
  }
}

}  // namespace derm::detail::assimp
