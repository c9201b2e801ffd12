#pragma once

#include <string>
#include <vector>

#include "derm/deform/wrinkles.h"
#include "derm/scene/layer_types.h"

namespace derm::detail {

/// The keys of a [[layer]] of type "wrinkles": one tool. Tools that follow each other in a recipe
/// are one layer, so that their elevations add up and each triangle is cut only as fine as the
/// finest of them needs.
class WrinklesParameters final : public LayerParameters {
 public:
  WrinklesParameters();
  void fields(RecipeFields& f) override;
  bool join(const LayerParameters& next, std::string name) override;
  LayerFactory factory(std::string name) const override;

 private:
  /// What the keys must be to each other.
  void rules(RecipeFields& f) const;
  WrinkleToolDesc tool(std::string name) const;

  std::vector<double> from_, to_, path_, length_keys_;
  std::int64_t from_vertex_ = -1, to_vertex_ = -1;
  std::int64_t points_ = FoldCurveDesc{}.points, spacing_ = FoldCurveDesc{}.spacing,
               crest_ = FoldCurveDesc{}.crest, subdivide_ = WrinkleToolDesc{}.subdivide;
  std::string define_clip_;
  double define_at_s_ = 0;
  WrinkleToolDesc desc_;
  std::vector<WrinkleToolDesc> joined_;  ///< tools after this one
};

}  // namespace derm::detail
