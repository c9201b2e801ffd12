#pragma once

#include <cstddef>
#include <filesystem>
#include <string_view>

#include "derm/anim/clip.h"
#include "derm/anim/skeleton.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/io/import_options.h"

namespace derm {

/// A motion as BVH files hold it: a skeleton, and one key per frame for every joint with channels.
struct BvhMotion {
  Skeleton skeleton;       ///< rest rotations are the identity; End Sites are joints "<parent>_end"
  Clip clip;               ///< named after the file; first frame at time 0
  float frame_time_s = 0;  ///< [s] > 0
  std::size_t frame_count = 0;
};

/// Reads Biovision BVH from memory. Our own reader, since assimp invents a mesh, loses the joints'
/// position channels and says little about what is wrong.
///
///  - Channels in any order and number, on any joint; rotations [degrees] are applied in the order
///    given, the first one outermost: R = R1 R2 R3. Position channels replace the joint's OFFSET
///    component (what exporters with channels on every joint mean).
///  - Rotation keys follow the shorter way: neighbouring quaternions never jump in sign.
///  - Several ROOTs, names with blanks, CRLF, numbers without a leading zero.
///  - One frame is one line. A frame with a wrong number of values is an error that names line and
///    frame; fewer or more frames than "Frames:" says is a note.
///  - No unit or axes are declared: metres and +Y up are assumed (noted); `options.metres_per_unit`
///    scales offsets and positions.
///
/// Limits: 262,144 joints, names of 255 bytes, 2^23 frames, frame times from 1 µs to 1 h. Nesting
/// may be as deep as there are joints. Memory: at most 64 MB + 20 times the text. O(text).
Result<BvhMotion> parseBvh(std::string_view text, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes);
Result<BvhMotion> loadBvh(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes);

/// A character with the motion's skeleton and clip, and no mesh.
Character characterOf(BvhMotion motion, const ImportOptions& options);

}  // namespace derm
