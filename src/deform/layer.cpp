#include "derm/deform/layer.h"

#include <typeinfo>

#include "derm/base/assert.h"

namespace derm {

BoundSurface::BoundSurface(const std::shared_ptr<const Character>& character)
    : mesh_(character, &character->mesh),
      weights_(character, &character->skin),
      rest(*mesh_),
      skin(*weights_),
      normals(rest) {}

BoundSurface::BoundSurface(TriMesh mesh, Skin weights,
                           std::vector<std::uint32_t> triangles_came_from)
    : mesh_(std::make_shared<const TriMesh>(std::move(mesh))),
      weights_(std::make_shared<const Skin>(std::move(weights))),
      rest(*mesh_),
      skin(*weights_),
      source_triangles(std::move(triangles_came_from)),
      normals(rest) {}

bool Layer::takeOver(const Layer& replaced) {
  if (typeid(*this) != typeid(replaced)) return false;
  StateWriter own, other;
  saveState(own);
  replaced.saveState(other);
  if (own.bytes().size() != other.bytes().size()) return false;
  StateReader from(other.bytes());
  if (restoreState(from) && from.atEnd()) return true;
  StateReader back(own.bytes());
  const Result<void> restored = restoreState(back);
  DERM_REQUIRE(restored.ok());  // its own bytes
  return false;
}

BindResult LayerFactory::bind(const BindInput& input) const {
  DERM_REQUIRE(model_ != nullptr);
  BindResult bound = model_->bind(input);
  if (bound || change_error_ == nullptr) return bound;
  return (*change_error_)(std::move(bound).error());
}

LayerFactory LayerFactory::withErrors(std::function<Error(Error)> change) const {
  LayerFactory out = *this;
  out.change_error_ = std::make_shared<const std::function<Error(Error)>>(std::move(change));
  return out;
}

}  // namespace derm
