#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "derm/base/result.h"
#include "derm/scene/layer_types.h"
#include "derm/scene/recipe.h"

namespace derm {

/// A recipe's text with a changed recipe in it, for texts that people have written in: only the
/// characters of what changed differ. Comments, blank lines, the order of keys, the way untouched
/// numbers and texts are written, dotted keys, inline tables, line ends, a byte-order mark and a
/// missing last line end stay. parseRecipe() of the result gives a recipe equal to `changed`.
///
///   Recipe recipe = *parseRecipe(text, "cat.toml");
///   recipe.fps = 24;                          // "fps = 30  # film" becomes "fps = 24  # film"
///   recipe.layers[0].name = "paunch";
///   std::swap(recipe.layers[0], recipe.layers[1]);
///   std::string edited = *editRecipe(text, recipe);
///
/// - A value that was written stays written, even at its default. One that was not is added behind
///   the last key of its table; one that a recipe can be without is removed with the comment behind
///   it.
/// - Layers are known by name, or by their location in the text where that changed. A layer moves
///   and goes with all that is in it and with the comments directly above it; comments set apart by
///   blank lines stay where they are.
/// - Lists keep the comments of the elements that stay, but may be laid out anew where elements
///   with comments come or go.
///
/// Fails where the text is no recipe, or `changed` is not one that can be read back. Cost: some
/// four parses.
Result<std::string> editRecipe(std::string_view text, const Recipe& changed,
                               const LayerTypes& types = builtInLayerTypes());

struct EditedRecipe {
  std::string text;
  Recipe recipe;  ///< as parseRecipe() reads it
};

/// The same for those who have read the text already: `before` is what parseRecipe() gave for it.
/// Cost: three parses.
Result<EditedRecipe> editRecipe(std::string_view text, const Recipe& before, const Recipe& changed,
                                const LayerTypes& types = builtInLayerTypes());

/// Writes the file whole or not at all: by editRecipe() where it holds a recipe already, otherwise
/// by writeRecipe().
Result<void> saveRecipe(const std::filesystem::path& file, const Recipe& recipe,
                        const LayerTypes& types = builtInLayerTypes());

}  // namespace derm
