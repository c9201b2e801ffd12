#include "derm/face/photo_light.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "derm/math/decompositions.h"

namespace derm {
namespace {

constexpr double kDegree = std::numbers::pi / 180;

}  // namespace

Vec3d directionOf(const PhotoLight& light) {
  const double a = light.azimuth_deg * kDegree, e = light.elevation_deg * kDegree;
  return {std::sin(a) * std::cos(e), std::sin(e), std::cos(a) * std::cos(e)};
}

PhotoLight lightFrom(const Vec3d& direction) {
  const Vec3d d = direction.normalized();
  return {std::atan2(d.x(), d.z()) / kDegree, std::asin(std::clamp(d.y(), -1.0, 1.0)) / kDegree};
}

Result<void> validate(const PhotoLight& light) {
  constexpr double kMax_deg = 85;
  if (!(std::abs(light.azimuth_deg) <= kMax_deg) || !(std::abs(light.elevation_deg) <= kMax_deg))
    return Error{ErrorCode::BadArgument,
                 "azimuth and elevation of a light must lie within 85 degrees of the camera",
                 {.element = "light"}};
  return {};
}

Result<LightEstimate> estimateLight(const FloatImage& luminance, const FloatImage& normals,
                                    const FloatImage& mask) {
  constexpr std::size_t kFewest = 100;
  constexpr int kPasses = 20;
  const auto fails = [](const char* message) {
    return Error{ErrorCode::BadData, message, {.element = "light"}};
  };
  if (luminance.channels != 1 || normals.channels != 3 || luminance.width != normals.width ||
      luminance.height != normals.height ||
      (!mask.empty() &&
       (mask.channels != 1 || mask.width != luminance.width || mask.height != luminance.height)))
    return Error{ErrorCode::BadArgument,
                 "luminance, normals and mask must be pictures of one size",
                 {.element = "light"}};
  struct Sample {
    Eigen::Vector4d row;
    double value;
  };
  std::vector<Sample> samples;
  for (std::size_t i = 0; i < luminance.values.size(); ++i) {
    if (!mask.empty() && !(mask.values[i] > 0.5f)) continue;
    const Vec3d n(static_cast<double>(normals.values[3 * i]),
                  static_cast<double>(normals.values[3 * i + 1]),
                  static_cast<double>(normals.values[3 * i + 2]));
    const auto value = static_cast<double>(luminance.values[i]);
    if (!(n.norm() > 0.5) || !n.allFinite() || !(value > 0.005) || !(value < 0.98)) continue;
    const Vec3d unit = n.normalized();
    samples.push_back({{unit.x(), unit.y(), unit.z(), 1.0}, value});
  }
  if (samples.size() < kFewest)
    return fails("too few pixels with a surface to tell the light from");
  Mat3d spread = Mat3d::Zero();
  Vec3d mean = Vec3d::Zero();
  for (const Sample& s : samples) mean += s.row.head<3>() / static_cast<double>(samples.size());
  for (const Sample& s : samples) {
    const Vec3d d = s.row.head<3>() - mean;
    spread += d * d.transpose() / static_cast<double>(samples.size());
  }
  if (symmetricEigen3(spread).values[1] < 1e-4)
    return fails("the normals hardly differ: they do not tell where the light is");
  // Skin has one brightness times its shading; what differs much is something else.
  std::vector<double> weights(samples.size(), 1.0);
  std::vector<double> errors(samples.size());
  Eigen::Vector4d found = Eigen::Vector4d::Zero();
  double deviation = 0;
  bool with_ambient = true;
  for (int pass = 0; pass < kPasses; ++pass) {
    Eigen::Matrix4d matrix = Eigen::Matrix4d::Identity() * 1e-9;
    Eigen::Vector4d right = Eigen::Vector4d::Zero();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      // In attached shadow (no direct light) the direction does not matter.
      const Eigen::Vector4d& row = samples[i].row;
      if (pass > 0 && row.head<3>().dot(found.head<3>()) <= 0) continue;
      matrix += weights[i] * row * row.transpose();
      right += weights[i] * samples[i].value * row;
    }
    if (!with_ambient) {
      matrix.row(3).setZero();
      matrix.col(3).setZero();
      matrix(3, 3) = 1;
      right[3] = 0;
    }
    found = solveSymmetric(matrix, right);
    if (found[3] < 0) {
      with_ambient = false;
      continue;
    }
    std::vector<float> sizes;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double direct = std::max(0.0, samples[i].row.head<3>().dot(found.head<3>()));
      errors[i] = samples[i].value - direct - found[3];
      sizes.push_back(static_cast<float>(std::abs(errors[i])));
    }
    const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    deviation = std::max(1e-9, 1.4826 * static_cast<double>(*middle));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const double e = errors[i] / (2 * deviation);
      weights[i] = 1 / ((1 + e * e) * (1 + e * e));
    }
  }
  const double strength = found.head<3>().norm();
  if (!(strength > 1e-6) || !(found[2] > 0.05 * strength))
    return fails("the brightness fits no light in front of the face");
  LightEstimate out;
  out.light = lightFrom(Vec3d(found.head<3>()));
  out.ambient = std::clamp(found[3] / (found[3] + strength), 0.0, 1.0);
  out.residual = deviation / (found[3] + strength);
  out.pixels = samples.size();
  return out;
}

}  // namespace derm
