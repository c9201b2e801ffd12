#include "derm/deform/stack.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

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

void addOnce(std::vector<std::string>& names, std::vector<std::string> more) {
  for (std::string& name : more)
    if (std::find(names.begin(), names.end(), name) == names.end())
      names.push_back(std::move(name));
}

/// Whether evaluate() writes the channel, asked for or not.
bool writes(const LayerBinding& layer, const std::string& channel) {
  std::vector<std::string> own = layer.channels();
  addOnce(own, layer.masks());
  return std::find(own.begin(), own.end(), channel) != own.end();
}

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
  return make(std::move(character), layers, nullptr, notes);
}

Result<std::shared_ptr<const Stack>> Stack::rebind(std::span<const LayerFactory> layers,
                                                   Diagnostics& notes) const {
  return make(character_, layers, this, notes);
}

/// The binding of this stack that fits; else puts the one whose tables may be shared into `input`.
std::shared_ptr<const LayerBinding> Stack::kept(const LayerFactory& layer, BindInput& input) const {
  if (layer.name().empty()) return nullptr;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerBinding& old = *layers_[i];
    const Request& request = requests_[i];
    if (request.factory.name() != layer.name()) continue;
    if (request.surface != input.surface ||
        (old.readsShapedRest() && request.shape != input.shape) ||
        (old.readsSkinning() && request.skinning != input.skinning) ||
        (request.skinning == nullptr) != (input.skinning == nullptr))
      return nullptr;
    if (request.factory.sameAs(layer)) return layers_[i];
    input.previous = layers_[i];
    return nullptr;
  }
  return nullptr;
}

Result<std::shared_ptr<const Stack>> Stack::make(std::shared_ptr<const Character> character,
                                                 std::span<const LayerFactory> layers,
                                                 const Stack* before, Diagnostics& notes) {
  std::shared_ptr<Stack> stack(new Stack);
  stack->character_ = std::move(character);
  stack->surfaces_.push_back(before != nullptr
                                 ? before->surfaces_.front()
                                 : std::make_shared<const BoundSurface>(stack->character_));
  std::set<std::string> names;
  std::shared_ptr<const SkinningInUse> skinning;
  std::shared_ptr<const BoundSurface> shape;
  for (const LayerFactory& factory : layers) {
    const auto missing = [&] {
      return Error{ErrorCode::BadArgument,
                   "there is no layer to bind",
                   {.element = "layer", .index = stack->layers_.size()}};
    };
    if (!factory) return missing();
    BindInput input{.character = stack->character_,
                    .surface = stack->surfaces_.back(),
                    .shape = shape,
                    .skinning = skinning,
                    .notes = notes};
    std::shared_ptr<const LayerBinding> layer =
        before != nullptr ? before->kept(factory, input) : nullptr;
    if (layer == nullptr) {
      DERM_TRY(layer, factory.bind(input));
    }
    if (layer == nullptr) return missing();
    if (!names.insert(layer->name()).second)
      return Error{ErrorCode::BadArgument,
                   "two layers are named \"" + layer->name() + "\"",
                   {.element = "layer", .index = stack->layers_.size()}};
    if (const auto in_use = layer->skinning(); in_use != nullptr && skinning == nullptr) {
      skinning = in_use;
      stack->shape_layer_ = stack->layers_.size();
      if (std::any_of(stack->layers_.begin(), stack->layers_.end(),
                      [](const auto& below) { return !below->idle(); }))
        shape = input.surface;
    }
    const std::shared_ptr<const BoundSurface> output = layer->output();
    stack->surfaces_.push_back(output != nullptr ? output : stack->surfaces_.back());
    stack->requests_.push_back(
        {factory, std::move(input.surface), std::move(input.shape), std::move(input.skinning)});
    stack->layers_.push_back(std::move(layer));
  }
  return std::shared_ptr<const Stack>(std::move(stack));
}

const LayerBinding* Stack::findLayer(std::string_view name) const {
  for (const auto& layer : layers_)
    if (layer->name() == name) return layer.get();
  return nullptr;
}

bool Stack::stateful() const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [](const auto& layer) { return layer->stateful(); });
}

bool Stack::keepsShapedRest() const {
  return std::any_of(layers_.begin(), layers_.end(),
                     [](const auto& layer) { return layer->readsShapedRest(); });
}

std::vector<std::string> Stack::channels() const {
  std::vector<std::string> out;
  for (const auto& layer : layers_) addOnce(out, layer->channels());
  return out;
}

std::vector<std::string> Stack::masks() const {
  std::vector<std::string> out;
  for (const auto& layer : layers_) addOnce(out, layer->masks());
  return out;
}

std::size_t Stack::maxVertices() const {
  std::size_t count = 0;
  for (const auto& surface : surfaces_) count = std::max(count, surface->rest.vertexCount());
  return count;
}

std::size_t Stack::maxTriangles() const {
  std::size_t count = 0;
  for (const auto& surface : surfaces_) count = std::max(count, surface->rest.triangles.size());
  return count;
}

StackRunner::StackRunner(std::shared_ptr<const Stack> stack, Topology topology)
    : stack_(given(std::move(stack))),
      topology_(topology),
      pose_(stack_->character().restPose()),
      model_(stack_->character().skeleton.size()),
      palette_(stack_->character().skin.slots.size()),
      frame_({}) {
  for (const auto& binding : stack_->layers()) layers_.push_back(binding->makeLayer());
  makeRoom();
  setPose(pose_, 0.0);
}

/// For frames of the stack.
void StackRunner::makeRoom() {
  const TriMesh& rest = stack_->input().rest;
  std::vector<std::string> channels = stack_->channels();
  for (std::string& mask : stack_->masks())
    if (std::find(kept_channels_.begin(), kept_channels_.end(), mask) != kept_channels_.end())
      addOnce(channels, {std::move(mask)});
  frame_ = SkinFrame(
      {.max_vertices = stack_->maxVertices(),
       .max_triangles = stack_->maxTriangles(),
       .with_normals = !rest.normals.empty(),
       .with_tangents = !rest.tangents.empty(),
       .shape_vertices = stack_->keepsShapedRest() ? stack_->shape().rest.vertexCount() : 0,
       .channels = channels});
  carries_.clear();
  carries_.resize(channels.empty() ? 0 : layers_.size());
  for (std::size_t i = 0; i < carries_.size(); ++i) {
    if (stack_->surfaces_[i] == stack_->surfaces_[i + 1]) continue;
    carries_[i].emplace(
        Carry{RefinedVertices(stack_->character().mesh, stack_->surfaces_[i]->rest.vertexCount(),
                              *stack_->surfaces_[i + 1]),
              {}});
    for (const std::string& name : channels)
      if (!writes(*stack_->layers()[i], name)) carries_[i]->channels.push_back(name);
  }
}

void StackRunner::keepChannels(std::vector<std::string> names) {
  if (names == kept_channels_) return;
  kept_channels_ = std::move(names);
  makeRoom();
}

void StackRunner::change(std::shared_ptr<const Stack> stack) {
  DERM_REQUIRE(stack != nullptr && stack->character_ == stack_->character_);
  if (stack == stack_) return;
  const std::shared_ptr<const Stack> before = std::exchange(stack_, std::move(stack));
  std::vector<std::unique_ptr<Layer>> old_layers = std::exchange(layers_, {});
  for (const std::shared_ptr<const LayerBinding>& binding : stack_->layers()) {
    const auto same_name =
        std::find_if(before->layers_.begin(), before->layers_.end(),
                     [&](const auto& old) { return old->name() == binding->name(); });
    const bool known =
        same_name != before->layers_.end() && (*same_name)->type() == binding->type();
    std::unique_ptr<Layer>* const old =
        known ? &old_layers[static_cast<std::size_t>(same_name - before->layers_.begin())]
              : nullptr;
    if (known && *same_name == binding) {
      layers_.push_back(std::move(*old));
      continue;
    }
    layers_.push_back(binding->makeLayer());
    layers_.back()->reset(input(1.0));
    if (known) layers_.back()->takeOver(**old);
  }
  makeRoom();
}

const Layer* StackRunner::findLayer(std::string_view name) const {
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (stack_->layers()[i]->name() == name) return layers_[i].get();
  return nullptr;
}

void StackRunner::setPose(const Pose& pose, double time_s) noexcept {
  DERM_REQUIRE(pose.local.size() == pose_.local.size());
  DERM_REQUIRE(pose.morph_weights.size() == pose_.morph_weights.size());
  DERM_REQUIRE(pose.controls.size() == pose_.controls.size());
  copyPose(pose, pose_);
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

int StackRunner::partsOfStep(double dt_s) noexcept {
  const FrameInput in = input(1.0);
  int parts = 1;
  for (std::size_t i = 0; i < layers_.size(); ++i)
    if (stack_->layers()[i]->stateful()) parts = std::max(parts, layers_[i]->partsOfStep(in, dt_s));
  return parts;
}

void StackRunner::step(double dt_s, std::span<double> layer_seconds, bool goes_on) noexcept {
  DERM_REQUIRE(layer_seconds.empty() || layer_seconds.size() == layers_.size());
  FrameInput in = input(1.0);
  in.goes_on = goes_on;
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
    if (i == stack_->shape_layer_) frame_.keepShape();
    layers_[i]->evaluate(in, frame_);
    if (!carries_.empty() && carries_[i])
      for (const std::string& name : carries_[i]->channels)
        carries_[i]->how.carry(frame_.channel(name));
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
