#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/face/expression_names.h"
#include "derm/face/expressions.h"
#include "derm/face/face_features.h"

#include "face_verbs.h"

namespace derm::cli {
namespace {

struct NamesOptions {
  std::string of = "points";
};

std::string_view nameOf(FaceSide side) {
  if (side == FaceSide::Left) return "left";
  return side == FaceSide::Right ? "right" : "middle";
}

nlohmann::json pointsAsJson() {
  nlohmann::json out = nlohmann::json::array();
  for (const FaceFeature& p : faceFeatures())
    out.push_back({{"number", p.number},
                   {"name", p.name},
                   {"side", nameOf(p.side)},
                   {"mirror", p.mirror},
                   {"control_point", isControlPoint(p.number)},
                   {"meaning", p.meaning}});
  return out;
}

nlohmann::json shapesAsJson() {
  nlohmann::json out = nlohmann::json::array();
  for (const FaceShape& s : faceShapes())
    out.push_back(
        {{"name", s.name},
         {"side", nameOf(s.side)},
         {"mirror", s.mirror},
         {"action_unit", s.action_unit != 0 ? nlohmann::json(s.action_unit) : nlohmann::json()},
         {"points", std::vector<std::string>(s.points.begin(), s.points.end())}});
  return out;
}

nlohmann::json unitsAsJson() {
  nlohmann::json out = nlohmann::json::array();
  for (const ActionUnit& u : actionUnits()) out.push_back({{"number", u.number}, {"name", u.name}});
  return out;
}

nlohmann::json presetsAsJson() {
  nlohmann::json out = nlohmann::json::array();
  for (const VrmPreset& p : vrmPresets()) {
    nlohmann::json shapes = nlohmann::json::object();
    for (const ShapeWeight& s : p.shapes) shapes[std::string(s.shape)] = s.weight;
    out.push_back({{"name", p.name}, {"old_name", p.old_name}, {"shapes", shapes}});
  }
  return out;
}

nlohmann::json expressionsAsJson() {
  nlohmann::json out = nlohmann::json::array();
  for (const std::string_view name : expressionNames()) out.push_back(name);
  return out;
}

void printPoints() {
  for (const FaceFeature& p : faceFeatures())
    fmt::print("{:<6}{} {:<26}{:<6} {}\n", p.number, isControlPoint(p.number) ? "*" : " ", p.name,
               p.mirror == p.number ? "" : p.mirror, p.meaning);
}

void printShapes() {
  for (const FaceShape& s : faceShapes()) {
    const ActionUnit* unit = findActionUnit(s.action_unit);
    const std::string action =
        unit != nullptr ? fmt::format("AU {} {}", unit->number, unit->name) : std::string("-");
    fmt::print("{:<20} {:<30} {}\n", s.name, action,
               fmt::join(s.points.begin(), s.points.end(), " "));
  }
}

void printPresets() {
  for (const VrmPreset& p : vrmPresets()) {
    std::string mix;
    for (const ShapeWeight& s : p.shapes)
      mix += fmt::format("{}{:g} {}", mix.empty() ? "" : " + ", s.weight, s.shape);
    fmt::print("{:<12} {:<10} {}\n", p.name, p.old_name, mix);
  }
}

Result<void> printNames(const NamesOptions& options, Diagnostics&) {
  const std::string& of = options.of;
  if (commonOptions().json) {
    jsonAnswer() = of == "points"   ? pointsAsJson()
                   : of == "shapes" ? shapesAsJson()
                   : of == "units"  ? unitsAsJson()
                   : of == "vrm"    ? presetsAsJson()
                                    : expressionsAsJson();
    return {};
  }
  if (of == "points") printPoints();
  if (of == "shapes") printShapes();
  if (of == "vrm") printPresets();
  if (of == "units")
    for (const ActionUnit& u : actionUnits()) fmt::print("AU {:<3} {}\n", u.number, u.name);
  if (of == "expressions")
    for (const std::string_view name : expressionNames()) fmt::print("{}\n", name);
  return {};
}

}  // namespace

void addFaceNames(CLI::App& face, Run& run) {
  const auto options = std::make_shared<NamesOptions>();
  CLI::App* verb = face.add_subcommand("names", "the words faces are described with");
  verb->add_option(
          "OF", options->of,
          "points (MPEG-4; * = control point), shapes (ARKit, with FACS and points), units "
          "(FACS), vrm (presets as shapes) or expressions")
      ->check(CLI::IsMember({"points", "shapes", "units", "vrm", "expressions"}))
      ->capture_default_str();
  verb->footer("example:\n  derm face names shapes");
  setWork(*verb, run, options, printNames);
}

}  // namespace derm::cli
