#include "scene/flesh_parameters.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "derm/base/nearest_name.h"
#include "derm/scene/flesh_recipe.h"
#include "derm/weights/character_weights.h"

namespace derm::detail {
namespace {

constexpr std::string_view kGroupPrefix = "group:";

constexpr std::array<std::pair<FleshAttenuation, std::string_view>, 3> kAttenuations = {
    {{FleshAttenuation::Wyvill, "wyvill"},
     {FleshAttenuation::Parabola, "parabola"},
     {FleshAttenuation::None, "none"}}};
constexpr std::array<std::pair<FleshIntegrator, std::string_view>, 2> kIntegrators = {
    {{FleshIntegrator::Exact, "exact"}, {FleshIntegrator::Euler, "euler"}}};
constexpr std::array<std::pair<FleshLimit, std::string_view>, 2> kLimits = {
    {{FleshLimit::Vertex, "vertex"}, {FleshLimit::Element, "element"}}};
constexpr std::array<std::pair<FleshSoftness, std::string_view>, 4> kSoftness = {
    {{FleshSoftness::Muscle, "muscle"},
     {FleshSoftness::Fat, "fat"},
     {FleshSoftness::Belly, "belly"},
     {FleshSoftness::Jelly, "jelly"}}};
constexpr std::array<std::pair<ContactShape::Kind, std::string_view>, 3> kShapes = {
    {{ContactShape::Kind::Sphere, "sphere"},
     {ContactShape::Kind::Capsule, "capsule"},
     {ContactShape::Kind::Plane, "plane"}}};

const ListRange kPosition = {0, 3, {-1e6, 1e6, "m"}};
const ListRange kDirection = {3, 3, {-1e6, 1e6}};

Vec3d vec(const std::vector<double>& v) { return Vec3d(v[0], v[1], v[2]); }
std::vector<double> list(const Vec3d& v) { return {v.x(), v.y(), v.z()}; }

/// A position is three numbers, or left out.
void position(RecipeFields& f, std::string_view key, std::vector<double>& values,
              std::string_view help) {
  f.numbers(key, values, kPosition, help);
  f.require(values.empty() || values.size() == 3, key, "a place is three numbers: x, y, z");
}

void direction(RecipeFields& f, std::string_view key, std::vector<double>& values,
               std::string_view help) {
  f.numbers(key, values, kDirection, help);
  f.require(std::any_of(values.begin(), values.end(), [](double v) { return v != 0; }), key,
            "a direction needs a length");
}

std::optional<Vec3d> optionalPosition(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional<Vec3d>(vec(values));
}

/// [m] how far a modelled bone reaches from the element's virtual one.
Result<double> boneThickness(const std::string& group, const FleshDesc& desc,
                             const Character& character, std::span<const Affine3d> bind) {
  const auto found = std::find_if(character.mesh.groups.begin(), character.mesh.groups.end(),
                                  [&](const VertexGroup& g) { return g.name == group; });
  if (found == character.mesh.groups.end()) {
    std::vector<std::string> names;
    for (const VertexGroup& g : character.mesh.groups) names.push_back(g.name);
    return Error{ErrorCode::BadData,
                 "no vertex group \"" + group + "\"" + didYouMean(group, names),
                 {.element = "bone"}};
  }
  const Vec3d from = desc.from.value_or(bind[desc.dominant.index()].translation());
  Vec3d ends = Vec3d::Zero();
  for (const JointId end : desc.ends)
    ends += bind[end.index()].translation() / static_cast<double>(desc.ends.size());
  const Vec3d along = desc.to.value_or(ends) - from;
  const double square = along.squaredNorm();
  double radius = 0;
  for (const std::uint32_t v : found->vertices) {
    const Vec3d p = character.mesh.positions[v].cast<double>() - from;
    const double share = square > 0 ? std::clamp(p.dot(along) / square, 0.0, 1.0) : 0.0;
    radius = std::max(radius, Vec3d(p - share * along).norm());
  }
  return radius;
}

}  // namespace

void ContactKeys::fields(RecipeFields& f) {
  f.choice("shape", kind, kShapes, "what the flesh must not enter");
  f.name("joint", joint, NameKind::Joint, "that it follows; absent = the world");
  position(f, "from_m", from_m, "centre, first end or a point of the plane; absent = at the joint");
  f.name("to_joint", to_joint, NameKind::Joint, "capsule: that its other end follows");
  position(f, "to_m", to_m, "capsule: its other end; absent = at to_joint");
  direction(f, "normal", normal, "plane: towards the free side");
  f.number("radius_m", radius_m, {1e-6, 1e6, "m"}, "of a sphere or capsule");
  f.require(!from_m.empty() || !joint.text.empty(), "from_m", "a shape needs a joint or a place");
  f.require(kind != ContactShape::Kind::Capsule || !to_m.empty() || !to_joint.text.empty(), "to_m",
            "a capsule needs a second joint or place");
}

Result<ContactShape> ContactKeys::shape(const Skeleton& skeleton,
                                        std::span<const Affine3d> bind_model) const {
  ContactShape out{.kind = kind, .normal = vec(normal), .radius_m = radius_m};
  if (!joint.text.empty()) {
    DERM_TRY(out.joint, findJoint(skeleton, joint));
    out.from = bind_model[out.joint.index()].translation();
  }
  if (!to_joint.text.empty()) {
    DERM_TRY(out.to_joint, findJoint(skeleton, to_joint));
    out.to = bind_model[out.to_joint.index()].translation();
  }
  if (!from_m.empty()) out.from = vec(from_m);
  if (!to_m.empty()) out.to = vec(to_m);
  return out;
}

FleshParameters::FleshParameters(const FleshDesc& desc, const Skeleton& skeleton) : desc_(desc) {
  const std::vector<std::string> names = skeleton.names();
  dominant_.text = names[desc.dominant.index()];
  for (const JointId end : desc.ends) ends_.push_back({.text = names[end.index()]});
  if (desc.from) from_m_ = list(*desc.from);
  if (desc.to) to_m_ = list(*desc.to);
  if (!desc.vertex_group.empty()) vertices_ = std::string(kGroupPrefix) + desc.vertex_group;
  gravity_direction_ = list(desc.gravity_direction);
  for (const ContactShape& s : desc.contact) {
    ContactKeys keys{.kind = s.kind, .from_m = list(s.from), .radius_m = s.radius_m};
    keys.normal = list(s.normal);
    if (s.joint.valid()) keys.joint.text = names[s.joint.index()];
    if (s.to_joint.valid()) keys.to_joint.text = names[s.to_joint.index()];
    if (s.kind == ContactShape::Kind::Capsule) keys.to_m = list(s.to);
    contact_.push_back(std::move(keys));
  }
}

void FleshParameters::springFields(RecipeFields& f) {
  f.choice("softness", desc_.softness, kSoftness, "gives frequency and damping that are left out");
  f.number("frequency_hz", desc_.frequency_hz, {0.001, 1000, "Hz"}, "of the free swing");
  f.number("damping_ratio", desc_.damping_ratio, {0, 100}, "1 = does not swing");
  f.number("mass_kg", desc_.mass_kg, {1e-9, 1e9, "kg"}, "only beside stiffness and damping");
  f.number("stiffness", desc_.stiffness, {1e-9, 1e9, "N/m"}, "instead of frequency_hz");
  f.number("damping", desc_.damping, {0, 1e9, "N s/m"}, "instead of damping_ratio");
  f.require(!desc_.stiffness || !desc_.frequency_hz, "stiffness",
            "give either stiffness or frequency_hz");
  f.require(!desc_.damping || !desc_.damping_ratio, "damping",
            "give either damping or damping_ratio");
  f.choice("integrator", desc_.integrator, kIntegrators,
           "euler: symplectic, with steps of euler_step_s");
  f.number("euler_step_s", desc_.euler_step_s, {1e-6, 1, "s"}, "longest step of euler");
  f.number("gravity", desc_.gravity, {0, 1}, "of 9.81 m/s^2");
  direction(f, "gravity_direction", gravity_direction_, "where gravity pulls");
}

void FleshParameters::shapeFields(RecipeFields& f) {
  f.number("bone_radius_m", desc_.bone_radius_m, {0, 1e6, "m"}, "nearer to the bone nothing moves");
  f.text("bone", bone_, "group:NAME of a modelled bone: its thickness, instead of bone_radius_m");
  f.require(
      bone_.empty() || (bone_.starts_with(kGroupPrefix) && bone_.size() > kGroupPrefix.size()),
      "bone", "expected \"group:NAME\"");
  f.require(bone_.empty() || desc_.bone_radius_m == 0, "bone", "is given beside bone_radius_m");
  f.number("reach_m", desc_.reach_m, {1e-9, 1e6, "m"},
           "farther from the bone nothing moves; absent = no bound");
  f.number("shape_power", desc_.shape_power, {0.01, 8}, "of the distance from the bone");
  f.choice("attenuation", desc_.attenuation, kAttenuations, "towards the bone's ends");
  f.number("max_elongation", desc_.max_elongation, {0.001, 1}, "of the safe maximum");
  f.number("soft_limit", desc_.soft_limit, {0, 1}, "of the maximum: stiffer from here; 1 = hard");
  f.choice("limit", desc_.limit, kLimits, "safe maximum of each vertex, or of the tightest");
  f.number("max_slope", desc_.max_slope, {0, 1}, "of the offset along the skin; 0 = any");
  f.flag("rotation", desc_.rotation, "twist and swing as well");
  f.number("rotation_frequency_hz", desc_.rotation_frequency_hz, {0.001, 1000, "Hz"},
           "absent = as the spring");
  f.number("rotation_damping_ratio", desc_.rotation_damping_ratio, {0, 100},
           "absent = as the spring");
  f.tables(
      "contact", contact_, [](ContactKeys& shape, RecipeFields& keys) { shape.fields(keys); },
      "what the flesh must not enter");
  f.number("contact_margin_m", desc_.contact_margin_m, {0, 1e6, "m"}, "within which it sets in");
}

void FleshParameters::fields(RecipeFields& f) {
  f.name("dominant", dominant_, NameKind::Joint, "the joint the flesh hangs on");
  f.names("ends", ends_, NameKind::Joint, "joints below it where the flesh ends");
  position(f, "from_m", from_m_,
           "where the bone begins in the bind pose; absent = at the dominant");
  position(f, "to_m", to_m_, "where it ends; absent = in the middle of the ends");
  f.text("vertices", vertices_, "auto, or group:NAME");
  springFields(f);
  shapeFields(f);
  f.require(!dominant_.text.empty(), "dominant", "flesh needs a joint to hang on");
  f.require(!ends_.empty() || !to_m_.empty(), "ends",
            "flesh needs a joint below the dominant one (or to_m) to end at");
  const bool group = vertices_.starts_with(kGroupPrefix) && vertices_.size() > kGroupPrefix.size();
  f.require(vertices_ == "auto" || group, "vertices", "expected \"auto\" or \"group:NAME\"");
}

Result<FleshDesc> FleshParameters::resolved(const Character& character) const {
  FleshDesc out = desc_;
  DERM_TRY(out.dominant, findJoint(character.skeleton, dominant_));
  out.ends.clear();
  for (const RecipeName& name : ends_) {
    DERM_TRY(const JointId end, findJoint(character.skeleton, name));
    if (end == out.dominant || !isBelow(character.skeleton, end, out.dominant))
      return Error{ErrorCode::BadData,
                   "\"" + name.text + "\" is not below the dominant \"" + dominant_.text + "\"",
                   name.where};
    out.ends.push_back(end);
  }
  out.from = optionalPosition(from_m_);
  out.to = optionalPosition(to_m_);
  if (vertices_ != "auto") out.vertex_group = vertices_.substr(kGroupPrefix.size());
  out.gravity_direction = vec(gravity_direction_);
  out.contact.clear();
  const std::vector<Affine3d> bind = bindModelMatrices(character);
  if (!bone_.empty()) {
    DERM_TRY(out.bone_radius_m,
             boneThickness(bone_.substr(kGroupPrefix.size()), out, character, bind));
  }
  for (const ContactKeys& keys : contact_) {
    DERM_TRY(const ContactShape shape, keys.shape(character.skeleton, bind));
    out.contact.push_back(shape);
  }
  return out;
}

RecipeValue::Table FleshParameters::keys() const {
  FleshParameters copy = *this;
  return writeFields([&](RecipeFields& f) { copy.fields(f); });
}

LayerFactory FleshParameters::factory(std::string name) const {
  return {std::move(name), *this,
          +[](const std::string& layer, const FleshParameters& parameters,
              const BindInput& input) -> BindResult {
            DERM_TRY(FleshDesc desc, parameters.resolved(*input.character));
            desc.name = layer;
            return fleshLayer(desc).bind(input);
          }};
}

}  // namespace derm::detail

namespace derm {

RecipeLayer fleshRecipeLayer(const FleshDesc& desc, const Skeleton& skeleton) {
  RecipeLayer out{.type = "flesh", .name = desc.name};
  detail::FleshParameters parameters(desc, skeleton);
  detail::FleshParameters presets;
  const RecipeValue::Table preset = writeFields([&](RecipeFields& f) { presets.fields(f); });
  out.keys = writeFields([&](RecipeFields& f) { parameters.fields(f); });
  std::erase_if(out.keys, [&](const RecipeEntry& e) {
    return std::find(preset.begin(), preset.end(), e) != preset.end();
  });
  return out;
}

}  // namespace derm
