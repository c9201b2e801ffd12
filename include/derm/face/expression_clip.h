#pragma once

#include <span>
#include <string>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"

namespace derm {

/// Gives a head a clip that holds expressions at whole seconds: `names`[i] at i + 1 s, rest at 0.
/// By the head's own shapes where it has morph targets of these names, else by its face rig, which
/// it gets where it has none. Returns the clip's name. Errors: those of addFaceRig() and
/// expressionDisplacements().
Result<std::string> addExpressionClip(Character& character, std::span<const std::string_view> names,
                                      Diagnostics& notes);

}  // namespace derm
