#include "derm/io/name_table.h"

#include <set>

#include "derm/io/file_bytes.h"

#include "io/text_scanner.h"

namespace derm {
namespace {

std::string_view withoutComment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '#' && (i == 0 || detail::text::isBlank(line[i - 1]))) return line.substr(0, i);
  return line;
}

}  // namespace

Result<NamePairs> parseNameTable(std::string_view text, std::string_view name) {
  NamePairs pairs;
  std::set<std::string, std::less<>> sources, targets;
  detail::text::LineScanner lines(text);
  std::string_view line;
  while (lines.next(line)) {
    const auto bad = [&](std::string message) {
      return Error{ErrorCode::BadData,
                   std::move(message),
                   {.file = std::string(name), .line = lines.lineNumber()}};
    };
    line = detail::text::trimmed(withoutComment(line));
    if (line.empty()) continue;
    const std::size_t equals = line.find('=');
    std::string_view target = line;
    const std::string_view source = equals == std::string_view::npos
                                        ? detail::text::nextWord(target)
                                        : detail::text::trimmed(line.substr(0, equals));
    target =
        detail::text::trimmed(equals == std::string_view::npos ? target : line.substr(equals + 1));
    const bool two_words = target.find_first_of(" \t") == std::string_view::npos;
    if (source.empty() || target.empty() || (equals == std::string_view::npos && !two_words))
      return bad(detail::text::quoted(line) + " is not \"source = target\"");
    if (!sources.emplace(source).second)
      return bad("source " + detail::text::quoted(source) + " was given before");
    if (!targets.emplace(target).second)
      return bad("target " + detail::text::quoted(target) + " was given before");
    pairs.emplace_back(source, target);
  }
  return pairs;
}

Result<NamePairs> loadNameTable(const std::filesystem::path& file) {
  constexpr std::uint64_t kLargestTable = 16 << 20;
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, kLargestTable));
  return parseNameTable({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string());
}

}  // namespace derm
