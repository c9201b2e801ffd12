#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace derm::detail::obj {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

/// What a face says of one corner; uv and normal may be kNone.
struct Corner {
  std::uint32_t position = kNone;
  std::uint32_t uv = kNone;
  std::uint32_t normal = kNone;

  bool operator==(const Corner&) const = default;
};

/// Gives every distinct corner a vertex: the position's own number the first time, a new one at the
/// end where the position is used with another uv or normal. A corner that gives no uv (or normal)
/// shares the vertex of one that does.
class CornerTable {
 public:
  explicit CornerTable(std::size_t position_count);

  std::uint32_t vertexOf(const Corner& corner);
  std::size_t positionCount() const { return first_.size(); }
  std::size_t vertexCount() const { return first_.size() + doubled_.size(); }
  bool used(std::uint32_t vertex) const;
  /// The corner behind a vertex.
  Corner corner(std::uint32_t vertex) const;

 private:
  struct Attributes {
    std::uint32_t uv = kUnused;
    std::uint32_t normal = kNone;
  };
  static constexpr std::uint32_t kUnused = kNone - 1;
  void grow();
  std::size_t slotOf(const Corner& corner) const;

  std::vector<Attributes> first_;          ///< per position, its first use
  std::vector<Corner> doubled_;            ///< further uses, in order
  std::vector<std::uint32_t> hash_table_;  ///< index into doubled_, kNone = free; size a power of 2
};

/// Numbers names in the order they come. The names' characters belong to the caller.
class NameTable {
 public:
  /// The name's number; nothing where it would be a new one beyond `max_names`.
  std::optional<std::uint32_t> number(std::string_view name, std::size_t max_names = kNone - 1);
  const std::vector<std::string_view>& names() const { return names_; }

 private:
  std::size_t slotOf(std::string_view name) const;
  std::vector<std::string_view> names_;
  std::vector<std::uint32_t> hash_table_;
};

}  // namespace derm::detail::obj
