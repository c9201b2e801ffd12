#include "io/gltf/clip_writer.h"

#include <algorithm>
#include <span>

namespace derm::detail::gltf {
namespace {

const char* pathName(Channel channel) {
  switch (channel) {
    case Channel::Translation:
      return "translation";
    case Channel::Rotation:
      return "rotation";
    case Channel::Scale:
      return "scale";
    case Channel::MorphWeights:
    case Channel::Control:
      break;
  }
  return "weights";
}

/// All numbers of a clip in one buffer view; equal runs of times are stored once.
class KeyPool {
 public:
  explicit KeyPool(Output& out) : out_(out), view_(arraySize(out.root, "bufferViews")) {}

  std::size_t addTimes(const std::vector<float>& times) {
    const auto [it, fresh] = times_.try_emplace(times, 0);
    if (fresh) {
      it->second = add(times, "SCALAR", 1);
      setBounds(out_.root["accessors"][it->second], times, 1);
    }
    return it->second;
  }
  std::size_t add(const std::vector<float>& values, const char* type, std::size_t width) {
    Json accessor = {{"bufferView", view_},
                     {"componentType", 5126},
                     {"count", values.size() / width},
                     {"type", type}};
    if (!numbers_.empty()) accessor["byteOffset"] = numbers_.size() * sizeof(float);
    numbers_.insert(numbers_.end(), values.begin(), values.end());
    return out_.append("accessors", std::move(accessor));
  }
  void finish() {
    out_.addView(
        {reinterpret_cast<const std::uint8_t*>(numbers_.data()), numbers_.size() * sizeof(float)},
        0);
  }

 private:
  Output& out_;
  std::size_t view_;
  std::vector<float> numbers_;
  std::map<std::vector<float>, std::size_t> times_;
};

/// What a file may hold: unit rotations, and no spline of one key.
Track fitForFile(Track track) {
  const std::size_t width = track.valueWidth();
  if (track.interpolation == Interpolation::Cubic && track.times_s.size() < 2) {
    track.interpolation = Interpolation::Linear;
    track.values =
        std::vector<float>(track.values.begin() + static_cast<std::ptrdiff_t>(width),
                           track.values.begin() + static_cast<std::ptrdiff_t>(2 * width));
  }
  if (track.channel != Channel::Rotation) return track;
  const bool cubic = track.interpolation == Interpolation::Cubic;
  for (std::size_t k = 0; k < track.times_s.size(); ++k) {
    float* v = track.values.data() + (cubic ? (3 * k + 1) * 4 : k * 4);
    const Quatf q = fileRotation(Quatf(v[3], v[0], v[1], v[2]));
    std::copy_n(q.coeffs().data(), 4, v);
  }
  return track;
}

/// Two tracks whose keys can be put side by side.
bool sameKeys(const Track& a, const Track& b) {
  return a.interpolation == b.interpolation && a.times_s == b.times_s;
}

}  // namespace

const char* interpolationName(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::Step:
      return "STEP";
    case Interpolation::Cubic:
      return "CUBICSPLINE";
    case Interpolation::Linear:
      break;
  }
  return "LINEAR";
}

bool ClipWriter::sameTrack(const Track& now, const Track& then) const {
  if (now.channel != then.channel || now.interpolation != then.interpolation ||
      now.morph_count != then.morph_count || now.times_s != then.times_s ||
      now.values != then.values)
    return false;
  if (now.channel == Channel::Control) return now.control == then.control;
  if (now.ofJoint()) return nodes_.originalOf(now.joint) == then.joint;
  const std::vector<MeshInstance>& instances = context_.character.instances;
  for (std::size_t i = 0; i < instances.size(); ++i)
    if (instances[i].morph_count > 0 && instances[i].first_morph == now.first_morph) {
      const int j = instances_.sourceOf(i);
      if (j < 0) return false;
      // One more target, and every key of the old channel would be too short.
      const MeshInstance& before = context_.original->character.instances[j];
      return before.first_morph == then.first_morph &&
             before.morph_count == instances[i].morph_count;
    }
  return false;
}

bool ClipWriter::sameClip(const Clip& now, const Clip& then) const {
  return now.name == then.name &&
         std::equal(now.tracks.begin(), now.tracks.end(), then.tracks.begin(), then.tracks.end(),
                    [&](const Track& a, const Track& b) { return sameTrack(a, b); });
}

/// First the same clip at the same index, then the same elsewhere, then one of the same name.
void ClipWriter::matchSources() {
  const std::vector<Clip>& now = context_.character.clips;
  match_.assign(now.size(), -1);
  unchanged_.assign(now.size(), false);
  if (context_.original == nullptr || !nodes_.keepsNodes()) return;
  // Clips of controls alone come after those that are animations, and have none to claim.
  const std::span<const Clip> then = std::span(context_.original->character.clips)
                                         .first(arraySize(context_.document->root, "animations"));
  std::vector<bool> claimed(then.size(), false);
  const auto claim = [&](std::size_t i, std::size_t j, bool same) {
    match_[i] = static_cast<int>(j);
    unchanged_[i] = same;
    claimed[j] = true;
  };
  for (std::size_t i = 0; i < std::min(now.size(), then.size()); ++i)
    if (sameClip(now[i], then[i])) claim(i, i, true);
  std::multimap<std::string, std::size_t> by_name;
  for (std::size_t j = 0; j < then.size(); ++j)
    if (!claimed[j]) by_name.emplace(then[j].name, j);
  for (const bool exact : {true, false})
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto [begin, end] = by_name.equal_range(now[i].name);
      for (auto it = begin; it != end && match_[i] < 0; ++it)
        if (!claimed[it->second] && (!exact || sameClip(now[i], then[it->second])))
          claim(i, it->second, exact);
    }
}

/// One track for all morph weights of an instance, as glTF wants it. Weights that no track drives
/// stay at their default.
Track ClipWriter::gatherWeights(const std::vector<const Track*>& tracks,
                                const MeshInstance& instance) const {
  Track out{.channel = Channel::MorphWeights,
            .interpolation = tracks.front()->interpolation,
            .first_morph = instance.first_morph,
            .morph_count = instance.morph_count,
            .times_s = tracks.front()->times_s};
  const bool aligned = std::all_of(tracks.begin(), tracks.end(),
                                   [&](const Track* t) { return sameKeys(*t, *tracks.front()); });
  if (!aligned) {
    context_.notes.info("weights-resampled", "clips",
                        "morph weights keyed at different times were put on common linear keys");
    out.interpolation = Interpolation::Linear;
    for (const Track* t : tracks)
      out.times_s.insert(out.times_s.end(), t->times_s.begin(), t->times_s.end());
    std::sort(out.times_s.begin(), out.times_s.end());
    out.times_s.erase(std::unique(out.times_s.begin(), out.times_s.end()), out.times_s.end());
  }
  const std::size_t width = instance.morph_count;
  const std::size_t rows = out.interpolation == Interpolation::Cubic ? 3 : 1;
  const std::size_t value_row = rows == 3 ? 1 : 0;
  out.values.assign(out.times_s.size() * rows * width, 0.0f);
  for (std::size_t k = 0; k < out.times_s.size(); ++k)
    for (std::size_t m = 0; m < width; ++m)
      out.values[(k * rows + value_row) * width + m] =
          context_.character.morphs[instance.first_morph + m].default_weight;
  std::vector<float> sample;
  for (const Track* t : tracks) {
    const std::uint32_t first = std::max(t->first_morph, instance.first_morph);
    const std::uint32_t end =
        std::min(t->first_morph + t->morph_count, instance.first_morph + instance.morph_count);
    sample.resize(t->morph_count);
    for (std::size_t k = 0; k < out.times_s.size(); ++k) {
      if (!aligned) sampleTrack(*t, out.times_s[k], sample);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::uint32_t m = first; m < end; ++m)
          out.values[(k * rows + r) * width + (m - instance.first_morph)] =
              aligned ? t->values[(k * rows + r) * t->morph_count + (m - t->first_morph)]
                      : sample[m - t->first_morph];
    }
  }
  return out;
}

/// The clip's tracks by what they move, in their order.
std::vector<std::pair<ClipWriter::Target, Track>> ClipWriter::gatherTracks(const Clip& clip) const {
  std::vector<std::pair<Target, Track>> out;
  std::map<Target, std::size_t> index_of;
  std::vector<const Track*> weights;
  const auto put = [&](Target target, Track track) {
    const auto [it, fresh] = index_of.try_emplace(target, out.size());
    if (fresh) {
      out.emplace_back(std::move(target), std::move(track));
      return;
    }
    context_.notes.warn("repeated-track", "clip \"" + clip.name + "\"",
                        "two tracks move the same thing; the last one is written");
    out[it->second].second = std::move(track);
  };
  for (const Track& track : clip.tracks)
    if (track.channel == Channel::MorphWeights) weights.push_back(&track);
  const std::vector<MeshInstance>& instances = context_.character.instances;
  std::vector<bool> done(instances.size(), false);
  for (const Track& track : clip.tracks) {
    if (track.channel == Channel::Control) continue;
    if (track.ofJoint()) {
      put({nodes_.nodeOf(track.joint), pathName(track.channel)}, fitForFile(track));
      continue;
    }
    const auto drives = [](const Track& t, const MeshInstance& i) {
      return t.first_morph < i.first_morph + i.morph_count &&
             i.first_morph < t.first_morph + t.morph_count;
    };
    for (std::size_t i = 0; i < instances.size(); ++i) {
      if (done[i] || !drives(track, instances[i])) continue;
      done[i] = true;
      std::vector<const Track*> mine;
      for (const Track* t : weights)
        if (drives(*t, instances[i])) mine.push_back(t);
      if (const std::optional<std::size_t> node = instances_.nodeOf(i))
        put({*node, "weights"}, fitForFile(gatherWeights(mine, instances[i])));
      else
        context_.notes.warn("weights-not-written", "clip \"" + clip.name + "\"",
                            "moves morph targets of a mesh that no node shows");
    }
  }
  return out;
}

/// Channels of the document's animation that derm does not understand come along.
void ClipWriter::addUnreadChannels(std::size_t source, Json& animation) const {
  const Json& before = context_.document->root["animations"][source];
  const std::vector<bool>& read = context_.original->channels_read[source];
  for (std::size_t c = 0; c < read.size(); ++c) {
    if (read[c]) continue;
    Json channel = before["channels"][c];
    const Json* index = findMember(channel, "sampler");
    const auto sampler = index ? asUint(*index) : std::nullopt;
    if (!sampler || *sampler >= arraySize(before, "samplers")) continue;
    animation["samplers"].push_back(before["samplers"][*sampler]);
    channel["sampler"] = animation["samplers"].size() - 1;
    animation["channels"].push_back(std::move(channel));
  }
}

Json ClipWriter::writeClip(const Clip& clip, int source, float& start) const {
  Json animation = source >= 0 ? context_.document->root["animations"][source] : Json::object();
  animation["name"] = clip.name;
  animation["channels"] = Json::array();
  animation["samplers"] = Json::array();
  std::vector<std::pair<Target, Track>> tracks = gatherTracks(clip);
  for (const auto& [target, track] : tracks) start = std::min(start, track.times_s.front());
  if (start < 0)
    context_.notes.warn("negative-times", "clip \"" + clip.name + "\"",
                        "starts before time 0, which glTF does not allow; moved to start there");
  if (!tracks.empty()) {
    KeyPool pool(context_.out);
    for (auto& [target, track] : tracks) {
      for (float& t : track.times_s) t -= start;
      if (track.ofJoint()) nodes_.splitMatrix(track.joint);
      const bool weights = track.channel == Channel::MorphWeights;
      const std::size_t input = pool.addTimes(track.times_s);
      const std::size_t output = weights                   ? pool.add(track.values, "SCALAR", 1)
                                 : track.valueWidth() == 4 ? pool.add(track.values, "VEC4", 4)
                                                           : pool.add(track.values, "VEC3", 3);
      animation["samplers"].push_back({{"input", input},
                                       {"output", output},
                                       {"interpolation", interpolationName(track.interpolation)}});
      animation["channels"].push_back(
          {{"sampler", animation["samplers"].size() - 1},
           {"target", {{"node", target.first}, {"path", target.second}}}});
    }
    pool.finish();
  }
  if (source >= 0) addUnreadChannels(static_cast<std::size_t>(source), animation);
  return animation["channels"].empty() ? Json(nullptr) : animation;
}

void ClipWriter::write() {
  matchSources();
  const std::vector<Clip>& clips = context_.character.clips;
  Json animations = Json::array();
  starts_.assign(clips.size(), 0.0f);
  for (std::size_t i = 0; i < clips.size(); ++i) {
    Json animation = unchanged_[i] ? context_.document->root["animations"][match_[i]]
                                   : writeClip(clips[i], match_[i], starts_[i]);
    written_.push_back(animation.is_null() ? -1 : static_cast<int>(animations.size()));
    const bool moves_controls =
        std::any_of(clips[i].tracks.begin(), clips[i].tracks.end(),
                    [](const Track& t) { return t.channel == Channel::Control; });
    if (!animation.is_null())
      animations.push_back(std::move(animation));
    else if (!moves_controls)
      context_.notes.warn("empty-clip", "clips", "a clip that moves nothing is not written", i);
  }
  if (animations.empty() && context_.original != nullptr && clips.empty() &&
      context_.original->character.clips.empty())
    return;  // as it came, even if it was an empty list
  if (animations.empty())
    context_.out.root.erase("animations");
  else
    context_.out.root["animations"] = std::move(animations);
}

}  // namespace derm::detail::gltf
