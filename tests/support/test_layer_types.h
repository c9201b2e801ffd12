#pragma once

#include <string>
#include <utility>

#include "derm/scene/layer_types.h"

#include "support/test_layers.h"

/// The test layers as kinds that a recipe can name.
namespace derm::testing_support {

class BumpParameters final : public LayerParameters {
 public:
  void fields(RecipeFields& f) override {
    f.number("height", desc_.height, {0, 10}, "of the longest side");
    f.number("width", desc_.width, {0.001, 10}, "of the longest side");
    f.number("speed", desc_.speed, {-100, 100, "1/s"}, "of the longest side, per second");
  }
  LayerFactory factory(std::string name) const override {
    BumpDesc named = desc_;
    named.name = std::move(name);
    return bumpLayer(named);
  }

 private:
  BumpDesc desc_;
};

class SpringParameters final : public LayerParameters {
 public:
  void fields(RecipeFields& f) override {
    f.number("frequency_hz", frequency_hz_, {0.01, 20, "Hz"}, "of the free swing");
    f.number("damping", damping_, {0, 1}, "1 = does not swing");
  }
  LayerFactory factory(std::string name) const override {
    return springLayer(std::move(name), frequency_hz_, damping_);
  }

 private:
  double frequency_hz_ = 3;
  double damping_ = 0.2;
};

class RefineParameters final : public LayerParameters {
 public:
  void fields(RecipeFields&) override {}
  LayerFactory factory(std::string name) const override { return refiningLayer(std::move(name)); }
};

enum class Mood { Calm, Wild };

/// A layer that does nothing, with a key of every kind.
class KeysParameters final : public LayerParameters {
 public:
  void fields(RecipeFields& f) override {
    f.flag("on", on, "a flag");
    f.number("amount", amount, {0, 1, "m"}, "a number");
    f.number("limit_m", limit_m, {0, 100, "m"}, "an optional number");
    f.integer("count", count, {1, 9}, "a whole number");
    f.text("label", label, "text");
    f.numbers("shares", shares, {0, 4, {0, 1}}, "some numbers");
    f.name("joint", joint, NameKind::Joint, "a joint");
    f.names("ends", ends, NameKind::Joint, "some joints");
    f.name("group", group, NameKind::VertexGroup, "a vertex group");
    constexpr std::array<std::pair<Mood, std::string_view>, 2> kMoods = {
        {{Mood::Calm, "calm"}, {Mood::Wild, "wild"}}};
    f.choice("mood", mood, kMoods, "a word");
    f.require(!limit_m || *limit_m >= amount, "limit_m", "must not be below amount");
  }
  LayerFactory factory(std::string name) const override {
    return [keys = *this, name](const BindInput& input) -> BindingResult {
      const Character& c = *input.character;
      const std::shared_ptr<const BoundSurface>& s = input.surface;
      if (!keys.joint.text.empty()) DERM_CHECK(asVoid(findJoint(c.skeleton, keys.joint)));
      for (const RecipeName& end : keys.ends) DERM_CHECK(asVoid(findJoint(c.skeleton, end)));
      if (!keys.group.text.empty()) DERM_CHECK(asVoid(findGroup(s->rest, keys.group)));
      if (keys.label == "fail") return Error{ErrorCode::BadData, "asked to fail", {}};
      return noOpLayer(name).bind(input);
    };
  }

  bool on = false;
  double amount = 0.5;
  std::optional<double> limit_m;
  std::int64_t count = 3;
  std::string label = "plain";
  std::vector<double> shares = {0.5, 0.5};
  RecipeName joint;
  std::vector<RecipeName> ends;
  RecipeName group;
  Mood mood = Mood::Calm;

 private:
  template <class T>
  static Result<void> asVoid(Result<T> result) {
    if (!result) return std::move(result).error();
    return {};
  }
};

inline const LayerTypes& testLayerTypes() {
  static const LayerTypes types({layerType<BumpParameters>("bump", "a travelling bump"),
                                 layerType<SpringParameters>("spring", "a lag"),
                                 layerType<RefineParameters>("refine", "finer triangles"),
                                 layerType<KeysParameters>("keys", "a key of every kind")});
  return types;
}

}  // namespace derm::testing_support
