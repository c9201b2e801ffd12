#include "derm/io/character_author.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "derm/io/file_ending.h"

namespace derm {
namespace {

constexpr std::string_view kName = "derm";
constexpr std::size_t kMaxJson = std::size_t{256} << 20;
constexpr std::size_t kGlbHead = 20;  ///< magic, version, length; length and kind of the JSON chunk

/// The first bytes of a file, fewer where it ends before.
std::string head(std::ifstream& in, std::size_t size) {
  std::string out(size, '\0');
  in.read(out.data(), static_cast<std::streamsize>(size));
  out.resize(static_cast<std::size_t>(in.gcount()));
  return out;
}

std::uint32_t littleEndian(std::string_view bytes) {
  std::uint32_t out = 0;
  for (std::size_t i = 4; i-- > 0;) out = out << 8 | static_cast<unsigned char>(bytes[i]);
  return out;
}

/// Of a file of so many bytes, whatever it says of itself.
std::string gltfJson(std::ifstream& in, std::uintmax_t file_bytes) {
  const auto max = static_cast<std::size_t>(std::min<std::uintmax_t>(file_bytes, kMaxJson));
  std::string start = head(in, kGlbHead);
  if (start.size() == kGlbHead && start.starts_with("glTF"))
    return head(in, std::min<std::size_t>(littleEndian(std::string_view(start).substr(12)), max));
  return start + head(in, max);
}

/// asset.generator, without keeping the rest.
std::string generatorOf(const std::string& json) {
  bool wanted = false;
  const auto keepAsset = [&](int depth, nlohmann::json::parse_event_t event,
                             nlohmann::json& parsed) {
    if (event == nlohmann::json::parse_event_t::key && depth == 1) wanted = parsed == "asset";
    return depth < 1 || wanted;
  };
  const nlohmann::json root = nlohmann::json::parse(json, keepAsset, false);
  if (!root.is_object() || !root.contains("asset") || !root["asset"].is_object()) return {};
  const auto generator = root["asset"].find("generator");
  return generator != root["asset"].end() && generator->is_string() ? generator->get<std::string>()
                                                                    : std::string();
}

}  // namespace

bool isWrittenByDerm(const std::filesystem::path& character) {
  std::ifstream in(character, std::ios::binary);
  if (!in) return false;
  const std::string ending = fileEnding(character);
  if (ending == ".obj") return head(in, kName.size() + 3) == "# " + std::string(kName) + "\n";
  if (ending != ".glb" && ending != ".gltf") return false;
  std::error_code failed;
  const std::uintmax_t bytes = std::filesystem::file_size(character, failed);
  if (failed) return false;
  const std::string generator = generatorOf(gltfJson(in, bytes));
  return generator == kName || generator.starts_with(std::string(kName) + " ");
}

}  // namespace derm
