#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/face/detail_acquisition.h"
#include "derm/face/map_transfer.h"
#include "derm/image/normal_map.h"
#include "derm/io/file_bytes.h"
#include "derm/io/image_file.h"
#include "derm/io/photo_file.h"
#include "derm/io/png.h"

#include "character_input.h"
#include "face_detail_verbs.h"
#include "face_verbs.h"
#include "output_checks.h"

namespace derm::cli {

Result<PhotoLight> photoLight(const std::string& text) {
  const std::size_t comma = text.find(',');
  const auto azimuth = numberOf(std::string_view(text).substr(0, comma));
  const auto elevation = comma == std::string::npos
                             ? std::nullopt
                             : numberOf(std::string_view(text).substr(comma + 1));
  if (!azimuth || !elevation)
    return Error{ErrorCode::BadArgument,
                 "needs azimuth,elevation in degrees (0,30 is from above), not " + text,
                 {.element = "--light"}};
  return PhotoLight{*azimuth, *elevation};
}

namespace {

struct AcquireOptions {
  std::string neutral, expression;
  std::vector<std::string> also;  ///< neutral, expression, light of further pairs
  std::string light = "0,0";
  std::string landmarks;
  std::string mask;
  std::string method = "fit";
  bool bulge = false;
  bool fine = false;
  bool no_align = false;
  double megapixels = 3;
  std::string onto;
  std::string onto_unit;
  int texture = 2048;
  MapFileOptions map;
  std::string output;
  std::string height;
  std::string report;
};

Error badFile(const std::string& file, const std::string& element, const std::string& message) {
  return {ErrorCode::BadData, message, {.file = file, .element = element}};
}

/// `count` numbers of a JSON list.
std::optional<std::vector<double>> numbersOf(const nlohmann::json& list, std::size_t count) {
  if (!list.is_array() || list.size() != count) return {};
  std::vector<double> out;
  for (const nlohmann::json& v : list) {
    if (!v.is_number()) return {};
    out.push_back(v.get<double>());
  }
  return out;
}

Result<std::vector<PhotoLandmark>> landmarksOf(const nlohmann::json& file, const std::string& name,
                                               const std::string& key) {
  std::vector<PhotoLandmark> out;
  const auto found = file.find(key);
  if (found == file.end()) return out;
  if (!found->is_object()) return badFile(name, key, "must be an object of label: [x, y]");
  for (const auto& [label, position] : found->items()) {
    const auto p = numbersOf(position, 2);
    if (!p) return badFile(name, key + "." + label, "must be [x, y] in pixels");
    out.push_back({label, {(*p)[0], (*p)[1]}});
  }
  return out;
}

Result<std::vector<DetailZone>> zonesOf(const nlohmann::json& file, const std::string& name) {
  std::vector<DetailZone> out;
  const auto zones = file.find("zones");
  if (zones == file.end()) return out;
  if (!zones->is_object()) return badFile(name, "zones", "must be an object of name: zone");
  for (const auto& [label, zone] : zones->items()) {
    const std::string element = "zones." + label;
    if (!zone.is_object()) return badFile(name, element, "must be an object");
    DetailZone made{.name = label};
    if (const auto outline = zone.find("outline"); outline != zone.end()) {
      if (!outline->is_array()) return badFile(name, element, "outline must be a list of [x, y]");
      for (const nlohmann::json& corner : *outline) {
        const auto p = numbersOf(corner, 2);
        if (!p) return badFile(name, element, "outline must be a list of [x, y]");
        made.outline.emplace_back(static_cast<float>((*p)[0]), static_cast<float>((*p)[1]));
      }
    }
    if (const auto fold = zone.find("fold"); fold != zone.end()) {
      if (*fold != "furrow" && *fold != "bulge")
        return badFile(name, element, "fold must be \"furrow\" or \"bulge\"");
      made.fold = *fold == "bulge" ? FoldKind::Bulge : FoldKind::Furrow;
    }
    if (const auto normal = zone.find("normal"); normal != zone.end()) {
      const auto n = numbersOf(*normal, 3);
      if (!n) return badFile(name, element, "normal must be [right, up, to the camera]");
      made.base_normal = Vec3d((*n)[0], (*n)[1], (*n)[2]);
    }
    out.push_back(std::move(made));
  }
  return out;
}

/// One channel: the picture's luminance, or its alpha where it has one that says something.
Result<FloatImage> loadMask(const std::string& file) {
  DERM_TRY(const FloatImage image, loadFloatImage(file, Curve::Linear));
  FloatImage out = luminanceOf(image);
  if (image.channels % 2 == 0)
    for (std::size_t i = 0; i < out.values.size(); ++i)
      out.values[i] *= image.values[(i + 1) * static_cast<std::size_t>(image.channels) - 1];
  return out;
}

Result<void> saveHeight(const std::string& file, const SlopeMap& map) {
  if (map.height.empty())
    return Error{
        ErrorCode::BadArgument, "only the height fit has heights", {.element = "--height"}};
  // Grey in the middle is 0; a pixel of height is 1/64 of the range.
  FloatImage grey = map.height;
  for (float& v : grey.values) v = 0.5f + v / 64;
  return savePng16(file, uint16Image(grey, Curve::Linear), Curve::Linear);
}

/// The map on a character's texture, through the points that photo and head both have.
Result<FloatImage> ontoHead(const AcquireOptions& options, const SlopeMap& map,
                            std::span<const PhotoLandmark> landmarks, Diagnostics& notes) {
  DERM_TRY(const Character head,
           (CharacterInput{.source = options.onto, .unit = options.onto_unit}.load(notes)));
  const Result<SlopeMap> moved =
      transferDetail(map, landmarks, head.mesh, head.points,
                     {.width = options.texture, .height = options.texture}, notes);
  if (!moved) {
    Error e = moved.error();
    e.where.file = e.where.element == "landmarks" ? options.landmarks : options.onto;
    return e;
  }
  return normalsOf(*moved);
}

Result<void> acquire(const AcquireOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output, options.height, options.report}));
  DERM_CHECK(checkNotAnInput(
      {options.output, options.height, options.report},
      {options.neutral, options.expression, options.mask, options.landmarks, options.onto}));
  for (std::size_t i = 0; i + 2 < options.also.size(); i += 3)
    DERM_CHECK(checkNotAnInput({options.output, options.height, options.report},
                               {options.also[i], options.also[i + 1]}));
  nlohmann::json file = nlohmann::json::object();
  if (!options.landmarks.empty()) {
    DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(options.landmarks, 1 << 24));
    file = nlohmann::json::parse(bytes, nullptr, false);
    if (!file.is_object()) return badFile(options.landmarks, "", "is no JSON object");
  }
  std::vector<std::array<std::string, 3>> sources = {
      {options.neutral, options.expression, options.light}};
  for (std::size_t i = 0; i + 2 < options.also.size(); i += 3)
    sources.push_back({options.also[i], options.also[i + 1], options.also[i + 2]});
  std::vector<PhotoPair> pairs;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    PhotoPair pair;
    const std::string number = i == 0 ? "" : std::to_string(i + 1);
    DERM_TRY(pair.light, photoLight(sources[i][2]));
    DERM_TRY(pair.neutral, loadPhoto(sources[i][0]));
    DERM_TRY(pair.expression, loadPhoto(sources[i][1]));
    DERM_TRY(pair.neutral_landmarks, landmarksOf(file, options.landmarks, "neutral" + number));
    DERM_TRY(pair.expression_landmarks,
             landmarksOf(file, options.landmarks, "expression" + number));
    pairs.push_back(std::move(pair));
  }
  AcquisitionDesc desc;
  desc.method = options.method == "thesis" ? DetailMethod::Thesis
                : options.method == "blur" ? DetailMethod::BlurDirection
                                           : DetailMethod::HeightFit;
  if (options.bulge) desc.zones.push_back({.name = "all", .fold = FoldKind::Bulge});
  DERM_TRY(const std::vector<DetailZone> zones, zonesOf(file, options.landmarks));
  desc.zones.insert(desc.zones.end(), zones.begin(), zones.end());
  if (!options.mask.empty()) {
    DERM_TRY(desc.mask, loadMask(options.mask));
  }
  desc.align = !options.no_align;
  desc.fine_grain = options.fine;
  desc.max_pixels = static_cast<std::size_t>(options.megapixels * 1e6);

  const auto start = std::chrono::steady_clock::now();
  Result<SlopeMap> map = [&] {
    ProgressBar bar("acquiring");
    return acquireDetail(pairs, desc, notes, bar.callback());
  }();
  if (!map) {
    Error e = map.error();
    if (e.where.element == "mask" && !options.mask.empty()) e.where = {.file = options.mask};
    if (e.where.element.ends_with("landmarks") && !options.landmarks.empty())
      e.where.file = options.landmarks;
    return e;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  FloatImage normals = normalsOf(*map);
  if (!options.onto.empty()) {
    DERM_TRY(normals, ontoHead(options, *map, pairs[0].neutral_landmarks, notes));
  }
  DERM_CHECK(options.map.save(options.output, normals));
  if (!options.height.empty()) DERM_CHECK(saveHeight(options.height, *map));
  if (!options.report.empty()) {
    const nlohmann::json report = {{"width", normals.width},      {"height", normals.height},
                                   {"photo_px", map->photo_px},   {"noise", map->noise},
                                   {"aligned_px", map->moved_px}, {"masked", map->masked},
                                   {"seconds", seconds}};
    DERM_CHECK(writeText(options.report, jsonFileText(report)));
  }
  say("{}: {} x {}, {:.0f} % of it wrinkled, noise {:.4f}, aligned by {:.2f} px, {:.1f} s\n",
      options.output, normals.width, normals.height, 100 * map->masked, map->noise, map->moved_px,
      seconds);
  return {};
}

}  // namespace

void addFaceDetail(CLI::App& face, Run& run) {
  CLI::App* detail = face.add_subcommand(
      "detail", "fine wrinkles: normal maps, from photos and otherwise, and what plays them");
  detail->require_subcommand(1);
  const auto options = std::make_shared<AcquireOptions>();
  CLI::App* verb = detail->add_subcommand(
      "acquire", "a normal map from two photos: the face at rest, and with an expression");
  verb->add_option("neutral", options->neutral, "photo at rest, .jpg or .png")->required();
  verb->add_option("expression", options->expression, "photo with the expression")->required();
  verb->add_option("--light", options->light,
                   "AZIMUTH,ELEVATION of the lamp from the camera [deg]; 0,30 is from above")
      ->capture_default_str();
  verb->add_option("--also", options->also, "NEUTRAL EXPRESSION LIGHT: the same under another lamp")
      ->type_size(3)
      ->expected(-1);
  verb->add_option("--landmarks", options->landmarks,
                   "JSON: {\"neutral\": {label: [x, y]}, \"expression\": {...}, \"zones\": {...}}");
  verb->add_option("--mask", options->mask, "picture, white where detail is wanted");
  verb->add_option("--method", options->method, "fit, blur, or thesis (Dutreve 2011, eq. 5.8)")
      ->check(CLI::IsMember({"fit", "blur", "thesis"}))
      ->capture_default_str();
  verb->add_flag("--bulge", options->bulge, "frontal light: folds rise instead of going in");
  verb->add_flag("--fine", options->fine, "pores too; needs light from the side");
  verb->add_flag("--no-align", options->no_align, "landmarks alone, no dense alignment");
  verb->add_option("--megapixels", options->megapixels, "photos are reduced to this many")
      ->check(within(0.01, 64))
      ->capture_default_str();
  verb->add_option("--onto", options->onto,
                   "HEAD: the map goes onto its texture, through points of the same labels");
  verb->add_option("--onto-unit", options->onto_unit, "--unit of that head");
  verb->add_option("--texture", options->texture, "[px] width and height of that texture")
      ->check(CLI::Range(16, 16384))
      ->capture_default_str();
  options->map.addTo(*verb);
  verb->add_option("-o,--output", options->output, "a .png normal map")->required();
  verb->add_option("--height", options->height, "a .png of heights, 16 bits, 1/64 per pixel");
  verb->add_option("--report", options->report, "a .json report; - prints it");
  verb->footer(
      "example:\n"
      "  derm face detail acquire rest.jpg frown.jpg --landmarks l.json --light 0,30 -o frown.png");
  setWork(*verb, run, options, acquire);
  addFaceDetailMaps(*detail, run);
  addFaceDetailPlay(*detail, run);
  addFaceDetailCurve(*detail, run);
}

}  // namespace derm::cli
