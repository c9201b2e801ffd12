#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/cast/cast.h"
#include "derm/deform/wrinkles.h"
#include "derm/image/compose.h"
#include "derm/io/png.h"

#include "repro/documents.h"
#include "repro/example_recipes.h"
#include "repro/measuring.h"

/// Larboulette, Cani, Arnaldi 2006, part 4: folds on heads, a wrist, trousers and the cat.
namespace derm::detail::repro {
namespace {

/// What the tools of a scene came to over its frames.
struct ToolReport {
  double highest_m = 0;
  double most_squeezed = 0;  ///< share of a tool's rest length that skinning took
  double least_kept = 1;     ///< share of what was lost that folds gave back
};

std::vector<const WrinklesLayer*> wrinklesOf(const Scene& scene) {
  std::vector<const WrinklesLayer*> out;
  for (const auto& binding : scene.stack().layers())
    if (const auto* layer = scene.playback().find<WrinklesLayer>(binding->name()))
      out.push_back(layer);
  return out;
}

ToolReport toolsOver(Scene& scene) {
  ToolReport out;
  for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
    scene.frame(f);
    for (const WrinklesLayer* layer : wrinklesOf(scene))
      for (std::size_t t = 0; t < layer->toolCount(); ++t) {
        const WrinkleToolState& tool = layer->tool(t);
        out.highest_m = std::max(out.highest_m, tool.highest_m);
        if (tool.fold.spare <= 0.01 * tool.rest_length_m) continue;
        out.most_squeezed = std::max(out.most_squeezed, tool.fold.spare / tool.rest_length_m);
        out.least_kept =
            std::min(out.least_kept, 1 - (tool.fold.missing + tool.fold.refused) / tool.fold.spare);
      }
  }
  return out;
}

Result<void> measureTools(ReproResult& r, const std::string& what, std::string_view recipe,
                          double least_kept_percent, Diagnostics& notes,
                          std::shared_ptr<const Character> character = {}) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes, std::move(character)));
  const ToolReport tools = toolsOver(scene);
  r.numbers.push_back(within(unprinted(what + ": most that skinning takes of a tool's length", "%",
                                       100 * tools.most_squeezed),
                             1, 95));
  r.numbers.push_back(
      within(unprinted(what + ": least of it that folds give back", "%", 100 * tools.least_kept),
             least_kept_percent, 100.0001));
  r.numbers.push_back(
      within(unprinted(what + ": highest fold", "mm", 1000 * tools.highest_m), 0.3, 60));
  return {};
}

std::string foreheadOf(std::string_view head, std::string_view keys) {
  return "character = \"cast:" + std::string(head) +
         "\"\nclip = \"\"\nrange_s = [0.0, 2.0]\nfps = 10\n[[layer]]\ntype = \"wrinkles\"\nname = "
         "\"forehead\"\nfrom = [0.0, 0.196, 0.089]\nto = [0.0, 0.232, 0.080]\nwidth_m = 0.07\n"
         "strategy = \"simultaneous\"\nrest_length_keys = [0.0, 0.036, 1.0, 0.052, 2.0, 0.036]\n" +
         std::string(keys);
}

constexpr std::string_view kForeheadA =
    "points = 9\nspacing = 0\nprofile = \"round\"\nh_max_m = 0.003\n";
constexpr std::string_view kForeheadB = "points = 13\nspacing = 1\nh_max_m = 0.004\n";
constexpr std::string_view kForeheadC =
    "points = 9\nspacing = 0\nh_max_m = 0.003\nlevels = [0.7, 0.3]\n";

Result<void> measureForeheads(ReproResult& r, Diagnostics& notes) {
  for (const std::string head : {"man", "woman"}) {
    DERM_TRY(Character made, makeCastMember(head));
    const auto shared = std::make_shared<const Character>(std::move(made));
    int setting = 0;
    for (const std::string_view keys : {kForeheadA, kForeheadB, kForeheadC})
      DERM_CHECK(measureTools(r, head + ", setting " + std::to_string(++setting),
                              foreheadOf(head, keys), 90, notes, shared));
  }
  return {};
}

Result<void> drawForeheads(ReproResult& r, Diagnostics& notes) {
  std::vector<Rgba8Image> images;
  for (const std::string head : {"man", "woman"}) {
    DERM_TRY(Character made, makeCastMember(head, encodePng));
    const auto shared = std::make_shared<const Character>(std::move(made));
    for (const std::string_view keys : {kForeheadA, kForeheadA, kForeheadB, kForeheadC}) {
      DERM_TRY(Scene scene, sceneOf(foreheadOf(head, keys), notes, shared));
      DERM_TRY(Rgba8Image image, pictureOf(scene,
                                           {.time_s = images.size() % 4 == 0 ? 0.0 : 1.0,
                                            .yaw_deg = 18,
                                            .pitch_deg = 14,
                                            .zoom = 1.3,
                                            .width = 280,
                                            .height = 330},
                                           notes));
      images.push_back(std::move(image));
    }
  }
  r.pictures.push_back(
      {.caption = "Two heads, at rest and with three settings", .image = gridOf(images, 4, 4)});
  return {};
}

/// What the straight line from A to B claims as lost, over what the skin along it has lost, in the
/// frame in which that is most.
Result<double> chordOverSkin(std::string_view recipe, const Vec3f& a, const Vec3f& b,
                             Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes));
  const std::vector<Vec3f>& rest = scene.character()->mesh.positions;
  const auto nearest = [&](const Vec3f& p) {
    return std::size_t(std::min_element(rest.begin(), rest.end(),
                                        [&](const Vec3f& x, const Vec3f& y) {
                                          return (x - p).squaredNorm() < (y - p).squaredNorm();
                                        }) -
                       rest.begin());
  };
  const std::size_t from = nearest(a), to = nearest(b);
  const double chord = double((rest[from] - rest[to]).norm());
  double most = 0, ratio = 0;
  for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
    const auto at = scene.frame(f).positions();  // folds never move A and B
    const WrinkleToolState& tool = wrinklesOf(scene).at(0)->tool(0);
    const double lost = tool.rest_length_m - tool.length_m;
    if (lost <= most) continue;
    most = lost;
    ratio = (chord - double((at[from] - at[to]).norm())) / lost;
  }
  return ratio;
}

/// Every tool of the recipe with these keys too.
std::string withKeys(std::string_view recipe, std::string_view keys) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t next; (next = recipe.find("h_max_m", at)) != std::string_view::npos;
       at = next + 7) {
    out += recipe.substr(at, next - at);
    out += std::string(keys) + "h_max_m";
  }
  return out + std::string(recipe.substr(at));
}

Result<void> measureWrist(ReproResult& r, Diagnostics& notes) {
  DERM_TRY(const double ratio,
           chordOverSkin(kWrist, Vec3f(0.072f, 0.027f, 0.0f), Vec3f(0.130f, 0.019f, 0.0f), notes));
  r.numbers.push_back(
      within(unprinted("the literal form: what the line AB claims as lost over what the skin lost",
                       "", ratio),
             1, 10));
  for (const auto& [name, key] : {std::pair{"length = \"chord\"", "length = \"chord\"\n"},
                                  {"projection = \"moved\"", "projection = \"moved\"\n"}}) {
    DERM_TRY(Scene scene, sceneOf(withKeys(kWrist, key), notes));
    DERM_TRY(Scene ours, sceneOf(kWrist, notes));
    double apart = 0;
    for (std::size_t f = 0; f < scene.frameTimes().size(); ++f) {
      const auto a = scene.frame(f).positions(), b = ours.frame(f).positions();
      for (std::size_t v = 0; v < std::min(a.size(), b.size()); ++v)
        apart = std::max(apart, double((a[v] - b[v]).norm()));
    }
    r.numbers.push_back(
        within(unprinted(std::string("the literal form, ") + name + ": farthest from ours", "mm",
                         1000 * apart),
               0.05, 60));
  }
  return measureTools(r, "wrist", kWrist, 50, notes);
}
Result<void> drawWrist(ReproResult& r, Diagnostics& notes) {
  Shot shot{.time_s = 2.6, .yaw_deg = 20, .pitch_deg = 45, .zoom = 2, .width = 900, .height = 420};
  shot.view.focus = "hand";
  shot.view.comparison = Comparison::SideBySide;
  DERM_CHECK(addPicture(r, "A baby's wrist: skinning alone, and with folds", kWrist, shot, notes));
  Shot ours = shot;
  ours.width = 340;
  ours.height = 360;
  ours.view.comparison = Comparison::None;
  Shot chord = ours, moved = ours;
  ours.view.label = "ours";
  chord.view.label = "chord length";
  moved.view.label = "projected anew";
  return addPanels(r,
                   "Ours beside the literal forms: the length of the line AB, and folds that are "
                   "projected anew in each frame",
                   std::array{Panel{std::string(kWrist), ours},
                              Panel{withKeys(kWrist, "length = \"chord\"\n"), chord},
                              Panel{withKeys(kWrist, "projection = \"moved\"\n"), moved}},
                   3, notes);
}

/// A series of folds on the front of the right knee alone, drawn where the cloth is longest: on the
/// bent knee.
Result<std::string> frontFolds() {
  DERM_TRY(const Character trousers, makeCastMember("trousers"));
  const auto nearest = [&](const Vec3f& p) {
    const std::vector<Vec3f>& x = trousers.mesh.positions;
    return std::to_string(std::min_element(x.begin(), x.end(),
                                           [&](const Vec3f& a, const Vec3f& b) {
                                             return (a - p).squaredNorm() < (b - p).squaredNorm();
                                           }) -
                          x.begin());
  };
  return "character = \"cast:trousers\"\nclip = \"walk\"\nfps = 30\n[[layer]]\ntype = "
         "\"wrinkles\"\n"
         "name = \"front of the knee\"\nfrom_vertex = " +
         nearest(Vec3f(-0.105f, 0.60f, 0.09f)) +
         "\nto_vertex = " + nearest(Vec3f(-0.110f, 0.40f, 0.09f)) +
         "\nwidth_m = 0.15\npoints = 9\nspacing = 0\nstrategy = \"simultaneous\"\nprofile = "
         "\"round\"\nh_max_m = 0.012\ndefine_clip = \"walk\"\ndefine_at_s = 0.25\n";
}

Result<void> measureTrousers(ReproResult& r, Diagnostics& notes) {
  DERM_CHECK(measureTools(r, "trousers", kTrousers, 50, notes));
  DERM_TRY(const std::string front, frontFolds());
  return measureTools(r, "front of one knee", front, 50, notes);
}
Result<void> drawTrousers(ReproResult& r, Diagnostics& notes) {
  Shot shot{
      .time_s = 0.8, .yaw_deg = 200, .pitch_deg = 15, .zoom = 2.5, .width = 900, .height = 420};
  shot.view.focus = "shin_left";
  shot.view.comparison = Comparison::SideBySide;
  DERM_CHECK(addPicture(r, "Trousers from behind: skinning alone, and with two tools that cross",
                        kTrousers, shot, notes));
  DERM_TRY(const std::string front, frontFolds());
  std::vector<Panel> panels;
  for (const double time : {0.25, 0.6, 0.8}) {
    Shot knee{.time_s = time, .yaw_deg = 8, .pitch_deg = 4, .zoom = 2, .width = 330, .height = 360};
    knee.view.focus = "shin_right";
    panels.push_back({front, knee});
  }
  return addPanels(r,
                   "From the front: a series of folds on one knee, none on the other; they were "
                   "drawn on the bent knee (left)",
                   panels, 3, notes);
}

Result<void> measureBoth(ReproResult& r, Diagnostics& notes) {
  DERM_CHECK(measureTools(r, "cat, two tools", kCatBellyAndFolds, 50, notes));
  DERM_TRY(Scene scene, sceneOf(kCatBellyAndFolds, notes));
  r.numbers.push_back(better(
      within(printed("one flesh element and two tools", "frames/s", 25, 0, framesPerSecond(scene)),
             25, kNoEnd),
      ReproSense::MoreIsBetter));
  return {};
}
Result<void> drawBoth(ReproResult& r, Diagnostics& notes) {
  return addStrip(r, "The cat jumps with a belly that swings and legs that fold", kCatBellyAndFolds,
                  {.yaw_deg = 60, .pitch_deg = 5, .width = 1000, .height = 320}, 6, notes);
}

/// Every tool of the recipe cut so often.
std::string subdivided(std::string_view recipe, int levels) {
  return withKeys(recipe, "subdivide = " + std::to_string(levels) + "\n");
}

Result<double> playedAt(const std::string& recipe, Diagnostics& notes) {
  DERM_TRY(Scene scene, sceneOf(recipe, notes));
  return framesPerSecond(scene);
}

Result<void> measureFps(ReproResult& r, Diagnostics& notes) {
  struct Row {
    const char* name;
    std::string_view recipe;
    int levels;  ///< 0 = no folds at all
    std::optional<double> theirs;
  };
  for (const Row& row :
       {Row{"wrist, idle", kWrist, 0, 188}, Row{"wrist, one level", kWrist, 1, {}},
        Row{"wrist, two levels", kWrist, 2, 23}, Row{"wrist, three levels", kWrist, 3, {}},
        Row{"trousers, idle", kTrousers, 0, {}}, Row{"trousers, one level", kTrousers, 1, 17},
        Row{"trousers, two levels", kTrousers, 2, 7.5},
        Row{"trousers, three levels", kTrousers, 3, {}},
        Row{"cat, belly and folds", kCatBellyAndFolds, 2, 25}}) {
    std::string recipe = subdivided(row.recipe, row.levels);
    if (row.levels == 0) recipe = std::string(row.recipe.substr(0, row.recipe.find("[[layer]]")));
    DERM_TRY(const double rate, playedAt(recipe, notes));
    ReproNumber n = within(unprinted(row.name, "frames/s", rate), row.theirs.value_or(25), kNoEnd);
    n.theirs = row.theirs;
    n.better = ReproSense::MoreIsBetter;
    r.numbers.push_back(std::move(n));
  }
  return {};
}

constexpr std::array<ReproExhibit, 5> kFoldExhibits = {{
    {"fig. 17", "foreheads of two heads", kManForehead,
     "As in the paper the rest length grows by hand; the heads are the cast's own.",
     measureForeheads, drawForeheads},
    {"fig. 18", "a baby's wrist", kWrist,
     "The paper takes the length of the straight line AB; a crease that closes brings A and B "
     "together while most skin is still there, so ours is the length along the skin. Where crests "
     "meet, what finds no room is told.",
     measureWrist, drawWrist},
    {"fig. 19", "trousers", kTrousers, "", measureTrousers, drawTrousers},
    {"fig. 20", "both tools on the cat", kCatBellyAndFolds, "", measureBoth, drawBoth},
    {"section 4", "frames per second", "derm render examples/recipes/wrist.toml --film wrist.mp4",
     "Theirs were drawn, on an Athlon XP 1700+; ours are made without drawing, at constant "
     "triangles, by this build on this machine.",
     measureFps, nullptr},
}};

}  // namespace

std::span<const ReproExhibit> foldExhibits() { return kFoldExhibits; }

ReproDocument wrinklesDocument() {
  static const std::vector<ReproExhibit> all = joined(
      {fleshExhibits().first(3), foldCurveExhibits(), fleshExhibits().subspan(3), foldExhibits()});
  return {"000", "wrinkles",
          "Larboulette, Cani, Arnaldi 2006: Ajout de détails dynamiques à une animation temps-réel "
          "de personnage (flesh and folds)",
          all};
}

}  // namespace derm::detail::repro
