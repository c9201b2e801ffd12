#include "track/vision.h"

#include "derm/base/module.h"

namespace derm::detail::vision {

Result<const Functions*> functions() {
  static const Result<const Functions*> loaded = []() -> Result<const Functions*> {
    constexpr const char* kHow = " (tracking needs OpenCV: libopencv-video, -calib3d, -imgproc)";
    Result<void*> entry = loadModuleFunction("derm_track_opencv");
    if (!entry) {
      Error e = entry.error();
      e.message += kHow;
      return e;
    }
    const auto function = reinterpret_cast<DermTrackOpencv>(*entry);
    if (const Functions* table = function(kVersion)) return table;
    return Error{ErrorCode::Unsupported,
                 "belongs to another version of derm",
                 {.file = "derm_track_opencv"}};
  }();
  return loaded;
}

}  // namespace derm::detail::vision
