#include "derm/volume/volume_regions.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "derm/base/nearest_name.h"
#include "derm/mesh/measures.h"

#include "volume/joint_tree.h"
#include "volume/region_labels.h"
#include "volume/share_smoothing.h"

namespace derm {
namespace {

constexpr int kMembershipPasses = 8;
constexpr int kConcernPasses = 30;
/// Passes reach a number of edges, which on coarse surfaces is a long way: those with fewer points
/// get fewer passes.
constexpr double kFinePoints = 2000;

int passesFor(int passes, std::size_t points) {
  const double share = std::min(1.0, static_cast<double>(points) / kFinePoints);
  return std::max(1, static_cast<int>(std::lround(passes * share)));
}
constexpr double kMinMembership = 1e-4;
constexpr double kMinConcern = 1e-3;

Error badDesc(const char* key, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = key}};
}

Result<void> check(const RegionsDesc& desc, const TriMesh& mesh) {
  if (!(desc.beta >= 0 && desc.beta <= 1)) return badDesc("beta", "expected a number, 0 to 1");
  if (!(desc.min_area_share >= 0 && desc.min_area_share <= 1))
    return badDesc("min_area_share", "expected a number, 0 to 1");
  if (!(desc.min_volume_share >= 0 && desc.min_volume_share <= 1))
    return badDesc("min_volume_share", "expected a number, 0 to 1");
  if (!(desc.min_limb_ratio >= 0 && std::isfinite(desc.min_limb_ratio)))
    return badDesc("min_limb_ratio", "expected a number, 0 or more");
  if (desc.kind != RegionKind::Groups) return {};
  if (desc.groups.empty()) return badDesc("regions", "no vertex group is named");
  std::vector<std::string> names;
  for (const VertexGroup& g : mesh.groups) names.push_back(g.name);
  for (const std::string& wanted : desc.groups) {
    const VertexGroup* group = mesh.findGroup(wanted);
    if (group == nullptr)
      return badDesc("regions", "no vertex group \"" + wanted + "\"" + didYouMean(wanted, names));
    if (std::all_of(group->strengths.begin(), group->strengths.end(),
                    [](float s) { return !(s > 0); }))
      return badDesc("regions", "vertex group \"" + wanted + "\" is empty");
  }
  return {};
}

ShareRows oneHot(std::span<const std::uint32_t> columns) {
  ShareRows out;
  out.columns.assign(columns.begin(), columns.end());
  out.shares.assign(columns.size(), 1.0);
  for (std::size_t v = 0; v < columns.size(); ++v)
    out.offsets.push_back(static_cast<std::uint32_t>(v + 1));
  return out;
}

std::vector<Vec3d> restPoints(const MeasuredSurface& surface, const TriMesh& mesh) {
  std::vector<Vec3d> out(surface.pointCount());
  measurePoints(surface, mesh.positions, Vec3d::Zero(), out);
  return out;
}

/// Without a skin nothing bends: one joint in the middle serves as everybody's anchor.
detail::RegionLabels unlabelled(const detail::RestSurface& rest) {
  return {.label = std::vector<std::uint32_t>(rest.size(), 0),
          .bend = std::vector<double>(rest.size()),
          .counts = std::vector<char>(rest.pieceCount()),
          .labelled = std::vector<char>(rest.pieceCount())};
}

class Builder {
 public:
  Builder(const MeasuredSurface& surface, const TriMesh& mesh, const Skeleton& skeleton,
          const Skin& skin, const RegionsDesc& desc)
      : positions_(restPoints(surface, mesh)),
        rest_{surface, positions_, vertexNeighbours(surface.triangles, surface.pointCount())},
        mesh_(mesh),
        skeleton_(skeleton),
        skin_(skin),
        desc_(desc) {}

  VolumeRegions build() && {
    label();
    switch (desc_.kind) {
      case RegionKind::Whole:
        wholeRegion();
        break;
      case RegionKind::Components:
        pieceRegions();
        break;
      case RegionKind::Joints:
        jointRegions();
        break;
      case RegionKind::Groups:
        groupRegions();
        break;
    }
    makeNamesUnique();
    return std::move(out_);
  }

 private:
  void label();
  void keepLimbsApart(const ShareRows& weights);
  void wholeRegion();
  void pieceRegions();
  void jointRegions();
  void groupRegions();
  void makeNamesUnique();
  std::string jointName(std::uint32_t entry) const {
    const JointId joint = out_.joints[entry].joint;
    return joint.valid() ? skeleton_[joint].name : std::string();
  }

  std::vector<Vec3d> positions_;
  detail::RestSurface rest_;
  const TriMesh& mesh_;
  const Skeleton& skeleton_;
  const Skin& skin_;
  const RegionsDesc& desc_;
  detail::RegionLabels labels_;
  VolumeRegions out_;
};

constexpr std::uint32_t kTrunk = RegionJoint::kNone;

/// Per joint the limb it is of: the first joint of that, or kTrunk where labelled joints of a piece
/// branch below it. All is trunk where none branch.
std::vector<std::uint32_t> limbsOf(std::span<const RegionJoint> joints,
                                   std::span<const char> counts) {
  const std::size_t n = joints.size();
  std::vector<std::uint32_t> parents(n);
  std::vector<char> rooted(n, 0);  // whether something labelled hangs on this root
  std::vector<std::uint32_t> root(n);
  for (std::uint32_t j = 0; j < n; ++j) {
    parents[j] = joints[j].parent;
    root[j] = parents[j] == RegionJoint::kNone ? j : root[parents[j]];
    if (counts[j]) rooted[root[j]] = 1;
  }
  const std::vector<char> trunk = detail::branchingNodes(parents, counts);
  std::vector<std::uint32_t> limbs(n, kTrunk);
  const bool one_line = std::count(rooted.begin(), rooted.end(), 1) < 2 &&
                        std::find(trunk.begin(), trunk.end(), 1) == trunk.end();
  if (one_line) return limbs;
  for (std::uint32_t j = 0; j < n; ++j) {
    if (trunk[j]) continue;
    const std::uint32_t above = joints[j].parent;
    limbs[j] = above == RegionJoint::kNone || limbs[above] == kTrunk ? j : limbs[above];
  }
  return limbs;
}

/// What follows a limb alone is none of the business of other limbs' joints or the trunk's, though
/// their labels lie a few triangles away. And what a limb's joint does that no label of the limb
/// stands for is the business of the skin that follows it, not of the trunk's.
void Builder::keepLimbsApart(const ShareRows& weights) {
  const std::size_t n = out_.joints.size();
  std::vector<std::vector<std::uint32_t>> limbs;  // of each piece
  std::vector<char> alone(out_.stands_for.size(), 0);
  for (std::size_t p = 0; p < rest_.pieceCount(); ++p) {
    limbs.push_back(limbsOf(out_.joints, std::span(labels_.counts).subspan(p * n, n)));
    for (std::uint32_t j = 0; j < n; ++j) {
      std::uint32_t& stand_in = out_.stands_for[p * n + j];
      const bool by_limb = stand_in != RegionJoint::kNone && limbs[p][stand_in] != kTrunk;
      if (limbs[p][j] == kTrunk || by_limb) continue;
      alone[p * n + j] = 1;
      stand_in = j;
    }
  }
  ShareRows concern;
  std::map<std::uint32_t, double> row, of_limb;
  for (std::size_t v = 0; v < rest_.size(); ++v) {
    const std::size_t p = rest_.pieceOf(v);
    row.clear();
    of_limb.clear();
    double in_limbs = 0, own = 0, sum = 0;
    for (std::size_t k = 0; k < weights.columnsOf(v).size(); ++k) {
      const std::uint32_t j = weights.columnsOf(v)[k];
      const double weight = weights.sharesOf(v)[k];
      if (limbs[p][j] == kTrunk) continue;
      in_limbs += weight;
      of_limb[limbs[p][j]] += weight;
      if (!alone[p * n + j] || weight < kMinConcern) continue;
      own += weight;
      row[j] += weight;
    }
    for (std::size_t k = 0; k < out_.concern.columnsOf(v).size(); ++k) {
      const std::uint32_t j = out_.concern.columnsOf(v)[k];
      const auto same = of_limb.find(limbs[p][j]);
      const double in_others = in_limbs - (same == of_limb.end() ? 0.0 : same->second);
      row[j] += std::max(kMinConcern, 1 - own) * std::max(kMinConcern, 1 - in_others) *
                out_.concern.sharesOf(v)[k];
    }
    for (const auto& [j, share] : row) sum += share;
    for (const auto& [j, share] : row) {
      concern.columns.push_back(j);
      concern.shares.push_back(share / sum);
    }
    concern.offsets.push_back(static_cast<std::uint32_t>(concern.columns.size()));
  }
  out_.concern = std::move(concern);
}

void Builder::label() {
  out_.bending.assign(rest_.size(), 0.0f);
  if (!skin_.empty()) out_.joints = detail::regionJoints(skeleton_, skin_);
  ShareRows weights;
  if (out_.joints.empty()) {
    out_.joints.push_back({.bind_position = centroid(std::span<const Vec3d>(positions_))});
    labels_ = unlabelled(rest_);
  } else {
    weights = detail::measuredWeights(rest_.surface, skin_, out_.joints);
    for (std::size_t v = 0; v < rest_.size(); ++v) {
      double squares = 0;
      for (const double w : weights.sharesOf(v)) squares += w * w;
      // One weight of 1 leaves rounding behind; skin that follows one joint is rigid.
      out_.bending[v] =
          weights.sharesOf(v).size() < 2 ? 0.0f : static_cast<float>(std::max(0.0, 1 - squares));
    }
    labels_ = detail::labelVertices(rest_, detail::weightsBelow(weights, out_.joints), weights,
                                    out_.joints, desc_);
  }
  out_.anchor = labels_.label;
  const std::size_t n = out_.joints.size();
  out_.concern = detail::averaged(oneHot(out_.anchor), n, rest_.neighbours,
                                  passesFor(kConcernPasses, rest_.size()), kMinConcern);
  out_.stands_for.assign(rest_.pieceCount() * n, RegionJoint::kNone);
  for (std::size_t p = 0; p < rest_.pieceCount(); ++p)
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t above = out_.joints[j].parent;
      if (labels_.counts[p * n + j])
        out_.stands_for[p * n + j] = static_cast<std::uint32_t>(j);
      else if (above != RegionJoint::kNone)
        out_.stands_for[p * n + j] = out_.stands_for[p * n + above];
    }
  if (weights.rowCount() > 0) keepLimbsApart(weights);
}

void Builder::wholeRegion() {
  out_.regions.push_back({.name = "whole"});
  out_.membership = oneHot(std::vector<std::uint32_t>(rest_.size(), 0));
  out_.hub_of_piece.assign(rest_.pieceCount(), 0);
}

void Builder::pieceRegions() {
  for (std::uint32_t p = 0; p < rest_.pieceCount(); ++p) {
    out_.regions.push_back({.name = rest_.pieceCount() == 1 ? "whole" : "piece", .piece = p});
    out_.hub_of_piece.push_back(p);
  }
  out_.membership = oneHot(rest_.surface.piece_of_point);
}

void Builder::jointRegions() {
  const detail::LabelGroups merged = detail::mergeLabels(rest_, labels_, out_.joints, desc_);
  out_.hub_of_piece.assign(rest_.pieceCount(), 0);
  std::vector<char> has_hub(rest_.pieceCount(), 0);
  for (const detail::LabelGroup& g : merged.groups) {
    const auto region = static_cast<std::uint32_t>(out_.regions.size());
    out_.regions.push_back(
        {.name = jointName(g.joint), .piece = g.piece, .joint = out_.joints[g.joint].joint});
    if (out_.regions.back().name.empty()) out_.regions.back().name = "piece";
    // The joint nearest the root: groups of a piece come in the order of their joints.
    std::uint32_t& hub = out_.hub_of_piece[g.piece];
    if (!has_hub[g.piece]) hub = region;
    has_hub[g.piece] = 1;
  }
  out_.membership = detail::quantised(
      detail::averaged(oneHot(merged.group_of_row), out_.regions.size(), rest_.neighbours,
                       passesFor(kMembershipPasses, rest_.size()), kMinMembership));
}

void Builder::groupRegions() {
  // Column = group * pieces + piece, then what is left over of each piece.
  const std::size_t pieces = rest_.pieceCount(), groups = desc_.groups.size();
  std::vector<std::vector<double>> strength(groups, std::vector<double>(rest_.size(), 0.0));
  for (std::size_t g = 0; g < groups; ++g) {
    std::vector<double> of_mesh(mesh_.vertexCount(), 0.0);
    const VertexGroup& group = *mesh_.findGroup(desc_.groups[g]);
    for (std::size_t k = 0; k < group.vertices.size(); ++k)
      of_mesh[group.vertices[k]] = double{group.strengths[k]};
    for (std::size_t v = 0; v < rest_.size(); ++v)
      detail::eachVertexOf(rest_.surface, v, [&](std::size_t mesh_vertex, double part) {
        strength[g][v] += part * of_mesh[mesh_vertex];
      });
  }
  std::map<std::uint32_t, std::uint32_t> used;
  ShareRows rows;
  for (std::size_t v = 0; v < rest_.size(); ++v) {
    double sum = 0;
    for (std::size_t g = 0; g < groups; ++g) sum += strength[g][v];
    const double scale = std::max(sum, 1.0);
    for (std::size_t g = 0; g <= groups; ++g) {
      const double share = g < groups ? strength[g][v] / scale : 1 - sum / scale;
      if (!(share > kMinMembership)) continue;
      rows.columns.push_back(static_cast<std::uint32_t>(g * pieces + rest_.pieceOf(v)));
      rows.shares.push_back(share);
      used.emplace(rows.columns.back(), 0);
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.columns.size()));
  }
  // Regions of a piece follow each other.
  std::vector<std::pair<std::size_t, std::uint32_t>> order;
  for (const auto& [column, unused] : used) order.emplace_back(column % pieces, column);
  std::sort(order.begin(), order.end());
  out_.hub_of_piece.assign(pieces, 0);
  for (const auto& [piece, column] : order) {
    const std::size_t g = column / pieces;
    used[column] = static_cast<std::uint32_t>(out_.regions.size());
    out_.hub_of_piece[piece] = used[column];
    out_.regions.push_back({.name = g < groups ? desc_.groups[g] : "rest",
                            .piece = static_cast<std::uint32_t>(piece)});
  }
  for (std::uint32_t& column : rows.columns) column = used[column];
  out_.membership = detail::quantised(detail::averaged(rows, out_.regions.size(), rest_.neighbours,
                                                       passesFor(kMembershipPasses, rest_.size()),
                                                       kMinMembership));
}

void Builder::makeNamesUnique() {
  std::map<std::string, int> count;
  std::set<std::string> taken;
  for (VolumeRegion& r : out_.regions) taken.insert(r.name);
  for (VolumeRegion& r : out_.regions) {
    int& n = ++count[r.name];
    if (n == 1) continue;
    std::string name;
    do {
      name = r.name + " " + std::to_string(n);
    } while (!taken.insert(name).second && ++n > 0);
    r.name = name;
  }
}

}  // namespace

Result<VolumeRegions> VolumeRegions::bind(const MeasuredSurface& surface, const TriMesh& mesh,
                                          const Skeleton& skeleton, const Skin& skin,
                                          const RegionsDesc& desc) {
  DERM_REQUIRE(skin.empty() || skin.vertexCount() == mesh.vertexCount());
  DERM_CHECK(check(desc, mesh));
  return Builder(surface, mesh, skeleton, skin, desc).build();
}

void VolumeRegions::jointPositions(std::span<const Affine3d> model,
                                   std::span<Vec3d> out) const noexcept {
  for (std::size_t j = 0; j < joints.size(); ++j)
    out[j] = joints[j].joint.valid() ? Vec3d(model[joints[j].joint.index()].translation())
                                     : joints[j].bind_position;
}

std::vector<Vec3d> VolumeRegions::bindPositions() const {
  std::vector<Vec3d> out;
  for (const RegionJoint& j : joints) out.push_back(j.bind_position);
  return out;
}

}  // namespace derm
