#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace derm::detail {

/// One part of a key such as a."b c", at bytes [begin, end) of the text.
struct TomlKey {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string name = {};
};

/// The bytes [begin, end) of a value and of what is in it.
struct TomlValue {
  enum class Kind { Scalar, List, Table };
  Kind kind = Kind::Scalar;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<TomlValue> items = {};            ///< of a list or an inline table
  std::vector<std::vector<TomlKey>> keys = {};  ///< of an inline table, one per item
};

/// A whole line, or the lines of a value that takes several. Together they are the text, without
/// its byte-order mark.
struct TomlStatement {
  enum class Kind { Blank, Comment, Header, Entry };
  Kind kind = Kind::Blank;
  std::size_t begin = 0;    ///< of the line
  std::size_t content = 0;  ///< behind the indentation
  std::size_t end = 0;      ///< behind the line's end
  std::vector<TomlKey> keys = {};
  bool is_array = false;  ///< [[header]]
  TomlValue value = {};   ///< of an entry
};

/// A step into a table by its key, or into a list by a number.
struct TomlStep {
  std::string key = {};
  std::optional<std::size_t> index = {};

  bool operator==(const TomlStep&) const = default;
  bool operator<(const TomlStep& other) const {
    return key != other.key ? key < other.key : index < other.index;
  }
};
using TomlPath = std::vector<TomlStep>;

/// A header with the entries under it; the first section has no header. Numbers are of statements.
struct TomlSection {
  std::optional<std::size_t> header = {};
  TomlPath path = {};
  std::vector<std::size_t> entries = {};
  /// [begin, end): with the comments directly above its header and directly below its last entry,
  /// which belong to it. What stands between sections belongs to none.
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct TomlLayout {
  std::string_view text = {};
  std::vector<TomlStatement> statements = {};
  std::vector<TomlSection> sections = {};  ///< at least the first

  std::string_view slice(std::size_t begin, std::size_t end) const {
    return text.substr(begin, end - begin);
  }
  /// Where statement `i` begins; the text's end behind the last.
  std::size_t offset(std::size_t i) const {
    return i < statements.size() ? statements[i].begin : text.size();
  }
  TomlPath pathOf(const TomlSection& section, std::size_t entry) const;
};

/// Where everything stands in a text that parseToml() has accepted; nothing where it does not
/// understand the text after all. Refers to `text`.
std::optional<TomlLayout> layoutOf(std::string_view text);

}  // namespace derm::detail
