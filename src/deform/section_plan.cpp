#include "deform/section_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "derm/mesh/adjacency.h"

namespace derm::detail {
namespace {

/// Field passes: places this many rings from skin that bends can still move.
constexpr int kFieldPasses = 6;
constexpr std::uint32_t kChunk = 2048;

class Builder {
 public:
  Builder(const MeasuredSurface& surface, const VolumeRegions& regions, std::span<const Vec3d> rest,
          std::span<const float> mask)
      : surface_(surface),
        regions_(regions),
        rest_(rest),
        mask_(mask),
        volumes_(surface, regions, RegionTables::Volumes),
        neighbours_(vertexNeighbours(surface.triangles, surface.pointCount())) {}

  SectionPlan build(const SectionDesc& desc) && {
    out_.desc = desc;
    out_.point_count = surface_.pointCount();
    out_.place_count = surface_.placeCount();
    out_.region_count = regions_.regionCount();
    out_.joint_count = regions_.jointCount();
    out_.rest_volumes = volumes_.volumes(rest_, regions_.bindPositions());
    for (RegionVolumes::FeetTriangle t : volumes_.feetTriangles()) {
      t.first_share = copyShares(t.first_share, t.share_count);
      out_.feet_triangles.push_back(t);
    }
    makeBlocks();
    findActive();
    describeActive();
    listAreas();
    listConcerns();
    listApexes();
    sortTriangles();
    sortGeneral();
    planAreas();
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
  void sortGeneral();
  void planAreas();
  void addStill(std::vector<std::vector<Triangle>>& still);
  void trim();
  /// Of all the shares of the sums only those of several regions are kept.
  std::uint32_t copyShares(std::uint32_t first, std::uint32_t count) {
    const auto at = static_cast<std::uint32_t>(out_.shares.size());
    const auto some = volumes_.shares().subspan(first, count);
    out_.shares.insert(out_.shares.end(), some.begin(), some.end());
    return at;
  }

  std::uint32_t blockOfPoint(std::size_t point) const {
    return block_of_region_[regions_.membership.columnsOf(point).front()];
  }
  bool moves(std::uint32_t point) const {
    if (point < out_.place_count) return out_.active_of_point[point] != kStandsStill;
    const auto border = surface_.borders[point - out_.place_count];
    return std::any_of(border.begin(), border.end(),
                       [&](std::uint32_t p) { return out_.active_of_point[p] != kStandsStill; });
  }
  bool isApex(std::uint32_t point) const { return point >= out_.place_count; }

  const MeasuredSurface& surface_;
  const VolumeRegions& regions_;
  std::span<const Vec3d> rest_;
  std::span<const float> mask_;
  RegionVolumes volumes_;
  IndexLists neighbours_;
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
  for (std::uint32_t v = 0; v < out_.place_count; ++v)
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
  for (std::uint32_t v = 0; v < out_.place_count; ++v)
    if (reached[v]) by_block[blockOfPoint(v)].push_back(v);
  out_.active_of_point.assign(out_.place_count, kStandsStill);
  for (std::size_t b = 0; b < by_block.size(); ++b) {
    out_.blocks[b].first_active = static_cast<std::uint32_t>(out_.active.size());
    out_.blocks[b].active_count = static_cast<std::uint32_t>(by_block[b].size());
    block_moves_.push_back(!by_block[b].empty());
    for (const std::uint32_t v : by_block[b]) {
      out_.active_of_point[v] = static_cast<std::uint32_t>(out_.active.size());
      out_.active.push_back(v);
    }
  }
}

void Builder::describeActive() {
  std::vector<float> shares;
  for (const std::uint32_t v : out_.active) {
    const auto here = static_cast<std::int32_t>(out_.active_of_point[v]);
    out_.bending.push_back(regions_.bending[v]);
    if (!mask_.empty()) out_.mask.push_back(mask_[v]);
    if (out_.neighbour_counts.size() % kSectionChunk == 0)
      out_.chunk_neighbours.push_back(static_cast<std::uint32_t>(out_.far_neighbours.size()));
    SectionNeighbours count;
    for (const std::uint32_t n : neighbours_[v]) {
      if (isApex(n)) continue;
      if (count.all == std::numeric_limits<std::uint16_t>::max()) break;
      ++count.all;
      if (out_.active_of_point[n] == kStandsStill) continue;
      ++count.moving;
      out_.far_neighbours.push_back(static_cast<std::int32_t>(out_.active_of_point[n]) - here);
    }
    out_.neighbour_counts.push_back(count);
    shares.assign(regions_.membership.sharesOf(v).begin(), regions_.membership.sharesOf(v).end());
    out_.members.add(regions_.membership.columnsOf(v), shares);
  }
  const auto isNear = [](std::int32_t d) {
    return d == static_cast<std::int32_t>(static_cast<std::int16_t>(d));
  };
  if (!std::all_of(out_.far_neighbours.begin(), out_.far_neighbours.end(), isNear)) return;
  out_.near_neighbours.assign(out_.far_neighbours.begin(), out_.far_neighbours.end());
  out_.far_neighbours.clear();
}

void Builder::listAreas() {
  std::vector<double> area(out_.active.size(), 0.0);
  const auto bends = [&](std::uint32_t v) {
    return out_.active_of_point[v] != kStandsStill && regions_.bending[v] > 0;
  };
  for (std::size_t t = 0; t < surface_.ownTriangleCount(); ++t) {
    const Triangle& c = surface_.triangles[t];
    if (!bends(c[0]) && !bends(c[1]) && !bends(c[2])) continue;
    const double a =
        0.5 * Vec3d(rest_[c[1]] - rest_[c[0]]).cross(Vec3d(rest_[c[2]] - rest_[c[0]])).norm();
    for (const std::uint32_t v : c)
      if (out_.active_of_point[v] != kStandsStill) area[out_.active_of_point[v]] += a;
  }
  for (const double a : area)
    out_.rest_area_inverse.push_back(a > 0 ? static_cast<float>(1 / a) : 0.0f);
}

void Builder::listConcerns() {
  // A joint counts in each piece on its own, since other joints stand for it there.
  const std::size_t n = out_.joint_count;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> number;
  std::vector<std::uint32_t> activities;
  std::vector<float> shares;
  for (const std::uint32_t v : out_.active) {
    const std::uint32_t piece = surface_.piece_of_point[v];
    activities.clear();
    for (std::size_t k = 0; k < regions_.concern.columnsOf(v).size(); ++k) {
      const std::pair key(piece, regions_.concern.columnsOf(v)[k]);
      const auto at = number.emplace(key, static_cast<std::uint32_t>(number.size())).first;
      activities.push_back(at->second);
    }
    shares.assign(regions_.concern.sharesOf(v).begin(), regions_.concern.sharesOf(v).end());
    out_.concerns.add(activities, shares);
  }
  out_.activity_count = number.size();
  for (const auto& [key, activity] : number)
    for (std::uint32_t j = 0; j < n; ++j)
      if (regions_.stands_for[key.first * n + j] == key.second)
        out_.activity_sources.push_back({j, activity});
}

void Builder::listApexes() {
  const std::size_t count = out_.point_count - out_.place_count;
  out_.apex_of_point.assign(count, kStandsStill);
  std::vector<std::vector<std::uint32_t>> by_block(out_.blocks.size());
  for (std::size_t a = 0; a < count; ++a) {
    const auto point = static_cast<std::uint32_t>(out_.place_count + a);
    if (moves(point)) by_block[blockOfPoint(point)].push_back(point);
  }
  for (std::size_t b = 0; b < by_block.size(); ++b) {
    out_.blocks[b].first_apex = static_cast<std::uint32_t>(out_.apexes.size());
    out_.blocks[b].apex_count = static_cast<std::uint32_t>(by_block[b].size());
    for (const std::uint32_t point : by_block[b]) {
      out_.apex_of_point[point - out_.place_count] = static_cast<std::uint32_t>(out_.apexes.size());
      const auto border = surface_.borders[point - out_.place_count];
      std::set<std::uint32_t> regions;
      for (const std::uint32_t p : border)
        for (const std::uint32_t l : regions_.membership.columnsOf(p)) regions.insert(l);
      out_.apexes.push_back({.point = point,
                             .first_border = static_cast<std::uint32_t>(out_.apex_borders.size()),
                             .border_count = static_cast<std::uint32_t>(border.size()),
                             .first_entry = static_cast<std::uint32_t>(out_.apex_regions.size()),
                             .entry_count = static_cast<std::uint32_t>(regions.size())});
      out_.apex_borders.insert(out_.apex_borders.end(), border.begin(), border.end());
      out_.apex_regions.insert(out_.apex_regions.end(), regions.begin(), regions.end());
    }
  }
}

void Builder::addStill(std::vector<std::vector<Triangle>>& still) {
  for (std::uint32_t l = 0; l < out_.region_count; ++l)
    for (std::size_t first = 0; first < still[l].size(); first += kChunk) {
      const std::size_t last = std::min(still[l].size(), first + kChunk);
      const auto begin = static_cast<std::uint32_t>(out_.still.size());
      out_.still.insert(out_.still.end(), still[l].begin() + static_cast<std::ptrdiff_t>(first),
                        still[l].begin() + static_cast<std::ptrdiff_t>(last));
      out_.still_chunks.push_back({begin, static_cast<std::uint32_t>(out_.still.size()), l});
    }
}

void Builder::trim() {
  const auto each = [](auto&... lists) { (lists.shrink_to_fit(), ...); };
  each(out_.active, out_.bending, out_.mask, out_.rest_area_inverse, out_.neighbour_counts,
       out_.near_neighbours, out_.far_neighbours, out_.pure, out_.general_triangles, out_.walls,
       out_.shares, out_.still, out_.still_triangles, out_.still_walls);
  out_.members.trim();
  out_.concerns.trim();
}

void Builder::sortTriangles() {
  std::vector<std::vector<Triangle>> still(out_.region_count);
  for (std::uint32_t b = 0; b < out_.blocks.size(); ++b) {
    SectionBlock& block = out_.blocks[b];
    block.first_pure = static_cast<std::uint32_t>(out_.pure_chunks.size());
    for (std::uint32_t l = block.first_region; l < block.first_region + block.region_count; ++l) {
      std::uint32_t begin = static_cast<std::uint32_t>(out_.pure.size());
      const auto close = [&] {
        const auto end = static_cast<std::uint32_t>(out_.pure.size());
        if (end > begin) out_.pure_chunks.push_back({begin, end, l});
        begin = end;
      };
      for (std::uint32_t t = volumes_.pureBegin(l); t < volumes_.pureBegin(l + 1); ++t) {
        const Triangle& c = volumes_.pureTriangles()[t];
        if (!block_moves_[b]) continue;
        if (!moves(c[0]) && !moves(c[1]) && !moves(c[2])) {
          still[l].push_back(c);
        } else if (isApex(c[0]) || isApex(c[1]) || isApex(c[2])) {
          // A fan's middle may move with several regions, even where its triangles are of one.
          out_.general_triangles.push_back(
              {c, static_cast<std::uint32_t>(out_.shares.size()), 1, false});
          out_.shares.push_back({l, 1.0});
        } else {
          out_.pure.push_back(c);
          if (out_.pure.size() - begin == kChunk) close();
        }
      }
      close();
    }
    block.pure_count = static_cast<std::uint32_t>(out_.pure_chunks.size()) - block.first_pure;
  }
  addStill(still);
}

void Builder::sortGeneral() {
  for (RegionVolumes::SharedTriangle t : volumes_.sharedTriangles()) {
    if (!block_moves_[blockOfPoint(t.corners[0])]) continue;
    t.first_share = copyShares(t.first_share, t.share_count);
    const bool moving = moves(t.corners[0]) || moves(t.corners[1]) || moves(t.corners[2]);
    (moving ? out_.general_triangles : out_.still_triangles).push_back(t);
  }
  for (RegionVolumes::Wall w : volumes_.walls()) {
    if (!block_moves_[blockOfPoint(w.a)]) continue;
    w.first_share = copyShares(w.first_share, w.share_count);
    (moves(w.a) || moves(w.b) ? out_.walls : out_.still_walls)
        .push_back({w, regions_.foot[w.a], regions_.foot[w.b]});
  }
  const auto by_block = [&](auto& list, const auto& point) {
    std::stable_sort(list.begin(), list.end(), [&](const auto& l, const auto& r) {
      return blockOfPoint(point(l)) < blockOfPoint(point(r));
    });
  };
  const auto corner = [](const RegionVolumes::SharedTriangle& t) { return t.corners[0]; };
  const auto end_of = [](const SectionWall& w) { return w.wall.a; };
  by_block(out_.general_triangles, corner);
  by_block(out_.walls, end_of);
  std::uint32_t triangle = 0, wall = 0;
  for (std::uint32_t b = 0; b < out_.blocks.size(); ++b) {
    SectionBlock& block = out_.blocks[b];
    block.first_general = static_cast<std::uint32_t>(out_.general_chunks.size());
    const std::size_t parts = std::size_t{block.region_count} * (block.region_count + 1);
    const auto chunk = [&](auto& list, const auto& point, std::uint32_t& at, bool walls) {
      while (at < list.size() && blockOfPoint(point(list[at])) == b) {
        SectionChunk c{at, at, 0, walls, out_.part_count};
        while (c.end < list.size() && c.end - c.begin < kChunk &&
               blockOfPoint(point(list[c.end])) == b)
          ++c.end;
        at = c.end;
        out_.part_count += parts;
        out_.general_chunks.push_back(c);
      }
    };
    chunk(out_.general_triangles, corner, triangle, false);
    chunk(out_.walls, end_of, wall, true);
    block.general_count =
        static_cast<std::uint32_t>(out_.general_chunks.size()) - block.first_general;
  }
}

/// Chunks that share no place that moves go into one round: their areas can be added at once, and
/// each place gets them in the same order on any number of threads.
void Builder::planAreas() {
  constexpr std::size_t kRounds = 16;
  std::vector<std::uint16_t> taken(out_.active.size(), 0);  ///< bit by bit: rounds of a place
  std::vector<std::vector<SectionAreaChunk>> rounds(kRounds), alone;
  const auto place = [&](const SectionAreaChunk& chunk) {
    const auto each = [&](const auto& body) {
      for (std::uint32_t t = chunk.begin; t < chunk.end; ++t)
        for (const std::uint32_t p :
             chunk.general ? out_.general_triangles[t].corners : out_.pure[t])
          if (!isApex(p) && out_.active_of_point[p] != kStandsStill)
            body(taken[out_.active_of_point[p]]);
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
  for (const SectionChunk& c : out_.pure_chunks) place({c.begin, c.end, false});
  for (const SectionChunk& c : out_.general_chunks)
    if (!c.walls) place({c.begin, c.end, true});
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
                            std::span<const Vec3d> rest_points, std::span<const float> mask,
                            const SectionDesc& desc) {
  return Builder(surface, regions, rest_points, mask).build(desc);
}

}  // namespace derm::detail
