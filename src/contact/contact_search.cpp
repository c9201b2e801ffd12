#include "contact/contact_search.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/math/transform.h"

namespace derm::detail {
namespace {

// Lengths are in the body's units, about a millimetre on a grown-up.
constexpr float kBoxMargin = 30;   ///< around a part's posed box: for culling only
constexpr float kMaxError = 50;    ///< of the rigid field against the skin as it is now
constexpr float kInsideField = 1;  ///< so near to the skin by the field counts as inside
constexpr float kGateMargin = 0.1f;
constexpr int kMaxWalk = 64;
constexpr std::size_t kRun = 24;  ///< points that are looked at or passed over together

/// Barycentric coordinates of the point of a triangle nearest to p.
Vec3f nearestOnTriangle(const Vec3f& p, const Vec3f& a, const Vec3f& b, const Vec3f& c) {
  const Vec3f ab = b - a, ac = c - a, ap = p - a;
  const float d1 = ab.dot(ap), d2 = ac.dot(ap);
  if (d1 <= 0 && d2 <= 0) return {1, 0, 0};
  const Vec3f bp = p - b;
  const float d3 = ab.dot(bp), d4 = ac.dot(bp);
  if (d3 >= 0 && d4 <= d3) return {0, 1, 0};
  const float vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    const float t = d1 > d3 ? d1 / (d1 - d3) : 0.0f;
    return {1 - t, t, 0};
  }
  const Vec3f cp = p - c;
  const float d5 = ab.dot(cp), d6 = ac.dot(cp);
  if (d6 >= 0 && d5 <= d6) return {0, 0, 1};
  const float vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    const float t = d2 > d6 ? d2 / (d2 - d6) : 0.0f;
    return {1 - t, 0, t};
  }
  const float va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const float whole = (d4 - d3) + (d5 - d6);
    const float t = whole > 0 ? (d4 - d3) / whole : 0.0f;
    return {0, 1 - t, t};
  }
  const float whole = va + vb + vc;
  if (!(whole > 0)) return {1, 0, 0};
  return {1 - (vb + vc) / whole, vb / whole, vc / whole};
}

bool overlap(const Vec3f& low_a, const Vec3f& high_a, const Vec3f& low_b, const Vec3f& high_b) {
  return (low_a.array() <= high_b.array()).all() && (low_b.array() <= high_a.array()).all();
}

bool inside(const Vec3f& p, const Vec3f& low, const Vec3f& high) {
  return p.x() >= low.x() && p.x() <= high.x() && p.y() >= low.y() && p.y() <= high.y() &&
         p.z() >= low.z() && p.z() <= high.z();
}

}  // namespace

ContactSearch::ContactSearch(const ContactBody& body)
    : body_(body),
      x_(body.pointCount(), Vec3f::Zero()),
      back_(body.parts.size()),
      boxes_(body.parts.size()),
      own_error_(body.weights.size()),
      columns_(body.welded_count),
      column_of_point_(body.welded_count),
      gated_(body.pointCount()) {
  seekers_.reserve(body.welded_count);
  runs_.reserve(body.welded_count / kRun + body.parts.size() + 1);
  contacts_.reserve(4 * body.welded_count);
  for (int level = 0; level < 3; ++level) {
    normals_[level].resize(body.pointCount());
    normal_stamp_[level].assign(body.pointCount(), 0);
  }
}

void ContactSearch::takeUp(const ContactFrame& frame) {
  for (std::size_t p = 0; p < body_.welded_count; ++p) {
    const auto vertices = body_.vertices_of_point[p];
    Vec3f sum = frame.positions[vertices.front()];
    if (vertices.size() > 1) {
      for (const std::uint32_t v : vertices.subspan(1)) sum += frame.positions[v];
      sum /= static_cast<float>(vertices.size());
    }
    x_[p] = sum;
  }
  double scale = 0, count = 0;
  for (std::size_t k = 0; k < body_.parts.size(); ++k) {
    const Affine3d posed = frame.palette[body_.parts[k].slot].cast<double>();
    const double volume = std::abs(posed.linear().determinant());
    boxes_[k].used = !body_.parts[k].members.empty() && posed.matrix().allFinite() && volume > 1e-9;
    if (!boxes_[k].used) continue;
    bool ok = true;
    back_[k] = inverseOrIdentity(posed, ok).cast<float>();
    boxes_[k].used = ok;
    const auto skin = static_cast<double>(body_.parts[k].labelled.size());
    scale += std::cbrt(volume) * skin;
    count += skin;
  }
  scale_ = count > 0 ? static_cast<float>(scale / count) : 1.0f;
  extra_gap_ = frame.extra_gap;
}

void ContactSearch::completeApexes() {
  for (std::size_t a = 0; a < body_.borders.rowCount(); ++a) {
    const auto border = body_.borders[a];
    Vec3f sum = Vec3f::Zero();
    for (const std::uint32_t p : border) sum += x_[p];
    x_[body_.welded_count + a] = sum / static_cast<float>(border.size());
  }
}

void ContactSearch::findBoxes() {
  const float margin = kBoxMargin * body_.lengths.unit * scale_;
  for (std::size_t k = 0; k < boxes_.size(); ++k) {
    Box& box = boxes_[k];
    if (!box.used) continue;
    box.low = Vec3f::Constant(std::numeric_limits<float>::infinity());
    box.high = -box.low;
    for (const std::uint32_t p : body_.parts[k].members) {
      box.low = box.low.cwiseMin(x_[p]);
      box.high = box.high.cwiseMax(x_[p]);
    }
    box.low.array() -= margin;
    box.high.array() += margin;
  }
}

Vec3f ContactSearch::normal(int level, std::uint32_t p) {
  if (normal_stamp_[level][p] == normal_now_) return normals_[level][p];
  Vec3f n = Vec3f::Zero();
  if (level == 0) {
    for (const std::uint32_t t : body_.triangles_of_point[p]) {
      const Triangle& c = body_.own[t];
      n += Vec3f(x_[c[1]] - x_[c[0]]).cross(Vec3f(x_[c[2]] - x_[c[0]]));
    }
  } else {
    const auto ring = body_.neighbours[p];
    for (const std::uint32_t q : ring) n += normal(level - 1, q);
    if (!ring.empty()) n /= static_cast<float>(ring.size());
    n += normal(level - 1, p);
  }
  const float length = n.norm();
  n = length > 0 ? Vec3f(n / length) : Vec3f(Vec3f::Zero());
  normals_[level][p] = n;
  normal_stamp_[level][p] = normal_now_;
  return n;
}

/// By how much the rigid field of a part errs at one of its own points: how far flesh, joints and
/// other layers have moved the skin there.
float ContactSearch::ownError(std::uint32_t entry, std::uint32_t point, std::uint32_t part) {
  float& known = own_error_[entry];
  if (!std::isnan(known)) return known;
  const float max = kMaxError * body_.lengths.unit;
  ContactGrid::Sample s;
  known = max;
  if (body_.grid.sample(back_[part] * x_[point], s))
    known = std::clamp(s.distance() - body_.rest_distance[point], -max, max);
  return known;
}

/// Over the posed skin to a vertex that has no nearer neighbour.
std::uint32_t ContactSearch::walk(std::uint32_t from, const Vec3f& to) const {
  float best = (x_[from] - to).squaredNorm();
  for (int step = 0; step < kMaxWalk; ++step) {
    std::uint32_t next = from;
    for (const std::uint32_t q : body_.neighbours[from]) {
      const float d = (x_[q] - to).squaredNorm();
      if (d < best) {
        best = d;
        next = q;
      }
    }
    if (next == from) break;
    from = next;
  }
  return from;
}

bool ContactSearch::lookAt(std::uint32_t point, std::uint32_t part, Contact& out) {
  const Vec3f at = x_[point];
  const Vec3f p = back_[part] * at;
  if (!inside(p, body_.parts[part].low, body_.parts[part].high)) return false;
  const float room = body_.room[point];
  if ((p - body_.rest[point]).squaredNorm() < room * room) return false;
  // A walk from a neighbour would end at the point itself.
  const ContactGrid::Node nearest = body_.grid.nearestNode(p);
  if (nearest.nearest == kNoPoint || nearest.nearest == point) return false;
  if (body_.areNeighbours(point, nearest.nearest)) return false;
  ContactGrid::Sample s;
  if (!body_.grid.sample(p, s)) return false;
  float w = 0, error = 0, errors = 0, distance = 0;
  std::array<std::uint32_t, 8> seeds;
  std::size_t seed_count = 0;
  for (std::size_t k = 0; k < 8; ++k) {
    distance += s.weights[k] * s.nodes[k].distance;
    const std::uint32_t near = s.nodes[k].nearest;
    const std::uint32_t entry = body_.entryOf(near, part);
    if (entry == kNoPoint) continue;
    const float weight = body_.weights[entry].weight;
    w += s.weights[k] * weight;
    if (weight < kSeedWeight) continue;
    if (near == point) return false;
    if (std::find(seeds.begin(), seeds.begin() + seed_count, near) == seeds.begin() + seed_count)
      seeds[seed_count++] = near;
    const float share = s.weights[k] * (weight - kSeedWeight);
    if (!(share > 0)) continue;
    error += share * ownError(entry, near, part);
    errors += share;
  }
  if (!(w > kTerritory) || seed_count == 0) return false;
  if (errors > 0) error /= errors;
  if (distance - error > kInsideField * body_.lengths.unit + extra_gap_) return false;

  std::uint32_t end = kNoPoint;
  float best = std::numeric_limits<float>::infinity();
  for (std::size_t k = 0; k < seed_count; ++k) {
    const std::uint32_t e = walk(seeds[k], at);
    const float d = (x_[e] - at).squaredNorm();
    if (d < best || (d == best && e < end)) {
      best = d;
      end = e;
    }
    if (end == point) return false;
  }
  if (body_.isBeside(point, end)) return false;
  float nearest_square = std::numeric_limits<float>::infinity();
  for (const std::uint32_t t : body_.triangles_of_point[end]) {
    const Triangle& c = body_.own[t];
    const Vec3f share = nearestOnTriangle(at, x_[c[0]], x_[c[1]], x_[c[2]]);
    const Vec3f away = share.x() * x_[c[0]] + share.y() * x_[c[1]] + share.z() * x_[c[2]] - at;
    const float square = away.squaredNorm();
    if (!(square < nearest_square)) continue;
    nearest_square = square;
    out.hit = c;
    out.share = share;
    out.away = away;
  }
  if (!std::isfinite(nearest_square)) return false;
  if (!body_.mayMeet(point, out.hit[0])) return false;
  out.normal = out.share.x() * normal(2, out.hit[0]) + out.share.y() * normal(2, out.hit[1]) +
               out.share.z() * normal(2, out.hit[2]);
  const float length = std::sqrt(nearest_square);
  const bool is_inside = out.away.dot(out.normal) >= 0;
  out.depth = gapOf(point) + extra_gap_ + (is_inside ? length : -length);
  if (!(out.depth > 0)) return false;
  if (!is_inside) out.away = -out.away;
  out.point = point;
  out.territory = w;
  return true;
}

/// Points that seek contact, part by part, in runs with a box each.
void ContactSearch::gatherSeekers(const PointSet* among) {
  seekers_.clear();
  runs_.clear();
  for (std::uint32_t a = 0; a < boxes_.size(); ++a) {
    if (!boxes_[a].used) continue;
    std::size_t in_run = kRun;
    for (const std::uint32_t p : body_.parts[a].labelled) {
      if (!body_.seeks[p] || (among != nullptr && !among->has(p))) continue;
      if (in_run == kRun) {
        runs_.push_back({x_[p], x_[p], a, static_cast<std::uint32_t>(seekers_.size())});
        in_run = 0;
      }
      runs_.back().low = runs_.back().low.cwiseMin(x_[p]);
      runs_.back().high = runs_.back().high.cwiseMax(x_[p]);
      seekers_.push_back(p);
      runs_.back().last = static_cast<std::uint32_t>(seekers_.size());
      ++in_run;
    }
  }
}

bool ContactSearch::find(const PointSet* among) {
  findBoxes();
  gatherSeekers(among);
  contacts_.clear();
  refreshNormals();
  std::fill(own_error_.begin(), own_error_.end(), std::numeric_limits<float>::quiet_NaN());
  for (std::uint32_t k = 0; k < boxes_.size(); ++k) {
    if (!boxes_[k].used) continue;
    for (const Run& run : runs_) {
      if (run.part == k || !overlap(run.low, run.high, boxes_[k].low, boxes_[k].high)) continue;
      for (std::uint32_t s = run.first; s < run.last; ++s) {
        const std::uint32_t p = seekers_[s];
        if (!inside(x_[p], boxes_[k].low, boxes_[k].high)) continue;
        Contact contact;
        if (!lookAt(p, k, contact)) continue;
        if (contacts_.size() == contacts_.capacity()) return false;
        contacts_.push_back(contact);
      }
    }
  }
  return true;
}

void ContactSearch::gate() {
  completeApexes();
  columns_.clear();
  gated_.clear();
  for (const Contact& c : contacts_) {
    if (gated_.has(c.point)) continue;
    gated_.add(c.point);
    column_of_point_[c.point] = static_cast<std::uint32_t>(columns_.size());
    columns_.add(x_[c.point] +
                 (gapOf(c.point) + extra_gap_ + kGateMargin * scale_ * body_.lengths.unit) *
                     normal(2, c.point));
  }
  const auto winding = columns_.evaluate(x_, body_.closed);
  std::erase_if(contacts_, [&](const Contact& c) {
    return winding[column_of_point_[c.point]] < 1 + body_.rest_winding[c.point];
  });
}

}  // namespace derm::detail
