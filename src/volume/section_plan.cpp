#include "volume/section_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "derm/mesh/adjacency.h"

#include "volume/joint_tree.h"

namespace derm::detail {
namespace {

constexpr std::uint32_t kLongestChunk = 2048;

class Builder {
 public:
  Builder(const MeasuredSurface& surface, const VolumeRegions& regions, std::span<const Vec3d> rest,
          std::span<const float> mask)
      : surface_(surface),
        regions_(regions),
        rest_(rest),
        mask_(mask),
        neighbours_(vertexNeighbours(surface.triangles, surface.pointCount())) {}

  SectionPlan build() && {
    out_.point_count = surface_.pointCount();
    out_.welded_count = surface_.weldedCount();
    out_.region_count = regions_.regionCount();
    out_.joint_count = regions_.jointCount();
    out_.rest_volumes = RegionVolumes(surface_, regions_, RegionTables::Volumes)
                            .volumes(rest_, regions_.bindPositions());
    makeBlocks();
    findActive();
    describeActive();
    listAreas();
    listConcerns();
    listApexes();
    sortTriangles();
    chunkTriangles(out_.moving, true);
    chunkTriangles(out_.still, false);
    planAreas();
    turnToRows();
    trim();
    return std::move(out_);
  }

 private:
  void makeBlocks();
  void findActive();
  void describeActive();
  void listAreas();
  void listConcerns();
  void listApexes();
  void sortTriangles();
  void chunkTriangles(SectionTriangles& list, bool with_matrix);
  template <class Some>
  void chunkGeneral(SectionTriangles& list, const Some& some, SectionKind kind,
                    std::uint32_t block);
  void beginChunk(SectionTriangles& list, SectionChunk chunk, std::span<const std::uint32_t> set);
  std::vector<std::uint32_t> regionsOf(const Triangle& corners) const;
  void planAreas();
  void turnToRows();
  void trim();
  std::uint32_t blockOfPoint(std::size_t point) const {
    return block_of_region_[regions_.membership.columnsOf(point).front()];
  }
  bool weldedMoves(std::uint32_t welded) const { return out_.moves(out_.row_of_point[welded]); }
  bool moves(std::uint32_t point) const {
    if (!isApex(point)) return weldedMoves(point);
    const auto border = surface_.borders[point - out_.welded_count];
    return std::any_of(border.begin(), border.end(),
                       [&](std::uint32_t p) { return weldedMoves(p); });
  }
  bool isApex(std::uint32_t point) const { return point >= out_.welded_count; }

  const MeasuredSurface& surface_;
  const VolumeRegions& regions_;
  std::span<const Vec3d> rest_;
  std::span<const float> mask_;
  IndexLists neighbours_;
  std::vector<std::uint32_t> active_;  ///< welded vertices that can move, by block
  std::vector<std::uint32_t> block_of_region_;
  std::vector<char> block_moves_;
  SectionPlan out_;
};

void Builder::makeBlocks() {
  for (std::uint32_t l = 0; l < out_.region_count; ++l) {
    if (l == 0 || regions_.regions[l].piece != regions_.regions[l - 1].piece) {
      out_.blocks.push_back({.first_region = l, .first_matrix = out_.matrix_size});
    }
    SectionBlock& block = out_.blocks.back();
    ++block.region_count;
    block_of_region_.push_back(static_cast<std::uint32_t>(out_.blocks.size() - 1));
    out_.matrix_size = block.first_matrix + std::size_t{block.region_count} * block.region_count;
  }
}

void Builder::findActive() {
  // Whether there is any volume to keep is the piece's business.
  std::vector<char> reached(out_.point_count, 0);
  std::vector<std::uint32_t> front;
  for (std::uint32_t v = 0; v < out_.welded_count; ++v)
    if (regions_.bending[v] > 0 && surface_.hasVolume(surface_.piece_of_point[v])) {
      reached[v] = 1;
      front.push_back(v);
    }
  for (int ring = 0; ring < kFieldPasses; ++ring) {
    std::vector<std::uint32_t> next;
    for (const std::uint32_t v : front)
      for (const std::uint32_t n : neighbours_[v])
        if (!isApex(n) && !reached[n]) {
          reached[n] = 1;
          next.push_back(n);
        }
    front = std::move(next);
  }
  std::vector<std::vector<std::uint32_t>> by_block(out_.blocks.size());
  for (std::uint32_t v = 0; v < out_.welded_count; ++v)
    if (reached[v]) by_block[blockOfPoint(v)].push_back(v);
  out_.row_of_point.assign(out_.point_count, kStandsStill);
  for (std::size_t b = 0; b < by_block.size(); ++b) {
    out_.blocks[b].first_active = static_cast<std::uint32_t>(active_.size());
    out_.blocks[b].active_count = static_cast<std::uint32_t>(by_block[b].size());
    block_moves_.push_back(!by_block[b].empty());
    for (const std::uint32_t v : by_block[b]) {
      out_.row_of_point[v] = static_cast<std::uint32_t>(active_.size());
      active_.push_back(v);
    }
  }
  out_.active_count = active_.size();
  auto row = static_cast<std::uint32_t>(active_.size());
  for (std::uint32_t& of_point : out_.row_of_point)
    if (of_point == kStandsStill) of_point = row++;
}

void Builder::describeActive() {
  for (const std::uint32_t v : active_) {
    const auto here = static_cast<std::int32_t>(out_.row_of_point[v]);
    out_.bending.push_back(regions_.bending[v]);
    if (!mask_.empty()) out_.mask.push_back(mask_[v]);
    if (out_.neighbour_counts.size() % kSectionChunk == 0)
      out_.chunk_neighbours.push_back(static_cast<std::uint32_t>(out_.far_neighbours.size()));
    SectionNeighbours count;
    for (const std::uint32_t n : neighbours_[v]) {
      if (isApex(n)) continue;
      if (count.all == std::numeric_limits<std::uint8_t>::max()) break;
      ++count.all;
      if (!weldedMoves(n)) continue;
      ++count.moving;
      out_.far_neighbours.push_back(static_cast<std::int32_t>(out_.row_of_point[n]) - here);
    }
    out_.neighbour_counts.push_back(count);
  }
  std::vector<float> shares;
  const auto add_members = [&](std::uint32_t v) {
    shares.assign(regions_.membership.sharesOf(v).begin(), regions_.membership.sharesOf(v).end());
    out_.members.add(regions_.membership.columnsOf(v), shares);
  };
  for (const std::uint32_t v : active_) add_members(v);
  for (std::uint32_t v = 0; v < out_.point_count; ++v)
    if (isApex(v) || !weldedMoves(v)) add_members(v);
  out_.rows_of_region.resize(out_.region_count);
  for (std::uint32_t a = 0; a < active_.size(); ++a)
    for (const std::uint32_t l : regions_.membership.columnsOf(active_[a])) {
      SectionRange& range = out_.rows_of_region[l];
      if (range.end == 0) range.begin = a;
      range.end = a + 1;
    }
  const auto isNear = [](std::int32_t d) {
    return d == static_cast<std::int32_t>(static_cast<std::int16_t>(d));
  };
  if (!std::all_of(out_.far_neighbours.begin(), out_.far_neighbours.end(), isNear)) return;
  out_.near_neighbours.assign(out_.far_neighbours.begin(), out_.far_neighbours.end());
  out_.far_neighbours.clear();
}

void Builder::listAreas() {
  std::vector<double> area(active_.size(), 0.0);
  const auto bends = [&](std::uint32_t v) { return weldedMoves(v) && regions_.bending[v] > 0; };
  for (std::size_t t = 0; t < surface_.ownTriangleCount(); ++t) {
    const Triangle& c = surface_.triangles[t];
    if (!bends(c[0]) && !bends(c[1]) && !bends(c[2])) continue;
    const double a =
        0.5 * Vec3d(rest_[c[1]] - rest_[c[0]]).cross(Vec3d(rest_[c[2]] - rest_[c[0]])).norm();
    for (const std::uint32_t v : c)
      if (weldedMoves(v)) area[out_.row_of_point[v]] += a;
  }
  for (const double a : area)
    out_.rest_area_inverse.push_back(a > 0 ? static_cast<float>(1 / a) : 0.0f);
}

void Builder::listConcerns() {
  // A joint counts in each piece on its own, since other joints stand for it there.
  using Key = std::pair<std::uint32_t, std::uint32_t>;  // piece and joint, whose parents come first
  std::map<Key, std::uint32_t> number;
  for (const std::uint32_t v : active_)
    for (const std::uint32_t joint : regions_.concern.columnsOf(v))
      number.emplace(Key(surface_.piece_of_point[v], joint), kNoActivity);
  const std::size_t n = out_.joint_count;
  for (auto& [key, activity] : number) {
    const auto [piece, joint] = key;
    activity = static_cast<std::uint32_t>(out_.activityCount());
    auto above = number.end();
    for (std::uint32_t j = regions_.joints[joint].parent;
         j != RegionJoint::kNone && above == number.end(); j = regions_.joints[j].parent)
      above = number.find(Key(piece, j));
    const bool is_first = activity == 0 || std::prev(number.find(key))->first.first != piece;
    if (is_first) out_.activities_of_piece.push_back({activity, activity});
    ++out_.activities_of_piece.back().end;
    out_.activity_above.push_back(above == number.end() ? kNoActivity : above->second);
    for (std::uint32_t j = 0; j < n; ++j)
      if (regions_.stands_for[piece * n + j] == joint)
        out_.activity_sources.push_back({j, activity});
  }
  std::vector<std::uint32_t> activities;
  std::vector<float> shares;
  for (const std::uint32_t v : active_) {
    activities.clear();
    for (const std::uint32_t joint : regions_.concern.columnsOf(v))
      activities.push_back(number.at(Key(surface_.piece_of_point[v], joint)));
    shares.assign(regions_.concern.sharesOf(v).begin(), regions_.concern.sharesOf(v).end());
    out_.concerns.add(activities, shares);
  }
  const std::vector<char> all(out_.activityCount(), 1);
  out_.of_trunk = branchingNodes(out_.activity_above, all);
}

void Builder::listApexes() {
  const std::size_t count = out_.point_count - out_.welded_count;
  out_.apex_of_row.assign(count, kStandsStill);
  std::vector<std::vector<std::uint32_t>> by_block(out_.blocks.size());
  for (std::size_t a = 0; a < count; ++a) {
    const auto point = static_cast<std::uint32_t>(out_.welded_count + a);
    if (moves(point)) by_block[blockOfPoint(point)].push_back(point);
  }
  for (std::size_t b = 0; b < by_block.size(); ++b) {
    out_.blocks[b].first_apex = static_cast<std::uint32_t>(out_.apexes.size());
    out_.blocks[b].apex_count = static_cast<std::uint32_t>(by_block[b].size());
    for (const std::uint32_t point : by_block[b]) {
      out_.apex_of_row[point - out_.welded_count] = static_cast<std::uint32_t>(out_.apexes.size());
      const auto border = surface_.borders[point - out_.welded_count];
      std::set<std::uint32_t> regions;
      for (const std::uint32_t p : border)
        for (const std::uint32_t l : regions_.membership.columnsOf(p)) regions.insert(l);
      out_.apexes.push_back({.row = out_.row_of_point[point],
                             .first_border = static_cast<std::uint32_t>(out_.apex_borders.size()),
                             .border_count = static_cast<std::uint32_t>(border.size()),
                             .first_entry = static_cast<std::uint32_t>(out_.apex_regions.size()),
                             .entry_count = static_cast<std::uint32_t>(regions.size())});
      out_.apex_borders.insert(out_.apex_borders.end(), border.begin(), border.end());
      out_.apex_regions.insert(out_.apex_regions.end(), regions.begin(), regions.end());
    }
  }
}

void Builder::turnToRows() {
  const auto turn = [&](std::span<std::uint32_t> points) {
    for (std::uint32_t& p : points) p = out_.row_of_point[p];
  };
  for (SectionTriangles* list : {&out_.moving, &out_.still}) {
    for (Triangle& t : list->pure) turn(t);
    for (SectionShared& t : list->shared) turn(t.corners);
    for (SectionMixed& t : list->mixed) turn(t.corners);
  }
  turn(out_.apex_borders);
}

void Builder::trim() {
  const auto each = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  each(out_.sets, out_.bending, out_.mask, out_.rest_area_inverse, out_.neighbour_counts,
       out_.near_neighbours, out_.far_neighbours);
  for (SectionTriangles* list : {&out_.moving, &out_.still})
    each(list->pure, list->shared, list->mixed, list->pure_chunks, list->general_chunks);
  out_.members.trim();
  out_.concerns.trim();
}

/// By kind, moving or not; the pure ones by region and anchor, all by block.
void Builder::sortTriangles() {
  std::vector<std::uint32_t> pure;
  const auto region = [&](const Triangle& c) { return regions_.membership.columnsOf(c[0])[0]; };
  for (std::uint32_t t = 0; t < surface_.triangles.size(); ++t) {
    const Triangle& c = surface_.triangles[t];
    if (!block_moves_[blockOfPoint(c[0])]) continue;
    const Triangle anchors = {regions_.anchor[c[0]], regions_.anchor[c[1]], regions_.anchor[c[2]]};
    if (anchors[0] != anchors[1] && anchors[1] != anchors[2] && anchors[2] != anchors[0])
      out_.anchor_triangles.push_back(
          {anchors, regions_.hub_of_piece[surface_.piece_of_point[c[0]]]});
    const bool moving = moves(c[0]) || moves(c[1]) || moves(c[2]);
    SectionTriangles& list = moving ? out_.moving : out_.still;
    const bool fan = std::any_of(c.begin(), c.end(), [&](std::uint32_t p) { return isApex(p); });
    if (anchors[0] != anchors[1] || anchors[1] != anchors[2] || (fan && moving))
      list.mixed.push_back({c, anchors});
    else if (std::all_of(c.begin(), c.end(), [&](std::uint32_t p) {
               const auto columns = regions_.membership.columnsOf(p);
               return columns.size() == 1 && columns[0] == region(c);
             }))
      pure.push_back(t);
    else
      list.shared.push_back({c, anchors[0]});
  }
  // Regions of a block follow each other.
  std::stable_sort(pure.begin(), pure.end(), [&](std::uint32_t l, std::uint32_t r) {
    const Triangle &a = surface_.triangles[l], &b = surface_.triangles[r];
    return std::pair(region(a), regions_.anchor[a[0]]) <
           std::pair(region(b), regions_.anchor[b[0]]);
  });
  for (const std::uint32_t t : pure) {
    const Triangle& c = surface_.triangles[t];
    const bool moving = moves(c[0]) || moves(c[1]) || moves(c[2]);
    (moving ? out_.moving : out_.still).pure.push_back(c);
  }
  const auto by_block_and_set = [&](const auto& l, const auto& r) {
    const std::uint32_t a = blockOfPoint(l.corners[0]), b = blockOfPoint(r.corners[0]);
    return a != b ? a < b : regionsOf(l.corners) < regionsOf(r.corners);
  };
  for (SectionTriangles* list : {&out_.moving, &out_.still}) {
    std::stable_sort(list->shared.begin(), list->shared.end(), by_block_and_set);
    std::stable_sort(list->mixed.begin(), list->mixed.end(), by_block_and_set);
  }
}

/// The regions that a triangle's corners belong to or, as a fan's middle, move with; ascending.
std::vector<std::uint32_t> Builder::regionsOf(const Triangle& corners) const {
  std::vector<std::uint32_t> out;
  const auto add = [&](std::uint32_t p) {
    const auto columns = regions_.membership.columnsOf(p);
    out.insert(out.end(), columns.begin(), columns.end());
  };
  for (const std::uint32_t p : corners) {
    add(p);
    if (!isApex(p)) continue;
    const std::uint32_t at = out_.apex_of_row[p - out_.welded_count];
    if (at == kStandsStill) continue;
    const SectionApex& fan = out_.apexes[at];
    out.insert(out.end(), out_.apex_regions.begin() + fan.first_entry,
               out_.apex_regions.begin() + fan.first_entry + fan.entry_count);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

void Builder::beginChunk(SectionTriangles& list, SectionChunk chunk,
                         std::span<const std::uint32_t> set) {
  chunk.first_of_set = static_cast<std::uint32_t>(out_.sets.size());
  chunk.set_size = static_cast<std::uint32_t>(set.size());
  chunk.first_part = out_.part_count;
  out_.sets.insert(out_.sets.end(), set.begin(), set.end());
  out_.part_count += set.size() * (set.size() + 3);
  list.general_chunks.push_back(chunk);
}

/// Triangles of a block that belong to the same regions follow each other.
template <class Some>
void Builder::chunkGeneral(SectionTriangles& list, const Some& some, SectionKind kind,
                           std::uint32_t block) {
  const auto block_of = [&](const auto& t) { return blockOfPoint(t.corners[0]); };
  const auto first = std::partition_point(some.begin(), some.end(),
                                          [&](const auto& t) { return block_of(t) < block; });
  std::vector<std::uint32_t> set, last;
  for (auto t = first; t != some.end() && block_of(*t) == block; ++t) {
    set = regionsOf(t->corners);
    const auto at = static_cast<std::uint32_t>(t - some.begin());
    if (t == first || set != last || at - list.general_chunks.back().begin == kLongestChunk)
      beginChunk(list, {.begin = at, .end = at, .kind = kind, .block = block}, set);
    ++list.general_chunks.back().end;
    last = set;
  }
}

void Builder::chunkTriangles(SectionTriangles& list, bool with_matrix) {
  const auto region = [&](const Triangle& c) { return regions_.membership.columnsOf(c[0])[0]; };
  for (std::uint32_t t = 0; t < list.pure.size(); ++t) {
    const std::uint32_t l = region(list.pure[t]), anchor = regions_.anchor[list.pure[t][0]];
    SectionChunk* last = list.pure_chunks.empty() ? nullptr : &list.pure_chunks.back();
    if (last == nullptr || last->region != l || last->anchor != anchor ||
        last->end - last->begin == kLongestChunk)
      last = &list.pure_chunks.emplace_back(SectionChunk{.begin = t,
                                                         .end = t,
                                                         .kind = SectionKind::Pure,
                                                         .region = l,
                                                         .anchor = anchor,
                                                         .block = block_of_region_[l]});
    ++last->end;
  }
  std::uint32_t pure = 0;
  for (std::uint32_t b = 0; b < out_.blocks.size(); ++b) {
    const auto general = static_cast<std::uint32_t>(list.general_chunks.size());
    const std::uint32_t first_pure = pure;
    while (pure < list.pure_chunks.size() && list.pure_chunks[pure].block == b) ++pure;
    chunkGeneral(list, list.shared, SectionKind::Shared, b);
    chunkGeneral(list, list.mixed, SectionKind::Mixed, b);
    if (!with_matrix) continue;
    SectionBlock& block = out_.blocks[b];
    block.first_pure = first_pure;
    block.pure_count = pure - first_pure;
    block.first_general = general;
    block.general_count = static_cast<std::uint32_t>(list.general_chunks.size()) - general;
  }
}

/// Chunks that share no welded vertex that moves go into one round: their areas can be added at
/// once, and each welded vertex gets them in the same order on any number of threads.
void Builder::planAreas() {
  constexpr std::size_t kRounds = 16;
  std::vector<std::uint16_t> taken(active_.size(), 0);  ///< bit by bit: rounds of a welded vertex
  std::vector<std::vector<SectionAreaChunk>> rounds(kRounds), alone;
  const auto assign = [&](const SectionAreaChunk& chunk) {
    const auto each = [&](const auto& body) {
      for (std::uint32_t t = chunk.begin; t < chunk.end; ++t)
        for (const std::uint32_t p : out_.moving.corners(chunk.kind, t))
          if (!isApex(p) && weldedMoves(p)) body(taken[out_.row_of_point[p]]);
    };
    unsigned all = 0;
    each([&](std::uint16_t bits) { all |= bits; });
    std::size_t round = 0;
    while (round < kRounds && (all >> round & 1u) != 0) ++round;
    if (round == kRounds) {  // triangles in no order at all: after the others, one by one
      alone.push_back({chunk});
      return;
    }
    each([&](std::uint16_t& bits) { bits = static_cast<std::uint16_t>(bits | 1u << round); });
    rounds[round].push_back(chunk);
  };
  for (const SectionChunk& c : out_.moving.pure_chunks) assign({c.begin, c.end, c.kind});
  for (const SectionChunk& c : out_.moving.general_chunks) assign({c.begin, c.end, c.kind});
  rounds.insert(rounds.end(), alone.begin(), alone.end());
  for (const std::vector<SectionAreaChunk>& round : rounds) {
    if (round.empty()) continue;
    out_.area_rounds.push_back(static_cast<std::uint32_t>(out_.area_chunks.size()));
    out_.area_chunks.insert(out_.area_chunks.end(), round.begin(), round.end());
  }
  out_.area_rounds.push_back(static_cast<std::uint32_t>(out_.area_chunks.size()));
}

}  // namespace

SectionPlan makeSectionPlan(const MeasuredSurface& surface, const VolumeRegions& regions,
                            std::span<const Vec3d> rest_points, std::span<const float> mask) {
  return Builder(surface, regions, rest_points, mask).build();
}

}  // namespace derm::detail
