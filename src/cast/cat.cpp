#include "cast/cat.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "cast/members.h"

namespace derm::detail::cast {
namespace {

/// What follows some joints, as far as it does.
VertexGroup groupOf(const Character& c, std::string name, std::span<const std::string> joints) {
  VertexGroup out;
  out.name = std::move(name);
  for (std::uint32_t v = 0; v < c.skin.vertexCount(); ++v) {
    float sum = 0;
    for (const Influence& i : c.skin[v])
      for (const std::string& joint : joints)
        if (c.skeleton[c.skin.slots[i.slot].joint].name == joint) sum += i.weight;
    if (!(sum > 0)) continue;
    out.vertices.push_back(v);
    out.strengths.push_back(std::min(sum, 1.0f));
  }
  return out;
}

/// Legs by name, so that a layer can be confined to one.
void addLegGroups(Character& c) {
  for (const std::string side : {"_left", "_right"}) {
    const std::array front = {"upper_arm" + side, "forearm" + side, "paw_front" + side};
    const std::array back = {"thigh" + side, "shin" + side, "foot" + side, "paw_back" + side};
    c.mesh.groups.push_back(groupOf(c, "foreleg" + side, front));
    c.mesh.groups.push_back(groupOf(c, "hind_leg" + side, back));
  }
}

}  // namespace

Character makeCat() {
  const Figure figure = catFigure();
  Character cat = built(figure);
  cat.clips = catClips(figure.rig);
  addLegGroups(cat);
  return cat;
}

}  // namespace derm::detail::cast
