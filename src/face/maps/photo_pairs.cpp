#include "face/maps/photo_pairs.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>

#include "derm/math/rbf.h"

namespace derm::detail::maps {
namespace {

using Point = RbfPoint<2>;

struct Common {
  std::vector<std::string> labels;
  std::vector<Point> from, to;
};

Common commonLandmarks(std::span<const PhotoLandmark> from, std::span<const PhotoLandmark> to,
                       const std::string& name, Diagnostics& notes) {
  Common out;
  const auto find = [](std::span<const PhotoLandmark> list, const std::string& label) {
    return std::find_if(list.begin(), list.end(),
                        [&](const PhotoLandmark& l) { return l.label == label; });
  };
  for (const PhotoLandmark& a : from) {
    const auto b = find(to, a.label);
    if (b == to.end()) {
      notes.warn("landmark-unmatched", name, "landmark \"" + a.label + "\" is on one photo only");
      continue;
    }
    out.labels.push_back(a.label);
    out.from.emplace_back(a.position);
    out.to.emplace_back(b->position);
  }
  for (const PhotoLandmark& b : to)
    if (find(from, b.label) == from.end())
      notes.warn("landmark-unmatched", name, "landmark \"" + b.label + "\" is on one photo only");
  return out;
}

/// Two landmarks that change places against each other, once the photo as a whole is laid on the
/// other one (similarity): left for right, or a typing error. Skin stretches, it does not turn
/// over.
Result<void> checkCrossed(const Common& c, const std::string& name) {
  using Complex = std::complex<double>;
  const auto n = static_cast<double>(c.from.size());
  Complex mean_from = 0, mean_to = 0;
  for (std::size_t i = 0; i < c.from.size(); ++i) {
    mean_from += Complex(c.from[i].x(), c.from[i].y()) / n;
    mean_to += Complex(c.to[i].x(), c.to[i].y()) / n;
  }
  Complex top = 0;
  double below = 0;
  for (std::size_t i = 0; i < c.from.size(); ++i) {
    const Complex a = Complex(c.from[i].x(), c.from[i].y()) - mean_from;
    top += std::conj(a) * (Complex(c.to[i].x(), c.to[i].y()) - mean_to);
    below += std::norm(a);
  }
  const double extent = std::sqrt(below / n);
  const auto fails = [&](const std::string& message) {
    return Error{ErrorCode::BadData, message, {.element = name + ".landmarks"}};
  };
  if (!(extent > 1)) return fails("the landmarks lie at one place");
  const Complex similarity = top / below;
  std::string pairs;
  int found = 0;
  for (std::size_t i = 0; i < c.from.size(); ++i)
    for (std::size_t j = i + 1; j < c.from.size(); ++j) {
      const Point a = c.from[j] - c.from[i], b = c.to[j] - c.to[i];
      const Complex turned = similarity * Complex(a.x(), a.y());
      // Lips and lids may meet; they do not pass each other by more than a little.
      const double along = (std::conj(turned) * Complex(b.x(), b.y())).real();
      if (std::abs(turned) == 0 || a.norm() < 0.02 * extent || along > -0.25 * std::norm(turned))
        continue;
      if (++found <= 4)
        pairs += (pairs.empty() ? "\"" : ", \"") + c.labels[i] + "\" and \"" + c.labels[j] + "\"";
    }
  if (std::abs(similarity) < 1e-3 || found > 0)
    return fails("landmarks cross: " + (pairs.empty() ? "all of them" : pairs) +
                 (found > 4 ? " and others" : "") + " change places between the photos");
  return {};
}

/// Thin plates on a grid of every eighth pixel, with room around the window for what alignment
/// adds.
struct PositionGrid {
  static constexpr int kStep = 8, kMargin = 8;
  Plane x, y;
};

}  // namespace

Plane reducedBy(const Plane& plane, int factor) {
  if (factor == 1) return plane;
  Plane out(plane.width / factor, plane.height / factor);
  const float share = 1 / static_cast<float>(factor * factor);
  forRows(out.height, [&](int y) {
    float* to = out.row(y);
    for (int j = 0; j < factor; ++j) {
      const float* from = plane.row(y * factor + j);
      for (int x = 0; x < out.width; ++x)
        for (int i = 0; i < factor; ++i) to[x] += from[x * factor + i];
    }
    RowMap(to, out.width) *= share;
  });
  return out;
}

Photo reducedPhoto(const FloatImage& image, int factor) {
  const bool has_alpha = image.channels % 2 == 0, grey = image.channels < 3;
  const auto channels = static_cast<std::size_t>(image.channels);
  Photo out{Plane(image.width / factor, image.height / factor),
            Plane(image.width / factor, image.height / factor, 1)};
  const float share = 1 / static_cast<float>(factor * factor);
  forRows(out.luminance.height, [&](int y) {
    float *to = out.luminance.row(y), *known = out.known.row(y);
    for (int j = 0; j < factor; ++j) {
      const float* v = image.values.data() + static_cast<std::size_t>(y * factor + j) *
                                                 static_cast<std::size_t>(image.width) * channels;
      for (int x = 0; x < out.luminance.width; ++x)
        for (int i = 0; i < factor; ++i, v += channels) {
          to[x] += grey ? v[0] : 0.2126f * v[0] + 0.7152f * v[1] + 0.0722f * v[2];
          if (has_alpha && v[channels - 1] < 0.5f) known[x] = 0;
        }
    }
    RowMap(to, out.luminance.width) *= share;
  });
  return out;
}

Result<void> validatePhoto(const FloatImage& image, const std::string& name) {
  const auto fails = [&](const char* message) {
    return Error{ErrorCode::BadData, message, {.element = name}};
  };
  if (image.width < 16 || image.height < 16) return fails("is smaller than 16 x 16 pixels");
  if (image.channels < 1 || image.channels > 4 ||
      image.values.size() != static_cast<std::size_t>(image.width) *
                                 static_cast<std::size_t>(image.height) *
                                 static_cast<std::size_t>(image.channels))
    return fails("has not as many values as pixels");
  const bool finite = Eigen::Map<const Eigen::ArrayXf>(
                          image.values.data(), static_cast<Eigen::Index>(image.values.size()))
                          .isFinite()
                          .all();
  if (!finite) return fails("has pixels that are not finite");
  return {};
}

Plane cut(const Plane& plane, const Window& window) {
  if (window.x == 0 && window.y == 0 && window.width == plane.width &&
      window.height == plane.height)
    return plane;
  Plane out(window.width, window.height);
  for (int y = 0; y < window.height; ++y)
    std::copy_n(plane.row(window.y + y) + window.x, window.width, out.row(y));
  return out;
}

Result<CoarseMap> landmarkMap(std::span<const PhotoLandmark> from,
                              std::span<const PhotoLandmark> to, int factor, const Window& window,
                              const std::string& name, Diagnostics& notes) {
  const auto left = static_cast<float>(window.x), top = static_cast<float>(window.y);
  if (from.empty() && to.empty())
    return CoarseMap([left, top](int y, std::span<const float> dx, std::span<const float> dy,
                                 std::span<float> out_x, std::span<float> out_y) {
      for (std::size_t x = 0; x < out_x.size(); ++x) {
        out_x[x] = left + static_cast<float>(x) + dx[x];
        out_y[x] = top + static_cast<float>(y) + dy[x];
      }
    });
  for (const auto& list : {from, to})
    for (const PhotoLandmark& l : list)
      if (!l.position.allFinite())
        return Error{ErrorCode::BadData,
                     "landmark \"" + l.label + "\" is not at a finite position",
                     {.element = name + ".landmarks"}};
  const Common common = commonLandmarks(from, to, name, notes);
  if (common.from.size() < 3)
    return Error{ErrorCode::BadData,
                 "both photos have " + std::to_string(common.from.size()) +
                     " landmarks in common; at least 3 are needed",
                 {.element = name + ".landmarks"}};
  DERM_CHECK(checkCrossed(common, name));
  DERM_TRY(const RbfMap22 map,
           RbfMap22::bind(common.from, common.to, {.kernel = RbfKernel::ThinPlate}, notes));
  // Thin plates are smooth: cubic steps between every eighth pixel are theirs to 1e-3 px.
  const auto grid = std::make_shared<PositionGrid>();
  constexpr int kStep = PositionGrid::kStep, kMargin = PositionGrid::kMargin;
  grid->x = grid->y =
      Plane(window.width / kStep + 2 * kMargin + 2, window.height / kStep + 2 * kMargin + 2);
  forRows(grid->x.height, [&](int j) {
    for (int i = 0; i < grid->x.width; ++i) {
      const Point p = map.evaluate(Point(factor * (window.x + (i - kMargin) * kStep + 0.5),
                                         factor * (window.y + (j - kMargin) * kStep + 0.5)));
      grid->x.row(j)[i] = static_cast<float>(p.x() / factor - 0.5);
      grid->y.row(j)[i] = static_cast<float>(p.y() / factor - 0.5);
    }
  });
  return CoarseMap([grid](int y, std::span<const float> dx, std::span<const float> dy,
                          std::span<float> out_x, std::span<float> out_y) {
    constexpr float kPerStep = 1.0f / kStep;
    for (std::size_t x = 0; x < out_x.size(); ++x) {
      const float gx = (static_cast<float>(x) + dx[x]) * kPerStep + kMargin;
      const float gy = (static_cast<float>(y) + dy[x]) * kPerStep + kMargin;
      out_x[x] = sampleCubic(grid->x, gx, gy);
      out_y[x] = sampleCubic(grid->y, gx, gy);
    }
  });
}

}  // namespace derm::detail::maps
