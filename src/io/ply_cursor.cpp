#include "io/ply_cursor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "derm/base/bit_cast.h"

#include "io/text_scanner.h"

namespace derm::detail::ply {
namespace {

using text::nextWord;

constexpr std::array<std::pair<std::string_view, Scalar>, 16> kScalarNames = {
    {{"char", Scalar::Int8},
     {"int8", Scalar::Int8},
     {"uchar", Scalar::UInt8},
     {"uint8", Scalar::UInt8},
     {"short", Scalar::Int16},
     {"int16", Scalar::Int16},
     {"ushort", Scalar::UInt16},
     {"uint16", Scalar::UInt16},
     {"int", Scalar::Int32},
     {"int32", Scalar::Int32},
     {"uint", Scalar::UInt32},
     {"uint32", Scalar::UInt32},
     {"float", Scalar::Float32},
     {"float32", Scalar::Float32},
     {"double", Scalar::Float64},
     {"float64", Scalar::Float64}}};

std::optional<Scalar> scalarNamed(std::string_view word) {
  for (const auto& [name, scalar] : kScalarNames)
    if (name == word) return scalar;
  return std::nullopt;
}

class HeaderParser {
 public:
  HeaderParser(std::string_view bytes, std::string_view name)
      : bytes_(bytes), lines_(bytes), name_(name) {}
  Result<Header> parse();

 private:
  Error bad(std::string message) const {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name_), .element = "header", .line = lines_.lineIfAny()}};
  }
  Result<void> format(std::string_view rest);
  Result<void> element(std::string_view rest);
  Result<void> property(std::string_view rest);

  std::string_view bytes_;
  text::LineScanner lines_;
  std::string_view name_;
  Header header_;
  bool has_format_ = false;
};

Result<void> HeaderParser::format(std::string_view rest) {
  const std::string_view word = nextWord(rest);
  has_format_ = true;
  if (word == "ascii")
    header_.format = Format::Ascii;
  else if (word == "binary_little_endian")
    header_.format = Format::BinaryLittle;
  else if (word == "binary_big_endian")
    header_.format = Format::BinaryBig;
  else
    return bad("format " + text::quoted(word) +
               "; ascii, binary_little_endian or binary_big_endian are known");
  return {};
}

Result<void> HeaderParser::element(std::string_view rest) {
  Element element;
  element.name = nextWord(rest);
  std::int64_t count = 0;
  const std::string_view word = nextWord(rest);
  if (!text::parseInteger(word, count) || count < 0)
    return bad("element " + text::quoted(element.name) + ": " + text::quoted(word) +
               " is not a count");
  element.count = static_cast<std::uint64_t>(count);
  header_.elements.push_back(std::move(element));
  return {};
}

Result<void> HeaderParser::property(std::string_view rest) {
  if (header_.elements.empty()) return bad("property before the first element");
  Property property;
  std::string_view word = nextWord(rest);
  if (word == "list") {
    property.count_type = scalarNamed(nextWord(rest));
    if (!property.count_type || *property.count_type >= Scalar::Float32)
      return bad("the length of a list must have a whole-number type");
    word = nextWord(rest);
  }
  const std::optional<Scalar> type = scalarNamed(word);
  if (!type) return bad("property type " + text::quoted(word) + " is not known");
  property.type = *type;
  property.name = nextWord(rest);
  if (property.name.empty()) return bad("property without a name");
  header_.elements.back().properties.push_back(std::move(property));
  return {};
}

Result<Header> HeaderParser::parse() {
  std::string_view line;
  if (!lines_.next(line) || text::trimmed(line) != "ply")
    return bad("a PLY file begins with the line \"ply\"");
  for (;;) {
    if (!lines_.next(line)) return bad("the file ends before \"end_header\"");
    const std::string_view keyword = nextWord(line);
    if (keyword == "end_header") break;
    if (keyword == "format")
      DERM_CHECK(format(line));
    else if (keyword == "element")
      DERM_CHECK(element(line));
    else if (keyword == "property")
      DERM_CHECK(property(line));
    else if (!keyword.empty() && keyword != "comment" && keyword != "obj_info")
      return bad(text::quoted(keyword) + " is not a header statement");
  }
  if (!has_format_) return bad("no format line");
  header_.body = lines_.rest();
  header_.body_start = bytes_.size() - header_.body.size();
  return std::move(header_);
}

template <class T>
double decode(const char* bytes, bool swap) {
  std::array<char, sizeof(T)> raw;
  std::memcpy(raw.data(), bytes, sizeof(T));
  if (swap) std::reverse(raw.begin(), raw.end());
  return static_cast<double>(bitCast<T>(raw));
}

}  // namespace

std::size_t sizeOf(Scalar scalar) {
  constexpr std::array<std::size_t, 8> kSizes = {1, 1, 2, 2, 4, 4, 4, 8};
  return kSizes[static_cast<std::size_t>(scalar)];
}

Result<Header> parseHeader(std::string_view bytes, std::string_view name) {
  return HeaderParser(bytes, name).parse();
}

bool Cursor::hasRoomFor(const Element& element) const {
  std::uint64_t min_bytes = 0;  // bytes of one instance
  for (const Property& p : element.properties)
    min_bytes += format_ == Format::Ascii ? 2 : sizeOf(p.count_type.value_or(p.type));
  // The last ascii number needs no blank after it.
  return min_bytes == 0 || element.count <= (rest_.size() + 1) / min_bytes;
}

bool Cursor::next(Scalar type, double& value) {
  if (format_ == Format::Ascii) {
    std::size_t begin = 0;
    while (begin < rest_.size() && (text::isBlank(rest_[begin]) || rest_[begin] == '\n')) ++begin;
    std::size_t end = begin;
    while (end < rest_.size() && !text::isBlank(rest_[end]) && rest_[end] != '\n') ++end;
    const text::NumberKind kind = text::parseNumber(rest_.substr(begin, end - begin), value);
    if (kind == text::NumberKind::NotFinite) value = std::numeric_limits<double>::quiet_NaN();
    rest_.remove_prefix(end);
    return kind != text::NumberKind::NotANumber;
  }
  const std::size_t size = sizeOf(type);
  if (rest_.size() < size) return false;
  const bool swap = (format_ == Format::BinaryBig) == (std::endian::native == std::endian::little);
  const char* bytes = rest_.data();
  switch (type) {
    case Scalar::Int8:
      value = decode<std::int8_t>(bytes, swap);
      break;
    case Scalar::UInt8:
      value = decode<std::uint8_t>(bytes, swap);
      break;
    case Scalar::Int16:
      value = decode<std::int16_t>(bytes, swap);
      break;
    case Scalar::UInt16:
      value = decode<std::uint16_t>(bytes, swap);
      break;
    case Scalar::Int32:
      value = decode<std::int32_t>(bytes, swap);
      break;
    case Scalar::UInt32:
      value = decode<std::uint32_t>(bytes, swap);
      break;
    case Scalar::Float32:
      value = decode<float>(bytes, swap);
      break;
    case Scalar::Float64:
      value = decode<double>(bytes, swap);
      break;
  }
  rest_.remove_prefix(size);
  return true;
}

}  // namespace derm::detail::ply
