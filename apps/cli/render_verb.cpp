#include <map>
#include <optional>

#include <fmt/format.h>

#include "derm/base/nearest_name.h"
#include "derm/io/file_ending.h"
#include "derm/io/png.h"
#include "derm/scene/volume_study.h"
#include "derm/view/film_strip.h"

#include "orbit_options.h"
#include "output_checks.h"
#include "picture_size.h"
#include "recipe_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

constexpr std::size_t kMaxInStrip = 400;

const std::map<std::string, Comparison> kComparisons = {
    {"split", Comparison::Split}, {"side", Comparison::SideBySide}, {"ghost", Comparison::Ghost}};

const std::map<std::string, Diagram> kDiagrams = {
    {"regions", Diagram::Regions},      {"prisms", Diagram::Prisms}, {"levels", Diagram::Levels},
    {"gamma", Diagram::Gamma},          {"flesh", Diagram::Flesh},   {"weights", Diagram::Weights},
    {"correction", Diagram::Correction}};
constexpr std::string_view kChannelPrefix = "channel:";

const CLI::Validator kShown(
    [](std::string& text) -> std::string {
      if (kDiagrams.count(text) > 0) return {};
      if (text.starts_with(kChannelPrefix) && text.size() > kChannelPrefix.size()) return {};
      std::vector<std::string> names = {std::string(kChannelPrefix) + "NAME"};
      for (const auto& [name, diagram] : kDiagrams) names.push_back(name);
      return "\"" + text + "\" is nothing that can be shown" + didYouMean(text, names);
    },
    "WHAT");

struct RenderOptions {
  RecipeInput input;
  std::optional<double> time_s;
  std::size_t strip = 0;
  std::string film;
  std::string output;
  std::string size;
  OrbitOptions orbit;
  std::string camera;
  std::string compare;
  std::string diagram;
  std::string weights;
  std::string channel;
  std::string focus;
  std::vector<std::string> shapes;
  ViewDesc view;
};

/// Gives a morph target one weight at all times of a track, where it is one of those it drives.
void holdMorph(std::uint32_t morph, float weight, Track& track) {
  if (track.channel != Channel::MorphWeights || morph < track.first_morph ||
      morph - track.first_morph >= track.morph_count)
    return;
  const bool cubic = track.interpolation == Interpolation::Cubic;
  std::size_t row = 0;  // of a spline's key: tangent in, value, tangent out
  for (std::size_t i = morph - track.first_morph; i < track.values.size();
       i += track.morph_count, ++row)
    track.values[i] = cubic && row % 3 != 1 ? 0.0f : weight;
}

/// "jawOpen=0.5", or "jawOpen" alone for all of it: the weight of every morph target of that name.
Result<void> setShape(const std::string& text, Character& character) {
  const std::size_t equals = text.rfind('=');
  const std::string name = text.substr(0, equals);
  const std::optional<double> weight =
      equals == std::string::npos ? 1.0 : numberOf(std::string_view(text).substr(equals + 1));
  if (name.empty() || !weight || !(std::abs(*weight) <= 100))
    return Error{ErrorCode::BadArgument,
                 "\"" + text + "\" is not NAME or NAME=WEIGHT",
                 {.element = "--shape"}};
  std::vector<std::string> names;
  bool found = false;
  for (std::uint32_t m = 0; m < character.morphs.size(); ++m) {
    MorphTarget& morph = character.morphs[m];
    names.push_back(morph.name);
    if (morph.name != name) continue;
    found = true;
    morph.default_weight = static_cast<float>(*weight);
    // What is asked for holds, whatever a clip does with it.
    for (Clip& clip : character.clips)
      for (Track& track : clip.tracks) holdMorph(m, morph.default_weight, track);
  }
  if (found) return {};
  return Error{ErrorCode::BadArgument,
               names.empty()
                   ? std::string("the character has no shapes; derm face shapes makes some")
                   : "no shape is called \"" + name + "\"" + didYouMean(name, names),
               {.element = "--shape"}};
}

Result<void> setShapes(std::span<const std::string> shapes, SceneSource& source,
                       Diagnostics& notes) {
  if (shapes.empty()) return {};
  DERM_CHECK(takeCharacter(source, notes));
  Character shaped = *source.options.character;
  for (const std::string& shape : shapes) DERM_CHECK(setShape(shape, shaped));
  source.options.character = std::make_shared<const Character>(std::move(shaped));
  return {};
}

Result<ViewDesc> viewOf(const RenderOptions& options) {
  ViewDesc view = options.view;
  DERM_TRY(view.size, pictureSize(!options.size.empty() ? options.size
                                  : view.quick          ? "640x360"
                                                        : "1280x720"));
  // Stills are looked at longer than frames of a film, and thin strokes need it most.
  view.size.supersample = options.film.empty() && !view.quick ? 2 : 1;
  view.follow = options.camera.empty() ? options.strip > 0 : options.camera == "follow";
  view.orbit = options.orbit.orbit();
  if (!options.focus.empty()) view.focus = options.focus;
  if (!options.weights.empty()) view.weights = options.weights;
  if (!options.channel.empty()) view.channel = options.channel;
  if (!options.compare.empty()) view.comparison = kComparisons.at(options.compare);
  if (options.diagram.starts_with(kChannelPrefix))
    view.channel = options.diagram.substr(kChannelPrefix.size());
  else if (!options.diagram.empty())
    view.diagram = kDiagrams.at(options.diagram);
  return view;
}

Result<void> saveStill(const RenderOptions& options, SceneView& view) {
  const std::filesystem::path file = options.output;
  ProgressBar bar("render");
  if (options.strip > 0) {
    DERM_TRY(const Rgba8Image strip, drawStrip(view, options.strip, bar.callback()));
    return savePng(file, strip);
  }
  const double first_s = view.scene().frameTimes().front();
  DERM_TRY(const Rgba8Image picture, view.picture(options.time_s.value_or(first_s)));
  return savePng(file, picture);
}

Result<void> checkOptions(const RenderOptions& options) {
  if (options.output.empty() && options.film.empty())
    return Error{ErrorCode::BadArgument, "-o PICTURE or --film FILM is expected", {}};
  if (!options.output.empty() && fileEnding(options.output) != ".png")
    return Error{ErrorCode::BadArgument, "pictures are written as .png", {.file = options.output}};
  DERM_CHECK(checkOutputs({options.output, options.film}));
  if (!options.film.empty()) DERM_CHECK(validateFilm(options.film, {}));
  if (options.time_s && !std::isfinite(*options.time_s))
    return Error{ErrorCode::BadArgument, "--time must be a finite number of seconds", {}};
  return {};
}

Result<void> runRender(const RenderOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOptions(options));
  DERM_TRY(const ViewDesc desc, viewOf(options));
  // What derm does is seen only where it does something.
  const bool of_change = !options.compare.empty() || options.view.field;
  const bool with_volume = of_change || desc.channel || desc.diagram == Diagram::Regions ||
                           desc.diagram == Diagram::Prisms || desc.diagram == Diagram::Gamma ||
                           desc.diagram == Diagram::Correction;
  DERM_TRY(SceneSource source,
           options.input.load(notes, with_volume ? defaultVolumeRecipe("") : Recipe()));
  DERM_CHECK(setShapes(options.shapes, source, notes));
  if (of_change) noteNothingAdded(source.recipe, notes);
  DERM_TRY(Scene scene, openScene(source.recipe, source.options, notes));
  if (options.time_s) noteTime(*options.time_s, scene, notes);
  DERM_TRY(SceneView view, SceneView::make(scene, desc, notes));
  if (!options.output.empty()) {
    DERM_CHECK(saveStill(options, view));
    say("{}\n", options.output);
  }
  if (!options.film.empty()) {
    ProgressBar bar("film");
    DERM_TRY(const FilmResult film, drawFilm(view, options.film, bar.callback(), notes));
    say("{}: {} frames at {:g} Hz\n", film.path.string(), film.frames, scene.recipe().fps);
  }
  return {};
}

}  // namespace

void addRenderVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<RenderOptions>();
  CLI::App* verb = app.add_subcommand("render", "pictures and films, with overlays");
  options->input.addTo(*verb);
  verb->add_option("-o,--output", options->output, "a .png picture");
  verb->add_option("--film", options->film, "every frame as .mp4, .mov, .webm, .gif or .webp");
  CLI::Option* time = verb->add_option("--time", options->time_s, "[s] instant of the picture");
  verb->add_option("--strip", options->strip, "this many instants in one picture")
      ->check(CLI::Range(std::size_t{1}, kMaxInStrip))
      ->excludes(time)
      ->type_name("N");
  verb->add_option(
      "--size", options->size,
      "[px] WIDTHxHEIGHT of the whole picture; default 1280x720, with --quick 640x360");
  verb->add_flag("--quick", options->view.quick,
                 "one light, no soft shadows: for looking at a motion");
  options->orbit.addTo(*verb);
  verb->add_option("--look-at", options->focus, "the camera looks at this joint")
      ->type_name("JOINT");
  verb->add_option("--camera", options->camera,
                   "still, or follow the character; default follow for strips, still for films")
      ->check(CLI::IsMember({"still", "follow"}));
  verb->add_option(
          "--shape", options->shapes,
          "hold this shape (morph target): NAME or NAME=WEIGHT; may be given several times")
      ->allow_extra_args(false)
      ->type_name("NAME=WEIGHT");
  verb->add_flag("--skeleton", options->view.skeleton, "show the bones");
  verb->add_flag("--wireframe", options->view.wireframe, "show the edges");
  verb->add_flag("--points", options->view.points, "show labelled points with their names");
  verb->add_option("--weights", options->weights, "heat-map of this joint's weights");
  verb->add_option(
          "--displacement", options->view.displacement_mm,
          "heat-map of the way from linear skinning to the result, up to this many mm; 0 = "
          "the picture's largest")
      ->check(CLI::Range(0.0f, 1e6f))
      ->type_name("MM");
  CLI::Option* channel =
      verb->add_option("--channel", options->channel,
                       "heat-map of where this layer works, or of what else layers write by name")
          ->type_name("LAYER");
  verb->add_option("--channel-max", options->view.channel_max,
                   "what its last colour stands for; default 1, or the picture's largest")
      ->check(kAboveZero)
      ->needs(channel);
  verb->add_flag("--field", options->view.field, "strokes from linear skinning to the result");
  verb->add_option("--field-scale", options->view.field_scale, "length of a stroke, 1 = true")
      ->check(within(0.001, 1000.0));
  verb->add_option("--compare", options->compare, "with linear skinning: split, side or ghost")
      ->check(CLI::IsMember(kComparisons));
  verb->add_option(
          "--show", options->diagram,
          "what layers made of the surface: regions, prisms or gamma (volume), levels "
          "(wrinkles), flesh with its frames, weights of all joints, correction as x y z in "
          "red green blue, channel:NAME")
      ->check(kShown);
  verb->add_option("--label", options->view.label, "a few words in the picture's corner");
  verb->footer(
      "With --compare, --field, --channel, --show regions, prisms, gamma or correction a bare\n"
      "character is given centre skinning and the volume layer.\n"
      "examples:\n"
      "  derm render cast:cat --clip jump --time 0.6 -o leap.png\n"
      "  derm render head52.glb --shape mouthSmileLeft --shape jawOpen=0.3 -o grin.png\n"
      "  derm render belly.toml --show flesh -o where_it_swings.png\n"
      "  derm render belly.toml --strip 6 --field -o belly.png --size 1600x500\n"
      "  derm render belly.toml --quick --film look.mp4\n"
      "  derm render belly.toml --compare side --film belly.mp4");
  setWork(*verb, run, options, runRender);
}

}  // namespace derm::cli
