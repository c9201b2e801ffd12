#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/pose.h"
#include "derm/base/diagnostics.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/skin_frame.h"
#include "derm/deform/state_io.h"

namespace derm {

/// One instant of a character's motion.
struct FrameInput {
  double time_s = 0;                  ///< [s] on the recipe's time line
  const Pose& pose;                   ///< local transforms and morph weights
  std::span<const Affine3d> model;    ///< joint to model space
  std::span<const Affine3f> palette;  ///< skinning matrices, one per slot
  /// [0,1] Where this instant lies between the last two inner steps: a stateful layer shows the
  /// mix of its state before and after its last step().
  double step_fraction = 1.0;
  /// True where the surface that the layer hands on may have other triangles than it announced,
  /// since nothing is bound to it: then a layer that refines does so only where and while that
  /// shows (SkinFrame::refine).
  bool adaptive_topology = false;
};

/// The surface a layer is bound to or hands on: rest mesh, weights, normals of the moved mesh.
struct BoundSurface {
  TriMesh rest;
  Skin skin;  ///< empty, or one row per vertex of `rest`; its slots are the character's
  /// For each triangle the one of the character's mesh that it is a piece of; empty = the same
  /// triangles. Lets a refined surface keep its parts and materials.
  std::vector<std::uint32_t> source_triangles;
  NormalUpdate normals;

  BoundSurface(TriMesh mesh, Skin weights, std::vector<std::uint32_t> triangles_came_from = {})
      : rest(std::move(mesh)),
        skin(std::move(weights)),
        source_triangles(std::move(triangles_came_from)),
        normals(rest) {}
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
  /// Deforms the surface. Allocation-free; same bits for any thread count; no NaN leaves it.
  virtual void evaluate(const FrameInput& in, SkinFrame& skin) noexcept = 0;
  /// Stateless layers write and read nothing.
  virtual void saveState(StateWriter&) const {}
  virtual Result<void> restoreState(StateReader&) { return {}; }
  /// Adds what was odd in the frames evaluated so far: limits that were met, lengths that were not.
  virtual void report(Diagnostics& /*notes*/) const {}
};

/// The checked and precomputed form of a layer: immutable, shared between characters and threads.
class LayerBinding {
 public:
  LayerBinding(std::string name, std::string type)
      : name_(std::move(name)), type_(std::move(type)) {}
  virtual ~LayerBinding() = default;

  const std::string& name() const { return name_; }  ///< "belly"; unique in a stack
  const std::string& type() const { return type_; }  ///< "flesh"
  /// True where evaluate() depends on the past: then step() is called on a fixed grid of instants.
  virtual bool stateful() const { return false; }
  /// True where evaluate() asks the frame for morphedRest(): stacks without such a layer do not
  /// keep it.
  virtual bool readsMorphedRest() const { return false; }
  /// The surface handed on; null where it is the one bound to. A layer that refines announces its
  /// finer topology here and presents it in evaluate(). It has the same streams (normals, tangents)
  /// as the surface bound to.
  virtual std::shared_ptr<const BoundSurface> output() const { return nullptr; }
  virtual std::unique_ptr<Layer> makeLayer() const = 0;

 private:
  std::string name_;
  std::string type_;
};

/// Makes a binding for the surface the layer below hands on. Everything that can be wrong with a
/// layer's parameters is an Error here.
using LayerFactory = std::function<Result<std::shared_ptr<const LayerBinding>>(
    const Character& character, const std::shared_ptr<const BoundSurface>& surface,
    Diagnostics& notes)>;

}  // namespace derm
