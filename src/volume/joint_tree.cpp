#include "volume/joint_tree.h"

#include <algorithm>

namespace derm::detail {
namespace {

/// The entry of the region joint at or above each joint; kNone where there is none.
std::vector<std::uint32_t> entryOfJoints(std::size_t joint_count,
                                         std::span<const RegionJoint> joints) {
  std::vector<std::uint32_t> out(joint_count, RegionJoint::kNone);
  for (std::size_t e = 0; e < joints.size(); ++e)
    if (joints[e].joint.valid()) out[joints[e].joint.index()] = static_cast<std::uint32_t>(e);
  return out;
}

void addRow(std::vector<std::pair<std::uint32_t, double>>& row, ShareRows& out) {
  std::sort(row.begin(), row.end());
  for (std::size_t i = 0; i < row.size();) {
    const std::uint32_t column = row[i].first;
    double sum = 0;
    for (; i < row.size() && row[i].first == column; ++i) sum += row[i].second;
    out.columns.push_back(column);
    out.shares.push_back(sum);
  }
  out.offsets.push_back(static_cast<std::uint32_t>(out.columns.size()));
  row.clear();
}

}  // namespace

std::vector<RegionJoint> regionJoints(const Skeleton& skeleton, const Skin& skin) {
  const std::size_t n = skeleton.size();
  std::vector<char> weighted(n, 0), carries(n, 0);
  for (const Influence& i : skin.influences) weighted[skin.slots[i.slot].joint.index()] = 1;
  std::vector<int> branches(n, 0);
  for (std::size_t j = n; j-- > 0;) {
    carries[j] = weighted[j] != 0 || branches[j] > 0;
    if (carries[j] && skeleton.joints[j].parent.valid())
      ++branches[skeleton.joints[j].parent.index()];
  }
  std::vector<Affine3d> bind(n);
  localToModel(skeleton, bindTransforms(skeleton, skin), bind);
  std::vector<std::uint32_t> entry(n, RegionJoint::kNone);
  std::vector<RegionJoint> out;
  for (std::size_t j = 0; j < n; ++j) {
    const JointId parent = skeleton.joints[j].parent;
    const std::uint32_t above = parent.valid() ? entry[parent.index()] : RegionJoint::kNone;
    entry[j] = above;
    if (weighted[j] == 0 && branches[j] < 2) continue;
    entry[j] = static_cast<std::uint32_t>(out.size());
    out.push_back({JointId(j), above, bind[j].translation()});
  }
  return out;
}

ShareRows measuredWeights(const MeasuredSurface& surface, const Skin& skin,
                          std::span<const RegionJoint> joints) {
  std::size_t joint_count = 0;
  for (const SkinSlot& s : skin.slots) joint_count = std::max(joint_count, s.joint.index() + 1);
  for (const RegionJoint& j : joints)
    if (j.joint.valid()) joint_count = std::max(joint_count, j.joint.index() + 1);
  const std::vector<std::uint32_t> entry = entryOfJoints(joint_count, joints);
  ShareRows out;
  std::vector<std::pair<std::uint32_t, double>> row;
  const auto addVertex = [&](std::size_t mesh_vertex, double part) {
    for (const Influence& i : skin[mesh_vertex])
      row.emplace_back(entry[skin.slots[i.slot].joint.index()], part * double{i.weight});
  };
  for (std::size_t v = 0; v < surface.pointCount(); ++v) {
    eachVertexOf(surface, v, addVertex);
    addRow(row, out);
  }
  return out;
}

ShareRows weightsBelow(const ShareRows& weights, std::span<const RegionJoint> joints) {
  ShareRows out;
  std::vector<std::pair<std::uint32_t, double>> row;
  for (std::size_t v = 0; v < weights.rowCount(); ++v) {
    for (std::size_t k = 0; k < weights.columnsOf(v).size(); ++k)
      for (std::uint32_t j = weights.columnsOf(v)[k]; j != RegionJoint::kNone; j = joints[j].parent)
        row.emplace_back(j, weights.sharesOf(v)[k]);
    addRow(row, out);
  }
  return out;
}

std::vector<char> branchingNodes(std::span<const std::uint32_t> parents,
                                 std::span<const char> counts) {
  std::vector<char> line(counts.begin(), counts.end()), branching(parents.size(), 0);
  std::vector<int> lines_below(parents.size(), 0);
  for (std::size_t k = parents.size(); k-- > 0;) {
    if (!line[k]) continue;
    branching[k] = branching[k] || lines_below[k] > 1;
    const std::uint32_t above = parents[k];
    if (above == RegionJoint::kNone) continue;
    ++lines_below[above];
    line[above] = 1;
    if (branching[k]) branching[above] = 1;
  }
  return branching;
}

}  // namespace derm::detail
