#include <algorithm>
#include <cmath>
#include <vector>

#include "derm/base/assert.h"
#include "derm/face/modulation_fit.h"
#include "derm/math/decompositions.h"

namespace derm {
namespace {

const PhotoLandmark* landmarkCalled(std::span<const PhotoLandmark> list, const std::string& label) {
  for (const PhotoLandmark& l : list)
    if (l.label == label) return &l;
  return nullptr;
}

/// Pool adjacent violators: the nearest values, weighted, that never fall.
void makeMonotone(Eigen::VectorXd& values, const Eigen::VectorXd& weights) {
  struct Pool {
    double value, weight;
    Eigen::Index count;
  };
  std::vector<Pool> pools;
  for (Eigen::Index i = 0; i < values.size(); ++i) {
    pools.push_back({values[i], weights[i], 1});
    while (pools.size() > 1 && pools[pools.size() - 2].value > pools.back().value) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& into = pools.back();
      const double weight = into.weight + last.weight;
      into.value = (into.value * into.weight + last.value * last.weight) / weight;
      into.weight = weight;
      into.count += last.count;
    }
  }
  Eigen::Index i = 0;
  for (const Pool& pool : pools)
    for (Eigen::Index k = 0; k < pool.count; ++k) values[i++] = pool.value;
}

double rmsAbout(const ModulationCurve& curve, std::span<const AppearanceSample> samples) {
  double sum = 0;
  for (const AppearanceSample& s : samples) {
    const double off = s.shown - static_cast<double>(curve(static_cast<float>(s.way)));
    sum += off * off;
  }
  return std::sqrt(sum / static_cast<double>(samples.size()));
}

}  // namespace

Result<double> wayOfLandmarks(std::span<const PhotoLandmark> neutral,
                              std::span<const PhotoLandmark> now,
                              std::span<const PhotoLandmark> expression) {
  using Point = Eigen::Vector2d;
  std::vector<std::pair<Point, Point>> moves;  // to the expression, and as it is now
  double farthest = 0;
  for (const PhotoLandmark& rest : neutral) {
    const PhotoLandmark *here = landmarkCalled(now, rest.label),
                        *there = landmarkCalled(expression, rest.label);
    if (here == nullptr || there == nullptr) continue;
    moves.emplace_back(there->position - rest.position, here->position - rest.position);
    farthest = std::max(farthest, moves.back().first.norm());
  }
  if (moves.size() < 2)
    return Error{ErrorCode::BadData,
                 "the pictures have " + std::to_string(moves.size()) +
                     " landmarks in common; at least 2 are needed",
                 {.element = "landmarks"}};
  if (!(farthest > 0))
    return Error{ErrorCode::BadData,
                 "no landmark moves from rest to the expression",
                 {.element = "landmarks"}};
  double sum = 0, weights = 0;
  for (const auto& [full, here] : moves) {
    const double length = full.norm();
    if (length < 0.1 * farthest) continue;
    sum += length * std::clamp(here.dot(full) / full.squaredNorm(), 0.0, 1.0);
    weights += length;
  }
  return sum / weights;
}

double shareOfDetail(const SlopeMap& now, const SlopeMap& full) {
  DERM_REQUIRE(now.slopes.values.size() == full.slopes.values.size() &&
               2 * full.mask.values.size() == full.slopes.values.size());
  double product = 0, square = 0;
  for (std::size_t i = 0; i < full.mask.values.size(); ++i)
    for (std::size_t c = 0; c < 2; ++c) {
      const double weight = static_cast<double>(full.mask.values[i]);
      const double f = static_cast<double>(full.slopes.values[2 * i + c]);
      product += weight * f * static_cast<double>(now.slopes.values[2 * i + c]);
      square += weight * f * f;
    }
  return square > 0 ? product / square : 0;
}

Result<ModulationFit> fitModulation(std::span<const AppearanceSample> samples, std::size_t keys) {
  const auto fails = [](const char* element, const std::string& message) {
    return Error{ErrorCode::BadArgument, message, {.element = element}};
  };
  if (keys < 3 || keys > 33) return fails("keys", "must lie in [3,33]");
  if (samples.size() < 4)
    return fails("samples",
                 "a curve needs 4 pictures, but there are " + std::to_string(samples.size()));
  double low = 1, high = 0;
  for (const AppearanceSample& s : samples) {
    if (!std::isfinite(s.way) || !std::isfinite(s.shown))
      return fails("samples", "must be finite numbers");
    low = std::min(low, s.way);
    high = std::max(high, s.way);
  }
  if (high - low < 0.5)
    return fails("samples", "cover only " + std::to_string(static_cast<int>(100 * (high - low))) +
                                " % of the way from rest to the expression");
  const auto n = static_cast<Eigen::Index>(keys);
  Eigen::MatrixXd normal = Eigen::MatrixXd::Zero(n, n);
  Eigen::VectorXd right = Eigen::VectorXd::Zero(n), weights = Eigen::VectorXd::Constant(n, 1e-3);
  const auto add = [&](Eigen::Index i, double share, Eigen::Index j, double other, double value,
                       double weight) {
    normal(i, i) += weight * share * share;
    normal(j, j) += weight * other * other;
    normal(i, j) += weight * share * other;
    normal(j, i) += weight * share * other;
    right[i] += weight * share * value;
    right[j] += weight * other * value;
  };
  for (const AppearanceSample& s : samples) {
    const double x = std::clamp(s.way, 0.0, 1.0) * static_cast<double>(keys - 1);
    const Eigen::Index i = std::min(static_cast<Eigen::Index>(x), n - 2);
    const double t = x - static_cast<double>(i);
    add(i, 1 - t, i + 1, t, std::clamp(s.shown, -0.5, 1.5), 1);
    weights[i] += 1 - t;
    weights[i + 1] += t;
  }
  // At rest nothing shows and at the end everything, by what both words mean.
  const double sure = 100 * static_cast<double>(samples.size());
  normal(0, 0) += sure;
  normal(n - 1, n - 1) += sure;
  right[n - 1] += sure;
  weights[0] += sure;
  weights[n - 1] += sure;
  constexpr double kSmooth = 1e-2;
  for (Eigen::Index i = 1; i + 1 < n; ++i) {
    Eigen::VectorXd bend = Eigen::VectorXd::Zero(n);
    bend[i - 1] = bend[i + 1] = 1;
    bend[i] = -2;
    normal += kSmooth * bend * bend.transpose();
  }
  Eigen::VectorXd values = solveSymmetric(normal, right);
  makeMonotone(values, weights);
  ModulationFit out;
  for (Eigen::Index i = 0; i < n; ++i)
    out.curve.keys.emplace_back(
        static_cast<float>(i) / static_cast<float>(n - 1),
        i == 0 ? 0.0f : (i == n - 1 ? 1.0f : static_cast<float>(std::clamp(values[i], 0.0, 1.0))));
  out.rms = rmsAbout(out.curve, samples);
  out.rms_sin4 = rmsAbout({}, samples);
  return out;
}

}  // namespace derm
