#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/gltf.h"

#include "io/json_dom.h"
#include "io/json_value.h"

namespace derm::detail::gltf {

/// Bytes an import may still allocate. Everything whose size comes from the file is taken from it
/// first, so that a few hostile bytes cannot ask for gigabytes.
class MemoryBudget {
 public:
  /// Bytes of memory for each byte of a file; no honest file needs more. With the file's own bytes
  /// (twice, where they are copied) an import stays below 64 MB + 20 x the size.
  static constexpr std::uint64_t kFactor = 16;

  explicit MemoryBudget(std::uint64_t bytes) : left_(bytes) {}
  /// What a file of that size may use, with room for small ones.
  static std::uint64_t forFile(std::uint64_t file_bytes) {
    return (std::uint64_t{32} << 20) + kFactor * file_bytes;
  }
  static MemoryBudget unlimited() { return MemoryBudget(~std::uint64_t{0}); }

  bool take(std::uint64_t bytes) {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void grant(std::uint64_t bytes) { left_ += std::min(bytes, ~left_); }
  std::uint64_t left() const { return left_; }

 private:
  std::uint64_t left_;
};

/// One of the document's buffers, wherever it came from.
struct SourceBuffer {
  std::shared_ptr<const std::vector<std::uint8_t>> owner;
  std::span<const std::uint8_t> bytes;  ///< at most byteLength of them
  std::string problem;                  ///< why there are no bytes; empty where there are
};

/// A parsed glTF file with everything in it, so that a writer can give back what derm does not
/// understand. Immutable once loaded; characters share it.
class GltfDocument final : public SourceDocument {
 public:
  GltfDocument() = default;
  ~GltfDocument() override { dismantle(root); }
  GltfDocument(const GltfDocument&) = delete;
  GltfDocument& operator=(const GltfDocument&) = delete;

  std::string_view format() const override { return "glTF"; }

  std::string name;  ///< as the user named the file
  Json root;         ///< embedded buffers' data uris are moved out into `buffers`
  std::vector<SourceBuffer> buffers;
  std::optional<int> scene;                 ///< that the import asked for
  std::vector<std::uint64_t> image_hashes;  ///< of the bytes each image had at import
};

/// What all readers of parts of a document need.
struct ReadContext {
  const GltfDocument& document;
  Diagnostics& notes;
  MemoryBudget& budget;

  const Json& root() const { return document.root; }
  std::string_view file() const { return document.name; }
  Error bad(const JsonPath& at, std::string message,
            std::optional<std::uint64_t> index = std::nullopt) const {
    return jsonError(file(), at, std::move(message), index);
  }
  void warn(std::string_view kind, const JsonPath& at, std::string_view message,
            std::optional<std::uint64_t> index = std::nullopt) const {
    notes.warn(kind, at.text(), message, index);
  }
  /// Takes memory from the budget before it is allocated.
  Result<void> take(std::uint64_t bytes, const JsonPath& at) const;
};

/// Parses .gltf or .glb (told by the first bytes) and fetches its buffers. `owner` keeps `bytes`
/// alive; where it is null the bytes that are needed are copied.
Result<std::shared_ptr<GltfDocument>> readDocument(
    std::span<const std::uint8_t> bytes, std::shared_ptr<const std::vector<std::uint8_t>> owner,
    std::string_view name, const SideFileReader& read_uri, MemoryBudget& budget,
    Diagnostics& notes);

}  // namespace derm::detail::gltf
