#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/base/parallel.h"
#include "derm/deform/flesh.h"
#include "derm/deform/props.h"
#include "derm/math/polar.h"
#include "derm/math/transform.h"
#include "derm/weights/character_weights.h"

#include "deform/flesh_kernels.h"
#include "deform/flesh_motion.h"
#include "deform/flesh_slope.h"
#include "deform/flesh_weights.h"

namespace derm {
namespace {

using detail::FleshFrame;
using detail::FleshTightest;

constexpr double kGravity = 9.81;  // [m/s^2]
/// The spring itself may stretch to where its softened elongation has used up this share of what
/// lies beyond the knee; further on nothing more would be seen of it.
constexpr double kSpringReach = 0.8;
/// [rad] Small angles: beyond it the rotation's equation does not hold, and flesh would wring.
constexpr double kFarthestTurn = 1.0;
/// A leap of the anchor of this share of the bone, in one step, is a cut.
constexpr double kCut = 0.5;
/// Contact acts fully on vertices with at least this alpha and fades towards the element's border.
constexpr float kContactFull = 0.2f;
/// Passes over several contact shapes, since one may push into another.
constexpr int kContactPasses = 3;
constexpr std::size_t kChunk = 2048;
/// A swing that at rest would stay below this share of the steepest slope is not looked at: an edge
/// would have to be squeezed to that share of its length to reach it.
constexpr float kFarFromSteep = 1.0f / 16;

/// A point beside the bind-pose mesh that follows some joints: the mean of where they carry it.
struct CarriedPoint {
  struct Part {
    JointId joint;
    Affine3d inverse_bind;
    Vec3d in_joint;  ///< the point in the joint's space

    bool operator==(const Part& other) const {
      return joint == other.joint && in_joint == other.in_joint;
    }
  };
  std::vector<Part> parts;

  Vec3d at(std::span<const Affine3d> model) const noexcept {
    Vec3d sum = Vec3d::Zero();
    for (const Part& p : parts) sum += model[p.joint.index()] * p.in_joint;
    return sum / static_cast<double>(parts.size());
  }
};

/// The part that takes time to find, and depends on the mesh.
struct FleshTables {
  detail::FleshWeights weights;
  detail::FleshRuns runs;
  detail::FleshPatch patch;
};

struct FleshElement {
  FleshDesc desc;
  detail::FleshDynamics dynamics;
  std::shared_ptr<const FleshTables> tables;
  CarriedPoint from, to, anchor;
  ContactBinding contact;

  detail::FleshAnchor anchorAt(std::span<const Affine3d> model) const noexcept {
    const CarriedPoint::Part& part = anchor.parts.front();
    const Affine3d carried = model[part.joint.index()] * part.inverse_bind;
    detail::FleshAnchor out;
    out.position = model[part.joint.index()] * part.in_joint;
    const double volume = carried.linear().determinant();
    out.scale = std::cbrt(std::abs(volume));
    if (dynamics.rotation && std::isfinite(volume))
      out.orientation = Quatd(polarDecomposition(Mat3d(carried.linear())).rotation);
    return out;
  }
};

class SwingingLayer final : public FleshLayer {
 public:
  explicit SwingingLayer(std::shared_ptr<const FleshElement> element)
      : element_(std::move(element)), tightest_(element_->tables->runs.taskCount()) {
    if (element_->desc.max_slope > 0)
      slope_scratch_ = detail::FleshSlopeScratch(element_->tables->patch);
    if (element_->contact.empty() && !(element_->desc.max_slope > 0)) return;
    shapes_.resize(element_->contact.size());
    posed_.resize(element_->tables->weights.vertices.size());
  }

  void reset(const FrameInput& in) noexcept override {
    motion_.reset(element_->dynamics, element_->anchorAt(in.model));
  }
  void step(const FrameInput& in, double dt_s) noexcept override {
    motion_.step(element_->dynamics, element_->anchorAt(in.model), dt_s, in.goes_on);
  }
  int partsOfStep(const FrameInput& in, double dt_s) noexcept override {
    return motion_.partsOfStep(element_->dynamics, element_->anchorAt(in.model), dt_s);
  }
  void evaluate(const FrameInput& in, SkinFrame& skin) noexcept override;
  void saveState(StateWriter& out) const override { motion_.save(out); }
  Result<void> restoreState(StateReader& in) override { return motion_.restore(in); }
  bool takeOver(const Layer& replaced) override {
    const auto* other = dynamic_cast<const SwingingLayer*>(&replaced);
    if (other == nullptr || other->element_->anchor.parts != element_->anchor.parts ||
        other->element_->dynamics.rotation != element_->dynamics.rotation)
      return false;
    motion_ = other->motion_;
    motion_.forgetSteps();
    return true;
  }
  FleshFrames frames() const override;
  Vec3d elongation_m() const override { return motion_.elongation(1.0); }
  Vec3d velocity_m_per_s() const override { return motion_.velocity(); }

 private:
  void writeMask(std::span<float> channel) const noexcept;
  bool setUp(const FrameInput& in, FleshFrame& frame) const noexcept;
  void limitWhole(FleshFrame& frame) noexcept;
  bool mayBeSteep(const FleshFrame& frame) const noexcept;
  void flatten(const FleshFrame& frame, SkinFrame& skin) noexcept;
  void pushOut(const FleshFrame& frame, SkinFrame& skin) const noexcept;
  Vec3f pushedOut(const FleshFrame& frame, const Vec3f& posed, const Vec3f& moved,
                  float alpha) const noexcept;

  std::shared_ptr<const FleshElement> element_;
  detail::FleshMotion motion_;
  std::vector<FleshTightest> tightest_;
  std::vector<PosedContact> shapes_;
  std::vector<Vec3f> posed_;  ///< where the element's vertices were before the flesh moved
  /// Of the last frame, for those who look.
  struct Seen {
    Vec3d from = Vec3d::Zero(), to = Vec3d::Zero(), anchor = Vec3d::Zero();
    Vec3d offset = Vec3d::Zero(), turn = Vec3d::Zero();
    Mat3d carried = Mat3d::Identity();
  };
  Seen seen_;
  detail::FleshSlopeScratch slope_scratch_;
};

/// Everything of the frame but the vertices; false where nothing can be done with it.
bool SwingingLayer::setUp(const FrameInput& in, FleshFrame& frame) const noexcept {
  const FleshElement& e = *element_;
  const Vec3d from = e.from.at(in.model);
  const Vec3d to = e.to.at(in.model);
  const double scale = e.anchorAt(in.model).scale;
  const Vec3d offset = motion_.elongation(in.step_fraction);
  if (!from.allFinite() || !to.allFinite() || !std::isfinite(scale)) return false;
  frame.runs = &e.tables->runs;
  frame.bone_from = from.cast<float>();
  frame.bone_along = (to - from).cast<float>();
  frame.bone_radius = static_cast<float>(e.desc.bone_radius_m * scale);
  frame.reach = static_cast<float>(e.desc.max_elongation);
  frame.soft_limit = static_cast<float>(e.desc.soft_limit);
  frame.per_vertex = e.desc.limit == FleshLimit::Vertex;
  frame.offset = offset.cast<float>();
  if (!e.dynamics.rotation) return true;
  const Vec3d turn = e.anchorAt(in.model).orientation * Vec3d(motion_.rotation(in.step_fraction));
  const double length = (to - from).norm();
  const Vec3d axis = length > 0 ? Vec3d((to - from) / length) : Vec3d(Vec3d::Zero());
  const Vec3d twist = axis * axis.dot(turn);
  frame.rotates = turn != Vec3d::Zero();
  frame.origin = (from + 0.5 * (to - from)).cast<float>();
  frame.twist = twist.cast<float>();
  frame.swing = (turn - twist).cast<float>();
  return true;
}

/// Elongation and swing of the whole element kept within what its tightest vertex allows: |u| /
/// max_offset + |swing| / max_swing bounds the share of its way that any vertex goes.
void SwingingLayer::limitWhole(FleshFrame& frame) noexcept {
  parallelFor(tightest_.size(), 1, [&](std::size_t begin, std::size_t end) {
    for (std::size_t task = begin; task < end; ++task)
      tightest_[task] = tightestVertex(frame, task);
  });
  double max_offset = std::numeric_limits<double>::infinity(), max_swing = max_offset;
  for (const FleshTightest& t : tightest_) {
    max_offset = std::min<double>(max_offset, t.offset);
    max_swing = std::min<double>(max_swing, t.swing);
  }
  const auto used = [](double wanted, double limit) {
    if (!(wanted > 0)) return 0.0;
    return limit > 0 ? wanted / limit : std::numeric_limits<double>::infinity();
  };
  const double wanted = used(frame.offset.norm(), max_offset) +
                        (frame.rotates ? used(frame.swing.norm(), max_swing) : 0.0);
  if (!(wanted > 0)) return;
  const double share = std::isfinite(wanted)
                           ? detail::withinLimit(wanted, frame.reach, frame.soft_limit) / wanted
                           : 0.0;
  frame.offset *= static_cast<float>(share);
  frame.swing *= static_cast<float>(share);
}

/// Contact moves a vertex out of the shapes, but not through the bone: that promise comes first.
Vec3f SwingingLayer::pushedOut(const FleshFrame& frame, const Vec3f& posed, const Vec3f& moved,
                               float alpha) const noexcept {
  const float margin = static_cast<float>(element_->desc.contact_margin_m);
  const bool near = std::any_of(shapes_.begin(), shapes_.end(), [&](const PosedContact& shape) {
    return isNear(shape, moved, margin);
  });
  if (!near) return moved;
  const float fade = std::min(alpha / kContactFull, 1.0f);
  const float full = fade * fade * (3 - 2 * fade);
  const int passes = shapes_.size() > 1 ? kContactPasses : 1;
  Vec3f p = moved;
  for (int pass = 0; pass < passes; ++pass)
    for (const PosedContact& shape : shapes_) {
      const ContactDistance at = distanceTo(shape, p);
      p += full * contactPush(at.distance, margin) * at.away;
    }
  if (p == moved) return p;
  const float square = frame.bone_along.squaredNorm();
  const Vec3f q = posed - frame.bone_from;
  const float share = square > 0 ? std::clamp(q.dot(frame.bone_along) / square, 0.0f, 1.0f) : 0.0f;
  const float depth = Vec3f(q - share * frame.bone_along).norm() - frame.bone_radius;
  const float max_length = frame.reach * std::max(depth, 0.0f);
  const float length = (p - posed).norm();
  return length > max_length ? Vec3f(posed + (p - posed) * (max_length / length)) : p;
}

void SwingingLayer::pushOut(const FleshFrame& frame, SkinFrame& skin) const noexcept {
  const detail::FleshWeights& w = element_->tables->weights;
  const std::span<Vec3f> positions = skin.positions();
  parallelFor(w.vertices.size(), kChunk, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      Vec3f& p = positions[w.vertices[i]];
      p = pushedOut(frame, posed_[i], p, w.alpha[i]);
    }
  });
}

bool SwingingLayer::mayBeSteep(const FleshFrame& frame) const noexcept {
  const auto max_slope = static_cast<float>(element_->desc.max_slope);
  if (!(max_slope > 0)) return false;
  if (frame.rotates) return true;
  return frame.offset.norm() * element_->tables->patch.steepest > kFarFromSteep * max_slope;
}

/// Takes back what is too steep along the skin, so that it does not fold over itself.
void SwingingLayer::flatten(const FleshFrame& frame, SkinFrame& skin) noexcept {
  const detail::FleshOffsets offsets{.vertices = element_->tables->weights.vertices,
                                     .before = posed_,
                                     .positions = skin.positions(),
                                     .bone_from = frame.bone_from,
                                     .bone_along = frame.bone_along,
                                     .bone_radius = frame.bone_radius,
                                     .reach = frame.reach};
  limitSlope(element_->tables->patch, static_cast<float>(element_->desc.max_slope), frame.rotates,
             offsets, slope_scratch_);
}

/// What each vertex takes part in the swing, moving or not.
void SwingingLayer::writeMask(std::span<float> channel) const noexcept {
  if (channel.empty()) return;
  const detail::FleshWeights& w = element_->tables->weights;
  for (std::size_t i = 0; i < w.vertices.size(); ++i) channel[w.vertices[i]] = w.alpha[i];
}

FleshFrames SwingingLayer::frames() const {
  FleshFrames out{.bone_from = seen_.from, .bone_to = seen_.to};
  const Mat3d axes = polarDecomposition(seen_.carried).rotation;
  const double angle = seen_.turn.norm();
  const Mat3d turned =
      angle > 0 ? Mat3d(Eigen::AngleAxisd(angle, Vec3d(seen_.turn / angle)) * axes) : axes;
  out.at_rest.linear() = axes;
  out.at_rest.translation() = seen_.anchor;
  out.swinging.linear() = turned;
  out.swinging.translation() = seen_.anchor + seen_.offset;
  return out;
}

void SwingingLayer::evaluate(const FrameInput& in, SkinFrame& skin) noexcept {
  writeMask(skin.channel(element_->desc.name));
  FleshFrame frame;
  if (!setUp(in, frame)) return;
  const CarriedPoint::Part& part = element_->anchor.parts.front();
  seen_ = {.from = element_->from.at(in.model),
           .to = element_->to.at(in.model),
           .anchor = element_->anchor.at(in.model),
           .offset = frame.offset.cast<double>(),
           .turn = frame.rotates ? Vec3d(Vec3f(frame.twist + frame.swing).cast<double>())
                                 : Vec3d(Vec3d::Zero()),
           .carried = (in.model[part.joint.index()] * part.inverse_bind).linear()};
  const bool touches = !shapes_.empty();
  const bool moves = frame.offset != Vec3f::Zero() || frame.rotates;
  if (!moves && !touches) return;
  skin.materialise();
  skin.beforeMoving();
  const std::span<Vec3f> positions = skin.positions();
  if (touches) element_->contact.pose(in.model, shapes_);
  const bool steep = mayBeSteep(frame);
  if (touches || steep)
    for (std::size_t i = 0; i < posed_.size(); ++i)
      posed_[i] = positions[element_->tables->weights.vertices[i]];
  frame.positions = positions.data()->data();
  if (moves) {
    if (!frame.per_vertex) limitWhole(frame);
    parallelFor(tightest_.size(), 1, [&](std::size_t begin, std::size_t end) {
      for (std::size_t task = begin; task < end; ++task) moveFlesh(frame, task);
    });
  }
  // Before the contact shapes, whose promise comes first.
  if (steep) flatten(frame, skin);
  if (touches) pushOut(frame, skin);
}

class FleshBinding final : public LayerBinding {
 public:
  explicit FleshBinding(std::shared_ptr<const FleshElement> element)
      : LayerBinding(element->desc.name, "flesh"), element_(std::move(element)) {}
  bool stateful() const override { return true; }
  std::vector<std::string> masks() const override { return {name()}; }
  std::unique_ptr<Layer> makeLayer() const override {
    return std::make_unique<SwingingLayer>(element_);
  }
  const FleshElement& element() const { return *element_; }

 private:
  std::shared_ptr<const FleshElement> element_;
};

Result<CarriedPoint> carriedPoint(std::span<const JointId> joints,
                                  const std::optional<Vec3d>& position, const Skeleton& skeleton,
                                  std::span<const Affine3d> bind_model) {
  CarriedPoint out;
  for (const JointId joint : joints) {
    bool ok = true;
    const Affine3d inverse = inverseOrIdentity(bind_model[joint.index()], ok);
    if (!ok)
      return Error{ErrorCode::BadData,
                   "the bind matrix of joint \"" + skeleton[joint].name + "\" has no inverse",
                   {.element = "skin", .index = joint.index()}};
    const Vec3d in_joint = position ? Vec3d(inverse * *position) : Vec3d(Vec3d::Zero());
    out.parts.push_back({joint, inverse, in_joint});
  }
  return out;
}

detail::FleshDynamics dynamicsOf(const FleshDesc& desc, const detail::VirtualBone& bone,
                                 double safe_elongation_m) {
  detail::FleshDynamics out;
  out.spring = springOf(desc);
  out.rotation_spring = rotationSpringOf(desc);
  out.integrator = desc.integrator;
  out.euler_step_s = desc.euler_step_s;
  out.gravity = desc.gravity * kGravity * desc.gravity_direction.normalized();
  // Where the softened elongation has come kSpringReach of the way from its knee to the limit.
  const double limit = desc.max_elongation * safe_elongation_m;
  const double beyond = kSpringReach / (1 - kSpringReach) * (1 - desc.soft_limit);
  out.farthest_m = limit * (desc.soft_limit + beyond);
  out.farthest_turn = kFarthestTurn;
  out.cut_m = kCut * bone.length();
  out.rotation = desc.rotation;
  return out;
}

/// Whether both have the same vertices with the same strengths on the same surface.
bool sameTables(const FleshDesc& a, const FleshDesc& b) {
  return a.dominant == b.dominant && a.ends == b.ends && a.from == b.from && a.to == b.to &&
         a.vertex_group == b.vertex_group && a.shape_power == b.shape_power &&
         a.attenuation == b.attenuation && a.bone_radius_m == b.bone_radius_m &&
         a.reach_m == b.reach_m;
}

BindResult bindFlesh(const std::string&, const FleshDesc& desc, const BindInput& input) {
  const Skeleton& skeleton = input.character->skeleton;
  DERM_CHECK(validate(desc, skeleton));
  if (input.skinning == nullptr)
    return Error{ErrorCode::BadArgument,
                 "flesh swings on the posed skin: it comes after skinning",
                 {.element = "before_skinning"}};
  const std::vector<Affine3d> bind = bindModelMatrices(*input.character);
  auto element = std::make_shared<FleshElement>();
  element->desc = desc;
  const auto* before = dynamic_cast<const FleshBinding*>(input.previous.get());
  if (before != nullptr && sameTables(before->element().desc, desc)) {
    element->tables = before->element().tables;
  } else {
    auto tables = std::make_shared<FleshTables>();
    const std::vector<std::uint8_t> props =
        propVertices(*input.character, input.surface->rest, input.surface->skin);
    DERM_TRY(tables->weights, detail::fleshWeights(desc, skeleton, bind, *input.surface, props));
    tables->runs = detail::makeFleshRuns(tables->weights.vertices, tables->weights.alpha);
    tables->patch = detail::makeFleshPatch(input.surface->rest, tables->weights.vertices,
                                           tables->weights.alpha);
    element->tables = std::move(tables);
  }
  const detail::VirtualBone bone = detail::virtualBone(desc, bind);
  element->dynamics = dynamicsOf(desc, bone, element->tables->weights.safe_elongation_m);
  const std::vector<JointId> dominant = {desc.dominant};
  const std::vector<JointId>& ends = desc.ends.empty() ? dominant : desc.ends;
  DERM_TRY(element->from, carriedPoint(dominant, desc.from, skeleton, bind));
  DERM_TRY(element->to, carriedPoint(ends, desc.to, skeleton, bind));
  DERM_TRY(element->anchor, carriedPoint(dominant, bone.middle(), skeleton, bind));
  element->contact = ContactBinding(desc.contact, bind);
  return std::shared_ptr<const LayerBinding>(
      std::make_shared<FleshBinding>(std::shared_ptr<const FleshElement>(std::move(element))));
}

}  // namespace

LayerFactory fleshLayer(const FleshDesc& desc) { return {desc.name, desc, bindFlesh}; }

}  // namespace derm
