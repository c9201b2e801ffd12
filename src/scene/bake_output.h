#pragma once

#include <memory>

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

/// Requires checkOutput(); for correctives also `plain`, which may be null otherwise.
Result<std::unique_ptr<BakeOutput>> openOutput(const BakeDesc& desc, const Scene& scene,
                                               std::shared_ptr<const Stack> plain);
Result<std::unique_ptr<BakeOutput>> openCorrectivesOutput(const BakeDesc& desc, const Scene& scene,
                                                          std::shared_ptr<const Stack> plain);

}  // namespace derm::detail
