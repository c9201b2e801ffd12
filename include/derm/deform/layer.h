#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "derm/anim/pose.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/skin_frame.h"
#include "derm/deform/skinning.h"
#include "derm/deform/state_io.h"

namespace derm {

/// One instant of a character's motion.
struct FrameInput {
  double time_s = 0;                  ///< [s] on the recipe's time line
  const Pose& pose;                   ///< local transforms, morph weights and controls
  std::span<const Affine3d> model;    ///< joint to model space
  std::span<const Affine3f> palette;  ///< skinning matrices, one per slot
  /// [0,1] Where this instant lies between the last two inner steps: a stateful layer shows the
  /// mix of its state before and after its last step().
  double step_fraction = 1.0;
  /// In step(): a part of an inner step, and not its first (Layer::partsOfStep).
  bool goes_on = false;
  /// True where the surface that the layer hands on may have other triangles than it announced,
  /// since nothing is bound to it: then a layer that refines does so only where and while that
  /// shows (SkinFrame::refine).
  bool adaptive_topology = false;
};

/// The surface a layer is bound to or hands on: rest mesh, weights, normals of the moved mesh.
/// Immutable.
class BoundSurface {
 private:
  std::shared_ptr<const TriMesh> mesh_;
  std::shared_ptr<const Skin> weights_;

 public:
  const TriMesh& rest;
  const Skin& skin;  ///< empty, or one row per vertex of `rest`; its slots are the character's
  /// For each triangle the one of the character's mesh that it is a piece of; empty = the same
  /// triangles. Lets a refined surface keep its parts and materials.
  const std::vector<std::uint32_t> source_triangles;
  const NormalUpdate normals;

  /// The character's own mesh and weights: not copied, but kept alive.
  explicit BoundSurface(const std::shared_ptr<const Character>& character);
  BoundSurface(TriMesh mesh, Skin weights, std::vector<std::uint32_t> triangles_came_from = {});
  // It refers to itself.
  BoundSurface(const BoundSurface&) = delete;
  BoundSurface& operator=(const BoundSurface&) = delete;
};

/// A layer at work on one character: takes a polygon surface, gives a polygon surface. All that can
/// fail happened when its binding was made.
class Layer {
 public:
  virtual ~Layer() = default;
  /// Back to rest at this instant: no motion before it is remembered. Never causes a kick.
  virtual void reset(const FrameInput&) noexcept {}
  /// Advances the state by dt_s > 0 to the instant `in`. Only for stateful layers.
  virtual void step(const FrameInput& /*in*/, double /*dt_s*/) noexcept {}
  /// Into how many equal parts the step by dt_s to the instant `in` should be divided: where more
  /// happens in it than its two ends tell. Asked before step(), which is then called once for each
  /// part, if whoever plays can pose the character between the two.
  virtual int partsOfStep(const FrameInput& /*in*/, double /*dt_s*/) noexcept { return 1; }
  /// Deforms the surface. Allocation-free; same bits for any thread count; no NaN leaves it.
  virtual void evaluate(const FrameInput& in, SkinFrame& skin) noexcept = 0;
  /// Stateless layers write and read nothing.
  virtual void saveState(StateWriter&) const {}
  virtual Result<void> restoreState(StateReader&) { return {}; }
  /// Goes on with the motion of the layer that this one, just reset, replaces after an edit: same
  /// name and type, other parameters. False where that motion means nothing here (another bone,
  /// say): then this layer stays at rest. By default the saved state is what is taken over.
  virtual bool takeOver(const Layer& replaced);
  /// Adds what was odd in the frames evaluated so far: limits that were met, lengths that were not.
  virtual void report(Diagnostics& /*notes*/) const {}
};

/// How the skinning layer below carries the surface into a pose; what it has computed for that is
/// there for other layers.
struct SkinningInUse {
  SkinningDesc desc;
  std::shared_ptr<const BoundSurface> surface;  ///< that it carries
  std::optional<SkinningBinding> binding;       ///< none for a character without a skin
};

/// The checked and precomputed form of a layer: immutable, shared between characters and threads.
class LayerBinding {
 public:
  LayerBinding(std::string name, std::string type)
      : name_(std::move(name)), type_(std::move(type)) {}
  virtual ~LayerBinding() = default;

  const std::string& name() const { return name_; }  ///< "belly"; unique in a stack
  const std::string& type() const { return type_; }  ///< "flesh"
  /// True where evaluate() depends on the past: then step() is called at a fixed rate.
  virtual bool stateful() const { return false; }
  /// True where evaluate() never changes anything: morphs of a character that has none.
  virtual bool idle() const { return false; }
  /// True where evaluate() asks the frame for shapedRest(): stacks without such a layer do not keep
  /// it.
  virtual bool readsShapedRest() const { return false; }
  /// Not null for the layer that carries the surface from the bind pose to the frame's pose.
  virtual std::shared_ptr<const SkinningInUse> skinning() const { return nullptr; }
  /// True where the binding depends on the skinning below it (BindInput::skinning).
  virtual bool readsSkinning() const { return false; }
  /// Names of the per-vertex channels that evaluate() writes (SkinFrame::channel). Every layer may
  /// read any of them.
  virtual std::vector<std::string> channels() const { return {}; }
  /// Names of channels that evaluate() writes only where a run keeps them
  /// (StackRunner::keepChannels): where the layer works, for pictures and files. The layers of derm
  /// name theirs as they are named in the recipe. By default none.
  virtual std::vector<std::string> masks() const { return {}; }
  /// The surface handed on; null where it is the one bound to. A layer that refines announces its
  /// finer topology here and presents it in evaluate(). It has the same streams (normals, tangents)
  /// as the surface bound to, whose vertices come first.
  virtual std::shared_ptr<const BoundSurface> output() const { return nullptr; }
  virtual std::unique_ptr<Layer> makeLayer() const = 0;

 private:
  std::string name_;
  std::string type_;
};

/// What a layer is bound to.
struct BindInput {
  std::shared_ptr<const Character> character;
  std::shared_ptr<const BoundSurface> surface;  ///< what the layers below hand on
  /// What SkinFrame::shapedRest() has the positions of: the surface that skinning is given. Null
  /// below skinning, and where no layer below it moves anything.
  std::shared_ptr<const BoundSurface> shape = {};
  /// Null below skinning: there the surface is in its bind pose when layers see it.
  std::shared_ptr<const SkinningInUse> skinning = {};
  /// A binding of a layer of this name and type, with other parameters, to all of the above; null
  /// where there is none. What depends only on parameters that have not changed may be shared.
  std::shared_ptr<const LayerBinding> previous = {};
  Diagnostics& notes;
};

using BindResult = Result<std::shared_ptr<const LayerBinding>>;

/// A layer as it is asked for: its parameters, and the function that makes a binding of them.
/// Everything that can be wrong with a layer's parameters is an Error there. A value; copies share
/// the parameters.
class LayerFactory {
 public:
  /// Nothing: an error where it is bound.
  LayerFactory() = default;
  /// A layer whose parameters nobody can compare: it is bound anew at every Stack::rebind().
  template <class Bind>
  requires std::is_invocable_r_v<BindResult, const Bind&, const BindInput&> LayerFactory(
      Bind function)
      : model_(std::make_shared<Opaque<Bind>>(std::move(function))) {}
  /// A layer by its parameters, which can be compared: all that `function` depends on beside its
  /// input. Equal ones, of one type, give the same binding.
  template <class Parameters>
  LayerFactory(std::string layer_name, Parameters parameters,
               BindResult (*function)(const std::string& name, const Parameters&, const BindInput&))
      : model_(std::make_shared<Known<Parameters>>(std::move(layer_name), std::move(parameters),
                                                   function)) {}

  explicit operator bool() const { return model_ != nullptr; }
  /// Empty where it is not known before binding.
  std::string_view name() const { return model_ == nullptr ? std::string_view() : model_->name(); }
  /// True where both make the same binding of the same input.
  bool sameAs(const LayerFactory& other) const {
    return model_ != nullptr && other.model_ != nullptr &&
           (model_ == other.model_ || model_->equals(*other.model_));
  }
  /// Requires that it is not empty.
  BindResult bind(const BindInput& input) const;
  /// The same layer, whose errors go through `change` first.
  LayerFactory withErrors(std::function<Error(Error)> change) const;

 private:
  struct Model {
    virtual ~Model() = default;
    virtual std::string_view name() const { return {}; }
    virtual bool equals(const Model&) const { return false; }
    virtual BindResult bind(const BindInput& input) const = 0;
  };
  template <class Bind>
  struct Opaque final : Model {
    explicit Opaque(Bind function) : make(std::move(function)) {}
    BindResult bind(const BindInput& input) const override { return make(input); }
    Bind make;
  };
  template <class Parameters>
  struct Known final : Model {
    using Make = BindResult (*)(const std::string&, const Parameters&, const BindInput&);
    Known(std::string layer_name, Parameters of, Make function)
        : own_name(std::move(layer_name)), parameters(std::move(of)), make(function) {}
    std::string_view name() const override { return own_name; }
    bool equals(const Model& other) const override {
      const auto* same = dynamic_cast<const Known*>(&other);
      return same != nullptr && make == same->make && own_name == same->own_name &&
             parameters == same->parameters;
    }
    BindResult bind(const BindInput& input) const override {
      return make(own_name, parameters, input);
    }
    std::string own_name;
    Parameters parameters;
    Make make;
  };

  std::shared_ptr<const Model> model_;
  std::shared_ptr<const std::function<Error(Error)>> change_error_;
};

}  // namespace derm
