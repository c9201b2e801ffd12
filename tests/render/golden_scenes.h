#pragma once

#include <functional>
#include <string>
#include <vector>

#include "derm/base/result.h"
#include "derm/image/rgba8_image.h"
#include "derm/render/offscreen_renderer.h"

namespace derm::golden {

/// A picture that must not change unnoticed.
struct Scene {
  std::string name;  ///< of its file in tests/golden, without ".png"
  std::function<Result<Rgba8Image>(OffscreenRenderer&)> draw;
};

const std::vector<Scene>& scenes();

}  // namespace derm::golden
