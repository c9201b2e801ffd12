#pragma once

#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/mesh/particles.h"

namespace derm::detail::vtk {

/// The points of a legacy VTK file, with what particles carry; see io/particle_file.h.
Result<Particles> parseParticles(std::string_view bytes, std::string_view name, Diagnostics& notes);

}  // namespace derm::detail::vtk
