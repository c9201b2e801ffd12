#pragma once

#include <memory>
#include <string_view>

#include "derm/base/result.h"
#include "derm/cast/liquids.h"
#include "derm/implicit/surface_particles.h"
#include "derm/mesh/tri_mesh.h"

namespace derm::detail::capi {

/// What stands behind a derm_liquid: particles and their skin.
class LiquidSession {
 public:
  static Result<std::unique_ptr<LiquidSession>> open(std::string_view name, double detail);
  Result<void> step(double dt_s);
  double time_s() const { return liquid_.system.time_s(); }
  const TriMesh& mesh() const { return mesh_; }

 private:
  LiquidSession(CastLiquid liquid, ParticleSurfacer surfacer)
      : liquid_(std::move(liquid)), surfacer_(std::move(surfacer)) {}

  CastLiquid liquid_;
  ParticleSurfacer surfacer_;
  TriMesh mesh_;
};

}  // namespace derm::detail::capi
