#include "derm/implicit/surface_particles.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "derm/base/assert.h"

namespace derm {
namespace {

/// For each particle of b its index in a, or -1.
std::vector<std::int64_t> indicesOf(const Particles& a, const Particles& b) {
  std::vector<std::int64_t> indices(b.size(), -1);
  if (a.ids.size() == a.size() && b.ids.size() == b.size() && !b.ids.empty()) {
    std::map<std::uint64_t, std::int64_t> by_id;
    for (std::size_t i = 0; i < a.size(); ++i)
      by_id.emplace(a.ids[i], static_cast<std::int64_t>(i));
    for (std::size_t i = 0; i < b.size(); ++i)
      if (const auto found = by_id.find(b.ids[i]); found != by_id.end()) indices[i] = found->second;
  } else if (a.size() == b.size()) {
    std::iota(indices.begin(), indices.end(), 0);
  }
  return indices;
}

void copyParticle(const Particles& from, std::size_t i, Particles& to) {
  to.positions.push_back(from.positions[i]);
  if (!from.radii.empty()) to.radii.push_back(from.radii[i]);
  if (!from.masses.empty()) to.masses.push_back(from.masses[i]);
}

/// [m^3] each particle fills the cube between its neighbours.
double matterOf(const Particles& p, double radius_m) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double r = p.radii.empty() ? radius_m : double{p.radii[i]};
    sum += 8 * r * r * r;
  }
  return sum;
}

double volumeOf(const ActiveSkin& skin) {
  double sum = 0;
  for (const Body& b : skin.bodies()) sum += b.volume;
  return sum;
}

}  // namespace

Particles particlesBetween(const Particles& a, const Particles& b, double share, double seconds) {
  const std::vector<std::int64_t> indices = indicesOf(a, b);
  std::vector<char> stays(a.size(), 0);
  Particles out;
  const float t = static_cast<float>(share), rate = static_cast<float>(1 / seconds);
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (indices[i] < 0) {
      if (share < 0.5) continue;
      copyParticle(b, i, out);
      out.velocities.push_back(Vec3f::Zero());
      continue;
    }
    const std::size_t from = static_cast<std::size_t>(indices[i]);
    stays[from] = 1;
    copyParticle(b, i, out);
    const Vec3f way = b.positions[i] - a.positions[from];
    out.positions.back() = a.positions[from] + t * way;
    out.velocities.push_back(rate * way);
  }
  for (std::size_t i = 0; i < a.size() && share < 0.5; ++i) {
    if (stays[i] != 0) continue;
    copyParticle(a, i, out);
    out.velocities.push_back(Vec3f::Zero());
  }
  return out;
}

Result<ParticleSurfacer> ParticleSurfacer::make(const Particles& first,
                                                const ParticleSurfacingDesc& desc) {
  ParticleTargetDesc still = desc.kernel;
  still.carry = false;
  DERM_TRY(const ParticleTarget target, ParticleTarget::make(first, still));
  DERM_TRY(Potential start, buildPotential(target, desc.lattice));
  // What is held is the volume of the settled skin, not that of the raw field.
  EvolutionLaw settling = desc.law;
  settling.volume = settling.area = Hold::No;
  settling.inertia.on = false;
  settling.track_bodies = false;
  DERM_TRY(ActiveSkin settled, ActiveSkin::make(std::move(start), settling));
  constexpr int kSettlingSteps = 96;
  constexpr double kSettledMove = 0.02;  // [voxel] in a step, anywhere
  for (int i = 0; i < kSettlingSteps; ++i) {
    const SkinStep step = settled.step(target, 1e9);
    if (step.max_speed * step.dt_s < kSettledMove * desc.lattice.voxel_m) break;
  }
  ParticleSurfacer surfacer(desc, first);
  // Below the clip of a node's move: what is carried fast must not be cut, or its volume suffers.
  constexpr double kCarriedMove = 0.25;
  EvolutionLaw law = desc.law;
  law.max_move = std::min(law.max_move, kCarriedMove);
  DERM_TRY(ActiveSkin skin, ActiveSkin::make(settled.potential(), law));
  surfacer.skin_ = std::make_unique<ActiveSkin>(std::move(skin));
  // Many particles tell how much volume goes with a particle; a few, all surface, do not.
  constexpr std::size_t kMinParticles = 200;
  if (first.size() >= kMinParticles)
    surfacer.volume_per_matter_ = volumeOf(*surfacer.skin_) / matterOf(first, desc.kernel.radius_m);
  surfacer.skin_->setWantedVolume(surfacer.volume_per_matter_ *
                                  matterOf(first, desc.kernel.radius_m));
  surfacer.skin_->settleVolume();
  return surfacer;
}

void ParticleSurfacer::scaleWanted(double volume, double area) {
  DERM_REQUIRE(volume > 0 && area > 0);
  wanted_volume_ = volume;
  skin_->setWantedScale(1, area);  // the volume's is set with every target
}

Result<SkinStep> ParticleSurfacer::advanceTo(const Particles& next, double seconds) {
  if (!(seconds > 0))
    return Error{ErrorCode::BadArgument, "must be positive", {.element = "seconds"}};
  DERM_CHECK(validate(next, "particles"));
  const int parts = std::max(1, desc_.targets_per_frame);
  SkinStep last;
  for (int k = 0; k < parts; ++k) {
    // The target of a part stands at its middle: the skin runs ahead of it as much as behind.
    const double share = (k + 0.5) / parts;
    const Particles between = particlesBetween(now_, next, share, seconds);
    DERM_TRY(const ParticleTarget target, ParticleTarget::make(between, desc_.kernel));
    skin_->setWantedVolume(wanted_volume_ * volume_per_matter_ *
                           matterOf(between, desc_.kernel.radius_m));
    DERM_TRY(last, skin_->advance(target, seconds / parts));
  }
  // Matter that appeared within the frame counts from its end on.
  skin_->settleVolume();
  now_ = next;
  return last;
}

}  // namespace derm
