#include "derm/deform/flesh.h"

#include <cmath>
#include <numbers>
#include <string>

namespace derm {
namespace {

Error badField(const char* field, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.element = field}};
}

bool within(double value, double low, double high) { return value >= low && value <= high; }

/// Above 0 and not beyond `high`; not for NaN.
bool positive(double value, double high) { return value > 0 && value <= high; }

Result<void> validateJoints(const FleshDesc& desc, const Skeleton& skeleton) {
  if (!desc.dominant.valid() || desc.dominant.index() >= skeleton.size())
    return badField("dominant", "flesh needs a joint to hang on");
  if (desc.ends.empty() && !desc.to)
    return badField("ends", "flesh needs a joint below the dominant one, or a place, to end at");
  for (std::size_t i = 0; i < desc.ends.size(); ++i) {
    const JointId end = desc.ends[i];
    if (!end.valid() || end.index() >= skeleton.size())
      return badField("ends", "there is no joint " + std::to_string(end.value));
    if (end == desc.dominant || !isBelow(skeleton, end, desc.dominant)) {
      Error error = badField("ends", "\"" + skeleton[end].name + "\" is not below the dominant \"" +
                                         skeleton[desc.dominant].name + "\"");
      error.where.index = i;
      return error;
    }
  }
  for (const auto& [field, position] : {std::pair{"from", desc.from}, std::pair{"to", desc.to}})
    if (position && !position->allFinite())
      return badField(field, "expected finite numbers of metres");
  return {};
}

Result<void> validateSpring(const FleshDesc& desc) {
  constexpr double kMax = 1e9;
  if (desc.frequency_hz && !positive(*desc.frequency_hz, 1000))
    return badField("frequency_hz", "expected more than 0, at most 1000 Hz");
  if (desc.damping_ratio && !within(*desc.damping_ratio, 0, 100))
    return badField("damping_ratio", "expected 0 to 100");
  if (!positive(desc.mass_kg, kMax)) return badField("mass_kg", "expected more than 0 kg");
  if (desc.stiffness && !positive(*desc.stiffness, kMax))
    return badField("stiffness", "expected more than 0 N/m");
  if (desc.damping && !within(*desc.damping, 0, kMax))
    return badField("damping", "expected 0 N s/m or more");
  if (desc.stiffness && desc.frequency_hz)
    return badField("stiffness", "give either stiffness or frequency_hz: each gives the other");
  if (desc.damping && desc.damping_ratio)
    return badField("damping", "give either damping or damping_ratio: each gives the other");
  if (desc.rotation_frequency_hz && !positive(*desc.rotation_frequency_hz, 1000))
    return badField("rotation_frequency_hz", "expected more than 0, at most 1000 Hz");
  if (desc.rotation_damping_ratio && !within(*desc.rotation_damping_ratio, 0, 100))
    return badField("rotation_damping_ratio", "expected 0 to 100");
  return {};
}

Result<void> validateEuler(const FleshDesc& desc) {
  if (!positive(desc.euler_step_s, 1)) return badField("euler_step_s", "expected 0 to 1 seconds");
  if (desc.integrator != FleshIntegrator::Euler) return {};
  for (const SpringConstants& spring : {springOf(desc), rotationSpringOf(desc)}) {
    if (eulerSpringIsStable(spring, desc.euler_step_s)) continue;
    const double turn = spring.omega * desc.euler_step_s;
    return badField("integrator",
                    "\"euler\" would explode: k dt^2 / m = " + std::to_string(turn * turn) +
                        " must stay below 4 - 2 c dt / m = " +
                        std::to_string(4 - 4 * spring.zeta * turn) + "; take euler_step_s below " +
                        std::to_string(eulerSpringStepBound(spring)) + ", or \"exact\"");
  }
  return {};
}

Result<void> validateShape(const FleshDesc& desc) {
  if (!within(desc.gravity, 0, 1)) return badField("gravity", "expected 0 to 1");
  if (!desc.gravity_direction.allFinite() || !(desc.gravity_direction.norm() > 0))
    return badField("gravity_direction", "expected a direction with a length");
  if (!within(desc.bone_radius_m, 0, 1e9))
    return badField("bone_radius_m", "expected 0 metres or more");
  if (desc.reach_m && !(*desc.reach_m > desc.bone_radius_m && *desc.reach_m <= 1e9))
    return badField("reach_m", "expected more than bone_radius_m");
  if (!positive(desc.shape_power, 8))
    return badField("shape_power", "expected more than 0, at most 8");
  if (!positive(desc.max_elongation, 1))
    return badField("max_elongation", "expected more than 0, at most 1");
  if (!within(desc.soft_limit, 0, 1)) return badField("soft_limit", "expected 0 to 1");
  if (!within(desc.max_slope, 0, 1)) return badField("max_slope", "expected 0 to 1");
  if (!within(desc.contact_margin_m, 0, 1e9))
    return badField("contact_margin_m", "expected 0 metres or more");
  return {};
}

}  // namespace

FleshSpring springOf(FleshSoftness softness) {
  switch (softness) {
    case FleshSoftness::Muscle:
      return {7.0, 0.3};
    case FleshSoftness::Fat:
      return {4.5, 0.2};
    case FleshSoftness::Belly:
      return {3.0, 0.15};
    case FleshSoftness::Jelly:
      return {2.0, 0.08};
  }
  return {};
}

SpringConstants springOf(const FleshDesc& desc) {
  const FleshSpring named = springOf(desc.softness);
  SpringConstants out;
  out.omega = desc.stiffness
                  ? std::sqrt(*desc.stiffness / desc.mass_kg)
                  : 2 * std::numbers::pi * desc.frequency_hz.value_or(named.frequency_hz);
  out.zeta = desc.damping ? *desc.damping / (2 * desc.mass_kg * out.omega)
                          : desc.damping_ratio.value_or(named.damping_ratio);
  return out;
}

SpringConstants rotationSpringOf(const FleshDesc& desc) {
  SpringConstants out = springOf(desc);
  if (desc.rotation_frequency_hz) out.omega = 2 * std::numbers::pi * *desc.rotation_frequency_hz;
  if (desc.rotation_damping_ratio) out.zeta = *desc.rotation_damping_ratio;
  return out;
}

Result<void> validate(const FleshDesc& desc, const Skeleton& skeleton) {
  DERM_CHECK(validateJoints(desc, skeleton));
  DERM_CHECK(validateSpring(desc));
  DERM_CHECK(validateEuler(desc));
  DERM_CHECK(validateShape(desc));
  return validate(desc.contact, skeleton.size());
}

}  // namespace derm
