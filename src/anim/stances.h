#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "derm/math/vec.h"

/// Private to room anim.
namespace derm::detail {

/// Keys, first and last, between which an end of a limb stands on the ground, in the order of time.
/// `ways` are its points (heel, ball, toe), each with its position at every key; `ground` is the
/// level that the body moves on and `height` how high its hips are above. Some point must be low,
/// as measured from where it is lowest (recorded floors are not level, and an ankle is never on
/// them), and slow; two thresholds keep a stance from ending at noise. Points that never come near
/// the ground do not count: a hand that hangs still does not stand.
std::vector<std::pair<std::size_t, std::size_t>> stancesOf(std::span<const std::vector<Vec3d>> ways,
                                                           std::span<const float> times_s,
                                                           double ground, double height);

}  // namespace derm::detail
