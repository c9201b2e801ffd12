#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/math/vec.h"

namespace derm {

/// Coefficients of named face shapes at instants of time, as face capture gives them (ARKit's 52,
/// for example). Plain data; frame f, shape s is at [f * names.size() + s].
struct ShapeTracks {
  std::vector<std::string> names;    ///< no two alike
  std::vector<double> times_s;       ///< strictly increasing
  std::vector<float> values;         ///< 0 = at rest, 1 = all of the shape
  std::vector<Quatd> head;           ///< of every frame, how the head is turned; empty = it is not
  std::vector<std::uint64_t> lines;  ///< of the text that each frame was read from; empty = unknown

  std::size_t frames() const { return times_s.size(); }
  std::span<const float> frame(std::size_t index) const {
    return std::span(values).subspan(index * names.size(), names.size());
  }
};

/// Sizes fit, names differ, times increase, numbers are finite.
Result<void> validate(const ShapeTracks& tracks, std::string_view name);

}  // namespace derm
