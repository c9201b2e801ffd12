#pragma once

#include <map>
#include <span>
#include <vector>

#include "derm/implicit/bodies.h"
#include "derm/implicit/evolution_law.h"

#include "implicit/lattice_surface.h"

namespace derm::detail {

/// A closed piece of surface, in voxels.
struct PieceMeasures {
  double volume = 0;  ///< negative: a cavity
  double area = 0;
  int euler_number = 0;
  std::uint32_t vertices = 0;
};

/// A body as the tracker knows it, in voxels.
struct TrackedBody {
  std::uint32_t id = 0;
  double volume = 0;
  double column_volume = 0;  ///< of the smooth surface, by columns along the three axes
  double area = 0;
  int euler_number = 0;
  int cavities = 0;
  std::uint32_t points = 0;        ///< edge points
  Vec3d position = Vec3d::Zero();  ///< [voxel] mean of its points, from the lattice's origin
  double wanted_volume = 0;
  double wanted_area = 0;
  double volume_integral = 0;  ///< [voxel/s] of the exact control
  double area_integral = 0;
  /// Newborn: not held before it has stopped growing.
  bool growing = false;
  /// The target has left it altogether: not held, so that it goes.
  bool abandoned = false;
};

/// Finds the bodies of a skin step by step, recognises them again, and tells what happened to them:
/// splits, merges, births, deaths, holes, cavities. Bodies are matched through the inside ends of
/// their edge points; labels of outside ends would mix bodies one voxel apart. O(surface).
class BodyTracker {
 public:
  /// The grid's slots have new numbers: `was` gives the old one of each.
  void renumberSlots(std::span<const std::uint32_t> was);
  /// Looks at the surface as it is now. `surface` must have been made from `grid` and `index`.
  void update(const BandGrid& grid, const EdgeIndex& index, const LatticeSurface& surface,
              double time_s, const EvolutionLaw& law);

  std::span<TrackedBody> bodies() { return bodies_; }
  std::span<const TrackedBody> bodies() const { return bodies_; }
  /// Per edge point, which of bodies() it belongs to.
  std::span<const std::uint32_t> bodyOfPoint() const { return of_point_; }
  const std::vector<SkinEvent>& events() const { return events_; }
  void clearEvents();
  std::size_t memoryBytes() const;  ///< by edge points
  std::size_t blockBytes() const;   ///< by blocks

 private:
  /// How many edge points of a new body lie on an old one.
  struct Link {
    std::uint32_t fresh = 0, old = 0, count = 0;
  };

  void findPieces(const LatticeSurface& surface);
  void measurePieces(const LatticeSurface& surface);
  void makeBodies(const BandGrid& grid, const EdgeIndex& index, const LatticeSurface& surface);
  void addColumns(const BandGrid& grid, const EdgeIndex& index, const LatticeSurface& surface);
  void attachCavities(const BandGrid& grid, const EdgeIndex& index,
                      std::vector<std::uint32_t>& body_of_piece) const;
  std::vector<Link> findLinks(const BandGrid& grid, const EdgeIndex& index) const;
  void matchBodies(const std::vector<Link>& links, double time_s, const EvolutionLaw& law);
  void settleGroup(std::span<const std::uint32_t> fresh, std::span<const std::uint32_t> old,
                   double time_s);
  void inherit(const TrackedBody& gone);
  void compareTopology(std::span<const std::uint32_t> fresh, std::span<const std::uint32_t> old,
                       std::uint32_t id, double time_s);
  void labelNodes(const BandGrid& grid, const EdgeIndex& index);
  /// Notes an event, or takes one back: what is undone within a few updates is the lattice's noise
  /// (a membrane that tears at three places at once, specks of a thread that breaks).
  void event(double time_s, SkinEventKind kind, std::uint32_t body, std::uint32_t other = 0);

  std::vector<PieceMeasures> pieces_;
  std::vector<std::uint32_t> of_point_;  ///< per edge point: its piece, then its body
  std::vector<TrackedBody> bodies_;
  std::vector<TrackedBody> old_bodies_;
  /// Per node: old body + 1 at inside near nodes. Bodies beyond the 65,534th are known by their
  /// position only.
  std::vector<std::uint16_t> node_labels_;
  std::vector<SkinEvent> events_;
  std::vector<std::uint64_t> event_updates_;  ///< in which update() each was noted
  std::uint64_t updates_ = 0;
  std::uint32_t next_id_ = 1;
  bool started_ = false;
};

/// A node inside, at the end of an edge point.
struct InsideNode {
  std::uint32_t slot = 0;
  int node = 0;
};

/// Those of the bodies marked in `chosen`, with repetitions, by slot. Bodies of a few voxels have
/// no others inside.
std::vector<InsideNode> insideNodes(const BandGrid& grid, const EdgeIndex& index,
                                    std::span<const std::uint32_t> body_of_point,
                                    std::span<const char> chosen);

}  // namespace derm::detail
