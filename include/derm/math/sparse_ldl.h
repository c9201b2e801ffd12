#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace derm {

/// One place of a symmetric matrix that may be non-zero; each unordered pair once, diagonal
/// included.
struct MatrixPlace {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// Solves A x = b for a symmetric positive definite A whose pattern stays and whose numbers change:
/// the pattern is ordered and analysed once, factorise() and solve() allocate nothing.
///
/// Method: A = P^T L D L^T P, P by approximate minimum degree (Eigen's), L row by row along the
/// elimination tree (up-looking; Davis, "Algorithm 849", 2005; written anew). Eigen's own
/// SimplicialLDLT does the same arithmetic but allocates in every factorize().
/// Cost: O(sum of squared column counts); memory 12 bytes per entry of L.
///
/// The pattern is immutable; copy the object to factorise on several threads.
class SparseLdl {
 public:
  SparseLdl() = default;
  /// Requires row, column < size; places in any order.
  SparseLdl(std::size_t size, std::span<const MatrixPlace> places);

  std::size_t size() const { return parent_.size(); }
  std::size_t factorEntries() const { return rows_.size(); }

  /// `values` in the order of the places given. False where a pivot is not positive and finite:
  /// then the matrix is not positive definite and solve() must not be called.
  bool factorise(std::span<const double> values) noexcept;
  /// In place: `x` is b before and the solution after.
  void solve(std::span<double> x) noexcept;

 private:
  std::vector<std::uint32_t> new_of_old_;
  std::vector<std::uint32_t> parent_;         ///< elimination tree
  std::vector<std::uint32_t> upper_offsets_;  ///< permuted A: entries (i <= k) of column k
  std::vector<std::uint32_t> upper_rows_;
  std::vector<std::uint32_t> upper_source_;  ///< which value
  std::vector<std::uint32_t> offsets_;       ///< columns of L below the diagonal
  std::vector<std::uint32_t> rows_;
  std::vector<double> entries_;
  std::vector<double> diagonal_;
  std::vector<double> work_;
  std::vector<std::uint32_t> filled_, flag_, path_;
};

}  // namespace derm
