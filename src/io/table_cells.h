#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What readers of comma-separated tables share.
namespace derm::detail {

/// A cell of a line, without blanks and quotes around it.
struct TableCell {
  std::string_view text;
  std::size_t column = 1;  ///< where it begins in the line, from 1
};

/// Cuts a line at commas. Quotes around a cell are a spreadsheet's, and a comma between them is the
/// cell's own; a doubled quote inside one would need a copy, and no name of ours has one.
void cutCells(std::string_view line, std::vector<TableCell>& cells);

/// A header that another character separates.
struct OtherSeparator {
  std::size_t column = 1;  ///< of the first one
  std::string message;
};
/// Of a header of one cell; nothing where that cell may be all there is.
std::optional<OtherSeparator> otherSeparator(std::string_view header);

}  // namespace derm::detail
