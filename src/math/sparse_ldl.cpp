#include "derm/math/sparse_ldl.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include "derm/base/assert.h"

namespace derm {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

std::vector<std::uint32_t> minimumDegree(std::size_t size, std::span<const MatrixPlace> places) {
  using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(places.size() * 2);
  for (const MatrixPlace& p : places) {
    entries.emplace_back(static_cast<int>(p.row), static_cast<int>(p.column), 1.0);
    entries.emplace_back(static_cast<int>(p.column), static_cast<int>(p.row), 1.0);
  }
  Sparse pattern(static_cast<int>(size), static_cast<int>(size));
  pattern.setFromTriplets(entries.begin(), entries.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern.selfadjointView<Eigen::Lower>(), order);
  std::vector<std::uint32_t> new_of_old(size);
  for (std::size_t i = 0; i < size; ++i)  // Eigen gives the old index of each new one
    new_of_old[static_cast<std::size_t>(order.indices()[static_cast<int>(i)])] =
        static_cast<std::uint32_t>(i);
  return new_of_old;
}

}  // namespace

SparseLdl::SparseLdl(std::size_t size, std::span<const MatrixPlace> places)
    : new_of_old_(minimumDegree(size, places)),
      parent_(size, kNone),
      upper_offsets_(size + 1, 0),
      upper_rows_(places.size()),
      upper_source_(places.size()),
      offsets_(size + 1, 0),
      diagonal_(size, 1),
      work_(size, 0),
      filled_(size, 0),
      flag_(size, kNone),
      path_(size, 0) {
  const auto columnOf = [&](const MatrixPlace& p) {
    return std::max(new_of_old_[p.row], new_of_old_[p.column]);
  };
  for (const MatrixPlace& p : places) ++upper_offsets_[columnOf(p) + 1];
  std::partial_sum(upper_offsets_.begin(), upper_offsets_.end(), upper_offsets_.begin());
  std::vector<std::uint32_t> cursor(upper_offsets_.begin(), upper_offsets_.end() - 1);
  for (std::uint32_t n = 0; n < places.size(); ++n) {
    const std::uint32_t at = cursor[columnOf(places[n])]++;
    upper_rows_[at] = std::min(new_of_old_[places[n].row], new_of_old_[places[n].column]);
    upper_source_[at] = n;
  }
  // Elimination tree and column counts: walk from each entry of column k towards the root until a
  // node already seen for k.
  std::vector<std::uint32_t> counts(size, 0);
  for (std::uint32_t k = 0; k < size; ++k) {
    flag_[k] = k;
    for (std::uint32_t p = upper_offsets_[k]; p < upper_offsets_[k + 1]; ++p)
      for (std::uint32_t i = upper_rows_[p]; flag_[i] != k; i = parent_[i]) {
        if (parent_[i] == kNone) parent_[i] = k;
        ++counts[i];
        flag_[i] = k;
      }
  }
  for (std::size_t k = 0; k < size; ++k) offsets_[k + 1] = offsets_[k] + counts[k];
  rows_.resize(offsets_.back());
  entries_.resize(offsets_.back());
}

bool SparseLdl::factorise(std::span<const double> values) noexcept {
  DERM_REQUIRE(values.size() == upper_source_.size());
  const auto size = static_cast<std::uint32_t>(parent_.size());
  std::fill(flag_.begin(), flag_.end(), kNone);
  std::fill(filled_.begin(), filled_.end(), 0u);
  std::fill(work_.begin(), work_.end(), 0.0);
  for (std::uint32_t k = 0; k < size; ++k) {
    // The pattern of row k of L, in topological order, ends up in path_[top .. size).
    std::uint32_t top = size;
    flag_[k] = k;
    for (std::uint32_t p = upper_offsets_[k]; p < upper_offsets_[k + 1]; ++p) {
      std::uint32_t i = upper_rows_[p];
      work_[i] += values[upper_source_[p]];
      std::uint32_t length = 0;
      for (; flag_[i] != k; i = parent_[i]) {
        path_[length++] = i;
        flag_[i] = k;
      }
      while (length > 0) path_[--top] = path_[--length];
    }
    double pivot = work_[k];
    work_[k] = 0;
    for (; top < size; ++top) {
      const std::uint32_t i = path_[top];
      const double y = work_[i];
      work_[i] = 0;
      const std::uint32_t begin = offsets_[i], end = begin + filled_[i];
      for (std::uint32_t p = begin; p < end; ++p) work_[rows_[p]] -= entries_[p] * y;
      const double l = y / diagonal_[i];
      pivot -= l * y;
      rows_[end] = k;
      entries_[end] = l;
      ++filled_[i];
    }
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    diagonal_[k] = pivot;
  }
  return true;
}

void SparseLdl::solve(std::span<double> x) noexcept {
  DERM_REQUIRE(x.size() == parent_.size());
  const std::size_t size = x.size();
  for (std::size_t i = 0; i < size; ++i) work_[new_of_old_[i]] = x[i];
  for (std::size_t k = 0; k < size; ++k) {
    const double y = work_[k];
    for (std::uint32_t p = offsets_[k]; p < offsets_[k + 1]; ++p)
      work_[rows_[p]] -= entries_[p] * y;
  }
  for (std::size_t k = size; k-- > 0;) {
    double y = work_[k] / diagonal_[k];
    for (std::uint32_t p = offsets_[k]; p < offsets_[k + 1]; ++p)
      y -= entries_[p] * work_[rows_[p]];
    work_[k] = y;
  }
  for (std::size_t i = 0; i < size; ++i) x[i] = work_[new_of_old_[i]];
}

}  // namespace derm
