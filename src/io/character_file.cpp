#include "derm/io/character_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "derm/base/utf8.h"
#include "derm/io/bvh.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"
#include "derm/io/gltf.h"
#include "derm/io/obj.h"
#include "derm/io/off.h"
#include "derm/io/ply.h"
#include "derm/io/stl.h"

#include "io/assimp_import.h"

namespace derm {
namespace {

using Bytes = std::span<const std::uint8_t>;
using Loader = Result<Character> (*)(const std::filesystem::path&, const ImportOptions&,
                                     Diagnostics&);
using Parser = Result<Character> (*)(Bytes, std::string_view, const SideFileReader&,
                                     const ImportOptions&, Diagnostics&);

std::string_view textOf(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Result<Character> parseObjCharacter(Bytes bytes, std::string_view name, const SideFileReader& read,
                                    const ImportOptions& options, Diagnostics& notes) {
  return parseObj(textOf(bytes), name, options, notes, read);
}

Result<Character> parsePlyCharacter(Bytes bytes, std::string_view name, const SideFileReader&,
                                    const ImportOptions& options, Diagnostics& notes) {
  return parsePly(bytes, name, options, notes);
}

Result<Character> parseOffCharacter(Bytes bytes, std::string_view name, const SideFileReader&,
                                    const ImportOptions& options, Diagnostics& notes) {
  return parseOff(textOf(bytes), name, options, notes);
}

Result<Character> parseStlCharacter(Bytes bytes, std::string_view name, const SideFileReader&,
                                    const ImportOptions& options, Diagnostics& notes) {
  return parseStl(bytes, name, options, notes);
}

Result<Character> parseBvhCharacter(Bytes bytes, std::string_view name, const SideFileReader&,
                                    const ImportOptions& options, Diagnostics& notes) {
  DERM_TRY(BvhMotion motion, parseBvh(textOf(bytes), name, options, notes));
  return characterOf(std::move(motion), options);
}

Result<Character> loadBvhCharacter(const std::filesystem::path& file, const ImportOptions& options,
                                   Diagnostics& notes) {
  DERM_TRY(BvhMotion motion, loadBvh(file, options, notes));
  return characterOf(std::move(motion), options);
}

struct Format {
  const char* ending;
  Loader load;
  Parser parse;
};

constexpr Format kGltf{".glb", loadGltf, parseGltf};
constexpr std::array<Format, 9> kFormats = {
    {kGltf,
     {".gltf", loadGltf, parseGltf},
     {".obj", loadObj, parseObjCharacter},
     {".ply", loadPly, parsePlyCharacter},
     {".bvh", loadBvhCharacter, parseBvhCharacter},
     {".fbx", detail::loadWithAssimp, detail::parseWithAssimp},
     {".dae", detail::loadWithAssimp, detail::parseWithAssimp},
     {".off", loadOff, parseOffCharacter},
     {".stl", loadStl, parseStlCharacter}}};

constexpr std::string_view kGlbMagic = "glTF";

bool hasGlbMagic(const std::filesystem::path& file) {
  const std::vector<std::uint8_t> start = firstBytes(file, kGlbMagic.size());
  return std::equal(start.begin(), start.end(), kGlbMagic.begin(), kGlbMagic.end());
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

/// By the ending of the name; but a glb is a glb whatever it is called (.vrm, a download without an
/// ending).
template <class IsGlb>
Result<Format> formatOf(const std::filesystem::path& name, const IsGlb& is_glb) {
  const std::string ending = fileEnding(std::filesystem::path(name));
  const auto format = std::find_if(kFormats.begin(), kFormats.end(),
                                   [&](const Format& f) { return f.ending == ending; });
  if (format != kFormats.end() && format->load == kGltf.load) return *format;
  if (is_glb()) return kGltf;
  if (format == kFormats.end()) return unknownEnding(name, "read", readableEndings());
  return *format;
}

/// Recipes and JSON name joints, shapes and clips in UTF-8; BVH and FBX files have them in any
/// bytes. Latin-1 has a character for each byte, so that names which differ go on doing so.
void makeUtf8(std::string& name, const char* element, std::size_t index, Diagnostics& notes) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(name.begin(), name.end(), is_ascii) || isUtf8(name)) return;
  std::string text;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0 | byte >> 6);
    text += is_ascii(c) ? c : static_cast<char>(0x80 | (byte & 0x3F));
  }
  name = std::move(text);
  notes.warn("name-not-utf8", element, "a name is not UTF-8; it is read as Latin-1", index);
}

Result<Character> named(Character character, const std::filesystem::path& file,
                        Diagnostics& notes) {
  if (character.name.empty()) character.name = file.stem().string();
  for (std::size_t j = 0; j < character.skeleton.size(); ++j)
    makeUtf8(character.skeleton.joints[j].name, "joints", j, notes);
  for (std::size_t m = 0; m < character.morphs.size(); ++m)
    makeUtf8(character.morphs[m].name, "morphs", m, notes);
  for (std::size_t c = 0; c < character.clips.size(); ++c)
    makeUtf8(character.clips[c].name, "clips", c, notes);
  DERM_CHECK(validate(character));
  return character;
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
  DERM_TRY(const Format format, formatOf(file, [&] { return hasGlbMagic(file); }));
  DERM_TRY(Character character, format.load(file, options, notes));
  return named(std::move(character), file, notes);
}

Result<Character> parseCharacter(std::span<const std::uint8_t> bytes, std::string_view name,
                                 const ImportOptions& options, Diagnostics& notes,
                                 const SideFileReader& read_side_file) {
  const auto isGlb = [&] { return textOf(bytes).starts_with(kGlbMagic); };
  DERM_TRY(const Format format, formatOf(name, isGlb));
  DERM_TRY(Character character, format.parse(bytes, name, read_side_file, options, notes));
  return named(std::move(character), name, notes);
}

Result<void> saveCharacter(const Character& character, const std::filesystem::path& file,
                           Diagnostics& notes, OutputFiles& files) {
  const std::string ending = fileEnding(file);
  if (ending == ".glb" || ending == ".gltf") return saveGltf(file, character, notes, files);
  if (ending == ".obj") return saveObj(file, character, notes, files);
  return unknownEnding(file, "written", {".glb", ".gltf", ".obj"});
}

}  // namespace derm
