#include "derm/implicit/particle_target.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "derm/base/parallel.h"
#include "derm/math/decompositions.h"

namespace derm {
namespace {

constexpr double kKernelNorm = 315 / (64 * std::numbers::pi);  // 1 over the integral, times H^3
constexpr std::size_t kTargetParticlesPerChunk = 256;

Error badDesc(const char* field, const std::string& what) {
  return Error{ErrorCode::BadArgument, what, {.element = field}};
}

Result<void> checkDesc(const Particles& particles, const ParticleTargetDesc& desc) {
  DERM_CHECK(validate(particles, "particles"));
  if (particles.positions.empty()) return badDesc("particles", "there are none");
  if (particles.radii.empty() && !(desc.radius_m > 0 && std::isfinite(desc.radius_m)))
    return badDesc("radius", "must be positive, not " + std::to_string(desc.radius_m) +
                                 ", where particles have none of their own");
  if (!(desc.reach >= 2 && desc.reach <= 8))
    return badDesc("reach", "must be 2 to 8, not " + std::to_string(desc.reach));
  if (!(desc.iso > 0 && desc.iso < 1))
    return badDesc("iso", "must be between 0 and 1, not " + std::to_string(desc.iso));
  if (!(desc.drops >= 0 && desc.drops <= 1))
    return badDesc("drops", "must be 0 to 1, not " + std::to_string(desc.drops));
  return {};
}

}  // namespace

Result<ParticleTarget> ParticleTarget::make(const Particles& particles,
                                            const ParticleTargetDesc& desc) {
  DERM_CHECK(checkDesc(particles, desc));
  ParticleTarget target;
  target.iso_ = desc.iso;
  target.sortIntoCells(particles, desc);
  target.raiseLonelyOnes(desc.drops);
  if (desc.anisotropic) target.stretchKernels();
  return target;
}

void ParticleTarget::sortIntoCells(const Particles& particles, const ParticleTargetDesc& desc) {
  const std::size_t n = particles.size();
  const auto radius = [&](std::size_t i) {
    return particles.radii.empty() ? desc.radius_m : double{particles.radii[i]};
  };
  double largest = 0, sum = 0;
  Box3d box;
  for (std::size_t i = 0; i < n; ++i) {
    largest = std::max(largest, radius(i));
    sum += radius(i);
    box.include(Vec3d(particles.positions[i].cast<double>()));
  }
  usual_reach_m_ = desc.reach * sum / static_cast<double>(n);
  box_ = box.grown(desc.reach * largest);
  origin_ = box.low;
  // Wide sprays would need more cells than particles are worth; larger cells are only slower.
  double cell = desc.reach * largest;
  const double max = 8.0 * static_cast<double>(n) + 4096;
  for (;; cell *= 1.26) {
    const Vec3d counts = ((box.high - box.low) / cell).array().floor() + 1;
    if (counts.prod() > max) continue;
    for (int k = 0; k < 3; ++k) cells_[k] = static_cast<std::size_t>(counts[k]);
    break;
  }
  cell_m_ = static_cast<float>(cell);
  std::vector<std::size_t> cell_of(n);
  cell_start_.assign(cells_[0] * cells_[1] * cells_[2] + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Vec3d p = (particles.positions[i].cast<double>() - origin_) / cell;
    const auto index = [&](int k) {
      return static_cast<int>(std::min(p[k], static_cast<double>(cells_[k]) - 0.5));
    };
    cell_of[i] = cellOf(index(0), index(1), index(2));
    ++cell_start_[cell_of[i] + 1];
  }
  std::partial_sum(cell_start_.begin(), cell_start_.end(), cell_start_.begin());
  std::vector<std::uint32_t> next(cell_start_.begin(), cell_start_.end() - 1);
  const bool carry = desc.carry && !particles.velocities.empty();
  velocities_.resize(carry ? n : 0);
  for (std::vector<float>* list : {&x_, &y_, &z_, &inverse2_, &weight_}) list->resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t at = next[cell_of[i]]++;
    const Vec3f p = (particles.positions[i].cast<double>() - origin_).cast<float>();
    const double r = radius(i), reach = desc.reach * r;
    const double share = particles.masses.empty() ? 1.0 : double{particles.masses[i]};
    if (carry) velocities_[at] = particles.velocities[i];
    x_[at] = p.x();
    y_[at] = p.y();
    z_[at] = p.z();
    inverse2_[at] = static_cast<float>(1 / (reach * reach));
    weight_[at] = static_cast<float>(share * 8 * r * r * r * kKernelNorm / (reach * reach * reach));
  }
}

template <class Visit>
void ParticleTarget::forRunsAround(const Vec3f& p, const Visit& visit) const {
  const auto cell = [&](float v) { return static_cast<int>(std::floor(v / cell_m_)); };
  // A point may be anywhere; beyond these there is nothing.
  const float far = cell_m_ * 1e6f;
  if (!(std::abs(p.x()) < far && std::abs(p.y()) < far && std::abs(p.z()) < far)) return;
  const int nx = static_cast<int>(cells_[0]), ny = static_cast<int>(cells_[1]),
            nz = static_cast<int>(cells_[2]);
  const int cx = cell(p.x()), cy = cell(p.y()), cz = cell(p.z());
  const int x0 = std::max(cx - 1, 0), x1 = std::min(cx + 1, nx - 1);
  if (x0 > x1) return;
  for (int z = std::max(cz - 1, 0); z <= std::min(cz + 1, nz - 1); ++z)
    for (int y = std::max(cy - 1, 0); y <= std::min(cy + 1, ny - 1); ++y) {
      const std::uint32_t first = cell_start_[cellOf(x0, y, z)],
                          last = cell_start_[cellOf(x1, y, z) + 1];
      if (first < last) visit(first, last);
    }
}

float ParticleTarget::valueAt(const Vec3f& p) const {
  // Four sums at once: the order is fixed, and the compiler can use vectors.
  float sums[4] = {};
  const bool stretched = !stretch_.empty();
  forRunsAround(p, [&](std::uint32_t first, std::uint32_t last) {
    if (stretched) {
      for (std::uint32_t i = first; i < last; ++i) {
        const float dx = x_[i] - p.x(), dy = y_[i] - p.y(), dz = z_[i] - p.z();
        const float* s = stretch_.data() + 6 * std::size_t{i};
        const float q = s[0] * dx * dx + s[1] * dy * dy + s[2] * dz * dz +
                        2 * (s[3] * dx * dy + s[4] * dy * dz + s[5] * dz * dx);
        const float w = std::max(0.0f, 1 - q);
        sums[0] += weight_[i] * w * w * w;
      }
      return;
    }
    const auto term = [&](std::uint32_t i) {
      const float dx = x_[i] - p.x(), dy = y_[i] - p.y(), dz = z_[i] - p.z();
      const float w = std::max(0.0f, 1 - (dx * dx + dy * dy + dz * dz) * inverse2_[i]);
      return weight_[i] * w * w * w;
    };
    std::uint32_t i = first;
    for (; i + 4 <= last; i += 4)
      for (std::uint32_t k = 0; k < 4; ++k) sums[k] += term(i + k);
    for (std::uint32_t k = 0; i < last; ++i, ++k) sums[k] += term(i);
  });
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void ParticleTarget::sample(const SampleBatch& at, std::span<float> g) const noexcept {
  const Vec3f shift = Vec3d(at.origin - origin_).cast<float>();
  for (std::size_t i = 0; i < at.size(); ++i)
    g[i] = valueAt(shift + Vec3f(at.x[i], at.y[i], at.z[i]));
}

void ParticleTarget::sampleVelocity(const SampleBatch& at,
                                    std::span<Vec3f> velocities) const noexcept {
  const Vec3f shift = Vec3d(at.origin - origin_).cast<float>();
  for (std::size_t i = 0; i < at.size(); ++i) {
    const Vec3f p = shift + Vec3f(at.x[i], at.y[i], at.z[i]);
    Vec3f sum = Vec3f::Zero();
    float total = 0;
    if (!velocities_.empty())
      forRunsAround(p, [&](std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t j = first; j < last; ++j) {
          const Vec3f d(x_[j] - p.x(), y_[j] - p.y(), z_[j] - p.z());
          const float w = std::max(0.0f, 1 - d.squaredNorm() * inverse2_[j]);
          sum += weight_[j] * w * w * w * velocities_[j];
          total += weight_[j] * w * w * w;
        }
      });
    velocities[i] = total > 0 ? Vec3f(sum / total) : Vec3f(Vec3f::Zero());
  }
}

/// [0,1] Whether a particle's neighbours lie along a thread (0) or spread in a second direction at
/// least half as far, squared, as in the first (1): a sheet, however uneven.
double ParticleTarget::flatnessAt(std::size_t i) const {
  const Vec3f p(x_[i], y_[i], z_[i]);
  Mat3d spread = Mat3d::Zero();
  forRunsAround(p, [&](std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t j = first; j < last; ++j) {
      const Vec3d d = Vec3f(x_[j] - p.x(), y_[j] - p.y(), z_[j] - p.z()).cast<double>();
      const double w = std::max(0.0, 1 - d.squaredNorm() * inverse2_[i]);
      spread += w * w * w * d * d.transpose();
    }
  });
  const Vec3d size = symmetricEigen3(spread).values;
  return size.z() > 0 ? std::clamp(2 * size.y() / size.z(), 0.0, 1.0) : 0;
}

/// A lonely particle reaches only 0.2 and would vanish below the iso level; a layer of them is at
/// 0.6, a little too thin. Each is raised until the density at its position is what a ball of its
/// volume needs for its rim to be at the iso level; threads and whole sheets need nearly the same
/// (0.985 and 0.954 of it).
///
/// In the voids of an uneven sheet density is lower than at its particles, the more so the fewer
/// reach there: by a factor of up to q = 1 + 0.73/(n - 1), n = the density at a particle
/// over its own, and along a thread 1 + 0.2/(n - 1). (Fitted to the worst point in twelve sets
/// each, neighbour counts of 1.5 to 5, particles off a lattice by up to a quarter of their
/// distance. The same for any reach: all lengths count in the neighbours' distance.) Where q
/// exceeds what a ball needs, the sheet would tear; density is then raised to q times the iso
/// level, but nobody is made heavier than one who is alone. Matter stretched that far comes out too
/// thick. Deep inside nothing is raised.
void ParticleTarget::raiseLonelyOnes(double drops) {
  if (drops <= 0) return;
  constexpr double kSheetVoids = 0.73, kThreadGaps = 0.2;
  std::vector<float> raised = weight_;
  parallelFor(x_.size(), kTargetParticlesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const double reach2 = 1 / double{inverse2_[i]}, reach = std::sqrt(reach2);
      const double alone = double{weight_[i]};
      const double volume = alone * reach2 * reach / kKernelNorm;
      const double ball2 = std::pow(3 * volume / (4 * std::numbers::pi), 2.0 / 3);
      const double at_rim = std::pow(std::max(0.05, 1 - ball2 / reach2), 3);
      const double density = std::max(alone, double{valueAt(Vec3f(x_[i], y_[i], z_[i]))});
      const double others = density / alone - 1;  // n - 1
      double extra = 0;
      if (others > 0 && at_rim * (others + kSheetVoids) > others) {
        const double voids = kThreadGaps + (kSheetVoids - kThreadGaps) * flatnessAt(i);
        extra = std::clamp(at_rim * (1 + voids / others) - 1, 0.0, others);
      }
      const double wanted = iso_ / at_rim * (1 + extra);
      raised[i] = static_cast<float>(alone * (1 + drops * std::max(0.0, wanted / density - 1)));
    }
  });
  weight_.swap(raised);
}

/// Kernels follow the spread of the neighbours: wide where there are many, narrow across sheets.
/// The kernel's volume is kept; its reach never grows, so cells stay right.
void ParticleTarget::stretchKernels() {
  constexpr double kMaxRatio = 3;
  constexpr int kEnough = 12;  // fewer neighbours say nothing about a direction
  stretch_.resize(6 * x_.size());
  parallelFor(x_.size(), kTargetParticlesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Vec3f p(x_[i], y_[i], z_[i]);
      Vec3d mean = Vec3d::Zero();
      Mat3d square = Mat3d::Zero();
      double total = 0;
      int count = 0;
      forRunsAround(p, [&](std::uint32_t first, std::uint32_t last) {
        for (std::uint32_t j = first; j < last; ++j) {
          const Vec3d d = Vec3f(x_[j] - p.x(), y_[j] - p.y(), z_[j] - p.z()).cast<double>();
          const double q = d.squaredNorm() * inverse2_[i];
          if (q >= 1) continue;
          const double w = 1 - q * std::sqrt(q);
          mean += w * d;
          square += w * d * d.transpose();
          total += w;
          ++count;
        }
      });
      Mat3d metric = Mat3d::Identity() * double{inverse2_[i]};
      if (count >= kEnough) {
        mean /= total;
        const Mat3d spread = square / total - mean * mean.transpose();
        const SymmetricEigen3 axes = symmetricEigen3(spread);
        Vec3d size = axes.values.cwiseMax(0.0).cwiseSqrt();
        size = size.cwiseMax(size.maxCoeff() / kMaxRatio) / size.maxCoeff();
        const Mat3d turn = axes.vectors;
        metric = turn * (size.cwiseProduct(size).cwiseInverse()).asDiagonal() * turn.transpose() *
                 double{inverse2_[i]};
        weight_[i] = static_cast<float>(weight_[i] / size.prod());
      }
      float* s = stretch_.data() + 6 * i;
      s[0] = static_cast<float>(metric(0, 0));
      s[1] = static_cast<float>(metric(1, 1));
      s[2] = static_cast<float>(metric(2, 2));
      s[3] = static_cast<float>(metric(0, 1));
      s[4] = static_cast<float>(metric(1, 2));
      s[5] = static_cast<float>(metric(2, 0));
    }
  });
}

/// At most what all kernels that reach the box add up to where each comes nearest. By particles,
/// not by cells: those of a wide spray are large, and all that lies in them would be taken for
/// matter.
FieldRange ParticleTarget::rangeIn(const Box3d& box) const {
  const double reach = cell_m_;
  const auto clampCell = [&](double v, std::size_t count) {
    return static_cast<int>(std::clamp(std::floor(v / reach), -1.0, static_cast<double>(count)));
  };
  const Vec3d low = box.low - origin_, high = box.high - origin_;
  int from[3], to[3];
  for (int k = 0; k < 3; ++k) {
    from[k] = std::max(0, clampCell(low[k], cells_[k]) - 1);
    to[k] = std::min(static_cast<int>(cells_[k]) - 1, clampCell(high[k], cells_[k]) + 1);
    if (from[k] > to[k]) return {0, 0};
  }
  // Many cells: assume the worst rather than count them all.
  if (double(to[1] - from[1] + 1) * double(to[2] - from[2] + 1) > 4096)
    return {0, std::numeric_limits<double>::infinity()};
  constexpr double kRounding = 1.001;  // sums of floats are compared with this one
  double most = 0;
  for (int z = from[2]; z <= to[2]; ++z)
    for (int y = from[1]; y <= to[1]; ++y) {
      const std::uint32_t last = cell_start_[cellOf(to[0], y, z) + 1];
      for (std::uint32_t i = cell_start_[cellOf(from[0], y, z)]; i < last; ++i) {
        const Vec3d p(x_[i], y_[i], z_[i]);
        const Vec3d away = (low - p).cwiseMax(p - high).cwiseMax(0.0);
        const double w = 1 - away.squaredNorm() * double{inverse2_[i]};
        if (w > 0) most += kRounding * double{weight_[i]} * w * w * w;
        // Enough to hold matter: a bound of what is deep inside would cost more than it tells.
        if (most >= iso_) return {0, std::numeric_limits<double>::infinity()};
      }
    }
  return {0, most};
}

void ParticleTarget::appendSeeds(std::vector<TargetSeed>& seeds) const {
  for (std::size_t i = 0; i < x_.size(); ++i)
    seeds.push_back({origin_ + Vec3f(x_[i], y_[i], z_[i]).cast<double>(), std::uint32_t(i)});
}

double ParticleTarget::bruteForceAt(const Vec3d& point) const {
  const Vec3f p = (point - origin_).cast<float>();
  double sum = 0;
  for (std::size_t i = 0; i < x_.size(); ++i) {
    const float dx = x_[i] - p.x(), dy = y_[i] - p.y(), dz = z_[i] - p.z();
    float q = (dx * dx + dy * dy + dz * dz) * inverse2_[i];
    if (!stretch_.empty()) {
      const float* s = stretch_.data() + 6 * i;
      q = s[0] * dx * dx + s[1] * dy * dy + s[2] * dz * dz +
          2 * (s[3] * dx * dy + s[4] * dy * dz + s[5] * dz * dx);
    }
    if (q < 1) sum += double{weight_[i]} * (1 - q) * (1 - q) * (1 - q);
  }
  return sum;
}

}  // namespace derm
