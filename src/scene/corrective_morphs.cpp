#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "derm/scene/correctives.h"

#include "scene/numbered_names.h"

namespace derm {
namespace {

/// Which shapes move an instance, in order.
std::vector<std::size_t> shapesOf(const MeshInstance& instance, const Correctives& correctives) {
  std::vector<std::size_t> out;
  const std::uint64_t end = std::uint64_t{instance.first_vertex} + instance.vertex_count;
  for (std::size_t k = 0; k < correctives.shapes.size(); ++k) {
    const std::vector<std::uint32_t>& moved = correctives.shapes[k].vertices;
    const auto at = std::lower_bound(moved.begin(), moved.end(), instance.first_vertex);
    if (at != moved.end() && *at < end) out.push_back(k);
  }
  return out;
}

constexpr std::string_view kNamePrefix = "derm ";

/// The largest number of a shape that a bake has named before, or 0: chained bakes count on.
std::size_t lastNumber(const Character& character) {
  std::size_t out = 0;
  for (const MorphTarget& morph : character.morphs)
    out = std::max<std::size_t>(out, detail::numberBehind(kNamePrefix, morph.name));
  return out;
}

MorphTarget morphOf(const Correctives::Shape& shape, std::size_t number,
                    const MeshInstance& instance) {
  MorphTarget morph{.name = std::string(kNamePrefix) + std::to_string(number)};
  const std::uint64_t end = std::uint64_t{instance.first_vertex} + instance.vertex_count;
  for (std::size_t i = 0; i < shape.vertices.size(); ++i) {
    if (shape.vertices[i] < instance.first_vertex || shape.vertices[i] >= end) continue;
    morph.vertices.push_back(shape.vertices[i]);
    morph.positions.push_back(shape.positions[i]);
    if (!shape.normals.empty()) morph.normals.push_back(shape.normals[i]);
  }
  return morph;
}

/// The part of a weight track that drives an instance's own morphs, counted from its first.
std::optional<Track> slice(const Track& track, const MeshInstance& instance) {
  const std::uint32_t first = std::max(track.first_morph, instance.first_morph);
  const std::uint32_t end =
      std::min(track.first_morph + track.morph_count, instance.first_morph + instance.morph_count);
  if (first >= end) return std::nullopt;
  Track out = track;
  out.first_morph = first - instance.first_morph;
  out.morph_count = end - first;
  out.values.clear();
  for (std::size_t at = 0; at < track.values.size(); at += track.morph_count) {
    const auto from =
        track.values.begin() + static_cast<std::ptrdiff_t>(at + (first - track.first_morph));
    out.values.insert(out.values.end(), from, from + out.morph_count);
  }
  return out;
}

/// The same keys with `more` further weights of zero after each value.
Track widened(const Track& track, std::uint32_t more) {
  Track out = track;
  out.morph_count += more;
  out.values.clear();
  for (std::size_t at = 0; at < track.values.size(); at += track.morph_count) {
    const auto from = track.values.begin() + static_cast<std::ptrdiff_t>(at);
    out.values.insert(out.values.end(), from, from + track.morph_count);
    out.values.insert(out.values.end(), more, 0.0f);
  }
  return out;
}

/// The weights of all shapes in one clip as a track of their own.
Track bakedTrack(const Correctives& correctives, const CorrectedClip& clip) {
  Track out{.channel = Channel::MorphWeights,
            .interpolation = Interpolation::Linear,
            .morph_count = static_cast<std::uint32_t>(correctives.shapes.size())};
  const auto add = [&](double time_s, std::size_t key) {
    const auto time = static_cast<float>(time_s);
    if (!out.times_s.empty() && !(time > out.times_s.back())) return;  // closer than float can tell
    out.times_s.push_back(time);
    for (std::size_t k = 0; k < correctives.shapes.size(); ++k)
      out.values.push_back(correctives.weight(key, k));
  };
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < correctives.times_s.size(); ++i) {
    if ((correctives.clips.empty() ? 0 : correctives.clips[i]) != clip.fitted) continue;
    if (!first) first = i;
    add(correctives.times_s[i], i);
  }
  if (clip.loop_end_s && first) add(*clip.loop_end_s, *first);
  return out;
}

/// One track for all of an instance's weights: its own, sampled at all keys, then the baked ones.
class MergedTrack {
 public:
  MergedTrack(std::span<const Track> own, std::span<const float> defaults, const Track* baked,
              std::span<const std::size_t> shapes) {
    const std::size_t width = defaults.size() + shapes.size();
    track_.channel = Channel::MorphWeights;
    track_.interpolation = Interpolation::Linear;
    track_.morph_count = static_cast<std::uint32_t>(width);
    for (const Track& t : own)
      track_.times_s.insert(track_.times_s.end(), t.times_s.begin(), t.times_s.end());
    if (baked != nullptr)
      track_.times_s.insert(track_.times_s.end(), baked->times_s.begin(), baked->times_s.end());
    std::sort(track_.times_s.begin(), track_.times_s.end());
    track_.times_s.erase(std::unique(track_.times_s.begin(), track_.times_s.end()),
                         track_.times_s.end());
    std::vector<float> all(baked != nullptr ? baked->morph_count : 0);
    for (const float time : track_.times_s) {
      std::vector<float> row(defaults.begin(), defaults.end());
      row.resize(width, 0.0f);
      for (const Track& t : own)
        sampleTrack(t, time, std::span(row).subspan(t.first_morph, t.morph_count));
      if (baked != nullptr) {
        sampleTrack(*baked, time, all);
        for (std::size_t i = 0; i < shapes.size(); ++i) row[defaults.size() + i] = all[shapes[i]];
      }
      track_.values.insert(track_.values.end(), row.begin(), row.end());
    }
  }
  Track take() && { return std::move(track_); }

 private:
  Track track_;
};

/// Builds the character instance by instance; morph numbers shift as shapes are put between.
class CorrectedCharacter {
 public:
  CorrectedCharacter(const Character& from, const Correctives& correctives)
      : from_(from), correctives_(correctives), out_(from) {
    out_.morphs.clear();
    const std::size_t last = lastNumber(from);
    for (std::size_t i = 0; i < from.instances.size(); ++i) {
      const MeshInstance& old = from.instances[i];
      shapes_.push_back(shapesOf(old, correctives));
      MeshInstance& now = out_.instances[i];
      now.first_morph = static_cast<std::uint32_t>(out_.morphs.size());
      now.morph_count = old.morph_count + static_cast<std::uint32_t>(shapes_[i].size());
      const auto own = from.morphs.begin() + old.first_morph;
      out_.morphs.insert(out_.morphs.end(), own, own + old.morph_count);
      for (const std::size_t k : shapes_[i])
        out_.morphs.push_back(morphOf(correctives.shapes[k], last + k + 1, old));
    }
  }

  /// Weights at every time, for a character that does not move.
  void setDefaults() {
    for (std::size_t i = 0; i < shapes_.size(); ++i)
      for (std::size_t s = 0; s < shapes_[i].size(); ++s) {
        const std::size_t at = out_.instances[i].first_morph + from_.instances[i].morph_count + s;
        out_.morphs[at].default_weight = correctives_.weight(0, shapes_[i][s]);
      }
  }

  /// `baked` is null for the clips that were not baked.
  void setClip(std::size_t index, const Track* baked, Diagnostics& notes) {
    const Clip& old = from_.clips[index];
    Clip& now = out_.clips[index];
    std::erase_if(now.tracks, [](const Track& t) { return t.channel == Channel::MorphWeights; });
    for (std::size_t i = 0; i < from_.instances.size(); ++i) {
      std::vector<Track> own;
      for (const Track& t : old.tracks)
        if (t.channel == Channel::MorphWeights)
          if (std::optional<Track> part = slice(t, from_.instances[i])) own.push_back(*part);
      for (Track& t :
           instanceTracks(i, own, shapes_[i].empty() ? nullptr : baked, old.name, notes)) {
        t.first_morph += out_.instances[i].first_morph;
        now.tracks.push_back(std::move(t));
      }
    }
  }

  Character take() && { return std::move(out_); }

 private:
  std::vector<Track> instanceTracks(std::size_t instance, const std::vector<Track>& own,
                                    const Track* baked, const std::string& clip,
                                    Diagnostics& notes) const {
    const MeshInstance& old = from_.instances[instance];
    const auto more = static_cast<std::uint32_t>(shapes_[instance].size());
    if (more == 0 || (own.empty() && baked == nullptr)) return own;
    if (baked == nullptr && own.size() == 1 && own.front().morph_count == old.morph_count)
      return {widened(own.front(), more)};
    for (const Track& t : own)
      if (t.interpolation != Interpolation::Linear)
        notes.warn("morph-weights-resampled", "clip \"" + clip + "\"",
                   "morph weights with steps or splines now have linear keys at every frame");
    std::vector<float> defaults;
    for (std::size_t m = 0; m < old.morph_count; ++m)
      defaults.push_back(from_.morphs[old.first_morph + m].default_weight);
    return {MergedTrack(own, defaults, baked, shapes_[instance]).take()};
  }

  const Character& from_;
  const Correctives& correctives_;
  Character out_;
  std::vector<std::vector<std::size_t>> shapes_;  ///< per instance
};

}  // namespace

Character withCorrectives(const Character& character, const Correctives& correctives,
                          std::span<const CorrectedClip> clips, Diagnostics& notes) {
  const std::size_t keys = correctives.times_s.size();
  DERM_REQUIRE(correctives.weights.size() == keys * correctives.shapes.size());
  DERM_REQUIRE(correctives.clips.empty() || correctives.clips.size() == keys);
  CorrectedCharacter out(character, correctives);
  if (clips.empty()) out.setDefaults();
  std::map<std::size_t, Track> baked;
  for (const CorrectedClip& clip : clips) {
    DERM_REQUIRE(clip.clip < character.clips.size());
    baked[clip.clip] = bakedTrack(correctives, clip);
  }
  for (std::size_t c = 0; c < character.clips.size(); ++c) {
    const auto track = baked.find(c);
    out.setClip(c, track != baked.end() ? &track->second : nullptr, notes);
  }
  return std::move(out).take();
}

Character withCorrectives(const Character& character, const Correctives& correctives,
                          std::optional<std::size_t> clip, std::optional<double> loop_end_s,
                          Diagnostics& notes) {
  if (!clip)
    return withCorrectives(character, correctives, std::span<const CorrectedClip>(), notes);
  const std::size_t fitted = correctives.clips.empty() ? 0 : correctives.clips.front();
  const CorrectedClip only{.fitted = fitted, .clip = *clip, .loop_end_s = loop_end_s};
  return withCorrectives(character, correctives, std::span(&only, 1), notes);
}

}  // namespace derm
