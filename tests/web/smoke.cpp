// What a page does, without a page and without a disk: a character from bytes, a recipe from text,
// frames, and a bake into memory. Prints them for run_web_test.sh, which compares WebAssembly with
// the native program.
#include <cstdio>
#include <memory>

#include "derm/base/hash.h"
#include "derm/base/number_text.h"
#include "derm/cast/cast.h"
#include "derm/io/character_file.h"
#include "derm/io/gltf.h"
#include "derm/io/point_cache.h"
#include "derm/scene/bake.h"
#include "derm/scene/scene.h"

namespace {

using namespace derm;

constexpr const char* kRecipe = R"(
clip = "jump"
fps = 30
preroll_s = 0.5

[skinning]
method = "centre"

[[layer]]
type = "flesh"
name = "belly"
dominant = "spine_1"
ends = ["spine_5"]
frequency_hz = 5.0
damping_ratio = 0.2
from_m = [0, 0.295, -0.110]
to_m = [0, 0.295, 0.108]
max_elongation = 0.7

[[layer]]
type = "volume"
)";
constexpr std::size_t kFrames = 24;

void print(std::span<const Vec3f> positions) {
  for (const Vec3f& p : positions)
    std::printf("p %s %s %s\n", exactNumber(p.x()).c_str(), exactNumber(p.y()).c_str(),
                exactNumber(p.z()).c_str());
}

/// The cat, written as glb and read again: what a page would have fetched.
Result<Character> catFromBytes(Diagnostics& notes) {
  DERM_TRY(const Character made, makeCastMember("cat"));
  DERM_TRY(const std::vector<std::uint8_t> glb, encodeGlb(made, notes));
  return parseCharacter(glb, "cat.glb", {}, notes);
}

Result<void> playFrames(const Recipe& recipe, const SceneOptions& options, Diagnostics& notes) {
  DERM_TRY(Scene scene, openScene(recipe, options, notes));
  Hash64 hash;
  for (std::size_t i = 0; i < kFrames; ++i) {
    const std::span<const Vec3f> positions = scene.frame(i).positions();
    hash.addSpan(positions);
    print(positions);
  }
  std::printf("hash %016llx\n", static_cast<unsigned long long>(hash.value()));
  return {};
}

Result<void> bakeIntoMemory(const Recipe& recipe, const SceneOptions& options, Diagnostics& notes) {
  MemoryFiles files;
  BakeDesc desc{.recipe = recipe, .scene = options, .output = "out.pc2", .report = "out.json"};
  desc.recipe.fps = 10;
  desc.files = &files;
  DERM_CHECK(bake(desc, notes));
  const MemoryFiles::Bytes* cache = files.find("out.pc2");
  std::printf("files %zu, report %d\n", files.files().size(), files.find("out.json") != nullptr);
  if (cache == nullptr) return Error{ErrorCode::BadData, "no out.pc2", {}};
  DERM_TRY(const PointCache read, parsePointCache(PointCacheFormat::Pc2, *cache, "out.pc2"));
  std::printf("cache %zu frames of %zu\n", read.frameCount(), read.points);
  print(read.frame(read.frameCount() - 1));
  return {};
}

Result<void> run() {
  Diagnostics notes;
  DERM_TRY(const Recipe recipe, parseRecipe(kRecipe, "smoke"));
  DERM_TRY(Character cat, catFromBytes(notes));
  const SceneOptions options{.character = std::make_shared<const Character>(std::move(cat))};
  DERM_CHECK(playFrames(recipe, options, notes));
  DERM_CHECK(bakeIntoMemory(recipe, options, notes));
  // Errors are values: without exceptions they still say where.
  const Result<Recipe> wrong = parseRecipe("clip = \"jump\"\nfpz = 30\n", "wrong");
  std::printf("error %s\n", wrong ? "none" : wrong.error().text().c_str());
  Recipe no_such_clip = recipe;
  no_such_clip.clip = ClipChoice{"jumpp"};
  const Result<Scene> none = openScene(no_such_clip, options, notes);
  std::printf("error %s\n", none ? "none" : none.error().text().c_str());
  return {};
}

}  // namespace

int main() {
  const Result<void> done = run();
  if (!done) std::printf("failed: %s\n", done.error().text().c_str());
  return done ? 0 : 1;
}
