#include "track/marker_patches.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include <Eigen/Cholesky>
#include <Eigen/LU>

namespace derm::detail {
namespace {

/// Of two markers in one square, how many windows they may be apart.
constexpr double kPairWindows = 2;

/// Copies a rectangle, the picture's edges repeated.
void cut(const Grey8Image& image, int left, int top, int width, int height, std::uint8_t* out,
         int stride) {
  const bool inside = left >= 0 && left + width <= image.width;
  for (int y = 0; y < height; ++y) {
    const int row = std::clamp(top + y, 0, image.height - 1);
    const std::uint8_t* const line =
        image.pixels.data() + static_cast<std::size_t>(row) * static_cast<std::size_t>(image.width);
    std::uint8_t* const to = out + static_cast<std::ptrdiff_t>(y) * stride;
    if (inside) {
      std::copy_n(line + left, width, to);
    } else {
      for (int x = 0; x < width; ++x) to[x] = line[std::clamp(left + x, 0, image.width - 1)];
    }
  }
}

std::uint8_t byteOf(float value) {
  return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 255.0f) + 0.5f);
}

class Clock {
 public:
  explicit Clock(double& sum) : sum_(sum), start_(std::chrono::steady_clock::now()) {}
  ~Clock() {
    sum_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

 private:
  double& sum_;
  std::chrono::steady_clock::time_point start_;
};

Error failed(const vision::Functions& library) {
  return Error{ErrorCode::BadData, std::string("OpenCV: ") + library.lastError(), {}};
}

}  // namespace

MarkerPatches::MarkerPatches(const Grey8Image& first, std::span<const Point2> positions, int window)
    : window_(window), tile_(window + 2 * (kSlack + 1)), reach_(tile_) {
  const int side = 2 * reach_ + 1;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(side) * static_cast<std::size_t>(side));
  for (const Point2& p : positions) {
    Patch& patch = patches_.emplace_back();
    patch.position = p;
    patch.left = static_cast<int>(std::lround(p.x())) - reach_;
    patch.top = static_cast<int>(std::lround(p.y())) - reach_;
    cut(first, patch.left, patch.top, side, side, bytes.data(), side);
    patch.values.assign(bytes.begin(), bytes.end());
    // The middle value of the window's rim.
    std::vector<float> rim;
    const int half = window / 2;
    for (int k = -half; k < half; ++k)
      for (const auto& [x, y] : {std::pair{k, -half}, {half, k}, {-k, half}, {-half, -k}})
        rim.push_back(patch.values[static_cast<std::size_t>((reach_ + y) * side + reach_ + x)]);
    std::nth_element(rim.begin(), rim.begin() + static_cast<std::ptrdiff_t>(rim.size() / 2),
                     rim.end());
    patch.skin = std::max(1.0f, rim[rim.size() / 2]);
  }
  // A hand that covers a corner of the square should not make the marker in its middle unlike.
  const double sigma = 0.3 * window;
  const int half = window / 2;
  for (int y = -half; y <= half; ++y)
    for (int x = -half; x <= half; ++x)
      weights_.push_back(static_cast<float>(std::exp(-0.5 * (x * x + y * y) / (sigma * sigma))));
  warped_.resize(static_cast<std::size_t>(tile_) * static_cast<std::size_t>(tile_));
}

void MarkerPatches::warp(std::size_t marker, const Eigen::Matrix2d& linear, const Point2& shift,
                         int size, float* out) const {
  const Patch& patch = patches_[marker];
  const int side = 2 * reach_ + 1;
  // A map that folds or blows up comes from neighbours that are wrong; then as it was.
  const double det = linear.determinant();
  const Eigen::Matrix2d back =
      det > 0.2 && det < 5 ? Eigen::Matrix2d(linear.inverse()) : Eigen::Matrix2d::Identity();
  const Point2 middle = patch.position - Point2(patch.left, patch.top);
  const int half = size / 2;
  const float last = static_cast<float>(side) - 1.001f;
  const float step_x = static_cast<float>(back(0, 0)), step_y = static_cast<float>(back(1, 0));
  for (int y = 0; y < size; ++y) {
    const Eigen::Vector2f row = (middle + back * (Point2(-half, y - half) - shift)).cast<float>();
    for (int x = 0; x < size; ++x) {
      const float px = std::clamp(row.x() + step_x * static_cast<float>(x), 0.0f, last);
      const float py = std::clamp(row.y() + step_y * static_cast<float>(x), 0.0f, last);
      const int ix = static_cast<int>(px), iy = static_cast<int>(py);
      const float fx = px - static_cast<float>(ix), fy = py - static_cast<float>(iy);
      const float* const a = patch.values.data() + iy * side + ix;
      const float* const b = a + side;
      *out++ = (1 - fy) * (a[0] + fx * (a[1] - a[0])) + fy * (b[0] + fx * (b[1] - b[0]));
    }
  }
}

Result<void> MarkerPatches::registerAll(const vision::Functions& library, const Grey8Image& frame,
                                        std::span<Candidate> candidates) {
  if (candidates.empty()) return {};
  const int n = static_cast<int>(candidates.size());
  const int columns = static_cast<int>(std::ceil(std::sqrt(static_cast<double>(n))));
  const int rows = (n + columns - 1) / columns;
  const int width = columns * tile_, height = rows * tile_;
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  then_.assign(pixels, 0);
  now_.assign(pixels, 0);
  from_.resize(2 * candidates.size());
  to_.resize(2 * candidates.size());
  found_.assign(candidates.size(), 0);
  const int half = window_ / 2, middle = tile_ / 2;
  // Lucas-Kanade reads no more of the first frame than the window, and a pixel for derivatives and
  // one for its shift to each side.
  const int size = window_ + 4, margin = (tile_ - size) / 2;

  for (int i = 0; i < n; ++i) {
    const Candidate& c = candidates[static_cast<std::size_t>(i)];
    const int left = (i % columns) * tile_, top = (i / columns) * tile_;
    std::uint8_t* const now = now_.data() + top * width + left;
    std::uint8_t* const then = then_.data() + top * width + left;
    const int cx = static_cast<int>(std::lround(c.position.x()));
    const int cy = static_cast<int>(std::lround(c.position.y()));
    const Point2 shift = c.position - Point2(cx, cy);
    cut(frame, cx - middle, cy - middle, tile_, tile_, now, width);
    warp(c.marker, c.linear, shift, size, warped_.data());
    // The light may have changed: same mean and contrast inside the window.
    float sum_a = 0, sum_b = 0, aa = 0, bb = 0, sum_w = 0;
    const float* w = weights_.data();
    for (int y = 0; y < window_; ++y) {
      const float* const a = warped_.data() + (y + 2) * size + 2;
      const std::uint8_t* const b = now + (y + middle - half) * width + middle - half;
      for (int x = 0; x < window_; ++x, ++w) {
        const float value = b[x];
        sum_w += *w, sum_a += *w * a[x], sum_b += *w * value;
        aa += *w * a[x] * a[x], bb += *w * value * value;
      }
    }
    const float mean_a = sum_a / sum_w, mean_b = sum_b / sum_w;
    const float var_a = std::max(1.0f, aa / sum_w - mean_a * mean_a);
    const float var_b = std::max(1.0f, bb / sum_w - mean_b * mean_b);
    const float gain = std::clamp(std::sqrt(var_b / var_a), 0.4f, 2.5f);
    const float offset = mean_b - gain * mean_a;
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        then[(y + margin) * width + x + margin] =
            byteOf(gain * warped_[static_cast<std::size_t>(y * size + x)] + offset);
    const std::size_t k = 2 * static_cast<std::size_t>(i);
    from_[k] = to_[k] = static_cast<float>(left + middle + shift.x());
    from_[k + 1] = to_[k + 1] = static_cast<float>(top + middle + shift.y());
  }

  const vision::GreyView then_view{then_.data(), width, height, width};
  const vision::GreyView now_view{now_.data(), width, height, width};
  const vision::FlowDesc desc{window_, 0, 20, 0.005};
  {
    const Clock clock(library_s_);
    if (library.flowFlat(&then_view, &now_view, from_.data(), to_.data(), found_.data(), n, &desc))
      return failed(library);
  }

  for (int i = 0; i < n; ++i) {
    Candidate& c = candidates[static_cast<std::size_t>(i)];
    const std::size_t k = 2 * static_cast<std::size_t>(i);
    const Point2 step(static_cast<double>(to_[k] - from_[k]),
                      static_cast<double>(to_[k + 1] - from_[k + 1]));
    c.likeness = 0;
    c.moved = step.norm();
    // What moves farther compares with the neighbouring little picture.
    if (found_[static_cast<std::size_t>(i)] == 0 || !(step.cwiseAbs().maxCoeff() < kSlack))
      continue;
    const int left = (i % columns) * tile_, top = (i / columns) * tile_;
    const int ix = static_cast<int>(std::floor(step.x()));
    const int iy = static_cast<int>(std::floor(step.y()));
    const float fx = static_cast<float>(step.x()) - static_cast<float>(ix);
    const float fy = static_cast<float>(step.y()) - static_cast<float>(iy);
    float sum_a = 0, sum_b = 0, aa = 0, bb = 0, ab = 0, sum_w = 0;
    const float* w = weights_.data();
    for (int y = middle - half; y <= middle + half; ++y) {
      const std::uint8_t* const then = then_.data() + (top + y) * width + left + middle - half;
      const std::uint8_t* const p =
          now_.data() + (top + y + iy) * width + left + middle - half + ix;
      const std::uint8_t* const q = p + width;
      for (int x = 0; x < window_; ++x, ++w) {
        const float a = then[x];
        const float b =
            (1 - fy) * ((1 - fx) * p[x] + fx * p[x + 1]) + fy * ((1 - fx) * q[x] + fx * q[x + 1]);
        sum_w += *w, sum_a += *w * a, sum_b += *w * b;
        aa += *w * a * a, bb += *w * b * b, ab += *w * a * b;
      }
    }
    const float var_a = aa - sum_a * sum_a / sum_w, var_b = bb - sum_b * sum_b / sum_w;
    const float both = ab - sum_a * sum_b / sum_w;
    // Correlation does not ask how strong a pattern is: less contrast than a grey level is no look
    // at all, and what is a quarter or four times as strong as the light explains is another thing.
    const float ratio = var_a > 0 ? var_b / var_a : 0.0f;
    if (var_a > sum_w && var_b > sum_w && ratio > 0.4f && ratio < 2.5f)
      c.likeness = static_cast<double>(both / std::sqrt(var_a * var_b));
    c.position += step;
  }
  return {};
}

float MarkerPatches::lookAt(std::size_t marker, const Eigen::Matrix2d& back,
                            const Point2& from_marker) const {
  const Patch& patch = patches_[marker];
  const int side = 2 * reach_ + 1;
  // Beyond the window it is skin, and whatever else was there in the first frame.
  const double half = window_ / 2;
  const Point2 offset = back * from_marker;
  if (!(offset.cwiseAbs().maxCoeff() < half)) return 1.0f;
  const Point2 at = patch.position - Point2(patch.left, patch.top) + offset;
  const int ix = static_cast<int>(at.x()), iy = static_cast<int>(at.y());
  const float fx = static_cast<float>(at.x() - ix), fy = static_cast<float>(at.y() - iy);
  const float* const a = patch.values.data() + iy * side + ix;
  const float* const b = a + side;
  return ((1 - fy) * (a[0] + fx * (a[1] - a[0])) + fy * (b[0] + fx * (b[1] - b[0]))) / patch.skin;
}

void MarkerPatches::registerPair(const Grey8Image& frame, Candidate& a, Candidate& b) const {
  a.likeness = b.likeness = 0;
  // A lost marker may be thought anywhere: a square that shows both would grow with the picture.
  const double apart = (a.position - b.position).norm();
  if (!(apart <= kPairWindows * window_)) return;
  const Point2 middle = 0.5 * (a.position + b.position);
  const double reach = 0.5 * apart + window_ / 2;
  const int left = static_cast<int>(std::floor(middle.x() - reach));
  const int top = static_cast<int>(std::floor(middle.y() - reach));
  const int size = static_cast<int>(std::ceil(2 * reach)) + 1;
  if (left < 0 || top < 0 || left + size > frame.width || top + size > frame.height) return;
  const auto inverse = [](const Eigen::Matrix2d& linear) {
    const double det = linear.determinant();
    return det > 0.2 && det < 5 ? Eigen::Matrix2d(linear.inverse())
                                : Eigen::Matrix2d(Eigen::Matrix2d::Identity());
  };
  const Eigen::Matrix2d back_a = inverse(a.linear), back_b = inverse(b.linear);
  using Pair = Eigen::Vector4d;
  const std::size_t pixels = static_cast<std::size_t>(size) * static_cast<std::size_t>(size);
  std::vector<float> seen(pixels);
  for (int y = 0; y < size; ++y)
    for (int x = 0; x < size; ++x)
      seen[static_cast<std::size_t>(y * size + x)] =
          frame.pixels[static_cast<std::size_t>(top + y) * static_cast<std::size_t>(frame.width) +
                       static_cast<std::size_t>(left + x)];

  const auto look = [&](const Pair& p, std::vector<float>& out) {
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x) {
        const Point2 at(left + x, top + y);
        const float la = lookAt(a.marker, back_a, at - p.head<2>());
        const float lb = lookAt(b.marker, back_b, at - p.tail<2>());
        out[static_cast<std::size_t>(y * size + x)] = std::abs(la - 1) > std::abs(lb - 1) ? la : lb;
      }
  };
  /// The light is matched: gain and offset by least squares. What is left, and the correlation.
  const auto compare = [&](const std::vector<float>& model, double& gain, double& offset,
                           double& likeness) {
    double m = 0, s = 0, mm = 0, ss = 0, ms = 0;
    const double n = static_cast<double>(pixels);
    for (std::size_t i = 0; i < pixels; ++i) {
      const double u = static_cast<double>(model[i]), v = static_cast<double>(seen[i]);
      m += u, s += v, mm += u * u, ss += v * v, ms += u * v;
    }
    const double var_m = mm - m * m / n, var_s = ss - s * s / n, both = ms - m * s / n;
    gain = var_m > 0 ? both / var_m : 0;
    offset = (s - gain * m) / n;
    likeness = var_m > 0 && var_s > n ? both / std::sqrt(var_m * var_s) : 0;
    return var_m > 0 ? var_s - both * both / var_m : var_s;
  };

  Pair at;
  at << a.position, b.position;
  const Pair start = at;
  std::vector<float> model(pixels), moved(pixels);
  std::array<std::vector<float>, 4> slopes;
  for (std::vector<float>& s : slopes) s.resize(pixels);
  double gain = 0, offset = 0, likeness = 0, damping = 1e-3;
  look(at, model);
  double error = compare(model, gain, offset, likeness);
  constexpr double kStep = 0.3;  // [px] of differences: less would see single pixels' noise
  for (int iteration = 0; iteration < 12; ++iteration) {
    for (int k = 0; k < 4; ++k) {
      Pair next = at;
      next[k] += kStep;
      look(next, slopes[static_cast<std::size_t>(k)]);
      next[k] -= 2 * kStep;
      look(next, moved);
      for (std::size_t i = 0; i < pixels; ++i) {
        float& slope = slopes[static_cast<std::size_t>(k)][i];
        slope = (slope - moved[i]) / static_cast<float>(2 * kStep);
      }
    }
    Eigen::Matrix4d normal = Eigen::Matrix4d::Zero();
    Pair right = Pair::Zero();
    for (std::size_t i = 0; i < pixels; ++i) {
      const double rest =
          static_cast<double>(seen[i]) - offset - gain * static_cast<double>(model[i]);
      Pair row;
      for (int k = 0; k < 4; ++k)
        row[k] = gain * static_cast<double>(slopes[static_cast<std::size_t>(k)][i]);
      normal += row * row.transpose();
      right += rest * row;
    }
    // One dot exactly behind the other has no slope: a little of the mean holds it.
    const double held = 1e-3 * normal.trace() + 1e-9;
    bool better = false;
    for (int attempt = 0; attempt < 4 && !better; ++attempt) {
      Eigen::Matrix4d system = normal;
      system.diagonal() *= 1 + damping;
      system.diagonal().array() += held;
      Pair step = system.ldlt().solve(right);
      step = step.cwiseMax(-2.0).cwiseMin(2.0);
      const Pair next = at + step;
      look(next, moved);
      double next_gain = 0, next_offset = 0, next_likeness = 0;
      const double next_error = compare(moved, next_gain, next_offset, next_likeness);
      if (next_error < error) {
        better = true;
        damping *= 0.3;
        const bool small = step.cwiseAbs().maxCoeff() < 0.02;
        at = next, error = next_error, gain = next_gain, offset = next_offset;
        likeness = next_likeness;
        model.swap(moved);
        if (small) iteration = 12;
      } else {
        damping = damping * 10 + 1e-3;
      }
    }
    if (!better) break;
  }
  if (!at.allFinite()) return;
  a.position = at.head<2>();
  b.position = at.tail<2>();
  a.moved = (at - start).head<2>().norm();
  b.moved = (at - start).tail<2>().norm();
  a.likeness = b.likeness = likeness;
}

Result<void> MarkerPatches::search(const vision::Functions& library, const Grey8Image& frame,
                                   int radius, Candidate& candidate) {
  const int side = window_ + 2 * radius;
  const int cx = static_cast<int>(std::lround(candidate.position.x()));
  const int cy = static_cast<int>(std::lround(candidate.position.y()));
  candidate.likeness = 0;
  // Nothing to be found outside the picture.
  if (cx < 0 || cy < 0 || cx >= frame.width || cy >= frame.height) return {};
  const std::size_t pixels = static_cast<std::size_t>(side) * static_cast<std::size_t>(side);
  now_.resize(std::max(now_.size(), pixels));
  cut(frame, cx - side / 2, cy - side / 2, side, side, now_.data(), side);
  warp(candidate.marker, candidate.linear, Point2::Zero(), window_, warped_.data());
  const std::size_t count = static_cast<std::size_t>(window_) * static_cast<std::size_t>(window_);
  then_.resize(std::max(then_.size(), count));
  for (std::size_t i = 0; i < count; ++i) then_[i] = byteOf(warped_[i]);
  const vision::GreyView picture{now_.data(), side, side, side};
  const vision::GreyView pattern{then_.data(), window_, window_, window_};
  int x = 0, y = 0;
  float score = 0;
  {
    const Clock clock(library_s_);
    if (library.match(&picture, &pattern, &x, &y, &score)) return failed(library);
  }
  candidate.position = Point2(cx - radius + x, cy - radius + y);
  candidate.likeness = static_cast<double>(score);
  return {};
}

}  // namespace derm::detail
