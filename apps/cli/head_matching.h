#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/head_correspondence.h"
#include "derm/face/landmark_match.h"

#include "character_input.h"

namespace derm::cli {

/// How two heads are brought together, for verbs that carry things from one to the other.
struct HeadMatchOptions {
  CharacterInput source;
  std::string source_points;  ///< file; empty = those that the source has
  std::string known;          ///< file of points of the target; empty = those that it has
  std::string method = "registration";
  bool upright = false;
  std::string report;
  std::string picture;

  /// --points, --method, --upright, --report, --picture and what concerns the source.
  void addTo(CLI::App& verb);
};

struct HeadMatch {
  Character source;
  HeadCorrespondence dense;              ///< of the target's vertices
  std::vector<LandmarkMatch> landmarks;  ///< the source's points on the target
  std::string method;                    ///< what was used
  std::optional<double> residual;
  double seconds = 0;
};

/// Reads the source and matches it with the target, whose points are filled in: those that were
/// known, and the others as they were found.
Result<HeadMatch> matchHeads(const HeadMatchOptions& options, Character& target,
                             const std::string& target_name, Diagnostics& notes);

/// Fails where the output is one of the inputs.
Result<void> checkNotAnInput(const std::string& output, std::initializer_list<std::string> inputs);

/// --report and --picture, where asked for. `shapes` and `joints`: how many were carried.
Result<void> writeMatch(const HeadMatchOptions& options, const HeadMatch& match,
                        const Character& target, std::size_t shapes, std::size_t joints,
                        Diagnostics& notes);

/// The points of a file, on a head.
Result<std::vector<LabelledPoint>> headPoints(const std::string& file, const Character& head,
                                              Diagnostics& notes);

}  // namespace derm::cli
