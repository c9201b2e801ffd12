#include "derm/scene/linear_reference.h"

#include <utility>

namespace derm {

LinearReference::LinearReference(std::shared_ptr<const Stack> plain_stack)
    : runner_(std::move(plain_stack)), pose_(runner_.pose()) {}

const SkinFrame& LinearReference::evaluate(const Pose& pose, double time_s) noexcept {
  pose_.local = pose.local;
  // A refined surface has no morphs.
  if (pose_.morph_weights.size() == pose.morph_weights.size())
    pose_.morph_weights = pose.morph_weights;
  runner_.setPose(pose_, time_s);
  return runner_.evaluate();
}

}  // namespace derm
