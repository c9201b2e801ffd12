#pragma once

#include <chrono>

namespace derm::bench_support {

using Clock = std::chrono::steady_clock;

inline double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace derm::bench_support
