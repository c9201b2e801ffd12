#include "deform/skinning_blocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <tuple>

#include "derm/math/transform.h"

namespace derm::detail {
namespace {

/// Large enough for groups to fill blocks, small enough for a tile's output to stay in a core's
/// own cache and for a mesh of some ten thousand vertices to keep several threads busy.
constexpr std::size_t kTileVertices = 2048;
/// Small groups are packed among this many neighbours at a time: packing is quadratic.
constexpr std::size_t kPackWindow = 256;
/// A block costs about as much as this many slots, apart from its slots.
constexpr int kBlockCost = 4;

/// The rows of a skin with slots ascending: the order in which kernels add.
struct Rows {
  std::vector<std::uint32_t> offsets;
  std::vector<Influence> influences;

  std::span<const Influence> operator[](std::size_t vertex) const {
    return std::span(influences).subspan(offsets[vertex], offsets[vertex + 1] - offsets[vertex]);
  }
};

Rows rowsBySlot(const Skin& skin, SkinningMethod method) {
  Rows rows;
  rows.offsets.reserve(skin.vertexCount() + 1);
  rows.offsets.push_back(0);
  for (std::size_t v = 0; v < skin.vertexCount(); ++v) {
    if (method == SkinningMethod::Rigid || skin[v].size() == 1) {
      rows.influences.push_back({skin[v].front().slot, 1.0f});
    } else {
      const std::size_t start = rows.influences.size();
      rows.influences.insert(rows.influences.end(), skin[v].begin(), skin[v].end());
      std::sort(rows.influences.begin() + static_cast<std::ptrdiff_t>(start), rows.influences.end(),
                [](const Influence& a, const Influence& b) { return a.slot < b.slot; });
    }
    rows.offsets.push_back(static_cast<std::uint32_t>(rows.influences.size()));
  }
  return rows;
}

/// Up to kBlockLanes vertices that will share a block, and every slot they need.
struct Part {
  BlockKind kind = BlockKind::Linear;
  std::uint32_t twist_bone = TwistShares::kNone;
  std::vector<std::uint32_t> slots;
  std::vector<std::uint32_t> vertices;

  std::size_t free() const { return kBlockLanes - vertices.size(); }
};

/// How many of `added` are not yet in `slots`; both ascending.
int missing(std::span<const std::uint32_t> slots, std::span<const std::uint32_t> added) {
  int count = 0;
  std::size_t i = 0;
  for (const std::uint32_t slot : added) {
    while (i < slots.size() && slots[i] < slot) ++i;
    count += i == slots.size() || slots[i] != slot;
  }
  return count;
}

void absorb(Part& host, Part& guest) {
  std::vector<std::uint32_t> slots;
  std::set_union(host.slots.begin(), host.slots.end(), guest.slots.begin(), guest.slots.end(),
                 std::back_inserter(slots));
  host.slots = std::move(slots);
  host.vertices.insert(host.vertices.end(), guest.vertices.begin(), guest.vertices.end());
  guest.vertices.clear();
}

/// Fills up each part in turn with the best guests among the later ones. Demanding: a guest must
/// bring fewer new slots than its fair share of a block of its own would cost; otherwise it is
/// enough that one block is cheaper than two, which is always so.
void mergeParts(std::span<Part> parts, bool demanding) {
  for (std::size_t h = 0; h < parts.size(); ++h) {
    Part& host = parts[h];
    while (!host.vertices.empty() && host.free() > 0) {
      Part* best = nullptr;
      int best_gain = 0;
      for (std::size_t g = h + 1; g < parts.size(); ++g) {
        Part& guest = parts[g];
        if (guest.vertices.empty() || guest.kind != host.kind ||
            guest.twist_bone != host.twist_bone || guest.vertices.size() > host.free())
          continue;
        const int own_cost = static_cast<int>(guest.slots.size()) + kBlockCost;
        const int lanes = demanding ? static_cast<int>(guest.vertices.size()) : kBlockLanes;
        // In eighths of a slot, to stay with integers.
        const int gain =
            lanes * own_cost - static_cast<int>(kBlockLanes) * missing(host.slots, guest.slots);
        if (gain > best_gain) {
          best_gain = gain;
          best = &guest;
        }
      }
      if (!best) break;
      absorb(host, *best);
    }
  }
}

void packParts(std::vector<Part>& parts) {
  for (std::size_t begin = 0; begin < parts.size(); begin += kPackWindow) {
    const std::span<Part> window =
        std::span(parts).subspan(begin, std::min(kPackWindow, parts.size() - begin));
    std::stable_sort(window.begin(), window.end(),
                     [](const Part& a, const Part& b) { return a.slots.size() > b.slots.size(); });
    mergeParts(window, true);
    mergeParts(window, false);
  }
  std::erase_if(parts, [](const Part& p) { return p.vertices.empty(); });
}

/// Cuts a group of vertices, ascending, into parts like `empty_part`. Eight that follow each other
/// come first: such a block is read and written in one go.
void splitGroup(std::span<const std::uint32_t> group, const Part& empty_part,
                std::vector<Part>& parts) {
  std::vector<std::uint32_t> rest;
  for (std::size_t i = 0; i < group.size();) {
    const bool in_a_row =
        i + kBlockLanes <= group.size() && group[i + kBlockLanes - 1] - group[i] == kBlockLanes - 1;
    if (in_a_row) {
      parts.push_back(empty_part);
      const auto row = group.subspan(i, kBlockLanes);
      parts.back().vertices.assign(row.begin(), row.end());
      i += kBlockLanes;
    } else {
      rest.push_back(group[i++]);
    }
  }
  for (std::size_t i = 0; i < rest.size(); i += kBlockLanes) {
    const auto some = std::span(rest).subspan(i, std::min(kBlockLanes, rest.size() - i));
    parts.push_back(empty_part);
    parts.back().vertices.assign(some.begin(), some.end());
  }
}

class Builder {
 public:
  Builder(const SurfaceStreams& rest, const Skin& skin, const SkinningDesc& desc,
          const CentreTables& centres)
      : rest_(rest),
        skin_(skin),
        desc_(desc),
        centres_(centres),
        rows_(rowsBySlot(skin, desc.method)) {
    out_.vertex_count = rest.positions.size();
    out_.has_normals = !rest.normals.empty();
    out_.has_tangents = !rest.tangents.empty();
    out_.uses_dual_quaternions = desc.method == SkinningMethod::DualQuaternion ||
                                 desc.method == SkinningMethod::Centre ||
                                 !desc.dual_quaternion_share.empty();
    if (desc.method == SkinningMethod::Centre) {
      out_.slot_links = centres.links;
      out_.twist_bones = centres.twist_bones;
      for (const Vec3d& c : centres.of_vertices) out_.vertex_centres.push_back(c.cast<float>());
    }
    for (const SkinSlot& slot : skin.slots) {
      bool invertible = false;
      const Affine3d bind = inverseOrIdentity(slot.inverse_bind.cast<double>(), invertible);
      out_.slot_centres.push_back(bind.translation());
    }
  }

  SkinningBlocks build() && {
    out_.tile_runs.push_back(0);
    for (std::size_t v = 0; v < out_.vertex_count; v += kTileVertices) {
      addTile(v, std::min(v + kTileVertices, out_.vertex_count));
      out_.tile_runs.push_back(static_cast<std::uint32_t>(out_.runs.size()));
    }
    const auto trim = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
    trim(out_.weights, out_.vertices, out_.positions, out_.normals, out_.tangents, out_.pivots,
         out_.centres, out_.shares, out_.twist_shares);
    return std::move(out_);
  }

 private:
  float share(std::size_t vertex) const {
    if (!desc_.dual_quaternion_share.empty()) return desc_.dual_quaternion_share[vertex];
    return desc_.method == SkinningMethod::DualQuaternion ? 1.0f : 0.0f;
  }
  std::uint32_t twistBone(std::size_t vertex) const {
    return centres_.twists.bone.empty() ? TwistShares::kNone : centres_.twists.bone[vertex];
  }
  BlockKind kind(std::size_t vertex) const {
    // What follows one joint alone is carried by its matrix whatever the centre.
    if (desc_.method == SkinningMethod::Centre)
      return rows_[vertex].size() == 1 && twistBone(vertex) == TwistShares::kNone
                 ? BlockKind::Linear
                 : BlockKind::Centre;
    const float s = share(vertex);
    return s <= 0 ? BlockKind::Linear : s >= 1 ? BlockKind::DualQuaternion : BlockKind::Mixed;
  }
  /// < 0, 0, > 0 as the vertices' kinds and lists of slots compare.
  int compareSets(std::uint32_t a, std::uint32_t b) const;
  /// Vertices of a range split into parts of one block each, of one list of slots.
  std::vector<Part> splitTile(std::size_t begin, std::size_t end) const;
  void addTile(std::size_t begin, std::size_t end);
  void addBlock(const Part& part);
  void addLane(const Part& part, std::size_t block, std::size_t lane);

  const SurfaceStreams& rest_;
  const Skin& skin_;
  const SkinningDesc& desc_;
  const CentreTables& centres_;
  Rows rows_;
  SkinningBlocks out_;
};

int Builder::compareSets(std::uint32_t a, std::uint32_t b) const {
  if (kind(a) != kind(b)) return kind(a) < kind(b) ? -1 : 1;
  if (twistBone(a) != twistBone(b)) return twistBone(a) < twistBone(b) ? -1 : 1;
  const std::span<const Influence> left = rows_[a], right = rows_[b];
  for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i)
    if (left[i].slot != right[i].slot) return left[i].slot < right[i].slot ? -1 : 1;
  return left.size() == right.size() ? 0 : left.size() < right.size() ? -1 : 1;
}

std::vector<Part> Builder::splitTile(std::size_t begin, std::size_t end) const {
  std::vector<std::uint32_t> order(end - begin);
  std::iota(order.begin(), order.end(), static_cast<std::uint32_t>(begin));
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return compareSets(a, b) < 0; });
  std::vector<Part> parts;
  for (auto group = order.begin(); group != order.end();) {
    const auto group_end = std::find_if(
        group, order.end(), [&](std::uint32_t v) { return compareSets(*group, v) != 0; });
    Part part{.kind = kind(*group), .twist_bone = twistBone(*group)};
    for (const Influence& i : rows_[*group]) part.slots.push_back(i.slot);
    splitGroup({&*group, static_cast<std::size_t>(group_end - group)}, part, parts);
    group = group_end;
  }
  return parts;
}

void Builder::addTile(std::size_t begin, std::size_t end) {
  std::vector<Part> full = splitTile(begin, end);
  const auto first_partial =
      std::stable_partition(full.begin(), full.end(), [](const Part& p) { return p.free() == 0; });
  std::vector<Part> packed(std::make_move_iterator(first_partial),
                           std::make_move_iterator(full.end()));
  full.erase(first_partial, full.end());
  packParts(packed);
  full.insert(full.end(), std::make_move_iterator(packed.begin()),
              std::make_move_iterator(packed.end()));
  for (Part& p : full) std::sort(p.vertices.begin(), p.vertices.end());
  std::sort(full.begin(), full.end(), [](const Part& a, const Part& b) {
    return std::tie(a.kind, a.twist_bone, a.slots, a.vertices) <
           std::tie(b.kind, b.twist_bone, b.slots, b.vertices);
  });
  for (std::size_t i = 0; i < full.size(); ++i) {
    const Part& part = full[i];
    if (i == 0 || part.kind != full[i - 1].kind || part.twist_bone != full[i - 1].twist_bone ||
        part.slots != full[i - 1].slots) {
      out_.runs.push_back(
          {.kind = part.kind,
           .twist_bone = part.twist_bone,
           .first_block = static_cast<std::uint32_t>(out_.vertices.size() / kBlockLanes),
           .slot_count = static_cast<std::uint32_t>(part.slots.size()),
           .first_slot = out_.slots.size(),
           .first_weight = out_.weights.size()});
      out_.slots.insert(out_.slots.end(), part.slots.begin(), part.slots.end());
    }
    ++out_.runs.back().block_count;
    addBlock(part);
  }
}

void Builder::addBlock(const Part& part) {
  const std::size_t block = out_.vertices.size() / kBlockLanes;
  const std::size_t lanes = (block + 1) * kBlockLanes;
  out_.vertices.resize(lanes);
  out_.positions.resize(3 * lanes);
  if (out_.has_normals) out_.normals.resize(3 * lanes);
  if (out_.has_tangents) out_.tangents.resize(4 * lanes);
  if (out_.uses_dual_quaternions) {
    out_.centres.resize(3 * lanes);
    if (desc_.method != SkinningMethod::Centre) {
      out_.pivots.resize(lanes);
      out_.shares.resize(lanes);
    }
  }
  if (!out_.twist_bones.empty()) out_.twist_shares.resize(lanes);
  out_.weights.resize(out_.weights.size() + part.slots.size() * kBlockLanes);
  for (std::size_t lane = 0; lane < kBlockLanes; ++lane) addLane(part, block, lane);
}

void Builder::addLane(const Part& part, std::size_t block, std::size_t lane) {
  const std::uint32_t v = part.vertices[std::min(lane, part.vertices.size() - 1)];
  const auto put = [&](CacheLineVector<float>& stream, const auto& value) {
    const auto width = static_cast<std::size_t>(value.size());
    for (std::size_t c = 0; c < width; ++c)
      stream[(block * width + c) * kBlockLanes + lane] =
          static_cast<float>(value[static_cast<Eigen::Index>(c)]);
  };
  out_.vertices[block * kBlockLanes + lane] = v;
  put(out_.positions, rest_.positions[v]);
  if (out_.has_normals) put(out_.normals, rest_.normals[v]);
  if (out_.has_tangents) put(out_.tangents, rest_.tangents[v]);
  float* const weights =
      out_.weights.data() + out_.weights.size() - part.slots.size() * kBlockLanes;
  std::size_t at = 0;
  for (const Influence& i : rows_[v]) {
    while (part.slots[at] != i.slot) ++at;
    weights[at * kBlockLanes + lane] = i.weight;
  }
  if (!out_.uses_dual_quaternions) return;
  if (desc_.method == SkinningMethod::Centre) {
    put(out_.centres, centres_.of_vertices[v]);
    if (!out_.twist_bones.empty())
      out_.twist_shares[block * kBlockLanes + lane] = centres_.twists.share[v];
    return;
  }
  const auto pivot = std::find(part.slots.begin(), part.slots.end(), skin_[v].front().slot);
  out_.pivots[block * kBlockLanes + lane] = static_cast<std::uint32_t>(pivot - part.slots.begin());
  out_.shares[block * kBlockLanes + lane] = share(v);
  Vec3d centre = Vec3d::Zero();
  for (const Influence& i : rows_[v]) centre += double{i.weight} * out_.slot_centres[i.slot];
  put(out_.centres, centre);
}

}  // namespace

SkinningBlocks makeSkinningBlocks(const SurfaceStreams& rest, const Skin& skin,
                                  const SkinningDesc& desc, const CentreTables& centres) {
  return Builder(rest, skin, desc, centres).build();
}

}  // namespace derm::detail
