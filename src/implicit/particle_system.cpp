#include "derm/implicit/particle_system.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

#include "derm/base/parallel.h"

namespace derm {
namespace {

constexpr std::size_t kParticlesPerChunk = 256;
constexpr float kReach = 4;  // of a particle over its radius
constexpr std::size_t kMaxParticles = 200000;
constexpr double kGoldenAngle = 2.399963229728653;  // [rad] 2 pi (1 - 1/golden ratio)

Error badParticles(const char* field, const std::string& what) {
  return Error{ErrorCode::BadArgument, what, {.element = field}};
}

Result<void> checkDesc(const ParticleSystemDesc& d) {
  if (!(d.radius_m > 0) || !std::isfinite(d.radius_m))
    return badParticles("radius", "must be positive, not " + std::to_string(d.radius_m));
  if (!(d.step_s > 0 && d.step_s <= 0.1))
    return badParticles("step", "must be between 0 and 0.1 s, not " + std::to_string(d.step_s));
  for (const double v : {d.stiffness, d.cohesion, d.viscosity})
    if (!(v >= 0) || !std::isfinite(v))
      return badParticles("stiffness, cohesion, viscosity", "must be 0 or more");
  if (!(d.friction >= 0 && d.friction <= 1)) return badParticles("friction", "must be 0 to 1");
  if (d.max_splits < 0 || d.max_splits > 3) return badParticles("max_splits", "must be 0 to 3");
  for (const EmitterDesc& e : d.emitters)
    if (!e.position.allFinite() || !e.velocity.allFinite() || !(e.radius_m > 0))
      return badParticles("emitters", "numbers must be finite and the jet's radius positive");
  return {};
}

}  // namespace

Result<ParticleSystem> ParticleSystem::make(Particles start, const ParticleSystemDesc& desc) {
  DERM_CHECK(checkDesc(desc));
  DERM_CHECK(validate(start, "particles"));
  ParticleSystem system;
  system.desc_ = desc;
  system.particles_ = std::move(start);
  Particles& p = system.particles_;
  p.radii.resize(p.size(), static_cast<float>(desc.radius_m));
  p.masses.resize(p.size(), 1.0f);
  p.velocities.resize(p.size(), Vec3f::Zero());
  p.ids.resize(p.size());
  std::iota(p.ids.begin(), p.ids.end(), 0);
  system.next_id_ = p.size();
  return system;
}

void ParticleSystem::advance(double seconds) {
  left_s_ += seconds;
  while (left_s_ >= desc_.step_s * (1 - 1e-9)) {
    step();
    left_s_ -= desc_.step_s;
    time_s_ += desc_.step_s;
  }
}

// ------------------------------------------------------------------------------------ neighbours

void ParticleSystem::sortIntoCells() {
  const std::size_t n = particles_.size();
  Vec3f low = particles_.positions[0], high = low;
  float largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    low = low.cwiseMin(particles_.positions[i]);
    high = high.cwiseMax(particles_.positions[i]);
    largest = std::max(largest, particles_.radii[i]);
  }
  cell_low_ = low;
  cell_m_ = kReach * largest;
  for (;; cell_m_ *= 1.26f) {
    const Vec3f counts = ((high - low) / cell_m_).array().floor() + 1;
    if (!(counts.prod() <= 8.0f * static_cast<float>(n) + 4096)) continue;
    for (int k = 0; k < 3; ++k) cells_[k] = static_cast<int>(counts[k]);
    break;
  }
  const auto cellOf = [&](const Vec3f& p) {
    std::size_t index = 0;
    for (int k = 2; k >= 0; --k) {
      const int c = std::clamp(static_cast<int>((p[k] - low[k]) / cell_m_), 0, cells_[k] - 1);
      index = index * static_cast<std::size_t>(cells_[k]) + static_cast<std::size_t>(c);
    }
    return index;
  };
  cell_start_.assign(static_cast<std::size_t>(cells_[0]) * static_cast<std::size_t>(cells_[1]) *
                             static_cast<std::size_t>(cells_[2]) +
                         1,
                     0);
  for (const Vec3f& p : particles_.positions) ++cell_start_[cellOf(p) + 1];
  std::partial_sum(cell_start_.begin(), cell_start_.end(), cell_start_.begin());
  std::vector<std::uint32_t> next(cell_start_.begin(), cell_start_.end() - 1);
  in_cells_.resize(n);
  for (std::size_t i = 0; i < n; ++i)
    in_cells_[next[cellOf(particles_.positions[i])]++] = static_cast<std::uint32_t>(i);
}

template <class Visit>
void ParticleSystem::forNeighbours(std::size_t i, const Visit& visit) const {
  const Vec3f& p = particles_.positions[i];
  int from[3], to[3];
  for (int k = 0; k < 3; ++k) {
    const int c = std::clamp(static_cast<int>((p[k] - cell_low_[k]) / cell_m_), 0, cells_[k] - 1);
    from[k] = std::max(0, c - 1);
    to[k] = std::min(cells_[k] - 1, c + 1);
  }
  for (int z = from[2]; z <= to[2]; ++z)
    for (int y = from[1]; y <= to[1]; ++y) {
      const std::size_t row = (static_cast<std::size_t>(z) * static_cast<std::size_t>(cells_[1]) +
                               static_cast<std::size_t>(y)) *
                              static_cast<std::size_t>(cells_[0]);
      const std::uint32_t first = cell_start_[row + static_cast<std::size_t>(from[0])],
                          last = cell_start_[row + static_cast<std::size_t>(to[0]) + 1];
      for (std::uint32_t s = first; s < last; ++s) {
        const std::uint32_t j = in_cells_[s];
        if (j == i) continue;
        const Vec3f d = particles_.positions[j] - p;
        const float reach = 0.5f * kReach * (particles_.radii[i] + particles_.radii[j]);
        const float r2 = d.squaredNorm();
        if (r2 < reach * reach) visit(j, d, std::sqrt(r2), reach);
      }
    }
}

// ---------------------------------------------------------------------------------------- motion

/// Sums of (1 - q)^2 and (1 - q)^3 over the neighbours, q = distance over reach: 2.67 and 1.07 on a
/// cubic lattice of the rest distance.
void ParticleSystem::findDensities() {
  densities_.resize(particles_.size());
  near_densities_.resize(particles_.size());
  parallelFor(particles_.size(), kParticlesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      float sum = 0, near = 0;
      forNeighbours(i, [&](std::uint32_t, const Vec3f&, float r, float reach) {
        const float w = 1 - r / reach;
        sum += w * w;
        near += w * w * w;
      });
      densities_[i] = sum;
      near_densities_[i] = near;
    }
  });
}

/// Pressure and near pressure along each pair; velocities are drawn to the neighbours' mean.
void ParticleSystem::findForces() {
  constexpr float kNearShare = 0.25f;
  constexpr float kRest = 2.5f;  // a little looser than the lattice: tension packs it again
  const std::size_t n = particles_.size();
  accelerations_.resize(n);
  averages_.resize(n);
  shares_.resize(n);
  const float stiffness = static_cast<float>(desc_.stiffness);
  const float cohesion = static_cast<float>(desc_.cohesion);
  parallelFor(n, kParticlesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Vec3f push = Vec3f::Zero(), mean = Vec3f::Zero();
      float weights = 0;
      forNeighbours(i, [&](std::uint32_t j, const Vec3f& d, float r, float reach) {
        const float w = 1 - r / reach;
        const float share =
            2 * particles_.masses[j] / (particles_.masses[i] + particles_.masses[j]);
        // Two at one position have no direction: the lower number goes down.
        const Vec3f way = r > 1e-6f * reach ? Vec3f(d / r) : Vec3f(0, j > i ? 1.0f : -1.0f, 0);
        // Never a pull: negative pressure makes particles clump in threads. What holds matter
        // together vanishes where particles meet.
        const float pressure = std::max(0.0f, 0.5f * (densities_[i] + densities_[j]) - kRest);
        const float near = 0.5f * kNearShare * (near_densities_[i] + near_densities_[j]);
        const float pull = cohesion * 4 * (1 - w) * w;
        push -= share * (stiffness * (pressure * w + near * w * w) - pull) * way;
        mean += w * particles_.velocities[j];
        weights += w;
      });
      accelerations_[i] = push;
      averages_[i] = weights > 0 ? Vec3f(mean / weights) : particles_.velocities[i];
      shares_[i] = std::min(1.0f, weights);
    }
  });
}

void ParticleSystem::step() {
  emit();
  if (particles_.positions.empty()) return;
  sortIntoCells();
  findDensities();
  findForces();
  const float dt = static_cast<float>(desc_.step_s);
  const Vec3f gravity = desc_.gravity.cast<float>();
  const float viscosity = static_cast<float>(1 - std::exp(-desc_.viscosity * desc_.step_s));
  const float max = 0.25f * static_cast<float>(desc_.radius_m) / dt;  // per step, against blow-up
  constexpr float kMaxApart = 150;  // [radius/s] from the neighbours' mean velocity
  const float max_apart = kMaxApart * static_cast<float>(desc_.radius_m);
  parallelFor(particles_.size(), kParticlesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Vec3f& v = particles_.velocities[i];
      Vec3f push = dt * accelerations_[i];
      if (const float length = push.norm(); length > max) push *= max / length;
      v += push + dt * gravity;
      v += viscosity * shares_[i] * (averages_[i] - v);
      // Matter that is hit hard would shoot single particles out of itself.
      const Vec3f apart = v - averages_[i];
      if (const float length = apart.norm(); shares_[i] > 0 && length > max_apart)
        v = averages_[i] + max_apart / length * apart;
      Vec3f& p = particles_.positions[i];
      p += dt * v;
      const float ground =
          static_cast<float>(desc_.ground_y_m.value_or(-1e30)) + particles_.radii[i];
      if (p.y() < ground) {
        p.y() = ground;
        v.y() = std::max(0.0f, v.y());
        const float keep = static_cast<float>(std::pow(1 - desc_.friction, desc_.step_s * 60));
        v.x() *= keep;
        v.z() *= keep;
      }
    }
  });
  if (desc_.max_splits > 0) splitThin();
}

void ParticleSystem::emit() {
  const double spacing = 2 * desc_.radius_m;
  for (const EmitterDesc& e : desc_.emitters) {
    const double speed = e.velocity.norm();
    if (!(speed > 0) || time_s_ < e.from_s || time_s_ >= e.to_s) continue;
    // A layer of particles whenever the last one has moved on by a spacing.
    const double before = std::floor((time_s_ - e.from_s) * speed / spacing);
    const double after = std::floor((time_s_ + desc_.step_s - e.from_s) * speed / spacing);
    if (after == before && time_s_ > e.from_s) continue;
    const Vec3d way = e.velocity / speed;
    const Vec3d side =
        Vec3d(std::abs(way.x()) < 0.9 ? Vec3d::UnitX() : Vec3d::UnitY()).cross(way).normalized();
    const Vec3d up = way.cross(side);
    // Points of a sunflower: as dense everywhere, with a round rim; each disc turned against the
    // last, or the jet would be a bundle of threads. A dome instead of a flat disc, so that the jet
    // begins and ends round.
    const double turn = kGoldenAngle * after;
    const auto count = std::max<long>(
        1, std::lround(std::numbers::pi * e.radius_m * e.radius_m / (spacing * spacing)));
    for (long i = 0; i < count && particles_.size() < kMaxParticles; ++i) {
      const double share = (double(i) + 0.5) / double(count);
      const double out = e.radius_m * std::sqrt(share), angle = kGoldenAngle * double(i) + turn;
      const Vec3d at = e.position + out * (std::cos(angle) * side + std::sin(angle) * up) -
                       e.radius_m * std::sqrt(1 - share) * way;
      particles_.positions.push_back(at.cast<float>());
      particles_.velocities.push_back(e.velocity.cast<float>());
      particles_.radii.push_back(static_cast<float>(desc_.radius_m));
      particles_.masses.push_back(1.0f);
      particles_.ids.push_back(next_id_++);
    }
  }
}

/// Thin matter is made finer: a particle with few around it becomes eight of half its radius.
void ParticleSystem::splitThin() {
  constexpr float kThin = 1.0f;
  const float smallest =
      static_cast<float>(desc_.radius_m / std::pow(2.0, desc_.max_splits)) * 1.01f;
  const std::size_t n = particles_.size();
  for (std::size_t i = 0; i < n; ++i) {
    const bool thin = densities_[i] < kThin && densities_[i] > 0.05f;
    if (!thin || particles_.radii[i] < smallest || particles_.size() + 7 > kMaxParticles) continue;
    const float r = 0.5f * particles_.radii[i];
    const Vec3f centre = particles_.positions[i];
    for (int c = 0; c < 8; ++c) {
      const Vec3f at =
          centre + r * Vec3f(c & 1 ? 1.0f : -1.0f, c & 2 ? 1.0f : -1.0f, c & 4 ? 1.0f : -1.0f);
      if (c == 0) {
        particles_.positions[i] = at;
        particles_.radii[i] = r;
        particles_.masses[i] /= 8;
        continue;
      }
      particles_.positions.push_back(at);
      particles_.velocities.push_back(particles_.velocities[i]);
      particles_.radii.push_back(r);
      particles_.masses.push_back(particles_.masses[i]);
      particles_.ids.push_back(next_id_++);
    }
  }
}

// --------------------------------------------------------------------------------------- feedback

void ParticleSystem::feelSkin(const Potential& skin, double share) {
  const double h = skin.voxel_m;
  parallelFor(particles_.size(), kParticlesPerChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const ContactSample c = skin.contactAt(particles_.positions[i].cast<double>());
      const double missing = 1.5 * h - c.depth_m;
      if (missing <= 0) continue;
      const Vec3f out = c.normal.cast<float>();
      particles_.positions[i] -= static_cast<float>(share * std::min(missing, h)) * out;
      Vec3f& v = particles_.velocities[i];
      const float outward = v.dot(out);
      if (outward > 0) v -= static_cast<float>(share) * outward * out;
    }
  });
}

Particles particleBall(const Vec3d& centre, double ball_radius_m, double radius_m,
                       const Vec3d& velocity) {
  Particles p;
  const auto add = [&](const Vec3d& at) {
    p.positions.push_back(Vec3d(centre + at).cast<float>());
    p.velocities.push_back(velocity.cast<float>());
  };
  // Shells two radii apart, so that the outermost one is round; on each a golden spiral, which
  // spreads points evenly, turned from shell to shell.
  const double golden = std::numbers::pi * (3 - std::sqrt(5.0));
  double shell = ball_radius_m - radius_m;
  for (; shell > radius_m; shell -= 2 * radius_m) {
    const int count =
        static_cast<int>(std::lround(std::numbers::pi * std::pow(shell / radius_m, 2)));
    for (int i = 0; i < count; ++i) {
      const double y = 1 - (2 * i + 1.0) / count, ring = std::sqrt(std::max(0.0, 1 - y * y));
      const double turn = golden * i + shell / radius_m;
      add(shell * Vec3d(ring * std::cos(turn), y, ring * std::sin(turn)));
    }
  }
  if (shell > -0.5 * radius_m) add(Vec3d::Zero());  // where the innermost one leaves room
  p.radii.assign(p.size(), static_cast<float>(radius_m));
  return p;
}

}  // namespace derm
