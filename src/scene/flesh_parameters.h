#pragma once

#include <string>
#include <vector>

#include "derm/deform/flesh.h"
#include "derm/scene/layer_types.h"

namespace derm::detail {

/// One contact shape as a recipe writes it.
struct ContactKeys {
  ContactShape::Kind kind = ContactShape::Kind::Sphere;
  RecipeName joint;
  RecipeName to_joint;
  std::vector<double> from_m;  ///< empty = at the joint
  std::vector<double> to_m;    ///< empty = at the other joint
  std::vector<double> normal = {0, 1, 0};
  double radius_m = 0.1;

  void fields(RecipeFields& f);
  Result<ContactShape> shape(const Skeleton& skeleton, std::span<const Affine3d> bind_model) const;
};

/// The keys of a flesh element.
class FleshParameters final : public LayerParameters {
 public:
  FleshParameters() = default;
  FleshParameters(const FleshDesc& desc, const Skeleton& skeleton);
  void fields(RecipeFields& f) override;
  LayerFactory factory(std::string name) const override;
  /// The same keys with the same values.
  bool operator==(const FleshParameters& other) const { return keys() == other.keys(); }

 private:
  RecipeValue::Table keys() const;
  void springFields(RecipeFields& f);
  void shapeFields(RecipeFields& f);
  Result<FleshDesc> resolved(const Character& character) const;

  FleshDesc desc_;  ///< all but what is kept by name below
  RecipeName dominant_;
  std::vector<RecipeName> ends_;
  std::vector<double> from_m_;
  std::vector<double> to_m_;
  std::string vertices_ = "auto";
  std::string bone_;  ///< group:NAME, or none
  std::vector<double> gravity_direction_ = {0, -1, 0};
  std::vector<ContactKeys> contact_;
};

}  // namespace derm::detail
