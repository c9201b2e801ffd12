#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "derm/base/diagnostics.h"
#include "derm/character/character.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

namespace derm::cli {

/// What `derm info` and `derm check` tell of a character, measured once.
struct CharacterReport {
  std::string source;
  const Character* character = nullptr;
  Bounds box;
  Closedness closedness;            ///< after welding coincident vertices
  std::optional<double> volume_m3;  ///< only for closed surfaces
  double area_m2 = 0;
  Diagnostics problems;  ///< of reading and of measuring
};

/// `notes` are those of loading.
CharacterReport measure(const std::string& source, const Character& character,
                        const Diagnostics& notes);

nlohmann::json toJson(const CharacterReport& report);
std::string toText(const CharacterReport& report);
/// Names of joints as recipes know them, each on a line further in than its parent's.
std::string jointTree(const Skeleton& skeleton);

}  // namespace derm::cli
