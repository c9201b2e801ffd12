#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/tri_mesh.h"

#include "point_tree.h"

/// Surfaces as sets of points that no longer know vertices and triangles: what registration works
/// on. All lengths here are in the unit of whoever made the positions.
namespace derm::detail {

using Tree3 = PointTree<3, double>;

inline Tree3::Point treePoint(const Vec3d& p) { return {p[0], p[1], p[2]}; }
Tree3 treeOf(std::span<const Vec3d> points);

struct Samples {
  std::vector<Vec3d> positions;
  std::vector<Vec3d> normals;    ///< unit length, outwards
  std::vector<double> areas;     ///< what a sample stands for
  std::vector<double> openness;  ///< [0,1], see measureOpenness; empty before

  std::size_t size() const { return positions.size(); }
};

/// A head's triangles with one vertex per position, in double, and area-weighted normals.
struct WeldedHead {
  std::vector<Vec3d> positions;  ///< per vertex of the mesh
  std::vector<Vec3d> normals;
  std::vector<Triangle> triangles;
  std::vector<std::uint32_t> weld;
};
WeldedHead weldedHead(const TriMesh& mesh);

/// About `count` points spread by area: the centres of k*k equal parts of every triangle, thinned
/// to the nearest of each voxel's mean. Depends on the geometry only, not on the order of vertices
/// or triangles.
Samples sampleSurface(std::span<const Vec3d> positions, std::span<const Vec3d> normals,
                      std::span<const Triangle> triangles, std::size_t count);

/// The sample nearest to the mean of those in each voxel, ordered by voxel. With `by_normal` the
/// six main directions of the normal are kept apart, so that thin layers keep both sides.
std::vector<std::uint32_t> thinned(const Samples& samples, std::span<const std::uint32_t> which,
                                   double voxel, bool by_normal = false);
Samples chosen(const Samples& samples, std::span<const std::uint32_t> which);

/// Openness o: the share of the directions before a sample, weighted by the cosine, from which the
/// sample is seen past the others (orthographic depth buffers over the bounding sphere). 1 on the
/// outside, near 0 in mouth and nostrils. Turns all normals where the surface is inside out, and
/// says so.
bool measureOpenness(Samples& samples, int directions, int resolution);

/// Scales of the curvature features, in face units.
inline constexpr std::array<double, 3> kFeatureScales = {0.12, 0.22, 0.40};
inline constexpr std::size_t kFeatures = 6;
using Features = std::array<double, kFeatures>;

/// Curvature along a tangent t1 and along t2 = n x t1, by a weighted quadric fit.
struct LocalShape {
  double lateral = 0;
  double vertical = 0;
  Vec3d normal = Vec3d::UnitZ();  ///< of the fitted quadric
};

/// Quadric fits at one scale. `neighbours` are samples thinned at 0.55 sigma.
class QuadricFits {
 public:
  QuadricFits(const Samples& all, std::span<const std::uint32_t> which, double sigma);
  LocalShape at(const Vec3d& p, const Vec3d& n, const Vec3d& up) const;

 private:
  double sigma_;
  std::vector<Vec3d> positions_;
  std::vector<Vec3d> normals_;
  Tree3 tree_;
};

/// Points of a face with all that matching looks at.
struct MatchPoints {
  std::vector<Vec3d> positions;
  std::vector<Vec3d> normals;  ///< smoothed
  std::vector<Features> features;
  std::vector<char> border;  ///< the surface ends here

  std::size_t size() const { return positions.size(); }
};

/// Points within `radius` of the origin, one per voxel, with features; `samples` are in face units
/// with openness.
MatchPoints matchPoints(const Samples& samples, double radius, double voxel);

/// Brings features to a common size: 1.5 tanh(f / 1.5 s).
void squash(std::vector<Features>& features, const Features& deviations);
Features deviations(std::span<const Features> features);

/// Farthest-point order of the first `count` points, starting at `first`.
std::vector<std::uint32_t> farthestPointOrder(std::span<const Vec3d> points, std::size_t count,
                                              std::size_t first);

/// Unit tangents t1 = up x n (any where they are parallel) and t2 = n x t1.
void tangents(const Vec3d& n, const Vec3d& up, Vec3d& t1, Vec3d& t2);

/// Directions spread evenly over the sphere.
std::vector<Vec3d> fibonacciDirections(int count);

}  // namespace derm::detail
