#pragma once

#include <memory>
#include <span>

#include "derm/scene/bake.h"

#include "scene/baked_frames.h"

namespace derm::detail {

/// Where the frames of a bake go. Nothing of the old output changes before finish().
class BakeOutput {
 public:
  virtual ~BakeOutput() = default;
  virtual Result<void> add(const BakedFrame& frame) = 0;
  /// After the last frame: writes what is left and puts the output in its place.
  virtual Result<void> finish(BakeReport& report, Diagnostics& notes, const Progress& progress) = 0;
};

/// Where the bake writes.
inline OutputFiles& filesOf(const BakeDesc& desc) {
  return desc.files != nullptr ? *desc.files : diskFiles();
}

/// Checks that the ending and the options fit; nothing is opened.
Result<void> checkOutput(const BakeDesc& desc);

/// Requires checkOutput(). The scenes are one character's, one per clip, and outlive the output;
/// several are for correctives. `folded`: for normal maps the same with the layers that `scenes`
/// do without; else none.
Result<std::unique_ptr<BakeOutput>> openOutput(const BakeDesc& desc, std::span<const Scene> scenes,
                                               std::span<const Scene> folded);
Result<std::unique_ptr<BakeOutput>> openCorrectivesOutput(const BakeDesc& desc,
                                                          std::span<const Scene> scenes,
                                                          std::span<const Scene> folded);

}  // namespace derm::detail
