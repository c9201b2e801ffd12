#include "derm/deform/channel_groups.h"

#include <algorithm>

#include "derm/base/assert.h"

namespace derm {

void addChannels(const SkinFrame& frame, TriMesh& still, Diagnostics& notes) {
  DERM_REQUIRE(still.vertexCount() == frame.vertexCount());
  for (const std::string& name : frame.channelNames()) {
    VertexGroup group{.name = name};
    const std::span<const float> values = frame.channel(name);
    for (std::size_t v = 0; v < values.size(); ++v) {
      if (!(values[v] >= 0 && values[v] <= 1))  // NaN too
        notes.warn("channel-clamped", name, "a vertex group holds 0 to 1: clamped", v);
      const float strength = values[v] > 0 ? std::min(values[v], 1.0f) : 0.0f;
      if (strength == 0) continue;
      group.vertices.push_back(static_cast<std::uint32_t>(v));
      group.strengths.push_back(strength);
    }
    if (std::erase_if(still.groups, [&](const VertexGroup& g) { return g.name == name; }) > 0)
      notes.warn("channel-replaces-group", name, "the channel takes the place of the vertex group");
    still.groups.push_back(std::move(group));
  }
}

}  // namespace derm
