#pragma once

#include <vector>

#include "derm/face/face_weights.h"

namespace derm::detail {

/// Leaves the `max_influences` largest shares of a vertex, sorted, with sum 1. What is dropped of a
/// lip, the jaw or the head goes to those kept that move alike: between two vertices of which one
/// drops the jaw and the other the head the skin would tear. With `keep_lids` the lids' shares stay
/// as they are: what shuts an eye is exact. An empty row becomes the head's.
void pruneShares(std::vector<FaceWeights::Share>& row, std::size_t max_influences, bool keep_lids);

}  // namespace derm::detail
