#include "derm/io/gltf.h"

#include <set>

#include "derm/base/hash.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"

#include "io/gltf/container.h"
#include "io/gltf/reader.h"
#include "io/gltf/uri.h"
#include "io/gltf/writer.h"
#include "io/import_units.h"

namespace derm {
namespace {

using FileBytes = std::vector<std::uint8_t>;

Result<Character> importDocument(std::span<const std::uint8_t> bytes,
                                 std::shared_ptr<const FileBytes> owner, std::string_view name,
                                 const SideFileReader& read_uri, const ImportOptions& options,
                                 Diagnostics& notes) {
  DERM_TRY(const double metres, detail::metresPerUnit(options, 1.0, name));
  detail::gltf::MemoryBudget budget(detail::gltf::MemoryBudget::forFile(bytes.size()));
  DERM_TRY(const std::shared_ptr<detail::gltf::GltfDocument> document,
           detail::gltf::readDocument(bytes, std::move(owner), name, read_uri, budget, notes));
  document->scene = options.scene;
  const detail::gltf::ReadContext context{*document, notes, budget};
  DERM_TRY(detail::gltf::Import import, detail::gltf::readImport(context, read_uri));
  Character character = std::move(import.character);
  for (const Image& image : character.images) {
    Hash64 hash;
    hash.addSpan(std::span<const std::uint8_t>(image.bytes));
    document->image_hashes.push_back(hash.value());
  }
  character.name = detail::fileStem(name);
  character.import = {
      .format = "glTF 2.0",
      .declared_unit = "m",
      .metres_per_unit = metres,
      .generator = detail::stringMember(document->root["asset"], "generator").value_or("")};
  character.source = document;
  if (metres != 1.0) {
    scaleLengths(character, metres);
    DERM_CHECK(validate(character));  // a wild unit makes numbers that are no floats
  }
  return character;
}

/// Images that are separate files but do not lie beside the target, where the uri would find them.
std::set<std::size_t> imagesToEmbed(const Character& character, const std::filesystem::path& folder,
                                    const OutputFiles& files) {
  std::set<std::size_t> out;
  for (std::size_t i = 0; i < character.images.size(); ++i) {
    const Image& image = character.images[i];
    if (image.uri.empty() || image.bytes.empty()) continue;
    const Result<std::string> path = detail::gltf::relativePath(image.uri);
    if (!path || !files.holds(folder / *path, image.bytes)) out.insert(i);
  }
  return out;
}

/// The document and its buffer. They take their names together: an old document with new numbers
/// would be a broken file.
Result<void> writeText(const std::filesystem::path& file, const std::filesystem::path& bin,
                       const detail::gltf::Written& written, OutputFiles& files) {
  std::unique_ptr<OutputFile> buffer;
  if (!written.bin.empty()) {
    DERM_TRY(buffer, files.create(bin));
    DERM_CHECK(buffer->append(written.bin));
    DERM_CHECK(buffer->finish());
  }
  DERM_TRY(const std::unique_ptr<OutputFile> document, files.create(file));
  DERM_CHECK(document->append(written.json));
  DERM_CHECK(document->finish());
  if (buffer != nullptr) DERM_CHECK(buffer->commit());
  return document->commit();
}

}  // namespace

Result<Character> parseGltf(std::span<const std::uint8_t> bytes, std::string_view name,
                            const SideFileReader& read_uri, const ImportOptions& options,
                            Diagnostics& notes) {
  return importDocument(bytes, nullptr, name, read_uri, options, notes);
}

Result<Character> loadGltf(const std::filesystem::path& file, const ImportOptions& options,
                           Diagnostics& notes) {
  DERM_TRY(FileBytes bytes, readFile(file));
  const auto owner = std::make_shared<const FileBytes>(std::move(bytes));
  const SideFileReader beside = [&](std::string_view uri) {
    return readFile(file.parent_path() / uri);
  };
  return importDocument(*owner, owner, file.string(), beside, options, notes);
}

Result<std::vector<std::uint8_t>> encodeGlb(const Character& character, Diagnostics& notes) {
  DERM_CHECK(validate(character));
  DERM_TRY(const detail::gltf::Written written, detail::gltf::writeCharacter(character, {}, notes));
  DERM_TRY(detail::gltf::GlbFrame frame,
           detail::gltf::frameGlb(written.json, written.bin.size(), character.name));
  FileBytes out = std::move(frame.head);
  out.reserve(out.size() + written.bin.size() + frame.tail.size());
  out.insert(out.end(), written.bin.begin(), written.bin.end());
  out.insert(out.end(), frame.tail.begin(), frame.tail.end());
  return out;
}

Result<void> saveGltf(const std::filesystem::path& file, const Character& character,
                      Diagnostics& notes, OutputFiles& files) {
  DERM_CHECK(validate(character));
  detail::gltf::WriteOptions options{.embed_images =
                                         imagesToEmbed(character, file.parent_path(), files)};
  const bool as_text = fileEnding(file) == ".gltf";
  std::filesystem::path bin = file;
  bin.replace_extension(".bin");
  if (as_text) options.bin_uri = detail::gltf::encodeUri(bin.filename().string());
  DERM_TRY(const detail::gltf::Written written,
           detail::gltf::writeCharacter(character, options, notes));
  if (as_text) return writeText(file, bin, written, files);
  DERM_TRY(const detail::gltf::GlbFrame frame,
           detail::gltf::frameGlb(written.json, written.bin.size(), file.string()));
  DERM_TRY(const std::unique_ptr<OutputFile> out, files.create(file));
  DERM_CHECK(out->append(frame.head));
  DERM_CHECK(out->append(written.bin));
  DERM_CHECK(out->append(frame.tail));
  return out->commit();
}

}  // namespace derm
