#include "derm/io/character_file.h"

#include <algorithm>
#include <array>
#include <fstream>

#include "derm/io/bvh.h"
#include "derm/io/file_ending.h"
#include "derm/io/gltf.h"
#include "derm/io/obj.h"
#include "derm/io/ply.h"

#include "io/assimp_import.h"

namespace derm {
namespace {

using Loader = Result<Character> (*)(const std::filesystem::path&, const ImportOptions&,
                                     Diagnostics&);

Result<Character> loadBvhCharacter(const std::filesystem::path& file, const ImportOptions& options,
                                   Diagnostics& notes) {
  DERM_TRY(BvhMotion motion, loadBvh(file, options, notes));
  return characterOf(std::move(motion), options);
}

struct Format {
  const char* ending;
  Loader load;
};

constexpr std::array<Format, 9> kFormats = {{{".glb", loadGltf},
                                             {".gltf", loadGltf},
                                             {".obj", loadObj},
                                             {".ply", loadPly},
                                             {".bvh", loadBvhCharacter},
                                             {".fbx", detail::loadWithAssimp},
                                             {".dae", detail::loadWithAssimp},
                                             {".off", detail::loadWithAssimp},
                                             {".stl", detail::loadWithAssimp}}};

bool hasGlbMagic(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::array<char, 4> start{};
  std::ifstream in(file, std::ios::binary);
  return in.read(start.data(), start.size()) && std::string_view(start.data(), 4) == "glTF";
}

std::string listed(const std::vector<std::string>& endings) {
  std::string out;
  for (std::size_t i = 0; i < endings.size(); ++i) {
    if (i > 0) out += i + 1 == endings.size() ? " and " : ", ";
    out += endings[i];
  }
  return out;
}

Error unknownEnding(const std::filesystem::path& file, const std::string& verb,
                    const std::vector<std::string>& known) {
  const std::string ending = fileEnding(file);
  return Error{ErrorCode::Unsupported,
               (ending.empty() ? "a file without an ending" : "the ending \"" + ending + "\"") +
                   std::string(" cannot be ") + verb + "; known are " + listed(known),
               {.file = file.string()}};
}

}  // namespace

std::vector<std::string> readableEndings() {
  std::vector<std::string> out;
  for (const Format& f : kFormats)
    if (f.load != detail::loadWithAssimp || detail::assimpAvailable()) out.emplace_back(f.ending);
  return out;
}

Result<Character> loadCharacter(const std::filesystem::path& file, const ImportOptions& options,
                                Diagnostics& notes) {
  const std::string ending = fileEnding(file);
  const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const Format& f) { return f.ending == ending; });
  Loader load = format == kFormats.end() ? nullptr : format->load;
  // A glb is a glb whatever it is called (.vrm, a download without an ending).
  if (load != loadGltf && hasGlbMagic(file)) load = loadGltf;
  if (load == nullptr) return unknownEnding(file, "read", readableEndings());
  DERM_TRY(Character character, load(file, options, notes));
  if (character.name.empty()) character.name = file.stem().string();
  DERM_CHECK(validate(character));
  return character;
}

Result<void> saveCharacter(const Character& character, const std::filesystem::path& file,
                           Diagnostics& notes) {
  const std::string ending = fileEnding(file);
  if (ending == ".glb" || ending == ".gltf") return saveGltf(file, character, notes);
  if (ending == ".obj") return saveObj(file, character, notes);
  return unknownEnding(file, "written", {".glb", ".gltf", ".obj"});
}

}  // namespace derm
