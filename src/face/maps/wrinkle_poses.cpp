#include "derm/face/wrinkle_poses.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// Poses whose betas are summed at once.
constexpr std::size_t kLanes = 4;
using Lanes = Eigen::Array4f;

Error fails(const std::string& element, const std::string& message) {
  return {ErrorCode::BadArgument, message, {.element = element}};
}

Result<void> validateCurve(const ModulationCurve& curve, const std::string& element) {
  if (curve.keys.size() == 1) return fails(element, "a curve needs two keys or none");
  for (std::size_t i = 0; i < curve.keys.size(); ++i) {
    const Vec2f& k = curve.keys[i];
    if (!k.allFinite() || k.minCoeff() < 0 || k.maxCoeff() > 1)
      return fails(element, "keys of a curve must lie in [0,1]");
    if (i > 0 && !(k.x() > curve.keys[i - 1].x()))
      return fails(element, "keys of a curve must be in increasing order");
  }
  return {};
}

/// What a vertex's weights are multiplied with where they add up to `sum`.
double spreadOf(double sum) {
  constexpr double kMost = 6;
  // From sum * kMost, small, to 1, without a corner.
  return sum > 0 ? (1 - std::exp(-kMost * sum)) / ((1 - std::exp(-kMost)) * sum) : 1;
}

}  // namespace

float ModulationCurve::operator()(float way) const {
  const float x = way > 0 ? std::min(way, 1.0f) : 0.0f;
  if (keys.empty()) {
    const float s = std::sin(0.5f * std::numbers::pi_v<float> * x);
    return (s * s) * (s * s);
  }
  if (x <= keys.front().x()) return keys.front().y();
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (x <= keys[i].x()) {
      const Vec2f &a = keys[i - 1], &b = keys[i];
      return a.y() + (b.y() - a.y()) * (x - a.x()) / (b.x() - a.x());
    }
  return keys.back().y();
}

FaceWeights spreadWeights(const FaceWeights& weights) {
  FaceWeights out = weights;
  for (std::size_t v = 0; v < weights.vertexCount(); ++v) {
    double sum = 0;
    for (const FaceWeights::Share& share : weights[v])
      if (share.point != FaceWeights::kHead && share.weight > 0) sum += share.weight;
    const double factor = spreadOf(std::min(sum, 1.0));
    for (std::uint32_t i = weights.offsets[v]; i < weights.offsets[v + 1]; ++i)
      if (FaceWeights::Share& share = out.shares[i]; share.point != FaceWeights::kHead)
        share.weight *= factor;
      else
        share.weight = std::max(0.0, 1 - factor * sum);
  }
  return out;
}

Result<WrinklePoses> WrinklePoses::bind(const WrinklePosesDesc& desc,
                                        const FaceWeights& given_weights) {
  const bool spread = desc.influence == WrinkleInfluence::Spread;
  const FaceWeights scaled = spread ? spreadWeights(given_weights) : FaceWeights();
  const FaceWeights& weights = spread ? scaled : given_weights;
  const std::size_t n = desc.neutral.size();
  if (n == 0 || n > kMaxPoints) return fails("neutral", "there must be 1 to 256 control points");
  if (desc.poses.empty() || desc.poses.size() > kMaxPoses)
    return fails("poses", "there must be 1 to 64 reference poses");
  WrinklePoses out;
  out.poses_ = desc.poses.size();
  out.vertices_ = weights.vertexCount();
  out.clamped_ = desc.influence == WrinkleInfluence::Printed;
  Vec3d low = desc.neutral[0], high = low;
  for (const Vec3d& p : desc.neutral) {
    if (!p.allFinite()) return fails("neutral", "has points that are not finite");
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
    out.neutral_.push_back(p.cast<float>());
  }
  // A point this close to where it rests has not moved, it was rounded.
  const double still = 1e-6 * std::max((high - low).norm(), 1e-9);
  for (const ReferencePose& pose : desc.poses) {
    const std::string element = "poses." + pose.name;
    if (pose.points.size() != n)
      return fails(element, "has " + std::to_string(pose.points.size()) + " points, but " +
                                std::to_string(n) + " are at rest");
    bool moves = false;
    for (std::size_t j = 0; j < n; ++j) {
      if (!pose.points[j].allFinite()) return fails(element, "has points that are not finite");
      const Vec3d d = pose.points[j] - desc.neutral[j];
      const bool moved = d.norm() > still;
      moves = moves || moved;
      out.direction_.push_back(moved ? Vec3f((d / d.squaredNorm()).cast<float>()) : Vec3f::Zero());
    }
    if (!moves)
      return fails(element, "equals the pose at rest: its map would never show, or always");
    DERM_CHECK(validateCurve(pose.curve, element + ".curve"));
    out.curves_.push_back(pose.curve);
  }
  std::vector<bool> grouped(n);
  for (const WrinkleGroup& group : desc.groups) {
    for (const std::uint32_t j : group.points) {
      if (j >= n)
        return fails("groups." + group.name,
                     "has point " + std::to_string(j) + ", but there are " + std::to_string(n));
      if (grouped[j])
        return fails("groups." + group.name,
                     "has point " + std::to_string(j) + ", which is in a group already");
      grouped[j] = true;
    }
    out.groups_.push_back(group.points);
  }
  for (std::size_t v = 0; v < out.vertices_; ++v) {
    std::size_t count = 0;
    for (const FaceWeights::Share& share : weights[v]) {
      if (share.point == FaceWeights::kHead || !(share.weight > 0)) continue;
      if (share.point >= n)
        return fails("weights", "vertex " + std::to_string(v) + " follows point " +
                                    std::to_string(share.point) + ", but there are " +
                                    std::to_string(n));
      if (count % 4 == 0) out.blocks_.push_back({static_cast<std::uint32_t>(v)});
      Block& block = out.blocks_.back();
      block.point[count % 4] = static_cast<std::uint8_t>(share.point);
      block.weight[count % 4] = out.clamped_ ? 1.0f : static_cast<float>(share.weight);
      ++count;
    }
  }
  return out;
}

void WrinklePoses::alphasOf(std::size_t pose, std::span<const Vec3f> points,
                            std::span<float> alpha) const noexcept {
  const std::size_t n = neutral_.size();
  const Vec3f* direction = direction_.data() + pose * n;
  for (std::size_t j = 0; j < n; ++j) {
    const float way = (points[j] - neutral_[j]).dot(direction[j]);
    alpha[j] = way > 0 ? std::min(way, 1.0f) : 0.0f;  // not a number is at rest
  }
  for (const std::vector<std::uint32_t>& group : groups_) {
    float sum = 0, moved = 0;
    for (const std::uint32_t j : group)
      if (!direction[j].isZero()) {
        sum += alpha[j];
        moved += 1;
      }
    for (const std::uint32_t j : group) alpha[j] = moved > 0 ? sum / moved : 0.0f;
  }
}

void WrinklePoses::alphas(std::span<const Vec3f> points, std::span<float> alpha) const noexcept {
  const std::size_t n = neutral_.size();
  DERM_REQUIRE(points.size() == n && alpha.size() == n * poses_);
  for (std::size_t k = 0; k < poses_; ++k) alphasOf(k, points, alpha.subspan(k * n, n));
}

void WrinklePoses::addBetas(std::size_t first, std::size_t count, std::span<const float> alpha,
                            std::span<float> beta) const noexcept {
  const std::size_t n = neutral_.size();
  std::array<Lanes, kMaxPoints> strengths;
  for (std::size_t j = 0; j < n; ++j) {
    strengths[j].setZero();
    for (std::size_t k = 0; k < count; ++k)
      strengths[j][static_cast<Eigen::Index>(k)] = curves_[first + k](alpha[k * n + j]);
  }
  for (const Block& b : blocks_) {
    const Lanes sum = (b.weight[0] * strengths[b.point[0]] + b.weight[1] * strengths[b.point[1]]) +
                      (b.weight[2] * strengths[b.point[2]] + b.weight[3] * strengths[b.point[3]]);
    for (std::size_t k = 0; k < count; ++k) {
      float& to = beta[(first + k) * vertices_ + b.vertex];
      to = std::min(to + sum[static_cast<Eigen::Index>(k)], 1.0f);
    }
  }
}

void WrinklePoses::betas(std::span<const float> alpha, std::span<float> beta) const noexcept {
  const std::size_t n = neutral_.size();
  DERM_REQUIRE(alpha.size() == n * poses_ && beta.size() == vertices_ * poses_);
  std::fill(beta.begin(), beta.end(), 0.0f);
  for (std::size_t first = 0; first < poses_; first += kLanes)
    addBetas(first, std::min(kLanes, poses_ - first), alpha.subspan(first * n), beta);
}

void WrinklePoses::evaluate(std::span<const Vec3f> points, std::span<float> beta) const noexcept {
  const std::size_t n = neutral_.size();
  DERM_REQUIRE(points.size() == n && beta.size() == vertices_ * poses_);
  std::fill(beta.begin(), beta.end(), 0.0f);
  // A few poses at a time: all of them would not fit onto the small stacks of engines' threads.
  std::array<float, kMaxPoints * kLanes> alpha;
  for (std::size_t first = 0; first < poses_; first += kLanes) {
    const std::size_t count = std::min(kLanes, poses_ - first);
    for (std::size_t k = 0; k < count; ++k)
      alphasOf(first + k, points, std::span<float>(alpha).subspan(k * n, n));
    addBetas(first, count, alpha, beta);
  }
}

}  // namespace derm
