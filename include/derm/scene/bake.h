#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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
  /// The same but for layers that refine (folds), which become normal maps with animated weights:
  /// the mesh keeps its triangles.
  NormalMaps,
};

/// How folds become normal maps.
struct FoldMapsDesc {
  /// Of one material: what renderers have texture units for.
  static constexpr std::size_t kMostMaps = 8;

  int size_px = 1024;                ///< [px] 16 to 8192, side of each map
  std::size_t max_maps = kMostMaps;  ///< [1,8] per material; fewer where it has others
  /// [rad] > 0 as few maps as keep the root of the mean square of angles below this over the
  /// folded skin, in every frame.
  double error_rad = 0.0175;
};

struct BakeDesc {
  Recipe recipe;
  SceneOptions scene;
  /// .glb, .gltf, .pc2, .mdd, or .obj with "{frame}" in its name where there are several frames
  /// (frame numbers from 0, padded with zeros to equal length). Correctives: .glb or .gltf.
  std::filesystem::path output = {};
  BakeAs as = BakeAs::Cache;
  CorrectivesDesc correctives;  ///< with BakeAs::Correctives only
  /// Correctives: at most so many joints per vertex, >= 1 (engines read four); the shapes make up
  /// for the others. Absent: all that the character has.
  std::optional<std::size_t> influences = {};
  FoldMapsDesc fold_maps;  ///< with BakeAs::NormalMaps only
  /// Clips by name or number, or "all"; empty = the recipe's. Several, with correctives only, share
  /// their shapes and are all of their length: the recipe has no range.
  std::vector<std::string> clips = {};
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
/// Correctives of a stack that refines the surface are written with the refined mesh, its weights
/// carried on to the new vertices.
///
/// Fails before any work on an ending that cannot be written or options that do not fit together.
Result<BakeReport> bake(const BakeDesc& desc, Diagnostics& notes, const Progress& progress = {});

}  // namespace derm
