#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/mesh/particles.h"

namespace derm {

/// Reads a set of particles from memory; the format is told by the first bytes:
///  - PLY (ascii, binary of either order): element "vertex" with x y z, and where present radius or
///    pscale, vx vy vz (or velocity_x …), mass, id;
///  - legacy VTK to version 5.1 (ascii or big-endian binary; POLYDATA or UNSTRUCTURED_GRID):
///    POINTS, and of POINT_DATA the arrays called id, radius, mass, velocity; other arrays are
///    stepped over;
///  - XYZ text otherwise: x y z per line, then optionally a radius, or a radius and a velocity (4
///    or 7 numbers); lines that start with # and a leading count with its comment are skipped.
/// Errors name line or byte and the particle: text that is no number, numbers that are not finite,
/// radii that are not positive, data that ends early. A file without particles is an empty set:
/// what a simulation writes before its source is opened. Memory: at most 64 MB + 20 times the
/// bytes.
Result<Particles> parseParticles(std::span<const std::uint8_t> bytes, std::string_view name,
                                 Diagnostics& notes);
Result<Particles> loadParticles(const std::filesystem::path& file, Diagnostics& notes);

/// One file of a sequence.
struct NumberedFile {
  std::filesystem::path path;
  /// What stands for {frame} in its name, zeros and all; empty without {frame}.
  std::string digits;
};
/// Files of a sequence: "seq_{frame}.xyz" stands for all files of that folder with digits in its
/// place, by number. A name without {frame} is one file. Errors: no such file.
Result<std::vector<NumberedFile>> numberedFiles(const std::string& pattern);
/// Whether a name has {frame} in it.
bool isNumbered(std::string_view pattern);
/// The name of one frame: {frame} replaced by these digits, or the pattern itself.
std::string numberedName(const std::string& pattern, std::string_view digits);
/// The same with at least four digits.
std::string numberedName(const std::string& pattern, std::size_t frame);

}  // namespace derm
