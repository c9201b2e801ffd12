#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "derm/anim/shape_tracks.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

namespace derm {

/// How coefficients of face shapes are written.
enum class ShapeTracksForm {
  LiveLink,  ///< CSV as the app Live Link Face records it: ARKit's 52 in its order, and head angles
  Csv,       ///< time [s] and a column per shape, under their own names; the head as in LiveLink
  Json,      ///< {"names": […], "times": […], "frames": [[…]], "head": [[x, y, z, w], …]}
};

/// Reads coefficients of face shapes from memory; the form is told by the text itself.
///
/// CSV, with commas and a header line:
///  - Live Link Face: "Timecode" (HH:MM:SS:FF.sub), "BlendShapeCount", then shapes. How many frames
///    a second has is found from the steps across full seconds (note timecode-rate where the text
///    is too short to tell). Frames whose count is 0 (no face was seen) are left out (note
///    frames-without-face);
///  - any other: a first column "time" in seconds, then shapes.
/// The columns HeadYaw, HeadPitch and HeadRoll [rad] turn the head; a head that never turns is
/// none. Their signs are those that the eyes' columns of recordings show: positive yaw is to the
/// subject's right, positive pitch down, positive roll towards the subject's right shoulder; roll
/// comes first, then pitch, then yaw. The eyes' own columns are left out: the shapes of looking say
/// the same.
///
/// JSON, an object with lists, as written here or under names that other programs use ("facsNames",
/// "weightMat", "exportFps" …), or a list of frames, each {"time": s, "blendshapes": {name: value}}
/// (or [{"categoryName": …, "score": …}], as MediaPipe gives it; "timestamp_ms" for milliseconds).
///
/// Names stay as they are but for the form LiveLink, whose "JawOpen" becomes "jawOpen". Times start
/// at 0. Steps may differ; frames at the same time as the one before are left out (note
/// times-repeat), and missing ones are noted (times-skip; times-gap beyond 10 s), not invented.
/// Values outside [0,1] are kept (note shape-values-outside). Errors name line and column: cells
/// missing or too many, text that is no number, another separator than a comma, times that go back
/// or are more than 24 h after the first; of JSON the frame and the shape.
Result<ShapeTracks> parseShapeTracks(std::span<const std::uint8_t> bytes, std::string_view name,
                                     Diagnostics& notes);
Result<ShapeTracks> loadShapeTracks(const std::filesystem::path& file, Diagnostics& notes);

/// The same as text. Csv and Json read back as the same bits (a turned head of Csv to 1e-6). Of
/// LiveLink, timecodes count 60 frames a second from 0, with three digits of a frame's fraction;
/// shapes that are none of ARKit's are left out (note shape-not-in-form), those that are not given
/// are 0, and the eyes' angles follow from the shapes of looking. Requires validated tracks whose
/// names are UTF-8.
std::string shapeTracksText(const ShapeTracks& tracks, ShapeTracksForm form, Diagnostics& notes);
Result<void> saveShapeTracks(const std::filesystem::path& file, const ShapeTracks& tracks,
                             ShapeTracksForm form, Diagnostics& notes);

/// Whether text begins as coefficients do rather than as other tables over time: a CSV header with
/// a column "Timecode", or with "time" and one of ARKit's shapes; JSON that does not begin with
/// labels and positions of points. For those who do not know what a file holds.
bool looksLikeShapeTracks(std::string_view beginning);
/// The same of a file; false where it cannot be read.
bool looksLikeShapeTracksFile(const std::filesystem::path& file);

}  // namespace derm
