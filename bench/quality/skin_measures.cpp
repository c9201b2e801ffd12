#include "quality/skin_measures.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace derm::quality {
namespace {

constexpr double kFoldedCosine = -0.8660254037844386;  // 150 degrees between normals
constexpr double kUnits = 1370;                        // root of a grown-up's skin area [mm]
constexpr float kBefore = 0.2f;  // [units] skin counts as inside by the point so far before it
constexpr float kCell = 15;      // [units] of the grid in which crossing triangles are looked for

/// Where the edges of one triangle pierce another: the ends of their common segment.
void pierced(const std::array<Vec3d, 3>& edges, const std::array<Vec3d, 3>& face,
             std::vector<Vec3d>& out) {
  const Vec3d n = Vec3d(face[1] - face[0]).cross(Vec3d(face[2] - face[0]));
  for (std::size_t k = 0; k < 3; ++k) {
    const Vec3d a = edges[k], b = edges[(k + 1) % 3];
    const double da = n.dot(a - face[0]), db = n.dot(b - face[0]);
    if ((da < 0) == (db < 0)) continue;
    const Vec3d p = a + (b - a) * (da / (da - db));
    bool in = true;
    for (std::size_t e = 0; e < 3 && in; ++e)
      in = n.dot(Vec3d(face[(e + 1) % 3] - face[e]).cross(Vec3d(p - face[e]))) >= 0;
    if (in) out.push_back(p);
  }
}

}  // namespace

SkinMeasures::SkinMeasures(const TriMesh& mesh) {
  Diagnostics notes;
  surface_ = makeMeasuredSurface(mesh.positions, mesh.triangles, "quality", notes);
  own_ = std::span(surface_.triangles).first(surface_.ownTriangleCount());
  columns_ = WindingColumns(own_.size());
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first;
  for (std::uint32_t t = 0; t < own_.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const auto edge = std::minmax(own_[t][k], own_[t][(k + 1) % 3]);
      const auto [at, is_new] = first.emplace(edge, t);
      if (is_new)
        edges_.push_back({edge.first, edge.second});
      else
        beside_.push_back({at->second, t});
    }
  take(mesh.positions);
  for (const Vec3f& n : normals_) area_ += double{n.norm()} / 2;
  unit_ = static_cast<float>(std::sqrt(area_) / kUnits);
  double mean = 0;
  for (const auto& [a, b] : edges_) {
    rest_lengths_.push_back((points_[a] - points_[b]).norm());
    mean += double{rest_lengths_.back()} / static_cast<double>(edges_.size());
  }
  for (float& length : rest_lengths_)
    if (double{length} < 0.1 * mean) length = 0;
  const auto rest = windings();
  rest_inside_.assign(rest.begin(), rest.end());
  for (const Cut& cut : cuts()) rest_cuts_.push_back(cut.pair);
  std::sort(rest_cuts_.begin(), rest_cuts_.end());
}

void SkinMeasures::take(std::span<const Vec3f> positions) {
  std::vector<Vec3d> points(surface_.pointCount());
  measurePoints(surface_, positions, Vec3d::Zero(), points);
  points_.resize(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) points_[p] = points[p].cast<float>();
  normals_.resize(own_.size());
  for (std::size_t t = 0; t < own_.size(); ++t) {
    const Triangle& c = own_[t];
    normals_[t] = Vec3f(points_[c[1]] - points_[c[0]]).cross(Vec3f(points_[c[2]] - points_[c[0]]));
  }
}

int SkinMeasures::turnedAgainst(const std::vector<Vec3f>& others) const {
  int count = 0;
  for (std::size_t t = 0; t < own_.size(); ++t) count += normals_[t].dot(others[t]) < 0;
  return count;
}

int SkinMeasures::foldedEdges() const {
  int count = 0;
  for (const auto& [a, b] : beside_) {
    const double length = double{normals_[a].norm()} * double{normals_[b].norm()};
    count += length > 0 && double{normals_[a].dot(normals_[b])} < kFoldedCosine * length;
  }
  return count;
}

double SkinMeasures::inside() {
  const auto now = windings();
  double sum = 0;
  for (std::size_t t = 0; t < own_.size(); ++t)
    if (now[t] >= 1 && now[t] > rest_inside_[t]) sum += double{normals_[t].norm()} / 2;
  return 1000 * sum / area_;
}

double SkinMeasures::curves() const {
  double sum = 0;
  for (const Cut& cut : cuts())
    if (!std::binary_search(rest_cuts_.begin(), rest_cuts_.end(), cut.pair)) sum += cut.length;
  return sum / std::sqrt(area_);
}

double SkinMeasures::worstStretch() const {
  double worst = 0;
  for (std::size_t e = 0; e < edges_.size(); ++e)
    if (rest_lengths_[e] > 0)
      worst = std::max(worst, double{(points_[edges_[e][0]] - points_[edges_[e][1]]).norm()} /
                                  double{rest_lengths_[e]});
  return worst;
}

std::span<const std::int32_t> SkinMeasures::windings() {
  columns_.clear();
  for (std::size_t t = 0; t < own_.size(); ++t) {
    const Triangle& c = own_[t];
    const float length = normals_[t].norm();
    const Vec3f middle = (points_[c[0]] + points_[c[1]] + points_[c[2]]) / 3;
    columns_.add(length > 0 ? Vec3f(middle + normals_[t] * (kBefore * unit_ / length)) : middle);
  }
  return columns_.evaluate(points_, surface_.triangles);
}

std::vector<SkinMeasures::Cut> SkinMeasures::cuts() const {
  // Triangles by the cells of a grid that their boxes touch. A pair is looked at in the first cell
  // that both touch.
  const float cell = kCell * unit_;
  using Cell = std::array<std::int32_t, 3>;
  const auto cell_of = [&](const Vec3f& p) {
    Cell out;
    for (std::size_t k = 0; k < 3; ++k)
      out[k] = static_cast<std::int32_t>(
          std::clamp(std::floor(p[static_cast<int>(k)] / cell), -1e6f, 1e6f));
    return out;
  };
  std::vector<Vec3f> lows(own_.size()), highs(own_.size());
  std::vector<std::pair<Cell, std::uint32_t>> entries;
  for (std::uint32_t t = 0; t < own_.size(); ++t) {
    const Triangle& c = own_[t];
    lows[t] = points_[c[0]].cwiseMin(points_[c[1]]).cwiseMin(points_[c[2]]);
    highs[t] = points_[c[0]].cwiseMax(points_[c[1]]).cwiseMax(points_[c[2]]);
    const Cell low = cell_of(lows[t]), high = cell_of(highs[t]);
    for (auto x = low[0]; x <= high[0]; ++x)
      for (auto y = low[1]; y <= high[1]; ++y)
        for (auto z = low[2]; z <= high[2]; ++z) entries.push_back({{x, y, z}, t});
  }
  std::sort(entries.begin(), entries.end());
  const auto corners = [&](std::uint32_t t) {
    const Triangle& k = own_[t];
    return std::array<Vec3d, 3>{points_[k[0]].cast<double>(), points_[k[1]].cast<double>(),
                                points_[k[2]].cast<double>()};
  };
  std::vector<Cut> out;
  std::vector<Vec3d> ends;
  for (std::size_t begin = 0, end; begin < entries.size(); begin = end) {
    end = begin;
    while (end < entries.size() && entries[end].first == entries[begin].first) ++end;
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t j = begin; j < i; ++j) {
        const std::uint32_t t = entries[i].second, other = entries[j].second;
        if (!(lows[t].array() <= highs[other].array()).all() ||
            !(lows[other].array() <= highs[t].array()).all())
          continue;
        if (cell_of(lows[t].cwiseMax(lows[other])) != entries[begin].first) continue;
        const Triangle &c = own_[t], &k = own_[other];
        const bool shares = std::any_of(k.begin(), k.end(), [&](std::uint32_t p) {
          return std::find(c.begin(), c.end(), p) != c.end();
        });
        if (shares) continue;
        ends.clear();
        pierced(corners(t), corners(other), ends);
        pierced(corners(other), corners(t), ends);
        if (ends.size() < 2) continue;
        out.push_back({(std::uint64_t{other} << 32) | t, (ends[0] - ends[1]).norm()});
      }
  }
  return out;
}

}  // namespace derm::quality
