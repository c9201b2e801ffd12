#include "contact/contact_grid.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/winding_columns.h"

namespace derm::detail {
namespace {

/// Of a grid while it is made, some ten bytes each; a grown-up has a million.
constexpr double kMaxNodes = 1 << 25;
constexpr float kCoarser = 1.25f;
constexpr int kMaxCoarser = 400;  ///< from here on no float is larger

/// A node of the grid while it is made.
struct Work {
  std::vector<std::uint32_t> nearest;
  std::vector<float> squares;  ///< [m^2] of the distance to it
  std::vector<std::uint8_t> inside;
};

}  // namespace

ContactGrid::Node ContactGrid::at(int x, int y, int z) const {
  if (x < 0 || y < 0 || z < 0 || x >= size_[0] || y >= size_[1] || z >= size_[2]) return {};
  const int bx = x / kBrick, by = y / kBrick, bz = z / kBrick;
  const std::uint32_t brick =
      brick_of_[static_cast<std::size_t>((bz * bricks_[1] + by) * bricks_[0] + bx)];
  if (brick == kNoPoint) return {};
  const int inside = ((z % kBrick) * kBrick + y % kBrick) * kBrick + x % kBrick;
  return nodes_[std::size_t{brick} * (kBrick * kBrick * kBrick) + static_cast<std::size_t>(inside)];
}

ContactGrid::Node ContactGrid::nearestNode(const Vec3f& p) const {
  const Vec3f q = (p - origin_) * inverse_spacing_;
  if (!(q.minCoeff() > -1.0f && q.maxCoeff() < 1e6f)) return {};
  return at(static_cast<int>(std::floor(q.x() + 0.5f)), static_cast<int>(std::floor(q.y() + 0.5f)),
            static_cast<int>(std::floor(q.z() + 0.5f)));
}

bool ContactGrid::sample(const Vec3f& p, Sample& out) const {
  const Vec3f q = (p - origin_) * inverse_spacing_;
  if (!(q.minCoeff() >= 0.0f && q.maxCoeff() < 1e6f)) return false;
  const int x = static_cast<int>(q.x()), y = static_cast<int>(q.y()), z = static_cast<int>(q.z());
  const float fx = q.x() - static_cast<float>(x), fy = q.y() - static_cast<float>(y),
              fz = q.z() - static_cast<float>(z);
  for (int k = 0; k < 8; ++k) {
    const int dx = k & 1, dy = (k >> 1) & 1, dz = k >> 2;
    const Node node = at(x + dx, y + dy, z + dz);
    if (node.nearest == kNoPoint) return false;
    out.nodes[static_cast<std::size_t>(k)] = node;
    out.weights[static_cast<std::size_t>(k)] =
        (dx ? fx : 1 - fx) * (dy ? fy : 1 - fy) * (dz ? fz : 1 - fz);
  }
  return true;
}

ContactGrid::ContactGrid(const Input& in) {
  Vec3f low = Vec3f::Constant(std::numeric_limits<float>::infinity()), high = -low;
  for (std::size_t p = 0; p < in.positions.size(); ++p) {
    if (!in.counts[p]) continue;
    low = low.cwiseMin(in.positions[p]);
    high = high.cwiseMax(in.positions[p]);
  }
  // The spacing is that of the skin: small pieces far from each other have a box of any number of
  // nodes, and get a coarser grid.
  float spacing = in.spacing, band = in.band, margin = in.margin;
  const auto bricks_along = [&](int k) {
    const float length = high[k] - low[k] + 2 * margin;
    return std::ceil((length * (1 / spacing) + 2) / kBrick);
  };
  const auto node_count = [&] {
    double nodes = 1;
    for (int k = 0; k < 3; ++k) nodes *= kBrick * double{bricks_along(k)};
    return nodes;
  };
  for (int n = 0; n < kMaxCoarser && node_count() > kMaxNodes; ++n) {
    spacing *= kCoarser;
    band *= kCoarser;
    margin *= kCoarser;
  }
  if (!(node_count() <= kMaxNodes)) return;  // positions near the end of floats: nothing is stored
  origin_ = low.array() - margin;
  inverse_spacing_ = 1 / spacing;
  std::size_t count = 1;
  for (int k = 0; k < 3; ++k) {
    const auto a = static_cast<std::size_t>(k);
    bricks_[a] = static_cast<int>(bricks_along(k));
    size_[a] = bricks_[a] * kBrick;
    count *= static_cast<std::size_t>(size_[a]);
  }
  const auto index = [&](int x, int y, int z) {
    return static_cast<std::size_t>((z * size_[1] + y) * size_[0] + x);
  };
  const auto position = [&](int x, int y, int z) -> Vec3f {
    return origin_ +
           spacing * Vec3f(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
  };
  Work work;
  work.nearest.assign(count, kNoPoint);
  work.squares.assign(count, 0.0f);
  work.inside.assign(count, 0);
  markInside(in.positions, in.triangles, origin_, spacing, size_, work.inside);

  // Vertices give themselves to the nodes around them; from there nodes pass on what is nearest.
  // Nodes wait by their keys, each once, whatever it was given; keys ascend along x, y, z.
  const auto key = [&](int x, int y, int z) {
    return static_cast<std::uint32_t>((x * size_[1] + y) * size_[2] + z);
  };
  std::vector<std::uint32_t> queue, next;
  std::vector<std::uint8_t> waits(count, 0);
  const auto offer = [&](int x, int y, int z, std::uint32_t p) {
    if (x < 0 || y < 0 || z < 0 || x >= size_[0] || y >= size_[1] || z >= size_[2]) return;
    const std::size_t node = index(x, y, z);
    std::uint32_t& held = work.nearest[node];
    if (held == p) return;
    const float d = (in.positions[p] - position(x, y, z)).squaredNorm();
    if (held != kNoPoint) {
      const float now = work.squares[node];
      if (!(d < now || (d == now && p < held))) return;
    } else if (!work.inside[node] && d > band * band) {
      return;
    }
    held = p;
    work.squares[node] = d;
    if (waits[node] != 0) return;
    waits[node] = 1;
    next.push_back(key(x, y, z));
  };
  for (std::uint32_t p = 0; p < in.positions.size(); ++p) {
    if (!in.counts[p]) continue;
    const Vec3f q = (in.positions[p] - origin_) * inverse_spacing_;
    const int x = static_cast<int>(q.x()), y = static_cast<int>(q.y()), z = static_cast<int>(q.z());
    for (int dz = -1; dz <= 2; ++dz)
      for (int dy = -1; dy <= 2; ++dy)
        for (int dx = -1; dx <= 2; ++dx) offer(x + dx, y + dy, z + dz, p);
  }
  while (!next.empty()) {
    std::swap(queue, next);
    next.clear();
    std::sort(queue.begin(), queue.end());
    for (const std::uint32_t each : queue) {
      const auto rest = static_cast<int>(each);
      waits[index(rest / (size_[1] * size_[2]), rest / size_[2] % size_[1], rest % size_[2])] = 0;
    }
    for (const std::uint32_t each : queue) {
      const auto rest = static_cast<int>(each);
      const int x = rest / (size_[1] * size_[2]), y = rest / size_[2] % size_[1],
                z = rest % size_[2];
      const std::uint32_t p = work.nearest[index(x, y, z)];
      for (int dz = -1; dz <= 1; ++dz)
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            if (dx != 0 || dy != 0 || dz != 0) offer(x + dx, y + dy, z + dz, p);
    }
  }

  brick_of_.assign(static_cast<std::size_t>(bricks_[0] * bricks_[1] * bricks_[2]), kNoPoint);
  for (int z = 0; z < size_[2]; ++z)
    for (int y = 0; y < size_[1]; ++y)
      for (int x = 0; x < size_[0]; ++x) {
        const std::uint32_t near = work.nearest[index(x, y, z)];
        if (near == kNoPoint) continue;
        std::uint32_t& brick = brick_of_[static_cast<std::size_t>(
            (z / kBrick * bricks_[1] + y / kBrick) * bricks_[0] + x / kBrick)];
        if (brick == kNoPoint) {
          brick = static_cast<std::uint32_t>(nodes_.size() / (kBrick * kBrick * kBrick));
          nodes_.resize(nodes_.size() + kBrick * kBrick * kBrick);
        }
        const Vec3d p = position(x, y, z).cast<double>();
        double square = std::numeric_limits<double>::infinity();
        for (const std::uint32_t t : in.triangles_of_point[near]) {
          const auto corner = [&](std::size_t k) -> Vec3d {
            return in.positions[in.triangles[t][k]].cast<double>();
          };
          const Vec3d a = corner(0), b = corner(1), c = corner(2);
          const Vec3d share = closestOnTriangle(p, a, b, c);
          square =
              std::min(square, (share.x() * a + share.y() * b + share.z() * c - p).squaredNorm());
        }
        const auto distance = static_cast<float>(std::sqrt(square));
        const int inside = ((z % kBrick) * kBrick + y % kBrick) * kBrick + x % kBrick;
        nodes_[std::size_t{brick} * (kBrick * kBrick * kBrick) + static_cast<std::size_t>(inside)] =
            {work.inside[index(x, y, z)] ? -distance : distance, near};
      }
}

}  // namespace derm::detail
