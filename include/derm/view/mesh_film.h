#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/image/plot.h"
#include "derm/io/film.h"
#include "derm/mesh/tri_mesh.h"
#include "derm/render/camera.h"
#include "derm/render/draw_list.h"
#include "derm/render/offscreen_renderer.h"

namespace derm {

/// Something that happened: a strip shows the frame, and says so.
struct FrameMark {
  std::size_t frame = 0;  ///< the first in which it is seen
  std::string label;      ///< "split"
};

/// How meshes of changing topology are shown.
struct MeshFilmDesc {
  PictureSize size;
  OrbitDesc orbit;
  double fps = 30;
  DrawMaterial material;
  std::optional<float> ground_y_m = {};  ///< [m] default: the lowest point of all frames
  /// A plot below the pictures that grows with the film: one x per frame in each of its series. Its
  /// size is set by the film's.
  std::optional<PlotDesc> curve = {};
  std::vector<FrameMark> marks = {};  ///< of strips, ascending
};

/// Every mesh as a frame of a film (see FilmWriter). The camera stands where all of them are seen.
/// Meshes need normals; empty ones show the floor only. Errors: no frames, no renderer, sizes.
Result<FilmResult> drawMeshFilm(std::span<const TriMesh> frames, const MeshFilmDesc& desc,
                                const std::filesystem::path& file, const Progress& progress,
                                Diagnostics& notes);

/// Which `count` of the frames tell most of the story: equal amounts of change lie between them, so
/// nothing that stands still is shown twice. From the first in which there is something to see (15
/// % of the largest area) to the last; ascending, fewer where there are fewer that differ. Change
/// is how much area comes into or leaves each cell of a coarse grid. Frames of `marks` are among
/// them, in the place of the nearest one, as long as there is room between the first and the last.
std::vector<std::size_t> tellingFrames(std::span<const TriMesh> frames, std::size_t count,
                                       std::span<const FrameMark> marks = {});

/// The telling frames as one picture of the film's size, in rows, as many as show the meshes
/// largest; each with its time, the first frame's being 0, and what happened there.
Result<Rgba8Image> drawMeshStrip(std::span<const TriMesh> frames, const MeshFilmDesc& desc,
                                 std::size_t count);

}  // namespace derm
