// Bakes a travelling bump on a cast member in every way, for other programs to play:
// bake_bump MEMBER CLIP FOLDER. Beside each NAME.glb there is a NAME.bin: a JSON line (clip, times,
// bounding diagonal, tolerance, parts of the glb), then the wanted positions of every frame as
// floats. points.pc2 and points.mdd belong to cache.bin; triangles.bin has its triangles.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "derm/cast/cast.h"
#include "derm/deform/wrinkle_proposal.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"
#include "derm/scene/bake.h"

#include "support/test_layer_types.h"

namespace {

namespace fs = std::filesystem;
using derm::testing_support::testLayerTypes;

int fail(const derm::Error& error) {
  std::fprintf(stderr, "%s\n", error.text().c_str());
  return 1;
}

/// Which vertices each mesh and primitive of the written file has, as other programs number them.
nlohmann::json partsOf(const derm::Character& c) {
  nlohmann::json parts = nlohmann::json::array();
  for (const derm::MeshInstance& m : c.instances)
    for (std::size_t p = m.first_part; p < std::size_t{m.first_part} + m.part_count; ++p)
      parts.push_back({{"mesh", m.source_mesh},
                       {"primitive", c.parts[p].source_primitive},
                       {"first", c.parts[p].first_vertex},
                       {"count", c.parts[p].vertex_count}});
  return parts;
}

derm::Result<void> writeWanted(const derm::BakeDesc& desc, double tolerance,
                               const std::string& clip_name) {
  derm::Diagnostics notes;
  DERM_TRY(derm::Scene scene, derm::openScene(desc.recipe, desc.scene, notes));
  DERM_TRY(const derm::Character written, derm::loadCharacter(desc.output, {}, notes));
  DERM_TRY(const std::size_t clip, written.findClip(clip_name));
  fs::path file = desc.output;
  std::ofstream out(file.replace_extension(".bin"), std::ios::binary);
  nlohmann::json head = {
      {"diagonal", derm::bounds(scene.stack().output().rest.positions).diagonal()},
      {"tolerance", tolerance},
      {"fps", desc.recipe.fps},
      {"clip", clip},
      {"vertices", scene.stack().output().rest.vertexCount()},
      {"times",
       nlohmann::json(std::vector<double>(scene.frameTimes().begin(), scene.frameTimes().end()))},
      {"parts", partsOf(written)}};
  out << head.dump() << "\n";
  for (std::size_t i = 0; i < scene.frameTimes().size(); ++i) {
    const auto positions = scene.frame(i).positions();
    out.write(reinterpret_cast<const char*>(positions.data()),
              static_cast<std::streamsize>(positions.size_bytes()));
  }
  return {};
}

/// Folds where the clip squeezes the character most, as a recipe's layers.
derm::Result<std::string> foldsFor(const derm::Character& character, const std::string& clip_name) {
  DERM_TRY(const std::size_t clip, character.findClip(clip_name));
  DERM_TRY(const auto found,
           derm::proposeWrinkles(character, character.clips[clip], {.max_tools = 2}));
  std::string out;
  for (const derm::WrinkleProposal& p : found) {
    const auto numbers = [](const derm::Vec3d& at) {
      return "[" + std::to_string(at.x()) + ", " + std::to_string(at.y()) + ", " +
             std::to_string(at.z()) + "]\n";
    };
    out += "[[layer]]\ntype = \"wrinkles\"\nfrom = " + numbers(p.tool.path[0].position) +
           "to = " + numbers(p.tool.path[1].position) +
           "width_m = " + std::to_string(p.tool.width_m) + "\n";
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  derm::Diagnostics notes;
  const derm::Result<derm::Character> member = derm::makeCastMember(argv[1]);
  if (!member) return fail(member.error());
  const auto character = std::make_shared<const derm::Character>(*member);
  const double diagonal = derm::bounds(character->mesh.positions).diagonal();
  constexpr double kExact = 1e-5;  // of the diagonal
  constexpr double kBound = 2e-3;  // of the diagonal, asked for
  struct Way {
    std::string name;
    std::string layers;
    derm::BakeAs as;
    std::optional<double> error_m;
    double tolerance;
    const derm::LayerTypes* types = &testLayerTypes();
  };
  const std::string bump = "[[layer]]\ntype = \"bump\"\nheight = 0.05\n";
  const std::string fine = bump + "[[layer]]\ntype = \"refine\"\n";
  const derm::Result<std::string> folds = foldsFor(*character, argv[2]);
  if (!folds) return fail(folds.error());
  const Way ways[] = {
      {"correctives", bump, derm::BakeAs::Correctives, std::nullopt, kExact},
      {"bounded", bump, derm::BakeAs::Correctives, kBound * diagonal, kBound},
      {"cache", bump, derm::BakeAs::Cache, std::nullopt, kExact},
      {"fine_cache", fine, derm::BakeAs::Cache, std::nullopt, kExact},
      {"folds", *folds, derm::BakeAs::Cache, std::nullopt, kExact, &derm::builtInLayerTypes()},
  };
  for (const Way& way : ways) {
    const std::string text =
        "fps = 24\nclip = \"" + std::string(argv[2]) + "\"\npreroll_s = 0.1\n" + way.layers;
    derm::BakeDesc desc;
    desc.recipe = derm::parseRecipe(text, "bump.toml", *way.types).value();
    desc.scene.character = character;
    desc.scene.types = way.types;
    desc.output = fs::path(argv[3]) / (way.name + ".glb");
    desc.as = way.as;
    desc.correctives.error_m = way.error_m;
    const derm::Result<derm::BakeReport> report = derm::bake(desc, notes);
    if (!report) return fail(report.error());
    if (report->correctives)
      std::printf("%s: %zu shapes, largest error %.2e of the diagonal\n", way.name.c_str(),
                  report->correctives->shapes, report->correctives->max_error_m / diagonal);
    if (auto written = writeWanted(desc, way.tolerance, argv[2]); !written)
      return fail(written.error());
    if (way.name != "cache") continue;
    for (const char* points : {"points.pc2", "points.mdd"}) {
      desc.output = fs::path(argv[3]) / points;
      if (const auto cache = derm::bake(desc, notes); !cache) return fail(cache.error());
    }
    std::ofstream triangles(fs::path(argv[3]) / "triangles.bin", std::ios::binary);
    triangles.write(
        reinterpret_cast<const char*>(character->mesh.triangles.data()),
        static_cast<std::streamsize>(character->mesh.triangles.size() * sizeof(derm::Triangle)));
  }
  return 0;
}
