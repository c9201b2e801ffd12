#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace derm {

/// One entry of a symmetric matrix that may be non-zero; each unordered pair once, diagonal
/// included.
struct MatrixEntry {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// Solves A x = b for a symmetric positive definite A whose pattern stays and whose numbers change:
/// the pattern is ordered and analysed once, factorise() and solve() allocate nothing.
///
/// Method: A = P^T L D L^T P, P by approximate minimum degree (Eigen's) and then along the
/// elimination tree. Columns of L with nearly the same rows follow each other and are kept as one
/// dense panel (supernodes, merged where that adds few zeros; Chen, Davis, Hager, Rajamanickam,
/// "Algorithm 887", 2008; written anew), so that almost all work is products of dense blocks, in
/// kernels for the CPU's instruction set. Panels are finished from left to right, each taking what
/// those before it have for it. Three to five times as fast as row by row on surfaces of 10k
/// points; Eigen's own SimplicialLDLT goes column by column and allocates in every factorize().
/// Cost: O(sum of squared column counts); memory 8 bytes per entry of the panels.
///
/// The pattern is immutable; copy the object to factorise on several threads.
class SparseLdl {
 public:
  SparseLdl() = default;
  /// Requires row, column < size; entries in any order.
  SparseLdl(std::size_t size, std::span<const MatrixEntry> entries);

  std::size_t size() const { return new_of_old_.size(); }
  /// Numbers in panels, zeros included.
  std::size_t factorEntries() const { return factor_entries_; }

  /// `values` in the order of the entries given. False where a pivot is not positive and finite:
  /// then the matrix is not positive definite and solve() must not be called.
  bool factorise(std::span<const double> values) noexcept;
  /// In place: `x` is b before and the solution after.
  void solve(std::span<double> x) noexcept;

 private:
  /// Columns [first, first + width) of L, of the rows rows_[first_row .. first_row + row_count):
  /// its own columns, then those below, ascending. Column by column in entries_.
  struct Panel {
    std::uint32_t first = 0, width = 0;
    std::uint32_t first_row = 0, row_count = 0;
    std::size_t first_entry = 0;
  };
  struct Builder;

  void takeFrom(const Panel& from, std::uint32_t begin, std::uint32_t end,
                const Panel& to) noexcept;
  bool finish(const Panel& panel) noexcept;
  /// Products of rows [row, row + count) of a panel with its rows from `row` on, to block_.
  void multiply(const Panel& panel, std::uint32_t depth, std::uint32_t row,
                std::uint32_t count) noexcept;

  std::vector<std::uint32_t> new_of_old_;
  std::vector<Panel> panels_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint32_t> panel_of_column_;
  std::vector<std::size_t> stored_at_;  ///< where values go
  std::vector<double> entries_;
  std::size_t factor_entries_ = 0;
  std::vector<double> diagonal_;
  // Work space.
  std::vector<double> work_, block_, factors_;
  std::size_t block_stride_ = 0;
  std::vector<std::uint32_t> position_;            ///< of a row in the panel at hand
  std::vector<std::uint32_t> waiting_, next_row_;  ///< per panel: who comes next, and from where on
};

}  // namespace derm
