#include "head_samples.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <Eigen/Cholesky>

#include "derm/base/parallel.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/weld.h"

namespace derm::detail {
namespace {

/// Samples with less openness are inside: mouth, nostrils, inner layers.
constexpr double kMinOpenness = 0.2;

std::uint64_t voxelKey(const Vec3d& p, const Vec3d& n, double voxel, bool by_normal) {
  std::uint64_t key = 0;
  // Faces are symmetric about x = 0, and meshes have vertices there: no border of voxels may be.
  constexpr std::array<double, 3> kOffset = {0.371, 0.237, 0.519};
  for (int k = 0; k < 3; ++k) {
    // 20 bits around the middle: a million voxels a side, more than any thinning asks for.
    const double cell = std::clamp(std::floor(p[k] / voxel + kOffset[static_cast<std::size_t>(k)]),
                                   -524288.0, 524287.0);
    key = (key << 20) | static_cast<std::uint64_t>(static_cast<std::int64_t>(cell) + 524288);
  }
  if (!by_normal) return key;
  int axis = 0;
  n.cwiseAbs().maxCoeff(&axis);
  return (key << 3) | static_cast<std::uint64_t>(2 * axis + (n[axis] > 0 ? 1 : 0));
}

}  // namespace

Tree3 treeOf(std::span<const Vec3d> points) {
  std::vector<Tree3::Point> list(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) list[i] = treePoint(points[i]);
  return Tree3(std::move(list));
}

WeldedHead weldedHead(const TriMesh& mesh) {
  WeldedHead head;
  head.weld = weldMap(mesh.positions, mesh.triangles);
  head.triangles = mapped(mesh.triangles, head.weld);
  head.positions.resize(mesh.vertexCount());
  head.normals.assign(mesh.vertexCount(), Vec3d::Zero());
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v)
    head.positions[v] = mesh.positions[v].cast<double>();
  for (const Triangle& t : head.triangles) {
    const Vec3d& a = head.positions[t[0]];
    const Vec3d n = (head.positions[t[1]] - a).cross(head.positions[t[2]] - a);
    for (const std::uint32_t corner : t) head.normals[corner] += n;
  }
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) {
    const double length = head.normals[v].norm();
    if (length > 0) head.normals[v] /= length;
  }
  for (std::size_t v = 0; v < mesh.vertexCount(); ++v) head.normals[v] = head.normals[head.weld[v]];
  return head;
}

Samples sampleSurface(std::span<const Vec3d> positions, std::span<const Vec3d> normals,
                      std::span<const Triangle> triangles, std::size_t count) {
  double area = 0;
  std::vector<double> areas(triangles.size());
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    const Vec3d& a = positions[triangles[t][0]];
    areas[t] = 0.5 * (positions[triangles[t][1]] - a).cross(positions[triangles[t][2]] - a).norm();
    area += areas[t];
  }
  Samples all;
  if (!(area > 0)) return all;
  const double per_area = static_cast<double>(count) / area;
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    if (!(areas[t] > 0)) continue;
    const auto k = static_cast<int>(std::clamp(std::sqrt(areas[t] * per_area) + 0.5, 1.0, 512.0));
    const Vec3d& a = positions[triangles[t][0]];
    const Vec3d& b = positions[triangles[t][1]];
    const Vec3d& c = positions[triangles[t][2]];
    const Vec3d face = (b - a).cross(c - a).normalized();
    const double step = 1.0 / k;
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < k - i; ++j)
        for (int half = 0; half < (i + j < k - 1 ? 2 : 1); ++half) {
          const double u = (i + (half ? 2.0 : 1.0) / 3) * step;
          const double v = (j + (half ? 2.0 : 1.0) / 3) * step;
          const double w = 1 - u - v;
          Vec3d n = w * normals[triangles[t][0]] + u * normals[triangles[t][1]] +
                    v * normals[triangles[t][2]];
          const double length = n.norm();
          all.positions.push_back(w * a + u * b + v * c);
          all.normals.push_back(length > 0.1 ? Vec3d(n / length) : face);
          all.areas.push_back(areas[t] * step * step);
        }
  }
  if (all.size() <= count + count / 4) return all;
  std::vector<std::uint32_t> which(all.size());
  std::iota(which.begin(), which.end(), 0u);
  // A surface meets about 1.5 voxels per voxel side squared.
  const double voxel = std::sqrt(1.5 / per_area);
  return chosen(all, thinned(all, which, voxel, true));
}

std::vector<std::uint32_t> thinned(const Samples& samples, std::span<const std::uint32_t> which,
                                   double voxel, bool by_normal) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> cells(which.size());
  for (std::size_t i = 0; i < which.size(); ++i)
    cells[i] = {voxelKey(samples.positions[which[i]], samples.normals[which[i]], voxel, by_normal),
                which[i]};
  std::sort(cells.begin(), cells.end());
  std::vector<std::uint32_t> kept;
  for (std::size_t first = 0; first < cells.size();) {
    std::size_t last = first;
    Vec3d mean = Vec3d::Zero();
    double area = 0;
    for (; last < cells.size() && cells[last].first == cells[first].first; ++last) {
      const std::uint32_t s = cells[last].second;
      mean += samples.areas[s] * samples.positions[s];
      area += samples.areas[s];
    }
    mean /= area;
    // Beside the mean: two samples of one area are equally far from it, and rounding would choose.
    mean += voxel * Vec3d(0.083, 0.051, 0.029);
    std::uint32_t best = cells[first].second;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = first; i < last; ++i) {
      const double d = (samples.positions[cells[i].second] - mean).squaredNorm();
      if (d < least) {
        least = d;
        best = cells[i].second;
      }
    }
    kept.push_back(best);
    first = last;
  }
  return kept;
}

Samples chosen(const Samples& samples, std::span<const std::uint32_t> which) {
  Samples out;
  out.positions.reserve(which.size());
  out.normals.reserve(which.size());
  for (const std::uint32_t i : which) {
    out.positions.push_back(samples.positions[i]);
    out.normals.push_back(samples.normals[i]);
    out.areas.push_back(samples.areas[i]);
    if (!samples.openness.empty()) out.openness.push_back(samples.openness[i]);
  }
  return out;
}

std::vector<Vec3d> fibonacciDirections(int count) {
  std::vector<Vec3d> directions;
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  for (int i = 0; i < count; ++i) {
    const double z = 1 - (2.0 * i + 1) / count;
    const double r = std::sqrt(std::max(0.0, 1 - z * z));
    directions.emplace_back(r * std::cos(golden * i), r * std::sin(golden * i), z);
  }
  return directions;
}

bool measureOpenness(Samples& samples, int directions, int resolution) {
  const std::size_t n = samples.size();
  samples.openness.assign(n, 0.0);
  if (n == 0) return false;
  Vec3d low = samples.positions[0];
  Vec3d high = low;
  for (const Vec3d& p : samples.positions) {
    low = low.cwiseMin(p);
    high = high.cwiseMax(p);
  }
  const Vec3d centre = 0.5 * (low + high);
  double radius = 0;
  for (const Vec3d& p : samples.positions) radius = std::max(radius, (p - centre).norm());
  if (!(radius > 0)) return false;
  const std::vector<Vec3d> list = fibonacciDirections(directions);
  const auto width = static_cast<std::size_t>(resolution);

  struct View {
    std::vector<double> depth;
    Vec3d a, b, d;
  };
  std::vector<View> views(list.size());
  const auto pixel = [&](const View& view, const Vec3d& p) {
    const Vec3d q = p - centre;
    const auto at = [&](double x) {
      const double cell = (x / radius + 1) * 0.5 * resolution;
      return static_cast<std::size_t>(std::clamp(cell, 0.0, resolution - 1.0));
    };
    return at(q.dot(view.a)) * width + at(q.dot(view.b));
  };
  parallelFor(list.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t v = begin; v < end; ++v) {
      View& view = views[v];
      view.d = list[v];
      tangents(view.d, std::abs(view.d.y()) < 0.9 ? Vec3d::UnitY() : Vec3d::UnitX(), view.a,
               view.b);
      view.depth.assign(width * width, -std::numeric_limits<double>::infinity());
      for (const Vec3d& p : samples.positions) {
        double& z = view.depth[pixel(view, p)];
        z = std::max(z, (p - centre).dot(view.d));
      }
    }
  });
  const auto measure = [&] {
    parallelFor(n, 512, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        double seen = 0;
        double all = 0;
        for (const View& view : views) {
          const double cosine = samples.normals[i].dot(view.d);
          if (cosine <= 0.1) continue;
          all += cosine;
          const double slope = std::sqrt(std::max(0.0, 1 / (cosine * cosine) - 1));
          const double depth = (samples.positions[i] - centre).dot(view.d);
          if (depth >=
              view.depth[pixel(view, samples.positions[i])] - radius * (0.015 + 0.01 * slope))
            seen += cosine;
        }
        samples.openness[i] = all > 0 ? seen / all : 0.0;
      }
    });
    double sum = 0;
    double area = 0;
    for (std::size_t i = 0; i < n; ++i) {
      sum += samples.areas[i] * samples.openness[i];
      area += samples.areas[i];
    }
    return area > 0 ? sum / area : 0.0;
  };
  const double mean = measure();
  if (mean >= 0.45) return false;
  // Inside out? Then the other side is the open one.
  const std::vector<double> before = samples.openness;
  for (Vec3d& normal : samples.normals) normal = -normal;
  if (measure() > mean) return true;
  for (Vec3d& normal : samples.normals) normal = -normal;
  samples.openness = before;
  return false;
}

void tangents(const Vec3d& n, const Vec3d& up, Vec3d& t1, Vec3d& t2) {
  t1 = up.cross(n);
  const double length = t1.norm();
  if (length > 1e-9)
    t1 /= length;
  else
    t1 = (std::abs(n.x()) < 0.5 ? Vec3d(Vec3d::UnitX()) : Vec3d(Vec3d::UnitZ()))
             .cross(n)
             .normalized();
  t2 = n.cross(t1);
}

QuadricFits::QuadricFits(const Samples& all, std::span<const std::uint32_t> which, double sigma)
    : sigma_(sigma) {
  for (const std::uint32_t i : thinned(all, which, 0.55 * sigma)) {
    positions_.push_back(all.positions[i]);
    normals_.push_back(all.normals[i]);
  }
  tree_ = treeOf(positions_);
}

LocalShape QuadricFits::at(const Vec3d& p, const Vec3d& n, const Vec3d& up) const {
  using Mat6 = Eigen::Matrix<double, 6, 6>;
  using Vec6 = Eigen::Matrix<double, 6, 1>;
  Vec3d t1, t2;
  tangents(n, up, t1, t2);
  Mat6 normal = Mat6::Zero();
  Vec6 right = Vec6::Zero();
  thread_local std::vector<Tree3::Near> near;
  tree_.nearest(treePoint(p), 40, 2.2 * 2.2 * sigma_ * sigma_, near);
  for (const Tree3::Near& found : near) {
    const double facing = std::clamp(n.dot(normals_[found.index]) + 0.3, 0.0, 1.0);
    if (facing <= 0) continue;
    const double weight = facing * std::exp(-found.squared / (2 * sigma_ * sigma_));
    const Vec3d d = (positions_[found.index] - p) / sigma_;
    const double a = d.dot(t1);
    const double b = d.dot(t2);
    Vec6 row;
    row << 1, a, b, 0.5 * a * a, a * b, 0.5 * b * b;
    normal.noalias() += weight * row * row.transpose();
    right.noalias() += (weight * d.dot(n)) * row;
  }
  normal.diagonal().head<3>().array() += 1e-3;
  normal.diagonal().tail<3>().array() += 0.15;
  const Vec6 c = normal.ldlt().solve(right);
  return {-c[3], -c[5], (n - c[1] * t1 - c[2] * t2).normalized()};
}

MatchPoints matchPoints(const Samples& samples, double radius, double voxel) {
  std::vector<std::uint32_t> open;
  std::vector<std::uint32_t> inner;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (samples.openness[i] <= kMinOpenness) continue;
    const double r = samples.positions[i].norm();
    if (r < 1.15 * radius) open.push_back(i);
    if (r < radius) inner.push_back(i);
  }
  const std::vector<std::uint32_t> kept = thinned(samples, inner, voxel);
  MatchPoints face;
  face.positions.resize(kept.size());
  face.normals.resize(kept.size());
  face.features.resize(kept.size());
  face.border.assign(kept.size(), 0);
  for (std::size_t i = 0; i < kept.size(); ++i) face.positions[i] = samples.positions[kept[i]];
  for (std::size_t scale = 0; scale < kFeatureScales.size(); ++scale) {
    const QuadricFits fits(samples, open, kFeatureScales[scale]);
    parallelFor(kept.size(), 128, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const LocalShape shape =
            fits.at(face.positions[i], samples.normals[kept[i]], Vec3d::UnitY());
        face.features[i][2 * scale] = shape.lateral;
        face.features[i][2 * scale + 1] = shape.vertical;
        if (scale == 0) face.normals[i] = shape.normal;
      }
    });
  }
  // The points around, those just outside the ball included, lie to one side where a surface ends.
  const std::vector<std::uint32_t> around = thinned(samples, open, voxel);
  std::vector<Vec3d> around_positions;
  for (const std::uint32_t i : around) around_positions.push_back(samples.positions[i]);
  const Tree3 tree = treeOf(around_positions);
  parallelFor(kept.size(), 128, [&](std::size_t begin, std::size_t end) {
    std::vector<Tree3::Near> near;
    for (std::size_t i = begin; i < end; ++i) {
      tree.nearest(treePoint(face.positions[i]), 15, std::numeric_limits<double>::infinity(), near);
      if (near.size() < 15) continue;
      Vec3d mean = Vec3d::Zero();
      for (std::size_t k = 1; k < near.size(); ++k) mean += around_positions[near[k].index];
      Vec3d offset = mean / static_cast<double>(near.size() - 1) - face.positions[i];
      offset -= offset.dot(face.normals[i]) * face.normals[i];
      face.border[i] = offset.norm() > 0.38 * std::sqrt(near.back().squared);
    }
  });
  return face;
}

Features deviations(std::span<const Features> features) {
  Features out{};
  for (std::size_t k = 0; k < kFeatures; ++k) {
    double sum = 0;
    double squares = 0;
    for (const Features& f : features) {
      sum += f[k];
      squares += f[k] * f[k];
    }
    const double n = std::max<double>(1, static_cast<double>(features.size()));
    out[k] = std::sqrt(std::max(1e-12, squares / n - (sum / n) * (sum / n)));
  }
  return out;
}

void squash(std::vector<Features>& features, const Features& deviation) {
  for (Features& f : features)
    for (std::size_t k = 0; k < kFeatures; ++k) f[k] = 1.5 * std::tanh(f[k] / (1.5 * deviation[k]));
}

std::vector<std::uint32_t> farthestPointOrder(std::span<const Vec3d> points, std::size_t count,
                                              std::size_t first) {
  std::vector<std::uint32_t> order;
  if (points.empty()) return order;
  std::vector<double> distance(points.size(), std::numeric_limits<double>::infinity());
  // Mirrored points are equally far to the last bit or not: a little skewness decides instead.
  const Vec3d skewness(6.1e-4, 3.7e-4, 1.9e-4);
  std::vector<double> skew(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) skew[i] = 1 + points[i].dot(skewness);
  std::size_t next = first;
  while (order.size() < std::min(count, points.size())) {
    order.push_back(static_cast<std::uint32_t>(next));
    const Vec3d p = points[next];
    double farthest = -1;
    for (std::size_t i = 0; i < points.size(); ++i) {
      distance[i] = std::min(distance[i], (points[i] - p).squaredNorm());
      if (skew[i] * distance[i] > farthest) {
        farthest = skew[i] * distance[i];
        next = i;
      }
    }
    if (!(farthest > 0)) break;
  }
  return order;
}

}  // namespace derm::detail
