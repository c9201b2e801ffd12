#include "volume/volume_laplacian.h"

#include <algorithm>

#include "derm/mesh/adjacency.h"

namespace derm::detail {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

/// One term of C: entries of equal welded vertices are added together.
struct Coupling {
  std::uint32_t row, column;  // row <= column
  double amount;
};

}  // namespace

VolumeLaplacian::VolumeLaplacian(std::shared_ptr<const VolumeFields> fields,
                                 const MeasuredSurface& surface, LaplacianEnergy energy,
                                 double kappa)
    : fields_(std::move(fields)) {
  const std::span<const double> gamma = fields_->gamma();
  free_index_.assign(gamma.size(), kNone);
  for (std::uint32_t i = 0; i < gamma.size(); ++i)
    if (gamma[i] >= kMinGamma) {
      free_index_[i] = static_cast<std::uint32_t>(free_.size());
      free_.push_back(i);
    }
  buildCouplings(surface, energy, kappa);
  pattern_ = SparseLdl(free_.size(), entries_);
}

void VolumeLaplacian::buildCouplings(const MeasuredSurface& surface, LaplacianEnergy energy,
                                     double kappa) {
  const std::span<const double> gamma = fields_->gamma();
  const IndexLists neighbours = vertexNeighbours(
      std::span(surface.triangles).first(surface.ownTriangleCount()), surface.weldedCount());
  std::vector<Coupling> terms;
  const auto add = [&](std::uint32_t i, std::uint32_t j, double amount) {
    const std::uint32_t a = free_index_[i], b = free_index_[j];
    if (a != kNone && b != kNone) terms.push_back({std::min(a, b), std::max(a, b), amount});
  };
  for (const std::uint32_t i : free_) {
    add(i, i, 0);  // the diagonal is there even for kappa = 0
    const std::span<const std::uint32_t> around = neighbours[i];
    if (around.empty()) continue;
    const double n = static_cast<double>(around.size()), g = gamma[i];
    // Fixed neighbours do not move: they only enter through the diagonal.
    add(i, i, 1 / g);
    for (const std::uint32_t j : around) {
      add(i, j, -1 / (n * g));  // once for each side of the matrix, which is stored once
      if (energy == LaplacianEnergy::Developed) {
        add(j, j, 1 / (n * g));
        continue;
      }
      for (const std::uint32_t k : around)
        if (j <= k) add(j, k, 1 / (n * n * g));
    }
  }
  std::sort(terms.begin(), terms.end(), [](const Coupling& a, const Coupling& b) {
    return std::pair(a.row, a.column) < std::pair(b.row, b.column);
  });
  for (const Coupling& term : terms) {
    if (entries_.empty() || entries_.back().row != term.row ||
        entries_.back().column != term.column) {
      entries_.push_back({term.row, term.column});
      couplings_.push_back(0);
      springs_.push_back(term.row == term.column ? 2 / gamma[free_[term.row]] : 0);
    }
    couplings_.back() += 2 * kappa * term.amount;
  }
}

VolumeLaplacian::Scratch VolumeLaplacian::makeScratch() const {
  return {pattern_, std::vector<double>(entries_.size()), std::vector<double>(free_.size())};
}

void VolumeLaplacian::hessian(std::span<const Vec3d> normals,
                              std::span<double> values) const noexcept {
  for (std::size_t e = 0; e < entries_.size(); ++e)
    values[e] = springs_[e] + couplings_[e] * normals[free_[entries_[e].row]].dot(
                                                  normals[free_[entries_[e].column]]);
}

bool VolumeLaplacian::factorise(std::span<const Vec3d> normals, Scratch& scratch) const noexcept {
  hessian(normals, scratch.values);
  return scratch.factor.factorise(scratch.values);
}

void VolumeLaplacian::direction(std::uint32_t region, std::span<const Vec3d> normals,
                                std::span<const Vec3d> spread, Scratch& scratch,
                                std::span<double> out) const noexcept {
  const RegionRings& rings = fields_->rings();
  for (std::size_t f = 0; f < free_.size(); ++f) {
    const std::uint32_t i = free_[f];
    const std::span<const std::uint32_t> rows = rings.regionsOf(i);
    scratch.right[f] = 0;
    for (std::uint32_t k = 0; k < rows.size(); ++k)
      if (rows[k] == region) scratch.right[f] = normals[i].dot(spread[rings.firstEntry(i) + k]);
  }
  scratch.factor.solve(scratch.right);
  std::fill(out.begin(), out.end(), 0.0);
  for (std::size_t f = 0; f < free_.size(); ++f) out[free_[f]] = scratch.right[f];
}

void VolumeLaplacian::field(std::span<const Vec3d> normals, Scratch& scratch,
                            std::span<Vec3d> field) const noexcept {
  const RegionRings& rings = fields_->rings();
  for (std::size_t f = 0; f < free_.size(); ++f) {
    const std::uint32_t i = free_[f];
    scratch.right[f] =
        rings.regionsOf(i).empty() ? 0.0 : normals[i].dot(field[rings.firstEntry(i)]);
  }
  scratch.factor.solve(scratch.right);
  std::fill(field.begin(), field.end(), Vec3d(Vec3d::Zero()));
  for (std::size_t f = 0; f < free_.size(); ++f) {
    const std::uint32_t i = free_[f];
    if (!rings.regionsOf(i).empty()) field[rings.firstEntry(i)] = scratch.right[f] * normals[i];
  }
  fields_->meanOverBorders(field);
}

}  // namespace derm::detail
