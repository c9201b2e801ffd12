#include "derm/face/map_transfer.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "derm/face/face_features.h"
#include "derm/math/decompositions.h"
#include "derm/math/rbf.h"
#include "derm/mesh/normals.h"
#include "derm/mesh/uv_raster.h"

#include "face/maps/plane.h"
#include "face/maps/skin_piece.h"

namespace derm {
namespace {

using namespace detail::maps;
using Point2 = RbfPoint<2>;
using Point3 = RbfPoint<3>;

Result<void> validateDesc(const MapTransferDesc& desc, const SlopeMap& detail) {
  const auto fails = [](const char* message) {
    return Error{ErrorCode::BadArgument, message, {.element = "map"}};
  };
  if (desc.width < 16 || desc.height < 16 || desc.width > 16384 || desc.height > 16384)
    return fails("a texture must have 16 to 16384 pixels each way");
  if (desc.padding < 0 || desc.padding > 256) return fails("padding must lie in [0,256]");
  if (!(desc.max_turn_deg > 0 && desc.max_turn_deg < 90))
    return fails("max_turn_deg must lie in (0,90)");
  if (detail.slopes.empty() || detail.slopes.channels != 2 || detail.mask.empty() ||
      !(detail.photo_px > 0))
    return fails("the detail map is empty");
  return {};
}

/// "8.1" and "upper_lip_middle" are one label.
std::string_view canonicalLabel(const std::string& label) {
  const FaceFeature* feature = findFaceFeature(label);
  return feature != nullptr ? feature->number : std::string_view(label);
}

const PhotoLandmark* find(std::span<const PhotoLandmark> list, const std::string& label) {
  for (const PhotoLandmark& l : list)
    if (canonicalLabel(l.label) == canonicalLabel(label)) return &l;
  return nullptr;
}

void noteUnmatched(const std::string& label, Diagnostics& notes) {
  notes.warn("landmark-unmatched", "landmarks", "landmark \"" + label + "\" is on one side only");
}

Error tooFew(std::size_t count, std::size_t needed) {
  return {ErrorCode::BadData,
          "photo and character have " + std::to_string(count) + " landmarks in common; at least " +
              std::to_string(needed) + " are needed",
          {.element = "landmarks"}};
}

/// What the photo says at a position, in its own directions.
struct Detail {
  float p = 0, q = 0, mask = 0;
};

class Reader {
 public:
  explicit Reader(const SlopeMap& map)
      : p_(planeOf(map.slopes, 0)),
        q_(planeOf(map.slopes, 1)),
        mask_(planeOf(map.mask)),
        per_(1 / map.photo_px) {}

  Detail at(const Point2& photo) const {
    const auto x = static_cast<float>(photo.x() * per_ - 0.5);
    const auto y = static_cast<float>(photo.y() * per_ - 0.5);
    if (!(x >= -0.5f && y >= -0.5f && x <= static_cast<float>(p_.width) - 0.5f &&
          y <= static_cast<float>(p_.height) - 0.5f))
      return {};
    return {sampleCubic(p_, x, y), sampleCubic(q_, x, y),
            std::clamp(sampleCubic(mask_, x, y), 0.0f, 1.0f)};
  }

 private:
  Plane p_, q_, mask_;
  double per_;
};

/// J' (p, q), each component over its column's length.
void store(const Detail& d, const Point2& along_u, const Point2& along_v, float share,
           std::size_t texel, SlopeMap& out) {
  const double p = static_cast<double>(share * d.p), q = static_cast<double>(share * d.q);
  const double u = along_u.norm(), v = along_v.norm();
  if (!(u > 0) || !(v > 0)) return;
  out.slopes.values[2 * texel] = static_cast<float>((along_u.x() * p + along_u.y() * q) / u);
  out.slopes.values[2 * texel + 1] = static_cast<float>((along_v.x() * p + along_v.y() * q) / v);
  out.mask.values[texel] = share * d.mask;
}

SlopeMap emptyMap(const SlopeMap& detail, const MapTransferDesc& desc) {
  SlopeMap out;
  out.slopes = FloatImage(desc.width, desc.height, 2);
  out.mask = FloatImage(desc.width, desc.height, 1);
  out.noise = detail.noise;
  out.moved_px = detail.moved_px;
  return out;
}

void finish(SlopeMap& map) {
  double sum = 0;
  for (const float m : map.mask.values) sum += static_cast<double>(m);
  map.masked = sum / static_cast<double>(map.mask.values.size());
}

}  // namespace

Result<SlopeMap> transferDetail(const SlopeMap& detail,
                                std::span<const PhotoLandmark> photo_landmarks, const TriMesh& mesh,
                                std::span<const LabelledPoint> points, const MapTransferDesc& desc,
                                Diagnostics& notes) {
  DERM_CHECK(validateDesc(desc, detail));
  if (mesh.uvs.size() != mesh.vertexCount() || mesh.uvs.empty())
    return Error{ErrorCode::BadData,
                 "has no texture coordinates; unwrap it in a modelling program and export it again",
                 {.element = "mesh"}};
  DERM_CHECK(validate(mesh, "mesh"));
  std::vector<Point3> from;
  std::vector<Point2> to;
  std::vector<LabelledPoint> used;
  for (const LabelledPoint& p : points) {
    DERM_CHECK(validate(p.point, mesh.triangles.size(), p.label));
    const PhotoLandmark* l = find(photo_landmarks, p.label);
    if (l == nullptr) {
      noteUnmatched(p.label, notes);
      continue;
    }
    from.emplace_back(positionAt(p.point, mesh.triangles, mesh.positions).cast<double>());
    to.emplace_back(l->position);
    used.push_back(p);
  }
  if (from.size() < 4) return tooFew(from.size(), 4);

  // The photo as an affine camera tells which way it looks.
  Eigen::MatrixXd rows(static_cast<Eigen::Index>(from.size()), 3);
  Eigen::MatrixXd targets(static_cast<Eigen::Index>(from.size()), 2);
  Point3 mean_from = Point3::Zero();
  Point2 mean_to = Point2::Zero();
  for (std::size_t i = 0; i < from.size(); ++i) {
    mean_from += from[i] / static_cast<double>(from.size());
    mean_to += to[i] / static_cast<double>(from.size());
  }
  for (std::size_t i = 0; i < from.size(); ++i) {
    rows.row(static_cast<Eigen::Index>(i)) = (from[i] - mean_from).transpose();
    targets.row(static_cast<Eigen::Index>(i)) = (to[i] - mean_to).transpose();
  }
  // Least squares; a direction in which the points do not differ tells nothing and stays out.
  const SymmetricEigen3 axes = symmetricEigen3(Mat3d(rows.transpose() * rows));
  Vec3d inverse = Vec3d::Zero();
  for (int k = 0; k < 3; ++k)
    if (axes.values[k] > 1e-12 * axes.values[2]) inverse[k] = 1 / axes.values[k];
  const Eigen::MatrixXd camera =
      axes.vectors * inverse.asDiagonal() *
      (axes.vectors.transpose() * (rows.transpose() * targets));  // 3 x 2
  const Eigen::Vector3d across = camera.col(0), down = camera.col(1);
  // Right times down points into the picture; the camera is on the other side.
  const Eigen::Vector3d viewer = -across.cross(down);
  const Eigen::MatrixXd rest = rows * camera - targets;
  if (!(viewer.norm() > 0) || !(rest.norm() < 0.3 * targets.norm())) {
    Eigen::Index worst = 0;
    rest.rowwise().norm().maxCoeff(&worst);
    return Error{ErrorCode::BadData,
                 "the photo's landmarks do not look like the character's points (\"" +
                     used[static_cast<std::size_t>(worst)].label +
                     "\" is farthest off): crossed or mirrored labels?",
                 {.element = "landmarks"}};
  }
  const Vec3d to_camera = viewer.normalized();

  DERM_TRY(const RbfMap32 map,
           RbfMap32::bind(from, to, {.kernel = RbfKernel::Triharmonic, .lambda = 1e-4}, notes));
  const std::vector<Triangle> skin = skinTriangles(mesh, used);
  const std::vector<Vec3f> normals =
      mesh.normals.empty() ? areaWeightedNormals(mesh.positions, mesh.triangles) : mesh.normals;
  const std::vector<Vec2f> uvs = uvsAtPoints(mesh, used);
  const UvRaster raster = rasteriseUvs(
      uvs, skin, {.width = desc.width, .height = desc.height, .padding = desc.padding});
  if (raster.overlapping_texels > 0)
    notes.warn("map-overlap", "mesh",
               "charts lie on each other: " + std::to_string(raster.overlapping_texels) +
                   " texels show the detail of one of them only");
  const Reader reader(detail);
  const double facing = std::cos(desc.max_turn_deg * std::numbers::pi / 180);
  SlopeMap out = emptyMap(detail, desc);
  forRows(desc.height, [&](int y) {
    for (int x = 0; x < desc.width; ++x) {
      const std::size_t texel = raster.texel(x, y);
      if (!raster.hasSurface(texel)) continue;
      const SurfacePoint& point = raster.points[texel];
      const Triangle& t = skin[point.triangle];
      const Vec3d normal = normalAt(point, skin, mesh.positions, normals).cast<double>();
      // Fades over the last part of the way, so that no edge shows.
      const double turned = normal.dot(to_camera);
      const double share =
          std::clamp((turned - facing) / std::max(1e-6, 0.3 * (1 - facing)), 0.0, 1.0);
      if (share <= 0) continue;
      const Point3 p = positionAt(point, skin, mesh.positions).cast<double>();
      const Point2 photo = map.evaluate(p);
      const Detail found = reader.at(photo);
      if (found.mask <= 0 && found.p == 0 && found.q == 0) continue;
      // How the surface runs along u and v, and the photo with it.
      const Point2 a = (uvs[t[1]] - uvs[t[0]]).cast<double>();
      const Point2 b = (uvs[t[2]] - uvs[t[0]]).cast<double>();
      const double area = a.x() * b.y() - a.y() * b.x();
      if (area == 0) continue;
      const Point3 ea = (mesh.positions[t[1]] - mesh.positions[t[0]]).cast<double>();
      const Point3 eb = (mesh.positions[t[2]] - mesh.positions[t[0]]).cast<double>();
      const Point3 du = (ea * b.y() - eb * a.y()) / area, dv = (eb * a.x() - ea * b.x()) / area;
      const double step = 0.5 / std::max(desc.width, desc.height);
      store(found, map.evaluate(Point3(p + step * du)) - map.evaluate(Point3(p - step * du)),
            map.evaluate(Point3(p + step * dv)) - map.evaluate(Point3(p - step * dv)),
            static_cast<float>(share), texel, out);
    }
  });
  finish(out);
  return out;
}

Result<SlopeMap> transferDetail(const SlopeMap& detail,
                                std::span<const PhotoLandmark> photo_landmarks,
                                std::span<const PhotoLandmark> texture_landmarks,
                                const MapTransferDesc& desc, Diagnostics& notes) {
  DERM_CHECK(validateDesc(desc, detail));
  std::vector<Point2> from, to;
  for (const PhotoLandmark& l : texture_landmarks) {
    const PhotoLandmark* photo = find(photo_landmarks, l.label);
    if (photo == nullptr) {
      noteUnmatched(l.label, notes);
      continue;
    }
    from.emplace_back(l.position);
    to.emplace_back(photo->position);
  }
  if (from.size() < 3) return tooFew(from.size(), 3);
  DERM_TRY(const RbfMap22 map, RbfMap22::bind(from, to, {.kernel = RbfKernel::ThinPlate}, notes));
  const Reader reader(detail);
  SlopeMap out = emptyMap(detail, desc);
  forRows(desc.height, [&](int y) {
    for (int x = 0; x < desc.width; ++x) {
      const Point2 p(x + 0.5, y + 0.5);
      const Detail found = reader.at(map.evaluate(p));
      if (found.mask <= 0 && found.p == 0 && found.q == 0) continue;
      store(found,
            map.evaluate(Point2(p + Point2(0.5, 0))) - map.evaluate(Point2(p - Point2(0.5, 0))),
            map.evaluate(Point2(p + Point2(0, 0.5))) - map.evaluate(Point2(p - Point2(0, 0.5))), 1,
            static_cast<std::size_t>(y) * static_cast<std::size_t>(desc.width) +
                static_cast<std::size_t>(x),
            out);
    }
  });
  finish(out);
  return out;
}

}  // namespace derm
