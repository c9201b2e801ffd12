#include "track/vision.h"

namespace derm::detail::vision {

Result<const Functions*> functions() {
  return Error{
      ErrorCode::Unsupported,
      "this derm was built without OpenCV, which tracking needs: install "
      "libopencv-video-dev, libopencv-calib3d-dev and libopencv-imgproc-dev, and configure "
      "with -DDERM_WITH_OPENCV=ON",
      {}};
}

}  // namespace derm::detail::vision
