#include "cast/head/head_cage.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "derm/base/parallel.h"

#include "cast/head/cage_builder.h"

namespace derm::detail::cast {
namespace {

/// Row of the guide columns that is left out: under the hair there is nothing to draw with it.
constexpr int kUnusedRow = 21;
constexpr int kCrownCells = 10;  // the ring around the crown is filled with 10 x 10 quads
constexpr double kAxisZ = -1;    // of the cylinder that columns are interpolated on

constexpr double SkinLabels::*kAllLabels[] = {
    &SkinLabels::clay,    &SkinLabels::rim,     &SkinLabels::eye_ring,
    &SkinLabels::eye_s,   &SkinLabels::eye_u,   &SkinLabels::mouth_ring,
    &SkinLabels::mouth_s, &SkinLabels::mouth_u, &SkinLabels::ear};

Vec3d mirrored(const Vec3d& p) { return {-p.x(), p.y(), p.z()}; }

using GridPoints = std::array<std::array<Vec3d, kGridRows + 1>, kHalfColumns + 1>;

/// Columns between the guides, interpolated by angle, radius and height.
GridPoints gridPoints(const HeadClay& clay) {
  const std::vector<GuideColumn>& guides = guideColumns();
  GridPoints out;
  for (int i = 0; i <= kHalfColumns; ++i) {
    std::size_t g = 1;
    while (guides[g].column < i) ++g;
    const GuideColumn &a = guides[g - 1], &b = guides[g];
    const double share = static_cast<double>(i - a.column) / (b.column - a.column);
    for (std::size_t j = 0; j <= kGridRows; ++j) {
      const auto polar = [&](const GuideColumn& guide) {
        const Vec3d& p = guide.points[j];
        const double angle =
            guide.column == kHalfColumns ? std::numbers::pi : std::atan2(p.x(), p.z() - kAxisZ);
        return Vec3d(angle, std::hypot(p.x(), p.z() - kAxisZ), p.y());
      };
      const Vec3d q = (1 - share) * polar(a) + share * polar(b);
      Vec3d p(q[1] * std::sin(q[0]), q[2], q[1] * std::cos(q[0]) + kAxisZ);
      if (i == 0 || i == kHalfColumns) p.x() = 0;
      out[static_cast<std::size_t>(i)][j] = clay.warped(p);
    }
  }
  return out;
}

class CageBuilder {
 public:
  CageBuilder(const HeadDesign& design, const HeadClay& clay)
      : clay_(clay), grid_(gridPoints(clay)) {
    addGrid();
    addCrown();
    cage_.eye_rings = addSides(eyePlan(design, clay), &SkinLabels::eye_ring, &SkinLabels::eye_s,
                               &SkinLabels::eye_u, 8);
    cage_.eye_places = places_;
    std::vector<Vec3d> outline;
    for (const auto& [i, j] : kEarBlock.outline()) outline.push_back(at(i, j));
    addSides(earPlan(design, clay, outline), &SkinLabels::ear, nullptr, nullptr, 8);
    addMouth(mouthPlan(design, clay));
    cage_.chin = vertex(0, 5);
    relax();
  }
  HeadCage finish() && { return std::move(cage_); }

 private:
  const Vec3d& at(int i, int j) const {
    return grid_[static_cast<std::size_t>(std::abs(i))][static_cast<std::size_t>(j)];
  }
  std::uint32_t add(const Vec3d& p, const SkinLabels& labels, double pin) {
    cage_.positions.push_back(p);
    cage_.labels.push_back(labels);
    cage_.mirror.push_back(static_cast<std::uint32_t>(cage_.mirror.size()));
    pins_.push_back(pin);
    rows_.push_back(-1);
    return cage_.mirror.back();
  }
  void addQuad(Quad q, SkinPart part, bool turned = false) {
    if (turned) std::reverse(q.begin(), q.end());
    cage_.quads.push_back(q);
    cage_.parts.push_back(part);
  }
  void pairUp(std::uint32_t a, std::uint32_t b) {
    cage_.mirror[a] = b;
    cage_.mirror[b] = a;
  }

  std::uint32_t vertex(int i, int j) {
    if (i == -kHalfColumns) i = kHalfColumns;
    const auto found = grid_vertices_.find({i, j});
    if (found != grid_vertices_.end()) return found->second;
    SkinLabels labels;
    labels.rim = j == 0 ? 1 : 0;
    const std::uint32_t v = add(i < 0 ? mirrored(at(i, j)) : at(i, j), labels, j == 0 ? 1 : 0);
    rows_[v] = j;
    grid_vertices_[{i, j}] = v;
    if (i != 0 && i != kHalfColumns) pairUp(v, vertex(-i, j));
    return v;
  }

  void addGrid() {
    for (int j = 0; j < kGridRows; ++j) {
      if (j == kUnusedRow) continue;
      const int above = j + 1 == kUnusedRow ? j + 2 : j + 1;
      for (int i = -kHalfColumns; i < kHalfColumns; ++i) {
        const int mirror_i = i < 0 ? -i - 1 : i;
        if (kMouthBlock.covers(i, j) || kEyeBlock.covers(mirror_i, j) ||
            kEarBlock.covers(mirror_i, j))
          continue;
        addQuad({vertex(i, j), vertex(i + 1, j), vertex(i + 1, above), vertex(i, above)},
                SkinPart::Face);
      }
    }
  }

  void addCrown() {
    constexpr int n = kCrownCells, half = n / 2;
    std::map<std::array<int, 2>, std::uint32_t> inside;
    const auto crown = [&](int a, int b) {  // a: right to left, b: front to back
      if (b == 0) return vertex(a, kGridRows);
      if (b == n) return vertex((kHalfColumns - std::abs(a)) * (a < 0 ? -1 : 1), kGridRows);
      if (std::abs(a) == half) return vertex((half + b) * (a < 0 ? -1 : 1), kGridRows);
      const auto found = inside.find({a, b});
      if (found != inside.end()) return found->second;
      const double m = static_cast<double>(std::abs(a)) / half, share = static_cast<double>(b) / n;
      const Vec3d middle = (1 - share) * at(0, kGridRows) + share * at(kHalfColumns, kGridRows);
      Vec3d p = (1 - m) * middle + m * at(half + b, kGridRows);
      p.x() *= a < 0 ? -1 : a > 0 ? 1 : 0;
      p.y() += 1.5 * (1 - m * m) * std::sin(std::numbers::pi * share);
      return inside[{a, b}] = add(p, {}, 0);
    };
    for (int b = 0; b < n; ++b)
      for (int a = -half; a < half; ++a)
        addQuad({crown(a, b), crown(a + 1, b), crown(a + 1, b + 1), crown(a, b + 1)},
                SkinPart::Face);
    for (const auto& [place, v] : inside) pairUp(v, inside.at({-place[0], place[1]}));
    cage_.crown = inside.at({0, half});
  }

  using Label = double SkinLabels::*;

  /// Fills a block on one side. Gives all vertices it made, in order, and the rings.
  std::vector<std::vector<std::uint32_t>> addBlock(const BlockPlan& plan, int side,
                                                   Label ring_label, Label s_label, Label u_label,
                                                   double fill_number,
                                                   std::vector<std::uint32_t>& made) {
    const std::vector<std::array<int, 2>> outline = plan.block.outline();
    const std::size_t n = outline.size();
    const auto placed = [&](const Vec3d& p) { return side < 0 ? mirrored(p) : p; };
    const auto mark = [&](SkinLabels& labels, double number, std::size_t k) {
      labels.*ring_label = number;
      if (!s_label) return;
      labels.*s_label = plan.places[k][0];
      labels.*u_label = plan.places[k][1];
    };
    std::vector<std::vector<std::uint32_t>> rings(1);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t v = vertex(outline[k][0] * side, outline[k][1]);
      if (!plan.outline.empty()) cage_.positions[v] = placed(plan.outline[k]);
      pins_[v] = plan.outline_pin;
      if (s_label) mark(cage_.labels[v], 0, k);
      rings[0].push_back(v);
    }
    for (const RingPlan& ring : plan.rings) {
      std::vector<std::uint32_t> inner;
      for (std::size_t k = 0; k < n; ++k) {
        SkinLabels labels;
        labels.clay = ring.clay;
        mark(labels, ring.number, k);
        inner.push_back(add(placed(ring.points[k]), labels, 1));
        made.push_back(inner.back());
      }
      for (std::size_t k = 0; k < n; ++k)
        addQuad({rings.back()[k], rings.back()[(k + 1) % n], inner[(k + 1) % n], inner[k]},
                ring.part, side < 0);
      rings.push_back(std::move(inner));
    }
    fill(plan, rings.back(), side, ring_label, fill_number, made);
    return rings;
  }

  /// Closes the last ring with a block of quads as large as the hole in the grid.
  void fill(const BlockPlan& plan, const std::vector<std::uint32_t>& ring, int side,
            Label ring_label, double number, std::vector<std::uint32_t>& made) {
    const int w = plan.block.last_column - plan.block.first_column;
    const int h = plan.block.last_row - plan.block.first_row;
    const GridBlock block{0, w, 0, h};
    std::map<std::array<int, 2>, std::uint32_t> ids;
    const auto outline = block.outline();
    for (std::size_t k = 0; k < outline.size(); ++k) ids[outline[k]] = ring[k];
    for (int i = 0; i <= w; ++i)
      for (int j = 0; j <= h; ++j) {
        if (ids.count({i, j})) continue;
        const double share = static_cast<double>(j) / h;
        const Vec3d low = cage_.positions[ids.at({i, 0})], high = cage_.positions[ids.at({i, h})];
        Vec3d p = low + share * (high - low);
        p.z() -= plan.sink * std::sin(std::numbers::pi * i / w);
        SkinLabels labels;
        labels.clay = 0;
        labels.*ring_label = number;
        made.push_back(ids[{i, j}] = add(p, labels, 1));
      }
    for (int i = 0; i < w; ++i)
      for (int j = 0; j < h; ++j)
        addQuad({ids.at({i, j}), ids.at({i + 1, j}), ids.at({i + 1, j + 1}), ids.at({i, j + 1})},
                plan.rings.back().part, side < 0);
  }

  std::vector<std::vector<std::uint32_t>> addSides(const BlockPlan& plan, Label ring_label,
                                                   Label s_label, Label u_label,
                                                   double fill_number) {
    std::vector<std::uint32_t> left, right;
    auto rings = addBlock(plan, 1, ring_label, s_label, u_label, fill_number, left);
    addBlock(plan, -1, ring_label, s_label, u_label, fill_number, right);
    for (std::size_t k = 0; k < left.size(); ++k) pairUp(left[k], right[k]);
    places_ = plan.places;
    return rings;
  }

  void addMouth(const BlockPlan& plan) {
    std::vector<std::uint32_t> made;
    cage_.mouth_rings = addBlock(plan, 1, &SkinLabels::mouth_ring, &SkinLabels::mouth_s,
                                 &SkinLabels::mouth_u, 9, made);
    cage_.mouth_places = plan.places;
    const auto outline = plan.block.outline();
    const std::size_t n = outline.size();
    std::map<std::array<int, 2>, std::size_t> index;
    for (std::size_t k = 0; k < n; ++k) index[outline[k]] = k;
    for (std::size_t r = 1; r < cage_.mouth_rings.size(); ++r)
      for (std::size_t k = 0; k < n; ++k)
        pairUp(cage_.mouth_rings[r][k],
               cage_.mouth_rings[r][index.at({-outline[k][0], outline[k][1]})]);
    // The fill: one row of vertices from right to left.
    const std::size_t first = plan.rings.size() * n, count = made.size() - first;
    for (std::size_t k = 0; k < count; ++k) pairUp(made[first + k], made[first + count - 1 - k]);
  }

  /// Spreads the grid evenly over the clay.
  void relax() {
    const std::size_t n = cage_.positions.size();
    std::vector<std::set<std::uint32_t>> around(n);
    for (const Quad& q : cage_.quads)
      for (std::size_t i = 0; i < 4; ++i) {
        around[q[i]].insert(q[(i + 1) % 4]);
        around[q[(i + 1) % 4]].insert(q[i]);
      }
    std::vector<Vec3d>& p = cage_.positions;
    parallelFor(n, 32, [&](std::size_t begin, std::size_t end) {
      for (std::size_t v = begin; v < end; ++v)
        if (cage_.labels[v].clay > .5) p[v] = clay_.projected(p[v], 8, rows_[v] == 0);
    });
    const std::vector<Vec3d> start = p;
    std::vector<Vec3d> next = p;
    for (int round = 0; round < 40; ++round) {
      parallelFor(n, 32, [&](std::size_t begin, std::size_t end) {
        for (std::size_t v = begin; v < end; ++v) {
          const double free = cage_.labels[v].clay > .5 ? 1 - pins_[v] : 0;
          if (free <= 0) continue;
          // Under the jaw rows must be free to slide: they are drawn too close together there.
          const double keep = rows_[v] >= 1 && rows_[v] <= 5 ? .04 : .25;
          Vec3d d = Vec3d::Zero();
          for (const std::uint32_t o : around[v]) d += p[o];
          d = d / static_cast<double>(around[v].size()) - p[v];
          const Vec3d normal = clay_.gradient(p[v]).normalized();
          d -= d.dot(normal) * normal;
          d += keep * (start[v] - p[v]);
          next[v] = clay_.projected(p[v] + 0.5 * free * d, 2, rows_[v] == 0);
        }
      });
      p = next;
    }
  }

  const HeadClay& clay_;
  GridPoints grid_;
  HeadCage cage_;
  std::vector<double> pins_;
  std::vector<int> rows_;  // of the grid, -1 elsewhere
  std::map<std::array<int, 2>, std::uint32_t> grid_vertices_;
  std::vector<std::array<double, 2>> places_;
};

}  // namespace

SkinLabels mean(std::span<const SkinLabels> labels) {
  SkinLabels out;
  for (const auto label : kAllLabels) {
    double sum = 0;
    for (const SkinLabels& l : labels) sum += l.*label;
    out.*label = sum / static_cast<double>(labels.size());
  }
  return out;
}

SkinLabels blended(const std::array<SkinLabels, 3>& corners, const Vec3d& shares) {
  SkinLabels out;
  for (const auto label : kAllLabels)
    out.*label = shares[0] * corners[0].*label + shares[1] * corners[1].*label +
                 shares[2] * corners[2].*label;
  return out;
}

std::vector<std::array<int, 2>> GridBlock::outline() const {
  std::vector<std::array<int, 2>> out;
  for (int i = first_column; i < last_column; ++i) out.push_back({i, first_row});
  for (int j = first_row; j < last_row; ++j) out.push_back({last_column, j});
  for (int i = last_column; i > first_column; --i) out.push_back({i, last_row});
  for (int j = last_row; j > first_row; --j) out.push_back({first_column, j});
  return out;
}

bool GridBlock::covers(int column, int row) const {
  return first_column <= column && column < last_column && first_row <= row && row < last_row;
}

HeadCage makeHeadCage(const HeadDesign& design, const HeadClay& clay) {
  return CageBuilder(design, clay).finish();
}

}  // namespace derm::detail::cast
