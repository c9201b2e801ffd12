#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace derm::detail::text {

/// Walks text line by line: LF, CRLF or CR ends, a UTF-8 mark at the start skipped, a last line
/// without an end taken as it is. Lines come without their end. Views stay valid as long as the
/// text and the scanner do. Nothing is copied except joined lines.
class LineScanner {
 public:
  enum class Continuation {
    None,
    Backslash,  ///< a line that ends in '\' goes on in the next one
  };
  explicit LineScanner(std::string_view text, Continuation continuation = Continuation::None);

  /// False at the end of the text.
  bool next(std::string_view& line);
  /// 1-based number of the line given last (of its first part, where parts were joined).
  std::uint64_t lineNumber() const { return line_number_; }
  /// The same for an error's location: nothing before the first line.
  std::optional<std::uint64_t> lineIfAny() const {
    return line_number_ > 0 ? std::optional(line_number_) : std::nullopt;
  }
  /// What has not been given yet.
  std::string_view rest() const { return rest_; }

 private:
  std::string_view cutLine();

  std::string_view rest_;
  std::deque<std::string> joined_;
  std::uint64_t lines_cut_ = 0;
  std::uint64_t line_number_ = 0;
  char line_end_ = '\n';
  bool continues_ = false;
};

/// Inline even where a browser's module is compiled for size: files of 500 MB are read by it.
[[gnu::always_inline]] inline bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

std::string_view trimmed(std::string_view text);

/// Cuts the next word off the front of `rest`; empty when only blanks are left.
inline std::string_view nextWord(std::string_view& rest) {
  const char* const stop = rest.data() + rest.size();
  const char* begin = rest.data();
  while (begin != stop && isBlank(*begin)) ++begin;
  const char* end = begin;
  while (end != stop && !isBlank(*end)) ++end;
  rest = std::string_view(end, static_cast<std::size_t>(stop - end));
  return std::string_view(begin, static_cast<std::size_t>(end - begin));
}

enum class NumberKind {
  Finite,
  NotFinite,  ///< NaN, an infinity, or too large for the type
  NotANumber,
};

/// The whole word as a number, whatever the locale: "-1.5", ".5", "+2e3". Numbers too small for
/// the type become 0. `value` is written for finite numbers only.
NumberKind parseNumber(std::string_view word, float& value);
NumberKind parseNumber(std::string_view word, double& value);
/// False where the word is not a whole number that fits.
bool parseInteger(std::string_view word, std::int64_t& value);

/// A word for an error message: in quotes, cut where it is long.
std::string quoted(std::string_view word);

/// Letters A-Z made small, or a-z large; other bytes as they are.
std::string lowerCase(std::string_view word);
std::string upperCase(std::string_view word);
bool equalIgnoringCase(std::string_view a, std::string_view b);

}  // namespace derm::detail::text
