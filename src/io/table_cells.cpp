#include "io/table_cells.h"

#include "io/text_scanner.h"

namespace derm::detail {

void cutCells(std::string_view line, std::vector<TableCell>& cells) {
  cells.clear();
  std::size_t begin = 0;
  for (;;) {
    std::size_t end = begin;
    const std::size_t first = line.find_first_not_of(" \t", begin);
    if (first != std::string_view::npos && line[first] == '"') {
      const std::size_t close = line.find('"', first + 1);
      end = line.find(',', close == std::string_view::npos ? first : close);
    } else {
      end = line.find(',', begin);
    }
    const std::string_view cell =
        line.substr(begin, end == std::string_view::npos ? end : end - begin);
    std::string_view shown = text::trimmed(cell);
    const std::size_t column = begin + 1 + static_cast<std::size_t>(shown.data() - cell.data());
    const bool empty = shown.empty();
    if (shown.size() >= 2 && shown.front() == '"' && shown.back() == '"')
      shown = text::trimmed(shown.substr(1, shown.size() - 2));
    cells.push_back({shown, empty ? begin + 1 : column});
    if (end == std::string_view::npos) return;
    begin = end + 1;
  }
}

std::optional<OtherSeparator> otherSeparator(std::string_view header) {
  for (const char other : {';', '\t', '|'})
    if (const std::size_t at = header.find(other); at != std::string_view::npos)
      return OtherSeparator{
          at + 1, "columns are separated by " +
                      (other == '\t' ? std::string("tabs") : std::string("\"") + other + "\"") +
                      "; they must be by commas"};
  return {};
}

}  // namespace derm::detail
