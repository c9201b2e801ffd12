#include "derm/cast/liquids.h"

#include <string>
#include <vector>

#include "derm/base/nearest_name.h"
#include "derm/base/rng.h"

namespace derm {
namespace {

constexpr double kRadius = 0.014;  // [m] of a particle

constexpr CastMember kLiquids[] = {
    {"drop", "a drop falls on the floor, spreads and settles"},
    {"pour", "a thick jet is poured, piles up and flattens"},
    {"two-drops-merge", "two drops meet in the air and fall as one"},
};

Particles both(Particles a, const Particles& b) {
  a.positions.insert(a.positions.end(), b.positions.begin(), b.positions.end());
  a.velocities.insert(a.velocities.end(), b.velocities.begin(), b.velocities.end());
  a.radii.insert(a.radii.end(), b.radii.begin(), b.radii.end());
  return a;
}

/// A ball whose particles have come to rest. On the lattice they are stacked on they attract
/// and push each other unevenly, and a falling drop would boil; shaken first, they do not end up in
/// another lattice, with its facets.
Result<Particles> restingBall(const Vec3d& centre, double radius_m, const Vec3d& velocity,
                              const ParticleSystemDesc& desc) {
  constexpr double kSettled_s = 1.5;
  constexpr int kCalmings = 60;
  ParticleSystemDesc calm = desc;
  calm.gravity = Vec3d::Zero();
  calm.ground_y_m.reset();
  calm.max_splits = 0;
  Particles ball = particleBall(centre, radius_m, desc.radius_m);
  Rng random(7);
  for (Vec3f& p : ball.positions)
    for (int axis = 0; axis < 3; ++axis)
      p[axis] += static_cast<float>(random.uniform(-desc.radius_m, desc.radius_m));
  DERM_TRY(ParticleSystem system, ParticleSystem::make(ball, calm));
  for (int i = 0; i < kCalmings; ++i) system.advance(kSettled_s / kCalmings);
  ball.positions = system.particles().positions;
  ball.velocities.assign(ball.size(), velocity.cast<float>());
  return ball;
}

Result<CastLiquid> made(Particles start, const ParticleSystemDesc& desc, double seconds) {
  DERM_TRY(ParticleSystem system, ParticleSystem::make(std::move(start), desc));
  return CastLiquid{std::move(system), seconds};
}

}  // namespace

std::span<const CastMember> castLiquids() { return kLiquids; }

Result<CastLiquid> makeCastLiquid(std::string_view name, int max_splits) {
  ParticleSystemDesc desc;
  desc.radius_m = kRadius;
  desc.max_splits = max_splits;
  if (name == "drop") {
    DERM_TRY(Particles ball, restingBall(Vec3d(0, 0.7, 0), 0.2, Vec3d::Zero(), desc));
    return made(std::move(ball), desc, 1.6);
  }
  if (name == "two-drops-merge") {
    // Thick, so that the puddle is round: thinner matter that hits itself in the air lands as a
    // sheet with corners and fingers.
    desc.viscosity = 40;
    DERM_TRY(Particles left, restingBall(Vec3d(-0.24, 0.42, 0), 0.17, Vec3d(0.5, 1.2, 0), desc));
    DERM_TRY(const Particles right,
             restingBall(Vec3d(0.24, 0.44, 0.03), 0.14, Vec3d(-0.6, 1.2, 0), desc));
    return made(both(std::move(left), right), desc, 1.6);
  }
  if (name == "pour") {
    // Thick: viscosity keeps the jet whole where cohesion alone would string it into drops.
    desc.viscosity = 20;
    desc.cohesion = 6;
    const Vec3d nozzle(0, 0.62, 0), velocity(0.05, -1.2, 0);
    const double jet_m = 0.07;
    desc.emitters.push_back(
        {.position = nozzle, .velocity = velocity, .radius_m = jet_m, .to_s = 1.1});
    // What hangs from the nozzle when the pouring starts: the jet begins round.
    Particles first = particleBall(nozzle, jet_m - kRadius, kRadius);
    first.velocities.assign(first.size(), velocity.cast<float>());
    return made(std::move(first), desc, 1.8);
  }
  std::vector<std::string> names;
  for (const CastMember& m : kLiquids) names.emplace_back(m.name);
  return Error{ErrorCode::BadArgument,
               "no liquid is called \"" + std::string(name) + "\"" + didYouMean(name, names),
               {.file = "cast:" + std::string(name)}};
}

}  // namespace derm
