#include <algorithm>
#include <cmath>

#include <Eigen/SparseCholesky>

#include "derm/base/parallel.h"
#include "derm/mesh/cotangent.h"

#include "weights/weight_methods.h"

namespace derm::detail {
namespace {

using Sparse = Eigen::SparseMatrix<double>;

/// The equations (L + A H) w = A H p.
struct HeatSystem {
  std::vector<double> inflow;  ///< A H per welded vertex
  Sparse matrix;               ///< L + A H, lower half
};

HeatSystem heatSystem(const WeldedSurface& surface, const BoneSources& sources,
                      double heat_transfer) {
  HeatSystem out;
  const CotangentWeights laplacian = cotangentWeights(surface.positions, surface.triangles);
  out.inflow.resize(surface.size());
  for (std::size_t v = 0; v < surface.size(); ++v) {
    const double distance = std::max(sources.distance[v], kNearestHeat);
    // A welded vertex without triangles has no neighbours: any heat will do.
    const double area = laplacian.areas[v] > 0 ? laplacian.areas[v] : 1.0;
    // Every equally near bone heats by itself, as if the welded vertex had one of its own.
    const auto bones = static_cast<double>(sources.slots[v].size());
    out.inflow[v] = area * heat_transfer * bones / (distance * distance);
  }
  std::vector<double> diagonal = out.inflow;
  std::vector<Eigen::Triplet<double>> entries;
  entries.reserve(laplacian.edges.size() + diagonal.size());
  for (const CotangentWeights::Edge& e : laplacian.edges) {
    entries.emplace_back(static_cast<int>(e.b), static_cast<int>(e.a), -e.weight);
    diagonal[e.a] += e.weight;
    diagonal[e.b] += e.weight;
  }
  for (std::size_t v = 0; v < diagonal.size(); ++v)
    entries.emplace_back(static_cast<int>(v), static_cast<int>(v), diagonal[v]);
  const auto n = static_cast<Eigen::Index>(diagonal.size());
  out.matrix.resize(n, n);
  out.matrix.setFromTriplets(entries.begin(), entries.end());
  return out;
}

}  // namespace

Result<WeightRows> heatRows(const WeldedSurface& surface, const BoneSources& sources,
                            double heat_transfer, double min_weight, const Progress& progress) {
  const auto cancelled = [] { return Error{ErrorCode::Cancelled, "cancelled", {}}; };
  WeightRows rows(surface.size());
  const std::size_t n = surface.size();
  if (n == 0) return rows;
  if (!keepGoing(progress, 0.5, "factorising")) return cancelled();
  const HeatSystem system = heatSystem(surface, sources, heat_transfer);
  const Eigen::SimplicialLDLT<Sparse, Eigen::Lower> factor(system.matrix);
  // Cannot happen to a diagonally dominant matrix; but if so, the caller falls back.
  if (factor.info() != Eigen::Success) return rows;

  std::vector<std::vector<std::uint32_t>> welded_of_slot(surface.slot_count);
  for (std::uint32_t v = 0; v < n; ++v)
    for (const std::uint32_t slot : sources.slots[v]) welded_of_slot[slot].push_back(v);
  std::vector<std::uint32_t> used;
  for (std::uint32_t s = 0; s < surface.slot_count; ++s)
    if (!welded_of_slot[s].empty()) used.push_back(s);

  // A few bones at a time: 32 columns, or what fits 256 MB.
  const std::size_t batch = std::clamp<std::size_t>((std::size_t{32} << 20) / n, 1, 32);
  std::vector<Eigen::VectorXd> columns(batch);
  for (std::size_t first = 0; first < used.size(); first += batch) {
    const double share = static_cast<double>(first) / static_cast<double>(used.size());
    if (!keepGoing(progress, 0.6 + 0.4 * share, "spreading heat")) return cancelled();
    const std::size_t count = std::min(batch, used.size() - first);
    parallelFor(count, 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        Eigen::VectorXd right = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(n));
        for (const std::uint32_t v : welded_of_slot[used[first + i]])
          right[v] = system.inflow[v] / static_cast<double>(sources.slots[v].size());
        columns[i] = factor.solve(right);
      }
    });
    parallelFor(n, 1024, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v)
        for (std::size_t i = 0; i < count; ++i) {
          const double weight = std::min(columns[i][static_cast<Eigen::Index>(v)], 1.0);
          if (weight > 0 && weight >= min_weight)
            rows[v].push_back({used[first + i], static_cast<float>(weight)});
        }
    });
  }
  return rows;
}

}  // namespace derm::detail
