#include "derm/face/detail_acquisition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Geometry>

#include "derm/base/assert.h"

#include "face/maps/direct_slopes.h"
#include "face/maps/height_fit.h"
#include "face/maps/photo_pairs.h"
#include "face/maps/ratio.h"

namespace derm {
namespace {

using namespace detail::maps;

constexpr int kMargin_px = 48;        // around the mask: what alignment and exposure look at
constexpr double kSameLight_deg = 1;  // pairs as close are repetitions
constexpr double kFrontal_deg = 10;   // below, a light does not tell furrows from bulges
constexpr double kUnsettled_px = 3;   // mean shift after landmarks that speaks of other photos

Error cancelled() { return {ErrorCode::Cancelled, "acquisition was cancelled"}; }

std::string nameOf(std::size_t pair, const char* photo) {
  return "pairs[" + std::to_string(pair) + "]." + photo;
}

bool sameSize(const FloatImage& a, const FloatImage& b) {
  return a.width == b.width && a.height == b.height;
}

Result<void> validateInput(std::span<const PhotoPair> pairs, const AcquisitionDesc& desc) {
  if (pairs.empty()) return Error{ErrorCode::BadArgument, "no photos", {.element = "pairs"}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    DERM_CHECK(validatePhoto(pairs[i].neutral, nameOf(i, "neutral")));
    DERM_CHECK(validatePhoto(pairs[i].expression, nameOf(i, "expression")));
    DERM_CHECK(validate(pairs[i].light));
    const bool landmarks =
        !pairs[i].neutral_landmarks.empty() && !pairs[i].expression_landmarks.empty();
    if (!landmarks && (!sameSize(pairs[i].neutral, pairs[i].expression) ||
                       !sameSize(pairs[i].neutral, pairs[0].neutral)))
      return Error{ErrorCode::BadArgument,
                   "photos of different size need landmarks on both",
                   {.element = nameOf(i, "landmarks")}};
  }
  const FloatImage& first = pairs[0].neutral;
  if (!desc.mask.empty() && (desc.mask.channels != 1 || !sameSize(desc.mask, first)))
    return Error{ErrorCode::BadArgument,
                 "must have one channel and the size of the neutral photo (" +
                     std::to_string(first.width) + " x " + std::to_string(first.height) + ")",
                 {.element = "mask"}};
  if (!desc.base_normals.empty() &&
      (desc.base_normals.channels != 3 || !sameSize(desc.base_normals, first)))
    return Error{ErrorCode::BadArgument,
                 "must have three channels and the size of the neutral photo",
                 {.element = "base_normals"}};
  for (const DetailZone& zone : desc.zones) {
    if (!zone.base_normal.allFinite() || !(zone.base_normal.z() > 0.2 * zone.base_normal.norm()))
      return Error{ErrorCode::BadArgument,
                   "base normal must look at the camera to within 78 degrees",
                   {.element = "zones." + zone.name}};
    for (const Vec2f& p : zone.outline)
      if (!p.allFinite())
        return Error{ErrorCode::BadArgument,
                     "outline has a corner that is not finite",
                     {.element = "zones." + zone.name}};
  }
  if (desc.max_pixels < 4096 || !(desc.blur_px > 0 && desc.blur_px <= 200))
    return Error{ErrorCode::BadArgument,
                 "max_pixels must be at least 4096, blur_px in (0, 200]",
                 {.element = "desc"}};
  double most = 0;
  for (const PhotoPair& p : pairs)
    most = std::max(most, std::acos(std::clamp(directionOf(p.light).z(), -1.0, 1.0)));
  const bool frontal = most < kFrontal_deg * 0.017453292519943295;
  if (desc.method != DetailMethod::HeightFit && !frontal)
    return Error{ErrorCode::BadArgument,
                 "this method knows frontal light only; use the height fit",
                 {.element = "method"}};
  if (desc.fine_grain && frontal)
    return Error{ErrorCode::BadArgument,
                 "frontal light shows no grain: fine_grain needs light from the side",
                 {.element = "fine_grain"}};
  return {};
}

/// Everything at working resolution, cut to a window.
struct Frame {
  int factor = 1;
  int width = 0, height = 0;  ///< of the reduced neutral photo
  Window window;
  Plane mask;  ///< of the window; empty = to be found
};

/// The mask at full size, or an empty plane.
Plane wantedMask(const FloatImage& photo, const AcquisitionDesc& desc) {
  if (!desc.mask.empty()) return planeOf(desc.mask);
  std::vector<std::vector<Vec2f>> outlines;
  for (const DetailZone& zone : desc.zones)
    if (zone.outline.size() >= 3) outlines.push_back(zone.outline);
  if (outlines.empty()) return {};
  Plane out(photo.width, photo.height);
  for (const std::vector<Vec2f>& outline : outlines) {
    const Plane one = planeOf(polygonMask(photo.width, photo.height, std::span(&outline, 1)));
    for (std::size_t i = 0; i < out.size(); ++i)
      out.values[i] = std::max(out.values[i], one.values[i]);
  }
  return out;
}

Result<Frame> makeFrame(const FloatImage& photo, const AcquisitionDesc& desc, Diagnostics& notes) {
  Frame frame;
  Plane mask = wantedMask(photo, desc);
  int left = 0, top = 0, right = photo.width, bottom = photo.height;
  if (!mask.values.empty()) {
    left = photo.width, top = photo.height, right = 0, bottom = 0;
    for (int y = 0; y < photo.height; ++y)
      for (int x = 0; x < photo.width; ++x)
        if (mask.at(x, y) > 0) {
          left = std::min(left, x);
          right = std::max(right, x + 1);
          top = std::min(top, y);
          bottom = y + 1;
        }
    if (left >= right)
      return Error{ErrorCode::BadArgument, "is empty: no pixel is above 0", {.element = "mask"}};
  }
  const auto area = static_cast<std::size_t>(right - left) * static_cast<std::size_t>(bottom - top);
  while (area > desc.max_pixels * static_cast<std::size_t>(frame.factor * frame.factor))
    ++frame.factor;
  const int f = frame.factor;
  if (f > 1)
    notes.info(
        "photo-reduced", "neutral",
        "photos are computed with at 1/" + std::to_string(f) + " of their size (max_pixels)");
  frame.width = photo.width / f;
  frame.height = photo.height / f;
  Window& w = frame.window;
  w.x = std::max(0, left / f - kMargin_px);
  w.y = std::max(0, top / f - kMargin_px);
  w.width = std::min(frame.width, (right + f - 1) / f + kMargin_px) - w.x;
  w.height = std::min(frame.height, (bottom + f - 1) / f + kMargin_px) - w.y;
  if (w.width < 16 || w.height < 16)
    return Error{ErrorCode::BadArgument, "leaves fewer than 16 x 16 pixels", {.element = "mask"}};
  if (!mask.values.empty()) frame.mask = cut(reducedBy(mask, f), w);
  return frame;
}

/// A photo seen in the frame.
struct Seen {
  Plane luminance, known;
  double moved_px = 0;
};

Seen sampled(const Photo& photo, const Plane& px, const Plane& py) {
  Seen out{Plane(px.width, px.height), Plane(px.width, px.height), 0};
  forRows(px.height, [&](int y) {
    for (int x = 0; x < px.width; ++x) {
      const float sx = px.at(x, y), sy = py.at(x, y);
      const int nx = static_cast<int>(
          std::lround(std::clamp(sx, -2.0f, static_cast<float>(photo.known.width) + 1)));
      const int ny = static_cast<int>(
          std::lround(std::clamp(sy, -2.0f, static_cast<float>(photo.known.height) + 1)));
      if (nx < 0 || ny < 0 || nx >= photo.known.width || ny >= photo.known.height) continue;
      out.luminance.row(y)[x] = sampleLanczos(photo.luminance, sx, sy);
      out.known.row(y)[x] = photo.known.at(nx, ny);
    }
  });
  return out;
}

/// The luminance with unknown pixels as their surroundings are: the border of what is transparent
/// is no feature of the skin.
Plane filledLuminance(const Photo& photo) {
  const Plane around = blurred(photo.luminance, photo.known, 16, 0.2f);
  Plane out = photo.luminance;
  for (std::size_t i = 0; i < out.size(); ++i)
    if (!(photo.known.values[i] > 0)) out.values[i] = around.values[i];
  return out;
}

bool knowsAll(const Photo& photo) {
  return std::all_of(photo.known.values.begin(), photo.known.values.end(),
                     [](float known) { return known > 0; });
}

Result<Seen> laidOn(const Plane& neutral, const Plane& weight, const Photo& photo,
                    const CoarseMap& map, bool align, const std::function<bool(double)>& progress) {
  const auto byLandmarks = [&] {
    Plane x(neutral.width, neutral.height), y = x;
    forRows(x.height, [&](int row) {
      const auto n = static_cast<std::size_t>(x.width);
      const std::vector<float> none(n);
      map(row, none, none, {x.row(row), n}, {y.row(row), n});
    });
    return sampled(photo, x, y);
  };
  if (!align) return byLandmarks();
  AlignmentResult aligned;
  if (knowsAll(photo)) {
    aligned = alignDense(neutral, photo.luminance, weight, map, progress);
  } else {
    Plane counted = byLandmarks().known;
    for (std::size_t i = 0; i < counted.size(); ++i) counted.values[i] *= weight.values[i];
    aligned = alignDense(neutral, filledLuminance(photo), counted, map, progress);
  }
  if (aligned.cancelled) return cancelled();
  Seen out = sampled(photo, aligned.x, aligned.y);
  double sum = 0, moved = 0;
  for (std::size_t i = 0; i < weight.size(); ++i)
    if (weight.values[i] > 0) {
      sum += 1;
      moved += static_cast<double>(std::hypot(aligned.dx.values[i], aligned.dy.values[i]));
    }
  out.moved_px = sum > 0 ? moved / sum : 0;
  return out;
}

/// The skin at rest, from the zones or from normals.
void addBase(const AcquisitionDesc& desc, const Frame& frame, FitInput& input) {
  const Window& w = frame.window;
  if (!desc.base_normals.empty()) {
    Plane n[3];
    for (int c = 0; c < 3; ++c)
      n[c] = cut(reducedBy(planeOf(desc.base_normals, c), frame.factor), w);
    input.base_p = input.base_q = Plane(w.width, w.height);
    for (std::size_t i = 0; i < n[0].size(); ++i) {
      // Beyond 78 degrees, and without a surface, a photo says nothing.
      const float z = n[2].values[i];
      const bool seen = z > 0.2f * std::hypot(n[0].values[i], n[1].values[i], z);
      input.base_p.values[i] = seen ? -n[0].values[i] / z : 0.0f;
      input.base_q.values[i] = seen ? n[1].values[i] / z : 0.0f;
      if (!seen && n[0].values[i] != 0)
        for (PixelRatio& photo : input.photos) photo.weight.values[i] = 0;
    }
  }
  for (const DetailZone& zone : desc.zones) {
    Plane inside(w.width, w.height, 1);
    if (zone.outline.size() >= 3) {
      std::vector<Vec2f> outline;
      for (const Vec2f& p : zone.outline)
        outline.emplace_back(p / static_cast<float>(frame.factor) -
                             Vec2f(static_cast<float>(w.x), static_cast<float>(w.y)));
      inside = planeOf(polygonMask(w.width, w.height, std::span(&outline, 1)));
    }
    const Vec3d n = zone.base_normal / zone.base_normal.z();
    if (desc.base_normals.empty() && input.base_p.values.empty() && n.head<2>().norm() > 1e-3)
      input.base_p = input.base_q = Plane(w.width, w.height);
    if (input.fold_sign.values.empty() && zone.fold == FoldKind::Bulge)
      input.fold_sign = Plane(w.width, w.height, 1);
    for (std::size_t i = 0; i < inside.size(); ++i) {
      if (!(inside.values[i] > 0.5f)) continue;
      if (!input.fold_sign.values.empty())
        input.fold_sign.values[i] = zone.fold == FoldKind::Bulge ? -1.0f : 1.0f;
      if (desc.base_normals.empty() && !input.base_p.values.empty()) {
        input.base_p.values[i] = static_cast<float>(-n.x());
        input.base_q.values[i] = static_cast<float>(n.y());
      }
    }
  }
}

/// From slopes over the photo's plane to slopes over the skin: the base's normal becomes +z.
void turnToBase(const FitInput& input, Slopes& slopes) {
  if (input.base_p.values.empty()) return;
  for (std::size_t i = 0; i < slopes.p.size(); ++i) {
    const float p = input.base_p.values[i], q = input.base_q.values[i];
    if (p == 0 && q == 0) continue;
    const Eigen::Vector3f base = Eigen::Vector3f(-p, -q, 1).normalized();
    const Eigen::Vector3f n(-p - slopes.p.values[i], -q - slopes.q.values[i], 1);
    // By the smallest rotation that takes the base to +z.
    const Eigen::Vector3f axis(base.y(), -base.x(), 0);
    const Eigen::Vector3f turned =
        base.z() * n + axis.cross(n) + axis * (axis.dot(n) / (1 + base.z()));
    const float z = std::max(turned.z(), 0.1f * turned.norm());
    slopes.p.values[i] = -turned.x() / z;
    slopes.q.values[i] = -turned.y() / z;
  }
}

FloatImage pasted(const Plane& a, const Plane* b, const Frame& frame) {
  FloatImage out(frame.width, frame.height, b != nullptr ? 2 : 1);
  const Window& w = frame.window;
  const auto step = static_cast<std::size_t>(out.channels);
  for (int y = 0; y < w.height; ++y) {
    float* to = out.values.data() +
                (static_cast<std::size_t>(w.y + y) * static_cast<std::size_t>(frame.width) +
                 static_cast<std::size_t>(w.x)) *
                    step;
    for (int x = 0; x < w.width; ++x, to += step) {
      to[0] = a.at(x, y);
      if (b != nullptr) to[1] = b->at(x, y);
    }
  }
  return out;
}

struct Light {
  PhotoLight light;
  Ratio sum;  ///< value times weight, until averaged
};

}  // namespace

FloatImage luminanceOf(const FloatImage& image) {
  if (image.empty()) return {};
  return imageOf(reducedPhoto(image, 1).luminance);
}

FloatImage polygonMask(int width, int height, std::span<const std::vector<Vec2f>> polygons) {
  DERM_REQUIRE(width >= 0 && height >= 0);
  constexpr int kRows = 4;  // scan lines per pixel
  FloatImage out(width, height, 1);
  std::vector<float> crossings;
  for (int line = 0; line < height * kRows; ++line) {
    const float y = (static_cast<float>(line) + 0.5f) / kRows;
    crossings.clear();
    for (const std::vector<Vec2f>& polygon : polygons)
      for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Vec2f &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
        if ((a.y() <= y) == (b.y() <= y)) continue;
        crossings.push_back(a.x() + (y - a.y()) / (b.y() - a.y()) * (b.x() - a.x()));
      }
    std::sort(crossings.begin(), crossings.end());
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
      const float from = std::clamp(crossings[i], 0.0f, static_cast<float>(width));
      const float to = std::clamp(crossings[i + 1], 0.0f, static_cast<float>(width));
      for (int x = static_cast<int>(from); x < width && static_cast<float>(x) < to; ++x) {
        const float covered =
            std::min(to, static_cast<float>(x + 1)) - std::max(from, static_cast<float>(x));
        out.at(x, line / kRows, 0) += covered / kRows;
      }
    }
  }
  for (float& v : out.values) v = std::min(v, 1.0f);
  return out;
}

FloatImage normalsOf(const SlopeMap& map) {
  FloatImage out(map.slopes.width, map.slopes.height, 3);
  for (std::size_t i = 0; 3 * i < out.values.size(); ++i) {
    const float p = map.slopes.values[2 * i], q = map.slopes.values[2 * i + 1];
    const float per = 1 / std::sqrt(1 + p * p + q * q);
    out.values[3 * i] = -p * per;
    out.values[3 * i + 1] = q * per;
    out.values[3 * i + 2] = per;
  }
  return out;
}

Result<SlopeMap> fuseDetails(std::span<const SlopeMap> maps) {
  const auto fails = [](const char* message) {
    return Error{ErrorCode::BadArgument, message, {.element = "maps"}};
  };
  if (maps.empty()) return fails("no maps to fuse");
  SlopeMap out = maps[0];
  for (const SlopeMap& m : maps)
    if (!sameSize(m.slopes, out.slopes) || !sameSize(m.mask, m.slopes) ||
        m.photo_px != out.photo_px)
      return fails("maps to fuse must have one size and frame");
  out.height = {};
  out.masked = 0;
  for (std::size_t i = 0; i < out.mask.values.size(); ++i) {
    float p = 0, q = 0, sum = 0, most = 0;
    for (const SlopeMap& m : maps) {
      // Slopes carry their own mask already: a sum of those is a mean where masks overlap.
      const float w = m.mask.values[i];
      p += w * m.slopes.values[2 * i];
      q += w * m.slopes.values[2 * i + 1];
      sum += w;
      most = std::max(most, w);
    }
    out.slopes.values[2 * i] = sum > 0 ? p / sum : 0.0f;
    out.slopes.values[2 * i + 1] = sum > 0 ? q / sum : 0.0f;
    out.mask.values[i] = most;
    out.masked += static_cast<double>(most) / static_cast<double>(out.mask.values.size());
  }
  for (const SlopeMap& m : maps) {
    out.noise = std::max(out.noise, m.noise);
    out.moved_px = std::max(out.moved_px, m.moved_px);
  }
  return out;
}

Result<SlopeMap> acquireDetail(std::span<const PhotoPair> pairs, const AcquisitionDesc& desc,
                               Diagnostics& notes, const Progress& progress) {
  DERM_CHECK(validateInput(pairs, desc));
  DERM_TRY(Frame frame, makeFrame(pairs[0].neutral, desc, notes));
  const Window& window = frame.window;
  SlopeMap out;
  out.photo_px = frame.factor;

  // Aligned photos and their ratios, averaged where the light is the same.
  const double photos = static_cast<double>(2 * pairs.size() - 1);
  double done = 0;
  const auto telling = [&](double share) {
    return keepGoing(progress, 0.4 * (done + share) / photos, "aligning");
  };
  const Photo first = reducedPhoto(pairs[0].neutral, frame.factor);
  const Plane neutral = cut(first.luminance, window);
  Plane wanted = cut(first.known, window);
  if (!frame.mask.values.empty()) {
    const Plane near = dilated(frame.mask, 8);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      wanted.values[i] *= near.values[i] > 0 ? 1.0f : 0.0f;
  }
  std::vector<Light> lights;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const PhotoPair& pair = pairs[i];
    Seen own{neutral, wanted, 0};
    if (i > 0) {
      DERM_TRY(const CoarseMap map, landmarkMap(pairs[0].neutral_landmarks, pair.neutral_landmarks,
                                                frame.factor, window, nameOf(i, "neutral"), notes));
      DERM_TRY(own, laidOn(neutral, wanted, reducedPhoto(pair.neutral, frame.factor), map,
                           desc.align, telling));
      for (std::size_t k = 0; k < wanted.size(); ++k) own.known.values[k] *= wanted.values[k];
      done += 1;
    }
    DERM_TRY(const CoarseMap map,
             landmarkMap(pairs[0].neutral_landmarks, pair.expression_landmarks, frame.factor,
                         window, nameOf(i, "expression"), notes));
    DERM_TRY(const Seen moved,
             laidOn(own.luminance, own.known, reducedPhoto(pair.expression, frame.factor), map,
                    desc.align, telling));
    done += 1;
    out.moved_px = std::max(out.moved_px, moved.moved_px);
    for (std::size_t k = 0; k < wanted.size(); ++k) own.known.values[k] *= moved.known.values[k];
    Ratio ratio = ratioOf(own.luminance, moved.luminance, own.known);
    if (std::none_of(ratio.weight.values.begin(), ratio.weight.values.end(),
                     [](float w) { return w > 0; }))
      return Error{ErrorCode::BadData,
                   "no pixel inside the mask is neither black nor white in both photos",
                   {.element = nameOf(i, "expression")}};
    if (desc.even_exposure) removeSlowChange(ratio);
    for (std::size_t k = 0; k < ratio.value.size(); ++k)
      ratio.value.values[k] *= ratio.weight.values[k];
    const auto same = std::find_if(lights.begin(), lights.end(), [&](const Light& l) {
      return directionOf(l.light).dot(directionOf(pair.light)) >
             std::cos(kSameLight_deg * 0.017453292519943295);
    });
    if (same == lights.end()) {
      lights.push_back({pair.light, std::move(ratio)});
      continue;
    }
    for (std::size_t k = 0; k < ratio.value.size(); ++k) {
      same->sum.value.values[k] += ratio.value.values[k];
      same->sum.weight.values[k] += ratio.weight.values[k];
    }
  }
  if (out.moved_px > kUnsettled_px)
    notes.warn("photos-unlike", "pairs",
               "dense alignment moved pixels far: more landmarks, or another mask, may be needed");

  FitInput input;
  std::vector<float> noises;
  Plane dark(window.width, window.height), known(window.width, window.height);
  bool frontal = true;
  for (Light& light : lights) {
    Ratio& r = light.sum;
    for (std::size_t k = 0; k < r.value.size(); ++k) {
      const float w = r.weight.values[k];
      r.value.values[k] = w > 0 ? r.value.values[k] / w : 1.0f;
      r.weight.values[k] = w > 0 ? 1.0f : 0.0f;
      known.values[k] = std::max(known.values[k], r.weight.values[k]);
      dark.values[k] += (1 - r.value.values[k]) / static_cast<float>(lights.size());
    }
    noises.push_back(noiseOf(r));
    const Vec3d d = directionOf(light.light);
    frontal = frontal && d.z() > std::cos(kFrontal_deg * 0.017453292519943295);
    PixelRatio photo;
    photo.ratio = std::move(r.value);
    photo.weight = std::move(r.weight);
    photo.light_x = static_cast<float>(d.x() / d.z());
    photo.light_y = static_cast<float>(-d.y() / d.z());
    input.photos.push_back(std::move(photo));
  }
  const float noise = *std::min_element(noises.begin(), noises.end());
  for (std::size_t i = 0; i < noises.size(); ++i)
    if (const float share = noise / noises[i]; share < 1)
      for (float& w : input.photos[i].weight.values) w *= share * share;
  out.noise = static_cast<double>(noise);
  if (frontal && desc.zones.empty())
    notes.info("light-frontal", "light",
               "frontal light does not tell furrows from bulges: furrows are assumed");

  addBase(desc, frame, input);
  Slopes slopes;
  Plane height;
  if (desc.method == DetailMethod::HeightFit) {
    FitSettings settings;
    settings.noise = noise;
    if (desc.fine_grain) {
      settings.fine = true;
      settings.along_folds = false;
      settings.pull = 1e-5f;
    }
    height = fitHeights(input, settings, [&](double share) {
      return keepGoing(progress, 0.4 + 0.6 * share, "fitting");
    });
    if (height.values.empty()) return cancelled();
    slopes = {slopesAcross(height), slopesDown(height)};
  } else {
    Plane base_z(window.width, window.height, 1);
    if (!input.base_p.values.empty())
      for (std::size_t i = 0; i < base_z.size(); ++i)
        base_z.values[i] = 1 / std::hypot(1.0f, input.base_p.values[i], input.base_q.values[i]);
    const Plane& ratio = input.photos[0].ratio;
    slopes = desc.method == DetailMethod::Thesis
                 ? thesisSlopes(ratio, base_z, noise)
                 : blurSlopes(ratio, base_z, input.fold_sign, noise, desc.blur_px);
    // These two measure from the camera's axis, so a tilted base is in them already.
    input.base_p = input.base_q = {};
  }
  turnToBase(input, slopes);

  Plane mask = frame.mask;
  if (mask.values.empty()) {
    Plane steepness = frontal ? dark : Plane(window.width, window.height);
    if (!frontal)
      for (std::size_t i = 0; i < steepness.size(); ++i)
        steepness.values[i] = 0.5f * (slopes.p.values[i] * slopes.p.values[i] +
                                      slopes.q.values[i] * slopes.q.values[i]);
    mask = blurred(structureMask(steepness, known, noise), 2);
  } else {
    // Soft towards the inside: nothing is added beyond a mask that somebody drew.
    const Plane soft = blurred(mask, 3);
    for (std::size_t i = 0; i < mask.size(); ++i)
      mask.values[i] = mask.values[i] > 0
                           ? std::min(mask.values[i], std::max(0.0f, 2 * soft.values[i] - 1))
                           : 0.0f;
  }
  double sum = 0;
  for (std::size_t i = 0; i < mask.size(); ++i) {
    slopes.p.values[i] *= mask.values[i];
    slopes.q.values[i] *= mask.values[i];
    sum += static_cast<double>(mask.values[i]);
  }
  out.masked = sum / (static_cast<double>(frame.width) * static_cast<double>(frame.height));
  out.slopes = pasted(slopes.p, &slopes.q, frame);
  if (!height.values.empty()) out.height = pasted(height, nullptr, frame);
  out.mask = pasted(mask, nullptr, frame);
  return out;
}

}  // namespace derm
