#include "contact/contact_solver.h"

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
constexpr float kHoldsAt = 0.5f;  ///< a move of this length holds a vertex fully
constexpr int kMaxWalk = 64;
constexpr int kSpikePasses = 2, kSpreadPasses = 8, kSoftenPasses = 4, kGuardPasses = 8;
constexpr int kActiveRings = 8, kHeldRings = 2, kHeldPasses = 3;
/// How fast the displacement falls off beside a contact, per metre.
constexpr float kFallOff = 1;
constexpr float kGuardShare = 0.75f;
/// A triangle counts as turned where less than this is left of its area, seen from where it faced.
constexpr float kLeast = 0.1f;
/// The same after all passes; below, what contact has done to the triangle is taken back.
constexpr float kLeastAtEnd = 0.02f;
constexpr int kRetreatPasses = 24;
/// After so many of them points go back half of their way, after so many all of it.
constexpr int kHalveFrom = 10, kUndoFrom = 18;
/// Of the cap: all passes together.
constexpr float kTotalCap = 1.2f;
/// Of a depth: the least that one of two skins gives way.
constexpr float kLeastYield = 0.2f;
/// Normals beside an edge that make it a fold: 150 degrees.
constexpr float kFoldedCosine = -0.8660254f;

float smoothstep(float from, float to, float v) {
  const float t = std::clamp((v - from) / (to - from), 0.0f, 1.0f);
  return t * t * (3 - 2 * t);
}

Vec3f saturated(const Vec3f& step, float cap) {
  const float length = step.norm();
  return length > 0 ? Vec3f(step * (cap * std::tanh(length / cap) / length)) : step;
}

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

void PointSet::sort() { std::sort(list_.begin(), list_.end()); }

ContactSolver::ContactSolver(const ContactBody& body)
    : body_(body),
      x_(body.pointCount(), Vec3f::Zero()),
      input_(x_),
      back_(body.parts.size()),
      boxes_(body.parts.size()),
      own_error_(body.weights.size()),
      columns_(body.welded_count),
      column_of_point_(body.welded_count),
      d_(body.pointCount(), Vec3f::Zero()),
      next_(d_),
      first_(d_),
      weight_(body.pointCount(), 0.0f),
      touched_(body.pointCount()),
      spread_(body.pointCount()),
      ring_(body.pointCount()),
      active_(body.pointCount()),
      moved_(body.pointCount()),
      held_(body.pointCount()),
      gated_(body.pointCount()),
      triangle_stamp_(body.own.size(), 0),
      pull_(body.pointCount(), Vec3f::Zero()),
      pulls_(body.pointCount(), 0),
      hold_(body.pointCount(), 0.0f),
      hold_next_(body.pointCount(), 0.0f) {
  contacts_.reserve(4 * body.welded_count);
  triangle_list_.reserve(body.own.size());
  for (int level = 0; level < 3; ++level) {
    normals_[level].resize(body.pointCount());
    normal_stamp_[level].assign(body.pointCount(), 0);
  }
}

/// Positions, and what takes each part back to its rest.
void ContactSolver::takeUp(const Frame& frame) {
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
}

void ContactSolver::completeApexes() {
  for (std::size_t a = 0; a < body_.borders.rowCount(); ++a) {
    const auto border = body_.borders[a];
    Vec3f sum = Vec3f::Zero();
    for (const std::uint32_t p : border) sum += x_[p];
    x_[body_.welded_count + a] = sum / static_cast<float>(border.size());
  }
}

void ContactSolver::findBoxes() {
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

/// Area-weighted, averaged `level` times; found when asked for.
Vec3f ContactSolver::normal(int level, std::uint32_t p) {
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
float ContactSolver::ownError(std::uint32_t entry, std::uint32_t point, std::uint32_t part) {
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
std::uint32_t ContactSolver::walk(std::uint32_t from, const Vec3f& to) const {
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

bool ContactSolver::lookAt(std::uint32_t point, std::uint32_t part, float extra_gap, Contact& out) {
  const Vec3f at = x_[point];
  const Vec3f p = back_[part] * at;
  if (!inside(p, body_.parts[part].low, body_.parts[part].high)) return false;
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
  if (distance - error > kInsideField * body_.lengths.unit + extra_gap) return false;

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
  if (body_.withinTwoRings(point, end)) return false;
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
  out.depth = gapOf(point) + extra_gap + (is_inside ? length : -length);
  if (!(out.depth > 0)) return false;
  if (!is_inside) out.away = -out.away;
  out.point = point;
  out.territory = w;
  return true;
}

void ContactSolver::findContacts(bool only_active, float extra_gap) {
  contacts_.clear();
  ++normal_now_;
  std::fill(own_error_.begin(), own_error_.end(), std::numeric_limits<float>::quiet_NaN());
  for (std::uint32_t k = 0; k < boxes_.size(); ++k) {
    if (!boxes_[k].used) continue;
    for (std::uint32_t a = 0; a < boxes_.size(); ++a) {
      if (a == k || !boxes_[a].used ||
          !overlap(boxes_[a].low, boxes_[a].high, boxes_[k].low, boxes_[k].high))
        continue;
      for (const std::uint32_t p : body_.parts[a].labelled) {
        if (!inside(x_[p], boxes_[k].low, boxes_[k].high)) continue;
        if (!body_.seeks[p] || (only_active && !active_.has(p))) continue;
        Contact contact;
        if (!lookAt(p, k, extra_gap, contact)) continue;
        if (contacts_.size() == contacts_.capacity()) {
          report_.overflow = true;
          return;
        }
        contacts_.push_back(contact);
      }
    }
  }
}

/// Leaves those contacts whose vertex, or what lies just before it, is inside the whole skin.
void ContactSolver::gate(float extra_gap) {
  completeApexes();
  columns_.clear();
  gated_.clear();
  for (const Contact& c : contacts_) {
    if (gated_.has(c.point)) continue;
    gated_.add(c.point);
    column_of_point_[c.point] = static_cast<std::uint32_t>(columns_.size());
    columns_.add(x_[c.point] +
                 (gapOf(c.point) + extra_gap + kGateMargin * scale_ * body_.lengths.unit) *
                     normal(2, c.point));
  }
  const auto winding = columns_.evaluate(x_, body_.closed);
  std::erase_if(contacts_, [&](const Contact& c) {
    return winding[column_of_point_[c.point]] < 1 + body_.rest_winding[c.point];
  });
}

void ContactSolver::push(std::uint32_t p, const Vec3f& step, float weight) {
  touched_.add(p);
  d_[p] += weight * saturated(step, capOf(p));
  weight_[p] += weight;
}

/// What of a depth the point's own skin gives way, the other taking the rest: each by the same
/// share of its thickness, so that an arm dents the trunk more than the trunk flattens the arm.
float ContactSolver::yieldOf(const Contact& c) const {
  const float own = body_.thickness[c.point];
  const float other = c.share.x() * body_.thickness[c.hit[0]] +
                      c.share.y() * body_.thickness[c.hit[1]] +
                      c.share.z() * body_.thickness[c.hit[2]];
  const float all = own + other;
  return all > 0 ? std::clamp(own / all, kLeastYield, 1 - kLeastYield) : 0.5f;
}

/// Both skins to a surface between them.
void ContactSolver::pushApart() {
  touched_.clear();
  for (const Contact& c : contacts_) {
    const Vec3f own = normal(2, c.point);
    Vec3f out = (c.away + 2 * gapOf(c.point) * c.normal).normalized();
    if (out.dot(c.normal) < 0.2f) out = (out + c.normal).normalized();
    const Vec3f u = out - own;
    const float square = u.squaredNorm();
    const float yields = yieldOf(c);
    const float given = 2 * yields * c.depth / (scale_ * body_.thickness[c.point]);
    const float share = smoothstep(0.6f, 2.4f, square) * smoothstep(kTerritory, 0.6f, c.territory) *
                        (1 - smoothstep(0.4f, 0.8f, given));
    const Vec3f step = u * (c.depth / std::max(square, 1.0f) * share);
    if (!step.allFinite() || step == Vec3f::Zero()) continue;
    const float weight = c.depth * c.depth;
    push(c.point, 2 * yields * step, weight);
    for (std::size_t k = 0; k < 3; ++k)
      if (c.share[static_cast<int>(k)] > 0)
        push(c.hit[k], -2 * (1 - yields) * step, weight * c.share[static_cast<int>(k)]);
  }
  touched_.sort();
  for (const std::uint32_t p : touched_.list()) {
    if (weight_[p] > 0) d_[p] /= weight_[p];
    weight_[p] = 0;
  }
}

void ContactSolver::cutSpikes() {
  for (int pass = 0; pass < kSpikePasses; ++pass) {
    for (const std::uint32_t p : touched_.list()) {
      float max = 0;
      for (const std::uint32_t q : body_.neighbours[p])
        max = std::max(max, d_[q].norm() + (x_[p] - x_[q]).norm());
      const float length = d_[p].norm();
      next_[p] = length > max ? Vec3f(d_[p] * (max / length)) : d_[p];
    }
    for (const std::uint32_t p : touched_.list()) d_[p] = next_[p];
  }
  for (const std::uint32_t p : touched_.list()) first_[p] = d_[p];
}

void ContactSolver::spread() {
  spread_.clear();
  for (const std::uint32_t p : touched_.list()) spread_.add(p);
  for (int pass = 0; pass < kSpreadPasses; ++pass) {
    ring_.clear();
    for (const std::uint32_t p : spread_.list()) {
      ring_.add(p);
      for (const std::uint32_t q : body_.neighbours[p]) ring_.add(q);
    }
    bool grows = false;
    for (const std::uint32_t p : ring_.list()) {
      float best = d_[p].norm();
      next_[p] = d_[p];
      for (const std::uint32_t q : body_.neighbours[p]) {
        if (!spread_.has(q)) continue;
        const float length = d_[q].norm();
        const float here = length - kFallOff * (x_[p] - x_[q]).norm();
        if (!(here > best)) continue;
        best = here;
        next_[p] = d_[q] * (here / length);
        grows = true;
      }
    }
    if (!grows) return;
    for (const std::uint32_t p : ring_.list()) {
      d_[p] = next_[p];
      if (d_[p] != Vec3f::Zero()) spread_.add(p);
    }
  }
}

/// Averages; what a contact needs stays.
void ContactSolver::soften() {
  for (int pass = 0; pass < kSoftenPasses; ++pass) {
    ring_.clear();
    for (const std::uint32_t p : spread_.list()) {
      ring_.add(p);
      for (const std::uint32_t q : body_.neighbours[p]) ring_.add(q);
    }
    for (const std::uint32_t p : ring_.list()) {
      const auto ring = body_.neighbours[p];
      Vec3f sum = Vec3f::Zero();
      for (const std::uint32_t q : ring) sum += d_[q];
      Vec3f d = 0.5f * d_[p];
      if (!ring.empty()) d += (0.5f / static_cast<float>(ring.size())) * sum;
      if (touched_.has(p)) {
        const float needed = first_[p].norm();
        if (needed > 0) {
          const Vec3f along = first_[p] / needed;
          d += std::max(0.0f, needed - d.dot(along)) * along;
        }
      }
      next_[p] = d;
    }
    for (const std::uint32_t p : ring_.list()) {
      d_[p] = next_[p];
      spread_.add(p);
    }
  }
}

/// A triangle that would turn over moves as one instead.
void ContactSolver::guard() {
  triangle_list_.clear();
  if (++triangle_now_ == 0) {
    std::fill(triangle_stamp_.begin(), triangle_stamp_.end(), 0u);
    triangle_now_ = 1;
  }
  const auto add_around = [&](std::uint32_t p) {
    for (const std::uint32_t t : body_.triangles_of_point[p]) {
      if (triangle_stamp_[t] == triangle_now_) continue;
      triangle_stamp_[t] = triangle_now_;
      triangle_list_.push_back(t);
    }
  };
  for (const std::uint32_t p : spread_.list()) add_around(p);
  for (int pass = 0; pass < kGuardPasses; ++pass) {
    ring_.clear();
    for (const std::uint32_t t : triangle_list_) {
      const Triangle& c = body_.own[t];
      const Vec3f was =
          Vec3f(input_[c[1]] - input_[c[0]]).cross(Vec3f(input_[c[2]] - input_[c[0]]));
      const auto at = [&](std::size_t k) -> Vec3f { return x_[c[k]] + d_[c[k]]; };
      const Vec3f a = at(0);
      const Vec3f is = Vec3f(at(1) - a).cross(Vec3f(at(2) - a));
      if (!(is.dot(was) < kLeast * was.squaredNorm())) continue;
      const Vec3f mean = (d_[c[0]] + d_[c[1]] + d_[c[2]]) / 3;
      for (const std::uint32_t p : c) {
        if (!ring_.has(p)) {
          ring_.add(p);
          pull_[p].setZero();
          pulls_[p] = 0;
        }
        pull_[p] += mean;
        ++pulls_[p];
      }
    }
    if (ring_.empty()) return;
    for (const std::uint32_t p : ring_.list()) {
      d_[p] += kGuardShare * (pull_[p] / static_cast<float>(pulls_[p]) - d_[p]);
      if (spread_.has(p)) continue;
      spread_.add(p);
      add_around(p);
    }
  }
}

void ContactSolver::apply() {
  for (const std::uint32_t p : spread_.list()) {
    if (d_[p] == Vec3f::Zero() || p >= body_.welded_count) continue;
    moved_.add(p);
    x_[p] += d_[p];
    const float cap = kTotalCap * capOf(p);
    const Vec3f all = x_[p] - input_[p];
    const float length = all.norm();
    if (length > cap) x_[p] = input_[p] + all * (cap / length);
  }
  for (const std::uint32_t p : spread_.list()) d_[p].setZero();
  for (const std::uint32_t p : touched_.list()) d_[p].setZero();
}

/// Triangles that have turned over, or folded against a neighbour, in spite of the guard: their
/// corners go the mean of their ways, and where that does not help, back.
void ContactSolver::retreat() {
  if (++triangle_now_ == 0) {
    std::fill(triangle_stamp_.begin(), triangle_stamp_.end(), 0u);
    triangle_now_ = 1;
  }
  triangle_list_.clear();
  const auto add_around = [&](std::uint32_t p) {
    for (const std::uint32_t t : body_.triangles_of_point[p]) {
      if (triangle_stamp_[t] == triangle_now_) continue;
      triangle_stamp_[t] = triangle_now_;
      triangle_list_.push_back(t);
    }
  };
  const auto normal_in = [&](const std::vector<Vec3f>& x, std::uint32_t t) -> Vec3f {
    const Triangle& c = body_.own[t];
    return Vec3f(x[c[1]] - x[c[0]]).cross(Vec3f(x[c[2]] - x[c[0]]));
  };
  const auto folds = [](const Vec3f& a, const Vec3f& b) {
    const float cosine = a.dot(b);
    return cosine < 0 &&
           cosine * cosine > kFoldedCosine * kFoldedCosine * a.squaredNorm() * b.squaredNorm();
  };
  for (const std::uint32_t p : moved_.list()) add_around(p);
  for (int pass = 0; pass < kRetreatPasses && !triangle_list_.empty(); ++pass) {
    ring_.clear();
    const auto pull = [&](std::uint32_t t) {
      const Triangle& c = body_.own[t];
      const Vec3f mean = (moveOf(c[0]) + moveOf(c[1]) + moveOf(c[2])) / 3;
      for (const std::uint32_t p : c) {
        if (!ring_.has(p)) {
          ring_.add(p);
          pull_[p].setZero();
          pulls_[p] = 0;
        }
        pull_[p] += mean;
        ++pulls_[p];
      }
    };
    for (const std::uint32_t t : triangle_list_) {
      const Vec3f was = normal_in(input_, t), is = normal_in(x_, t);
      bool bad = is.dot(was) < kLeastAtEnd * was.squaredNorm();
      const Triangle& c = body_.own[t];
      for (std::size_t k = 0; k < 3 && !bad && pass < kHalveFrom; ++k) {
        const std::uint32_t other = body_.across[t][k];
        if (other == kNoPoint || !folds(is, normal_in(x_, other))) continue;
        bad = !folds(was, normal_in(input_, other)) &&
              (moved_.has(c[k]) || moved_.has(c[(k + 1) % 3]));
      }
      if (bad) pull(t);
    }
    if (ring_.empty()) return;
    if (++triangle_now_ == 0) {
      std::fill(triangle_stamp_.begin(), triangle_stamp_.end(), 0u);
      triangle_now_ = 1;
    }
    triangle_list_.clear();
    for (const std::uint32_t p : ring_.list()) {
      Vec3f way = moveOf(p);
      if (pass < kHalveFrom)
        way += kGuardShare * (pull_[p] / static_cast<float>(pulls_[p]) - way);
      else
        way *= pass < kUndoFrom ? 0.5f : 0.0f;
      x_[p] = input_[p] + way;
      if (p < body_.welded_count) moved_.add(p);
      add_around(p);
    }
  }
}

/// What others must leave alone: what has moved, and a little around it.
void ContactSolver::findHeld() {
  for (const std::uint32_t p : held_.list()) hold_[p] = 0;
  held_.clear();
  const float full = kHoldsAt * scale_ * body_.lengths.unit;
  for (const std::uint32_t p : moved_.list()) {
    held_.add(p);
    hold_[p] = std::min(1.0f, moveOf(p).norm() / full);
    weight_[p] = hold_[p];
  }
  const auto grow = [&] {
    for (std::size_t i = 0, n = held_.list().size(); i < n; ++i)
      for (const std::uint32_t q : body_.neighbours[held_.list()[i]]) held_.add(q);
  };
  for (int ring = 0; ring < kHeldRings; ++ring) {
    grow();
    for (const std::uint32_t p : held_.list()) {
      float most = hold_[p];
      for (const std::uint32_t q : body_.neighbours[p]) most = std::max(most, 0.5f * hold_[q]);
      hold_next_[p] = most;
    }
    for (const std::uint32_t p : held_.list()) hold_[p] = hold_next_[p];
  }
  for (int pass = 0; pass < kHeldPasses; ++pass) {
    grow();
    for (const std::uint32_t p : held_.list()) {
      const auto ring = body_.neighbours[p];
      float sum = 0;
      for (const std::uint32_t q : ring) sum += hold_[q];
      const float mean = ring.empty() ? hold_[p] : sum / static_cast<float>(ring.size());
      hold_next_[p] = std::max(0.5f * (hold_[p] + mean), weight_[p]);
    }
    for (const std::uint32_t p : held_.list()) hold_[p] = hold_next_[p];
  }
  for (const std::uint32_t p : moved_.list()) weight_[p] = 0;
}

const ContactReport& ContactSolver::solve(const Frame& frame) noexcept {
  report_ = {};
  moved_.clear();
  for (const std::uint32_t p : held_.list()) hold_[p] = 0;
  held_.clear();
  takeUp(frame);
  findBoxes();
  for (int pass = 0; pass < body_.passes; ++pass) {
    if (pass > 0) findBoxes();
    findContacts(pass > 0, frame.extra_gap);
    if (pass == 0) {
      if (contacts_.empty()) return report_;
      input_ = x_;
      gate(frame.extra_gap);
      report_.contacts = contacts_.size();
    }
    if (contacts_.empty()) break;
    pushApart();
    if (touched_.empty()) break;
    cutSpikes();
    spread();
    soften();
    guard();
    active_.clear();
    for (const std::uint32_t p : touched_.list()) active_.add(p);
    for (int ring = 0; ring < kActiveRings; ++ring)
      for (std::size_t i = 0, n = active_.list().size(); i < n; ++i)
        for (const std::uint32_t q : body_.neighbours[active_.list()[i]]) active_.add(q);
    apply();
  }
  retreat();
  moved_.sort();
  report_.moved = moved_.list().size();
  for (const std::uint32_t p : moved_.list())
    report_.largest_move_m = std::max(report_.largest_move_m, double{moveOf(p).norm()});
  findHeld();
  return report_;
}

}  // namespace derm::detail
