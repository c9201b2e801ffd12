#pragma once

#include <memory>
#include <span>

#include "derm/deform/stack.h"
#include "derm/scene/scene.h"

namespace derm {

/// A scene's surface as an engine shows it without derm: its own morphs and plain linear skinning,
/// on the vertices that the scene's stack gives (see Scene::linearReferenceStack). What results are
/// compared with and measured against. Not thread-safe.
class LinearReference {
 public:
  /// Takes what Scene::linearReferenceStack() gave.
  explicit LinearReference(std::shared_ptr<const Stack> plain_stack);

  /// The surface in this pose of the scene's character, valid until the next call.
  const SkinFrame& evaluate(const Pose& pose, double time_s) noexcept;
  /// Skinning matrices of that pose, one per slot.
  std::span<const Affine3f> palette() const { return runner_.palette(); }

 private:
  StackRunner runner_;
  Pose pose_;
};

}  // namespace derm
