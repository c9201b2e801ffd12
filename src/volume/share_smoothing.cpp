#include "volume/share_smoothing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace derm::detail {
namespace {

struct Entry {
  std::uint32_t row, column;
  double share;
};

/// One column at a time, in full-length arrays of which only the reached part is touched.
class ColumnAverager {
 public:
  ColumnAverager(const IndexLists& neighbours, std::size_t rows)
      : neighbours_(neighbours), now_(rows, 0.0), next_(rows, 0.0), reached_(rows, 0) {}

  void start(std::span<const Entry> column) {
    for (const Entry& e : column) {
      now_[e.row] = e.share;
      reach(e.row);
    }
    front_begin_ = 0;
  }

  void pass() {
    // Those reached in the last pass bring in their neighbours.
    const std::size_t front_end = list_.size();
    for (std::size_t i = front_begin_; i < front_end; ++i)
      for (const std::uint32_t n : neighbours_[list_[i]]) reach(n);
    front_begin_ = front_end;
    for (const std::uint32_t v : list_) {
      double sum = 0;
      for (const std::uint32_t n : neighbours_[v]) sum += now_[n];
      const std::size_t count = neighbours_[v].size();
      next_[v] = count == 0 ? now_[v] : 0.5 * (now_[v] + sum / static_cast<double>(count));
    }
    std::swap(now_, next_);
  }

  void finish(std::uint32_t column, double min_share, std::vector<Entry>& out) {
    for (const std::uint32_t v : list_) {
      if (now_[v] >= min_share) out.push_back({v, column, now_[v]});
      now_[v] = next_[v] = 0;
      reached_[v] = 0;
    }
    list_.clear();
  }

 private:
  void reach(std::uint32_t v) {
    if (reached_[v]) return;
    reached_[v] = 1;
    list_.push_back(v);
  }

  const IndexLists& neighbours_;
  std::vector<double> now_, next_;
  std::vector<char> reached_;
  std::vector<std::uint32_t> list_;
  std::size_t front_begin_ = 0;
};

ShareRows toRows(std::vector<Entry>& entries, std::size_t row_count) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  ShareRows out;
  std::size_t e = 0;
  for (std::size_t r = 0; r < row_count; ++r) {
    const std::size_t first = e;
    double sum = 0;
    for (; e < entries.size() && entries[e].row == r; ++e) sum += entries[e].share;
    for (std::size_t k = first; k < e; ++k) {
      out.columns.push_back(entries[k].column);
      out.shares.push_back(e - first == 1 ? 1.0 : entries[k].share / sum);
    }
    out.offsets.push_back(static_cast<std::uint32_t>(out.columns.size()));
  }
  return out;
}

}  // namespace

ShareRows averaged(const ShareRows& rows, std::size_t column_count, const IndexLists& neighbours,
                   int passes, double min_share) {
  std::vector<Entry> by_column;
  for (std::size_t r = 0; r < rows.rowCount(); ++r)
    for (std::size_t k = 0; k < rows.columnsOf(r).size(); ++k)
      by_column.push_back(
          {static_cast<std::uint32_t>(r), rows.columnsOf(r)[k], rows.sharesOf(r)[k]});
  std::stable_sort(by_column.begin(), by_column.end(),
                   [](const Entry& a, const Entry& b) { return a.column < b.column; });
  ColumnAverager averager(neighbours, rows.rowCount());
  std::vector<Entry> out;
  std::size_t at = 0;
  for (std::uint32_t c = 0; c < column_count; ++c) {
    const std::size_t first = at;
    while (at < by_column.size() && by_column[at].column == c) ++at;
    averager.start(std::span(by_column).subspan(first, at - first));
    for (int p = 0; p < passes; ++p) averager.pass();
    averager.finish(c, min_share, out);
  }
  return toRows(out, rows.rowCount());
}

ShareRows quantised(const ShareRows& rows) {
  constexpr double kWhole = 1 << 20;
  ShareRows out;
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < rows.rowCount(); ++r) {
    const auto columns = rows.columnsOf(r);
    const auto shares = rows.sharesOf(r);
    order.resize(columns.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return shares[a] > shares[b]; });
    if (order.size() > kMaxShares) order.resize(kMaxShares);
    double sum = 0, left = kWhole;
    for (const std::size_t k : order) sum += shares[k];
    const std::size_t largest = order.empty() ? 0 : order.front();
    std::sort(order.begin(), order.end());
    for (const std::size_t k : order) {
      const double parts = std::round(kWhole * shares[k] / sum);
      if (parts == 0) continue;
      out.columns.push_back(columns[k]);
      out.shares.push_back(parts / kWhole);
      left -= parts;
    }
    for (std::size_t e = out.offsets.back(); e < out.columns.size(); ++e)
      if (out.columns[e] == columns[largest]) out.shares[e] += left / kWhole;
    out.offsets.push_back(static_cast<std::uint32_t>(out.columns.size()));
  }
  return out;
}

}  // namespace derm::detail
