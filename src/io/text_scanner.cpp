#include "io/text_scanner.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <system_error>

#include "derm/base/number_text.h"

namespace derm::detail::text {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <class T>
NumberKind parseFloating(std::string_view word, T& value) {
  if (!word.empty() && word.front() == '+') {
    word.remove_prefix(1);
    if (!word.empty() && (word.front() == '-' || word.front() == '+'))
      return NumberKind::NotANumber;
  }
  T parsed{};
  const NumberRead read = readNumber(word, parsed);
  if (read.length == 0 || read.length != word.size()) return NumberKind::NotANumber;
  if (read.out_of_range) {
    // The standard does not tell too large from too small. Leading zeros of the mantissa could hide
    // a large value behind a negative exponent only in numbers nobody writes.
    if constexpr (sizeof(T) < sizeof(double)) {
      double wide = 0;
      const NumberKind kind = parseFloating(word, wide);
      if (kind != NumberKind::Finite || std::abs(wide) > 1) return NumberKind::NotFinite;
      value = static_cast<T>(wide);
      return NumberKind::Finite;
    } else {
      const std::size_t exponent = word.find_first_of("eE");
      const bool small = exponent != std::string_view::npos && exponent + 1 < word.size() &&
                         word[exponent + 1] == '-';
      if (!small) return NumberKind::NotFinite;
      value = 0;
      return NumberKind::Finite;
    }
  }
  if (!std::isfinite(parsed)) return NumberKind::NotFinite;
  value = parsed;
  return NumberKind::Finite;
}

}  // namespace

LineScanner::LineScanner(std::string_view text, Continuation continuation)
    : rest_(text), continues_(continuation == Continuation::Backslash) {
  if (rest_.starts_with(kUtf8Mark)) rest_.remove_prefix(kUtf8Mark.size());
  // Only a file without any LF can have the line ends of old Macs.
  if (rest_.find('\n') == std::string_view::npos) line_end_ = '\r';
}

std::string_view LineScanner::cutLine() {
  const void* found = std::memchr(rest_.data(), line_end_, rest_.size());
  const std::size_t length =
      found == nullptr ? rest_.size()
                       : static_cast<std::size_t>(static_cast<const char*>(found) - rest_.data());
  std::string_view line = rest_.substr(0, length);
  rest_.remove_prefix(std::min(length + 1, rest_.size()));
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  ++lines_cut_;
  return line;
}

bool LineScanner::next(std::string_view& line) {
  if (rest_.empty()) return false;
  line = cutLine();
  line_number_ = lines_cut_;
  if (!continues_ || line.empty() || line.back() != '\\') return true;
  std::string& whole = joined_.emplace_back();
  while (!line.empty() && line.back() == '\\') {
    whole.append(line, 0, line.size() - 1);
    whole += ' ';
    line = rest_.empty() ? std::string_view() : cutLine();
  }
  whole += line;
  line = whole;
  return true;
}

std::string_view trimmed(std::string_view text) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  while (begin != end && isBlank(*begin)) ++begin;
  while (end != begin && isBlank(end[-1])) --end;
  return std::string_view(begin, static_cast<std::size_t>(end - begin));
}

NumberKind parseNumber(std::string_view word, float& value) { return parseFloating(word, value); }
NumberKind parseNumber(std::string_view word, double& value) { return parseFloating(word, value); }

bool parseInteger(std::string_view word, std::int64_t& value) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
  const char* end = word.data() + word.size();
  const auto [stop, failure] = std::from_chars(word.data(), end, value);
  return failure == std::errc{} && stop == end;
}

std::string quoted(std::string_view word) {
  constexpr std::size_t kMaxLength = 40;
  std::string shown(word.substr(0, kMaxLength));
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ') c = '?';  // a message is one line
  return "\"" + shown + (word.size() > kMaxLength ? "...\"" : "\"");
}

std::string lowerCase(std::string_view word) {
  std::string out(word);
  std::transform(out.begin(), out.end(), out.begin(), lowered);
  return out;
}

std::string upperCase(std::string_view word) {
  std::string out(word);
  for (char& c : out)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return out;
}

bool equalIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lowered(x) == lowered(y); });
}

}  // namespace derm::detail::text
