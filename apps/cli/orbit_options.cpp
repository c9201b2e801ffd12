#include "orbit_options.h"

#include <numbers>

#include "verbs.h"

namespace derm::cli {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

}  // namespace

OrbitOptions::OrbitOptions()
    : yaw_deg(OrbitDesc{}.yaw_rad / kDegree),
      pitch_deg(OrbitDesc{}.pitch_rad / kDegree),
      zoom(OrbitDesc{}.zoom) {}

void OrbitOptions::addTo(CLI::App& verb) {
  verb.add_option("--yaw", yaw_deg, "[deg] camera around the scene, 0 = front")
      ->check(within(-3600.0, 3600.0));
  verb.add_option("--pitch", pitch_deg, "[deg] camera above the horizon")
      ->check(within(-90.0, 90.0));
  verb.add_option("--zoom", zoom, "2 = twice as large")->check(within(0.01, 100.0));
}

OrbitDesc OrbitOptions::orbit() const {
  OrbitDesc orbit;
  orbit.yaw_rad = yaw_deg * kDegree;
  orbit.pitch_rad = pitch_deg * kDegree;
  orbit.zoom = zoom;
  return orbit;
}

}  // namespace derm::cli
