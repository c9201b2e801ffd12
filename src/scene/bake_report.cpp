#include "derm/scene/bake_report.h"

#include <string_view>

#include <nlohmann/json.hpp>

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
          {"max_error_m", c.max_error_m},
          {"rms_error_m", c.rms_error_m},
          {"max_error_mm", 1000 * c.max_error_m},
          {"rms_error_mm", 1000 * c.rms_error_m},
          {"max_error_percent", percent * c.max_error_m},
          {"rms_error_percent", percent * c.rms_error_m},
          {"near_singular", c.near_singular}};
}

}  // namespace

std::string toJson(const BakeReport& report) {
  Json json = {{"character", report.character},
               {"clip", report.clip},
               {"output", report.output},
               {"as", report.as},
               {"fps", report.fps},
               {"vertices", report.vertices},
               {"triangles", report.triangles},
               {"closed", report.closed},
               {"diagonal_m", report.diagonal_m}};
  json["frame_count"] = report.frame_count;
  json["frames"] = Json::array();
  for (const BakeReport::Frame& f : report.frames)
    json["frames"].push_back({{"time_s", f.time_s},
                              {"volume_m3", f.volume_m3},
                              {"area_m2", f.area_m2},
                              {"max_displacement_m", f.max_displacement_m},
                              {"mean_displacement_m", f.mean_displacement_m}});
  json["layers"] = Json::array();
  for (const BakeReport::Layer& l : report.layers)
    json["layers"].push_back(
        {{"name", l.name}, {"type", l.type}, {"ms_per_frame", l.ms_per_frame}});
  if (report.correctives) json["correctives"] = errorsOf(report, *report.correctives);
  json["state_hash"] = hexadecimal(report.state_hash);
  json["notes"] = report.notes;
  // Names come from files and may be any bytes; a report must not fail over them.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace derm
