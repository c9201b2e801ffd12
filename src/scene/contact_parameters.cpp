#include "scene/contact_parameters.h"

#include <utility>

namespace derm::detail {

void ContactParameters::fields(RecipeFields& f) {
  f.number("gap_m", desc_.gap_m, {1e-6, 1e6, "m"}, "between two skins; absent = by size");
  f.number("max_move", desc_.max_move, {0.01, 1}, "of the flesh's thickness there");
  f.integer("passes", passes_, {1, 8}, "more leave less skin inside skin");
}

LayerFactory ContactParameters::factory(std::string name) const {
  ContactDesc desc = desc_;
  desc.passes = static_cast<int>(passes_);
  return contactLayer(std::move(name), desc);
}

}  // namespace derm::detail
