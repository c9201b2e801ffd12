#include <memory>
#include <optional>

#include <fmt/format.h>

#include "derm/cast/liquids.h"
#include "derm/implicit/level_set_exchange.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/potential_target.h"
#include "derm/implicit/skin_report.h"
#include "derm/implicit/surface_particles.h"
#include "derm/io/file_ending.h"
#include "derm/io/particle_file.h"
#include "derm/io/vdb.h"
#include "derm/mesh/measures.h"
#include "derm/scene/scene.h"

#include "implicit_output.h"
#include "output_checks.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

// ------------------------------------------------------------------------------------- particles

struct ParticlesOptions {
  std::string source;
  double radius = 0;
  double voxel = 0;
  double reach = 4;
  double drops = 1;
  bool anisotropic = false;
  bool feedback = false;
  double seconds = 0;
  int splits = 0;
  SkinOptions skin;
};

/// What is held over time.
struct Wanted {
  ShareOverTime volume, area;
  static Result<Wanted> of(const SkinOptions& o) {
    Wanted out;
    DERM_TRY(out.volume, ShareOverTime::parse(o.wanted_volume, "--wanted-volume"));
    DERM_TRY(out.area, ShareOverTime::parse(o.wanted_area, "--wanted-area"));
    return out;
  }
};

ParticleSurfacingDesc surfacingOf(const ParticlesOptions& o, double radius_m, double voxel_m) {
  ParticleSurfacingDesc desc;
  desc.kernel.radius_m = radius_m;
  desc.kernel.reach = o.reach;
  desc.kernel.drops = o.drops;
  desc.kernel.anisotropic = o.anisotropic;
  desc.law = o.skin.law();
  // Time is counted in frames and lengths in voxels here: what hides grains at one resolution and
  // rate does so at others.
  desc.law.attraction = o.skin.alpha * o.skin.fps;
  // The attraction of Desbrun, Cani 1997 is per unit of its field, whose slope is 1.2/reach: three
  // times weaker against the tension than a distance of the same alpha.
  const double per_distance = o.reach * radius_m / (1.2 * voxel_m);
  desc.law.tension = o.skin.beta * o.skin.fps * voxel_m * voxel_m * per_distance;
  o.skin.addInertia(desc.law);
  desc.lattice.voxel_m = voxel_m;
  desc.lattice.max_memory = desc.law.max_memory;
  return desc;
}

/// [m] what --radius says, or what the first particle has.
Result<double> radiusOf(const ParticlesOptions& o, const Particles& first,
                        const std::filesystem::path& file) {
  if (o.radius > 0) return o.radius;
  if (!first.radii.empty()) return double{first.radii.front()};
  return Error{ErrorCode::BadArgument,
               "its particles have no radius; --radius is needed",
               {.file = file.string()}};
}

/// No frame, film or report is written over a file that is still to be read.
Result<void> checkNotAFrame(const SkinOptions& skin, std::span<const NumberedFile> files) {
  for (const NumberedFile& file : files) {
    const std::string frame = file.digits.empty() ? numberedName(skin.output, std::size_t{0})
                                                  : numberedName(skin.output, file.digits);
    DERM_CHECK(checkNotAnInput({frame, skin.film, skin.strip, skin.report}, {file.path.string()}));
  }
  return {};
}

/// A file after the other. Where there are no particles there is no skin; the next ones get a new
/// one.
Result<void> surfaceFiles(const ParticlesOptions& o, Diagnostics& notes) {
  DERM_TRY(const Wanted wanted, Wanted::of(o.skin));
  DERM_TRY(const std::vector<NumberedFile> files, numberedFiles(o.source));
  DERM_CHECK(checkNotAFrame(o.skin, files));
  DERM_TRY(SkinSink sink, SkinSink::open(o.skin, files.size() == 1));
  std::optional<ParticleSurfacer> surfacer;
  double radius = 0, voxel = 0;
  std::vector<std::string> empty;  // frames without matter that are still to be told
  ProgressBar bar("skin");
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (!keepGoing(bar.callback(), double(f) / double(files.size()), "surfacing"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    DERM_TRY(Particles particles, loadParticles(files[f].path, notes));
    if (o.radius > 0) particles.radii.clear();
    if (particles.size() == 0) {
      if (surfacer) sink.close(surfacer->skin());
      surfacer.reset();
      empty.push_back(files[f].digits);
      continue;
    }
    if (radius == 0) {
      DERM_TRY(radius, radiusOf(o, particles, files[f].path));
      voxel = o.voxel > 0 ? o.voxel : 0.6 * radius;
    }
    for (const std::string& digits : empty) DERM_CHECK(sink.addEmpty(voxel, digits));
    empty.clear();
    SkinStep last;
    if (surfacer) {
      const double time_s = double(f) / o.skin.fps;
      surfacer->scaleWanted(wanted.volume.at(time_s), wanted.area.at(time_s));
      DERM_TRY(last, surfacer->advanceTo(particles, 1 / o.skin.fps));
    } else {
      DERM_TRY(surfacer, ParticleSurfacer::make(particles, surfacingOf(o, radius, voxel)));
    }
    DERM_CHECK(sink.add(surfacer->skin(), last, files[f].digits));
  }
  if (radius == 0)
    return Error{
        ErrorCode::BadData,
        files.size() == 1 ? "no particles in the file" : "no particles in any of the files",
        {.file = o.source}};
  for (const std::string& digits : empty) DERM_CHECK(sink.addEmpty(voxel, digits));
  if (surfacer) sink.close(surfacer->skin());
  return sink.finish(notes);
}

Result<void> surfaceLiquid(const ParticlesOptions& o, Diagnostics& notes) {
  DERM_TRY(const Wanted wanted, Wanted::of(o.skin));
  DERM_TRY(CastLiquid liquid, makeCastLiquid(o.source.substr(5), o.splits));
  DERM_TRY(SkinSink sink, SkinSink::open(o.skin));
  const double radius = liquid.system.desc().radius_m;
  const double voxel = o.voxel > 0 ? o.voxel : 0.6 * radius;
  DERM_TRY(ParticleSurfacer surfacer,
           ParticleSurfacer::make(liquid.system.particles(), surfacingOf(o, radius, voxel)));
  DERM_CHECK(sink.add(surfacer.skin(), {}));
  const double seconds = o.seconds > 0 ? o.seconds : liquid.seconds;
  ProgressBar bar("skin");
  for (double t = 1 / o.skin.fps; t < seconds; t += 1 / o.skin.fps) {
    if (!keepGoing(bar.callback(), t / seconds, "simulating"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    liquid.system.advance(1 / o.skin.fps);
    surfacer.scaleWanted(wanted.volume.at(t), wanted.area.at(t));
    DERM_TRY(const SkinStep last, surfacer.advanceTo(liquid.system.particles(), 1 / o.skin.fps));
    if (o.feedback) liquid.system.feelSkin(surfacer.skin().potential());
    DERM_CHECK(sink.add(surfacer.skin(), last));
  }
  sink.close(surfacer.skin());
  return sink.finish(notes);
}

Result<void> runParticles(const ParticlesOptions& o, Diagnostics& notes) {
  return o.source.starts_with("cast:") ? surfaceLiquid(o, notes) : surfaceFiles(o, notes);
}

void addParticles(CLI::App& app, Run& run) {
  const auto o = std::make_shared<ParticlesOptions>();
  CLI::App* verb = app.add_subcommand("particles", "a skin around a sequence of particles");
  verb->add_option("SEQUENCE", o->source,
                   "name_{frame}.ply, .xyz or .vtk, one such file, or cast:drop, cast:pour, "
                   "cast:two-drops-merge")
      ->required();
  verb->add_option("--radius", o->radius, "[m] of a particle; needed where the files have none")
      ->check(kAboveZero);
  verb->add_option("--voxel", o->voxel,
                   "[m] side of a lattice cube; default 0.6 of a particle's radius")
      ->check(kAboveZero);
  verb->add_option("--beta", o->skin.beta, "tension [voxel² a frame]; 0.15 hides the grains")
      ->default_val(0.15);
  verb->add_option("--reach", o->reach, "of a particle over its radius: larger is smoother")
      ->check(within(2.0, 8.0))
      ->capture_default_str();
  verb->add_option("--drops", o->drops, "1: lonely particles are drops; 0: they may vanish")
      ->check(within(0.0, 1.0))
      ->capture_default_str();
  verb->add_flag("--anisotropic", o->anisotropic, "kernels that follow sheets and threads");
  verb->add_flag("--feedback", o->feedback, "cast: the skin pushes back on the particles");
  verb->add_option("--splits", o->splits,
                   "cast: particles where matter is thin are cut in eight so often at most")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  verb->add_option("--seconds", o->seconds, "[s] cast: how long; default what it is worth")
      ->check(within(0.05, 600.0));
  o->skin.addTo(*verb);
  verb->footer(
      "--alpha is per frame: 2 follows closely, 0.2 lags softly\n"
      "example:\n"
      "  derm implicit particles seq_{frame}.xyz --radius 0.02 --alpha 2 --beta 0.15 \\\n"
      "      --volume exact --voxel 0.01 -o skin_{frame}.glb --film skin.mp4\n"
      "  derm implicit particles cast:drop --volume exact --film drop.mp4");
  setWork(*verb, run, o, runParticles);
}

// ----------------------------------------------------------------------------------------- morph

struct MorphOptions {
  std::vector<std::string> shapes;
  double resolution = 50;
  double seconds = 2;
  bool fit = true;
  SkinOptions skin;
};

/// The shape moved and scaled so that its box fits [-1, 1]^3, as those of Desbrun, Cani 1997 do.
void fitIntoBox(TriMesh& mesh) {
  const Bounds box = bounds(mesh.positions);
  const float longest = box.size().maxCoeff();
  const float scale = longest > 0 ? 1.7f / longest : 1.0f;
  for (Vec3f& p : mesh.positions) p = scale * (p - box.centre());
}

bool isVdb(const std::string& source) { return fileEnding(source) == ".vdb"; }

Result<std::shared_ptr<const Potential>> shapeNamed(const std::string& source, bool fit,
                                                    const PotentialDesc& desc, Diagnostics& notes) {
  if (isVdb(source)) {
    DERM_TRY(const LevelSetBlocks blocks, loadVdb(source));
    DERM_TRY(Potential level_set, potentialOf(blocks));
    return std::make_shared<const Potential>(std::move(level_set));
  }
  DERM_TRY(Character character, openCharacter(source, {}, {}, notes));
  if (fit) fitIntoBox(character.mesh);
  Diagnostics of_mesh;
  Result<Potential> p = buildMeshPotential(character.mesh, desc, of_mesh);
  for (const Diagnostics::Note& note : of_mesh.notes())
    notes.add(note.severity, note.kind, source, note.message);
  if (!p) {
    Error e = p.error();
    e.where.file = source;
    return e;
  }
  return std::make_shared<const Potential>(*std::move(p));
}

/// [m] half the longest side of the box that holds all shapes as they are.
Result<double> halfBoxOf(const std::vector<std::string>& shapes, Diagnostics& notes) {
  Box3d all;
  for (const std::string& s : shapes) {
    if (isVdb(s)) {
      DERM_TRY(const std::shared_ptr<const Potential> shape, shapeNamed(s, false, {}, notes));
      all.include(PotentialTarget(shape).bounds());
      continue;
    }
    DERM_TRY(const Character c, openCharacter(s, {}, {}, notes));
    for (const Vec3f& p : c.mesh.positions) all.include(Vec3d(p.cast<double>()));
  }
  if (all.empty()) return Error{ErrorCode::BadData, "the shapes have no vertices", {}};
  return 0.5 * Vec3d(all.high - all.low).maxCoeff();
}

constexpr std::string_view kAsTarget = "target";

/// "target": what is held goes over to what each shape has, while the skin goes over to it.
ShareOverTime sharesOfShapes(std::span<const std::shared_ptr<const Potential>> shapes,
                             double seconds, bool volume) {
  ShareOverTime out;
  double first = 0;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    const SurfaceMeasures m = measured(polygonised(*shapes[s]));
    const double now = volume ? m.volume : m.area;
    if (s == 0) first = now;
    if (!(first > 0 && now > 0)) continue;
    // There before the change is over, so that the skin has time to settle.
    constexpr double kGoingOver = 0.7;
    if (s > 0) out.keys.emplace_back((double(s) - 1 + kGoingOver) * seconds, now / first);
    out.keys.emplace_back(double(s) * seconds, now / first);
  }
  return out;
}

Result<ShareOverTime> morphShares(const std::string& text, const char* option, bool volume,
                                  std::span<const std::shared_ptr<const Potential>> shapes,
                                  double seconds) {
  return text == kAsTarget ? sharesOfShapes(shapes, seconds, volume)
                           : ShareOverTime::parse(text, option);
}

/// A skin that must keep another volume than its target has cannot become it: bodies that should
/// part stay joined, say, and every other number looks right.
void noteHeldVolume(const ActiveSkin& skin, const PotentialTarget& target, const std::string& name,
                    Diagnostics& notes) {
  if (skin.law().volume == Hold::No) return;
  double held = 0;
  for (const Body& b : skin.bodies()) held += b.wanted_volume;
  const SurfaceMeasures wanted = measured(polygonised(target.potential()));
  std::size_t parts = 0;
  for (const SurfacePiece& piece : wanted.pieces) parts += piece.volume > 0;
  constexpr double kAlike = 0.02;
  if (!(wanted.volume > 0) || std::abs(held / wanted.volume - 1) < kAlike) return;
  const auto pieces = [](std::size_t count) {
    return fmt::format("{} piece{}", count, count == 1 ? "" : "s");
  };
  std::string bodies;
  if (parts != skin.bodies().size())
    bodies = fmt::format(", and the skin is in {} where it has {}", pieces(skin.bodies().size()),
                         pieces(parts));
  notes.warn("held-volume", name,
             fmt::format("the skin keeps {:.3g} m³ where this shape has {:.3g}{}; --wanted-volume "
                         "target lets the volume go over to the shape's",
                         held, wanted.volume, bodies));
}

/// One change: frames until the skin has had the time asked for.
Result<void> morphTo(const MorphOptions& o, std::size_t number, const PotentialTarget& target,
                     const Wanted& wanted, ActiveSkin& skin, SkinSink& sink,
                     const Progress& progress, Diagnostics& notes) {
  const std::size_t frames = static_cast<std::size_t>(std::max(1.0, o.seconds * o.skin.fps));
  const double changes = double(o.shapes.size() - 1);
  SkinStep last;
  for (std::size_t f = 0; f < frames; ++f) {
    const double done = (double(number - 1) + double(f) / double(frames)) / changes;
    if (!keepGoing(progress, done, "morphing")) return Error{ErrorCode::Cancelled, "stopped", {}};
    const double time_s = double(number - 1) * o.seconds + double(f + 1) / o.skin.fps;
    skin.setWantedScale(wanted.volume.at(time_s), wanted.area.at(time_s));
    DERM_TRY(last, skin.advance(target, 1 / o.skin.fps));
    DERM_CHECK(sink.add(skin, last));
  }
  noteHeldVolume(skin, target, o.shapes[number], notes);
  const double off = last.residual_mean / skin.potential().voxel_m;
  constexpr double kArrived = 0.5;  // [voxel] tension keeps a skin off by less
  if (off > kArrived)
    notes.warn(
        "unfinished-morph", o.shapes[number],
        fmt::format("the skin is still {:.1f} voxels off; more --seconds or --alpha, or less "
                    "--beta, let it arrive",
                    off));
  // A skin may lie on its target and still leave parts of it out.
  constexpr double kLeftOut = 0.02;  // tension rounds corners off by more than a voxel
  const double left_out = unreachedShare(skin.potential(), target.potential(), 1);
  if (off <= kArrived && left_out > kLeftOut)
    notes.warn("unfinished-morph", o.shapes[number],
               fmt::format("{:.0f} % of its surface are more than a voxel away from the skin; more "
                           "--seconds, --alpha or --resolution, or less --beta, let it arrive",
                           100 * left_out));
  return {};
}

Result<void> runMorph(const MorphOptions& o, Diagnostics& notes) {
  for (const std::string& shape : o.shapes)
    DERM_CHECK(checkNotAnInput({o.skin.output, o.skin.film, o.skin.strip, o.skin.report}, {shape}));
  DERM_TRY(SkinSink sink, SkinSink::open(o.skin));
  EvolutionLaw law = o.skin.law();
  PotentialDesc desc{.max_memory = law.max_memory};
  double half = 1;  // [m] what the paper's box [-1, 1] is here
  if (!o.fit) {
    DERM_TRY(half, halfBoxOf(o.shapes, notes));
  }
  desc.voxel_m = 2 * half / (o.resolution - 1);
  // The attraction of Desbrun, Cani 1997 is per unit of its field; as a rate it moves a skin
  // through the box within seconds. A skin's way in a second is counted in voxels: finer ones run
  // faster, attraction and tension alike, so that the balance between them stays.
  const double pace = std::max(1.0, o.resolution / 50);
  law.tension = o.skin.beta * half * half * pace;
  law.attraction = o.skin.alpha * 6 * pace;
  law.max_move = 0.1;
  constexpr double kCreases = 4;  // fronts that meet must not leave a ragged seam
  law.creases = kCreases;
  o.skin.addInertia(law);
  std::vector<std::shared_ptr<const Potential>> shapes;
  for (const std::string& s : o.shapes) {
    DERM_TRY(std::shared_ptr<const Potential> shape, shapeNamed(s, o.fit, desc, notes));
    shapes.push_back(std::move(shape));
  }
  Wanted wanted;
  DERM_TRY(wanted.volume,
           morphShares(o.skin.wanted_volume, "--wanted-volume", true, shapes, o.seconds));
  DERM_TRY(wanted.area, morphShares(o.skin.wanted_area, "--wanted-area", false, shapes, o.seconds));
  DERM_TRY(ActiveSkin skin, ActiveSkin::make(*shapes.front(), law));
  DERM_CHECK(sink.add(skin, {}));
  ProgressBar bar("morph");
  for (std::size_t s = 1; s < shapes.size(); ++s)
    DERM_CHECK(
        morphTo(o, s, PotentialTarget(shapes[s]), wanted, skin, sink, bar.callback(), notes));
  sink.close(skin);
  return sink.finish(notes);
}

void addMorph(CLI::App& app, Run& run) {
  const auto o = std::make_shared<MorphOptions>();
  CLI::App* verb = app.add_subcommand("morph", "turns closed shapes into each other");
  verb->add_option("SHAPES", o->shapes,
                   "two or more closed meshes: files or cast:NAME; .vdb level "
                   "sets stay where they are (--no-fit)")
      ->required()
      ->expected(2, 64);
  verb->add_option("--resolution", o->resolution, "nodes along the box of the shapes")
      ->check(within(8.0, 4096.0))
      ->capture_default_str();
  verb->add_option("--seconds", o->seconds, "[s] for each change")->check(within(0.05, 600.0));
  verb->add_flag("--fit,!--no-fit", o->fit, "bring all shapes to one size and position (default)");
  verb->add_option("--beta", o->skin.beta, "tension, where the box's longest side is 2")
      ->default_val(0.01);
  o->skin.addTo(*verb);
  verb->footer(
      "example:\n"
      "  derm implicit morph A.obj B.obj --resolution 50 --alpha 2 --beta 0.01 --film morph.mp4 "
      "\\\n"
      "      --report r.json\n"
      "  derm implicit morph cast:six-blobs cast:two-spheres --film split.mp4\n"
      "  derm implicit morph cast:six-blobs cast:two-spheres --volume exact --wanted-volume target "
      "\\\n"
      "      --strip split.png");
  setWork(*verb, run, o, runMorph);
}

// ----------------------------------------------------------------------------------------- grids

struct GridsOptions {
  std::string source;
  std::optional<double> density;
  double voxel = 0;
  SkinOptions skin;
};

/// The skin chases one grid a frame.
Result<void> runGrids(const GridsOptions& o, Diagnostics& notes) {
  DERM_TRY(const Wanted wanted, Wanted::of(o.skin));
  DERM_TRY(const std::vector<NumberedFile> files, numberedFiles(o.source));
  DERM_CHECK(checkNotAFrame(o.skin, files));
  DERM_TRY(SkinSink sink, SkinSink::open(o.skin, files.size() == 1));
  std::optional<ActiveSkin> skin;
  ProgressBar bar("skin");
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (!keepGoing(bar.callback(), double(f) / double(files.size()), "following"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    DERM_TRY(const LevelSetBlocks blocks, loadVdb(files[f].path, o.density));
    Result<Potential> grid = potentialOf(blocks);
    if (!grid) {
      Error e = grid.error();
      e.where.file = files[f].path.string();
      return e;
    }
    const PotentialTarget target(std::make_shared<const Potential>(*std::move(grid)));
    SkinStep last;
    if (!skin) {
      EvolutionLaw law = o.skin.law();
      const double voxel_m = o.voxel > 0 ? o.voxel : blocks.voxel_m;
      law.attraction = o.skin.alpha * o.skin.fps;
      law.tension = o.skin.beta * o.skin.fps * voxel_m * voxel_m;
      o.skin.addInertia(law);
      DERM_TRY(Potential start,
               buildPotential(target, {.voxel_m = voxel_m, .max_memory = law.max_memory}));
      DERM_TRY(skin, ActiveSkin::make(std::move(start), law));
    } else {
      const double time_s = double(f) / o.skin.fps;
      skin->setWantedScale(wanted.volume.at(time_s), wanted.area.at(time_s));
      DERM_TRY(last, skin->advance(target, 1 / o.skin.fps));
    }
    DERM_CHECK(sink.add(*skin, last, files[f].digits));
  }
  sink.close(*skin);
  return sink.finish(notes);
}

void addGrids(CLI::App& app, Run& run) {
  const auto o = std::make_shared<GridsOptions>();
  CLI::App* verb =
      app.add_subcommand("grids", "a skin that follows a sequence of level sets or densities");
  verb->add_option("SEQUENCE", o->source, "name_{frame}.vdb, or one such file")->required();
  verb->add_option("--density", o->density,
                   "the grids are densities; what has more than this is inside")
      ->check(kAboveZero);
  verb->add_option("--voxel", o->voxel, "[m] of the skin's lattice; default the first grid's")
      ->check(kAboveZero);
  verb->add_option("--beta", o->skin.beta, "tension [voxel² a frame]")->default_val(0.05);
  o->skin.addTo(*verb);
  verb->footer(
      "--alpha is per frame: 2 follows closely, 0.2 lags softly\n"
      "example:\n"
      "  derm implicit grids smoke_{frame}.vdb --density 0.3 -o skin_{frame}.ply --film smoke.mp4");
  setWork(*verb, run, o, runGrids);
}

}  // namespace

void addImplicitVerb(CLI::App& app, Run& run) {
  CLI::App* verb =
      app.add_subcommand("implicit", "a living skin for matter without fixed topology");
  verb->require_subcommand(1);
  addParticles(*verb, run);
  addMorph(*verb, run);
  addGrids(*verb, run);
}

}  // namespace derm::cli
