#include "derm/cast/liquids.h"

#include <string>
#include <vector>

#include "derm/base/nearest_name.h"

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

Result<CastLiquid> made(Particles start, const ParticleSystemDesc& desc, double seconds) {
  DERM_TRY(ParticleSystem system, ParticleSystem::make(std::move(start), desc));
  return CastLiquid{std::move(system), seconds};
}

}  // namespace

std::span<const CastMember> castLiquids() { return kLiquids; }

Result<CastLiquid> makeCastLiquid(std::string_view name) {
  ParticleSystemDesc desc;
  desc.radius_m = kRadius;
  if (name == "drop") return made(particleBall(Vec3d(0, 0.7, 0), 0.2, kRadius), desc, 1.6);
  if (name == "two-drops-merge")
    return made(both(particleBall(Vec3d(-0.24, 0.42, 0), 0.17, kRadius, Vec3d(0.5, 1.2, 0)),
                     particleBall(Vec3d(0.24, 0.44, 0.03), 0.14, kRadius, Vec3d(-0.6, 1.2, 0))),
                desc, 1.6);
  if (name == "pour") {
    desc.emitters.push_back({.place = Vec3d(0, 0.8, 0),
                             .velocity = Vec3d(0.1, -1.0, 0),
                             .radius_m = 0.07,
                             .to_s = 1.2});
    Particles first;
    for (const double x : {-kRadius, kRadius})
      for (const double z : {-kRadius, kRadius})
        first.positions.push_back(Vec3d(x, 0.84, z).cast<float>());
    first.velocities.assign(first.size(), Vec3f(0.1f, -1.0f, 0));
    return made(std::move(first), desc, 2.2);
  }
  std::vector<std::string> names;
  for (const CastMember& m : kLiquids) names.emplace_back(m.name);
  return Error{ErrorCode::BadArgument,
               "no liquid is called \"" + std::string(name) + "\"" + didYouMean(name, names),
               {.file = "cast:" + std::string(name)}};
}

}  // namespace derm
