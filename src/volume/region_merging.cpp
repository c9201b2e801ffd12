#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "derm/volume/region_volumes.h"

#include "volume/region_labels.h"

namespace derm {
namespace {

/// Where two groups touch.
struct Border {
  double length = 0;       ///< [m]
  double bend_length = 0;  ///< [m] length times how much the skin bends there
};
using Borders = std::map<std::pair<std::uint32_t, std::uint32_t>, Border>;

/// Every label of every piece as a group of its own, to begin with.
struct Groups {
  std::vector<detail::LabelGroup> groups;   ///< by piece, then joint
  std::vector<std::uint32_t> group_of_row;  ///< per vertex, as at the start
  std::vector<std::uint32_t> merged_into;   ///< per group, itself or an earlier one
  std::vector<double> volume;               ///< [m^3] of merged groups, at their first
  std::vector<std::size_t> points;          ///< the same
  /// Per piece, between its groups that are left. Pieces do not touch, so each is merged by itself:
  /// the search for the next pair would grow with the square of their number.
  std::vector<Borders> borders;
  std::vector<std::uint32_t> first_of_piece;  ///< per piece its first group, and the end

  std::uint32_t find(std::uint32_t g) const {
    while (merged_into[g] != g) g = merged_into[g];
    return g;
  }
};

Groups groupPerLabel(const detail::RestSurface& rest, const detail::RegionLabels& labels) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number;
  for (std::size_t v = 0; v < rest.size(); ++v)
    number.emplace(std::pair(rest.pieceOf(v), labels.label[v]), 0);
  Groups out;
  for (auto& [key, index] : number) {
    index = static_cast<std::uint32_t>(out.groups.size());
    out.merged_into.push_back(index);
    while (out.first_of_piece.size() <= key.first) out.first_of_piece.push_back(index);
    out.groups.push_back({key.first, key.second});
  }
  while (out.first_of_piece.size() <= rest.pieceCount())
    out.first_of_piece.push_back(static_cast<std::uint32_t>(out.groups.size()));
  out.borders.resize(rest.pieceCount());
  out.points.assign(out.groups.size(), 0);
  for (std::size_t v = 0; v < rest.size(); ++v) {
    out.group_of_row.push_back(number[{rest.pieceOf(v), labels.label[v]}]);
    ++out.points[out.group_of_row.back()];
  }
  return out;
}

void measureBorders(const detail::RestSurface& rest, const detail::RegionLabels& labels,
                    Groups& groups) {
  for (std::uint32_t v = 0; v < rest.size(); ++v)
    for (const std::uint32_t n : rest.neighbours[v]) {
      const std::uint32_t a = groups.group_of_row[v], b = groups.group_of_row[n];
      if (n < v || a == b) continue;
      Border& border = groups.borders[rest.pieceOf(v)][std::minmax(a, b)];
      const double length = (rest.positions[v] - rest.positions[n]).norm();
      border.length += length;
      border.bend_length += length * 0.5 * (labels.bend[v] + labels.bend[n]);
    }
}

void measureVolumes(const detail::RestSurface& rest, const detail::RegionLabels& labels,
                    std::span<const RegionJoint> joints, Groups& groups) {
  VolumeRegions each;
  each.regions.resize(groups.groups.size());
  each.joints.assign(joints.begin(), joints.end());
  each.anchor = labels.label;
  each.hub_of_piece.assign(rest.pieceCount(), 0);
  for (std::uint32_t g = static_cast<std::uint32_t>(groups.groups.size()); g-- > 0;)
    each.hub_of_piece[groups.groups[g].piece] = g;
  for (const std::uint32_t g : groups.group_of_row) {
    each.membership.columns.push_back(g);
    each.membership.shares.push_back(1);
    each.membership.offsets.push_back(static_cast<std::uint32_t>(each.membership.columns.size()));
  }
  const RegionVolumes volumes(rest.surface, each, RegionTables::Volumes);
  groups.volume = volumes.volumes(rest.positions, each.bindPositions());
}

/// `from` becomes part of `into`; the earlier of the two stands for both.
void merge(Groups& groups, std::uint32_t a, std::uint32_t b) {
  const std::uint32_t kept = std::min(a, b), gone = std::max(a, b);
  groups.merged_into[gone] = kept;
  groups.volume[kept] += groups.volume[gone];
  groups.points[kept] += groups.points[gone];
  Borders& of_piece = groups.borders[groups.groups[kept].piece];
  Borders borders;
  for (const auto& [pair, border] : of_piece) {
    const std::uint32_t l = groups.find(pair.first), r = groups.find(pair.second);
    if (l == r) continue;
    Border& sum = borders[std::minmax(l, r)];
    sum.length += border.length;
    sum.bend_length += border.bend_length;
  }
  of_piece = std::move(borders);
}

void mergeBending(Groups& groups, std::size_t piece, double beta) {
  for (;;) {
    const Borders::value_type* worst = nullptr;
    double worst_bend = beta;
    for (const auto& entry : groups.borders[piece]) {
      if (!(entry.second.length > 0)) continue;
      const double bend = entry.second.bend_length / entry.second.length;
      if (bend > worst_bend) {
        worst_bend = bend;
        worst = &entry;
      }
    }
    if (worst == nullptr) return;
    const auto [a, b] = worst->first;
    merge(groups, a, b);
  }
}

/// The smallest group of a piece that is too small, and the neighbour it shares most of its border
/// with.
std::optional<std::pair<std::uint32_t, std::uint32_t>> smallestMerge(const Groups& groups,
                                                                     std::size_t piece,
                                                                     double piece_volume,
                                                                     const RegionsDesc& desc) {
  std::optional<std::pair<std::uint32_t, std::uint32_t>> found;
  double smallest = 1;
  for (std::uint32_t g = groups.first_of_piece[piece]; g < groups.first_of_piece[piece + 1]; ++g) {
    if (groups.find(g) != g) continue;
    const double all = std::abs(piece_volume);
    const double share = all > 0 ? std::abs(groups.volume[g]) / all : 1;
    // How far it is from being enough, of volume or of points.
    const double enough = std::min(desc.min_volume_share > 0 ? share / desc.min_volume_share : 1,
                                   desc.min_points > 0 ? static_cast<double>(groups.points[g]) /
                                                             static_cast<double>(desc.min_points)
                                                       : 1);
    if (!(enough < smallest)) continue;
    double longest = -1;
    for (const auto& [pair, border] : groups.borders[piece]) {
      if ((pair.first != g && pair.second != g) || !(border.length > longest)) continue;
      longest = border.length;
      smallest = enough;
      found = pair;
    }
  }
  return found;
}

void mergeSmall(Groups& groups, std::size_t piece, const RegionsDesc& desc) {
  double volume = 0;
  for (std::uint32_t g = groups.first_of_piece[piece]; g < groups.first_of_piece[piece + 1]; ++g)
    if (groups.find(g) == g) volume += groups.volume[g];
  while (const auto pair = smallestMerge(groups, piece, volume, desc))
    merge(groups, pair->first, pair->second);
}

std::size_t depthOf(std::uint32_t joint, std::span<const RegionJoint> joints) {
  std::size_t depth = 0;
  for (; joints[joint].parent != RegionJoint::kNone; joint = joints[joint].parent) ++depth;
  return depth;
}

}  // namespace

detail::LabelGroups detail::mergeLabels(const detail::RestSurface& rest,
                                        const detail::RegionLabels& labels,
                                        std::span<const RegionJoint> joints,
                                        const RegionsDesc& desc) {
  Groups groups = groupPerLabel(rest, labels);
  measureBorders(rest, labels, groups);
  measureVolumes(rest, labels, joints, groups);
  for (std::size_t piece = 0; piece < rest.pieceCount(); ++piece) {
    mergeBending(groups, piece, desc.beta);
    mergeSmall(groups, piece, desc);
  }
  detail::LabelGroups out;
  std::vector<std::uint32_t> number(groups.groups.size());
  for (std::uint32_t g = 0; g < groups.groups.size(); ++g) {
    const std::uint32_t root = groups.find(g);
    if (root == g) {
      number[g] = static_cast<std::uint32_t>(out.groups.size());
      out.groups.push_back(groups.groups[g]);
    }
    detail::LabelGroup& group = out.groups[number[root]];
    if (depthOf(groups.groups[g].joint, joints) < depthOf(group.joint, joints))
      group.joint = groups.groups[g].joint;
  }
  for (const std::uint32_t g : groups.group_of_row)
    out.group_of_row.push_back(number[groups.find(g)]);
  return out;
}

}  // namespace derm
