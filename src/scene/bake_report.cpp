#include "derm/scene/bake_report.h"

#include <numbers>
#include <string_view>
#include <type_traits>
#include <utility>

#include <nlohmann/json.hpp>

#include "derm/io/file_bytes.h"

namespace derm {
namespace {

using Json = nlohmann::ordered_json;

std::string hexadecimal(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(16, '0');
  for (std::size_t i = 0; i < 16; ++i) out[15 - i] = kDigits[value >> (4 * i) & 15];
  return out;
}

Json errorsOf(const BakeReport& report, const BakeReport::Correctives& c) {
  const double percent = report.diagonal_m > 0 ? 100 / report.diagonal_m : 0;
  return {{"shapes", c.shapes},
          {"keys", c.keys},
          {"max_error_m", c.max_error_m},
          {"rms_error_m", c.rms_error_m},
          {"max_error_between_m", c.max_error_between_m},
          {"max_error_mm", 1000 * c.max_error_m},
          {"rms_error_mm", 1000 * c.rms_error_m},
          {"max_error_between_mm", 1000 * c.max_error_between_m},
          {"max_error_percent", percent * c.max_error_m},
          {"rms_error_percent", percent * c.rms_error_m},
          {"max_error_between_percent", percent * c.max_error_between_m},
          {"volume_change", c.volume_change},
          {"near_singular", c.near_singular},
          {"max_influences", c.max_influences},
          {"max_error_four_influences_m", c.max_error_four_influences_m},
          {"max_error_four_influences_mm", 1000 * c.max_error_four_influences_m}};
}

Json anglesOf(const BakeReport::FoldMaps& m) {
  constexpr double kDegrees = 180 / std::numbers::pi;
  return {{"maps", m.maps},
          {"size_px", m.size_px},
          {"largest_turn_deg", kDegrees * m.largest_turn_rad},
          {"max_error_deg", kDegrees * m.max_error_rad},
          {"rms_error_deg", kDegrees * m.rms_error_rad},
          {"max_error_between_deg", kDegrees * m.max_error_between_rad},
          {"rms_error_between_deg", kDegrees * m.rms_error_between_rad}};
}

/// Reads values of one object; the first of a wrong type is the error.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string_view file, std::string element)
      : object_(object), file_(file), element_(std::move(element)) {}

  template <class T>
  void read(const char* key, T& value) {
    const auto at = object_.find(key);
    if (at == object_.end() || error_) return;
    constexpr bool is_text = std::is_same_v<T, std::string>;
    constexpr bool is_flag = std::is_same_v<T, bool>;
    const bool fits = is_text ? at->is_string() : is_flag ? at->is_boolean() : at->is_number();
    if (!fits)
      error_ = Error{ErrorCode::BadData,
                     std::string("expected ") + (is_text   ? "text"
                                                 : is_flag ? "true or false"
                                                           : "a number"),
                     {.file = std::string(file_), .element = element_ + key}};
    else
      value = at->template get<T>();
  }
  Result<void> done() const {
    if (error_) return *error_;
    return {};
  }

 private:
  const Json& object_;
  std::string_view file_;
  std::string element_;
  std::optional<Error> error_;
};

Result<std::vector<BakeReport::Frame>> framesOf(const Json& json, std::string_view name) {
  std::vector<BakeReport::Frame> out;
  const auto frames = json.find("frames");
  if (frames == json.end() || !frames->is_array())
    return Error{ErrorCode::BadData,
                 "has no frames: not a report of derm bake",
                 {.file = std::string(name), .element = "frames"}};
  for (std::size_t i = 0; i < frames->size(); ++i) {
    const std::string element = "frames[" + std::to_string(i) + "]";
    if (!(*frames)[i].is_object())
      return Error{ErrorCode::BadData,
                   "expected an object",
                   {.file = std::string(name), .element = element}};
    ObjectReader in((*frames)[i], name, element + ".");
    BakeReport::Frame& f = out.emplace_back();
    in.read("time_s", f.time_s);
    in.read("volume_m3", f.volume_m3);
    in.read("area_m2", f.area_m2);
    in.read("linear_volume_m3", f.linear_volume_m3);
    in.read("linear_area_m2", f.linear_area_m2);
    in.read("max_displacement_m", f.max_displacement_m);
    in.read("mean_displacement_m", f.mean_displacement_m);
    in.read("played_volume_m3", f.played_volume_m3);
    DERM_CHECK(in.done());
  }
  return out;
}

}  // namespace

Result<BakeReport> parseBakeReport(std::string_view text, std::string_view name) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object())
    return Error{
        ErrorCode::BadData, "is not JSON with an object at its top", {.file = std::string(name)}};
  BakeReport out;
  ObjectReader in(json, name, "");
  in.read("character", out.character);
  in.read("clip", out.clip);
  if (const auto clips = json.find("clips"); clips != json.end() && clips->is_array())
    for (const Json& clip : *clips)
      if (clip.is_string()) out.clips.push_back(clip.get<std::string>());
  in.read("output", out.output);
  in.read("as", out.as);
  in.read("fps", out.fps);
  in.read("vertices", out.vertices);
  in.read("triangles", out.triangles);
  in.read("closed", out.closed);
  in.read("diagonal_m", out.diagonal_m);
  in.read("rest_volume_m3", out.rest_volume_m3);
  in.read("rest_area_m2", out.rest_area_m2);
  in.read("frame_count", out.frame_count);
  DERM_CHECK(in.done());
  DERM_TRY(out.frames, framesOf(json, name));
  return out;
}

Result<BakeReport> loadBakeReport(const std::filesystem::path& file) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parseBakeReport({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         file.string());
}

std::string toJson(const BakeReport& report) {
  Json json = {{"character", report.character},
               {"clip", report.clip},
               {"output", report.output},
               {"as", report.as},
               {"fps", report.fps},
               {"vertices", report.vertices},
               {"triangles", report.triangles},
               {"closed", report.closed},
               {"diagonal_m", report.diagonal_m},
               {"rest_volume_m3", report.rest_volume_m3},
               {"rest_area_m2", report.rest_area_m2}};
  if (!report.clips.empty()) json["clips"] = report.clips;
  json["frame_count"] = report.frame_count;
  json["frames"] = Json::array();
  for (const BakeReport::Frame& f : report.frames) {
    json["frames"].push_back(Json::object());
    if (!report.clips.empty()) json["frames"].back()["clip"] = report.clips[f.clip];
    json["frames"].back().update({{"time_s", f.time_s},
                                  {"volume_m3", f.volume_m3},
                                  {"area_m2", f.area_m2},
                                  {"linear_volume_m3", f.linear_volume_m3},
                                  {"linear_area_m2", f.linear_area_m2},
                                  {"max_displacement_m", f.max_displacement_m},
                                  {"mean_displacement_m", f.mean_displacement_m}});
    if (report.correctives) json["frames"].back()["played_volume_m3"] = f.played_volume_m3;
  }
  json["layers"] = Json::array();
  for (const BakeReport::Layer& l : report.layers)
    json["layers"].push_back(
        {{"name", l.name}, {"type", l.type}, {"ms_per_frame", l.ms_per_frame}});
  if (report.correctives) json["correctives"] = errorsOf(report, *report.correctives);
  if (report.fold_maps) json["fold_maps"] = anglesOf(*report.fold_maps);
  json["state_hash"] = hexadecimal(report.state_hash);
  json["notes"] = report.notes;
  // Names come from files and may be any bytes; a report must not fail over them.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace derm
