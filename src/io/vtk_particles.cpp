#include "io/vtk_particles.h"

#include <cstring>
#include <optional>
#include <vector>

#include "io/text_scanner.h"

namespace derm::detail::vtk {
namespace {

struct Type {
  std::size_t bytes = 4;
  enum Kind { Signed, Unsigned, Real } kind = Real;
};

std::optional<Type> typeNamed(std::string_view name) {
  const std::string n = text::lowerCase(name);
  if (n == "float") return Type{4, Type::Real};
  if (n == "double") return Type{8, Type::Real};
  if (n == "char" || n == "signed_char") return Type{1, Type::Signed};
  if (n == "unsigned_char") return Type{1, Type::Unsigned};
  if (n == "short") return Type{2, Type::Signed};
  if (n == "unsigned_short") return Type{2, Type::Unsigned};
  if (n == "int" || n == "vtkidtype") return Type{4, Type::Signed};  // which is written as int
  if (n == "unsigned_int") return Type{4, Type::Unsigned};
  if (n == "long" || n == "vtktypeint64") return Type{8, Type::Signed};
  if (n == "unsigned_long" || n == "vtktypeuint64") return Type{8, Type::Unsigned};
  return std::nullopt;
}

/// Walks header lines and blocks of numbers.
class Reader {
 public:
  Reader(std::string_view bytes, std::string_view name, Diagnostics& notes)
      : all_(bytes), rest_(bytes), name_(name), notes_(notes) {}

  Result<Particles> run();

 private:
  Error bad(std::string message) const {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name_), .byte = all_.size() - rest_.size()}};
  }
  /// The next line with something on it; metadata, which means nothing here, is stepped over.
  bool line(std::string_view& out);
  /// `count` numbers; kept only where `out` is given.
  Result<void> numbers(std::uint64_t count, const Type& type, std::vector<double>* out);
  Result<void> binaryNumbers(std::uint64_t count, const Type& type, std::vector<double>* out);
  Result<std::uint64_t> countIn(std::string_view word) const;
  Result<void> points(std::string_view words);
  Result<void> cells(std::string_view words);
  Result<void> scalars(std::string_view words);
  Result<void> vectors(std::string_view words);
  Result<void> field(std::string_view words);
  Result<void> array(std::string_view array_name, std::uint64_t width, std::uint64_t tuples,
                     const Type& type);
  void store(const std::string& array_name, std::uint64_t width, const std::vector<double>& v);

  std::string_view all_, rest_, name_;
  Diagnostics& notes_;
  bool binary_ = false;
  bool has_points_ = false;
  bool point_data_ = false;
  std::optional<std::uint64_t> data_count_;  ///< of the points or cells that the arrays are of
  Particles out_;
};

bool Reader::line(std::string_view& out) {
  bool in_metadata = false;  // up to the next empty line
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    out = text::trimmed(rest_.substr(0, end));
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (out.empty())
      in_metadata = false;
    else if (text::equalIgnoringCase(out, "METADATA"))
      in_metadata = true;
    else if (!in_metadata)
      return true;
  }
  return false;
}

Result<std::uint64_t> Reader::countIn(std::string_view word) const {
  std::int64_t value = 0;
  if (!text::parseInteger(word, value) || value < 0 || value > 4294967294)
    return bad(text::quoted(word) + " is not a count");
  return static_cast<std::uint64_t>(value);
}

Result<void> Reader::binaryNumbers(std::uint64_t count, const Type& type,
                                   std::vector<double>* out) {
  if (count > rest_.size() / type.bytes)
    return bad(std::to_string(count) + " numbers announced, but the data ends");
  if (out != nullptr) {
    out->reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::uint64_t word = 0;  // big-endian
      for (std::size_t b = 0; b < type.bytes; ++b)
        word = word << 8 | static_cast<std::uint8_t>(rest_[i * type.bytes + b]);
      double value = static_cast<double>(word);
      if (type.kind == Type::Real && type.bytes == 4) {
        const std::uint32_t bits = static_cast<std::uint32_t>(word);
        float single = 0;
        std::memcpy(&single, &bits, 4);
        value = single;
      } else if (type.kind == Type::Real) {
        std::memcpy(&value, &word, 8);
      } else if (type.kind == Type::Signed) {
        const unsigned shift = 64 - 8 * static_cast<unsigned>(type.bytes);
        value = static_cast<double>(static_cast<std::int64_t>(word << shift) >> shift);
      }
      out->push_back(value);
    }
  }
  rest_.remove_prefix(count * type.bytes);
  return {};
}

Result<void> Reader::numbers(std::uint64_t count, const Type& type, std::vector<double>* out) {
  if (binary_) return binaryNumbers(count, type, out);
  if (count > rest_.size())
    return bad(std::to_string(count) + " numbers announced, but the data ends");
  for (std::uint64_t i = 0; i < count; ++i) {
    while (!rest_.empty() && (rest_.front() == '\n' || text::isBlank(rest_.front())))
      rest_.remove_prefix(1);
    std::size_t end = 0;
    while (end < rest_.size() && rest_[end] != '\n' && !text::isBlank(rest_[end])) ++end;
    double value = 0;
    if (text::parseNumber(rest_.substr(0, end), value) != text::NumberKind::Finite)
      return bad(text::quoted(rest_.substr(0, end)) + " is not a finite number");
    if (out != nullptr) out->push_back(value);
    rest_.remove_prefix(end);
  }
  return {};
}

Result<void> Reader::points(std::string_view words) {
  DERM_TRY(const std::uint64_t count, countIn(text::nextWord(words)));
  const std::optional<Type> type = typeNamed(text::nextWord(words));
  if (!type) return bad("POINTS of an unknown type");
  if (has_points_) return bad("POINTS appears twice");
  std::vector<double> v;
  DERM_CHECK(numbers(3 * count, *type, &v));
  for (std::size_t i = 0; i + 2 < v.size(); i += 3)
    out_.positions.push_back(Vec3d(v[i], v[i + 1], v[i + 2]).cast<float>());
  has_points_ = true;
  return {};
}

Result<void> Reader::cells(std::string_view words) {
  DERM_TRY(const std::uint64_t count, countIn(text::nextWord(words)));
  const std::string_view size = text::nextWord(words);
  if (size.empty()) return numbers(count, {4, Type::Signed}, nullptr);  // CELL_TYPES
  DERM_TRY(const std::uint64_t total, countIn(size));
  // Since version 5.1 in two arrays, each below a line with its type.
  const std::string_view before = rest_;
  std::string_view head;
  const auto nextIs = [&](std::string_view name) {
    return line(head) && text::equalIgnoringCase(text::nextWord(head), name);
  };
  const auto stepOver = [&](std::uint64_t length) -> Result<void> {
    const std::optional<Type> type = typeNamed(text::nextWord(head));
    return type ? numbers(length, *type, nullptr) : bad("cells of an unknown type");
  };
  if (!nextIs("OFFSETS")) {
    rest_ = before;
    return numbers(total, {4, Type::Signed}, nullptr);
  }
  DERM_CHECK(stepOver(count));
  return nextIs("CONNECTIVITY") ? stepOver(total) : bad("CONNECTIVITY is expected");
}

void Reader::store(const std::string& array_name, std::uint64_t width,
                   const std::vector<double>& v) {
  const std::string n = text::lowerCase(array_name);
  if (n == "velocity" && width == 3) {
    out_.velocities.clear();
    for (std::size_t i = 0; i + 2 < v.size(); i += 3)
      out_.velocities.push_back(Vec3d(v[i], v[i + 1], v[i + 2]).cast<float>());
  } else if ((n == "radius" || n == "pscale") && width == 1) {
    out_.radii.assign(v.begin(), v.end());
  } else if (n == "mass" && width == 1) {
    out_.masses.assign(v.begin(), v.end());
  } else if (n == "id" && width == 1) {
    out_.ids.clear();
    for (const double value : v)
      out_.ids.push_back(value >= 0 && value < 1.8e19 ? static_cast<std::uint64_t>(value) : 0);
  } else {
    notes_.info("array-ignored", name_, "array not used: " + array_name.substr(0, 64));
  }
}

Result<void> Reader::array(std::string_view array_name, std::uint64_t width, std::uint64_t tuples,
                           const Type& type) {
  if (width > 64) return bad("an array of " + std::to_string(width) + " components");
  const bool ours = point_data_ && tuples == out_.size();
  std::vector<double> v;
  DERM_CHECK(numbers(width * tuples, type, ours ? &v : nullptr));
  if (ours) store(std::string(array_name), width, v);
  return {};
}

Result<void> Reader::scalars(std::string_view words) {
  const std::string_view array_name = text::nextWord(words);
  const std::optional<Type> type = typeNamed(text::nextWord(words));
  if (!type) return bad("SCALARS of an unknown type");
  const std::string_view components = text::nextWord(words);
  std::uint64_t width = 1;
  if (!components.empty()) {
    DERM_TRY(width, countIn(components));
  }
  std::string_view table;
  if (!line(table) || !table.starts_with("LOOKUP_TABLE")) return bad("LOOKUP_TABLE is expected");
  return array(array_name, width, *data_count_, *type);
}

Result<void> Reader::vectors(std::string_view words) {
  const std::string_view array_name = text::nextWord(words);
  const std::optional<Type> type = typeNamed(text::nextWord(words));
  if (!type) return bad("VECTORS of an unknown type");
  return array(array_name, 3, *data_count_, *type);
}

Result<void> Reader::field(std::string_view words) {
  text::nextWord(words);
  DERM_TRY(const std::uint64_t count, countIn(text::nextWord(words)));
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string_view head;
    if (!line(head)) return bad("the data ends within a FIELD");
    const std::string_view array_name = text::nextWord(head);
    DERM_TRY(const std::uint64_t width, countIn(text::nextWord(head)));
    DERM_TRY(const std::uint64_t tuples, countIn(text::nextWord(head)));
    const std::optional<Type> type = typeNamed(text::nextWord(head));
    if (!type) return bad("a FIELD array of an unknown type");
    if (width > 64) return bad("an array of " + std::to_string(width) + " components");
    DERM_CHECK(array(array_name, width, tuples, *type));
  }
  return {};
}

Result<Particles> Reader::run() {
  std::string_view text_line;
  line(text_line);  // "# vtk DataFile Version 3.0"
  const std::size_t title = rest_.find('\n');
  rest_.remove_prefix(title == std::string_view::npos ? rest_.size() : title + 1);
  if (!line(text_line)) return bad("BINARY or ASCII is expected");
  binary_ = text::equalIgnoringCase(text_line, "BINARY");
  if (!binary_ && !text::equalIgnoringCase(text_line, "ASCII"))
    return bad("BINARY or ASCII is expected, not " + text::quoted(text_line));
  while (line(text_line)) {
    std::string_view words = text_line;
    const std::string keyword = text::upperCase(text::nextWord(words));
    if (keyword == "DATASET") continue;
    if (keyword == "POINT_DATA" || keyword == "CELL_DATA") {
      point_data_ = keyword == "POINT_DATA";
      DERM_TRY(data_count_, countIn(text::nextWord(words)));
    } else if (keyword == "POINTS") {
      DERM_CHECK(points(words));
    } else if (keyword == "CELLS" || keyword == "CELL_TYPES" || keyword == "VERTICES" ||
               keyword == "LINES" || keyword == "POLYGONS" || keyword == "TRIANGLE_STRIPS") {
      DERM_CHECK(cells(words));
    } else if (!data_count_) {
      break;  // another kind of data set
    } else if (keyword == "SCALARS") {
      DERM_CHECK(scalars(words));
    } else if (keyword == "VECTORS" || keyword == "NORMALS") {
      DERM_CHECK(vectors(words));
    } else if (keyword == "FIELD") {
      DERM_CHECK(field(words));
    } else {
      return bad("unknown keyword " + text::quoted(keyword));
    }
  }
  if (!has_points_) return bad("no POINTS");
  return std::move(out_);
}

}  // namespace

Result<Particles> parseParticles(std::string_view bytes, std::string_view name,
                                 Diagnostics& notes) {
  return Reader(bytes, name, notes).run();
}

}  // namespace derm::detail::vtk
