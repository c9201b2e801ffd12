#pragma once

#include "derm/base/diagnostics.h"
#include "derm/deform/skin_frame.h"
#include "derm/mesh/tri_mesh.h"

namespace derm {

/// Gives a still of a frame the frame's channels, as vertex groups of their names: vertices with 0
/// are left out. A group of such a name gives way ("channel-replaces-group"); strengths are [0,1],
/// so values outside are clamped ("channel-clamped"). Requires one vertex in `still` per vertex of
/// the frame, in its order.
void addChannels(const SkinFrame& frame, TriMesh& still, Diagnostics& notes);

}  // namespace derm
