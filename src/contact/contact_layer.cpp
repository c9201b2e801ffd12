#include "derm/contact/contact_layer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "derm/deform/held_vertices.h"

#include "contact/contact_binding.h"
#include "contact/contact_solver.h"

namespace derm {
namespace {

class Binding final : public LayerBinding {
 public:
  Binding(std::string name, std::shared_ptr<const detail::ContactBody> body)
      : LayerBinding(std::move(name), "contact"), body_(std::move(body)) {}
  std::unique_ptr<Layer> makeLayer() const override;
  std::vector<std::string> channels() const override { return {std::string(kHeldChannel)}; }
  std::vector<std::string> masks() const override { return {name()}; }
  const detail::ContactBody& body() const { return *body_; }

 private:
  std::shared_ptr<const detail::ContactBody> body_;
};

class WorkingLayer final : public ContactLayer {
 public:
  WorkingLayer(std::string name, std::shared_ptr<const detail::ContactBody> body)
      : name_(std::move(name)), body_(std::move(body)), solver_(*body_) {}

  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override {
    report_ = {};
    if (skin.isRest()) return;
    report_ = solver_.solve({.palette = in.palette, .positions = skin.positions()});
    overflowed_ |= report_.overflow;
    if (solver_.moved().empty()) return;
    skin.beforeMoving();
    const std::span<Vec3f> positions = skin.positions();
    const std::span<float> mask = skin.channel(name_), held = skin.channel(kHeldChannel);
    for (const std::uint32_t p : solver_.moved()) {
      const Vec3f move = solver_.moveOf(p);
      for (const std::uint32_t v : body_->vertices_of_point[p]) {
        positions[v] += move;
        if (!mask.empty()) mask[v] = 1;
      }
    }
    if (held.empty()) return;
    for (const std::uint32_t p : solver_.held())
      for (const std::uint32_t v : body_->vertices_of_point[p])
        held[v] = std::max(held[v], solver_.heldOf(p));
  }
  const ContactReport& report() const override { return report_; }
  void report(Diagnostics& notes) const override {
    if (overflowed_)
      notes.warn("contact-overflow", name_, "more contacts in a frame than there is room for");
  }

 private:
  std::string name_;
  std::shared_ptr<const detail::ContactBody> body_;
  detail::ContactSolver solver_;
  ContactReport report_;
  bool overflowed_ = false;
};

std::unique_ptr<Layer> Binding::makeLayer() const {
  return std::make_unique<WorkingLayer>(name(), body_);
}

/// For characters whose skin cannot meet itself.
class IdleLayer final : public ContactLayer {
 public:
  void evaluate(const FrameInput&, SkinFrame&) noexcept override {}
  const ContactReport& report() const override { return report_; }
  using ContactLayer::report;

 private:
  ContactReport report_;
};

class IdleBinding final : public LayerBinding {
 public:
  explicit IdleBinding(std::string name) : LayerBinding(std::move(name), "contact") {}
  bool idle() const override { return true; }
  std::unique_ptr<Layer> makeLayer() const override { return std::make_unique<IdleLayer>(); }
};

Error bad(const char* key, const char* message) {
  return Error{ErrorCode::BadArgument, message, {.element = key}};
}

BindResult bindContact(const std::string& name, const ContactDesc& desc, const BindInput& input) {
  if (desc.gap_m && !(*desc.gap_m > 0 && *desc.gap_m <= 1e6))
    return bad("gap_m", "expected more than 0 metres");
  if (!(desc.max_move > 0 && desc.max_move <= 1)) return bad("max_move", "expected 0 to 1");
  if (desc.passes < 1 || desc.passes > 8) return bad("passes", "expected 1 to 8");
  const BoundSurface& bound = *input.surface;
  if (bound.rest.triangles.empty() || bound.skin.empty()) {
    input.notes.warn("contact-no-skin", name, "no skin bends here: passed through");
    return std::shared_ptr<const LayerBinding>(std::make_shared<IdleBinding>(name));
  }
  if (input.skinning == nullptr)
    return Error{ErrorCode::BadArgument,
                 "skin meets skin where it is posed: the layer comes after skinning",
                 {.element = "before_skinning"}};
  if (const auto* before = dynamic_cast<const Binding*>(input.previous.get()))
    return std::shared_ptr<const LayerBinding>(std::make_shared<Binding>(
        name, detail::rebindContactBody(before->body(), bound.rest, bound.skin, desc)));
  auto body =
      detail::bindContactBody(*input.character, bound.rest, bound.skin, desc, name, input.notes);
  if (body == nullptr) {
    input.notes.warn("contact-no-volume", name,
                     "no part of this skin has another to meet: passed through");
    return std::shared_ptr<const LayerBinding>(std::make_shared<IdleBinding>(name));
  }
  return std::shared_ptr<const LayerBinding>(std::make_shared<Binding>(name, std::move(body)));
}

}  // namespace

LayerFactory contactLayer(std::string name, const ContactDesc& desc) {
  return {std::move(name), desc, bindContact};
}

}  // namespace derm
