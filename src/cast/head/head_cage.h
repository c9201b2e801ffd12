#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "cast/head/design.h"
#include "cast/head/guide_columns.h"
#include "cast/head/head_clay.h"

namespace derm::detail::cast {

/// What a skin vertex belongs to, in numbers that can be interpolated. Rings are counted from the
/// face inwards; s runs along a lid or lip from -1 to 1, u is 1 above, -1 below, 0 at a corner.
///   eye   0 orbit, 1 crease, 2 lid, 3 and 4 margin (front, back), 5 tuck, 7 socket; -1 elsewhere
///   mouth 0, 1 around, 2 border of the red, 3 body of the lip, 4 5 the slit, 6.. bag; -1 elsewhere
///   ear   0 head, 1 root, 2 back, 3 rim, 4 helix, 5 scapha, 6 antihelix, 7 8 concha
struct SkinLabels {
  double clay = 1;  ///< [0,1] how much it lies on the clay
  double rim = 0;   ///< 1 on the rim of the neck
  double eye_ring = -1, eye_s = 0, eye_u = 0;
  double mouth_ring = -1, mouth_s = 0, mouth_u = 0;
  double ear = 0;
};
SkinLabels mean(std::span<const SkinLabels> labels);
/// Between the corners of a triangle, by their shares.
SkinLabels blended(const std::array<SkinLabels, 3>& corners, const Vec3d& shares);

/// Which piece of texture a face belongs to.
enum class SkinPart : std::uint8_t { Face, Bag, Socket, Ear };

using Quad = std::array<std::uint32_t, 4>;

/// Blocks of grid cells that are cut out and filled with rings, (first, last) column and row.
struct GridBlock {
  int first_column, last_column, first_row, last_row;
  /// Its outline, counter-clockwise from the lower left corner: (column, row).
  std::vector<std::array<int, 2>> outline() const;
  bool covers(int column, int row) const;  ///< the cell with that lower left corner
};
inline constexpr GridBlock kMouthBlock = {-5, 5, 7, 9};
inline constexpr GridBlock kEyeBlock = {3, 9, 14, 16};
inline constexpr GridBlock kEarBlock = {13, 16, 11, 17};

/// A quad mesh by rule: its lines run around eyes, mouth and ears, which is what makes a face
/// deform well. Positions are only roughly those of the head; subdivision and projection onto the
/// clay make them exact. Vertices keep their numbers through subdivision.
struct HeadCage {
  std::vector<Vec3d> positions;  ///< [cm]
  std::vector<SkinLabels> labels;
  std::vector<std::uint32_t> mirror;  ///< each vertex's partner at -x
  std::vector<Quad> quads;            ///< counter-clockwise seen from outside
  std::vector<SkinPart> parts;        ///< per quad

  std::uint32_t chin = 0;   ///< on the midline, under the chin
  std::uint32_t crown = 0;  ///< its middle
  /// Vertices of rings by number, in the order of the block's outline. Left eye.
  std::vector<std::vector<std::uint32_t>> eye_rings, mouth_rings;
  std::vector<std::array<double, 2>> eye_places, mouth_places;  ///< (s, u) of each
};

HeadCage makeHeadCage(const HeadDesign& design, const HeadClay& clay);

}  // namespace derm::detail::cast
