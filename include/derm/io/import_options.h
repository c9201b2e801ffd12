#pragma once

#include <optional>

namespace derm {

/// What a reader cannot know from the file, or should not believe.
struct ImportOptions {
  /// [m] one file unit; overrides what the file declares or its format prescribes. > 0, finite.
  std::optional<double> metres_per_unit = {};
  /// glTF: which scene; the file's default where not given.
  std::optional<int> scene = {};
};

}  // namespace derm
