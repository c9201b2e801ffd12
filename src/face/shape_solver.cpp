#include "face/shape_solver.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/base/assert.h"

namespace derm::detail {
namespace {

constexpr std::uint32_t kNoRow = 0xFFFFFFFFu;
/// A donor's triangle with a smaller share of the target's area says nothing about stretch: a
/// registration folded it.
constexpr double kSmallestShare = 0.04;
/// Nor does one that is this much larger.
constexpr double kLargestShare = 25;

/// Two edges and the normal, which grows as edges do (Sumner, Popovic 2004, section 3).
Mat3d frameOf(const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const Vec3d normal = (b - a).cross(c - a);
  Mat3d frame;
  frame.col(0) = b - a;
  frame.col(1) = c - a;
  const double length = normal.norm();
  frame.col(2) = length > 0 ? Vec3d(normal / std::sqrt(length)) : Vec3d::Zero();
  return frame;
}

}  // namespace

ShapeSolver::ShapeSolver(const WeldedMesh& mesh, std::span<const Counterpart> rest,
                         const Desc& desc)
    : mesh_(mesh), desc_(desc) {
  const std::size_t n = mesh.pointCount();
  row_of_point_.assign(n, kNoRow);
  std::uint32_t rows = 0;
  for (std::size_t p = 0; p < n; ++p)
    if (mesh.pieces.of_vertex[p] == desc.piece) row_of_point_[p] = rows++;

  std::vector<double> areas(n, 0.0);
  double total = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (mesh.flat[t] || row_of_point_[mesh.triangles[t][0]] == kNoRow) continue;
    Element e;
    e.corners = mesh.triangles[t];
    const Vec3d &a = mesh.positions[e.corners[0]], &b = mesh.positions[e.corners[1]],
                &c = mesh.positions[e.corners[2]];
    const Vec3d normal = (b - a).cross(c - a);
    const double twice = normal.norm();
    e.area = twice / 2;
    total += e.area;
    // Slivers have gradients beyond all bounds; the others around them hold their corners.
    const double longest =
        std::max({(b - a).squaredNorm(), (c - b).squaredNorm(), (a - c).squaredNorm()});
    if (!(twice > 1e-6 * longest)) continue;
    const Vec3d unit = normal / twice;
    e.gradients = {Vec3d(unit.cross(c - b) / twice), Vec3d(unit.cross(a - c) / twice),
                   Vec3d(unit.cross(b - a) / twice)};
    const Counterpart &ra = rest[e.corners[0]], &rb = rest[e.corners[1]], &rc = rest[e.corners[2]];
    if (desc.use_gradients && ra.found && rb.found && rc.found) {
      const Mat3d frame = frameOf(ra.position, rb.position, rc.position);
      const double donor_area = frame.col(0).cross(frame.col(1)).norm() / 2;
      const double donor_longest = std::max({frame.col(0).squaredNorm(), frame.col(1).squaredNorm(),
                                             (frame.col(1) - frame.col(0)).squaredNorm()});
      e.found = donor_area > kSmallestShare * e.area && donor_area < kLargestShare * e.area &&
                donor_area > 0.01 * donor_longest &&
                frame.col(0).cross(frame.col(1)).dot(normal) > 0;
      if (e.found) e.inverse_frame = frame.inverse();
    }
    for (const std::uint32_t p : e.corners) areas[p] += e.area / 3;
    elements_.push_back(e);
  }

  weights_.assign(n, 0.0);
  const double gradient = 1 / (desc.gradient_length_m * desc.gradient_length_m);
  const double fade = 1 / (desc.fade_length_m * desc.fade_length_m);
  for (std::size_t p = 0; p < n; ++p)
    if (row_of_point_[p] != kNoRow)
      // Points without area (all their triangles are slivers) still need an equation.
      weights_[p] = std::max(areas[p], 1e-9 * total) * (rest[p].found ? gradient : fade);

  std::vector<MatrixEntry> entries;
  std::vector<double> values;
  struct Term {
    std::uint32_t row = 0, column = 0;
    double value = 0;
  };
  std::vector<Term> terms;
  terms.reserve(elements_.size() * 6 + rows);
  for (std::size_t p = 0; p < n; ++p)
    if (row_of_point_[p] != kNoRow)
      terms.push_back({row_of_point_[p], row_of_point_[p], weights_[p]});
  for (const Element& e : elements_)
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k <= i; ++k) {
        const std::uint32_t row = row_of_point_[e.corners[i]], column = row_of_point_[e.corners[k]];
        terms.push_back({std::max(row, column), std::min(row, column),
                         e.area * e.gradients[i].dot(e.gradients[k])});
      }
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  for (const Term& t : terms) {
    if (entries.empty() || entries.back().row != t.row || entries.back().column != t.column) {
      entries.push_back({t.row, t.column});
      values.push_back(0);
    }
    values.back() += t.value;
  }
  matrix_ = SparseLdl(rows, entries);
  const bool positive = matrix_.factorise(values);
  DERM_REQUIRE(positive);  // gradients' Gram matrix plus a positive diagonal
}

std::vector<Vec3d> ShapeSolver::solve(std::span<const Counterpart> shape) {
  const std::size_t rows = matrix_.size();
  std::vector<double> right(3 * rows, 0.0);
  bool moves = false;
  for (const Counterpart& c : shape) moves = moves || !c.displacement.isZero(0);
  std::vector<Vec3d> out(mesh_.pointCount(), Vec3d::Zero());
  if (!moves) return out;
  const auto add = [&](std::uint32_t point, const Vec3d& value) {
    for (std::size_t axis = 0; axis < 3; ++axis)
      right[axis * rows + row_of_point_[point]] += value[static_cast<int>(axis)];
  };
  for (std::uint32_t p = 0; p < out.size(); ++p)
    if (row_of_point_[p] != kNoRow && shape[p].found) add(p, weights_[p] * shape[p].displacement);
  for (const Element& e : elements_) {
    if (!e.found) {
      // Without the donor's gradients: those of its displacements, as they are.
      if (!shape[e.corners[0]].found || !shape[e.corners[1]].found || !shape[e.corners[2]].found)
        continue;
      Mat3d gradient = Mat3d::Zero();
      for (std::size_t i = 0; i < 3; ++i)
        gradient += shape[e.corners[i]].displacement * e.gradients[i].transpose();
      for (std::size_t i = 0; i < 3; ++i) add(e.corners[i], e.area * (gradient * e.gradients[i]));
      continue;
    }
    const auto at = [&](int i) -> Vec3d {
      return shape[e.corners[i]].position + shape[e.corners[i]].displacement;
    };
    const Mat3d change = frameOf(at(0), at(1), at(2)) * e.inverse_frame - Mat3d::Identity();
    for (int i = 0; i < 3; ++i) add(e.corners[i], e.area * (change * e.gradients[i]));
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    matrix_.solve(std::span(right).subspan(axis * rows, rows));
  for (std::uint32_t p = 0; p < out.size(); ++p)
    if (const std::uint32_t row = row_of_point_[p]; row != kNoRow)
      out[p] = Vec3d(right[row], right[rows + row], right[2 * rows + row]);
  return out;
}

}  // namespace derm::detail
