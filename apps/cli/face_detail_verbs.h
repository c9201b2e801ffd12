#pragma once

#include <string>

#include "derm/base/result.h"
#include "derm/face/photo_light.h"
#include "derm/image/float_image.h"

#include "verbs.h"

/// What `derm face detail` can do, a file for each group.
namespace derm::cli {

/// How a normal map is written: --bits, --green.
struct MapFileOptions {
  int bits = 8;
  std::string green = "up";

  void addTo(CLI::App& verb);
  /// A .png of unit normals, y up.
  Result<void> save(const std::string& file, const FloatImage& normals) const;
};

/// "AZIMUTH,ELEVATION" in degrees.
Result<PhotoLight> photoLight(const std::string& text);

void addFaceDetailMaps(CLI::App& detail, Run& run);   ///< draw, sculpt, convert
void addFaceDetailPlay(CLI::App& detail, Run& run);   ///< preview, bake, export
void addFaceDetailCurve(CLI::App& detail, Run& run);  ///< curve

}  // namespace derm::cli
