#include "scene/bake_target.h"

#include <array>
#include <utility>

#include "derm/deform/basic_layers.h"

#include "scene/refined_character.h"

namespace derm::detail {

Result<BakeTarget> makeBakeTarget(const Scene& scene, std::optional<std::size_t> influences) {
  DERM_TRY(RefinedCharacter refined, refinedCharacter(scene.stack()));
  BakeTarget out{
      .character = refined.character != nullptr ? std::move(refined.character) : scene.character(),
      .vertices = std::move(refined.vertices)};
  if (influences && out.character->skin.maxInfluences() > *influences) {
    Character few = *out.character;
    few.skin = pruned(few.skin, *influences);
    out.character = std::make_shared<const Character>(std::move(few));
  }
  Diagnostics said_already;
  DERM_TRY(out.plain,
           Stack::bind(out.character, std::array{morphLayer(), skinningLayer({})}, said_already));
  if (!out.character->morphs.empty()) {
    DERM_TRY(out.unskinned, Stack::bind(out.character, std::array{morphLayer()}, said_already));
  }
  return out;
}

}  // namespace derm::detail
