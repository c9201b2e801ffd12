#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

namespace derm {

/// What a bake made, in numbers. Displacement is the distance to plain linear skinning, which is
/// what an engine shows without derm.
struct BakeReport {
  struct Frame {
    std::size_t clip = 0;           ///< of `clips`
    double time_s = 0;              ///< [s] in the clip
    double volume_m3 = 0;           ///< [m^3] signed; of the cone over it where the surface is open
    double area_m2 = 0;             ///< [m^2]
    double linear_volume_m3 = 0;    ///< [m^3] of plain linear skinning in the same pose
    double linear_area_m2 = 0;      ///< [m^2]
    double max_displacement_m = 0;  ///< [m]
    double mean_displacement_m = 0;
    /// [m^3] correctives: of the file written, played as an engine would.
    double played_volume_m3 = 0;
  };
  struct Layer {
    std::string name;
    std::string type;
    double ms_per_frame = 0;  ///< [ms] mean, inner steps included
  };
  /// The file written, played as an engine would, against the stack.
  struct Correctives {
    std::size_t shapes = 0;
    std::size_t keys = 0;            ///< instants with weights; linear in between
    double max_error_m = 0;          ///< [m] at the frames
    double rms_error_m = 0;          ///< [m] at the frames
    double max_error_between_m = 0;  ///< [m] at keys, halves and quarters between frames
    double volume_change = 0;        ///< largest relative one against rest, at and between frames
    std::size_t near_singular = 0;   ///< vertices x keys whose blended matrix had no safe inverse
    std::size_t max_influences = 0;  ///< joints that a vertex of the file follows, at most
    /// [m] at and between frames where a player reads the four largest influences of each vertex,
    /// as many do.
    double max_error_four_influences_m = 0;
  };

  /// Folds as normal maps: angles between what plays and the folded surface.
  struct FoldMaps {
    std::size_t maps = 0;
    int size_px = 0;
    double largest_turn_rad = 0;       ///< [rad] by which folds turn a normal, at most
    double max_error_rad = 0;          ///< [rad] at the frames
    double rms_error_rad = 0;          ///< [rad] over the folded skin, of the worst frame
    double max_error_between_rad = 0;  ///< [rad] the same halfway between frames
    double rms_error_between_rad = 0;
  };

  std::string character;
  std::string clip;                ///< empty: the rest pose, or several clips
  std::vector<std::string> clips;  ///< of several clips in one bake their names; else empty
  std::string output;
  std::string as;  ///< "cache", "correctives" or "normal-maps"
  double fps = 0;
  std::size_t vertices = 0;
  std::size_t triangles = 0;
  bool closed = false;        ///< measured: the surface has an inside, so its volume is one
  double diagonal_m = 0;      ///< [m] of the rest surface's bounding box
  double rest_volume_m3 = 0;  ///< [m^3] of the rest surface
  double rest_area_m2 = 0;    ///< [m^2]
  std::size_t frame_count = 0;
  std::vector<Frame> frames;  ///< empty where nothing was measured
  std::vector<Layer> layers;
  std::optional<Correctives> correctives;
  std::optional<FoldMaps> fold_maps;
  /// Of every frame's positions and normals and the layers' final state: equal hashes, equal bakes.
  /// 0 where nothing was measured.
  std::uint64_t state_hash = 0;
  std::vector<std::string> notes;
};

/// The report as JSON text:
/// frames[{clip (where there are several),time_s,volume_m3,area_m2,linear_…,max_displacement_m,
/// mean_displacement_m}] layers[{name,type,ms_per_frame}]
/// correctives{shapes,keys,max_error_m,rms_error_m,max_error_between_m,…,volume_change,
/// near_singular,max_influences,max_error_four_influences_m}
/// fold_maps{maps,size_px,largest_turn_deg,max_error_deg,rms_error_deg,max_error_between_deg,
/// rms_error_between_deg}
/// state_hash (16 hexadecimal digits) and the fields above; errors also in mm and % of the
/// diagonal.
std::string toJson(const BakeReport& report);

/// Reads a report back. What is missing keeps its default; text that is no JSON, or values of the
/// wrong type, are errors that name the key.
Result<BakeReport> parseBakeReport(std::string_view json, std::string_view name);
Result<BakeReport> loadBakeReport(const std::filesystem::path& file);

}  // namespace derm
