#include <array>

#include <fmt/format.h>

#include "derm/face/drawn_wrinkles.h"
#include "derm/face/sculpt_map.h"
#include "derm/image/normal_map.h"
#include "derm/io/image_file.h"
#include "derm/io/png.h"

#include "character_input.h"
#include "face_detail_verbs.h"
#include "output_checks.h"

namespace derm::cli {

void MapFileOptions::addTo(CLI::App& verb) {
  verb.add_option("--bits", bits, "of the normal map: 8 or 16")
      ->check(CLI::IsMember({8, 16}))
      ->capture_default_str();
  verb.add_option("--green", green, "up (+Y: glTF, OpenGL) or down (-Y: DirectX)")
      ->check(CLI::IsMember({"up", "down"}))
      ->capture_default_str();
}

Result<void> MapFileOptions::save(const std::string& file, const FloatImage& normals) const {
  const NormalGreen way = green == "down" ? NormalGreen::Down : NormalGreen::Up;
  return bits == 16 ? savePng16(file, encodeNormals16(normals, way), Curve::Linear)
                    : savePng(file, encodeNormals8(normals, way));
}

namespace {

struct DrawOptions {
  CharacterInput input;
  std::string lines = "forehead";
  int size = 2048;
  double depth = 1;
  MapFileOptions map;
  std::string output;
};

Result<void> draw(const DrawOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input.source}));
  DERM_TRY(const Character head, options.input.load(notes));
  const DrawnWrinklesDesc desc{
      .width = options.size, .height = options.size, .depth = options.depth};
  Result<FloatImage> normals = drawWrinkles(head.mesh, head.points, options.lines, desc, notes);
  if (!normals) {
    Error e = normals.error();
    if (e.where.element == "mesh") e.where = {.file = options.input.source};
    return e;
  }
  DERM_CHECK(options.map.save(options.output, *normals));
  say("{}: {} x {}, {}\n", options.output, options.size, options.size, options.lines);
  return {};
}

void addDraw(CLI::App& detail, Run& run) {
  const auto options = std::make_shared<DrawOptions>();
  CLI::App* verb =
      detail.add_subcommand("draw", "a normal map of lines by rule, from a head's control points");
  options->input.addTo(*verb, "HEAD");
  std::string known;
  for (const std::string_view name : drawnWrinkleNames())
    known += (known.empty() ? "" : ", ") + std::string(name);
  verb->add_option("--lines", options->lines, "sets joined by +: " + known)->capture_default_str();
  verb->add_option("--size", options->size, "[px] width and height")
      ->check(CLI::Range(16, 16384))
      ->capture_default_str();
  verb->add_option("--depth", options->depth, "of the folds, 1 = a grown person's")
      ->check(within(0.01, 8))
      ->capture_default_str();
  options->map.addTo(*verb);
  verb->add_option("-o,--output", options->output, "a .png normal map")->required();
  verb->footer("example:\n  derm face detail draw cast:man --lines frown+nose -o frown.png");
  setWork(*verb, run, options, draw);
}

struct SculptOptions {
  CharacterInput input;
  std::string sculpt;
  std::string sculpt_unit;
  int size = 2048;
  double reach_mm = 0;
  MapFileOptions map;
  std::string output;
};

Result<void> bakeSculpt(const SculptOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input.source, options.sculpt}));
  DERM_TRY(const Character head, options.input.load(notes));
  DERM_TRY(const Character fine,
           (CharacterInput{.source = options.sculpt, .unit = options.sculpt_unit}.load(notes)));
  const SculptMapDesc desc{
      .width = options.size, .height = options.size, .reach_m = 1e-3 * options.reach_mm};
  Result<FloatImage> normals = sculptNormals(head.mesh, head.points, fine.mesh, desc, notes);
  if (!normals) {
    Error e = normals.error();
    if (e.where.element == "mesh" || e.where.element == "head")
      e.where = {.file = options.input.source};
    if (e.where.element == "sculpt") e.where = {.file = options.sculpt};
    return e;
  }
  DERM_CHECK(options.map.save(options.output, *normals));
  say("{}: {} x {}, from {} triangles\n", options.output, options.size, options.size,
      fine.mesh.triangles.size());
  return {};
}

void addSculpt(CLI::App& detail, Run& run) {
  const auto options = std::make_shared<SculptOptions>();
  CLI::App* verb = detail.add_subcommand(
      "sculpt", "a normal map of what a finely sculpted surface adds to a head");
  options->input.addTo(*verb, "HEAD");
  verb->add_option("sculpt", options->sculpt, "the fine surface, lying on the head")->required();
  verb->add_option("--sculpt-unit", options->sculpt_unit, "--unit of the sculpt");
  verb->add_option("--size", options->size, "[px] width and height")
      ->check(CLI::Range(16, 16384))
      ->capture_default_str();
  verb->add_option("--reach", options->reach_mm,
                   "[mm] how far from the skin the sculpt is looked for; default 1 % of the head")
      ->check(within(0, 1e6));
  options->map.addTo(*verb);
  verb->add_option("-o,--output", options->output, "a .png normal map")->required();
  verb->footer("example:\n  derm face detail sculpt head.glb frown_sculpt.obj -o frown.png");
  setWork(*verb, run, options, bakeSculpt);
}

struct ConvertOptions {
  std::string input;
  std::string from = "up";
  double height_px = 0;
  double strength = 1;
  MapFileOptions map;
  std::string output;
};

Result<void> convert(const ConvertOptions& options, Diagnostics& /*notes*/) {
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input}));
  DERM_TRY(const FloatImage stored, loadFloatImage(options.input, Curve::Linear));
  FloatImage normals;
  if (options.from == "height") {
    if (stored.channels > 2)
      for (std::size_t i = 0; i < stored.values.size();
           i += static_cast<std::size_t>(stored.channels))
        if (std::abs(stored.values[i] - stored.values[i + 2]) > 0.02f)
          return Error{ErrorCode::BadData,
                       "has colours: heights are grey (a normal map needs --from up or down)",
                       {.file = options.input}};
    normals = normalsOfHeights(stored, static_cast<float>(options.height_px * options.strength));
  } else {
    if (stored.channels < 3)
      return Error{
          ErrorCode::BadData, "is grey: heights need --from height", {.file = options.input}};
    normals = normalsOfStored(stored, options.from == "down" ? NormalGreen::Down : NormalGreen::Up,
                              static_cast<float>(options.strength));
  }
  DERM_CHECK(options.map.save(options.output, normals));
  say("{}: {} x {}, {} bits, green {}\n", options.output, normals.width, normals.height,
      options.map.bits, options.map.green);
  return {};
}

void addConvert(CLI::App& detail, Run& run) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* verb = detail.add_subcommand(
      "convert", "an artist's map as another kind: green up or down, 8 or 16 bits, heights");
  verb->add_option("map", options->input, "a .png or .jpg")->required();
  verb->add_option("--from", options->from,
                   "what it holds: normals with green up or down, or height")
      ->check(CLI::IsMember({"up", "down", "height"}))
      ->capture_default_str();
  options->height_px = 32;
  verb->add_option("--height", options->height_px, "[px] of heights: how far white is above black")
      ->check(within(-65536, 65536))
      ->capture_default_str();
  verb->add_option("--strength", options->strength, "of the slopes")
      ->check(within(0, 64))
      ->capture_default_str();
  options->map.addTo(*verb);
  verb->add_option("-o,--output", options->output, "a .png normal map")->required();
  verb->footer(
      "example:\n"
      "  derm face detail convert directx.png --from down -o gltf.png\n"
      "  derm face detail convert bump.png --from height --height 20 --bits 16 -o frown.png");
  setWork(*verb, run, options, convert);
}

}  // namespace

void addFaceDetailMaps(CLI::App& detail, Run& run) {
  addDraw(detail, run);
  addSculpt(detail, run);
  addConvert(detail, run);
}

}  // namespace derm::cli
