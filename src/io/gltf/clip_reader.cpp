#include "io/gltf/clip_reader.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace derm::detail::gltf {
namespace {

std::optional<Channel> channelFrom(std::string_view path) {
  if (path == "translation") return Channel::Translation;
  if (path == "rotation") return Channel::Rotation;
  if (path == "scale") return Channel::Scale;
  if (path == "weights") return Channel::MorphWeights;
  return std::nullopt;
}

/// Whole numbers say only roughly where a quaternion is: those of a byte are up to 0.4 % longer or
/// shorter than 1, and would stretch the skin by twice that. As floats they are played as they are.
void makeUnit(Track& track) {
  const bool cubic = track.interpolation == Interpolation::Cubic;
  for (std::size_t at = cubic ? 4 : 0; at + 4 <= track.values.size(); at += cubic ? 12 : 4) {
    Eigen::Map<Eigen::Vector4f> key(track.values.data() + at);
    const double length = key.cast<double>().norm();
    if (length > 0.5) key = (key.cast<double>() / length).cast<float>();
  }
}

class ClipReader {
 public:
  ClipReader(const ReadContext& context, Import& import) : context_(context), import_(import) {
    instance_of_node_.assign(import.scene.parent_of_node.size(), -1);
    for (std::size_t i = 0; i < import.instances.size(); ++i)
      if (import.instances[i].node)
        instance_of_node_[*import.instances[i].node] = static_cast<int>(i);
  }

  Result<void> run() {
    const std::size_t count = arraySize(context_.root(), "animations");
    for (std::size_t i = 0; i < count; ++i) DERM_CHECK(readClip(i));
    return {};
  }

 private:
  Result<void> readClip(std::size_t index);
  /// False where the channel is carried, not read.
  Result<bool> findTarget(const Json& channel, const JsonPath& at, Track& track);
  Result<void> readSampler(const Json& animation, std::size_t sampler, const JsonPath& clip_at,
                           Track& track);
  Result<void> readKeys(const Accessor& input, const Accessor& output, const JsonPath& at,
                        Track& track);
  void dropEqualTimes(Track& track, std::size_t per_key, const JsonPath& at) const;

  const ReadContext& context_;
  Import& import_;
  const JsonPath root_;
  std::vector<int> instance_of_node_;
};

Result<void> ClipReader::readClip(std::size_t index) {
  const JsonPath at(root_, "animations", index);
  DERM_TRY(const Json* json, objectAt(context_.file(), context_.root(), "animations", index));
  Clip clip;
  clip.name = stringMember(*json, "name").value_or(fmt::format("animation_{}", index));
  const Json* channels = findMember(*json, "channels");
  const std::size_t count = arraySize(*json, "channels");
  DERM_CHECK(context_.take(count * (sizeof(Track) + 48), JsonPath(at, "channels")));
  std::vector<bool> read(count, false);
  std::set<std::tuple<Channel, std::uint32_t, std::uint32_t>> seen;
  for (std::size_t c = 0; c < count; ++c) {
    const JsonPath here(at, "channels", c);
    const Json& channel = (*channels)[c];
    if (!channel.is_object()) return context_.bad(here, "must be an object");
    Track track;
    DERM_TRY(const bool known, findTarget(channel, here, track));
    if (!known) continue;
    DERM_TRY(const auto sampler,
             indexMember(context_.file(), channel, "sampler", arraySize(*json, "samplers"), here));
    if (!sampler) return context_.bad(JsonPath(here, "sampler"), "missing");
    DERM_CHECK(readSampler(*json, *sampler, at, track));
    if (!seen.emplace(track.channel, track.joint.value, track.first_morph).second)
      context_.warn("repeated-target", at, "two channels move the same thing; the last counts", c);
    read[c] = true;
    clip.tracks.push_back(std::move(track));
  }
  import_.character.clips.push_back(std::move(clip));
  import_.channels_read.push_back(std::move(read));
  return {};
}

Result<bool> ClipReader::findTarget(const Json& channel, const JsonPath& at, Track& track) {
  const Json* target = findMember(channel, "target");
  if (target == nullptr || !target->is_object())
    return context_.bad(JsonPath(at, "target"), "missing or not an object");
  const JsonPath here(at, "target");
  DERM_TRY(const auto node, indexMember(context_.file(), *target, "node",
                                        import_.scene.parent_of_node.size(), here));
  const std::optional<Channel> channel_known =
      channelFrom(stringMember(*target, "path").value_or(""));
  if (!channel_known || !node) {
    // Such as KHR_animation_pointer's, which move materials or cameras.
    context_.notes.info("channel-carried", here.text(), "moves nothing derm knows; carried");
    return false;
  }
  track.channel = *channel_known;
  if (track.channel != Channel::MorphWeights) {
    track.joint = import_.scene.joint_of_node[*node];
    return track.joint.valid();
  }
  const int i = instance_of_node_[*node];
  const MeshInstance* instance =
      i >= 0 ? &import_.character.instances[static_cast<std::size_t>(i)] : nullptr;
  if (instance == nullptr || instance->morph_count == 0) {
    context_.warn("weights-without-morphs", here,
                  "moves morph targets that are not there; carried");
    return false;
  }
  track.first_morph = instance->first_morph;
  track.morph_count = instance->morph_count;
  return true;
}

Result<void> ClipReader::readSampler(const Json& animation, std::size_t sampler,
                                     const JsonPath& clip_at, Track& track) {
  const JsonPath at(clip_at, "samplers", sampler);
  const Json& json = animation["samplers"][sampler];
  if (!json.is_object()) return context_.bad(at, "must be an object");
  const std::string interpolation = stringMember(json, "interpolation").value_or("LINEAR");
  if (interpolation == "STEP")
    track.interpolation = Interpolation::Step;
  else if (interpolation == "CUBICSPLINE")
    track.interpolation = Interpolation::Cubic;
  else if (interpolation != "LINEAR")
    return context_.bad(JsonPath(at, "interpolation"), "unknown interpolation");
  DERM_TRY(const auto input_index, uintMember(context_.file(), json, "input", at));
  DERM_TRY(const auto output_index, uintMember(context_.file(), json, "output", at));
  if (!input_index || !output_index) return context_.bad(at, "needs an input and an output");
  DERM_TRY(const Accessor input, openAccessor(context_, *input_index, JsonPath(at, "input")));
  DERM_TRY(const Accessor output, openAccessor(context_, *output_index, JsonPath(at, "output")));
  if (input.width != 1 || input.component != Component::Float)
    return context_.bad(JsonPath(at, "input"), "must be single floats");
  const std::size_t width = track.channel == Channel::MorphWeights ? 1 : track.valueWidth();
  if (output.width != width)
    return context_.bad(
        JsonPath(at, "output"),
        fmt::format("has {} numbers per value; {} are needed", output.width, width));
  if (output.component != Component::Float && !output.normalised)
    return context_.bad(JsonPath(at, "output"), "must be floats or normalised integers");
  return readKeys(input, output, at, track);
}

Result<void> ClipReader::readKeys(const Accessor& input, const Accessor& output, const JsonPath& at,
                                  Track& track) {
  const std::size_t per_key =
      track.valueWidth() * (track.interpolation == Interpolation::Cubic ? 3 : 1);
  const std::uint64_t needed = std::uint64_t{input.count} * per_key;
  const std::uint64_t there = std::uint64_t{output.count} * output.width;
  if (there < needed)
    return context_.bad(JsonPath(at, "output"),
                        fmt::format("{} numbers, but {} keys need {}", there, input.count, needed));
  if (there > needed)
    context_.warn("spare-values", at, "has more values than its keys need; the rest is ignored");
  DERM_TRY(track.times_s, readFloats(context_, input, JsonPath(at, "input")));
  DERM_TRY(track.values, readFloats(context_, output, JsonPath(at, "output")));
  track.values.resize(needed);
  if (track.channel == Channel::Rotation && output.component != Component::Float) makeUnit(track);
  for (std::size_t k = 1; k < track.times_s.size(); ++k)
    if (track.times_s[k] < track.times_s[k - 1])
      return context_.bad(JsonPath(at, "input"), "times do not increase", k);
  dropEqualTimes(track, per_key, at);
  return {};
}

/// Two keys at one time cannot both be right for it; the first stays.
void ClipReader::dropEqualTimes(Track& track, std::size_t per_key, const JsonPath& at) const {
  std::size_t kept = 0;
  for (std::size_t k = 0; k < track.times_s.size(); ++k) {
    if (kept > 0 && track.times_s[k] == track.times_s[kept - 1]) {
      context_.warn("equal-times", at, "two keys at one time; the first counts", k);
      continue;
    }
    if (kept != k) {
      track.times_s[kept] = track.times_s[k];
      std::copy_n(track.values.begin() + static_cast<std::ptrdiff_t>(k * per_key), per_key,
                  track.values.begin() + static_cast<std::ptrdiff_t>(kept * per_key));
    }
    ++kept;
  }
  track.times_s.resize(kept);
  track.values.resize(kept * per_key);
}

}  // namespace

Result<void> readClips(const ReadContext& context, Import& import) {
  return ClipReader(context, import).run();
}

}  // namespace derm::detail::gltf
