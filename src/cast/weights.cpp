#include "cast/weights.h"

#include <algorithm>
#include <limits>
#include <string>

#include "derm/base/assert.h"
#include "derm/mesh/adjacency.h"

namespace derm::detail::cast {
namespace {

/// Rows of weights, one number per joint.
class WeightTable {
 public:
  WeightTable(std::size_t vertices, std::size_t joints)
      : joints_(joints), values_(vertices * joints, 0.0) {}
  std::span<double> operator[](std::size_t v) {
    return std::span(values_).subspan(v * joints_, joints_);
  }
  std::span<const double> operator[](std::size_t v) const {
    return std::span(values_).subspan(v * joints_, joints_);
  }

 private:
  std::size_t joints_;
  std::vector<double> values_;
};

/// Bones of one joint end in the same sphere there, so skin beside it is as near to one as to the
/// other: within this they share it, whatever rounding says.
constexpr double kSameDistance_m = 1e-9;

void assignNearest(const TriMesh& mesh, std::span<const Bone> bones, WeightTable& table) {
  std::vector<double> distances(bones.size());
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    const Vec3d p = mesh.positions[v].cast<double>();
    for (std::size_t b = 0; b < bones.size(); ++b)
      distances[b] = roundConeDistance(p, bones[b].a, bones[b].b);
    const double near = *std::min_element(distances.begin(), distances.end()) + kSameDistance_m;
    const auto sharing =
        std::count_if(distances.begin(), distances.end(), [&](double d) { return d <= near; });
    for (std::size_t b = 0; b < bones.size(); ++b)
      if (distances[b] <= near)
        table[v][bones[b].joint.index()] += 1.0 / static_cast<double>(sharing);
  }
}

void applyRamps(const TriMesh& mesh, std::span<const WeightRamp> ramps, WeightTable& table) {
  for (const WeightRamp& ramp : ramps) {
    const Vec3d way = ramp.end - ramp.start;
    for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
      const std::span<double> row = table[v];
      double &from = row[ramp.from.index()], &to = row[ramp.to.index()];
      const double both = from + to;
      if (both == 0) continue;
      const double along =
          way.dot(Vec3d(mesh.positions[v].cast<double>() - ramp.start)) / way.squaredNorm();
      to = both * std::clamp(along, 0.0, 1.0);
      from = both - to;
    }
  }
}

void spread(const IndexLists& neighbours, WeightTable& table, std::size_t joints) {
  const WeightTable before = table;
  for (std::size_t v = 0; v < neighbours.rowCount(); ++v) {
    const std::span<const std::uint32_t> near = neighbours[v];
    if (near.empty()) continue;
    const std::span<double> row = table[v];
    for (double& w : row) w *= 0.5;
    for (const std::uint32_t u : near)
      for (std::size_t j = 0; j < joints; ++j)
        row[j] += 0.5 * before[u][j] / static_cast<double>(near.size());
  }
}

void makeSymmetric(std::span<const std::uint32_t> mirror_of, std::span<const std::size_t> partner,
                   WeightTable& table) {
  for (std::size_t v = 0; v < mirror_of.size(); ++v) {
    const std::size_t u = mirror_of[v];
    if (u < v) continue;
    for (std::size_t j = 0; j < partner.size(); ++j) {
      // On the plane (u = v) the pair (j, partner) is met twice; the second time changes nothing.
      const double mean = 0.5 * (table[v][j] + table[u][partner[j]]);
      table[v][j] = mean;
      table[u][partner[j]] = mean;
    }
  }
}

/// A limb's joint loses its pull towards the plane x = 0 and beyond: where triangles are large,
/// diffusion alone would get as far as the other leg.
void fadeAcross(const TriMesh& mesh, const Rig& rig, std::span<const std::size_t> partner,
                const WeightDesc& desc, WeightTable& table) {
  for (std::size_t j = 0; j < partner.size(); ++j) {
    const double side = rig.position(JointId(j)).x();
    if (partner[j] == j || side == 0) continue;
    for (std::size_t v = 0; v < mesh.vertexCount(); ++v)
      table[v][j] *= smoothStep(desc.side_none, desc.side_whole, mesh.positions[v].x() / side);
  }
}

/// Each joint loses its pull far from the flesh of its bones.
void fadeFar(const TriMesh& mesh, std::span<const Bone> bones, const WeightDesc& desc,
             std::size_t joints, WeightTable& table) {
  std::vector<double> distance(joints);
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    const Vec3d p = mesh.positions[v].cast<double>();
    std::fill(distance.begin(), distance.end(), std::numeric_limits<double>::max());
    for (const Bone& bone : bones) {
      double& d = distance[bone.joint.index()];
      d = std::min(d, roundConeDistance(p, bone.a, bone.b));
    }
    for (std::size_t j = 0; j < joints; ++j)
      table[v][j] *= smoothStep(desc.reach_none, desc.reach_whole, distance[j]);
  }
}

}  // namespace

std::vector<std::size_t> mirrorJoints(const Skeleton& skeleton) {
  const std::string left = "_left", right = "_right";
  std::vector<std::size_t> partner(skeleton.size());
  for (std::size_t j = 0; j < partner.size(); ++j) {
    const std::string& name = skeleton.joints[j].name;
    std::string other = name;
    if (name.ends_with(left))
      other = name.substr(0, name.size() - left.size()) + right;
    else if (name.ends_with(right))
      other = name.substr(0, name.size() - right.size()) + left;
    const JointId found = skeleton.find(other);
    partner[j] = found.valid() ? found.index() : j;
  }
  return partner;
}

Skin diffusedWeights(const TriMesh& mesh, const Rig& rig, std::span<const Bone> bones,
                     const WeightDesc& desc, std::span<const std::uint32_t> mirror_of) {
  DERM_REQUIRE(!bones.empty());
  const std::size_t joints = rig.skeleton().size();
  WeightTable table(mesh.vertexCount(), joints);
  assignNearest(mesh, bones, table);
  applyRamps(mesh, desc.ramps, table);
  const IndexLists neighbours = vertexNeighbours(mesh.triangles, mesh.vertexCount());
  for (int i = 0; i < desc.spread; ++i) spread(neighbours, table, joints);
  const std::vector<std::size_t> partner = mirrorJoints(rig.skeleton());
  fadeAcross(mesh, rig, partner, desc, table);
  fadeFar(mesh, bones, desc, joints, table);
  makeSymmetric(mirror_of, partner, table);

  SkinBuilder skin(rig.slots(), mesh.vertexCount());
  Diagnostics notes;
  std::vector<Influence> row;
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    row.clear();
    for (std::size_t j = 0; j < joints; ++j)
      if (table[v][j] >= desc.min_weight)
        row.push_back({static_cast<std::uint32_t>(j), static_cast<float>(table[v][j])});
    std::stable_sort(row.begin(), row.end(),
                     [](const Influence& a, const Influence& b) { return a.weight > b.weight; });
    // A tie at the end of the list would make a vertex and its mirror image choose differently.
    std::size_t kept = std::min(row.size(), desc.influences);
    if (kept < row.size())
      while (kept > 1 && row[kept - 1].weight <= row[kept].weight * 1.0001f) --kept;
    row.resize(kept);
    double sum = 0;
    for (const Influence& i : row) sum += i.weight;
    for (Influence& i : row) i.weight = static_cast<float>(i.weight / sum);
    skin.addVertex(row, 0, "skin", notes);
  }
  return std::move(skin).finish();
}

}  // namespace derm::detail::cast
