#pragma once

#include <string>
#include <vector>

#include "derm/face/detail_layer.h"
#include "derm/image/normal_map.h"
#include "derm/scene/layer_types.h"

namespace derm::detail {

/// The keys of a detail layer: wrinkle maps of expressions.
class DetailParameters final : public LayerParameters {
 public:
  void fields(RecipeFields& f) override;
  LayerFactory factory(std::string name) const override;
  DetailDesc desc() const;
  std::vector<std::string> files() const override;
  bool changesCharacter() const override;
  /// Gives the skin's material the maps that poses name.
  Result<void> changeCharacter(std::string_view name, const std::filesystem::path& folder,
                               Character& character) const override;

 private:
  /// One pose as a recipe writes it.
  struct PoseKeys {
    std::string name, expression, clip, map;
    double at_s = 0;
    double strength = 1;
    std::vector<double> curve;

    void fields(RecipeFields& f);
  };

  std::vector<PoseKeys> poses_;
  std::string groups_;
  WrinkleInfluence influence_ = WrinkleInfluence::Weighted;
  NormalGreen green_ = NormalGreen::Up;
};

}  // namespace derm::detail
