#pragma once

#include <span>

#include "derm/mesh/adjacency.h"
#include "derm/volume/volume_regions.h"

/// Private to room volume.
namespace derm::detail {

/// Shares spread over a surface: `passes` times each value becomes the mean of itself and its
/// neighbours' mean. Shares below `min_share` are then dropped and rows brought to sum 1 again.
/// Rows of vertices without neighbours stay. Cost: O(passes * vertices that a column reaches),
/// summed.
ShareRows averaged(const ShareRows& rows, std::size_t column_count, const IndexLists& neighbours,
                   int passes, double min_share);

/// A row keeps at most this many shares.
inline constexpr std::size_t kMaxShares = 8;
/// The same rows with their largest shares alone, quantised to multiples of 2^-20: floats hold them
/// as they are, and rows sum to 1 exactly.
ShareRows quantised(const ShareRows& rows);

}  // namespace derm::detail
