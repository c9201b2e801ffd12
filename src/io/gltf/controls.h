#pragma once

#include <vector>

#include "io/gltf/geometry_reader.h"
#include "io/gltf/node_writer.h"

namespace derm::detail::gltf {

/// Controls and their tracks, which glTF does not know: `extras.derm_controls` of the document.
///
///   { "controls": [ { "name": "smile", "preset": 0, "low": 0, "high": 1 } ],
///     "clips": [ { "animation": 0, "name": "grin",
///                  "tracks": [ { "control": 0, "interpolation": "LINEAR",
///                                "times": [0, 1], "values": [0, 1] } ] } ] }
///
/// "animation" is absent for a clip that moves nothing else. After readClips(). What is malformed
/// is left out, with a warning.
Result<void> readControls(const ReadContext& context, Import& import);

/// Per clip of the character its animation in the file, -1 = none, and the time that is 0 there.
void writeControls(const WriteContext& context, const std::vector<int>& animations,
                   const std::vector<float>& starts);

}  // namespace derm::detail::gltf
