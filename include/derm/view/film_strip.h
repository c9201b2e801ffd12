#pragma once

#include <filesystem>

#include "derm/io/film.h"
#include "derm/view/scene_view.h"

namespace derm {

/// `count` instants of the scene's frames, evenly from the first to the last, as one picture of the
/// view's size: in rows, as many as show the figure largest; each with its time. Where the last
/// frame shows the first pose again (a clip that loops) the strip ends before it. Aims the camera
/// at all of the motion. Requires count >= 1.
Result<Rgba8Image> drawStrip(SceneView& view, std::size_t count, const Progress& progress = {});

/// Every frame of the scene as a film at the recipe's rate (see FilmWriter). Aims the camera at all
/// of the motion.
Result<FilmResult> drawFilm(SceneView& view, const std::filesystem::path& file,
                            const Progress& progress, Diagnostics& notes);

}  // namespace derm
