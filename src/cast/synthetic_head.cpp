#include <algorithm>
#include <cmath>
#include <optional>

#include "derm/base/assert.h"
#include "derm/cast/heads.h"
#include "derm/mesh/normals.h"

#include "cast/head_tessellation.h"
#include "cast/members.h"
#include "cast/sculpt.h"

namespace derm {
namespace {

constexpr double kMetresPerCm = 0.01;
/// Directions are drawn towards the face before they are mapped, so that triangles are small there.
const Vec3d kTowardsFace(0, -0.05, 0.45);
/// Feature points further out than this (u_x^2 + u_y^2) lie on the side of the head.
constexpr double kMaxRimDistance = 0.85;

double smooth(double t) { return detail::cast::smoothStep(0, 1, t); }

Error badShape(const SyntheticHeadDesc& desc, std::string message) {
  return {ErrorCode::BadArgument, std::move(message), {.file = desc.name, .element = "shape"}};
}

Result<void> checkShape(const SyntheticHeadDesc& desc, const SyntheticHeadSurface& surface) {
  SyntheticHeadShape s = desc.shape;
  for (const double* value : s.parameters())
    if (!std::isfinite(*value)) return badShape(desc, "is not a number");
  for (const double value :
       {s.half_width, s.half_height, s.half_depth, s.eye_half_width, s.eye_half_height,
        s.brow_half_width, s.nose_half_width, s.mouth_half_width, s.lip_height, s.eye_y - s.nose_y})
    if (!(value > 0)) return badShape(desc, "a size is not above 0");
  if (!(s.jaw_taper >= 0 && s.jaw_taper < 1)) return badShape(desc, "jaw_taper is not in [0,1)");
  const struct {
    double above, below;
    const char* message;
  } orders[] = {{s.eye_x, s.eye_half_width, "the eyes overlap"},
                {s.brow_x, s.brow_half_width, "the brows overlap"},
                {s.brow_y - 0.35, s.eye_y + s.eye_half_height, "the brows overlap the eyes"},
                {s.eye_y - s.eye_half_height, s.nose_y, "the nose overlaps the eyes"},
                {s.eye_y - s.eye_half_height, s.cheek_y, "the cheeks overlap the eyes"},
                {s.nose_y - 0.2, s.mouth_y + 1.7 * s.lip_height, "the nose overlaps the mouth"},
                {s.mouth_y - 1.8 * s.lip_height, s.chin_y, "the mouth overlaps the chin"}};
  for (const auto& order : orders)
    if (!(order.above > order.below)) return badShape(desc, order.message);
  for (const SyntheticHeadPoint& p : syntheticHeadPoints(s))
    if (!(surface.rimDistance(p.x, p.y) <= kMaxRimDistance))
      return badShape(desc, "point " + std::string(p.label) + " does not lie on the front");
  return {};
}

/// The surface point over (x, y) that faces the viewer; of several the foremost.
std::optional<SurfacePoint> frontSurfacePoint(const TriMesh& mesh, double x, double y) {
  std::optional<SurfacePoint> best;
  double foremost = 0;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const Triangle& c = mesh.triangles[t];
    const Vec3d a = mesh.positions[c[0]].cast<double>(), b = mesh.positions[c[1]].cast<double>(),
                d = mesh.positions[c[2]].cast<double>();
    const auto cross = [](const Vec3d& p, const Vec3d& q, double qx, double qy) {
      return (q.x() - p.x()) * (qy - p.y()) - (qx - p.x()) * (q.y() - p.y());
    };
    const double area = cross(a, b, d.x(), d.y());
    if (!(area > 0)) continue;
    const Vec3d share = Vec3d(cross(b, d, x, y), cross(d, a, x, y), cross(a, b, x, y)) / area;
    if (share.minCoeff() < -1e-9) continue;
    const double z = share[0] * a.z() + share[1] * b.z() + share[2] * d.z();
    if (best && z <= foremost) continue;
    foremost = z;
    const Vec3d inside = share.cwiseMax(0);
    best = SurfacePoint{static_cast<std::uint32_t>(t), (inside / inside.sum()).cast<float>()};
  }
  return best;
}

}  // namespace

std::array<double*, 21> SyntheticHeadShape::parameters() {
  return {&half_width,      &half_height,      &half_depth,      &jaw_taper,   &eye_x,
          &eye_y,           &eye_half_width,   &eye_half_height, &brow_x,      &brow_y,
          &brow_half_width, &nose_y,           &nose_half_width, &nose_height, &bridge_height,
          &mouth_y,         &mouth_half_width, &lip_height,      &chin_y,      &cheek_x,
          &cheek_y};
}

SyntheticHeadSurface::SyntheticHeadSurface(const SyntheticHeadShape& s, double asymmetry_cm)
    : shape_(s), asymmetry_(asymmetry_cm) {
  const double lip = s.lip_height, mouth = s.mouth_half_width, wing = s.nose_half_width;
  bumps_ = {
      // Left, and the same on the right: socket, eyeball, brow, wing of the nose, cheek, corner.
      {-0.9, s.eye_x, s.eye_y, s.eye_half_width, 1.7 * s.eye_half_height},
      {0.75, s.eye_x, s.eye_y, 0.5 * s.eye_half_width, 0.9 * s.eye_half_height},
      {0.6, s.brow_x, s.brow_y, 0.85 * s.brow_half_width, 0.5},
      {0.75, 0.85 * wing, s.nose_y - 0.15, 0.33 * wing, 0.45},
      {0.5, s.cheek_x, s.cheek_y, 0.9 * s.brow_half_width, 1.6},
      {-0.3, mouth, s.mouth_y, 0.4, 0.4},
      // In the middle: tip, bridge, lips, the line between them, chin and the groove above.
      {s.nose_height, 0, s.nose_y, 0.55 * wing, 0.85},
      {s.bridge_height, 0, (s.nose_y + s.eye_y) / 2, 0.4 * wing, (s.eye_y - s.nose_y) / 2},
      {0.7, 0, s.mouth_y + lip, 0.6 * mouth, 0.7 * lip},
      {0.65, 0, s.mouth_y - lip, 0.55 * mouth, 0.75 * lip},
      {-0.45, 0, s.mouth_y, 0.7 * mouth, 0.16},
      {0.9, 0, s.chin_y, 1.4, 0.8},
      {-0.3, 0, (s.chin_y + s.mouth_y - lip) / 2, 1.5, 0.45}};
}

double SyntheticHeadSurface::bumps(double x, double y) const {
  double sum = 0;
  for (const Bump& b : bumps_) {
    const double dy = (y - b.y) / b.half_height;
    const auto at = [&](double centre) {
      const double dx = (x - centre) / b.half_width;
      return std::exp(-0.5 * (dx * dx + dy * dy));
    };
    sum += b.height * (b.x == 0 ? at(0) : at(b.x) + at(-b.x));  // to the bit the same at -x
  }
  return sum;
}

double SyntheticHeadSurface::waves(double x, double y) const {
  if (asymmetry_ == 0) return 0;
  // [1/cm, 1/cm, rad]: lengths from 5 to 14 cm in all directions, none of them even in x.
  static constexpr double kWaves[6][3] = {{0.45, 0.10, 0.7}, {0.30, -0.55, 1.9}, {0.95, 0.35, 3.1},
                                          {0.15, 0.85, 4.4}, {0.70, -0.90, 5.2}, {1.20, 0.25, 0.2}};
  double sum = 0;
  for (const auto& w : kWaves) sum += std::sin(w[0] * x + w[1] * y + w[2]);
  return asymmetry_ * sum;
}

Vec3d SyntheticHeadSurface::point(const Vec3d& u) const {
  const double taper = 1 - shape_.jaw_taper * smooth(-u.y());
  const double x = shape_.half_width * u.x() * taper, y = shape_.half_height * u.y();
  return {x, y, shape_.half_depth * u.z() + smooth(u.z() / 0.5) * bumps(x, y) + waves(x, y)};
}

double SyntheticHeadSurface::rimDistance(double x, double y) const {
  const double uy = y / shape_.half_height;
  const double ux = x / (shape_.half_width * (1 - shape_.jaw_taper * smooth(-uy)));
  return ux * ux + uy * uy;
}

Vec3d SyntheticHeadSurface::frontPoint(double x, double y) const {
  DERM_REQUIRE(onFront(x, y));
  const double uy = y / shape_.half_height;
  const double ux = x / (shape_.half_width * (1 - shape_.jaw_taper * smooth(-uy)));
  return point(Vec3d(ux, uy, std::sqrt(1 - ux * ux - uy * uy)));
}

std::vector<SyntheticHeadPoint> syntheticHeadPoints(const SyntheticHeadShape& s) {
  const double lip = s.lip_height;
  std::vector<SyntheticHeadPoint> points = {{"9.3", 0, s.nose_y},
                                            {"8.1", 0, s.mouth_y + 1.7 * lip},
                                            {"8.2", 0, s.mouth_y - 1.8 * lip},
                                            {"2.1", 0, s.chin_y}};
  const auto pair = [&](std::string_view left, std::string_view right, double x, double y) {
    points.push_back({left, x, y});
    points.push_back({right, -x, y});
  };
  pair("4.1", "4.2", s.brow_x - s.brow_half_width, s.brow_y - 0.15);
  pair("4.3", "4.4", s.brow_x, s.brow_y + 0.25);
  pair("4.5", "4.6", s.brow_x + s.brow_half_width, s.brow_y - 0.35);
  pair("3.1", "3.2", s.eye_x, s.eye_y + s.eye_half_height);
  pair("3.3", "3.4", s.eye_x, s.eye_y - s.eye_half_height);
  pair("3.7", "3.12", s.eye_x + s.eye_half_width, s.eye_y);
  pair("3.11", "3.8", s.eye_x - s.eye_half_width, s.eye_y);
  pair("5.1", "5.2", s.cheek_x, s.cheek_y);
  pair("9.1", "9.2", s.nose_half_width, s.nose_y - 0.2);
  pair("8.3", "8.4", s.mouth_half_width, s.mouth_y);
  pair("8.5", "8.6", s.mouth_half_width / 2, s.mouth_y + 1.3 * lip);
  pair("8.7", "8.8", s.mouth_half_width / 2, s.mouth_y - 1.35 * lip);
  return points;
}

SyntheticHeadDesc syntheticHeadA() { return {}; }

SyntheticHeadDesc syntheticHeadB() {
  SyntheticHeadDesc desc{.name = "head-b", .mesh = SyntheticHeadDesc::Mesh::LatLong};
  desc.shape = {6.9,  11.8, 9.6, 0.35, 2.9,  1.6, 1.35, 0.45, 2.9, 3.3, 1.7,
                -2.4, 1.35, 2.9, 1.3,  -5.7, 2.2, 0.45, -9.3, 3.6, -2.2};
  return desc;
}

SyntheticHeadDesc syntheticHeadC() {
  SyntheticHeadDesc desc{.name = "head-c"};
  desc.shape = {9.5,  10.5, 8.5, 0.10, 3.9,  0.6, 2.4, 1.3,  4.0, 3.6, 2.2,
                -2.1, 1.0,  1.5, 0.4,  -4.6, 4.2, 0.6, -7.6, 5.6, -2.4};
  return desc;
}

SyntheticHeadShape variedHead(const SyntheticHeadShape& shape, double share, Rng& rng) {
  SyntheticHeadShape out = shape;
  for (double* value : out.parameters()) *value *= rng.uniform(1 - share, 1 + share);
  return out;
}

Result<Character> makeSyntheticHead(const SyntheticHeadDesc& desc) {
  const auto inRange = [](int n, int low, int high) { return low <= n && n <= high; };
  const bool octahedron = desc.mesh == SyntheticHeadDesc::Mesh::Octahedron;
  if (octahedron ? !inRange(desc.subdivisions, 2, 200)
                 : !(inRange(desc.rows, 4, 400) && inRange(desc.columns, 4, 400)))
    return Error{ErrorCode::BadArgument,
                 octahedron ? "subdivisions are not in 2 to 200" : "rows, columns not in 4 to 400",
                 {.file = desc.name}};
  if (!std::isfinite(desc.asymmetry_cm)) return badShape(desc, "asymmetry_cm is not a number");
  const SyntheticHeadSurface surface(desc.shape, desc.asymmetry_cm);
  DERM_CHECK(checkShape(desc, surface));

  detail::cast::SphereMesh sphere = octahedron ? detail::cast::octahedronMesh(desc.subdivisions)
                                               : detail::cast::latLongMesh(desc.rows, desc.columns);
  std::vector<Vec3d> positions;
  for (const Vec3d& u : sphere.directions)
    positions.push_back(surface.point((u + kTowardsFace).normalized()));
  const SyntheticHeadShape& s = desc.shape;
  if (desc.mouth_slit &&
      !detail::cast::cutSlit(positions, sphere.triangles,
                             {s.mouth_y, 0.85 * s.mouth_half_width, 0.35 * s.lip_height},
                             [&](double x, double y) { return surface.frontPoint(x, y); }))
    return Error{
        ErrorCode::BadArgument, "the mesh is too coarse for a mouth slit", {.file = desc.name}};

  Character head;
  head.name = desc.name;
  head.import.format = "cast";
  head.import.declared_unit = "m";
  for (const Vec3d& p : positions) head.mesh.positions.push_back((kMetresPerCm * p).cast<float>());
  head.mesh.triangles = std::move(sphere.triangles);
  head.mesh.normals = areaWeightedNormals(head.mesh.positions, head.mesh.triangles);
  detail::cast::mouldOfClay(head, Vec4f(0.62f, 0.47f, 0.40f, 1.0f));
  for (const SyntheticHeadPoint& p : syntheticHeadPoints(s)) {
    const std::optional<SurfacePoint> found =
        frontSurfacePoint(head.mesh, kMetresPerCm * p.x, kMetresPerCm * p.y);
    if (!found)
      return Error{ErrorCode::BadArgument,
                   "the mesh is too coarse for point " + std::string(p.label),
                   {.file = desc.name}};
    head.points.push_back({std::string(p.label), *found});
  }
  return head;
}

}  // namespace derm
