#pragma once

#include <string>

#include "derm/contact/contact_layer.h"
#include "derm/scene/layer_types.h"

/// Private to room scene.
namespace derm::detail {

/// The keys of a layer of type "contact".
class ContactParameters final : public LayerParameters {
 public:
  void fields(RecipeFields& f) override;
  LayerFactory factory(std::string name) const override;

 private:
  ContactDesc desc_;
  std::int64_t passes_ = ContactDesc().passes;
};

}  // namespace derm::detail
