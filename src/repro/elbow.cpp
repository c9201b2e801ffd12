#include "repro/elbow.h"

#include <cmath>
#include <memory>
#include <utility>

#include "derm/base/number_text.h"
#include "derm/cast/cylinder.h"

namespace derm::detail::repro {

std::string degrees(double angle) { return shortNumber(angle) + "°"; }

TubeWeights powerWeights(double alpha) {
  return [alpha](const Vec3d& p, std::size_t joint) {
    const double near = std::pow(p.norm(), alpha);
    const double far = std::pow((p - Vec3d(0, 0, 20)).norm(), alpha);
    return joint == 0 ? far : joint == 1 ? near : 0.0;
  };
}

Result<Rgba8Image> tubePicture(const TubeWeights& weights, const Shot& shot, Diagnostics& notes) {
  Character c = tube({}, weights);
  c.clips.push_back(bendingClip({0, 30, 60, 90}));
  DERM_TRY(
      Scene scene,
      sceneOf("character = \"cast:cylinder\"\nclip = \"bend\"\n[skinning]\nmethod = \"linear\"\n",
              notes, std::make_shared<const Character>(std::move(c))));
  return pictureOf(scene, shot, notes);
}

Shot elbowShot() {
  Shot shot{.time_s = 3, .yaw_deg = 45, .pitch_deg = 82, .zoom = 1.6, .height = 400};
  shot.view.focus = "j1";
  shot.view.wireframe = true;
  return shot;
}

std::string bareCylinder(std::string_view method) {
  return "character = \"cast:cylinder\"\nclip = \"bend\"\n[skinning]\nmethod = \"" +
         std::string(method) + "\"\n";
}

std::string heldCylinder(std::string_view method, std::string_view keys) {
  return bareCylinder("linear") +
         "[[layer]]\ntype = \"volume\"\npreset = \"fidelity\"\nregions = \"whole\"\nmethod = \"" +
         std::string(method) + "\"\n" + std::string(keys);
}

}  // namespace derm::detail::repro
