#include "io/json_dom.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace derm::detail {
namespace {

// What nlohmann::json and glibc's allocator take for each kind of value.
constexpr std::uint64_t kValue = 16;
constexpr std::uint64_t kArray = 32;
constexpr std::uint64_t kObject = 64;
constexpr std::uint64_t kString = 48;
constexpr std::uint64_t kMember = 96;
constexpr std::size_t kShortString = 15;  ///< longer ones have a block of their own

constexpr std::array<bool, 256> endsScalarTable() {
  std::array<bool, 256> table{};
  for (const char c : std::string_view(",]}: \n\r\t\"[{"))
    table[static_cast<unsigned char>(c)] = true;
  return table;
}
constexpr std::array<bool, 256> kEndsScalar = endsScalarTable();

/// What can be known about a document without understanding it. Wrong JSON gives wrong but harmless
/// numbers: the parser then refuses it.
struct Shape {
  std::vector<std::uint32_t> array_sizes;  ///< in the order of their opening brackets
  std::uint64_t memory = 0;
  unsigned depth = 0;
  std::uint64_t deepest_at = 0;  ///< byte of the first bracket beyond the limit
};

class Scanner {
 public:
  Scanner(std::span<const std::uint8_t> text, unsigned depth_limit)
      : text_(text), depth_limit_(depth_limit) {}

  Shape run() {
    while (at_ < text_.size() && shape_.depth <= depth_limit_) token(text_[at_]);
    return std::move(shape_);
  }

 private:
  void token(std::uint8_t c) {
    switch (c) {
      case '[':
        value(kArray);
        open_.push_back(static_cast<std::int64_t>(shape_.array_sizes.size()));
        shape_.array_sizes.push_back(0);
        opened();
        break;
      case '{':
        value(kObject);
        open_.push_back(-1);
        opened();
        break;
      case ']':
      case '}':
        if (!open_.empty()) open_.pop_back();
        ++at_;
        break;
      case '"':
        string();
        break;
      case ':':
        // What we took for a string value was a key; the value comes next.
        shape_.memory += kMember - kString;
        ++at_;
        break;
      case ',':
      case ' ':
      case '\n':
      case '\r':
      case '\t':
        ++at_;
        break;
      default:
        value(0);
        do ++at_;
        while (at_ < text_.size() && !kEndsScalar[text_[at_]]);
    }
  }

  void value(std::uint64_t extra) {
    shape_.memory += kValue + extra;
    if (!open_.empty() && open_.back() >= 0)
      ++shape_.array_sizes[static_cast<std::size_t>(open_.back())];
  }

  void opened() {
    if (open_.size() > shape_.depth) {
      shape_.depth = static_cast<unsigned>(open_.size());
      shape_.deepest_at = at_;
    }
    ++at_;
  }

  void string() {
    const std::size_t start = ++at_;
    const std::uint8_t* base = text_.data();
    while (at_ < text_.size()) {
      const void* quote = std::memchr(base + at_, '"', text_.size() - at_);
      if (quote == nullptr) {
        at_ = text_.size();
        break;
      }
      const auto end = static_cast<std::size_t>(static_cast<const std::uint8_t*>(quote) - base);
      std::size_t escapes = 0;
      while (end - escapes > at_ && base[end - escapes - 1] == '\\') ++escapes;
      at_ = end + 1;
      if (escapes % 2 == 0) break;
    }
    const std::uint64_t length = at_ - start;
    value(kString + (length > kShortString ? length + 16 : 0));
  }

  std::span<const std::uint8_t> text_;
  unsigned depth_limit_;
  std::size_t at_ = 0;
  std::vector<std::int64_t> open_;  ///< index into array_sizes, or -1 for an object
  Shape shape_;
};

/// Builds the document from parser events. Unlike the library's own builder it reserves each array
/// at its final size (growing by doubling would need thrice the memory) and sees repeated keys.
class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(const Shape& shape, std::string_view name, std::span<const std::uint8_t> text,
          std::uint64_t byte_offset, Diagnostics& notes)
      : shape_(shape), name_(name), text_(text), byte_offset_(byte_offset), notes_(notes) {}
  ~Builder() override { dismantle(document_); }

  bool null() override { return add(nullptr); }
  bool boolean(bool v) override { return add(v); }
  bool number_integer(number_integer_t v) override { return add(v); }
  bool number_unsigned(number_unsigned_t v) override { return add(v); }
  bool number_float(number_float_t v, const string_t&) override { return add(v); }
  bool string(string_t& v) override { return add(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    stack_.push_back(place(Json::object()));
    return true;
  }
  bool start_array(std::size_t) override {
    Json* array = place(Json::array());
    if (arrays_ < shape_.array_sizes.size())
      array->get_ref<Json::array_t&>().reserve(shape_.array_sizes[arrays_]);
    ++arrays_;
    stack_.push_back(array);
    return true;
  }
  bool key(string_t& k) override {
    auto [it, fresh] = stack_.back()->get_ref<Json::object_t&>().try_emplace(std::move(k));
    if (!fresh)
      notes_.warn("duplicate-key", it->first, "key given twice in one object; the last counts");
    member_ = &it->second;
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    error_ = Error{ErrorCode::BadData, message(problem.what()), {.file = std::string(name_)}};
    const std::size_t at = std::min(position > 0 ? position - 1 : 0, text_.size());
    if (byte_offset_ == 0) {
      const auto* begin = text_.data();
      error_.where.line = 1 + static_cast<std::uint64_t>(std::count(begin, begin + at, '\n'));
      std::size_t start = at;
      while (start > 0 && text_[start - 1] != '\n') --start;
      error_.where.column = at - start + 1;
    } else {
      error_.where.byte = byte_offset_ + at;
    }
    return false;
  }

  Json& document() { return document_; }
  Error& error() { return error_; }

 private:
  /// The library's text without its tag and without bytes that a terminal may not like.
  static std::string message(std::string_view what) {
    if (const std::size_t tag = what.find("] "); tag != what.npos) what.remove_prefix(tag + 2);
    if (const std::size_t at = what.find(": "); what.starts_with("parse error") && at != what.npos)
      what.remove_prefix(at + 2);
    std::string out = "JSON: " + std::string(what.substr(0, 160));
    for (char& c : out)
      if (c < 0x20 || c > 0x7E) c = '?';
    return out;
  }

  Json* place(Json value) {
    if (stack_.empty()) {
      document_ = std::move(value);
      return &document_;
    }
    if (stack_.back()->is_array()) {
      auto& array = stack_.back()->get_ref<Json::array_t&>();
      array.push_back(std::move(value));
      return &array.back();
    }
    *member_ = std::move(value);
    return member_;
  }
  template <class T>
  bool add(T&& value) {
    place(Json(std::forward<T>(value)));
    return true;
  }
  bool close() {
    stack_.pop_back();
    return true;
  }

  const Shape& shape_;
  std::string_view name_;
  std::span<const std::uint8_t> text_;
  std::uint64_t byte_offset_;
  Diagnostics& notes_;
  Json document_;
  std::vector<Json*> stack_;
  Json* member_ = nullptr;
  std::size_t arrays_ = 0;
  Error error_;
};

}  // namespace

void dismantle(Json& document) {
  if (document.is_array()) {
    for (Json& item : document)
      if (item.is_structured()) dismantle(item);
    document.get_ref<Json::array_t&>().clear();
  } else if (document.is_object()) {
    for (Json& item : document)
      if (item.is_structured()) dismantle(item);
    document.get_ref<Json::object_t&>().clear();
  }
}

Result<ParsedJson> parseJson(std::span<const std::uint8_t> text, std::string_view name,
                             const JsonLimits& limits, std::uint64_t byte_offset,
                             Diagnostics& notes) {
  const Shape shape = Scanner(text, limits.depth).run();
  const auto bad = [&](std::string message, std::optional<std::uint64_t> byte) {
    return Error{ErrorCode::BadData, std::move(message), {.file = std::string(name), .byte = byte}};
  };
  if (shape.depth > limits.depth)
    return bad(fmt::format("JSON nested deeper than {} levels", limits.depth),
               byte_offset + shape.deepest_at);
  if (shape.memory > limits.memory)
    return bad(fmt::format("JSON of {} bytes would take {} bytes of memory; at most {} are allowed",
                           text.size(), shape.memory, limits.memory),
               std::nullopt);
  Builder builder(shape, name, text, byte_offset, notes);
  const auto* begin = reinterpret_cast<const char*>(text.data());
  if (!Json::sax_parse(begin, begin + text.size(), &builder)) return std::move(builder.error());
  return ParsedJson{std::move(builder.document()), shape.memory};
}

}  // namespace derm::detail
