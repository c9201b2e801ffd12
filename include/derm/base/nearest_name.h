#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace derm {

/// The names most like the wanted one, best first: letter case and separators (space _ - . :)
/// count little, then edit distance, a shared beginning, or containment. Far-off names are left
/// out.
std::vector<std::string> nearestNames(std::string_view wanted, std::span<const std::string> names,
                                      std::size_t max_count = 3);

/// Text for the end of an error message: "; did you mean \"jump\" or \"run\"?", or, if nothing is
/// near, "; there are \"a\", \"b\" and 7 more", or "; there are none".
std::string didYouMean(std::string_view wanted, std::span<const std::string> names);

}  // namespace derm
