#pragma once

#include <CLI/CLI.hpp>

#include "derm/render/camera.h"

namespace derm::cli {

/// Where the camera of a picture or film stands: --yaw, --pitch, --zoom.
struct OrbitOptions {
  double yaw_deg;
  double pitch_deg;
  double zoom;

  OrbitOptions();  ///< as OrbitDesc has them
  void addTo(CLI::App& verb);
  OrbitDesc orbit() const;
};

}  // namespace derm::cli
