#include "face/maps/lbfgs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <Eigen/Core>

#include "derm/base/parallel.h"

namespace derm::detail::maps {
namespace {

using Values = Eigen::Map<Eigen::ArrayXf>;
using ConstValues = Eigen::Map<const Eigen::ArrayXf>;
constexpr std::size_t kChunk = 16384;

ConstValues part(std::span<const float> v, std::size_t begin, std::size_t end) {
  return {v.data() + begin, static_cast<Eigen::Index>(end - begin)};
}
Values part(std::span<float> v, std::size_t begin, std::size_t end) {
  return {v.data() + begin, static_cast<Eigen::Index>(end - begin)};
}

double dot(std::span<const float> a, std::span<const float> b) {
  return deterministicSum<double>(a.size(), [&](std::size_t begin, std::size_t end) {
    double sum = 0;
    // Short runs in float: as exact as the values, and several lanes at once.
    for (std::size_t i = begin; i < end; i += 256) {
      const std::size_t to = std::min(i + 256, end);
      sum += static_cast<double>((part(a, i, to) * part(b, i, to)).sum());
    }
    return sum;
  });
}

void addScaled(std::span<float> to, double factor, std::span<const float> v) {
  const auto f = static_cast<float>(factor);
  parallelFor(to.size(), kChunk, [&](std::size_t begin, std::size_t end) {
    part(to, begin, end) += f * part(v, begin, end);
  });
}

float largest(std::span<const float> v) {
  float most = 0;
  for (std::size_t i = 0; i < v.size(); i += kChunk)
    most = std::max(most, part(v, i, std::min(i + kChunk, v.size())).abs().maxCoeff());
  return most;
}

}  // namespace

double minimise(const GradientFunction& function, std::span<float> x, const LbfgsDesc& desc) {
  constexpr double kArmijo = 1e-4, kBack = 0.4;
  constexpr int kMaxBack = 14;
  const std::size_t n = x.size();
  const auto memory = static_cast<std::size_t>(desc.memory);
  std::vector<std::vector<float>> steps, changes;  // the newest last
  std::vector<double> curvature;
  std::vector<float> gradient(n), next_gradient(n), direction(n), next(n);
  double value = function(x, gradient);
  for (int it = 0; it < desc.iterations; ++it) {
    direction = gradient;
    std::vector<double> along(steps.size());
    for (std::size_t i = steps.size(); i-- > 0;) {
      along[i] = dot(steps[i], direction) / curvature[i];
      addScaled(direction, -along[i], changes[i]);
    }
    double scale = 1;
    if (!steps.empty()) {
      scale = curvature.back() / dot(changes.back(), changes.back());
    } else if (const float most = largest(gradient); most > 0) {
      scale = desc.first_step / static_cast<double>(most);
    }
    parallelFor(n, kChunk, [&](std::size_t begin, std::size_t end) {
      part(std::span(direction), begin, end) *= static_cast<float>(scale);
    });
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double back = dot(changes[i], direction) / curvature[i];
      addScaled(direction, along[i] - back, steps[i]);
    }
    const double slope = -dot(direction, gradient);
    if (!(slope < 0)) {
      if (steps.empty()) return value;
      steps.clear();
      changes.clear();
      curvature.clear();
      continue;
    }
    double length = 1, next_value = value;
    bool lower = false;
    for (int back = 0; back < kMaxBack; ++back, length *= kBack) {
      parallelFor(n, kChunk, [&](std::size_t begin, std::size_t end) {
        part(std::span(next), begin, end) =
            part(std::span<const float>(x), begin, end) -
            static_cast<float>(length) * part(std::span<const float>(direction), begin, end);
      });
      next_value = function(next, next_gradient);
      lower = next_value <= value + kArmijo * length * slope;
      if (lower) break;
    }
    if (!lower) {
      if (steps.empty()) return value;
      steps.clear();
      changes.clear();
      curvature.clear();
      continue;
    }
    if (steps.size() == memory) {
      // The oldest pair's memory becomes the newest's.
      std::rotate(steps.begin(), steps.begin() + 1, steps.end());
      std::rotate(changes.begin(), changes.begin() + 1, changes.end());
      curvature.erase(curvature.begin());
    } else {
      steps.emplace_back(n);
      changes.emplace_back(n);
    }
    parallelFor(n, kChunk, [&](std::size_t begin, std::size_t end) {
      part(std::span(steps.back()), begin, end) = part(std::span<const float>(next), begin, end) -
                                                  part(std::span<const float>(x), begin, end);
      part(std::span(changes.back()), begin, end) =
          part(std::span<const float>(next_gradient), begin, end) -
          part(std::span<const float>(gradient), begin, end);
      part(x, begin, end) = part(std::span<const float>(next), begin, end);
    });
    const double curved = dot(steps.back(), changes.back());
    if (curved > 0) {
      curvature.push_back(curved);
    } else {
      steps.pop_back();
      changes.pop_back();
    }
    gradient.swap(next_gradient);
    const double decrease = value - next_value;
    value = next_value;
    if (decrease < desc.least_decrease * std::abs(value)) break;
  }
  return value;
}

}  // namespace derm::detail::maps
