#include "io/gltf/document.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "io/gltf/container.h"
#include "io/gltf/extensions.h"
#include "io/gltf/uri.h"
#include "io/json_dom.h"

namespace derm::detail::gltf {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Loads the parts of a document one after the other; owns what they share.
class DocumentLoader {
 public:
  DocumentLoader(GltfDocument& document, const SideFileReader& read_uri, MemoryBudget& budget,
                 Diagnostics& notes)
      : document_(document),
        read_uri_(read_uri),
        budget_(budget),
        notes_(notes),
        context_{document, notes, budget} {}

  Result<void> checkAsset() const;
  Result<void> checkExtensions() const;
  Result<void> loadBuffers(const std::optional<std::span<const std::uint8_t>>& bin,
                           std::shared_ptr<const Bytes> owner);

 private:
  SourceBuffer bytesOf(Json& buffer, std::size_t index,
                       const std::optional<std::span<const std::uint8_t>>& bin,
                       const std::shared_ptr<const Bytes>& owner);
  SourceBuffer embedded(Json& buffer, const JsonPath& at);
  SourceBuffer external(const std::string& uri, const JsonPath& at);

  GltfDocument& document_;
  const SideFileReader& read_uri_;
  MemoryBudget& budget_;
  Diagnostics& notes_;
  ReadContext context_;
  std::map<std::string, SourceBuffer> fetched_;  ///< one file may serve several buffers
};

Result<void> DocumentLoader::checkAsset() const {
  const JsonPath root;
  const JsonPath at(root, "asset");
  if (!document_.root.is_object()) return context_.bad(root, "the document is not a JSON object");
  const Json* asset = findMember(document_.root, "asset");
  if (asset == nullptr) return context_.bad(at, "missing; this is not a glTF 2.0 file");
  const std::optional<std::string> version = stringMember(*asset, "version");
  if (!version) return context_.bad(JsonPath(at, "version"), "missing or not a string");
  if (*version != "2" && !version->starts_with("2."))
    return jsonError(document_.name, JsonPath(at, "version"),
                     fmt::format("\"{}\"; only version 2 is read", version->substr(0, 20)),
                     std::nullopt, ErrorCode::Unsupported);
  if (const auto min_version = stringMember(*asset, "minVersion");
      min_version && *min_version != "2.0")
    context_.warn("newer-version", at, "asks for a newer glTF than 2.0; read as 2.0");
  return {};
}

Result<void> DocumentLoader::checkExtensions() const {
  const JsonPath root;
  const Json* required = findMember(document_.root, "extensionsRequired");
  if (required == nullptr || !required->is_array()) return {};
  for (std::size_t i = 0; i < required->size(); ++i) {
    if (!(*required)[i].is_string()) continue;
    const auto& extension = (*required)[i].get_ref<const std::string&>();
    switch (extensionKind(extension)) {
      case ExtensionKind::Understood:
        break;
      case ExtensionKind::Appearance:
        notes_.info("extension-carried", "extensionsRequired",
                    extension + " is carried but not understood", i);
        break;
      case ExtensionKind::Unknown:
        return jsonError(document_.name, JsonPath(root, "extensionsRequired"),
                         fmt::format("the file needs {}, which derm does not read{}",
                                     extension.substr(0, 100), unpackingHint(extension)),
                         i, ErrorCode::Unsupported);
    }
  }
  return {};
}

SourceBuffer DocumentLoader::embedded(Json& buffer, const JsonPath& at) {
  const auto& uri = buffer["uri"].get_ref<const std::string&>();
  if (!budget_.take(uri.size())) return {.problem = "its data uri takes too much memory"};
  std::optional<DataUri> data = decodeDataUri(uri);
  if (!data) return {.problem = "its data uri is malformed"};
  // The bytes are enough; keeping the text too would more than double the memory.
  buffer.erase("uri");
  auto owner = std::make_shared<const Bytes>(std::move(data->bytes));
  if (owner->empty()) context_.warn("empty-buffer", at, "its data uri holds no bytes");
  return {.owner = owner, .bytes = *owner};
}

SourceBuffer DocumentLoader::external(const std::string& uri, const JsonPath& at) {
  Result<std::string> path = relativePath(uri);
  if (!path) {
    context_.warn("buffer-not-read", at, path.error().message);
    return {.problem = path.error().message};
  }
  if (const auto it = fetched_.find(*path); it != fetched_.end()) return it->second;
  SourceBuffer out;
  Result<Bytes> bytes =
      read_uri_ ? read_uri_(*path) : Error{ErrorCode::CannotRead, "no reader for other files", {}};
  if (bytes) {
    budget_.grant(MemoryBudget::kFactor * bytes->size());
    out.owner = std::make_shared<const Bytes>(*std::move(bytes));
    out.bytes = *out.owner;
  } else {
    out.problem = fmt::format("\"{}\": {}", path->substr(0, 100), bytes.error().message);
    context_.warn("buffer-not-read", at, out.problem);
  }
  fetched_.emplace(*path, out);
  return out;
}

SourceBuffer DocumentLoader::bytesOf(Json& buffer, std::size_t index,
                                     const std::optional<std::span<const std::uint8_t>>& bin,
                                     const std::shared_ptr<const Bytes>& owner) {
  const JsonPath root;
  const JsonPath at(root, "buffers", index);
  const Json* uri = findMember(buffer, "uri");
  if (uri == nullptr) {
    if (index == 0 && bin) return {.owner = owner, .bytes = *bin};
    return {.problem = "it has neither a uri nor a binary chunk"};
  }
  if (!uri->is_string()) return {.problem = "its uri is not a string"};
  const auto& text = uri->get_ref<const std::string&>();
  return isDataUri(text) ? embedded(buffer, at) : external(text, at);
}

Result<void> DocumentLoader::loadBuffers(const std::optional<std::span<const std::uint8_t>>& bin,
                                         std::shared_ptr<const Bytes> owner) {
  std::optional<std::span<const std::uint8_t>> chunk = bin;
  if (chunk && !owner) {
    owner = std::make_shared<const Bytes>(chunk->begin(), chunk->end());
    chunk = *owner;
  }
  const std::size_t count = arraySize(document_.root, "buffers");
  for (std::size_t i = 0; i < count; ++i) {
    const JsonPath root;
    const JsonPath at(root, "buffers", i);
    Json& buffer = document_.root["buffers"][i];
    if (!buffer.is_object()) return context_.bad(at, "must be an object");
    SourceBuffer source = bytesOf(buffer, i, chunk, owner);
    const Result<std::optional<std::uint64_t>> length =
        uintMember(document_.name, buffer, "byteLength", at);
    if (!length || !*length) {
      source = {.problem = "its byteLength is missing or not a number"};
    } else if (source.problem.empty()) {
      if (**length > source.bytes.size())
        context_.warn("buffer-short", at,
                      fmt::format("declares {} bytes, but has {}", **length, source.bytes.size()));
      source.bytes = source.bytes.first(
          static_cast<std::size_t>(std::min<std::uint64_t>(source.bytes.size(), **length)));
    }
    document_.buffers.push_back(std::move(source));
  }
  return {};
}

}  // namespace

Result<void> ReadContext::take(std::uint64_t bytes, const JsonPath& at) const {
  if (budget.take(bytes)) return {};
  return bad(at,
             fmt::format("needs {} bytes of memory, more than a file of this size may use", bytes));
}

Result<std::shared_ptr<GltfDocument>> readDocument(
    std::span<const std::uint8_t> bytes, std::shared_ptr<const std::vector<std::uint8_t>> owner,
    std::string_view name, const SideFileReader& read_uri, MemoryBudget& budget,
    Diagnostics& notes) {
  GlbChunks chunks{.json = bytes};
  if (isGlb(bytes)) {
    DERM_TRY(chunks, splitGlb(bytes, name, notes));
  }
  DERM_TRY(ParsedJson parsed,
           parseJson(chunks.json, name, {.memory = budget.left()}, chunks.json_offset, notes));
  budget.take(parsed.memory);
  auto document = std::make_shared<GltfDocument>();
  document->name = std::string(name);
  document->root = std::move(parsed.root);
  DocumentLoader loader(*document, read_uri, budget, notes);
  DERM_CHECK(loader.checkAsset());
  DERM_CHECK(loader.checkExtensions());
  DERM_CHECK(loader.loadBuffers(chunks.bin, std::move(owner)));
  return document;
}

}  // namespace derm::detail::gltf
