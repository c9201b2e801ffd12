#include "face/maps/spline_alignment.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/assert.h"
#include "derm/math/sparse_ldl.h"

#include "face/maps/height_fit.h"

namespace derm::detail::maps {
namespace {

/// Blur of detail and of what counts as slow, per spacing; from rough to fine.
struct AlignmentStage {
  int spacing;
  double detail_px, slow_px;
  int steps;
};
constexpr std::array<AlignmentStage, 4> kStages = {
    AlignmentStage{128, 4, 32, 5}, AlignmentStage{128, 2, 16, 5}, AlignmentStage{64, 2, 16, 5},
    AlignmentStage{64, 1, 8, 5}};
constexpr float kBlack = 0.005f;
constexpr int kBorder_px = 3;

using Four = std::array<double, 4>;

Four splineWeights(double t) {
  const double s = 1 - t;
  return {s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (3 * s * s * s - 6 * s * s + 4) / 6,
          t * t * t / 6};
}

Plane logOf(const Plane& v) {
  Plane out = v;
  forRows(v.height, [&](int y) {
    float* row = out.row(y);
    for (int x = 0; x < v.width; ++x) row[x] = std::log(row[x] > kBlack ? row[x] : kBlack);
  });
  return out;
}

Plane bandPass(const Plane& v, double detail_px, double slow_px) {
  Plane out = blurred(v, detail_px);
  const Plane slow = blurred(v, slow_px);
  forRows(v.height,
          [&](int y) { RowMap(out.row(y), v.width) -= ConstRowMap(slow.row(y), v.width); });
  return out;
}

/// Second differences of neighbouring control points, as lists of three with weights 1 -2 1 and of
/// four with 1 -1 -1 1.
struct Penalty {
  std::array<std::uint32_t, 4> point;
  Four weight;
};

std::vector<Penalty> penalties(int columns, int rows) {
  std::vector<Penalty> out;
  const auto at = [&](int c, int r) { return static_cast<std::uint32_t>(r * columns + c); };
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) {
      if (c + 2 < columns)
        out.push_back({{at(c, r), at(c + 1, r), at(c + 2, r), at(c, r)}, {1, -2, 1, 0}});
      if (r + 2 < rows)
        out.push_back({{at(c, r), at(c, r + 1), at(c, r + 2), at(c, r)}, {1, -2, 1, 0}});
      if (c + 1 < columns && r + 1 < rows)
        out.push_back({{at(c, r), at(c + 1, r), at(c, r + 1), at(c + 1, r + 1)},
                       {std::sqrt(2.0), -std::sqrt(2.0), -std::sqrt(2.0), std::sqrt(2.0)}});
    }
  return out;
}

/// Sums over the pixels of one square between control points: products of the 16 weights there.
struct CellSums {
  std::array<double, 16 * 16> xx{}, xy{}, yy{};
  std::array<double, 16> x{}, y{};
};

/// One Gauss-Newton step of all control points.
class Solver {
 public:
  Solver(int columns, int rows) : columns_(columns), penalties_(penalties(columns, rows)) {
    // Unknowns alternate x and y of a control point. Every point knows those up to three away.
    std::vector<MatrixEntry> entries;
    const std::size_t n = static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows);
    slot_.assign(n * kNeighbours, kNone);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < columns; ++c)
        for (int dr = 0; dr <= kReach; ++dr)
          for (int dc = -kReach; dc <= kReach; ++dc) {
            if (dr == 0 && dc < 0) continue;
            if (c + dc < 0 || c + dc >= columns || r + dr >= rows) continue;
            const auto a = static_cast<std::uint32_t>(r * columns + c);
            const auto b = static_cast<std::uint32_t>((r + dr) * columns + c + dc);
            slot_[a * kNeighbours + neighbour(dc, dr)] = static_cast<std::uint32_t>(entries.size());
            entries.push_back({2 * b, 2 * a});
            entries.push_back({2 * b + 1, 2 * a});
            entries.push_back({2 * b, 2 * a + 1});  // for a = b it would be twice
            entries.push_back({2 * b + 1, 2 * a + 1});
            if (a == b) entries.erase(entries.end() - 2);
          }
    matrix_ = SparseLdl(2 * n, entries);
    values_.resize(entries.size());
    right_.resize(2 * n);
  }

  void clear() {
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(right_.begin(), right_.end(), 0.0);
  }

  void add(int cell_column, int cell_row, const CellSums& sums) {
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t a = point(cell_column + i % 4, cell_row + i / 4);
      right_[2 * a] += sums.x[static_cast<std::size_t>(i)];
      right_[2 * a + 1] += sums.y[static_cast<std::size_t>(i)];
      for (int j = 0; j < 16; ++j) {
        const int dc = j % 4 - i % 4, dr = j / 4 - i / 4;
        if (dr < 0 || (dr == 0 && dc < 0)) continue;
        const auto ij = static_cast<std::size_t>(16 * i + j);
        const std::size_t at = slot_[a * kNeighbours + neighbour(dc, dr)];
        values_[at] += sums.xx[ij];
        values_[at + 1] += sums.xy[ij];
        if (i != j) values_[at + 2] += sums.xy[ij];
        values_[at + (i != j ? 3u : 2u)] += sums.yy[ij];
      }
    }
  }

  /// Adds the smoothness of the whole field and takes one step. False where nothing can be told.
  bool step(std::vector<double>& x, std::vector<double>& y) {
    const std::size_t n = x.size();
    double mean = 0;
    for (std::size_t a = 0; a < n; ++a) {
      const std::size_t at = slot_[a * kNeighbours + neighbour(0, 0)];
      mean += values_[at] + values_[at + 2];
    }
    mean /= static_cast<double>(2 * n);
    if (!(mean > 0)) return false;
    const double smooth = 1e-3 * mean, ridge = 1e-6 * mean;
    for (const Penalty& p : penalties_) {
      double bent_x = 0, bent_y = 0;
      for (std::size_t i = 0; i < 4; ++i) {
        bent_x += p.weight[i] * x[p.point[i]];
        bent_y += p.weight[i] * y[p.point[i]];
      }
      for (std::size_t i = 0; i < 4; ++i) {
        if (p.weight[i] == 0) continue;
        right_[2 * p.point[i]] -= smooth * p.weight[i] * bent_x;
        right_[2 * p.point[i] + 1] -= smooth * p.weight[i] * bent_y;
        for (std::size_t j = 0; j < 4; ++j) {
          if (p.weight[j] == 0 || p.point[j] < p.point[i]) continue;
          const int dc = column(p.point[j]) - column(p.point[i]);
          const int dr = row(p.point[j]) - row(p.point[i]);
          const std::size_t at = slot_[p.point[i] * kNeighbours + neighbour(dc, dr)];
          const double v = smooth * p.weight[i] * p.weight[j];
          values_[at] += v;
          values_[at + (i != j ? 3u : 2u)] += v;
        }
      }
    }
    for (std::size_t a = 0; a < n; ++a) {
      const std::size_t at = slot_[a * kNeighbours + neighbour(0, 0)];
      values_[at] += ridge;
      values_[at + 2] += ridge;
    }
    if (!matrix_.factorise(values_)) return false;
    matrix_.solve(right_);
    for (std::size_t a = 0; a < n; ++a) {
      x[a] += right_[2 * a];
      y[a] += right_[2 * a + 1];
    }
    return true;
  }

 private:
  static constexpr int kReach = 3;
  static constexpr std::size_t kNeighbours = (kReach + 1) * (2 * kReach + 1);
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

  static std::size_t neighbour(int dc, int dr) {
    return static_cast<std::size_t>(dr * (2 * kReach + 1) + dc + kReach);
  }
  std::uint32_t point(int c, int r) const { return static_cast<std::uint32_t>(r * columns_ + c); }
  int column(std::uint32_t p) const { return static_cast<int>(p) % columns_; }
  int row(std::uint32_t p) const { return static_cast<int>(p) / columns_; }

  int columns_;
  std::vector<Penalty> penalties_;
  std::vector<std::uint32_t> slot_;
  SparseLdl matrix_;
  std::vector<double> values_, right_;
};

/// Sums of one square: along rows first, then down, as the weights are products.
CellSums sumCell(int column, int row, int spacing, const std::vector<Four>& weights,
                 const Plane& gx, const Plane& gy, const Plane& error, const Plane& weight) {
  const int x0 = column * spacing, y0 = row * spacing;
  const int x1 = std::min(x0 + spacing, gx.width), y1 = std::min(y0 + spacing, gx.height);
  CellSums sums;
  for (int y = y0; y < y1; ++y) {
    std::array<double, 16> xx{}, xy{}, yy{};
    Four sx{}, sy{};
    for (int x = x0; x < x1; ++x) {
      const auto w = static_cast<double>(weight.at(x, y));
      if (w == 0) continue;
      const auto a = static_cast<double>(gx.at(x, y)), b = static_cast<double>(gy.at(x, y));
      const auto e = static_cast<double>(error.at(x, y));
      const Four& u = weights[static_cast<std::size_t>(x - x0)];
      const double waa = w * a * a, wab = w * a * b, wbb = w * b * b;
      for (std::size_t i = 0; i < 4; ++i) {
        sx[i] += u[i] * w * a * e;
        sy[i] += u[i] * w * b * e;
        for (std::size_t k = i; k < 4; ++k) {
          const double uu = u[i] * u[k];
          xx[4 * i + k] += uu * waa;
          xy[4 * i + k] += uu * wab;
          yy[4 * i + k] += uu * wbb;
        }
      }
    }
    const Four& v = weights[static_cast<std::size_t>(y - y0)];
    for (std::size_t j = 0; j < 4; ++j)
      for (std::size_t i = 0; i < 4; ++i) {
        sums.x[4 * j + i] += v[j] * sx[i];
        sums.y[4 * j + i] += v[j] * sy[i];
        for (std::size_t l = 0; l < 4; ++l)
          for (std::size_t k = 0; k < 4; ++k) {
            const std::size_t pair = 4 * std::min(i, k) + std::max(i, k);
            const std::size_t at = 16 * (4 * j + i) + 4 * l + k;
            const double vv = v[j] * v[l];
            sums.xx[at] += vv * xx[pair];
            sums.xy[at] += vv * xy[pair];
            sums.yy[at] += vv * yy[pair];
          }
      }
  }
  return sums;
}

void mapAll(const SplineField& field, const CoarseMap& coarse, Plane& x, Plane& y) {
  forRows(x.height, [&](int r) {
    std::vector<float> dx(static_cast<std::size_t>(x.width)), dy = dx;
    field.row(r, dx, dy);
    const auto n = static_cast<std::size_t>(x.width);
    coarse(r, dx, dy, {x.row(r), n}, {y.row(r), n});
  });
}

}  // namespace

SplineField::SplineField(int width, int height, int spacing)
    : width_(width), height_(height), spacing_(spacing) {
  columns_ = (width + spacing - 1) / spacing + 3;
  rows_ = (height + spacing - 1) / spacing + 3;
  x_.assign(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), 0.0);
  y_ = x_;
}

SplineField SplineField::refined() const {
  SplineField out(width_, height_, spacing_ / 2);
  // Knot insertion: control points at old ones get 1 6 1 / 8, those between 4 4 / 8.
  const auto refine = [&](const std::vector<double>& from, std::vector<double>& to) {
    const auto old = [&](int c, int r) {
      return from[static_cast<std::size_t>(std::clamp(r, 0, rows_ - 1) * columns_ +
                                           std::clamp(c, 0, columns_ - 1))];
    };
    // Control point i stands at (i - 1) spacings: of the new ones, i = 2 k - 1 stands on old k.
    const auto taps = [](int i) {
      const int k = (i + 1) / 2;
      return (i + 1) % 2 == 0 ? std::pair{k - 1, std::array<double, 3>{0.125, 0.75, 0.125}}
                              : std::pair{k, std::array<double, 3>{0.5, 0.5, 0.0}};
    };
    for (int r = 0; r < out.rows_; ++r)
      for (int c = 0; c < out.columns_; ++c) {
        const auto [c0, wc] = taps(c);
        const auto [r0, wr] = taps(r);
        double sum = 0;
        for (int j = 0; j < 3; ++j)
          for (int i = 0; i < 3; ++i)
            sum += wc[static_cast<std::size_t>(i)] * wr[static_cast<std::size_t>(j)] *
                   old(c0 + i, r0 + j);
        to[static_cast<std::size_t>(r * out.columns_ + c)] = sum;
      }
  };
  refine(x_, out.x_);
  refine(y_, out.y_);
  return out;
}

void SplineField::row(int y, std::span<float> dx, std::span<float> dy) const {
  const int r = y / spacing_;
  const Four v = splineWeights(static_cast<double>(y - r * spacing_) / spacing_);
  std::vector<double> ax(static_cast<std::size_t>(columns_)), ay = ax;
  for (std::size_t j = 0; j < 4; ++j)
    for (int c = 0; c < columns_; ++c) {
      const auto at = static_cast<std::size_t>((r + static_cast<int>(j)) * columns_ + c);
      ax[static_cast<std::size_t>(c)] += v[j] * x_[at];
      ay[static_cast<std::size_t>(c)] += v[j] * y_[at];
    }
  for (int x = 0; x < static_cast<int>(dx.size()); ++x) {
    const auto c = static_cast<std::size_t>(x / spacing_);
    const Four u = splineWeights(static_cast<double>(x % spacing_) / spacing_);
    dx[static_cast<std::size_t>(x)] =
        static_cast<float>(u[0] * ax[c] + u[1] * ax[c + 1] + u[2] * ax[c + 2] + u[3] * ax[c + 3]);
    dy[static_cast<std::size_t>(x)] =
        static_cast<float>(u[0] * ay[c] + u[1] * ay[c + 1] + u[2] * ay[c + 2] + u[3] * ay[c + 3]);
  }
}

AlignmentResult alignDense(const Plane& neutral, const Plane& other, const Plane& weight,
                           const CoarseMap& coarse, const std::function<bool(double)>& progress) {
  const int w = neutral.width, h = neutral.height;
  const Plane log_neutral = logOf(neutral), log_other = logOf(other);
  AlignmentResult result;
  result.x = result.y = result.dx = result.dy = Plane(w, h);
  SplineField field(w, h, kStages[0].spacing);
  int steps = 0, done = 0;
  for (const AlignmentStage& stage : kStages) steps += stage.steps;
  for (const AlignmentStage& stage : kStages) {
    if (stage.spacing < field.spacing()) field = field.refined();
    const Plane f0 = bandPass(log_neutral, stage.detail_px, stage.slow_px);
    const Plane f1 = bandPass(log_other, stage.detail_px, stage.slow_px);
    Solver solver(field.columns(), field.rows());
    std::vector<Four> weights;
    for (int i = 0; i < stage.spacing; ++i)
      weights.push_back(splineWeights(static_cast<double>(i) / stage.spacing));
    const int cells_x = field.columns() - 3, cells_y = field.rows() - 3;
    for (int step = 0; step < stage.steps; ++step) {
      mapAll(field, coarse, result.x, result.y);
      Plane error(w, h), mean(w, h), counts(w, h);
      const auto inside = [](float at, int size) {
        return at >= 0 && at <= static_cast<float>(size - 1);
      };
      forRows(h, [&](int y) {
        for (int x = 0; x < w; ++x) {
          const float px = result.x.at(x, y), py = result.y.at(x, y);
          const float warped = sampleCubic(f1, px, py), own = f0.at(x, y);
          error.row(y)[x] = own - warped;
          mean.row(y)[x] = 0.5f * (own + warped);
          const bool keep = x >= kBorder_px && y >= kBorder_px && x < w - kBorder_px &&
                            y < h - kBorder_px && inside(px, other.width) &&
                            inside(py, other.height);
          counts.row(y)[x] = keep ? weight.at(x, y) : 0.0f;
        }
      });
      const Plane slow = blurred(error, counts, stage.slow_px, 0);
      forRows(h, [&](int y) { RowMap(error.row(y), w) -= ConstRowMap(slow.row(y), w); });
      const float deviation = robustDeviation(error, &counts);
      result.residual = static_cast<double>(deviation);
      if (deviation > 0) {
        const float per = 1 / (2 * deviation);
        forRows(h, [&](int y) {
          RowMap(counts.row(y), w) *=
              (1 + (per * ConstRowMap(error.row(y), w)).square()).square().inverse();
        });
        const Plane gx = slopesAcross(mean), gy = slopesDown(mean);
        std::vector<CellSums> sums(static_cast<std::size_t>(cells_x * cells_y));
        parallelFor(sums.size(), 1, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i)
            sums[i] = sumCell(static_cast<int>(i) % cells_x, static_cast<int>(i) / cells_x,
                              stage.spacing, weights, gx, gy, error, counts);
        });
        solver.clear();
        for (std::size_t i = 0; i < sums.size(); ++i)
          solver.add(static_cast<int>(i) % cells_x, static_cast<int>(i) / cells_x, sums[i]);
        solver.step(field.x(), field.y());
      }
      if (progress && !progress(static_cast<double>(++done) / steps)) {
        result.cancelled = true;
        return result;
      }
    }
  }
  mapAll(field, coarse, result.x, result.y);
  forRows(h, [&](int y) {
    const auto n = static_cast<std::size_t>(w);
    field.row(y, {result.dx.row(y), n}, {result.dy.row(y), n});
  });
  return result;
}

}  // namespace derm::detail::maps
