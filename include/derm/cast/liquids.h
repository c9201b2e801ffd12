#pragma once

#include <span>
#include <string_view>

#include "derm/base/result.h"
#include "derm/cast/cast.h"
#include "derm/implicit/particle_system.h"

namespace derm {

/// Matter in motion that derm ships with, for skins without fixed topology: a simulation at its
/// start, and how long it is worth watching.
struct CastLiquid {
  ParticleSystem system;
  double seconds = 2;
};

/// "drop", "pour", "two-drops-merge".
std::span<const CastMember> castLiquids();

/// The one of that name; otherwise an error that lists the nearest names. Where matter grows thin
/// its particles are cut in eight, `max_splits` [0,3] times at most.
Result<CastLiquid> makeCastLiquid(std::string_view name, int max_splits = 0);

}  // namespace derm
