#include "io/gltf/controls.h"

#include <cmath>
#include <optional>

#include "io/gltf/clip_writer.h"

namespace derm::detail::gltf {
namespace {

constexpr const char* kKey = "derm_controls";
constexpr std::size_t kMaxControls = 4096;

std::optional<float> finiteFloat(const Json* value) {
  if (value == nullptr || !value->is_number()) return std::nullopt;
  const auto number = static_cast<float>(value->get<double>());
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<Control> readControl(const Json& json) {
  const std::optional<std::string> name = stringMember(json, "name");
  const auto preset = finiteFloat(findMember(json, "preset"));
  const auto low = finiteFloat(findMember(json, "low"));
  const auto high = finiteFloat(findMember(json, "high"));
  if (!name || !preset || !low || !high) return std::nullopt;
  return Control{.name = *name, .preset = *preset, .low = *low, .high = *high};
}

std::optional<std::vector<float>> readNumbers(const Json& json, const char* key) {
  const Json* list = findMember(json, key);
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<float> out;
  for (const Json& value : *list) {
    const auto number = finiteFloat(&value);
    if (!number) return std::nullopt;
    out.push_back(*number);
  }
  return out;
}

std::optional<Track> readTrack(const Json& json) {
  const Json* index = findMember(json, "control");
  const std::uint64_t control =
      index != nullptr ? asUint(*index).value_or(kMaxControls) : kMaxControls;
  const std::string shape = stringMember(json, "interpolation").value_or("LINEAR");
  auto times = readNumbers(json, "times");
  auto values = readNumbers(json, "values");
  if (control >= kMaxControls || !times || !values) return std::nullopt;
  if (shape != "LINEAR" && shape != "STEP" && shape != "CUBICSPLINE") return std::nullopt;
  return Track{.channel = Channel::Control,
               .interpolation = shape == "STEP"          ? Interpolation::Step
                                : shape == "CUBICSPLINE" ? Interpolation::Cubic
                                                         : Interpolation::Linear,
               .control = static_cast<std::uint32_t>(control),
               .times_s = *std::move(times),
               .values = *std::move(values)};
}

/// Adds the tracks of one clip; false where something of it was left out.
bool readClip(const Json& json, Character& c) {
  const Json* index = findMember(json, "animation");
  const auto animation = index != nullptr ? asUint(*index) : std::nullopt;
  if (index != nullptr && (!animation || *animation >= c.clips.size())) return false;
  if (index == nullptr) c.clips.push_back({.name = stringMember(json, "name").value_or("")});
  Clip& clip = index != nullptr ? c.clips[*animation] : c.clips.back();
  const Json* tracks = findMember(json, "tracks");
  bool complete = tracks != nullptr && tracks->is_array();
  for (std::size_t i = 0; complete && i < tracks->size(); ++i) {
    std::optional<Track> track = readTrack((*tracks)[i]);
    // A track is held to what validate() says of it alone.
    const Clip alone{.name = clip.name,
                     .tracks = track ? std::vector{*track} : std::vector<Track>()};
    complete = track && validate(alone, {.controls = c.controls.size()}, "").ok();
    if (complete) clip.tracks.push_back(*std::move(track));
  }
  return complete;
}

}  // namespace

Result<void> readControls(const ReadContext& context, Import& import) {
  const JsonPath root;
  const JsonPath at(root, "extras");
  const Json* extras = findMember(context.root(), "extras");
  const Json* ours = extras != nullptr ? findMember(*extras, kKey) : nullptr;
  if (ours == nullptr) return {};
  Character& c = import.character;
  const auto malformed = [&](const char* what) { context.warn("bad-controls", at, what); };
  const std::size_t count = arraySize(*ours, "controls");
  if (count > kMaxControls) {
    malformed("more than 4096 controls; left out");
    return {};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const std::optional<Control> control = readControl((*ours)["controls"][i]);
    const bool valid = control && !control->name.empty() && control->low <= control->preset &&
                       control->preset <= control->high && !c.findControl(control->name).ok();
    if (!valid) {
      // Tracks count controls: without one of them none can be told.
      malformed("a control is malformed or named twice; all are left out");
      c.controls.clear();
      return {};
    }
    c.controls.push_back(*control);
  }
  std::uint64_t numbers = 0;
  for (std::size_t i = 0; i < arraySize(*ours, "clips"); ++i)
    for (std::size_t t = 0; t < arraySize((*ours)["clips"][i], "tracks"); ++t)
      numbers += arraySize((*ours)["clips"][i]["tracks"][t], "values");
  DERM_CHECK(context.take(numbers * 8, at));
  for (std::size_t i = 0; i < arraySize(*ours, "clips"); ++i)
    if (!readClip((*ours)["clips"][i], c)) malformed("a control's track is malformed; left out");
  return {};
}

void writeControls(const WriteContext& context, const std::vector<int>& animations,
                   const std::vector<float>& starts) {
  const Character& c = context.character;
  Json& root = context.out.root;
  if (c.controls.empty()) {
    if (const Json* extras = findMember(root, "extras");
        extras != nullptr && findMember(*extras, kKey) != nullptr) {
      root["extras"].erase(kKey);
      if (root["extras"].empty()) root.erase("extras");
    }
    return;
  }
  Json ours = {{"controls", Json::array()}, {"clips", Json::array()}};
  for (const Control& control : c.controls)
    ours["controls"].push_back({{"name", control.name},
                                {"preset", control.preset},
                                {"low", control.low},
                                {"high", control.high}});
  for (std::size_t i = 0; i < c.clips.size(); ++i) {
    Json clip = {{"name", c.clips[i].name}, {"tracks", Json::array()}};
    if (animations[i] >= 0) clip["animation"] = animations[i];
    for (const Track& track : c.clips[i].tracks) {
      if (track.channel != Channel::Control) continue;
      std::vector<float> times = track.times_s;
      for (float& t : times) t -= starts[i];
      clip["tracks"].push_back({{"control", track.control},
                                {"interpolation", interpolationName(track.interpolation)},
                                {"times", std::move(times)},
                                {"values", track.values}});
    }
    if (!clip["tracks"].empty()) ours["clips"].push_back(std::move(clip));
  }
  objectMember(root, "extras")[kKey] = std::move(ours);
}

}  // namespace derm::detail::gltf
