#pragma once

#include <string>
#include <vector>

#include "derm/scene/layer_types.h"
#include "derm/volume/volume_layer.h"

/// Private to room scene.
namespace derm::detail {

/// The keys of a layer of type "volume".
class VolumeParameters final : public LayerParameters {
 public:
  void fields(RecipeFields& fields) override;
  LayerFactory factory(std::string name) const override;

 private:
  void takePreset();

  VolumePreset preset_ = VolumePreset::Default;
  VolumeDesc desc_ = volumePreset(VolumePreset::Default);
  std::vector<RecipeName> regions_;  ///< names of groups, where regions are groups
  std::string mask_;                 ///< as written; empty = what suits the method
  std::string fixed_;
  std::vector<double> axis_shares_ = {1, 1, 1};
  std::string axis_order_ = "xyz";
};

}  // namespace derm::detail
