#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"
#include "derm/math/decompositions.h"

#include "implicit/active_skin_impl.h"

namespace derm {
namespace {

constexpr std::size_t kInertiaBlocksPerChunk = 32;
constexpr int kOffsets[6][3] = {{-1, 0, 0}, {1, 0, 0},  {0, -1, 0},
                                {0, 1, 0},  {0, 0, -1}, {0, 0, 1}};

/// A node by slot and number, reached from another.
struct NodeAt {
  std::uint32_t slot;
  int node;
};

NodeAt neighbourOf(const BandGrid& grid, std::uint32_t slot, int node, const int (&d)[3]) {
  const int x = (node & 7) + d[0], y = (node >> 3 & 7) + d[1], z = (node >> 6) + d[2];
  return {grid.neighbour(slot, x >> 3, y >> 3, z >> 3), (z & 7) * 64 + (y & 7) * 8 + (x & 7)};
}

bool holds(const BandGrid::Words& words, int node) {
  return (words[static_cast<std::size_t>(node >> 6)] >> (node & 63) & 1) != 0;
}

/// Calls visit(slot, node) for all near nodes of all blocks, in parallel over blocks.
template <class Visit>
void forNearNodes(const BandGrid& grid, const detail::BandStepper& stepper, const Visit& visit) {
  parallelFor(grid.blockCount(), kInertiaBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) {
      const std::uint32_t slot = grid.order()[b];
      for (int z = 0; z < 8; ++z)
        detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)],
                           [&](int bit) { visit(slot, 64 * z + bit); });
    }
  });
}

}  // namespace

double ActiveSkin::Impl::inertialStableStep() const {
  const InertiaDesc& inertia = law.inertia;
  double dt = std::numeric_limits<double>::infinity();
  if (inertia.tension > 0) dt = potential.voxel_m / (8 * std::sqrt(inertia.tension));
  if (inertia.stiffness > 0) dt = std::min(dt, 0.25 / std::sqrt(inertia.stiffness));
  if (inertia.damping > 0) dt = std::min(dt, 0.5 / inertia.damping);
  return dt;
}

/// Nodes the surface has come to take the mean velocity of those beside them that have one.
void ActiveSkin::Impl::extendVelocities() {
  const BandGrid& grid = potential.grid;
  velocities.resize(grid.slotCount() * BandGrid::kNodes, 0.0f);
  moving_words.resize(grid.slotCount());
  node_scratch.resize(velocities.size());
  forNearNodes(grid, stepper, [&](std::uint32_t slot, int node) {
    const std::size_t at = slot * BandGrid::kNodes + static_cast<std::size_t>(node);
    if (holds(moving_words[slot], node)) {
      node_scratch[at] = velocities[at];
      return;
    }
    float sum = 0, count = 0;
    for (const int(&d)[3] : kOffsets) {
      const NodeAt n = neighbourOf(grid, slot, node, d);
      if (!grid.isLive(n.slot) || !holds(moving_words[n.slot], n.node)) continue;
      sum += velocities[n.slot * BandGrid::kNodes + static_cast<std::size_t>(n.node)];
      count += 1;
    }
    node_scratch[at] = count > 0 ? sum / count : 0.0f;
  });
  velocities.swap(node_scratch);
  for (const std::uint32_t slot : grid.order()) moving_words[slot] = stepper.near(slot);
}

void ActiveSkin::Impl::accelerate(double dt_s) {
  const double h = potential.voxel_m;
  const InertiaDesc& inertia = law.inertia;
  const float spring = static_cast<float>(inertia.stiffness);
  const float bend = static_cast<float>(inertia.tension / (h * h));
  const float keep = static_cast<float>(1 - std::min(1.0, inertia.damping * dt_s));
  const float dt = static_cast<float>(dt_s);
  forces.resize(edges.distance.size());
  for (std::size_t i = 0; i < forces.size(); ++i) {
    forces[i] = spring * edges.distance[i];
    if (!edges.curvature.empty()) forces[i] -= bend * edges.curvature[i];
  }
  const BandGrid& grid = potential.grid;
  parallelFor(grid.blockCount(), kInertiaBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    detail::NodeSums sums;
    for (std::size_t b = begin; b < end; ++b) {
      const std::uint32_t slot = grid.order()[b];
      stepper.gather(grid, slot, forces, sums);
      float* u = velocities.data() + slot * BandGrid::kNodes;
      for (int z = 0; z < 8; ++z)
        detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
          const int node = 64 * z + bit;
          u[node] = keep * u[node] + dt * sums.sum[node] / std::max(1.0f, sums.count[node]);
        });
    }
  });
}

/// Takes away what swings from node to node: u -= amount L(L u), L u = sum (u_j - u_i) over near
/// neighbours. Without it short waves grow.
void ActiveSkin::Impl::filterVelocities(double amount) {
  const BandGrid& grid = potential.grid;
  const auto laplacian = [&](const std::vector<float>& u, std::uint32_t slot, int node) {
    const float own = u[slot * BandGrid::kNodes + static_cast<std::size_t>(node)];
    float sum = 0;
    for (const int(&d)[3] : kOffsets) {
      const NodeAt n = neighbourOf(grid, slot, node, d);
      if (grid.isLive(n.slot) && holds(stepper.near(n.slot), n.node))
        sum += u[n.slot * BandGrid::kNodes + static_cast<std::size_t>(n.node)] - own;
    }
    return sum;
  };
  forNearNodes(grid, stepper, [&](std::uint32_t slot, int node) {
    node_scratch[slot * BandGrid::kNodes + static_cast<std::size_t>(node)] =
        laplacian(velocities, slot, node);
  });
  const float share = static_cast<float>(amount);
  node_moves.resize(velocities.size());
  forNearNodes(grid, stepper, [&](std::uint32_t slot, int node) {
    node_moves[slot * BandGrid::kNodes + static_cast<std::size_t>(node)] =
        laplacian(node_scratch, slot, node);
  });
  forNearNodes(grid, stepper, [&](std::uint32_t slot, int node) {
    const std::size_t at = slot * BandGrid::kNodes + static_cast<std::size_t>(node);
    velocities[at] -= share * node_moves[at];
  });
}

/// Removes the motion of the whole: for a translation v, u = v n and mean(u n) = mean(n n) v.
void ActiveSkin::Impl::holdCentre() {
  const BandGrid& grid = potential.grid;
  const auto normalAt = [&](std::uint32_t slot, int node) {
    Vec3d g;
    for (int axis = 0; axis < 3; ++axis) {
      const NodeAt low = neighbourOf(grid, slot, node, kOffsets[2 * axis]);
      const NodeAt high = neighbourOf(grid, slot, node, kOffsets[2 * axis + 1]);
      g[axis] = double{grid.values(low.slot)[low.node]} - grid.values(high.slot)[high.node];
    }
    const double length = g.norm();
    return length > 0 ? Vec3d(g / length) : Vec3d(Vec3d::Zero());
  };
  Mat3d squares = 1e-9 * Mat3d::Identity();
  Vec3d sum = Vec3d::Zero();
  for (const std::uint32_t slot : grid.order())
    for (int z = 0; z < 8; ++z)
      detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
        const Vec3d n = normalAt(slot, 64 * z + bit);
        squares += n * n.transpose();
        sum += velocities[slot * BandGrid::kNodes + static_cast<std::size_t>(64 * z + bit)] * n;
      });
  const Vec3d drift = solveSymmetric(squares, sum);
  forNearNodes(grid, stepper, [&](std::uint32_t slot, int node) {
    velocities[slot * BandGrid::kNodes + static_cast<std::size_t>(node)] -=
        static_cast<float>(drift.dot(normalAt(slot, node)));
  });
}

/// Pressure: what each body lacks in volume goes into its velocity, and stays there.
void ActiveSkin::Impl::pressVolume(double dt_s) {
  const BandGrid& grid = potential.grid;
  const std::span<const detail::TrackedBody> bodies = tracker.bodies();
  const std::span<const std::uint32_t> body = tracker.bodyOfPoint();
  // Both ends of an edge belong to its body.
  node_bodies.resize(velocities.size());
  for (const std::uint32_t slot : grid.order()) {
    const detail::BlockEdges& e = stepper.index().of(slot);
    for (int axis = 0; axis < 3; ++axis)
      for (int z = 0; z < 8; ++z)
        detail::forEachBit(e.crossed[axis][z], [&](int bit) {
          const std::uint32_t b = body[e.id(axis, z, bit)];
          const NodeAt upper = neighbourOf(grid, slot, 64 * z + bit, kOffsets[2 * axis + 1]);
          node_bodies[slot * BandGrid::kNodes + static_cast<std::size_t>(64 * z + bit)] = b;
          node_bodies[upper.slot * BandGrid::kNodes + static_cast<std::size_t>(upper.node)] = b;
        });
  }
  std::vector<double> mean(bodies.size(), 0), count(bodies.size(), 0);
  for (const std::uint32_t slot : grid.order())
    for (int z = 0; z < 8; ++z)
      detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
        const std::size_t at = slot * BandGrid::kNodes + static_cast<std::size_t>(64 * z + bit);
        mean[node_bodies[at]] += velocities[at];
        count[node_bodies[at]] += 1;
      });
  std::vector<float> change(bodies.size(), 0.0f);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    if (bodies[b].growing || !(bodies[b].area > 0)) continue;
    const double lacking = volume_scale * bodies[b].wanted_volume - bodies[b].volume;
    const double max = 0.5 / dt_s;
    change[b] = static_cast<float>(std::clamp(lacking / (bodies[b].area * dt_s), -max, max) -
                                   mean[b] / std::max(1.0, count[b]));
  }
  forNearNodes(grid, stepper, [&](std::uint32_t slot, int node) {
    const std::size_t at = slot * BandGrid::kNodes + static_cast<std::size_t>(node);
    velocities[at] += change[node_bodies[at]];
  });
}

SkinStep ActiveSkin::Impl::inertialStep(const Target& target, double max_s) {
  SkinStep report;
  const bool curvature = law.inertia.tension > 0;
  prepareEdges(target, curvature);
  if (tracksBodies()) {
    watchBodies(false);
    if (removeSpecks()) {
      prepareEdges(target, curvature);
      watchBodies(false);
    }
  }
  const double dt_s = std::min(inertialStableStep(), max_s);
  extendVelocities();
  accelerate(dt_s);
  findSpeeds(report);  // uses up the distances
  filterVelocities(0.05 * std::sqrt(law.inertia.tension) / potential.voxel_m * dt_s);
  if (law.inertia.hold_centre && law.inertia.stiffness == 0) holdCentre();
  if (law.volume == Hold::Exact) pressVolume(dt_s);
  node_moves.resize(velocities.size());
  float max = 0;
  for (const std::uint32_t slot : potential.grid.order())
    for (int z = 0; z < 8; ++z)
      detail::forEachBit(stepper.near(slot)[static_cast<std::size_t>(z)], [&](int bit) {
        const std::size_t at = slot * BandGrid::kNodes + static_cast<std::size_t>(64 * z + bit);
        node_moves[at] = static_cast<float>(dt_s) * velocities[at];
        max = std::max(max, std::abs(velocities[at]));
      });
  report.dt_s = dt_s;
  report.max_speed = potential.voxel_m * double{max};
  time_s += dt_s;
  stepper.advanceNodes(potential.grid, node_moves, {});
  return report;
}

}  // namespace derm
