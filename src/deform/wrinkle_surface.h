#pragma once

#include <memory>
#include <vector>

#include "deform/wrinkle_line.h"
#include "deform/wrinkle_patch.h"
#include "deform/wrinkle_tool.h"

namespace derm::detail {

/// Triangles that tools fold together, and how often each is cut.
struct PatchArea {
  std::vector<std::uint32_t> triangles;  ///< sorted
  std::vector<std::uint8_t> levels;      ///< of each

  bool operator==(const PatchArea&) const = default;
};

/// All tools of a layer laid on a surface: the patches they fold, and the surface with all of them
/// at their finest.
struct WrinkleSurface {
  std::shared_ptr<const FoldableSurface> foldable;
  std::vector<std::shared_ptr<const PosedSurface>> poses;  ///< per tool; equal poses are shared
  std::vector<PlacedTool> tools;
  std::vector<SkinLine> lines;                     ///< per tool
  std::vector<std::vector<double>> rest_segments;  ///< [m] of its line, in its defining pose
  std::vector<double> rest_chords;                 ///< [m] |AB| in that pose
  std::vector<std::size_t> influence_counts;       ///< per tool, over all patches
  std::vector<WrinklePatch> patches;
  std::vector<PatchArea> areas;        ///< per patch
  std::vector<std::uint32_t> outside;  ///< triangles that no patch cuts
  std::shared_ptr<const BoundSurface> input;
  std::shared_ptr<const BoundSurface> refined;  ///< null where nothing is cut
};

/// A surface with the tools that lie on it.
struct LaidTools {
  const WrinklesDesc& desc;
  const WrinkleSurface& surface;
};

/// Notes what is odd about the triangles under tools. `curves`: one per tool. `before`, where not
/// null: tools on the same surface, of which all is taken that has not changed since; the result is
/// the same, but what was noted of tools that stay is not noted again.
Result<WrinkleSurface> makeWrinkleSurface(const WrinklesDesc& desc,
                                          std::span<const FoldCurve> curves,
                                          const Character& character,
                                          const std::shared_ptr<const BoundSurface>& bound,
                                          const LaidTools* before, Diagnostics& notes);

}  // namespace derm::detail
