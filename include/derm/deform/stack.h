#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/deform/layer.h"
#include "derm/deform/refined_vertices.h"

namespace derm {

/// Layers in order, bound to one character: morphs, other layers that shape the rest surface,
/// skinning, then whatever a recipe adds. Immutable; any number of StackRunners may use it at once.
class Stack {
 public:
  /// Binds each layer to the surface the one before hands on. Fails on two layers of one name, and
  /// passes on a layer's own error. The character's mesh, skin and morphs are not copied.
  static Result<std::shared_ptr<const Stack>> bind(std::shared_ptr<const Character> character,
                                                   std::span<const LayerFactory> layers,
                                                   Diagnostics& notes);
  /// Another stack for the same character, after an edit: changed, added, removed or reordered
  /// layers. A layer whose parameters, surface and other inputs are the same keeps its binding (and
  /// its notes are not repeated); one whose parameters alone changed may share tables of its old
  /// binding; what is left is bound. StackRunner::change() goes on playing with it.
  Result<std::shared_ptr<const Stack>> rebind(std::span<const LayerFactory> layers,
                                              Diagnostics& notes) const;

  const Character& character() const { return *character_; }
  std::span<const std::shared_ptr<const LayerBinding>> layers() const { return layers_; }
  /// The binding of that name, if it is a T: stack.find<VolumeLayerBinding>("volume"). Null where
  /// there is none.
  template <class T = LayerBinding>
  const T* find(std::string_view name) const {
    return dynamic_cast<const T*>(findLayer(name));
  }
  const BoundSurface& input() const { return *surfaces_.front(); }
  const BoundSurface& output() const { return *surfaces_.back(); }
  /// What skinning is given (SkinFrame::shapedRest): the input, as layers before it refine it.
  const BoundSurface& shape() const { return *surfaces_[shape_layer_]; }
  bool stateful() const;
  /// Whether frames keep their shape at rest: a layer reads it.
  bool keepsShapedRest() const;
  /// Names of the channels that layers write, each once, in the order of the layers.
  std::vector<std::string> channels() const;
  /// Names of those that layers write only where a run keeps them, in the same way.
  std::vector<std::string> masks() const;
  std::size_t maxVertices() const;
  std::size_t maxTriangles() const;

 private:
  friend class StackRunner;
  Stack() = default;
  static Result<std::shared_ptr<const Stack>> make(std::shared_ptr<const Character> character,
                                                   std::span<const LayerFactory> layers,
                                                   const Stack* before, Diagnostics& notes);
  /// Null where the layer cannot be told from others before it is bound.
  std::shared_ptr<const LayerBinding> kept(const LayerFactory& layer, BindInput& input) const;
  const LayerBinding* findLayer(std::string_view name) const;

  /// What a layer was asked for by and bound to.
  struct Request {
    LayerFactory factory;
    std::shared_ptr<const BoundSurface> surface, shape;
    std::shared_ptr<const SkinningInUse> skinning;
  };

  std::shared_ptr<const Character> character_;
  std::vector<std::shared_ptr<const LayerBinding>> layers_;
  std::vector<Request> requests_;                              ///< one per layer
  std::vector<std::shared_ptr<const BoundSurface>> surfaces_;  ///< input, then after each layer
  std::size_t shape_layer_ = 0;  ///< the skinning layer: it is given the shaped rest surface
};

/// Which triangles a run of a stack gives.
enum class Topology {
  Constant,  ///< those of Stack::output(), every frame: what files need
  Adaptive,  ///< the last layer may leave out what does not show (SkinFrame::topology() tells)
};

/// One character's run of a stack: the layers' states and the work space. Not thread-safe; make one
/// per character. After the first evaluate() nothing here allocates but change() and saveState().
/// An engine with a clock of its own takes a LiveRunner, a clip that is played a Playback.
class StackRunner {
 public:
  explicit StackRunner(std::shared_ptr<const Stack> stack, Topology topology = Topology::Constant);

  const Stack& stack() const { return *stack_; }
  const std::shared_ptr<const Stack>& sharedStack() const { return stack_; }
  /// Goes on with another stack of the same character (Stack::rebind) at the present instant. A
  /// layer is known by its name: it keeps its motion through an edit, a reorder and the insertion
  /// of others; one that is new, or whose motion does not fit its new parameters, starts at rest.
  void change(std::shared_ptr<const Stack> stack);

  /// From the next frame on, frames have these masks (Stack::masks) beside the channels that they
  /// have anyway. Names that no layer writes wait for one that change() brings. Frames are the same
  /// to the bit but for that.
  void keepChannels(std::vector<std::string> names);

  /// The layer at work of that name, if it is a T: runner.find<VolumeLayer>("volume"). Some have
  /// more to tell than a frame holds. Null where there is none.
  template <class T = Layer>
  T* find(std::string_view name) {
    return dynamic_cast<T*>(const_cast<Layer*>(findLayer(name)));
  }
  template <class T = Layer>
  const T* find(std::string_view name) const {
    return dynamic_cast<const T*>(findLayer(name));
  }

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
  /// entry per layer), the time each layer took is added to it. `goes_on` as in FrameInput.
  void step(double dt_s, std::span<double> layer_seconds = {}, bool goes_on = false) noexcept;
  /// The most parts that a layer would have that step divided into.
  int partsOfStep(double dt_s) noexcept;
  /// The surface at this instant, valid until the next call. `step_fraction` as in FrameInput.
  const SkinFrame& evaluate(double step_fraction = 1.0,
                            std::span<double> layer_seconds = {}) noexcept;

  void saveState(StateWriter& out) const;
  Result<void> restoreState(StateReader& in);
  /// Adds what was odd in the frames so far, layer by layer.
  void report(Diagnostics& notes) const;

 private:
  FrameInput input(double step_fraction) const noexcept;
  const Layer* findLayer(std::string_view name) const;
  void makeRoom();

  std::shared_ptr<const Stack> stack_;
  Topology topology_;
  std::vector<std::unique_ptr<Layer>> layers_;
  Pose pose_;
  double time_s_ = 0;
  std::vector<Affine3d> model_;
  std::vector<Affine3f> palette_;
  SkinFrame frame_;
  std::vector<std::string> kept_channels_;
  struct Carry {
    RefinedVertices how;
    std::vector<std::string> channels;  ///< all but those that the layer writes
  };
  /// Per layer, where there are channels and the layer refines: how they go on to its vertices.
  std::vector<std::optional<Carry>> carries_;
};

}  // namespace derm
