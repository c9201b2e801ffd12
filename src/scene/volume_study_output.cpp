#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "derm/scene/recipe_value.h"
#include "derm/scene/volume_study.h"

namespace derm {
namespace {

using Json = nlohmann::ordered_json;

/// Names come from files and may be any bytes; a report must not fail over them.
std::string text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json shapeOf(const SurfaceMeasure& m) {
  return {{"area_m2", m.area_m2}, {"min_stretch", m.min_stretch}, {"max_stretch", m.max_stretch}};
}

Json jsonOf(const VolumeStudy::Frame& frame, const VolumeStudy& study) {
  Json json = {{"time_s", frame.time_s},
               {"rest_m3", frame.rest_m3},
               {"before_m3", frame.before.volume_m3},
               {"after_m3", frame.after.volume_m3},
               {"max_move_m", frame.max_move_m},
               {"before", shapeOf(frame.before)},
               {"after", shapeOf(frame.after)},
               {"regions", Json::array()}};
  for (std::size_t l = 0; l < frame.regions.size(); ++l) {
    const VolumeStudy::Region& region = frame.regions[l];
    json["regions"].push_back({{"name", study.region_names[l]},
                               {"rest_m3", region.rest_m3},
                               {"before_m3", region.before.volume_m3},
                               {"after_m3", region.after.volume_m3},
                               {"target_m3", region.target_m3},
                               {"held", region.held},
                               {"before", shapeOf(region.before)},
                               {"after", shapeOf(region.after)}});
  }
  return json;
}

/// With the shortest digits that give the same number back.
std::string number(double value) { return toToml({.content = value}); }

/// Quoted where a name would break the columns.
std::string cell(const std::string& name) {
  if (name.find_first_of(",\"\n\r") == std::string::npos) return name;
  std::string out = "\"";
  for (const char c : name) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

double percent(double now, double rest) { return rest != 0 ? 100 * (now / rest - 1) : 0.0; }

}  // namespace

VolumeChange VolumeStudy::wholeChange(const Frame& frame) const {
  return {percent(frame.before.volume_m3, frame.rest_m3),
          percent(frame.after.volume_m3, frame.rest_m3)};
}

std::optional<std::size_t> VolumeStudy::worstRegionBefore() const {
  if (region_loss_before.empty()) return {};
  return static_cast<std::size_t>(
      std::max_element(region_loss_before.begin(), region_loss_before.end()) -
      region_loss_before.begin());
}

VolumeChange VolumeStudy::worstRegionChange(const Frame& frame) const {
  VolumeChange worst;
  for (const Region& region : frame.regions) {
    const double before = percent(region.before.volume_m3, region.rest_m3);
    const double after = percent(region.after.volume_m3, region.rest_m3);
    if (std::abs(before) > std::abs(worst.before_percent)) worst.before_percent = before;
    if (std::abs(after) > std::abs(worst.after_percent)) worst.after_percent = after;
  }
  return worst;
}

std::string toJson(const VolumeStudy& study) {
  const std::optional<std::size_t> worst = study.worstRegionBefore();
  Json json = {{"character", study.character},
               {"clip", study.clip},
               {"skinning", study.skinning},
               {"fps", study.fps},
               {"rest_m3", study.rest_m3},
               {"rest_area_m2", study.rest_area_m2},
               {"max_relative_loss_before", study.max_relative_loss_before},
               {"max_relative_region_loss_before", worst ? study.region_loss_before[*worst] : 0.0},
               {"worst_region_before", worst ? Json(study.region_names[*worst]) : Json()},
               {"max_relative_error_after", study.max_relative_error_after},
               {"max_relative_change_unheld", study.max_relative_change_unheld},
               {"frames", Json::array()}};
  for (const VolumeStudy::Frame& frame : study.frames)
    json["frames"].push_back(jsonOf(frame, study));
  return text(json);
}

std::string toJson(const std::vector<VolumeComparison>& rows) {
  Json json = {{"methods", Json::array()}};
  for (const VolumeComparison& row : rows)
    json["methods"].push_back({{"name", row.name},
                               {"worst_percent", row.worst_percent},
                               {"worst_region_percent", row.worst_region_percent},
                               {"max_move_m", row.max_move_m},
                               {"min_stretch", row.min_stretch},
                               {"max_stretch", row.max_stretch},
                               {"ms_per_frame", row.ms_per_frame}});
  return text(json);
}

std::string toCsv(const VolumeStudy& study) {
  std::string out =
      "time_s,before_m3,after_m3,before_area_m2,after_area_m2,before_min_stretch,"
      "before_max_stretch,after_min_stretch,after_max_stretch,max_move_m,rest_m3";
  for (const std::string& name : study.region_names)
    out += "," + cell(name + " before_m3") + "," + cell(name + " after_m3");
  out += "\n";
  for (const VolumeStudy::Frame& f : study.frames) {
    std::string line = number(f.time_s);
    for (const double v : {f.before.volume_m3, f.after.volume_m3, f.before.area_m2, f.after.area_m2,
                           f.before.min_stretch, f.before.max_stretch, f.after.min_stretch,
                           f.after.max_stretch, f.max_move_m, f.rest_m3})
      line += "," + number(v);
    for (const VolumeStudy::Region& r : f.regions)
      line += "," + number(r.before.volume_m3) + "," + number(r.after.volume_m3);
    out += line + "\n";
  }
  return out;
}

std::string toCsv(const std::vector<VolumeComparison>& rows) {
  std::string out =
      "method,worst_percent,worst_region_percent,max_move_m,min_stretch,max_stretch,ms_per_frame\n";
  for (const VolumeComparison& row : rows) {
    out += cell(row.name);
    for (const double v : {row.worst_percent, row.worst_region_percent, row.max_move_m,
                           row.min_stretch, row.max_stretch, row.ms_per_frame})
      out += "," + number(v);
    out += "\n";
  }
  return out;
}

PlotDesc plotOf(const VolumeStudy& study) {
  PlotSeries before{.name = "before, whole"}, after{.name = "after, whole"};
  // One region throughout: the worst of every frame would jump from one to another.
  const std::optional<std::size_t> worst = study.worstRegionBefore();
  const std::string name = worst ? study.region_names[*worst] : std::string();
  PlotSeries worst_before{.name = "before, " + name, .dashed = true};
  PlotSeries worst_after{.name = "after, " + name, .dashed = true};
  for (const VolumeStudy::Frame& f : study.frames) {
    const VolumeChange whole = study.wholeChange(f);
    const auto add = [&](PlotSeries& series, double y) {
      series.x.push_back(f.time_s);
      series.y.push_back(y);
    };
    add(before, whole.before_percent);
    add(after, whole.after_percent);
    if (!worst) continue;
    const VolumeStudy::Region& region = f.regions[*worst];
    add(worst_before, percent(region.before.volume_m3, region.rest_m3));
    add(worst_after, percent(region.after.volume_m3, region.rest_m3));
  }
  PlotDesc plot;
  plot.title = study.character + (study.clip.empty() ? "" : ", " + study.clip);
  plot.x = {.label = "time", .unit = "s"};
  plot.y = {.label = "change of volume", .unit = "%"};
  plot.series = {before, after};
  if (worst) plot.series.insert(plot.series.end(), {worst_before, worst_after});
  return plot;
}

}  // namespace derm
