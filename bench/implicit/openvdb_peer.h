#pragma once

#include <cstddef>
#include <memory>

namespace derm::implicit_bench {

/// OpenVDB's level set of a ball, if OpenVDB is there: what we measure ourselves against.
class OpenVdbPeer {
 public:
  static bool available();
  /// Radius in voxels; half width 3, its own default and smallest.
  explicit OpenVdbPeer(double radius);
  ~OpenVdbPeer();

  std::size_t activeVoxels() const;
  /// One mean-curvature step in its lightest setting: first order, RK1, one renormalisation.
  /// Threads as TBB is limited; `parallel` false = its own serial mode.
  void curvatureStep(bool parallel);
  /// Quads and triangles of the surface; returns the number of points.
  std::size_t mesh();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace derm::implicit_bench
