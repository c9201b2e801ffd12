#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/face/head_correspondence.h"
#include "derm/face/head_proxy.h"
#include "derm/face/head_registration.h"
#include "derm/face/landmark_match.h"

#include "character_input.h"

namespace derm::cli {

/// How two heads are brought together, for verbs that carry things from one to the other.
struct HeadMatchOptions {
  CharacterInput source;
  std::string source_points;  ///< file; empty = those that the source has
  std::string known;          ///< file of points of the target
  std::string method = "registration";
  bool upright = false;
  std::string report;
  std::string picture;

  /// --points, --method, --upright, --report, --picture and what concerns the source, which
  /// `source_name` stands for. `without_points`: what the target's points are without --points.
  void addTo(CLI::App& verb, const std::string& source_name, const std::string& without_points);
};

/// The points of one head on another.
struct HeadLandmarks {
  Character source;
  std::vector<LandmarkMatch> points;  ///< the source's, on the target
  FaceFrame source_frame;
  FaceFrame target_frame;
  std::optional<HeadRegistration> registration;  ///< where that is how they were found
  std::string method;                            ///< what was used
  double seconds = 0;                            ///< [s] without reading files
};

/// Reads the source and finds its points on the target. `known`: points of the target.
Result<HeadLandmarks> findLandmarks(const HeadMatchOptions& options, const Character& target,
                                    const std::string& target_name,
                                    std::vector<LabelledPoint> known, Diagnostics& notes);

struct HeadMatch {
  HeadLandmarks landmarks;
  HeadCorrespondence dense;          ///< of the target's vertices
  std::size_t matched_vertices = 0;  ///< of the target, those that have a counterpart
  double seconds = 0;                ///< [s] of both
};

/// What faces are worked on in place of a head of millions of triangles; a note says so.
Result<HeadProxy> proxyOf(Character& head, const std::string& name, Diagnostics& notes);

/// Reads the source and matches it with the target, whose points are filled in: those that it has,
/// and the others as they were found. With enough known points a
/// head that cannot be registered is matched by these.
Result<HeadMatch> matchHeads(const HeadMatchOptions& options, Character& target,
                             const std::string& target_name, Diagnostics& notes);

/// Landmarks and counts of the head that a proxy stands for.
void putOnFull(HeadLandmarks& landmarks, const HeadProxy& proxy);
void putOnFull(HeadMatch& match, const HeadProxy& proxy);

/// What a report says of landmarks: points, method, seconds, the registration's residual.
nlohmann::json landmarkReport(const HeadLandmarks& landmarks, const Character& target);

/// Both faces from the front, upright and of one size however the files have them, with points.
Result<void> savePicture(const std::string& file, const HeadLandmarks& landmarks,
                         const Character& target, Diagnostics& notes);

/// --report and --picture, where asked for. `shapes` and `joints`: how many were carried.
Result<void> writeMatch(const HeadMatchOptions& options, const HeadMatch& match,
                        const Character& target, std::size_t shapes, std::size_t joints,
                        Diagnostics& notes);

/// The points of a file, on a head.
Result<std::vector<LabelledPoint>> headPoints(const std::string& file, const Character& head,
                                              Diagnostics& notes);

/// Gives a head that has none of the control points those that its shape tells, by registration
/// from heads of the cast; a warning says so. `option`: what to give them by instead.
Result<void> findMissingPoints(Character& head, const std::string& name, const std::string& option,
                               bool upright, Diagnostics& notes);

}  // namespace derm::cli
