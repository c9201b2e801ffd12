#include <array>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/face/expression_clip.h"
#include "derm/io/file_bytes.h"
#include "derm/io/png.h"
#include "derm/scene/detail_bake.h"
#include "derm/scene/wrinkle_export.h"
#include "derm/view/detail_sheet.h"

#include "character_input.h"
#include "face_detail_verbs.h"
#include "orbit_options.h"
#include "output_checks.h"
#include "picture_size.h"
#include "recipe_input.h"

namespace derm::cli {
namespace {

/// A head that comes without a recipe gets lines by rule.
Result<Recipe> drawnLines() {
  return parseRecipe(R"([[layer]]
type = "detail"
name = "lines"
influence = "spread"
poses = [
  { name = "stretch", expression = "browInnerUp+browOuterUpLeft+browOuterUpRight", map = "drawn:forehead" },
  { name = "compress", expression = "browDownLeft+browDownRight+joy", map = "drawn:frown+nose+crows_feet+smile" },
]
)",
                     "lines by rule");
}

struct PreviewOptions {
  RecipeInput input;
  std::string size = "420x480";
  OrbitOptions orbit;
  std::string colours = "thesis";
  std::string output;
};

constexpr std::array<std::string_view, 6> kSix = {"joy",      "sadness", "disgust",
                                                  "surprise", "fear",    "anger"};

Result<void> preview(const PreviewOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input.input.source, options.input.recipe,
                                                options.input.motion.file}));
  DERM_TRY(const PictureSize size, pictureSize(options.size));
  DERM_TRY(const Recipe bare, drawnLines());
  DERM_TRY(SceneSource source, options.input.load(notes, bare));
  if (source.options.character == nullptr) {
    const auto folder = std::filesystem::path(source.recipe.origin.file).parent_path();
    DERM_TRY(Character opened,
             openCharacter(source.recipe.character, folder, source.options.import, notes));
    source.options.character = std::make_shared<const Character>(std::move(opened));
  }
  Character head = *source.options.character;
  Result<std::string> clip = addExpressionClip(head, kSix, notes);
  if (!clip) {
    Error e = clip.error();
    if (e.where.file.empty()) e.where.file = source.recipe.character;
    return e;
  }
  source.options.character = std::make_shared<const Character>(std::move(head));
  source.recipe.clip = *clip;
  source.recipe.motion.clear();
  source.recipe.face = {};
  source.recipe.range_s.reset();
  DERM_TRY(Scene scene, openScene(source.recipe, source.options, notes));
  std::vector<double> times;
  for (std::size_t i = 0; i < kSix.size(); ++i) times.push_back(static_cast<double>(i + 1));
  DetailSheetDesc desc{.cell = size, .orbit = options.orbit.orbit()};
  desc.colours =
      options.colours == "safe" ? InfluenceColours::ColourBlind : InfluenceColours::Thesis;
  Result<Rgba8Image> sheet = [&] {
    ProgressBar bar("drawing");
    return drawDetailSheet(scene, times, kSix, desc, notes, bar.callback());
  }();
  if (!sheet) return sheet.error();
  DERM_CHECK(savePng(options.output, *sheet));
  say("{}: six expressions without, with, and where the maps show\n", options.output);
  return {};
}

void addPreview(CLI::App& detail, Run& run) {
  const auto options = std::make_shared<PreviewOptions>();
  options->orbit.yaw_deg = 7;
  options->orbit.pitch_deg = 3;
  options->orbit.zoom = 1.35;
  CLI::App* verb = detail.add_subcommand(
      "preview", "the six expressions without wrinkle maps, with them, and where they show");
  options->input.addTo(*verb);
  verb->add_option("--size", options->size, "[px] WIDTHxHEIGHT of one picture")
      ->capture_default_str();
  options->orbit.addTo(*verb);
  verb->add_option("--colours", options->colours,
                   "thesis (red, green, both yellow) or safe for colour-blind eyes (orange, blue, "
                   "both black)")
      ->check(CLI::IsMember({"thesis", "safe"}))
      ->capture_default_str();
  verb->add_option("-o,--output", options->output, "a .png sheet")->required();
  verb->footer(
      "A head without a recipe gets lines by rule (`derm face detail draw`).\n"
      "example:\n"
      "  derm face detail preview cast:man -o man.png\n"
      "  derm face detail preview look.toml --colours safe -o sheet.png");
  setWork(*verb, run, options, preview);
}

struct BakeOptions {
  RecipeInput input;
  bool keys = false;
  int size = 1024;
  std::string blend = "whiteout";
  MapFileOptions map;
  std::string output;
};

Result<void> bakeMaps(const BakeOptions& options, Diagnostics& notes) {
  DERM_TRY(const Recipe bare, drawnLines());
  DERM_TRY(const SceneSource source, options.input.load(notes, bare));
  DERM_TRY(Scene scene, openScene(source.recipe, source.options, notes));
  const DetailBakeDesc desc{
      .width = options.size,
      .height = options.size,
      .blend = options.blend == "reoriented" ? NormalBlend::Reoriented
               : options.blend == "slopes"   ? NormalBlend::PartialDerivative
               : options.blend == "udn"      ? NormalBlend::Udn
                                             : NormalBlend::Whiteout,
      .green = options.map.green == "down" ? NormalGreen::Down : NormalGreen::Up};
  DERM_TRY(DetailBaker baker, DetailBaker::make(scene, desc, notes));
  const std::vector<double> times =
      options.keys ? baker.keyTimes()
                   : std::vector<double>(scene.frameTimes().begin(), scene.frameTimes().end());
  std::error_code failed;
  std::filesystem::create_directories(options.output, failed);
  if (failed)
    return Error{
        ErrorCode::CannotWrite, "cannot be made: " + failed.message(), {.file = options.output}};
  nlohmann::json list = nlohmann::json::array();
  ProgressBar bar("baking");
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (!keepGoing(bar.callback(), static_cast<double>(i) / static_cast<double>(times.size()),
                   "baking"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    const std::string name = fmt::format("{:06}.png", i);
    const auto file = std::filesystem::path(options.output) / name;
    DERM_CHECK(options.map.bits == 16 ? savePng16(file, baker.map16(times[i]), Curve::Linear)
                                      : savePng(file, baker.map8(times[i])));
    list.push_back({{"time_s", times[i]}, {"map", name}});
  }
  const nlohmann::json index = {{"green", options.map.green},
                                {"bits", options.map.bits},
                                {"size", options.size},
                                {"maps", list}};
  DERM_CHECK(
      writeFileWhole(std::filesystem::path(options.output) / "maps.json", jsonFileText(index)));
  say("{}: {} maps of {} x {}\n", options.output, times.size(), options.size, options.size);
  return {};
}

void addBake(CLI::App& detail, Run& run) {
  const auto options = std::make_shared<BakeOptions>();
  CLI::App* verb = detail.add_subcommand(
      "bake",
      "the face's normal map of every frame, wrinkles blended in, for engines without a "
      "shader for them");
  options->input.addTo(*verb);
  verb->add_flag("--keys", options->keys, "at the clip's keys instead of every frame");
  verb->add_option("--size", options->size, "[px] width and height")
      ->check(CLI::Range(16, 16384))
      ->capture_default_str();
  verb->add_option("--blend", options->blend, "whiteout (Dutreve 2011), reoriented, slopes or udn")
      ->check(CLI::IsMember({"whiteout", "reoriented", "slopes", "udn"}))
      ->capture_default_str();
  options->map.addTo(*verb);
  verb->add_option("-o,--output", options->output, "a folder: 000000.png …, maps.json")->required();
  verb->footer("example:\n  derm face detail bake look.toml --fps 12 --bits 16 -o maps");
  setWork(*verb, run, options, bakeMaps);
}

struct ExportOptions {
  RecipeInput input;
  std::string output;
};

Result<void> exportGlb(const ExportOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input.input.source, options.input.recipe,
                                                options.input.motion.file}));
  if (std::filesystem::path(options.output).extension() != ".glb")
    return Error{ErrorCode::BadArgument, "must end in .glb", {.file = options.output}};
  DERM_TRY(const Recipe bare, drawnLines());
  DERM_TRY(const SceneSource source, options.input.load(notes, bare));
  DERM_TRY(const Scene scene, openScene(source.recipe, source.options, notes));
  DERM_TRY(const std::vector<std::uint8_t> glb, encodeWrinkleGlb(scene, notes));
  DERM_CHECK(writeFileWhole(options.output, glb));
  std::size_t maps = 0;
  for (const Material& m : scene.character()->materials) maps += m.detail_maps.size();
  say("{}: {} wrinkle maps, {:.1f} MB\n", options.output, maps,
      1e-6 * static_cast<double>(glb.size()));
  return {};
}

void addExport(CLI::App& detail, Run& run) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* verb = detail.add_subcommand(
      "export", "the character with its wrinkle maps and all that plays them, as a .glb");
  options->input.addTo(*verb);
  verb->add_option("-o,--output", options->output, ".glb")->required();
  verb->footer(
      "A head without a recipe gets lines by rule. examples/three-wrinkle-maps plays the file.\n"
      "example:\n  derm face detail export look.toml -o face.glb");
  setWork(*verb, run, options, exportGlb);
}

}  // namespace

void addFaceDetailPlay(CLI::App& detail, Run& run) {
  addPreview(detail, run);
  addBake(detail, run);
  addExport(detail, run);
}

}  // namespace derm::cli
