#pragma once

#include <memory>
#include <span>
#include <vector>

#include "derm/deform/layer.h"

namespace derm {

/// Layers in order, bound to one character: morphs, skinning, then whatever a recipe adds.
/// Immutable; any number of StackRunners may use it at once.
class Stack {
 public:
  /// Binds each layer to the surface the one before hands on. Fails on two layers of one name, and
  /// passes on a layer's own error.
  static Result<std::shared_ptr<const Stack>> bind(std::shared_ptr<const Character> character,
                                                   std::span<const LayerFactory> layers,
                                                   Diagnostics& notes);

  const Character& character() const { return *character_; }
  std::span<const std::shared_ptr<const LayerBinding>> layers() const { return layers_; }
  const BoundSurface& input() const { return *surfaces_.front(); }
  const BoundSurface& output() const { return *surfaces_.back(); }
  bool stateful() const;
  /// Whether frames keep their morphed rest shape: there are morphs, and a layer reads it.
  bool keepsMorphedRest() const;
  std::size_t mostVertices() const;
  std::size_t mostTriangles() const;

 private:
  Stack() = default;
  std::shared_ptr<const Character> character_;
  std::vector<std::shared_ptr<const LayerBinding>> layers_;
  std::vector<std::shared_ptr<const BoundSurface>> surfaces_;  ///< input, then after each layer
};

/// Which triangles a run of a stack gives.
enum class Topology {
  Constant,  ///< those of Stack::output(), every frame: what files need
  Adaptive,  ///< the last layer may leave out what does not show (SkinFrame::topology() tells)
};

/// One character's run of a stack: the layers' states and the work space. Not thread-safe; make one
/// per character. After the first evaluate() nothing here allocates but saveState().
class StackRunner {
 public:
  explicit StackRunner(std::shared_ptr<const Stack> stack, Topology topology = Topology::Constant);

  const Stack& stack() const { return *stack_; }
  const std::shared_ptr<const Stack>& sharedStack() const { return stack_; }
  /// The layer at work of stack().layers()[index]: some have more to tell than a frame holds.
  Layer& layer(std::size_t index) { return *layers_[index]; }
  const Layer& layer(std::size_t index) const { return *layers_[index]; }

  /// The instant that the calls below work on. `pose` has the character's sizes; it is copied.
  void setPose(const Pose& pose, double time_s) noexcept;
  const Pose& pose() const { return pose_; }
  /// Joint-to-model matrices of that pose.
  std::span<const Affine3d> model() const { return model_; }
  /// Skinning matrices of that pose, one per slot.
  std::span<const Affine3f> palette() const { return palette_; }

  /// Every layer comes to rest at this instant.
  void reset() noexcept;
  /// Advances stateful layers by dt_s > 0 to this instant. Where `layer_seconds` is not empty (one
  /// entry per layer), the time each layer took is added to it.
  void step(double dt_s, std::span<double> layer_seconds = {}) noexcept;
  /// The surface at this instant, valid until the next call. `step_fraction` as in FrameInput.
  const SkinFrame& evaluate(double step_fraction = 1.0,
                            std::span<double> layer_seconds = {}) noexcept;

  void saveState(StateWriter& out) const;
  Result<void> restoreState(StateReader& in);
  /// Adds what was odd in the frames so far, layer by layer.
  void report(Diagnostics& notes) const;

 private:
  FrameInput input(double step_fraction) const noexcept;

  std::shared_ptr<const Stack> stack_;
  Topology topology_;
  std::vector<std::unique_ptr<Layer>> layers_;
  Pose pose_;
  double time_s_ = 0;
  std::vector<Affine3d> model_;
  std::vector<Affine3f> palette_;
  SkinFrame frame_;
};

}  // namespace derm
