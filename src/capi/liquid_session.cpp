#include "capi/liquid_session.h"

#include <algorithm>

namespace derm::detail::capi {
namespace {

/// As `derm implicit particles` has them by default, at its 30 frames per second.
ParticleSurfacingDesc surfacing(double radius_m, double voxel_m) {
  constexpr double kRate_hz = 30, kAlpha = 2, kBeta = 0.15;
  ParticleSurfacingDesc desc;
  desc.kernel.radius_m = radius_m;
  desc.law.volume = Hold::Exact;
  desc.law.attraction = kAlpha * kRate_hz;
  const double per_distance = desc.kernel.reach * radius_m / (1.2 * voxel_m);
  desc.law.tension = kBeta * kRate_hz * voxel_m * voxel_m * per_distance;
  desc.lattice.voxel_m = voxel_m;
  desc.lattice.max_memory = desc.law.max_memory;
  return desc;
}

}  // namespace

Result<std::unique_ptr<LiquidSession>> LiquidSession::open(std::string_view name, double detail) {
  constexpr double kUsual = 1 / 0.6, kFinest = 8;
  if (detail != 0 && !(detail > 0.1 && detail <= kFinest))
    return Error{ErrorCode::BadArgument, "detail is from 0.1 to 8 voxels, or 0", {}};
  constexpr std::string_view kPrefix = "cast:";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  DERM_TRY(CastLiquid liquid, makeCastLiquid(name));
  const double radius_m = liquid.system.desc().radius_m;
  const double voxel_m = radius_m / (detail == 0 ? kUsual : detail);
  DERM_TRY(ParticleSurfacer surfacer,
           ParticleSurfacer::make(liquid.system.particles(), surfacing(radius_m, voxel_m)));
  std::unique_ptr<LiquidSession> session(new LiquidSession(std::move(liquid), std::move(surfacer)));
  session->surfacer_.skin().polygonise(session->mesh_);
  return session;
}

Result<void> LiquidSession::step(double dt_s) {
  constexpr double kLongest_s = 0.1;
  if (!(dt_s >= 0)) return Error{ErrorCode::BadArgument, "a step of time is not negative", {}};
  if (dt_s == 0) return {};
  const double seconds = std::min(dt_s, kLongest_s);
  liquid_.system.advance(seconds);
  DERM_CHECK(surfacer_.advanceTo(liquid_.system.particles(), seconds));
  surfacer_.skin().polygonise(mesh_);
  return {};
}

}  // namespace derm::detail::capi
