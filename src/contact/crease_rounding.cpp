#include "contact/crease_rounding.h"

#include <algorithm>
#include <cmath>

#include "contact/float_row.h"

namespace derm::detail {
namespace {

/// Between the normals beside an edge: from here on it is opened, and all of the way beyond.
constexpr float kSharp = 2.44f, kSharpest = 2.58f;  // 140 and 148 degrees
/// Cosine of kSharp.
constexpr float kNearCosine = -0.7637f;
constexpr int kPasses = 8;
/// Of what a point's edges ask for: all of it is too much where they pull each other's points.
constexpr float kShare = 0.7f;
/// Of the distance to the edge: what a point moves at most in a pass.
constexpr float kMost = 0.35f;
/// How clearly both triangles lie before or behind the skin; between, which way is out is not
/// known.
constexpr float kUnclear = 0.05f, kClear = 0.3f;

float rampOf(float from, float to, float v) {
  const float t = std::clamp((v - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

}  // namespace

CreaseRounding::CreaseRounding(const ContactBody& body)
    : body_(body),
      active_(0),
      asked_(body.pointCount()),
      moved_(body.pointCount()),
      ways_(body.pointCount(), Vec3f::Zero()),
      urges_(body.pointCount(), 0.0f) {
  std::vector<std::uint32_t> number(body.own.size(), kNoPoint);
  const auto numbered = [&](std::uint32_t t) {
    if (number[t] == kNoPoint) {
      number[t] = static_cast<std::uint32_t>(triangles_.size());
      triangles_.push_back(body.own[t]);
    }
    return number[t];
  };
  std::vector<std::array<std::uint32_t, 2>> entries;
  for (const ContactEdge& e : body.edges) {
    // Lips and lids, which touch at rest, close as they are made to.
    if (!body.seeks[e.a] || !body.seeks[e.b]) continue;
    const auto index = static_cast<std::uint32_t>(edges_.size());
    edges_.push_back({e.a, e.b, e.c, e.d});
    beside_.push_back({numbered(e.left), numbered(e.right)});
    for (const std::uint32_t p : {e.a, e.b, e.c, e.d}) entries.push_back({p, index});
  }
  std::sort(entries.begin(), entries.end());
  edges_of_point_.offsets.assign(body.pointCount() + 1, 0);
  for (const auto& [p, e] : entries) {
    ++edges_of_point_.offsets[p + 1];
    edges_of_point_.indices.push_back(e);
  }
  for (std::size_t p = 0; p < body.pointCount(); ++p)
    edges_of_point_.offsets[p + 1] += edges_of_point_.offsets[p];
  points_.resize(4 * body.pointCount());
  normals_.resize(4 * triangles_.size());
  active_ = PointSet(edges_.size());
}

/// Edges that are near the limit in the points as they are.
void CreaseRounding::findFolded(const std::vector<Vec3f>& x) {
  const float scale = body_.lengths.to_units;
  for (std::size_t p = 0; p < x.size(); ++p)
    storeRow(FloatRow{scale * x[p].x(), scale * x[p].y(), scale * x[p].z(), 0}, &points_[4 * p]);
  for (std::size_t t = 0; t < triangles_.size(); ++t) {
    const auto corner = [&](std::size_t k) { return loadRow(&points_[4 * triangles_[t][k]]); };
    const FloatRow a = corner(0);
    storeRow(crossRow(corner(1) - a, corner(2) - a), &normals_[4 * t]);
  }
  active_.clear();
  for (std::uint32_t e = 0; e < beside_.size(); ++e) {
    const FloatRow left = loadRow(&normals_[std::size_t{4} * beside_[e][0]]);
    const FloatRow right = loadRow(&normals_[std::size_t{4} * beside_[e][1]]);
    const float dot = dotRow(left, right);
    if (dot < 0 &&
        dot * dot > kNearCosine * kNearCosine * dotRow(left, left) * dotRow(right, right))
      active_.add(e);
  }
}

void CreaseRounding::ask(std::uint32_t point, const Vec3f& way, float urge) {
  if (!asked_.has(point)) {
    asked_.add(point);
    ways_[point].setZero();
    urges_[point] = 0;
  }
  ways_[point] += urge * way;
  urges_[point] += urge;
}

/// What an edge asks of its points. In the plane across the edge, c and d are seen at some angle
/// from the way out of the fold; their sum is what the fold is open by, and is negative where one
/// has gone through the other.
bool CreaseRounding::openOne(const Edge& edge, ContactSearch& search) {
  const std::vector<Vec3f>& x = search.points();
  const Vec3f along = x[edge.b] - x[edge.a];
  const float length = along.norm();
  if (!(length > 0)) return false;
  const Vec3f e = along / length;
  const auto across = [&](std::uint32_t p) {
    const Vec3f v = x[p] - x[edge.a];
    return Vec3f(v - v.dot(e) * e);
  };
  const Vec3f c = across(edge.c), d = across(edge.d);
  const float rc = c.norm(), rd = d.norm();
  if (!(rc > 0 && rd > 0)) return false;
  const Vec3f mean = search.normal(2, edge.a) + search.normal(2, edge.b);
  Vec3f out = mean - mean.dot(e) * e;
  const float out_length = out.norm();
  if (!(out_length > 0)) return false;
  out /= out_length;
  const float before = (c / rc + d / rd).dot(out) / 2;
  const float clear = rampOf(kUnclear, kClear, std::abs(before));
  if (!(clear > 0)) return false;
  // Seen from outside c lies to the left of the edge, d to its right; behind, the other way round.
  if (before < 0) out = -out;
  const Vec3f left = before < 0 ? Vec3f(e.cross(out)) : Vec3f(out.cross(e));
  const float angle = std::atan2(c.dot(left), c.dot(out)) + std::atan2(-d.dot(left), d.dot(out));
  const float folded = 3.14159265f - angle;
  // Where one triangle has gone far through the other their normals tell no fold, and findFolded()
  // passes the edge over: by then it must ask for nothing.
  const float through = 6.2831853f - folded;
  const float urge = clear * rampOf(kSharp, kSharpest, folded) * rampOf(kSharp, kSharpest, through);
  if (!(urge > 0)) return false;
  // Least moves that open by what is missing: turns about the edge, c against d.
  const float missing = folded - kSharp;
  const Vec3f turn_c = (left * c.dot(out) - out * c.dot(left)) / (rc * rc);
  const Vec3f turn_d = -(left * d.dot(out) - out * d.dot(left)) / (rd * rd);
  const auto share = [&](std::uint32_t p) {  // of the edge's ends, at the foot of p
    return std::clamp(Vec3f(x[p] - x[edge.a]).dot(e) / length, -0.5f, 1.5f);
  };
  const float sc = share(edge.c), sd = share(edge.d);
  const Vec3f turn_a = -(1 - sc) * turn_c - (1 - sd) * turn_d, turn_b = -sc * turn_c - sd * turn_d;
  const float square =
      turn_a.squaredNorm() + turn_b.squaredNorm() + turn_c.squaredNorm() + turn_d.squaredNorm();
  const float most = kMost * std::max(rc, rd);
  const auto limited = [&](const Vec3f& turn) {
    const Vec3f way = turn * (missing / square);
    const float size = way.norm();
    return size > most ? Vec3f(way * (most / size)) : way;
  };
  ask(edge.a, limited(turn_a), urge);
  ask(edge.b, limited(turn_b), urge);
  ask(edge.c, limited(turn_c), urge);
  ask(edge.d, limited(turn_d), urge);
  return true;
}

void CreaseRounding::open(ContactSearch& search) {
  moved_.clear();
  if (edges_.empty()) return;
  std::vector<Vec3f>& x = search.points();
  findFolded(x);
  if (active_.empty()) return;
  search.refreshNormals();
  for (int pass = 0; pass < kPasses; ++pass) {
    asked_.clear();
    bool any = false;
    for (const std::uint32_t e : active_.list()) any |= openOne(edges_[e], search);
    if (!any) return;
    for (const std::uint32_t p : asked_.list()) {
      if (p >= body_.welded_count) continue;
      moved_.add(p);
      // One edge that hardly counts moves its points hardly.
      x[p] += ways_[p] * (kShare / std::max(urges_[p], 1.0f));
    }
    for (const std::uint32_t p : asked_.list())
      for (const std::uint32_t e : edges_of_point_[p]) active_.add(e);
  }
}

}  // namespace derm::detail
