#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/math/vec.h"

namespace derm {

/// A set of particles as simulations write them: one array per attribute, one entry per particle.
/// Any array but positions may be empty. Space: right-handed, +Y up, metres.
struct Particles {
  std::vector<Vec3f> positions;    ///< [m]
  std::vector<float> radii;        ///< [m] > 0
  std::vector<Vec3f> velocities;   ///< [m/s]
  std::vector<float> masses;       ///< relative, > 0
  std::vector<std::uint64_t> ids;  ///< the same particle from frame to frame

  std::size_t size() const { return positions.size(); }
  bool operator==(const Particles&) const = default;
};

/// Array lengths agree, numbers are finite, radii and masses positive. The error names the array
/// and the particle. O(n).
Result<void> validate(const Particles& particles, std::string_view name);

}  // namespace derm
