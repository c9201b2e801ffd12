#include "head_warp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "derm/base/parallel.h"
#include "derm/math/weighted_gram.h"

namespace derm::detail {
namespace {

using Eigen::MatrixXd;

constexpr double kNormalCost = 2.94;   // (0.6 / 0.35)^2
constexpr double kFeatureCost = 0.30;  // 0.55^2
constexpr double kRobust = 6.25;
constexpr double kBorderShare = 0.2;
constexpr double kMinCosine = 0.3;
constexpr std::size_t kForwardCandidates = 32;
constexpr std::size_t kBackwardCandidates = 24;

double robustWeight(double cost) {
  const double s = 1 / (1 + cost / kRobust);
  return s * s;
}

double cost(const Vec3d& p, const Vec3d& n, const Features& f, const Vec3d& q, const Vec3d& m,
            const Features& g, double sigma) {
  double features = 0;
  for (std::size_t k = 0; k < kFeatures; ++k) features += (f[k] - g[k]) * (f[k] - g[k]);
  return (p - q).squaredNorm() / (sigma * sigma) + kNormalCost * (2 - 2 * n.dot(m)) +
         kFeatureCost * features;
}

}  // namespace

double matchCost(const Vec3d& p, const Vec3d& n, const Features& f, const MatchPoints& target,
                 std::size_t i, double sigma) {
  return cost(p, n, f, target.positions[i], target.normals[i], target.features[i], sigma);
}

WarpFitter::WarpFitter(const MatchPoints& source, std::size_t sites) {
  std::size_t front = 0;
  for (std::size_t i = 0; i < source.size(); ++i)
    if (source.positions[i].z() > source.positions[front].z()) front = i;
  for (const std::uint32_t i : farthestPointOrder(source.positions, sites, front)) {
    positions_.push_back(source.positions[i]);
    normals_.push_back(source.normals[i]);
    features_.push_back(source.features[i]);
    border_.push_back(source.border[i]);
  }
}

WarpFitter::State WarpFitter::start() const {
  State state;
  state.moved = positions_;
  state.normals = normals_;
  return state;
}

WarpFitter::State WarpFitter::startFrom(const Warp& warp) const {
  State state;
  state.warp = warp;
  state.moved.resize(positions_.size());
  state.normals.resize(positions_.size());
  constexpr double kStep = 0.02;
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    Vec3d t1, t2;
    tangents(normals_[i], Vec3d::UnitY(), t1, t2);
    state.moved[i] = warp(positions_[i]);
    const Vec3d a = warp(positions_[i] + kStep * t1) - warp(positions_[i] - kStep * t1);
    const Vec3d b = warp(positions_[i] + kStep * t2) - warp(positions_[i] - kStep * t2);
    state.normals[i] = a.cross(b).normalized();
  }
  return state;
}

void WarpFitter::run(State& state, const MatchPoints& target, const WarpStage& stage,
                     std::span<const HardPair> hard) const {
  const std::size_t sites = positions_.size();
  const std::size_t centres = std::min(stage.centres, sites);
  const auto n = static_cast<Eigen::Index>(sites);
  const auto rows = static_cast<Eigen::Index>(sites + hard.size());
  const auto m = static_cast<Eigen::Index>(centres);
  const double sigma = stage.sigma;

  // Kernel values and derivatives along the tangents, per row and centre.
  MatrixXd kernel(rows, m);
  MatrixXd along1(n, m);
  MatrixXd along2(n, m);
  std::vector<Vec3d> t1(sites), t2(sites);
  for (std::size_t i = 0; i < sites; ++i) tangents(normals_[i], Vec3d::UnitY(), t1[i], t2[i]);
  const auto rowPosition = [&](Eigen::Index i) -> const Vec3d& {
    const auto k = static_cast<std::size_t>(i);
    return k < sites ? positions_[k] : hard[k - sites].from;
  };
  parallelFor(static_cast<std::size_t>(m), 8, [&](std::size_t begin, std::size_t end) {
    for (auto k = static_cast<Eigen::Index>(begin); k < static_cast<Eigen::Index>(end); ++k)
      for (Eigen::Index i = 0; i < rows; ++i) {
        const Vec3d d = rowPosition(i) - positions_[static_cast<std::size_t>(k)];
        const double r = d.norm();
        kernel(i, k) = r;
        if (i >= n) continue;
        const auto s = static_cast<std::size_t>(i);
        along1(i, k) = r > 1e-9 ? d.dot(t1[s]) / r : 0.0;
        along2(i, k) = r > 1e-9 ? d.dot(t2[s]) / r : 0.0;
      }
  });
  MatrixXd polynomial(m, 4);
  for (Eigen::Index k = 0; k < m; ++k)
    polynomial.row(k) << 1, positions_[static_cast<std::size_t>(k)].transpose();
  const Eigen::HouseholderQR<MatrixXd> qr(polynomial);
  MatrixXd basis = kernel;
  basis.applyOnTheRight(qr.householderQ());
  // The first four columns are what the side conditions forbid; the affine part takes their place.
  for (Eigen::Index i = 0; i < rows; ++i) basis.row(i).head(4) << 1, rowPosition(i).transpose();
  MatrixXd energy = -kernel.topRows(m);
  energy.applyOnTheRight(qr.householderQ());
  energy.applyOnTheLeft(qr.householderQ().transpose());

  const double spacing = std::max(0.06, 0.4 * sigma);
  const auto thinnedTarget = [&](double voxel) {
    Samples all;
    all.positions = target.positions;
    all.normals = target.normals;
    all.areas.assign(target.size(), 1.0);
    std::vector<std::uint32_t> which(target.size());
    for (std::uint32_t i = 0; i < which.size(); ++i) which[i] = i;
    return thinned(all, which, voxel);
  };
  const std::vector<std::uint32_t> there = thinnedTarget(spacing);
  const std::vector<std::uint32_t> back = thinnedTarget(std::max(0.12, spacing));
  std::vector<Vec3d> there_positions;
  for (const std::uint32_t i : there) there_positions.push_back(target.positions[i]);
  const Tree3 target_tree = treeOf(there_positions);

  struct Match {
    double cost = 0;
    double weight = 0;
    Vec3d point = Vec3d::Zero();
    std::uint32_t site = 0;
  };
  std::vector<Match> forward(sites);
  std::vector<Match> backward(back.size());
  MatrixXd normal;
  MatrixXd wanted(rows, 3);
  Eigen::VectorXd weights(rows);
  MatrixXd w;
  for (int iteration = 0; iteration < stage.iterations; ++iteration) {
    parallelFor(sites, 64, [&](std::size_t begin, std::size_t end) {
      std::vector<Tree3::Near> near;
      for (std::size_t i = begin; i < end; ++i) {
        target_tree.nearest(treePoint(state.moved[i]), kForwardCandidates,
                            std::numeric_limits<double>::infinity(), near);
        std::uint32_t best = 0;
        double least = std::numeric_limits<double>::infinity();
        for (const Tree3::Near& candidate : near) {
          const std::uint32_t t = there[candidate.index];
          const double c =
              matchCost(state.moved[i], state.normals[i], features_[i], target, t, sigma);
          if (c < least) {
            least = c;
            best = t;
          }
        }
        Match& match = forward[i];
        match.cost = least;
        match.point = target.positions[best];
        match.weight = robustWeight(least);
        if (target.border[best] || state.normals[i].dot(target.normals[best]) <= kMinCosine)
          match.weight = 0;
        if (border_[i]) match.weight *= kBorderShare;
      }
    });
    const Tree3 site_tree = treeOf(state.moved);
    parallelFor(back.size(), 64, [&](std::size_t begin, std::size_t end) {
      std::vector<Tree3::Near> near;
      for (std::size_t k = begin; k < end; ++k) {
        const std::uint32_t t = back[k];
        site_tree.nearest(treePoint(target.positions[t]), kBackwardCandidates,
                          std::numeric_limits<double>::infinity(), near);
        Match& match = backward[k];
        match.cost = std::numeric_limits<double>::infinity();
        for (const Tree3::Near& candidate : near) {
          const std::uint32_t i = candidate.index;
          const double c =
              matchCost(state.moved[i], state.normals[i], features_[i], target, t, sigma);
          if (c < match.cost) {
            match.cost = c;
            match.site = i;
          }
        }
        match.point = target.positions[t];
        match.weight = robustWeight(match.cost);
        if (border_[match.site] || state.normals[match.site].dot(target.normals[t]) <= kMinCosine)
          match.weight = 0;
        if (target.border[t]) match.weight *= kBorderShare;
      }
    });

    weights.setZero();
    wanted.setZero();
    for (Eigen::Index i = 0; i < n; ++i) {
      const Match& match = forward[static_cast<std::size_t>(i)];
      weights[i] = match.weight;
      wanted.row(i) = match.weight * match.point.transpose();
    }
    for (const Match& match : backward) {
      weights[match.site] += match.weight;
      wanted.row(match.site) += match.weight * match.point.transpose();
    }
    const double total = weights.sum();
    for (std::size_t k = 0; k < hard.size(); ++k) {
      const auto i = static_cast<Eigen::Index>(sites + k);
      weights[i] = hard[k].weight;
      wanted.row(i) = hard[k].weight * hard[k].to.transpose();
    }
    weightedGram(basis, weights, normal);
    const double stiffness = stage.lambda * std::max(total, 1e-3) / static_cast<double>(sites);
    normal.bottomRightCorner(m - 4, m - 4) += stiffness * energy.bottomRightCorner(m - 4, m - 4);
    normal.diagonal().array() += 1e-9;
    MatrixXd right = basis.transpose() * wanted;
    const Eigen::LLT<MatrixXd, Eigen::Lower> factor(normal);
    right = factor.solve(right);

    const MatrixXd affine = right.topRows(4);
    w = right;
    w.topRows(4).setZero();
    w.applyOnTheLeft(qr.householderQ());
    const MatrixXd moved = kernel.topRows(n) * w;
    const MatrixXd moved1 = along1 * w;
    const MatrixXd moved2 = along2 * w;
    const Mat3d linear = affine.bottomRows(3).transpose();
    const Vec3d shift = affine.row(0).transpose();
    for (std::size_t i = 0; i < sites; ++i) {
      const auto r = static_cast<Eigen::Index>(i);
      state.moved[i] = linear * positions_[i] + shift + Vec3d(moved.row(r).transpose());
      const Vec3d a = linear * t1[i] + Vec3d(moved1.row(r).transpose());
      const Vec3d b = linear * t2[i] + Vec3d(moved2.row(r).transpose());
      const Vec3d c = a.cross(b);
      const double length = c.norm();
      if (length > 1e-12) state.normals[i] = c / length;
    }
    state.warp.affine.linear() = linear;
    state.warp.affine.translation() = shift;
  }
  state.warp.centres.assign(positions_.begin(),
                            positions_.begin() + static_cast<std::ptrdiff_t>(centres));
  state.warp.weights.resize(centres);
  for (std::size_t k = 0; k < centres; ++k)
    state.warp.weights[k] = w.row(static_cast<Eigen::Index>(k)).transpose();
  std::vector<double> costs(sites);
  for (std::size_t i = 0; i < sites; ++i) costs[i] = std::min(9.0, forward[i].cost);
  std::sort(costs.begin(), costs.end());
  const std::size_t kept = std::max<std::size_t>(1, sites * 9 / 10);
  double sum = 0;
  for (std::size_t i = 0; i < kept; ++i) sum += costs[i];
  state.residual = sum / static_cast<double>(kept);
}

}  // namespace derm::detail
