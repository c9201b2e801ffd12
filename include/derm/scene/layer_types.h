#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/deform/layer.h"
#include "derm/scene/recipe_fields.h"

namespace derm {

/// The parameters of one kind of layer as a recipe holds them. A new kind of layer is one file with
/// such a class, and one line in the table of layer_types.cpp.
class LayerParameters {
 public:
  virtual ~LayerParameters() = default;
  /// Lists the layer's own keys (not type, name, enabled). See RecipeFields.
  virtual void fields(RecipeFields& fields) = 0;
  /// Layers of one kind that must work as one where they follow each other: takes the parameters of
  /// the next layer, which has this name, in with its own, or returns false.
  virtual bool join(const LayerParameters& /*next*/, std::string /*name*/) { return false; }
  /// What binds a layer with these parameters under this name. The factory keeps its own copy.
  virtual LayerFactory factory(std::string name) const = 0;
  /// Files that the layer reads, relative to the recipe's folder.
  virtual std::vector<std::string> files() const { return {}; }
  /// Whether the character has to be changed before it is bound: textures that the layer brings.
  virtual bool changesCharacter() const { return false; }
  /// Does so, once, when a scene is opened. Files are relative to `folder`.
  virtual Result<void> changeCharacter(std::string_view /*name*/,
                                       const std::filesystem::path& /*folder*/,
                                       Character& /*character*/) const {
    return {};
  }
};

struct LayerType {
  std::string name;                                        ///< "flesh"
  std::string summary;                                     ///< one line for manuals
  std::function<std::unique_ptr<LayerParameters>()> make;  ///< parameters at their defaults
};

/// A LayerType whose parameters are of class T.
template <class T>
LayerType layerType(std::string name, std::string summary) {
  return {std::move(name), std::move(summary), [] { return std::make_unique<T>(); }};
}

/// The kinds of layers a recipe may name. Passed in, so that programs can bring their own.
class LayerTypes {
 public:
  explicit LayerTypes(std::vector<LayerType> types) : types_(std::move(types)) {}

  std::span<const LayerType> all() const { return types_; }
  const LayerType* find(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  std::vector<LayerType> types_;
};

/// Those that derm has.
const LayerTypes& builtInLayerTypes();

}  // namespace derm
