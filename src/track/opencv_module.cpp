// The module derm_track_opencv: all of derm that knows OpenCV. Exceptions end here.
#include <algorithm>
#include <cmath>
#include <exception>
#include <string>
#include <vector>

#include <opencv2/calib3d.hpp>
#include <opencv2/core.hpp>
#include <opencv2/core/utility.hpp>
#include <opencv2/imgproc.hpp>
#include <opencv2/video/tracking.hpp>

#include "track/vision.h"

namespace derm::detail::vision {
namespace {

thread_local std::string last_error;

template <class Work>
int guarded(Work&& work) {
  try {
    work();
    return 0;
  } catch (const cv::Exception& e) {
    last_error = e.err.empty() ? "OpenCV failed" : e.err;
  } catch (const std::exception& e) {
    last_error = e.what();
  } catch (...) {
    last_error = "unknown failure";
  }
  return 1;
}

cv::Mat matOf(const GreyView& view) {
  // OpenCV has no const picture; none of the functions below writes to it.
  return cv::Mat(view.height, view.width, CV_8UC1, const_cast<std::uint8_t*>(view.pixels),
                 static_cast<std::size_t>(view.stride));
}

cv::TermCriteria criteria(const FlowDesc& desc) {
  return cv::TermCriteria(cv::TermCriteria::COUNT + cv::TermCriteria::EPS, desc.iterations,
                          desc.precision);
}

struct Pyramid {
  std::vector<cv::Mat> levels;
  int count = 0;  ///< halvings that the picture was large enough for
};

int fillPyramid(void* pyramid, const GreyView* picture, const FlowDesc* desc) {
  return guarded([&] {
    Pyramid& out = *static_cast<Pyramid*>(pyramid);
    out.count = cv::buildOpticalFlowPyramid(matOf(*picture), out.levels,
                                            cv::Size(desc->window, desc->window), desc->levels,
                                            /*withDerivatives=*/true, cv::BORDER_REFLECT_101,
                                            cv::BORDER_CONSTANT, /*tryReuseInputImage=*/false);
  });
}

void runFlow(cv::InputArray from_picture, cv::InputArray to_picture, const float* from, float* to,
             std::uint8_t* found, int count, int levels, const FlowDesc& desc) {
  if (count == 0) return;
  const cv::Mat start(count, 1, CV_32FC2, const_cast<float*>(from));
  cv::Mat end(count, 1, CV_32FC2, to);
  cv::Mat status(count, 1, CV_8UC1, found);
  cv::calcOpticalFlowPyrLK(from_picture, to_picture, start, end, status, cv::noArray(),
                           cv::Size(desc.window, desc.window), levels, criteria(desc),
                           cv::OPTFLOW_USE_INITIAL_FLOW, 1e-4);
  // Of the right size and type they are filled where they are.
  CV_Assert(end.data == reinterpret_cast<std::uint8_t*>(to) && status.data == found);
}

int flow(const void* from_pyramid, const void* to_pyramid, const float* from, float* to,
         std::uint8_t* found, int count, const FlowDesc* desc) {
  return guarded([&] {
    const Pyramid& a = *static_cast<const Pyramid*>(from_pyramid);
    const Pyramid& b = *static_cast<const Pyramid*>(to_pyramid);
    runFlow(a.levels, b.levels, from, to, found, count, std::min(a.count, b.count), *desc);
  });
}

int flowFlat(const GreyView* from_picture, const GreyView* to_picture, const float* from, float* to,
             std::uint8_t* found, int count, const FlowDesc* desc) {
  return guarded(
      [&] { runFlow(matOf(*from_picture), matOf(*to_picture), from, to, found, count, 0, *desc); });
}

int match(const GreyView* picture, const GreyView* pattern, int* x, int* y, float* score) {
  return guarded([&] {
    cv::Mat scores;
    cv::matchTemplate(matOf(*picture), matOf(*pattern), scores, cv::TM_CCOEFF_NORMED);
    double best = 0;
    cv::Point where;
    cv::minMaxLoc(scores, nullptr, &best, nullptr, &where);
    *x = where.x;
    *y = where.y;
    // Flat ground has no correlation with anything; OpenCV gives 1 or worse there.
    *score = std::isfinite(best) && best <= 1.0001 ? static_cast<float>(best) : 0.0f;
  });
}

/// A piece of a picture above a threshold, as a dot if it is one.
bool dotOf(const cv::Mat& contrast, const cv::Mat& labels, const cv::Mat& stats, int piece,
           double threshold, float min_radius, float max_radius, Dot& out) {
  const int left = stats.at<int>(piece, cv::CC_STAT_LEFT);
  const int top = stats.at<int>(piece, cv::CC_STAT_TOP);
  const int width = stats.at<int>(piece, cv::CC_STAT_WIDTH);
  const int height = stats.at<int>(piece, cv::CC_STAT_HEIGHT);
  const double area = stats.at<int>(piece, cv::CC_STAT_AREA);
  const double radius = std::sqrt(area / CV_PI);
  if (left == 0 || top == 0 || left + width == contrast.cols || top + height == contrast.rows)
    return false;
  if (radius < static_cast<double>(min_radius) || radius > static_cast<double>(max_radius))
    return false;
  std::uint8_t peak = 0;
  double sum = 0, sum_x = 0, sum_y = 0;
  double area_x = 0, area_y = 0, xx = 0, xy = 0, yy = 0;
  for (int y = top; y < top + height; ++y)
    for (int x = left; x < left + width; ++x) {
      if (labels.at<int>(y, x) != piece) continue;
      const std::uint8_t value = contrast.at<std::uint8_t>(y, x);
      peak = std::max(peak, value);
      // What is above the threshold only: so the border's pixels count little, and where exactly it
      // was drawn does not matter.
      const double w = value - threshold + 1;
      const double dx = x - left, dy = y - top;
      sum += w, sum_x += w * dx, sum_y += w * dy;
      area_x += dx, area_y += dy, xx += dx * dx, xy += dx * dy, yy += dy * dy;
    }
  // Roundness of the area, from its second moments; a disc fills the ellipse that has them.
  const double cx = area_x / area, cy = area_y / area;
  const double a = xx / area - cx * cx, b = xy / area - cx * cy, c = yy / area - cy * cy;
  const double middle = 0.5 * (a + c) + 1.0 / 12;
  const double spread = std::sqrt(0.25 * (a - c) * (a - c) + b * b);
  if (!(middle > spread)) return false;
  const double roundness = std::sqrt((middle - spread) / (middle + spread));
  const double filled = area / (4 * CV_PI * std::sqrt(middle * middle - spread * spread));
  if (roundness < 0.4 || filled < 0.85) return false;
  out = {static_cast<float>(left + sum_x / sum), static_cast<float>(top + sum_y / sum),
         static_cast<float>(radius), static_cast<float>(peak), static_cast<float>(roundness)};
  return true;
}

/// What is darker than its surroundings, at several thresholds: a dot in a shadow is one with it at
/// low ones, a faint one is gone at high ones.
int dots(const GreyView* picture, int bright, float min_radius, float max_radius,
         float min_contrast, Dot* out, int capacity, int* count) {
  return guarded([&] {
    const cv::Mat grey = matOf(*picture);
    const int around = 2 * static_cast<int>(std::ceil(2.0f * max_radius)) + 1;
    cv::Mat smooth, surroundings, contrast;
    cv::GaussianBlur(grey, smooth, cv::Size(0, 0),
                     std::clamp(0.3 * static_cast<double>(min_radius), 0.6, 3.0));
    // The median, unlike the mean, is the skin's own value as long as dots cover less than half.
    if (around <= 255) {
      cv::medianBlur(grey, surroundings, around);
    } else {
      cv::blur(grey, surroundings, cv::Size(around, around));
    }
    if (bright != 0) {
      cv::subtract(smooth, surroundings, contrast);
    } else {
      cv::subtract(surroundings, smooth, contrast);
    }
    std::vector<Dot> found;
    for (double threshold = static_cast<double>(min_contrast); threshold < 250; threshold *= 1.25) {
      const cv::Mat mask = contrast >= threshold;
      cv::Mat labels, stats, centres;
      const int pieces = cv::connectedComponentsWithStats(mask, labels, stats, centres, 8, CV_32S);
      if (pieces <= 1) break;
      for (int i = 1; i < pieces; ++i) {
        Dot dot;
        if (!dotOf(contrast, labels, stats, i, threshold, min_radius, max_radius, dot)) continue;
        const auto same = std::find_if(found.begin(), found.end(), [&](const Dot& d) {
          return std::hypot(d.x - dot.x, d.y - dot.y) < std::max(d.radius, dot.radius);
        });
        if (same == found.end()) {
          found.push_back(dot);
        } else if (2 * threshold <= static_cast<double>(dot.contrast)) {
          *same = dot;  // nearer to half of the contrast, where a blurred edge truly is
        }
      }
    }
    std::stable_sort(found.begin(), found.end(), [](const Dot& p, const Dot& q) {
      return p.contrast * p.roundness > q.contrast * q.roundness;
    });
    *count = std::min(capacity, static_cast<int>(found.size()));
    std::copy_n(found.begin(), *count, out);
  });
}

int pose(const double* points, const double* seen, int count, double focal, double centre_x,
         double centre_y, int guess, double* pose_out) {
  return guarded([&] {
    const cv::Mat object(count, 1, CV_64FC3, const_cast<double*>(points));
    const cv::Mat image(count, 1, CV_64FC2, const_cast<double*>(seen));
    const cv::Matx33d camera(focal, 0, centre_x, 0, focal, centre_y, 0, 0, 1);
    cv::Mat rotation(3, 1, CV_64F, pose_out);
    cv::Mat translation(3, 1, CV_64F, pose_out + 3);
    if (guess == 0)
      CV_Assert(cv::solvePnP(object, image, camera, cv::noArray(), rotation, translation, false,
                             cv::SOLVEPNP_SQPNP));
    cv::solvePnPRefineLM(object, image, camera, cv::noArray(), rotation, translation);
    std::copy_n(rotation.ptr<double>(), 3, pose_out);
    std::copy_n(translation.ptr<double>(), 3, pose_out + 3);
  });
}

constexpr Functions kFunctions = {
    .lastError = [] { return last_error.c_str(); },
    .libraryVersion = [] { return CV_VERSION; },
    .makePyramid = []() -> void* { return new Pyramid; },
    .freePyramid = [](void* pyramid) { delete static_cast<Pyramid*>(pyramid); },
    .fillPyramid = fillPyramid,
    .flow = flow,
    .flowFlat = flowFlat,
    .match = match,
    .dots = dots,
    .pose = pose,
};

}  // namespace
}  // namespace derm::detail::vision

extern "C" __attribute__((visibility("default"))) const derm::detail::vision::Functions*
derm_track_opencv(int version) {
  // One thread: films are tracked beside other work, and a point's flow must not depend on it.
  cv::setNumThreads(1);
  return version == derm::detail::vision::kVersion ? &derm::detail::vision::kFunctions : nullptr;
}
