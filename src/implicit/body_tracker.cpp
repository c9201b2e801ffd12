#include "implicit/body_tracker.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "derm/base/parallel.h"

#include "implicit/resize_tight.h"

namespace derm {

const char* name(SkinEventKind kind) {
  switch (kind) {
    case SkinEventKind::Split:
      return "split";
    case SkinEventKind::Merge:
      return "merge";
    case SkinEventKind::Birth:
      return "birth";
    case SkinEventKind::Death:
      return "death";
    case SkinEventKind::HoleOpened:
      return "hole-opened";
    case SkinEventKind::HoleClosed:
      return "hole-closed";
    case SkinEventKind::CavityOpened:
      return "cavity-opened";
    case SkinEventKind::CavityClosed:
      return "cavity-closed";
  }
  return "";
}

namespace detail {
namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFFu;
constexpr std::size_t kBodyBlocksPerChunk = 64;

/// Union-find in which the smallest member stands for its set.
class Sets {
 public:
  explicit Sets(std::vector<std::uint32_t>& parent) : parent_(parent) {}
  std::uint32_t root(std::uint32_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::uint32_t>& parent_;
};

/// Calls visit(id, slot, inside node) for every edge point of a block, in order of id.
template <class Visit>
void forEachEdge(const BandGrid& grid, const EdgeIndex& index, std::uint32_t slot,
                 const Visit& visit) {
  const BlockEdges& edges = index.of(slot);
  const BandGrid::Words& signs = grid.signs(slot);
  std::uint32_t id = index.first(slot);
  constexpr int kSteps[3] = {1, 8, 64};
  for (int axis = 0; axis < 3; ++axis)
    for (int z = 0; z < 8; ++z)
      forEachBit(edges.crossed[axis][z], [&](int bit) {
        if (signs[static_cast<std::size_t>(z)] >> bit & 1) {
          visit(id++, slot, 64 * z + bit);
          return;
        }
        const int along = axis == 0 ? bit & 7 : axis == 1 ? bit >> 3 : z;
        if (along < 7)
          visit(id++, slot, 64 * z + bit + kSteps[axis]);
        else
          visit(id++, grid.neighbour(slot, axis == 0, axis == 1, axis == 2),
                64 * z + bit - 7 * kSteps[axis]);
      });
}

}  // namespace

// --------------------------------------------------------------------------------------- pieces

void BodyTracker::findPieces(const LatticeSurface& surface) {
  resizeTight(of_point_, surface.points.size());
  std::iota(of_point_.begin(), of_point_.end(), 0);
  Sets sets(of_point_);
  for (const Triangle& t : surface.triangles) {
    sets.join(t[0], t[1]);
    sets.join(t[0], t[2]);
  }
  // Roots are the smallest members, so they are numbered before anyone refers to them.
  std::uint32_t count = 0;
  for (std::uint32_t i = 0; i < of_point_.size(); ++i) {
    const std::uint32_t parent = of_point_[i];
    of_point_[i] = parent == i ? count++ : of_point_[parent];
  }
  pieces_.assign(count, {});
}

void BodyTracker::measurePieces(const LatticeSurface& surface) {
  for (const std::uint32_t piece : of_point_) {
    pieces_[piece].euler_number += 2;
    ++pieces_[piece].vertices;
  }
  for (const Triangle& t : surface.triangles) {
    PieceMeasures& piece = pieces_[of_point_[t[0]]];
    const Vec3f& a = surface.points[t[0]];
    const Vec3f u = surface.points[t[1]] - a, v = surface.points[t[2]] - a;
    // Columns under the triangle along z: for a closed surface the same as any other volume.
    const double shadow = double{u.x()} * v.y() - double{v.x()} * u.y();
    const double height = a.z() + (double{u.z()} + v.z()) / 3;
    piece.volume += 0.5 * shadow * height;
    const double nx = double{u.y()} * v.z() - double{u.z()} * v.y(),
                 ny = double{u.z()} * v.x() - double{u.x()} * v.z();
    piece.area += 0.5 * std::sqrt(nx * nx + ny * ny + shadow * shadow);
    --piece.euler_number;
  }
  for (PieceMeasures& piece : pieces_) piece.euler_number /= 2;
}

// --------------------------------------------------------------------------------------- bodies

/// From the end of each cavity furthest along +x the ray runs through matter until it leaves it:
/// there is the body's outer surface, or another cavity that reaches further.
void BodyTracker::attachCavities(const BandGrid& grid, const EdgeIndex& index,
                                 std::vector<std::uint32_t>& body_of_piece) const {
  struct Start {
    int x = std::numeric_limits<int>::min();
    int y = 0, z = 0;
  };
  std::vector<Start> starts(pieces_.size());
  for (const std::uint32_t slot : grid.order()) {
    const BlockCoord& at = grid.coord(slot);
    for (int z = 0; z < 8; ++z)
      forEachBit(index.of(slot).crossed[0][z], [&](int bit) {
        const std::uint32_t piece = of_point_[index.of(slot).id(0, z, bit)];
        const bool leaves_void = !(grid.signs(slot)[static_cast<std::size_t>(z)] >> bit & 1);
        const int x = 8 * at.x + (bit & 7);
        if (pieces_[piece].volume < 0 && leaves_void && x > starts[piece].x)
          starts[piece] = {x, 8 * at.y + (bit >> 3), 8 * at.z + z};
      });
  }
  std::vector<std::uint32_t> onto(pieces_.size(), kNone);
  for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
    if (pieces_[p].volume >= 0 || starts[p].x == std::numeric_limits<int>::min()) continue;
    for (int x = starts[p].x + 1;;) {
      const std::uint32_t slot = grid.slotAt({x >> 3, starts[p].y >> 3, starts[p].z >> 3});
      if (slot == BandGrid::kOutside) break;
      if (slot == BandGrid::kInside) {
        x = ((x >> 3) + 1) * 8;
        continue;
      }
      const int bit = (x & 7) + 8 * (starts[p].y & 7), z = starts[p].z & 7;
      if (index.of(slot).crossed[0][z] >> bit & 1) {
        onto[p] = of_point_[index.of(slot).id(0, z, bit)];
        break;
      }
      ++x;
    }
  }
  for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
    std::uint32_t at = p;
    for (std::size_t hops = 0; at != kNone && pieces_[at].volume < 0 && hops < pieces_.size();
         ++hops)
      at = onto[at];
    if (at != kNone && pieces_[at].volume >= 0) body_of_piece[p] = body_of_piece[at];
  }
}

void BodyTracker::makeBodies(const BandGrid& grid, const EdgeIndex& index,
                             const LatticeSurface& surface) {
  old_bodies_.swap(bodies_);
  bodies_.clear();
  std::vector<std::uint32_t> body_of_piece(pieces_.size(), kNone);
  bool cavities = false;
  for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
    cavities |= pieces_[p].volume < 0;
    if (pieces_[p].volume < 0) continue;
    body_of_piece[p] = static_cast<std::uint32_t>(bodies_.size());
    bodies_.emplace_back();
    bodies_.back().euler_number = pieces_[p].euler_number;
  }
  if (cavities) attachCavities(grid, index, body_of_piece);
  for (std::uint32_t p = 0; p < pieces_.size(); ++p) {
    if (body_of_piece[p] == kNone) {  // a cavity that found no body: it is one of its own
      body_of_piece[p] = static_cast<std::uint32_t>(bodies_.size());
      bodies_.emplace_back();
      bodies_.back().euler_number = pieces_[p].euler_number;
    }
    TrackedBody& body = bodies_[body_of_piece[p]];
    body.volume += pieces_[p].volume;
    body.area += pieces_[p].area;
    body.points += pieces_[p].vertices;
    constexpr double kMinCavity = 4;  // [voxel^3] smaller ones come and go with every step
    body.cavities += pieces_[p].volume < -kMinCavity;
  }
  const Vec3d corner = 8 * Vec3d(surface.reference.x, surface.reference.y, surface.reference.z);
  for (std::size_t i = 0; i < of_point_.size(); ++i) {
    of_point_[i] = body_of_piece[of_point_[i]];
    bodies_[of_point_[i]].position += surface.points[i].cast<double>();
  }
  for (TrackedBody& body : bodies_)
    body.position = corner + body.position / std::max(1u, body.points);
}

// ------------------------------------------------------------------------------------- matching

std::vector<BodyTracker::Link> BodyTracker::findLinks(const BandGrid& grid,
                                                      const EdgeIndex& index) const {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> counts;
  std::pair<std::uint32_t, std::uint32_t> run{kNone, kNone};
  std::uint32_t length = 0;
  const auto flush = [&] {
    if (length > 0) counts[run] += length;
    length = 0;
  };
  for (const std::uint32_t slot : grid.order())
    forEachEdge(grid, index, slot, [&](std::uint32_t id, std::uint32_t in_slot, int node) {
      const std::size_t at = in_slot * BandGrid::kNodes + static_cast<std::size_t>(node);
      const std::uint32_t label = at < node_labels_.size() ? node_labels_[at] : 0;
      if (label == 0) return;
      const std::pair key{of_point_[id], label - 1};
      if (key != run) flush();
      run = key;
      ++length;
    });
  flush();
  std::vector<Link> links;
  for (const auto& [key, count] : counts) links.push_back({key.first, key.second, count});
  return links;
}

void BodyTracker::matchBodies(const std::vector<Link>& links, double time_s,
                              const EvolutionLaw& law) {
  const std::uint32_t fresh_count = static_cast<std::uint32_t>(bodies_.size());
  const std::uint32_t old_count = static_cast<std::uint32_t>(old_bodies_.size());
  std::vector<std::uint32_t> best_of_fresh(fresh_count, 0), best_of_old(old_count, 0);
  for (const Link& link : links) {
    best_of_fresh[link.fresh] = std::max(best_of_fresh[link.fresh], link.count);
    best_of_old[link.old] = std::max(best_of_old[link.old], link.count);
  }
  std::vector<std::uint32_t> parent(fresh_count + old_count);
  std::iota(parent.begin(), parent.end(), 0);
  Sets sets(parent);
  constexpr std::uint32_t kChance =
      2;  // so few common points say nothing, unless there are no more
  for (const Link& link : links)
    if (link.count > kChance ||
        (link.count == best_of_fresh[link.fresh] && link.count == best_of_old[link.old]))
      sets.join(link.fresh, fresh_count + link.old);
  // Specks may leave all their nodes within a step; then the position tells.
  constexpr double kSamePosition = 3;  // [voxel]
  for (std::uint32_t f = 0; f < fresh_count; ++f)
    for (std::uint32_t o = 0; o < old_count && best_of_fresh[f] == 0; ++o)
      if (best_of_old[o] == 0 &&
          (bodies_[f].position - old_bodies_[o].position).norm() < kSamePosition) {
        sets.join(f, fresh_count + o);
        best_of_fresh[f] = best_of_old[o] = 1;
      }
  std::vector<std::vector<std::uint32_t>> fresh(parent.size()), old(parent.size());
  for (std::uint32_t i = 0; i < parent.size(); ++i)
    (i < fresh_count ? fresh : old)[sets.root(i)].push_back(i < fresh_count ? i : i - fresh_count);
  for (std::uint32_t root = 0; root < parent.size(); ++root)
    if (!fresh[root].empty()) settleGroup(fresh[root], old[root], time_s);
  for (std::uint32_t root = 0; root < parent.size(); ++root) {
    if (!fresh[root].empty()) continue;
    for (const std::uint32_t o : old[root]) {
      event(time_s, SkinEventKind::Death, old_bodies_[o].id);
      if (law.inherit_volume) inherit(old_bodies_[o]);
    }
  }
}

void BodyTracker::settleGroup(std::span<const std::uint32_t> fresh,
                              std::span<const std::uint32_t> old, double time_s) {
  const auto largest = [](std::span<const std::uint32_t> list, std::span<const TrackedBody> of) {
    return *std::max_element(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
      return of[a].volume < of[b].volume;
    });
  };
  if (old.empty()) {
    for (const std::uint32_t f : fresh) {
      TrackedBody& body = bodies_[f];
      body.id = next_id_++;
      body.wanted_volume = body.volume;
      body.wanted_area = body.area;
      body.growing = started_;
      if (started_) event(time_s, SkinEventKind::Birth, body.id);
    }
    return;
  }
  const TrackedBody& heir = old_bodies_[largest(old, old_bodies_)];
  TrackedBody& main = bodies_[largest(fresh, bodies_)];
  double volume = 0, area = 0, fresh_volume = 0, fresh_area = 0;
  for (const std::uint32_t o : old) {
    volume += old_bodies_[o].wanted_volume;
    area += old_bodies_[o].wanted_area;
  }
  for (const std::uint32_t f : fresh) {
    fresh_volume += std::abs(bodies_[f].volume);
    fresh_area += bodies_[f].area;
  }
  // A cavity that found no body has a volume below 0, a speck may have none.
  const auto share = [&](double whole, double part, double parts) {
    return parts > 0 ? whole * part / parts : whole / static_cast<double>(fresh.size());
  };
  for (const std::uint32_t f : fresh) {
    TrackedBody& body = bodies_[f];
    body.id = &body == &main ? heir.id : next_id_++;
    const bool alone = fresh.size() == 1;
    body.wanted_volume = alone ? volume : share(volume, std::abs(body.volume), fresh_volume);
    body.wanted_area = alone ? area : share(area, body.area, fresh_area);
    if (&body != &main) event(time_s, SkinEventKind::Split, heir.id, body.id);
  }
  for (const std::uint32_t o : old)
    if (&old_bodies_[o] != &heir) event(time_s, SkinEventKind::Merge, heir.id, old_bodies_[o].id);
  if (fresh.size() == 1 && old.size() == 1) {
    main.volume_integral = heir.volume_integral;
    main.area_integral = heir.area_integral;
    main.abandoned = heir.abandoned;
    constexpr double kSettled = 1e-3;  // relative change of volume in a step
    main.growing = heir.growing && std::abs(main.volume - heir.volume) > kSettled * main.volume;
    if (heir.growing) {
      main.wanted_volume = main.volume;
      main.wanted_area = main.area;
    }
  }
  compareTopology(fresh, old, heir.id, time_s);
}

/// Handles and cavities that a group of bodies has gained or lost as a whole; splits and merges
/// alone change neither.
void BodyTracker::compareTopology(std::span<const std::uint32_t> fresh,
                                  std::span<const std::uint32_t> old, std::uint32_t id,
                                  double time_s) {
  int handles = 0, cavities = 0;
  for (const std::uint32_t f : fresh) {
    handles += (2 - bodies_[f].euler_number) / 2;
    cavities += bodies_[f].cavities;
  }
  for (const std::uint32_t o : old) {
    handles -= (2 - old_bodies_[o].euler_number) / 2;
    cavities -= old_bodies_[o].cavities;
  }
  for (; handles > 0; --handles) event(time_s, SkinEventKind::HoleOpened, id);
  for (; handles < 0; ++handles) event(time_s, SkinEventKind::HoleClosed, id);
  for (; cavities > 0; --cavities) event(time_s, SkinEventKind::CavityOpened, id);
  for (; cavities < 0; ++cavities) event(time_s, SkinEventKind::CavityClosed, id);
}

namespace {

/// True where `now` undoes `before`.
bool undoes(const SkinEvent& now, const SkinEvent& before) {
  switch (now.kind) {
    case SkinEventKind::Death:
      return (before.kind == SkinEventKind::Split && before.other == now.body) ||
             (before.kind == SkinEventKind::Birth && before.body == now.body);
    case SkinEventKind::Merge:
      return before.kind == SkinEventKind::Split && before.other == now.other;
    case SkinEventKind::HoleClosed:
      return before.kind == SkinEventKind::HoleOpened && before.body == now.body;
    case SkinEventKind::HoleOpened:
      return before.kind == SkinEventKind::HoleClosed && before.body == now.body;
    case SkinEventKind::CavityClosed:
      return before.kind == SkinEventKind::CavityOpened && before.body == now.body;
    default:
      return false;
  }
}

}  // namespace

void BodyTracker::event(double time_s, SkinEventKind kind, std::uint32_t body,
                        std::uint32_t other) {
  constexpr std::uint64_t kFlash = 6;  // [updates]
  const SkinEvent now{time_s, kind, body, other};
  for (std::size_t i = events_.size(); i-- > 0 && event_updates_[i] + kFlash >= updates_;)
    if (undoes(now, events_[i])) {
      events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
      event_updates_.erase(event_updates_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  events_.push_back(now);
  event_updates_.push_back(updates_);
}

void BodyTracker::clearEvents() {
  events_.clear();
  event_updates_.clear();
}

void BodyTracker::inherit(const TrackedBody& gone) {
  if (gone.growing) return;  // it never held anything
  TrackedBody* nearest = nullptr;
  for (TrackedBody& body : bodies_)
    if (nearest == nullptr || (body.position - gone.position).squaredNorm() <
                                  (nearest->position - gone.position).squaredNorm())
      nearest = &body;
  if (nearest != nullptr) nearest->wanted_volume += gone.wanted_volume;
}

/// A third of the sum over edge points of their coordinate along the edge, with + where it leaves
/// the inside.
void BodyTracker::addColumns(const BandGrid& grid, const EdgeIndex& index,
                             const LatticeSurface& surface) {
  std::size_t id = 0;
  for (const std::uint32_t slot : grid.order())
    for (int axis = 0; axis < 3; ++axis)
      for (std::size_t z = 0; z < 8; ++z)
        forEachBit(index.of(slot).crossed[axis][z], [&](int bit) {
          const double along = double{surface.points[id][axis]} / 3;
          const bool leaves = grid.signs(slot)[z] >> bit & 1;
          bodies_[of_point_[id++]].column_volume += leaves ? along : -along;
        });
}

void BodyTracker::renumberSlots(std::span<const std::uint32_t> was) {
  renumberBlocks(node_labels_, BandGrid::kNodes, was);
}

void BodyTracker::labelNodes(const BandGrid& grid, const EdgeIndex& index) {
  resizeTight(node_labels_, grid.slotCount() * BandGrid::kNodes);
  parallelFor(grid.blockCount(), kBodyBlocksPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b)
      std::fill_n(
          node_labels_.begin() + static_cast<std::ptrdiff_t>(grid.order()[b] * BandGrid::kNodes),
          BandGrid::kNodes, 0);
  });
  for (const std::uint32_t slot : grid.order())
    forEachEdge(grid, index, slot, [&](std::uint32_t id, std::uint32_t in_slot, int node) {
      const std::uint32_t label = of_point_[id] + 1;
      node_labels_[in_slot * BandGrid::kNodes + static_cast<std::size_t>(node)] =
          static_cast<std::uint16_t>(label <= 0xFFFF ? label : 0);
    });
}

void BodyTracker::update(const BandGrid& grid, const EdgeIndex& index,
                         const LatticeSurface& surface, double time_s, const EvolutionLaw& law) {
  ++updates_;
  findPieces(surface);
  measurePieces(surface);
  makeBodies(grid, index, surface);
  addColumns(grid, index, surface);
  // Labels are of the step before; slots that were freed since have none.
  matchBodies(findLinks(grid, index), time_s, law);
  labelNodes(grid, index);
  started_ = true;
}

std::vector<InsideNode> insideNodes(const BandGrid& grid, const EdgeIndex& index,
                                    std::span<const std::uint32_t> body_of_point,
                                    std::span<const char> chosen) {
  std::vector<InsideNode> nodes;
  for (const std::uint32_t slot : grid.order())
    forEachEdge(grid, index, slot, [&](std::uint32_t id, std::uint32_t in_slot, int node) {
      if (chosen[body_of_point[id]] != 0) nodes.push_back({in_slot, node});
    });
  std::stable_sort(nodes.begin(), nodes.end(),
                   [](const InsideNode& a, const InsideNode& b) { return a.slot < b.slot; });
  return nodes;
}

std::size_t BodyTracker::memoryBytes() const {
  return of_point_.capacity() * sizeof(std::uint32_t);
}

std::size_t BodyTracker::blockBytes() const {
  return node_labels_.capacity() * sizeof(std::uint16_t);
}

}  // namespace detail
}  // namespace derm
