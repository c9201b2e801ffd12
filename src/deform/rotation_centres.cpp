#include "derm/deform/rotation_centres.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "derm/base/assert.h"
#include "derm/base/parallel.h"

namespace derm {
namespace {

/// How different weights may be to count as alike.
constexpr double kLikeness = 0.1;
/// Below this nothing is alike.
constexpr double kNothing = 1e-12;
/// Weights are the same within a cell of this many to one.
constexpr double kCells = 128;
/// Fewer triangles than this are taken one by one.
constexpr std::size_t kFew = 256;

using JointPair = std::pair<std::uint32_t, std::uint32_t>;

/// A vertex or triangle among those that follow both joints of a pair, and how much.
struct Follower {
  std::uint32_t index;
  double first, second;  ///< weights of the pair's joints
};

struct PairFollowers {
  std::vector<Follower> vertices, triangles;
};

/// Triangles of nearly the same weights, as one.
struct Cell {
  double first = 0, second = 0;  ///< weights, the mean
  double mass = 0;               ///< sum of area * first * second
  Vec3d moment = Vec3d::Zero();  ///< the same times the centroids [m]
};

using Row = std::vector<std::pair<std::uint32_t, double>>;

void sumEqual(Row& row) {
  std::sort(row.begin(), row.end());
  std::size_t used = 0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (used > 0 && row[used - 1].first == row[i].first)
      row[used - 1].second += row[i].second;
    else
      row[used++] = row[i];
  }
  row.resize(used);
}

class CentreFinder {
 public:
  CentreFinder(std::span<const Vec3d> positions, std::span<const Triangle> triangles,
               const Skin& skin)
      : positions_(positions), triangles_(triangles), skin_(skin) {
    for (const Triangle& t : triangles)
      areas_.push_back(0.5 * Vec3d(positions[t[1]] - positions[t[0]])
                                 .cross(Vec3d(positions[t[2]] - positions[t[0]]))
                                 .norm());
    double all = 0;
    for (const double a : areas_) all += a;
    // Shares of the whole, so that no threshold depends on units.
    for (double& a : areas_) a = all > 0 ? a / all : 0;
  }

  std::vector<Vec3d> find() {
    const std::map<JointPair, PairFollowers> pairs = followers();
    std::vector<double> mass(positions_.size(), 0.0);
    std::vector<Vec3d> moment(positions_.size(), Vec3d::Zero());
    for (const auto& entry : pairs) {
      const PairFollowers& followers = entry.second;
      const std::vector<Cell> cells = cellsOf(followers.triangles);
      parallelFor(followers.vertices.size(), 64, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          const Follower& v = followers.vertices[i];
          addCells(v, cells, mass[v.index], moment[v.index]);
        }
      });
    }
    std::vector<Vec3d> out(positions_.begin(), positions_.end());
    for (std::size_t v = 0; v < out.size(); ++v)
      if (mass[v] > kNothing) out[v] = moment[v] / mass[v];
    return out;
  }

 private:
  Row rowOf(std::uint32_t vertex, double part) const {
    Row row;
    for (const Influence& i : skin_[vertex])
      row.emplace_back(skin_.slots[i.slot].joint.value, part * double{i.weight});
    sumEqual(row);
    return row;
  }

  std::map<JointPair, PairFollowers> followers() const {
    std::map<JointPair, PairFollowers> out;
    const auto each_pair = [](const Row& row, const auto& body) {
      for (std::size_t a = 0; a < row.size(); ++a)
        for (std::size_t b = a + 1; b < row.size(); ++b)
          body(JointPair(row[a].first, row[b].first), row[a].second, row[b].second);
    };
    for (std::uint32_t v = 0; v < positions_.size(); ++v)
      each_pair(rowOf(v, 1), [&](const JointPair& pair, double first, double second) {
        out[pair].vertices.push_back({v, first, second});
      });
    for (std::uint32_t t = 0; t < triangles_.size(); ++t) {
      Row row;
      for (const std::uint32_t corner : triangles_[t]) {
        const Row one = rowOf(corner, 1.0 / 3);
        row.insert(row.end(), one.begin(), one.end());
      }
      sumEqual(row);
      each_pair(row, [&](const JointPair& pair, double first, double second) {
        out[pair].triangles.push_back({t, first, second});
      });
    }
    return out;
  }

  std::vector<Cell> cellsOf(std::span<const Follower> triangles) const {
    const bool one_by_one = triangles.size() < kFew;
    std::map<std::pair<int, int>, Cell> cells;
    int number = 0;
    for (const Follower& f : triangles) {
      const std::pair<int, int> key = one_by_one ? std::pair(number++, 0)
                                                 : std::pair(static_cast<int>(f.first * kCells),
                                                             static_cast<int>(f.second * kCells));
      Cell& cell = cells[key];
      const Triangle& t = triangles_[f.index];
      const double mass = areas_[f.index] * f.first * f.second;
      cell.first += mass * f.first;
      cell.second += mass * f.second;
      cell.mass += mass;
      cell.moment += mass / 3 * (positions_[t[0]] + positions_[t[1]] + positions_[t[2]]);
    }
    std::vector<Cell> out;
    for (auto& [key, cell] : cells) {
      if (!(cell.mass > 0)) continue;
      cell.first /= cell.mass;
      cell.second /= cell.mass;
      out.push_back(cell);
    }
    return out;
  }

  static void addCells(const Follower& v, std::span<const Cell> cells, double& mass,
                       Vec3d& moment) {
    double all = 0;
    Vec3d sum = Vec3d::Zero();
    for (const Cell& cell : cells) {
      const double apart = (v.first * cell.second - v.second * cell.first) / kLikeness;
      const double likeness = std::exp(-apart * apart);
      all += likeness * cell.mass;
      sum += likeness * cell.moment;
    }
    mass += v.first * v.second * all;
    moment += v.first * v.second * sum;
  }

  std::span<const Vec3d> positions_;
  std::span<const Triangle> triangles_;
  const Skin& skin_;
  std::vector<double> areas_;  ///< share of the whole
};

}  // namespace

std::vector<Vec3d> rotationCentres(std::span<const Vec3d> positions,
                                   std::span<const Triangle> triangles, const Skin& skin) {
  DERM_REQUIRE(skin.vertexCount() == positions.size());
  return CentreFinder(positions, triangles, skin).find();
}

std::vector<Vec3d> rotationCentres(std::span<const Vec3f> positions,
                                   std::span<const Triangle> triangles, const Skin& skin) {
  std::vector<Vec3d> wide;
  wide.reserve(positions.size());
  for (const Vec3f& p : positions) wide.push_back(p.cast<double>());
  return rotationCentres(std::span<const Vec3d>(wide), triangles, skin);
}

std::vector<SlotLink> slotLinks(const Skeleton& skeleton, const Skin& skin) {
  std::vector<std::vector<std::uint32_t>> slots_of(skeleton.size());
  for (std::uint32_t s = 0; s < skin.slots.size(); ++s)
    slots_of[skin.slots[s].joint.index()].push_back(s);
  std::vector<SlotLink> out;
  for (std::size_t j = 0; j < skeleton.size(); ++j) {
    JointId above = skeleton.joints[j].parent;
    while (above.valid() && slots_of[above.index()].empty()) above = skeleton[above].parent;
    for (const std::uint32_t s : slots_of[j]) {
      SlotLink link{s, out.empty() ? s : out.front().slot};
      if (above.valid()) {
        const std::vector<std::uint32_t>& candidates = slots_of[above.index()];
        const auto apart = [s](std::uint32_t t) { return t < s ? s - t : t - s; };
        link.parent = *std::min_element(
            candidates.begin(), candidates.end(),
            [&](std::uint32_t a, std::uint32_t b) { return apart(a) < apart(b); });
      }
      out.push_back(link);
    }
  }
  return out;
}

}  // namespace derm
