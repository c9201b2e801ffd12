#include "cast/surface.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace derm::detail::cast {
namespace {

constexpr int kBlock = 6;  // cells along a block's side

/// The six tetrahedra of a cube, as paths from corner 0 to corner 7 (bit 0 = x, 1 = y, 2 = z), all
/// with the same, positive, orientation.
constexpr std::array<std::array<int, 4>, 6> kTetrahedra = {
    {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7}, {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}}};

class Polygoniser {
 public:
  Polygoniser(const Sculpt& sculpt, const Grid& grid) : sculpt_(sculpt), cell_(grid.cell) {
    low_ = grid.low;
    if (grid.half) low_.x() = 0;
    for (int axis = 0; axis < 3; ++axis)
      cells_[axis] =
          std::max(1, static_cast<int>(std::ceil((grid.high[axis] - low_[axis]) / cell_)));
    const std::size_t nodes = static_cast<std::size_t>(cells_[0] + 1) *
                              static_cast<std::size_t>(cells_[1] + 1) *
                              static_cast<std::size_t>(cells_[2] + 1);
    values_.assign(nodes, std::numeric_limits<double>::quiet_NaN());
  }

  Surface run() {
    for (int z = 0; z < cells_[2]; z += kBlock)
      for (int y = 0; y < cells_[1]; y += kBlock)
        for (int x = 0; x < cells_[0]; x += kBlock)
          if (mayCross({x, y, z})) runBlock({x, y, z});
    return std::move(out_);
  }

 private:
  using Cell = std::array<int, 3>;

  Vec3d at(const Cell& c) const { return low_ + cell_ * Vec3d(c[0], c[1], c[2]); }

  std::size_t node(const Cell& c) const {
    return (static_cast<std::size_t>(c[2]) * static_cast<std::size_t>(cells_[1] + 1) +
            static_cast<std::size_t>(c[1])) *
               static_cast<std::size_t>(cells_[0] + 1) +
           static_cast<std::size_t>(c[0]);
  }

  double value(const Cell& c) {
    double& v = values_[node(c)];
    if (std::isnan(v)) v = sculpt_.distance(at(c));
    return v;
  }

  /// The field is not quite a distance, hence the margin.
  bool mayCross(const Cell& c) const {
    const double half = 0.5 * kBlock * cell_;
    const Vec3d centre = at(c) + Vec3d::Constant(half);
    return std::abs(sculpt_.distance(centre)) < 1.6 * std::sqrt(3.0) * half;
  }

  void runBlock(const Cell& c) {
    for (int z = c[2]; z < std::min(c[2] + kBlock, cells_[2]); ++z)
      for (int y = c[1]; y < std::min(c[1] + kBlock, cells_[1]); ++y)
        for (int x = c[0]; x < std::min(c[0] + kBlock, cells_[0]); ++x) runCell({x, y, z});
  }

  void runCell(const Cell& c) {
    std::array<Cell, 8> corner;
    std::array<double, 8> d;
    int inside = 0;
    for (int i = 0; i < 8; ++i) {
      corner[i] = {c[0] + (i & 1), c[1] + ((i >> 1) & 1), c[2] + ((i >> 2) & 1)};
      d[i] = value(corner[i]);
      inside += d[i] < 0;
    }
    if (inside == 0 || inside == 8) return;
    for (const std::array<int, 4>& t : kTetrahedra)
      runTetrahedron({corner[t[0]], corner[t[1]], corner[t[2]], corner[t[3]]},
                     {d[t[0]], d[t[1]], d[t[2]], d[t[3]]});
  }

  void runTetrahedron(const std::array<Cell, 4>& c, const std::array<double, 4>& d) {
    // Even permutations with each corner first, and with each pair first.
    static constexpr int kFirst[4][4] = {{0, 1, 2, 3}, {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    static constexpr int kPairs[6][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2},
                                         {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 3, 0, 1}};
    int mask = 0;
    for (int i = 0; i < 4; ++i) mask |= (d[i] < 0) << i;
    const auto cut = [&](int i, int j) { return vertex(c[i], d[i], c[j], d[j]); };
    for (const auto& p : kFirst) {
      if (mask == 1 << p[0])
        out_.triangles.push_back({cut(p[0], p[1]), cut(p[0], p[2]), cut(p[0], p[3])});
      else if (mask == 15 - (1 << p[0]))
        out_.triangles.push_back({cut(p[0], p[1]), cut(p[0], p[3]), cut(p[0], p[2])});
    }
    for (const auto& p : kPairs) {
      if (mask != (1 << p[0] | 1 << p[1])) continue;
      const std::uint32_t a = cut(p[0], p[2]), b = cut(p[0], p[3]), e = cut(p[1], p[3]),
                          f = cut(p[1], p[2]);
      out_.triangles.push_back({a, b, e});
      out_.triangles.push_back({a, e, f});
    }
    out_.materials.resize(out_.triangles.size(), 0);
  }

  std::uint32_t vertex(const Cell& c, double dc, const Cell& e, double de) {
    std::size_t low = node(c), high = node(e);
    if (low > high) std::swap(low, high);
    // Two nodes of one cube differ by at most one in each direction, so seven bits tell them apart.
    const int direction =
        std::abs(c[0] - e[0]) + 2 * std::abs(c[1] - e[1]) + 4 * std::abs(c[2] - e[2]);
    const auto [found, is_new] =
        vertices_.try_emplace(low * 8 + static_cast<std::size_t>(direction),
                              static_cast<std::uint32_t>(out_.positions.size()));
    // Kept off the corners, so that no triangle is degenerate; remeshing projects later.
    if (is_new)
      out_.positions.push_back(at(c) + std::clamp(dc / (dc - de), 0.1, 0.9) * (at(e) - at(c)));
    return found->second;
  }

  const Sculpt& sculpt_;
  double cell_;
  Vec3d low_;
  std::array<int, 3> cells_{};
  std::vector<double> values_;
  std::unordered_map<std::size_t, std::uint32_t> vertices_;
  Surface out_;
};

}  // namespace

Surface polygonised(const Sculpt& sculpt, const Grid& grid) {
  return Polygoniser(sculpt, grid).run();
}

void cutRegion(Surface& surface, const Region& region) {
  std::vector<double> value(surface.positions.size());
  for (std::size_t v = 0; v < value.size(); ++v)
    value[v] = region.inside.distance(surface.positions[v]);
  std::unordered_map<std::uint64_t, std::uint32_t> cuts;
  const auto cut = [&](std::uint32_t a, std::uint32_t b) {
    if (a > b) std::swap(a, b);
    const auto [found, is_new] = cuts.try_emplace(
        std::uint64_t{a} << 32 | b, static_cast<std::uint32_t>(surface.positions.size()));
    if (is_new) {
      const double t = std::clamp(value[a] / (value[a] - value[b]), 0.1, 0.9);
      surface.positions.push_back(surface.positions[a] +
                                  t * (surface.positions[b] - surface.positions[a]));
    }
    return found->second;
  };
  const std::size_t before = surface.triangles.size();
  for (std::size_t t = 0; t < before; ++t) {
    const Triangle old = surface.triangles[t];
    const int outer = surface.materials[t];
    int inside = 0;
    for (int i = 0; i < 3; ++i) inside |= (value[old[i]] < 0) << i;
    if (inside == 7) surface.materials[t] = region.material;
    if (inside == 0 || inside == 7) continue;
    // Rotate the corner that is alone on its side to the front.
    const bool alone_inside = inside == 1 || inside == 2 || inside == 4;
    const int alone_bit = alone_inside ? inside : 7 - inside;
    const int first = alone_bit == 1 ? 0 : alone_bit == 2 ? 1 : 2;
    const std::uint32_t a = old[first], b = old[(first + 1) % 3], c = old[(first + 2) % 3];
    const std::uint32_t ab = cut(a, b), ca = cut(c, a);
    surface.triangles[t] = {a, ab, ca};
    surface.materials[t] = alone_inside ? region.material : outer;
    const int other = alone_inside ? outer : region.material;
    surface.triangles.push_back({ab, b, c});
    surface.triangles.push_back({ab, c, ca});
    surface.materials.insert(surface.materials.end(), 2, other);
  }
}

Surface mirrored(const Surface& half, std::vector<std::uint32_t>& mirror_of) {
  Surface whole = half;
  mirror_of.resize(half.positions.size());
  for (std::size_t v = 0; v < half.positions.size(); ++v) {
    const Vec3d& p = half.positions[v];
    if (p.x() == 0) {
      mirror_of[v] = static_cast<std::uint32_t>(v);
      continue;
    }
    mirror_of[v] = static_cast<std::uint32_t>(whole.positions.size());
    whole.positions.push_back(Vec3d(-p.x(), p.y(), p.z()));
    mirror_of.push_back(static_cast<std::uint32_t>(v));
  }
  for (std::size_t t = 0; t < half.triangles.size(); ++t) {
    const Triangle& f = half.triangles[t];
    whole.triangles.push_back({mirror_of[f[0]], mirror_of[f[2]], mirror_of[f[1]]});
    whole.materials.push_back(half.materials[t]);
  }
  return whole;
}

}  // namespace derm::detail::cast
