#pragma once

#include <functional>
#include <span>

namespace derm::detail::maps {

struct LbfgsDesc {
  int iterations = 50;
  int memory = 8;                ///< pairs of steps and gradients kept
  double first_step = 0.1;       ///< the largest change of a value in the first step
  double least_decrease = 1e-6;  ///< stops when a step lowers the function by less, relatively
};

/// Value of a function, and its gradient to the second argument.
using GradientFunction = std::function<double(std::span<const float> x, std::span<float> gradient)>;

/// Limited-memory BFGS (Nocedal 1980) with back-tracking (Armijo 1e-4, factor 0.4). `x` is the
/// start and the result; returns the function there. 2 * memory + 3 vectors of memory. The same
/// bits for any number of threads.
double minimise(const GradientFunction& function, std::span<float> x, const LbfgsDesc& desc);

}  // namespace derm::detail::maps
