#include "track/marked_film.h"

#include <algorithm>
#include <cmath>

#include "derm/base/rng.h"
#include "derm/face/expressions.h"
#include "derm/face/face_points.h"

namespace derm::testing_support {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr int kTexture = 512;
constexpr double kTexturePerMetre = 4000;  // a texel is a quarter of a millimetre

double smoothstep(double t) {
  t = std::clamp(t, 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

double gauss(Rng& rng) {
  return std::sqrt(-2 * std::log(1 - rng.uniform())) * std::cos(2 * kPi * rng.uniform());
}

/// Skin: blotches of three sizes, which repeat, and pores.
std::vector<float> skinTexture(Rng& rng) {
  std::vector<float> out(static_cast<std::size_t>(kTexture) * kTexture, 0.0f);
  for (const auto& [cell, amount] : {std::pair{64, 0.05f}, {16, 0.03f}, {6, 0.03f}}) {
    const int n = kTexture / cell + 1;
    std::vector<float> grid(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));
    for (float& g : grid) g = static_cast<float>(rng.uniform(-1, 1));
    for (int y = 0; y < kTexture; ++y)
      for (int x = 0; x < kTexture; ++x) {
        const int i = x / cell, j = y / cell;
        const float fx = static_cast<float>(smoothstep(double(x % cell) / cell));
        const float fy = static_cast<float>(smoothstep(double(y % cell) / cell));
        const auto at = [&](int a, int b) {
          return grid[static_cast<std::size_t>((b % (n - 1)) * n + a % (n - 1))];
        };
        out[static_cast<std::size_t>(y * kTexture + x)] +=
            amount * ((1 - fy) * ((1 - fx) * at(i, j) + fx * at(i + 1, j)) +
                      fy * ((1 - fx) * at(i, j + 1) + fx * at(i + 1, j + 1)));
      }
  }
  return out;
}

float textureAt(const std::vector<float>& texture, float x, float y) {
  const float fx = x * static_cast<float>(kTexturePerMetre) + 8192.0f;
  const float fy = y * static_cast<float>(kTexturePerMetre) + 8192.0f;
  const int ix = static_cast<int>(fx), iy = static_cast<int>(fy);
  const float ax = fx - static_cast<float>(ix), ay = fy - static_cast<float>(iy);
  const auto at = [&](int a, int b) {
    return texture[static_cast<std::size_t>((b & (kTexture - 1)) * kTexture +
                                            (a & (kTexture - 1)))];
  };
  return (1 - ay) * ((1 - ax) * at(ix, iy) + ax * at(ix + 1, iy)) +
         ay * ((1 - ax) * at(ix, iy + 1) + ax * at(ix + 1, iy + 1));
}

/// How strong each expression is: one after the other, each up, held, and down again.
double strengthOf(std::size_t expression, double frame, int frames, std::size_t count) {
  const double begin = 8, each = (frames - begin - 4) / static_cast<double>(count);
  const double t = (frame - begin - each * static_cast<double>(expression)) / each;
  return smoothstep(t / 0.45) * smoothstep((1 - t) / 0.45);
}

}  // namespace

MarkedFilm::MarkedFilm(const MarkedFilmDesc& desc) : desc_(desc) {
  SyntheticHeadDesc head_desc = syntheticHeadA();
  head_desc.asymmetry_cm = 0.03;
  shape_ = head_desc.shape;
  head_ = *makeSyntheticHead(head_desc);
  const TriMesh& mesh = head_.mesh;

  FacePoints points;
  std::vector<Vec3d> centres;
  std::vector<std::string> names;
  for (const LabelledPoint& p : head_.points) {
    const Vec3d at = positionAt(p.point, mesh.triangles, mesh.positions).cast<double>();
    points.set(p.label, at);
    names.push_back(p.label);
    centres.push_back(at);
    // The chin's underside turns away from the camera: its marker sits on the front, 2.10.
    if (p.label == "2.1") continue;
    labels_.push_back(p.label);
    markers_.push_back(p.point);
  }
  const SyntheticHeadSurface surface(shape_, 0.03);
  const Vec3d chin = surface.frontPoint(0, shape_.chin_y + 0.9) / 100;
  labels_.push_back("2.10");
  markers_.push_back(*nearestSurfacePoint(mesh, chin));

  // The skin moves as the control points do, and does not at the back of the head.
  std::vector<Vec3d> anchors = centres;
  for (const double x : {-0.08, 0.08})
    for (const double y : {-0.12, 0.12})
      for (const double z : {-0.1, 0.02}) anchors.push_back(Vec3d(x, y, z));
  std::vector<std::string> expressions = {"joy", "surprise", "anger", "sadness"};
  if (desc.blinks) expressions.insert(expressions.end(), {"blink", "blink"});
  Diagnostics notes;
  for (const std::string& name : expressions) {
    std::vector<Vec3d> moves(anchors.size(), Vec3d::Zero());
    const std::vector<PointDisplacement> displacements = *expressionDisplacements(name, points);
    for (const PointDisplacement& d : displacements)
      for (std::size_t i = 0; i < names.size(); ++i)
        if (names[i] == d.point) moves[i] = d.displacement_m;
    // The map is sharp at its points and triangles cut that off: moves are made larger until the
    // points themselves go all of their way, and a blink shuts the eye.
    const std::vector<Vec3d> wanted = moves;
    std::vector<Vec3f> shape(mesh.positions.size());
    for (int round = 0; round < 5; ++round) {
      const RbfMap33 map = *RbfMap33::bind(anchors, moves, {}, notes);
      map.evaluate(mesh.positions, shape);
      for (std::size_t i = 0; i < names.size(); ++i)
        moves[i] +=
            wanted[i] - positionAt(head_.points[i].point, mesh.triangles, shape).cast<double>();
    }
    shapes_.push_back(std::move(shape));
  }

  near_.resize(mesh.triangles.size());
  const float reach = static_cast<float>(desc.dot_cm) * 0.01f + 0.006f;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
    for (std::size_t m = 0; m < markers_.size(); ++m) {
      const Vec3f at = positionAt(markers_[m], mesh.triangles, mesh.positions);
      if ((mesh.positions[mesh.triangles[t][0]] - at).norm() < reach)
        near_[t].push_back(static_cast<std::uint32_t>(m));
    }

  Rng rng(desc.seed);
  texture_ = skinTexture(rng);
  noise_.resize(1 << 16);
  for (float& n : noise_) n = static_cast<float>(desc.noise * gauss(rng));
}

MarkedFilm::Instant MarkedFilm::instant(double frame) const {
  Instant out;
  out.face = head_.mesh.positions;
  for (std::size_t e = 0; e < shapes_.size(); ++e) {
    const float s = static_cast<float>(strengthOf(e, frame, desc_.frames, shapes_.size()));
    if (s == 0) continue;
    for (std::size_t i = 0; i < out.face.size(); ++i) out.face[i] += s * shapes_[e][i];
  }
  // All of it starts at rest, where the face looks straight into the camera.
  const double t = frame / 120.0, m = desc_.motion, rad = kPi / 180;
  const double yaw = m * 4 * rad * std::sin(2 * kPi * 1.5 * t);
  const double pitch = m * 3 * rad * std::sin(2 * kPi * 2.3 * t);
  const double roll = m * 5 * rad * std::sin(2 * kPi * 1.1 * t);
  const Eigen::Matrix3d turn = (Eigen::AngleAxisd(roll, Eigen::Vector3d::UnitZ()) *
                                Eigen::AngleAxisd(yaw, Eigen::Vector3d::UnitY()) *
                                Eigen::AngleAxisd(pitch, Eigen::Vector3d::UnitX()))
                                   .toRotationMatrix();
  const Eigen::Vector3d shift =
      0.01 * m *
      Eigen::Vector3d(std::sin(2 * kPi * 1.3 * t), 0.7 * std::sin(2 * kPi * 1.9 * t),
                      0.8 * std::sin(2 * kPi * 0.9 * t));
  const Eigen::Matrix3f turn_f = turn.cast<float>();
  const Eigen::Vector3f shift_f = shift.cast<float>();
  const float distance = static_cast<float>(desc_.distance_cm * 0.01);
  out.camera.resize(out.face.size());
  for (std::size_t i = 0; i < out.face.size(); ++i) {
    const Eigen::Vector3f p = turn_f * out.face[i] + shift_f;
    out.camera[i] = Vec3f(p.x(), -p.y(), distance - p.z());
  }
  return out;
}

Vec3d MarkedFilm::toPicture(const Vec3d& camera) const {
  return Vec3d(0.5 * (desc_.width - 1) + desc_.focal_px * camera.x() / camera.z(),
               0.5 * (desc_.height - 1) + desc_.focal_px * camera.y() / camera.z(), 0);
}

/// [px] to the hand's edge, negative inside; far away in frames without it.
double MarkedFilm::handDistance(double frame, double x, double y) const {
  if (!desc_.hand) return 1e9;
  // Three frames each, a twentieth of the film together.
  const double scale = desc_.width / 640.0;
  const double first = std::floor(0.42 * desc_.frames), second = std::floor(0.71 * desc_.frames);
  const double half = std::max(1.0, std::round(desc_.frames * 0.025));
  double from = 0, cx = 0, cy = 0;
  if (frame > first - 0.5 && frame < first + half - 0.5) {
    from = first, cx = 300, cy = 340;
  } else if (frame > second - 0.5 && frame < second + half - 0.5) {
    from = second, cx = 420, cy = 150;
  } else {
    return 1e9;
  }
  // It keeps moving while it is there.
  cx += 14 * (frame - from);
  cy += 9 * (frame - from);
  double nearest = 1e9;
  for (int finger = 0; finger < 4; ++finger) {
    const double ax = scale * (cx - 70), ay = scale * (cy + 34 * (finger - 1.5));
    const double bx = scale * (cx + 70 - 8 * std::abs(finger - 1.5)), by = ay - scale * 14;
    const double s = std::clamp(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) /
                                    ((bx - ax) * (bx - ax) + (by - ay) * (by - ay)),
                                0.0, 1.0);
    nearest = std::min(nearest, std::hypot(x - ax - s * (bx - ax), y - ay - s * (by - ay)));
  }
  return nearest - scale * 18;
}

MarkedFilm::Truth MarkedFilm::truth(int frame) const {
  const Instant now = instant(frame);
  Truth out;
  const std::vector<Triangle>& triangles = head_.mesh.triangles;
  for (const SurfacePoint& m : markers_) {
    const Vec3d camera = positionAt(m, triangles, now.camera).cast<double>();
    const Triangle& t = triangles[m.triangle];
    const Vec3f a = now.camera[t[0]], b = now.camera[t[1]], c = now.camera[t[2]];
    const Vec3f normal = (b - a).cross(c - a).normalized();
    const double facing = -static_cast<double>(normal.dot(camera.normalized().cast<float>()));
    const Vec3d p = toPicture(camera);
    const double radius = desc_.focal_px * desc_.dot_cm * 0.01 / camera.z();
    const double hand = handDistance(frame, p.x(), p.y());
    out.picture.push_back(p);
    out.face.push_back(positionAt(m, triangles, now.face).cast<double>());
    out.covered.push_back(hand < 0);
    out.visible.push_back(facing > 0.2 && hand > radius);
  }
  return out;
}

void MarkedFilm::draw(double frame, double jitter_x, double jitter_y,
                      std::vector<float>& sum) const {
  const Instant now = instant(frame);
  const TriMesh& mesh = head_.mesh;
  const int w = desc_.width, h = desc_.height;
  const std::size_t pixels = static_cast<std::size_t>(w) * static_cast<std::size_t>(h);
  std::vector<float> depth(pixels, 1e9f);
  std::vector<float> value(pixels, 60.0f);
  std::vector<Vec3f> normals(now.camera.size(), Vec3f::Zero());
  for (const Triangle& t : mesh.triangles) {
    const Vec3f n =
        (now.camera[t[1]] - now.camera[t[0]]).cross(now.camera[t[2]] - now.camera[t[0]]);
    for (const std::uint32_t v : t) normals[v] += n;
  }
  for (Vec3f& n : normals) n.normalize();
  std::vector<Vec3f> seen(now.camera.size());  // pixels, and 1 / depth
  const float f = static_cast<float>(desc_.focal_px);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const Vec3f& c = now.camera[i];
    seen[i] =
        Vec3f(0.5f * static_cast<float>(w - 1) + f * c.x() / c.z() - static_cast<float>(jitter_x),
              0.5f * static_cast<float>(h - 1) + f * c.y() / c.z() - static_cast<float>(jitter_y),
              1.0f / c.z());
  }
  std::vector<Vec3f> at(markers_.size());
  for (std::size_t m = 0; m < markers_.size(); ++m)
    at[m] = positionAt(markers_[m], mesh.triangles, desc_.stickers ? now.face : mesh.positions);
  const double turn = 2 * kPi * frame / desc_.frames;
  const double gain = 1 + desc_.light * std::sin(1.7 * turn) * 0.6 - desc_.light * 0.4;
  const Vec3f light =
      Vec3f(static_cast<float>(0.5 * std::sin(turn) * desc_.light * 4), -0.5f, -1.0f).normalized();
  const float radius = static_cast<float>(desc_.dot_cm) * 0.01f;
  std::vector<std::uint32_t> close;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Triangle& tri = mesh.triangles[t];
    const Vec3f &a = seen[tri[0]], &b = seen[tri[1]], &c = seen[tri[2]];
    const float area = (b.x() - a.x()) * (c.y() - a.y()) - (b.y() - a.y()) * (c.x() - a.x());
    if (!(area < -1e-6f)) continue;  // away from the camera (y points down)
    close = near_[t];
    if (desc_.stickers) {
      close.clear();
      for (std::size_t m = 0; m < at.size(); ++m)
        if ((now.face[tri[0]] - at[m]).norm() < radius + 0.012f)
          close.push_back(static_cast<std::uint32_t>(m));
    }
    const int x0 = std::max(0, static_cast<int>(std::ceil(std::min({a.x(), b.x(), c.x()}))));
    const int x1 = std::min(w - 1, static_cast<int>(std::floor(std::max({a.x(), b.x(), c.x()}))));
    const int y0 = std::max(0, static_cast<int>(std::ceil(std::min({a.y(), b.y(), c.y()}))));
    const int y1 = std::min(h - 1, static_cast<int>(std::floor(std::max({a.y(), b.y(), c.y()}))));
    for (int y = y0; y <= y1; ++y)
      for (int x = x0; x <= x1; ++x) {
        const float px = static_cast<float>(x), py = static_cast<float>(y);
        const float u = ((b.x() - px) * (c.y() - py) - (b.y() - py) * (c.x() - px)) / area;
        const float v = ((c.x() - px) * (a.y() - py) - (c.y() - py) * (a.x() - px)) / area;
        const float s = 1 - u - v;
        if (u < 0 || v < 0 || s < 0) continue;
        const float inverse = u * a.z() + v * b.z() + s * c.z();
        const float z = 1 / inverse;
        const std::size_t k = static_cast<std::size_t>(y * w + x);
        if (z >= depth[k]) continue;
        depth[k] = z;
        const float ku = u * a.z() * z, kv = v * b.z() * z, ks = s * c.z() * z;
        const Vec3f rest =
            ku * mesh.positions[tri[0]] + kv * mesh.positions[tri[1]] + ks * mesh.positions[tri[2]];
        const Vec3f normal =
            (ku * normals[tri[0]] + kv * normals[tri[1]] + ks * normals[tri[2]]).normalized();
        float albedo = 175.0f * (1 + textureAt(texture_, rest.x(), rest.y() + 0.3f * rest.z()));
        const Vec3f place =
            !desc_.stickers
                ? rest
                : Vec3f(ku * now.face[tri[0]] + kv * now.face[tri[1]] + ks * now.face[tri[2]]);
        for (const std::uint32_t m : close) {
          const float d = (place - at[m]).norm() - radius;
          const float edge = std::clamp(0.5f - d / 0.0004f, 0.0f, 1.0f);
          albedo += edge * (35.0f - albedo);
        }
        const float lambert = std::max(0.0f, normal.dot(light));
        value[k] = albedo * (0.35f + 0.65f * lambert);
      }
  }
  for (int y = 0; y < h; ++y)
    for (int x = 0; x < w; ++x) {
      const std::size_t k = static_cast<std::size_t>(y * w + x);
      float v = value[k] * static_cast<float>(gain);
      if (desc_.hand && handDistance(std::round(frame), 0, 0) < 1e8) {
        const double d = handDistance(frame, x + jitter_x, y + jitter_y);
        if (d < 0)
          v = (150.0f +
               25.0f * std::sin(0.12f * static_cast<float>(x) + 0.2f * static_cast<float>(y)) +
               static_cast<float>(1.5 * std::max(d, -18.0))) *
              static_cast<float>(gain);
      }
      sum[k] += v;
    }
}

Grey8Image MarkedFilm::picture(int frame) const {
  Grey8Image out(desc_.width, desc_.height);
  std::vector<float> sum(out.pixels.size(), 0.0f);
  // Instants of the open shutter, each a little beside the pixel's middle: blur and smooth edges.
  constexpr int kSamples = 4;
  constexpr double kJitter[kSamples][2] = {
      {-0.125, -0.375}, {0.375, -0.125}, {-0.375, 0.125}, {0.125, 0.375}};
  constexpr int kOrder[kSamples] = {0, 3, 1, 2};
  for (int s = 0; s < kSamples; ++s) {
    const double at = frame + desc_.shutter * ((s + 0.5) / kSamples - 0.5);
    draw(frame == 0 ? 0 : at, kJitter[kOrder[s]][0], kJitter[kOrder[s]][1], sum);
  }
  Rng rng(desc_.seed * 1000003 + static_cast<std::uint64_t>(frame));
  std::size_t from = 0;
  for (std::size_t k = 0; k < sum.size(); ++k) {
    if (k % 4096 == 0) from = rng.below(noise_.size());
    const float v = sum[k] / kSamples + noise_[(from + 13 * k) & (noise_.size() - 1)];
    out.pixels[k] = static_cast<std::uint8_t>(std::clamp(v, 0.0f, 255.0f) + 0.5f);
  }
  return out;
}

std::vector<Marker> MarkedFilm::markers() const {
  const Truth first = truth(0);
  std::vector<Marker> out;
  for (std::size_t i = 0; i < labels_.size(); ++i) out.push_back({labels_[i], first.picture[i]});
  return out;
}

std::vector<Marker> MarkedFilm::face() const {
  std::vector<Marker> out;
  for (std::size_t i = 0; i < labels_.size(); ++i)
    out.push_back(
        {labels_[i],
         positionAt(markers_[i], head_.mesh.triangles, head_.mesh.positions).cast<double>()});
  return out;
}

}  // namespace derm::testing_support
