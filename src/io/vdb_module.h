#pragma once

#include <string>

#include "derm/base/result.h"
#include "derm/mesh/level_set_blocks.h"

/// OpenVDB is in the module `derm_io_vdb`: its libraries take 30 ms to load, three quarters of what
/// the program takes to start, and few runs write a .vdb.
namespace derm::detail {

/// Of the structure below; one for both, since they are compiled together.
inline constexpr int kVdbModuleVersion = 3;

struct VdbModule {
  Result<std::string> (*encode)(const LevelSetBlocks& level_set);
};

/// The function of that name that the module exports: null for another version.
using VdbModuleEntry = const VdbModule* (*)(int version);

}  // namespace derm::detail
