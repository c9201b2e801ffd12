#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "derm/anim/skin.h"
#include "derm/deform/layer.h"
#include "derm/mesh/measures.h"

/// Layers with known results, for tests and benchmarks only.
namespace derm::testing_support {

/// A layer made of a function that moves the surface; no state.
class PlainLayer final : public Layer {
 public:
  using Body = std::function<void(const FrameInput&, SkinFrame&)>;
  explicit PlainLayer(Body body) : body_(std::move(body)) {}
  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override { body_(in, skin); }

 private:
  Body body_;
};

/// A binding whose layers are made by a function.
class TestBinding final : public LayerBinding {
 public:
  using Make = std::function<std::unique_ptr<Layer>()>;
  TestBinding(std::string name, std::string type, bool stateful, Make make,
              std::shared_ptr<const BoundSurface> output = nullptr)
      : LayerBinding(std::move(name), std::move(type)),
        stateful_(stateful),
        make_(std::move(make)),
        output_(std::move(output)) {}
  bool stateful() const override { return stateful_; }
  std::shared_ptr<const BoundSurface> output() const override { return output_; }
  std::unique_ptr<Layer> makeLayer() const override { return make_(); }

 private:
  bool stateful_;
  Make make_;
  std::shared_ptr<const BoundSurface> output_;
};

using BindingResult = BindResult;

inline LayerFactory noOpLayer(std::string name) {
  return [name](const BindInput&) -> BindingResult {
    return std::shared_ptr<const LayerBinding>(std::make_shared<TestBinding>(
        name, "no-op", false, [] { return std::make_unique<PlainLayer>([](auto&, auto&) {}); }));
  };
}

/// A bump that travels along the rest mesh's longest side and pushes vertices along their normals:
/// no vertex further than 3 widths from its centre moves.
struct BumpDesc {
  std::string name = "bump";
  double height = 0.1;  ///< of the rest mesh's longest side
  double width = 0.15;  ///< of the same
  double speed = 0.8;   ///< of the same, per second
};

inline LayerFactory bumpLayer(const BumpDesc& desc) {
  return [desc](const BindInput& input) -> BindingResult {
    const std::shared_ptr<const BoundSurface>& surface = input.surface;
    if (surface->rest.normals.empty())
      return Error{ErrorCode::BadData, "a bump needs normals", {.element = desc.name}};
    const Bounds box = bounds(surface->rest.positions);
    int axis = 0;
    const Vec3f size = box.size();
    const float length = std::max(size.maxCoeff(&axis), 1e-9f);
    std::vector<double> along;
    for (const Vec3f& p : surface->rest.positions)
      along.push_back((p[axis] - box.low[axis]) / length);
    const auto push = [desc, length, along](const FrameInput& in, SkinFrame& skin) {
      skin.materialise();
      skin.updateNormals();
      skin.beforeMoving();
      for (std::size_t v = 0; v < along.size(); ++v) {
        const double u = (along[v] - desc.speed * in.time_s) / desc.width;
        if (std::abs(u) > 3) continue;
        const double rise = std::exp(-0.5 * u * u) * std::pow(1 - u * u / 9, 2);
        skin.positions()[v] += skin.normals()[v] * static_cast<float>(desc.height * rise * length);
      }
    };
    return std::shared_ptr<const LayerBinding>(std::make_shared<TestBinding>(
        desc.name, "bump", false, [push] { return std::make_unique<PlainLayer>(push); }));
  };
}

/// One damped spring for the whole character that lags behind its joints' mean; what it lags is
/// added to every vertex.
class SpringLayer final : public Layer {
 public:
  SpringLayer(double frequency_hz, double damping)
      : omega_(6.2831853 * frequency_hz), damping_(damping) {}

  void reset(const FrameInput& in) noexcept override {
    position_ = anchor_before_ = anchor(in);
    velocity_ = before_ = Vec3d::Zero();
    ++resets;
  }
  void step(const FrameInput& in, double dt_s) noexcept override {
    const Vec3d to = anchor(in);
    const Vec3d pull = omega_ * omega_ * (to - position_) - 2 * damping_ * omega_ * velocity_;
    before_ = position_ - anchor_before_;
    velocity_ += dt_s * pull;
    position_ += dt_s * velocity_;
    anchor_before_ = to;
    ++steps;
  }
  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    const Vec3d after = position_ - anchor_before_;
    const Vec3f lag = (before_ + in.step_fraction * (after - before_)).cast<float>();
    skin.materialise();
    skin.beforeMoving();
    for (Vec3f& p : skin.positions()) p += lag;
  }
  void saveState(StateWriter& out) const override {
    for (const Vec3d* v : {&position_, &velocity_, &before_, &anchor_before_})
      out.writeSpan(std::span(v->data(), 3));
  }
  Result<void> restoreState(StateReader& in) override {
    for (Vec3d* v : {&position_, &velocity_, &before_, &anchor_before_})
      DERM_CHECK(in.readSpan(std::span(v->data(), 3)));
    return {};
  }

  static inline int steps = 0;
  static inline int resets = 0;

 private:
  static Vec3d anchor(const FrameInput& in) {
    Vec3d sum = Vec3d::Zero();
    for (const Affine3d& m : in.model) sum += m.translation() + m.linear().col(0);
    return in.model.empty() ? sum : Vec3d(sum / static_cast<double>(in.model.size()));
  }
  double omega_;
  double damping_;
  Vec3d position_ = Vec3d::Zero();
  Vec3d velocity_ = Vec3d::Zero();
  Vec3d before_ = Vec3d::Zero();  ///< lag before the last step
  Vec3d anchor_before_ = Vec3d::Zero();
};

inline LayerFactory springLayer(std::string name, double frequency_hz = 3, double damping = 0.2) {
  return [=](const BindInput&) -> BindingResult {
    return std::shared_ptr<const LayerBinding>(std::make_shared<TestBinding>(
        name, "spring", true,
        [=] { return std::make_unique<SpringLayer>(frequency_hz, damping); }));
  };
}

/// Cuts every triangle in two at the middle of its first side.
inline LayerFactory refiningLayer(std::string name) {
  return [name](const BindInput& input) -> BindingResult {
    const std::shared_ptr<const BoundSurface>& surface = input.surface;
    TriMesh fine = surface->rest;
    std::vector<std::array<std::uint32_t, 2>> ends;
    std::vector<std::uint32_t> source;
    fine.triangles.clear();
    fine.groups.clear();
    const auto whole = static_cast<std::uint32_t>(surface->rest.vertexCount());
    for (std::size_t t = 0; t < surface->rest.triangles.size(); ++t) {
      const auto [a, b, c] = surface->rest.triangles[t];
      const auto middle = whole + static_cast<std::uint32_t>(ends.size());
      ends.push_back({a, b});
      fine.triangles.push_back({a, middle, c});
      fine.triangles.push_back({middle, b, c});
      source.insert(source.end(), 2, static_cast<std::uint32_t>(t));
    }
    const auto add_middles = [ends](auto& stream) {
      if (stream.empty()) return;
      for (const auto& [a, b] : ends) stream.push_back((stream[a] + stream[b]) / 2);
    };
    add_middles(fine.positions);
    add_middles(fine.tangents);
    add_middles(fine.uvs);
    add_middles(fine.colours);
    add_middles(fine.normals);
    for (std::size_t v = whole; v < fine.normals.size(); ++v) fine.normals[v].normalize();
    Skin skin;
    if (!surface->skin.empty()) {
      SkinBuilder builder(surface->skin.slots, fine.vertexCount());
      std::vector<Influence> row;
      for (std::size_t v = 0; v < fine.vertexCount(); ++v) {
        row.clear();
        const bool old = v < whole;
        for (const std::uint32_t end :
             old ? std::array{std::uint32_t(v), std::uint32_t(v)} : ends[v - whole])
          for (Influence i : surface->skin[end]) row.push_back({i.slot, i.weight / 2});
        builder.addVertex(row, 0, name, input.notes);
      }
      skin = std::move(builder).finish();
    }
    const auto output =
        std::make_shared<const BoundSurface>(std::move(fine), std::move(skin), std::move(source));
    const auto refine = [output, ends, whole](const FrameInput&, SkinFrame& frame) {
      frame.materialise();
      frame.updateNormals();
      const SurfaceOutput out = frame.back(output->rest.vertexCount());
      const auto stream = [&](const auto& from, const auto& to) {
        std::copy(from.begin(), from.end(), to.begin());
        for (std::size_t i = 0; i < ends.size() && !from.empty(); ++i)
          to[whole + i] = (from[ends[i][0]] + from[ends[i][1]]) / 2;
      };
      stream(frame.positions(), out.positions);
      stream(frame.normals(), out.normals);
      stream(frame.tangents(), out.tangents);
      for (std::size_t v = whole; v < out.normals.size(); ++v) out.normals[v].normalize();
      frame.present(output->rest, output->normals);
    };
    return std::shared_ptr<const LayerBinding>(std::make_shared<TestBinding>(
        name, "refine", false, [refine] { return std::make_unique<PlainLayer>(refine); }, output));
  };
}

}  // namespace derm::testing_support
