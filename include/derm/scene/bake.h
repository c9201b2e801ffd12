#pragma once

#include <filesystem>
#include <optional>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/io/output_files.h"
#include "derm/scene/bake_report.h"
#include "derm/scene/correctives.h"
#include "derm/scene/recipe.h"
#include "derm/scene/scene.h"

namespace derm {

enum class BakeAs {
  Cache,        ///< every frame's surface
  Correctives,  ///< skin and clip stay; what layers add becomes morph targets with animated weights
};

struct BakeDesc {
  Recipe recipe;
  SceneOptions scene;
  /// .glb, .gltf, .pc2, .mdd, or .obj with "{frame}" in its name where there are several frames
  /// (frame numbers from 0, padded with zeros to equal length). Correctives: .glb or .gltf.
  std::filesystem::path output = {};
  BakeAs as = BakeAs::Cache;
  CorrectivesDesc correctives;  ///< with BakeAs::Correctives only
  /// Channels of the first frame (Scene::keepChannels) that become vertex groups of the mesh; for
  /// .glb and .gltf caches.
  std::vector<std::string> channels = {};
  std::optional<std::filesystem::path> report = {};  ///< JSON, see toJson(); needs `measure`
  /// Fill the report's frames and state hash. Costs a few times what plain skinning does.
  bool measure = true;
  /// Where output and report are written; null = diskFiles(). A MemoryFiles needs no disk.
  OutputFiles* files = nullptr;
};

/// Opens the recipe, makes every frame and writes the output, whole or not at all: an error, a
/// cancelled progress or a killed process leaves what was there before. Same input, same bytes, for
/// any number of threads.
///
/// A glTF cache is the first frame as a mesh, all others as morph targets, with step weights (at
/// most 4096 frames); positions are within rounding of the frames. PC2 and MDD hold the frames
/// exactly. Times are clip time in all of them.
///
/// Fails before any work on an ending that cannot be written or options that do not fit together.
/// Correctives need a stack that keeps the character's triangles.
Result<BakeReport> bake(const BakeDesc& desc, Diagnostics& notes, const Progress& progress = {});

}  // namespace derm
