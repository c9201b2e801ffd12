#pragma once

#include <span>
#include <string>
#include <utility>

#include "derm/base/hash.h"
#include "derm/cast/heads.h"
#include "derm/face/landmark_match.h"

namespace derm {

/// Two heads that are formulas, slightly asymmetric: 8 n² triangles each.
struct HeadPair {
  Character from, to;

  HeadPair(SyntheticHeadDesc source, SyntheticHeadDesc target, int subdivisions)
      : from(head(std::move(source), subdivisions)), to(head(std::move(target), subdivisions)) {}

 private:
  static Character head(SyntheticHeadDesc desc, int subdivisions) {
    desc.mesh = SyntheticHeadDesc::Mesh::Octahedron;
    desc.subdivisions = subdivisions;
    desc.asymmetry_cm = 0.03;
    Result<Character> made = makeSyntheticHead(desc);
    DERM_REQUIRE(made.ok());
    return *std::move(made);
  }
};

/// What a benchmark found, for its label.
inline std::string hashOf(std::span<const LandmarkMatch> matches) {
  Hash64 hash;
  for (const LandmarkMatch& match : matches)
    hash.addSpan(std::span<const float>(match.point.barycentric.data(), 3));
  return "hash " + std::to_string(hash.value());
}

}  // namespace derm
