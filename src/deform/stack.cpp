#include "derm/deform/stack.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace derm {
namespace {

/// Adds the time until it goes out of scope to one layer's entry; costs nothing where none is kept.
class LayerTimer {
 public:
  using Clock = std::chrono::steady_clock;
  LayerTimer(std::span<double> seconds, std::size_t layer)
      : seconds_(seconds.empty() ? nullptr : &seconds[layer]),
        start_(seconds.empty() ? Clock::time_point() : Clock::now()) {}
  ~LayerTimer() {
    if (seconds_ != nullptr)
      *seconds_ += std::chrono::duration<double>(Clock::now() - start_).count();
  }
  LayerTimer(const LayerTimer&) = delete;
  LayerTimer& operator=(const LayerTimer&) = delete;

 private:
  double* seconds_;
  Clock::time_point start_;
};

std::shared_ptr<const Stack> given(std::shared_ptr<const Stack> stack) {
  DERM_REQUIRE(stack != nullptr);
  return stack;
}

}  // namespace

Result<std::shared_ptr<const Stack>> Stack::bind(std::shared_ptr<const Character> character,
                                                 std::span<const LayerFactory> layers,
                                                 Diagnostics& notes) {
  DERM_REQUIRE(character != nullptr);
  DERM_CHECK(validate(*character));
  std::shared_ptr<Stack> stack(new Stack);
  stack->character_ = std::move(character);
  const Character& c = *stack->character_;
  stack->surfaces_.push_back(std::make_shared<const BoundSurface>(c.mesh, c.skin));
  std::set<std::string> names;
  for (const LayerFactory& make : layers) {
    const auto missing = [&] {
      return Error{ErrorCode::BadArgument,
                   "there is no layer to bind",
                   {.element = "layer", .index = stack->layers_.size()}};
    };
    if (!make) return missing();
    DERM_TRY(std::shared_ptr<const LayerBinding> layer, make(c, stack->surfaces_.back(), notes));
    if (layer == nullptr) return missing();
    if (!names.insert(layer->name()).second)
      return Error{ErrorCode::BadArgument,
                   "two layers are named \"" + layer->name() + "\"",
                   {.element = "layer", .index = stack->layers_.size()}};
    const std::shared_ptr<const BoundSurface> output = layer->output();
    stack->surfaces_.push_back(output != nullptr ? output : stack->surfaces_.back());
    stack->layers_.push_back(std::move(layer));
  }
  return std::shared_ptr<const Stack>(std::move(stack));
}

bool Stack::stateful() const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [](const auto& layer) { return layer->stateful(); });
}

bool Stack::keepsMorphedRest() const {
  return !character_->morphs.empty() &&
         std::any_of(layers_.begin(), layers_.end(),
                     [](const auto& layer) { return layer->readsMorphedRest(); });
}

std::size_t Stack::mostVertices() const {
  std::size_t most = 0;
  for (const auto& surface : surfaces_) most = std::max(most, surface->rest.vertexCount());
  return most;
}

std::size_t Stack::mostTriangles() const {
  std::size_t most = 0;
  for (const auto& surface : surfaces_) most = std::max(most, surface->rest.triangles.size());
  return most;
}

StackRunner::StackRunner(std::shared_ptr<const Stack> stack, Topology topology)
    : stack_(given(std::move(stack))),
      topology_(topology),
      pose_(stack_->character().restPose()),
      model_(stack_->character().skeleton.size()),
      palette_(stack_->character().skin.slots.size()),
      frame_(stack_->mostVertices(), stack_->mostTriangles(), !stack_->input().rest.normals.empty(),
             !stack_->input().rest.tangents.empty(),
             stack_->keepsMorphedRest() ? stack_->input().rest.vertexCount() : 0) {
  for (const auto& binding : stack_->layers()) layers_.push_back(binding->makeLayer());
  setPose(pose_, 0.0);
}

void StackRunner::setPose(const Pose& pose, double time_s) noexcept {
  DERM_REQUIRE(pose.local.size() == pose_.local.size());
  DERM_REQUIRE(pose.morph_weights.size() == pose_.morph_weights.size());
  pose_ = pose;
  time_s_ = time_s;
  const Character& c = stack_->character();
  localToModel(c.skeleton, pose_.local, model_);
  skinningMatrices(c.skin, model_, palette_);
}

FrameInput StackRunner::input(double step_fraction) const noexcept {
  return {.time_s = time_s_,
          .pose = pose_,
          .model = model_,
          .palette = palette_,
          .step_fraction = step_fraction};
}

void StackRunner::reset() noexcept {
  for (const auto& layer : layers_) layer->reset(input(1.0));
}

void StackRunner::step(double dt_s, std::span<double> layer_seconds) noexcept {
  DERM_REQUIRE(layer_seconds.empty() || layer_seconds.size() == layers_.size());
  const FrameInput in = input(1.0);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (!stack_->layers()[i]->stateful()) continue;
    const LayerTimer timer(layer_seconds, i);
    layers_[i]->step(in, dt_s);
  }
}

const SkinFrame& StackRunner::evaluate(double step_fraction,
                                       std::span<double> layer_seconds) noexcept {
  DERM_REQUIRE(layer_seconds.empty() || layer_seconds.size() == layers_.size());
  FrameInput in = input(step_fraction);
  frame_.begin(stack_->input().rest, stack_->input().normals);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerTimer timer(layer_seconds, i);
    in.adaptive_topology = topology_ == Topology::Adaptive && i + 1 == layers_.size();
    layers_[i]->evaluate(in, frame_);
  }
  frame_.materialise();
  frame_.updateNormals();
  return frame_;
}

void StackRunner::saveState(StateWriter& out) const {
  for (const auto& layer : layers_) layer->saveState(out);
}

Result<void> StackRunner::restoreState(StateReader& in) {
  for (const auto& layer : layers_) DERM_CHECK(layer->restoreState(in));
  if (!in.atEnd())
    return Error{ErrorCode::BadData, "saved state is of another stack", {.element = "state"}};
  return {};
}

void StackRunner::report(Diagnostics& notes) const {
  for (const auto& layer : layers_) layer->report(notes);
}

}  // namespace derm
