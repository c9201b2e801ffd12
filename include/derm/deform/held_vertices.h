#pragma once

#include <string_view>

namespace derm {

/// The channel (SkinFrame::channel) of vertices that a layer holds where they are: 1 = held, 0 =
/// free. Layers that move the skin for another reason, as the volume layer does, move held vertices
/// by that much less.
inline constexpr std::string_view kHeldChannel = "held";

}  // namespace derm
