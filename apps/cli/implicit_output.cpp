#include "implicit_output.h"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "derm/implicit/level_set_exchange.h"
#include "derm/io/character_file.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"
#include "derm/io/mesh_sequence.h"
#include "derm/io/obj.h"
#include "derm/io/particle_file.h"
#include "derm/io/png.h"
#include "derm/io/vdb.h"
#include "derm/view/mesh_film.h"

#include "character_input.h"
#include "output_checks.h"
#include "picture_size.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

const std::map<std::string, Hold> kHolds = {
    {"none", Hold::No}, {"penalty", Hold::Penalty}, {"exact", Hold::Exact}};

const std::map<std::string, Evaluation> kEvaluations = {{"points", Evaluation::EdgePoints},
                                                        {"nodes", Evaluation::Nodes}};

DrawMaterial liquid() {
  DrawMaterial m;
  m.base_colour = Vec4f(0.16f, 0.38f, 0.62f, 1.0f);
  m.roughness = 0.28f;
  return m;
}

nlohmann::json reportOf(const std::vector<SkinRecord>& records,
                        const std::vector<SkinEvent>& events) {
  nlohmann::json steps = nlohmann::json::array(), list = nlohmann::json::array();
  for (const SkinRecord& r : records)
    steps.push_back({{"t", r.time_s},
                     {"chi", r.euler_number},
                     {"components", r.components},
                     {"cavities", r.cavities},
                     {"volume", r.volume},
                     {"wanted_volume", r.wanted_volume},
                     {"area", r.area},
                     {"residual_mean", r.residual_mean},
                     {"residual_max", r.residual_max},
                     {"active_nodes", r.active_nodes}});
  for (const SkinEvent& e : events)
    list.push_back({{"t", e.time_s}, {"kind", name(e.kind)}, {"body", e.body}, {"other", e.other}});
  return {{"steps", steps}, {"events", list}};
}

/// The frame in which each event is first seen; several of one frame in one label.
std::vector<FrameMark> marksOf(const std::vector<SkinEvent>& events, double fps) {
  std::vector<FrameMark> out;
  for (const SkinEvent& e : events) {
    const auto frame = static_cast<std::size_t>(std::max(0.0, std::ceil(e.time_s * fps - 1e-6)));
    const std::string label = name(e.kind);
    if (out.empty() || out.back().frame != frame)
      out.push_back({frame, label});
    else if (out.back().label.find(label) == std::string::npos)
      out.back().label += ", " + label;
  }
  return out;
}

/// Volume over time, and what it is held at.
PlotDesc volumeCurve(const std::vector<SkinRecord>& records, double fps, bool is_held) {
  PlotSeries now{.name = "volume"}, held{.name = "held"};
  held.dashed = true;
  double high = 0;
  for (const SkinRecord& r : records) {
    const double t = double(now.x.size()) / fps;
    now.x.push_back(t);
    now.y.push_back(r.volume);
    held.x.push_back(t);
    held.y.push_back(r.wanted_volume);
    high = std::max({high, r.volume, r.wanted_volume});
  }
  PlotDesc plot;
  plot.x = {.label = "time", .unit = "s"};
  plot.y = {.label = "volume", .unit = "m³", .low = 0, .high = high > 0 ? 1.1 * high : 1};
  plot.series.push_back(now);
  if (is_held) plot.series.push_back(held);
  return plot;
}

Result<void> saveFrame(const std::string& file, const LevelSetBlocks* level_set, TriMesh mesh) {
  const std::filesystem::path path(file);
  if (level_set != nullptr) return saveVdb(path, *level_set);
  const std::string ending = fileEnding(path);
  if (ending == ".ply") return writeFileWhole(path, encodePly(mesh));
  const Character still = stillCharacter(std::move(mesh), path.stem().string());
  // saveObj takes a mesh without vertices for a mistake; here it is a frame like others.
  if (ending == ".obj") return writeFileWhole(path, encodeObj(still));
  Diagnostics notes;
  return saveCharacter(still, path, notes);
}

Error badName(const std::string& file, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.file = file}};
}

}  // namespace

Result<ShareOverTime> ShareOverTime::parse(const std::string& text, const char* option) {
  ShareOverTime out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string key = text.substr(at, end - at);
    const std::size_t colon = key.find(':');
    const auto time = numberOf(std::string_view(key).substr(0, colon));
    const auto share = colon == std::string::npos
                           ? std::optional<double>()
                           : numberOf(std::string_view(key).substr(colon + 1));
    if (!time || !share || !std::isfinite(*time) || !(*share > 0 && *share <= 1000))
      return Error{ErrorCode::BadArgument,
                   "\"" + key + "\" is not TIME:SHARE, seconds and a share above 0 (0:1,2:0.5)",
                   {.element = option}};
    if (!out.keys.empty() && *time <= out.keys.back().first)
      return Error{ErrorCode::BadArgument, "its times must ascend", {.element = option}};
    out.keys.emplace_back(*time, *share);
    at = end + 1;
  }
  return out;
}

double ShareOverTime::at(double time_s) const {
  if (keys.empty()) return 1;
  if (time_s <= keys.front().first) return keys.front().second;
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (time_s < keys[i].first) {
      const double share = (time_s - keys[i - 1].first) / (keys[i].first - keys[i - 1].first);
      return (1 - share) * keys[i - 1].second + share * keys[i].second;
    }
  return keys.back().second;
}

void SkinOptions::addTo(CLI::App& verb) {
  verb.add_option("--alpha", alpha, "attraction to the target")->capture_default_str();
  verb.add_option("--volume", volume, "hold the volume of every body: none, penalty or exact")
      ->check(CLI::IsMember(kHolds))
      ->capture_default_str();
  verb.add_option("--area", area, "hold the area: none, penalty or exact")
      ->check(CLI::IsMember(kHolds))
      ->capture_default_str();
  for (const auto& [option, gain] :
       {std::pair{"--volume-gain", &volume_gain}, {"--area-gain", &area_gain}})
    verb.add_option(option, *gain, "[m/s] how strongly a penalty pulls")
        ->check(within(0.0, 1e6))
        ->capture_default_str();
  verb.add_option("--wanted-volume", wanted_volume,
                  "what is held over time, as shares of what it was: 0:1,2:0.5 halves it in 2 s")
      ->type_name("T:SHARE,...");
  verb.add_option("--wanted-area", wanted_area, "the same for the area")->type_name("T:SHARE,...");
  CLI::Option* const heavy =
      verb.add_flag("--inertia", inertia, "the skin has mass: it overshoots and wobbles");
  verb.add_option("--stiffness", stiffness,
                  "[1/s²] of its spring to the target; default: as quick as --alpha")
      ->check(within(0.0, 1e6))
      ->needs(heavy);
  verb.add_option("--damping", damping, "[1/s] of its motion; default: it swings a few times")
      ->check(within(0.0, 1e4))
      ->needs(heavy);
  verb.add_option("--wave-tension", wave_tension,
                  "[m²/s²] surface tension over mass: its root is the speed of waves")
      ->check(within(0.0, 1e4))
      ->needs(heavy);
  verb.add_option("--evaluation", evaluation,
                  "speeds at points of the surface, or at nodes as the paper begins: points, nodes")
      ->check(CLI::IsMember(kEvaluations))
      ->capture_default_str();
  verb.add_option("--super-steps", super_steps, "1, 3, 5 or 8: longer steps where tension is stiff")
      ->check(CLI::IsMember({1, 3, 5, 8}));
  verb.add_option("--max-memory", max_memory_gb, "[GB] refuse to need more")
      ->check(within(0.01, 1024.0))
      ->capture_default_str();
  verb.add_option("--fps", fps, "[Hz] frames a second")->check(within(0.1, 1000.0));
  addOutput(verb, output,
            "skin_{frame}.glb, .gltf, .obj, .ply or .vdb: a file per frame; name.glb: all in one");
  verb.add_option("--film", film, "a film: .mp4, .mov, .webm, .gif or .webp");
  verb.add_option("--strip", strip, "a .png picture with the telling instants of the film");
  verb.add_option("--instants", instants, "of a strip, at most")
      ->check(CLI::Range(std::size_t{1}, std::size_t{400}))
      ->capture_default_str();
  verb.add_option("--size", size, "[px] WIDTHxHEIGHT of the film, or of the whole strip")
      ->capture_default_str();
  orbit.addTo(verb);
  verb.add_option("--report", report, "a .json report: steps and events; - prints it");
}

EvolutionLaw SkinOptions::law() const {
  EvolutionLaw s;
  s.attraction = alpha;
  s.volume = kHolds.at(volume);
  s.area = kHolds.at(area);
  s.volume_gain = volume_gain;
  s.area_gain = area_gain;
  s.super_steps = super_steps;
  s.evaluation = kEvaluations.at(evaluation);
  s.max_memory = static_cast<std::uint64_t>(max_memory_gb * double(std::uint64_t{1} << 30));
  return s;
}

void SkinOptions::addInertia(EvolutionLaw& law) const {
  if (!inertia) return;
  constexpr double kDampingRatio = 0.15;  // three swings before it is calm
  law.inertia.on = true;
  law.inertia.stiffness = stiffness.value_or(law.attraction * law.attraction);
  law.inertia.damping = damping.value_or(2 * kDampingRatio * std::sqrt(law.inertia.stiffness));
  law.inertia.tension = wave_tension.value_or(law.tension * law.attraction);
}

Result<SkinSink> SkinSink::open(const SkinOptions& options, bool one_frame) {
  SkinSink sink;
  sink.options_ = options;
  DERM_CHECK(checkOutputs({options.output, options.film, options.strip, options.report}));
  sink.one_frame_ = one_frame;
  DERM_TRY(sink.size_, pictureSize(options.size));
  if (!options.film.empty()) DERM_CHECK(validateFilm(options.film, {}));
  if (!options.strip.empty() && fileEnding(options.strip) != ".png")
    return badName(options.strip, "strips are written as .png");
  for (const std::string* single : {&options.film, &options.strip, &options.report})
    if (isNumbered(*single))
      return badName(*single, "{frame} is for -o alone: films, strips and reports are one file");
  if (!options.output.empty()) {
    const std::filesystem::path file(options.output);
    const std::string ending = fileEnding(file);
    if (isNumbered(file.parent_path().string()))
      return badName(options.output, "{frame} must be in the file's name, not its folder");
    const bool whole = ending == ".glb" || ending == ".gltf";
    const bool by_frame = ending == ".ply" || ending == ".obj" || (ending == ".vdb" && hasVdb());
    if (!whole && !by_frame)
      return badName(options.output,
                     "cannot write \"" + ending +
                         "\"; .glb, .gltf, .obj, .ply or (where built with OpenVDB) .vdb is "
                         "expected");
    if (by_frame && !one_frame && !isNumbered(options.output))
      return badName(options.output,
                     "a " + ending +
                         " file holds one frame: put {frame} into its name, or write "
                         "one .glb or .gltf");
  }
  return sink;
}

bool SkinSink::byFrame() const {
  const std::string ending = fileEnding(options_.output);
  return isNumbered(options_.output) ||
         (one_frame_ && ending != ".glb" && ending != ".gltf" && !options_.output.empty());
}

Result<void> SkinSink::store(TriMesh mesh, const LevelSetBlocks* level_set,
                             const std::string& digits) {
  const std::string name = digits.empty() ? numberedName(options_.output, records_.size() - 1)
                                          : numberedName(options_.output, digits);
  if (byFrame()) DERM_CHECK(saveFrame(name, level_set, mesh));
  const bool all =
      !options_.film.empty() || !options_.strip.empty() || (!options_.output.empty() && !byFrame());
  if (all) frames_.push_back(std::move(mesh));
  return {};
}

Result<void> SkinSink::add(ActiveSkin& skin, const SkinStep& last, const std::string& digits) {
  TriMesh mesh;
  skin.polygonise(mesh);
  records_.push_back(recorded(skin, mesh, last));
  records_.back().time_s += double(first_of_skin_) / options_.fps;
  const bool as_level_set = fileEnding(options_.output) == ".vdb";
  const LevelSetBlocks level_set = as_level_set ? levelSetOf(skin.potential()) : LevelSetBlocks();
  return store(std::move(mesh), as_level_set ? &level_set : nullptr, digits);
}

Result<void> SkinSink::addEmpty(double voxel_m, const std::string& digits) {
  records_.push_back({.time_s = double(records_.size()) / options_.fps});
  first_of_skin_ = records_.size();
  const bool as_level_set = fileEnding(options_.output) == ".vdb";
  const LevelSetBlocks nothing{.voxel_m = voxel_m};
  return store({}, as_level_set ? &nothing : nullptr, digits);
}

void SkinSink::close(const ActiveSkin& skin) {
  for (SkinEvent event : skin.events()) {
    event.time_s += double(first_of_skin_) / options_.fps;
    events_.push_back(event);
  }
}

void SkinSink::noteCavities(Diagnostics& notes) const {
  std::size_t frames = 0;
  const SkinRecord* first = nullptr;
  for (const SkinRecord& r : records_) {
    if (r.cavities == 0) continue;
    ++frames;
    if (first == nullptr) first = &r;
  }
  if (first == nullptr) return;
  notes.warn("closed-cavities", "skin",
             fmt::format("{} closed {} from {:.2f} s on, in {} of {} frames: hollows that are not "
                         "seen from outside; a larger --voxel or --reach fills them",
                         first->cavities, first->cavities == 1 ? "cavity" : "cavities",
                         first->time_s, frames, records_.size()));
}

Result<void> SkinSink::finish(Diagnostics& notes) {
  noteCavities(notes);
  if (!options_.report.empty())
    DERM_CHECK(writeText(options_.report, std::string_view(reportOf(records_, events_).dump(1))));
  if (!options_.output.empty() && !byFrame())
    DERM_CHECK(
        saveCharacter(sequenceCharacter(frames_, options_.fps, "skin"), options_.output, notes));
  MeshFilmDesc desc;
  desc.size = size_;
  desc.fps = options_.fps;
  desc.material = liquid();
  desc.orbit = options_.orbit.orbit();
  if (!options_.strip.empty()) {
    MeshFilmDesc still = desc;
    still.size.supersample = 2;
    still.marks = marksOf(events_, options_.fps);
    DERM_TRY(const Rgba8Image picture, drawMeshStrip(frames_, still, options_.instants));
    DERM_CHECK(savePng(options_.strip, picture));
    say("{}\n", options_.strip);
  }
  if (!options_.film.empty()) {
    desc.curve = volumeCurve(records_, options_.fps, kHolds.at(options_.volume) != Hold::No);
    ProgressBar bar("film");
    DERM_TRY(const FilmResult film,
             drawMeshFilm(frames_, desc, options_.film, bar.callback(), notes));
    say("{}: {} frames at {:g} Hz\n", film.path.string(), film.frames, options_.fps);
  }
  const SkinRecord& r = records_.back();
  say("frames {}, events {}; at the end: surfaces {}, Euler number {}, volume {:.6g} m³\n",
      records_.size(), events_.size(), r.components, r.euler_number, r.volume);
  constexpr std::size_t kMaxTold = 12;
  for (std::size_t i = 0; i < std::min(events_.size(), kMaxTold); ++i)
    say("  {:.2f} s: {}\n", events_[i].time_s, name(events_[i].kind));
  if (events_.size() > kMaxTold)
    say("  and {} more; --report has all\n", events_.size() - kMaxTold);
  return {};
}

}  // namespace derm::cli
