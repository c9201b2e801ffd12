#include "derm/math/sparse_ldl.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>

#include "derm/base/assert.h"

#include "math/dense_kernels.h"

namespace derm {
namespace {

using detail::kProductColumns;

constexpr std::uint32_t kNone = 0xFFFFFFFFu;

std::vector<std::uint32_t> minimumDegree(std::size_t size, std::span<const MatrixEntry> entries) {
  using Sparse = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;
  std::vector<Eigen::Triplet<double, int>> triplets;
  triplets.reserve(entries.size() * 2);
  for (const MatrixEntry& p : entries) {
    triplets.emplace_back(static_cast<int>(p.row), static_cast<int>(p.column), 1.0);
    triplets.emplace_back(static_cast<int>(p.column), static_cast<int>(p.row), 1.0);
  }
  Sparse pattern(static_cast<int>(size), static_cast<int>(size));
  pattern.setFromTriplets(triplets.begin(), triplets.end());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> order;
  Eigen::AMDOrdering<int>()(pattern.selfadjointView<Eigen::Lower>(), order);
  std::vector<std::uint32_t> new_of_old(size);
  for (std::size_t i = 0; i < size; ++i)  // Eigen gives the old index of each new one
    new_of_old[static_cast<std::size_t>(order.indices()[static_cast<int>(i)])] =
        static_cast<std::uint32_t>(i);
  return new_of_old;
}

/// Whether so many columns with so large a share of zeros are worth being one panel.
bool worthMerging(std::size_t width, double zeros) {
  return width <= 4 || (width <= 16 && zeros < 0.8) || (width <= 48 && zeros < 0.1) || zeros < 0.05;
}

}  // namespace

struct SparseLdl::Builder {
  SparseLdl& out;
  std::span<const MatrixEntry> entries;
  std::size_t size = out.new_of_old_.size();
  std::vector<std::uint32_t> parent, counts;             ///< elimination tree; column counts
  std::vector<std::uint32_t> upper_offsets, upper_rows;  ///< (i < k) of column k

  /// Elimination tree and column counts: walk from each entry of column k towards the root until a
  /// node already seen for k.
  void analyse();
  /// Renumbers so that every subtree's columns follow each other.
  void followTree();
  void findPanels();
  void listRows();
  void mapEntries();
};

void SparseLdl::Builder::analyse() {
  const std::vector<std::uint32_t>& order = out.new_of_old_;
  const auto column_of = [&](const MatrixEntry& p) {
    return std::max(order[p.row], order[p.column]);
  };
  upper_offsets.assign(size + 1, 0);
  upper_rows.assign(entries.size(), 0);
  for (const MatrixEntry& p : entries) ++upper_offsets[column_of(p) + 1];
  std::partial_sum(upper_offsets.begin(), upper_offsets.end(), upper_offsets.begin());
  std::vector<std::uint32_t> cursor(upper_offsets.begin(), upper_offsets.end() - 1);
  for (const MatrixEntry& p : entries)
    upper_rows[cursor[column_of(p)]++] = std::min(order[p.row], order[p.column]);
  parent.assign(size, kNone);
  counts.assign(size, 0);
  std::vector<std::uint32_t> seen(size, kNone);
  for (std::uint32_t k = 0; k < size; ++k) {
    seen[k] = k;
    for (std::uint32_t p = upper_offsets[k]; p < upper_offsets[k + 1]; ++p)
      for (std::uint32_t i = upper_rows[p]; seen[i] != k; i = parent[i]) {
        if (parent[i] == kNone) parent[i] = k;
        ++counts[i];
        seen[i] = k;
      }
  }
}

void SparseLdl::Builder::followTree() {
  std::vector<std::uint32_t> first_child(size, kNone), sibling(size, kNone), roots;
  for (std::uint32_t k = static_cast<std::uint32_t>(size); k-- > 0;) {
    if (parent[k] == kNone) {
      roots.push_back(k);
      continue;
    }
    sibling[k] = first_child[parent[k]];
    first_child[parent[k]] = k;
  }
  std::vector<std::uint32_t> renumbered(size), stack;
  std::uint32_t next = 0;
  for (auto root = roots.rbegin(); root != roots.rend(); ++root) {
    stack.push_back(*root);
    while (!stack.empty()) {
      const std::uint32_t k = stack.back();
      if (first_child[k] != kNone) {
        stack.push_back(first_child[k]);
        first_child[k] = sibling[first_child[k]];
      } else {
        renumbered[k] = next++;
        stack.pop_back();
      }
    }
  }
  for (std::uint32_t& n : out.new_of_old_) n = renumbered[n];
}

void SparseLdl::Builder::findPanels() {
  // Columns whose rows are those of the next one and themselves.
  std::vector<std::uint32_t> firsts;
  for (std::uint32_t k = 0; k < size; ++k)
    if (k == 0 || parent[k - 1] != k || counts[k - 1] != counts[k] + 1) firsts.push_back(k);
  // Each panel with its parent, where that begins right behind it, from the last to the first.
  struct Range {
    std::uint32_t first, end, rows;
    double zeros;
  };
  std::vector<Range> kept;  // the last is the one behind
  for (std::size_t s = firsts.size(); s-- > 0;) {
    const std::uint32_t first = firsts[s];
    const std::uint32_t end =
        s + 1 < firsts.size() ? firsts[s + 1] : static_cast<std::uint32_t>(size);
    const Range here{first, end, counts[first] + 1, 0};
    const double width = end - first;
    if (!kept.empty() && parent[end - 1] != kNone && parent[end - 1] < kept.back().end) {
      Range& behind = kept.back();
      const double all_columns = width + (behind.end - behind.first);
      const double all_rows = width + behind.rows;
      const double zeros = behind.zeros + width * (behind.rows - (here.rows - width));
      const double stored =
          all_columns * (all_columns + 1) / 2 + all_columns * (all_rows - all_columns);
      if (worthMerging(static_cast<std::size_t>(all_columns), zeros / stored)) {
        behind = {first, behind.end, static_cast<std::uint32_t>(all_rows), zeros};
        continue;
      }
    }
    kept.push_back(here);
  }
  std::reverse(kept.begin(), kept.end());
  out.panel_of_column_.resize(size);
  for (const Range& r : kept) {
    for (std::uint32_t k = r.first; k < r.end; ++k)
      out.panel_of_column_[k] = static_cast<std::uint32_t>(out.panels_.size());
    out.panels_.push_back({.first = r.first, .width = r.end - r.first});
  }
}

void SparseLdl::Builder::listRows() {
  std::vector<std::vector<std::uint32_t>> below(out.panels_.size());
  for (std::uint32_t k = 0; k < size; ++k)
    for (std::uint32_t p = upper_offsets[k]; p < upper_offsets[k + 1]; ++p) {
      const std::uint32_t s = out.panel_of_column_[upper_rows[p]];
      if (out.panel_of_column_[k] != s && (below[s].empty() || below[s].back() != k))
        below[s].push_back(k);
    }
  for (std::uint32_t s = 0; s < out.panels_.size(); ++s) {
    Panel& panel = out.panels_[s];
    std::vector<std::uint32_t>& rows = below[s];
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (!rows.empty()) {  // all but the next panel's own columns go on to it
      const std::uint32_t to = out.panel_of_column_[rows[0]];
      for (const std::uint32_t r : rows)
        if (out.panel_of_column_[r] != to) below[to].push_back(r);
    }
    panel.first_row = static_cast<std::uint32_t>(out.rows_.size());
    panel.row_count = panel.width + static_cast<std::uint32_t>(rows.size());
    panel.first_entry = out.entries_.size();
    for (std::uint32_t k = 0; k < panel.width; ++k) out.rows_.push_back(panel.first + k);
    out.rows_.insert(out.rows_.end(), rows.begin(), rows.end());
    out.entries_.resize(panel.first_entry + std::size_t{panel.width} * panel.row_count);
    out.block_stride_ = std::max<std::size_t>(out.block_stride_, panel.row_count);
    out.factors_.resize(std::max<std::size_t>(out.factors_.size(), panel.width * kProductColumns));
    rows = {};
  }
  out.factor_entries_ = out.entries_.size();
  out.entries_.resize(out.factor_entries_ + detail::kProductPadding);
  out.block_stride_ += detail::kProductPadding;
}

void SparseLdl::Builder::mapEntries() {
  for (const MatrixEntry& p : entries) {
    const std::uint32_t a = out.new_of_old_[p.row], b = out.new_of_old_[p.column];
    const std::uint32_t column = std::min(a, b), row = std::max(a, b);
    const Panel& panel = out.panels_[out.panel_of_column_[column]];
    const auto first = out.rows_.begin() + panel.first_row;
    const auto at = std::lower_bound(first, first + panel.row_count, row) - first;
    out.stored_at_.push_back(panel.first_entry +
                             std::size_t{column - panel.first} * panel.row_count +
                             static_cast<std::size_t>(at));
  }
}

SparseLdl::SparseLdl(std::size_t size, std::span<const MatrixEntry> entries)
    : new_of_old_(minimumDegree(size, entries)), diagonal_(size, 1) {
  Builder build{*this, entries};
  build.analyse();
  build.followTree();
  build.analyse();
  build.findPanels();
  build.listRows();
  build.mapEntries();
  work_.resize(size + block_stride_);
  block_.resize(block_stride_ * kProductColumns);
  position_.resize(size);
  waiting_.resize(2 * panels_.size());
  next_row_.resize(panels_.size());
}

void SparseLdl::multiply(const Panel& panel, std::uint32_t depth, std::uint32_t row,
                         std::uint32_t count) noexcept {
  const double* const entries = entries_.data() + panel.first_entry;
  for (std::uint32_t t = 0; t < depth; ++t)
    for (std::uint32_t k = 0; k < kProductColumns; ++k)
      factors_[t * kProductColumns + k] =
          k < count
              ? entries[std::size_t{t} * panel.row_count + row + k] * diagonal_[panel.first + t]
              : 0.0;
  detail::multiplyColumns(entries + row, panel.row_count, panel.row_count - row, depth,
                          factors_.data(), block_.data(), block_stride_);
}

/// Rows [begin, end) of a finished panel are columns of `to`, whose rows are in position_.
void SparseLdl::takeFrom(const Panel& from, std::uint32_t begin, std::uint32_t end,
                         const Panel& to) noexcept {
  const std::uint32_t* const rows = rows_.data() + from.first_row;
  for (std::uint32_t row = begin; row < end; row += kProductColumns) {
    const std::uint32_t count = std::min<std::uint32_t>(kProductColumns, end - row);
    multiply(from, from.width, row, count);
    for (std::uint32_t k = 0; k < count; ++k) {
      double* const column =
          entries_.data() + to.first_entry + std::size_t{rows[row + k] - to.first} * to.row_count;
      const double* const product = block_.data() + k * block_stride_;
      for (std::uint32_t i = row + k; i < from.row_count; ++i)
        column[position_[rows[i]]] -= product[i - row];
    }
  }
}

/// Factorises a panel that has taken all it had to take.
bool SparseLdl::finish(const Panel& panel) noexcept {
  double* const entries = entries_.data() + panel.first_entry;
  const std::size_t stride = panel.row_count;
  for (std::uint32_t first = 0; first < panel.width; first += kProductColumns) {
    const std::uint32_t last = std::min<std::uint32_t>(panel.width, first + kProductColumns);
    if (first > 0) multiply(panel, first, first, last - first);
    for (std::uint32_t j = first; j < last; ++j) {
      double* const column = entries + j * stride;
      if (first > 0)
        detail::addScaled(-1, block_.data() + (j - first) * block_stride_ + (j - first), column + j,
                          stride - j);
      for (std::uint32_t t = first; t < j; ++t)
        detail::addScaled(-entries[t * stride + j] * diagonal_[panel.first + t],
                          entries + t * stride + j, column + j, stride - j);
      const double pivot = column[j];
      if (!(pivot > 0) || !std::isfinite(pivot)) return false;
      diagonal_[panel.first + j] = pivot;
      column[j] = 1;
      const double inverse = 1 / pivot;
      for (std::size_t i = j + 1; i < stride; ++i) column[i] *= inverse;
    }
  }
  return true;
}

bool SparseLdl::factorise(std::span<const double> values) noexcept {
  DERM_REQUIRE(values.size() == stored_at_.size());
  std::fill(entries_.begin(), entries_.end(), 0.0);
  for (std::size_t n = 0; n < values.size(); ++n) entries_[stored_at_[n]] += values[n];
  // Panels wait, in chains, for the panel whose columns their next rows are.
  const std::span<std::uint32_t> first_waiting = std::span(waiting_).first(panels_.size());
  const std::span<std::uint32_t> next_waiting = std::span(waiting_).subspan(panels_.size());
  std::fill(first_waiting.begin(), first_waiting.end(), kNone);
  const auto wait = [&](std::uint32_t p) {
    const Panel& panel = panels_[p];
    if (next_row_[p] == panel.row_count) return;
    std::uint32_t& chain = first_waiting[panel_of_column_[rows_[panel.first_row + next_row_[p]]]];
    next_waiting[p] = chain;
    chain = p;
  };
  for (std::uint32_t s = 0; s < panels_.size(); ++s) {
    const Panel& panel = panels_[s];
    const std::uint32_t end = panel.first + panel.width;
    for (std::uint32_t i = 0; i < panel.row_count; ++i) position_[rows_[panel.first_row + i]] = i;
    for (std::uint32_t p = first_waiting[s]; p != kNone;) {
      const std::uint32_t after = next_waiting[p], begin = next_row_[p];
      const Panel& from = panels_[p];
      std::uint32_t& next = next_row_[p];
      while (next < from.row_count && rows_[from.first_row + next] < end) ++next;
      takeFrom(from, begin, next, panel);
      wait(p);
      p = after;
    }
    if (!finish(panel)) return false;
    next_row_[s] = panel.width;
    wait(s);
  }
  return true;
}

void SparseLdl::solve(std::span<double> x) noexcept {
  DERM_REQUIRE(x.size() == size());
  double* const y = work_.data();
  double* const below = y + x.size();
  for (std::size_t i = 0; i < x.size(); ++i) y[new_of_old_[i]] = x[i];
  for (const Panel& panel : panels_) {
    const std::uint32_t count = panel.row_count - panel.width;
    const std::uint32_t* const rows = rows_.data() + panel.first_row + panel.width;
    std::fill_n(below, count, 0.0);
    for (std::uint32_t j = 0; j < panel.width; ++j) {
      const double* const column =
          entries_.data() + panel.first_entry + std::size_t{j} * panel.row_count;
      const double value = y[panel.first + j];
      detail::addScaled(-value, column + j + 1, y + panel.first + j + 1, panel.width - j - 1);
      detail::addScaled(-value, column + panel.width, below, count);
    }
    for (std::uint32_t i = 0; i < count; ++i) y[rows[i]] += below[i];
  }
  for (std::size_t s = panels_.size(); s-- > 0;) {
    const Panel& panel = panels_[s];
    const std::uint32_t count = panel.row_count - panel.width;
    const std::uint32_t* const rows = rows_.data() + panel.first_row + panel.width;
    for (std::uint32_t i = 0; i < count; ++i) below[i] = y[rows[i]];
    for (std::uint32_t j = panel.width; j-- > 0;) {
      const double* const column =
          entries_.data() + panel.first_entry + std::size_t{j} * panel.row_count;
      double& value = y[panel.first + j];
      value = value / diagonal_[panel.first + j] -
              detail::dotProduct(column + j + 1, y + panel.first + j + 1, panel.width - j - 1) -
              detail::dotProduct(column + panel.width, below, count);
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[new_of_old_[i]];
}

}  // namespace derm
