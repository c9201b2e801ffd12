#include "contact/contact_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "derm/base/assert.h"
#include "derm/math/transform.h"

#include "contact/float_row.h"

namespace derm::detail {
namespace {

// Lengths are in the body's units, about a millimetre on a grown-up.
constexpr float kBoxMargin = 30;   ///< around a part's posed box: for culling only
constexpr float kMaxError = 50;    ///< of the rigid field against the skin as it is now
constexpr float kInsideField = 1;  ///< so near to the skin by the field counts as inside
constexpr float kGateMargin = 0.1f;
constexpr int kMaxWalk = 64;
constexpr double kMinVolume = 1e-21;  ///< of a posed unit cube: floats have no areas below

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

bool inside(const Vec3f& p, const Vec3f& low, const Vec3f& high) {
  return p.x() >= low.x() && p.x() <= high.x() && p.y() >= low.y() && p.y() <= high.y() &&
         p.z() >= low.z() && p.z() <= high.z();
}

}  // namespace

ContactSearch::ContactSearch(const ContactBody& body)
    : body_(body),
      x_(body.pointCount(), Vec3f::Zero()),
      parts_(body.parts.size()),
      own_error_(body.weights.size()),
      columns_(body.welded_count),
      column_of_point_(body.welded_count),
      gated_(body.pointCount()) {
  makeRuns();
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
  const auto posedPart = [&](std::size_t k) {
    return Affine3d(frame.palette[body_.parts[k].slot].cast<double>());
  };
  // A part that a scale of 0 hides is no skin; a character that is shrunk as a whole is.
  double largest = 0;
  for (std::size_t k = 0; k < body_.parts.size(); ++k) {
    const double volume = std::abs(posedPart(k).linear().determinant());
    if (!body_.parts[k].members.empty() && volume > largest) largest = volume;
  }
  const double min_volume = std::max(1e-9 * std::min(1.0, largest), kMinVolume);
  double scale = 0, count = 0;
  for (std::size_t k = 0; k < body_.parts.size(); ++k) {
    const Affine3d posed = posedPart(k);
    const double volume = std::abs(posed.linear().determinant());
    PosedPart& part = parts_[k];
    part.used =
        !body_.parts[k].members.empty() && posed.matrix().allFinite() && volume > min_volume;
    if (!part.used) continue;
    bool ok = true;
    part.back = inverseOrIdentity(posed, ok).cast<float>();
    part.extents = part.back.linear().cwiseAbs();
    part.used = ok;
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

void ContactSearch::Boxes::resize(std::size_t count) {
  for (int k = 0; k < 3; ++k) {
    low[k].resize(count);
    high[k].resize(count);
  }
}

void ContactSearch::Boxes::set(std::size_t i, const Box& box) {
  for (int k = 0; k < 3; ++k) {
    low[k][i] = box.low[k];
    high[k][i] = box.high[k];
  }
}

ContactSearch::Box ContactSearch::Boxes::at(std::size_t i) const {
  return {{low[0][i], low[1][i], low[2][i]}, {high[0][i], high[1][i], high[2][i]}};
}

std::size_t ContactSearch::Boxes::meeting(const Box& box, std::size_t first, std::size_t end,
                                          std::vector<std::uint32_t>& out) const {
  std::size_t count = 0;
  for (std::size_t i = first; i < end; ++i) {
    // Integers, since && would branch at each of the six and keep the loop from being vectorised.
    const int apart = int(low[0][i] > box.high[0]) | int(high[0][i] < box.low[0]) |
                      int(low[1][i] > box.high[1]) | int(high[1][i] < box.low[1]) |
                      int(low[2][i] > box.high[2]) | int(high[2][i] < box.low[2]);
    out[count] = static_cast<std::uint32_t>(i);
    count += static_cast<std::size_t>(apart == 0);
  }
  return count;
}

void ContactSearch::findBoxes() {
  const float margin = kBoxMargin * body_.lengths.unit * scale_;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    if (!parts_[k].used) continue;
    Vec3f low = Vec3f::Constant(std::numeric_limits<float>::infinity()), high = -low;
    for (const std::uint32_t p : body_.parts[k].members) {
      const Vec3f at = x_[p];
      low = low.cwiseMin(at);
      high = high.cwiseMax(at);
    }
    parts_[k].around = {low.array() - margin, high.array() + margin};
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
  if (body_.grid.sample(parts_[part].back * x_[point], s))
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
  const Vec3f p = parts_[part].back * at;
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
  if (!group_of_point_.empty() && group_of_point_[point] != 0 &&
      group_of_point_[point] == group_of_point_[out.hit[0]])
    return false;
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

/// Seekers of each part in the order of a curve through its rest box, so that those of a run are
/// near each other.
void ContactSearch::makeRuns() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> keyed;
  for (std::size_t a = 0; a < parts_.size(); ++a) {
    const ContactPart& part = body_.parts[a];
    keyed.clear();
    const float extent = std::max((part.high - part.low).maxCoeff(), 1e-20f);
    for (const std::uint32_t p : part.labelled) {
      if (!body_.seeks[p]) continue;
      std::uint32_t key = 0;
      for (int k = 0; k < 3; ++k) {
        const float share = std::clamp((body_.rest[p][k] - part.low[k]) / extent, 0.0f, 1.0f);
        const auto cell = static_cast<std::uint32_t>(share * 1023);
        for (std::uint32_t bit = 0; bit < 10; ++bit)
          key |= ((cell >> bit) & 1u) << (3 * bit + static_cast<std::uint32_t>(k));
      }
      keyed.push_back({key, p});
    }
    std::sort(keyed.begin(), keyed.end());
    parts_[a].first_run = static_cast<std::uint32_t>(runs_.size());
    for (std::size_t i = 0; i < keyed.size(); ++i) {
      if (i % kRun == 0) runs_.push_back({});
      Run& run = runs_.back();
      const std::uint32_t p = keyed[i].second;
      run.rest_x[run.count] = body_.rest[p].x();
      run.rest_y[run.count] = body_.rest[p].y();
      run.rest_z[run.count] = body_.rest[p].z();
      run.room[run.count] = body_.room[p];
      run.points[run.count++] = p;
    }
    parts_[a].end_run = static_cast<std::uint32_t>(runs_.size());
  }
  seeking_.resize(parts_.size());
  run_boxes_.resize(runs_.size());
  near_parts_.resize(parts_.size() + 1);
  near_runs_.resize(runs_.size() + 1);
}

/// Where the points of runs are, or those of a set alone.
void ContactSearch::takeUpRuns(const PointSet* among) {
  constexpr float kFar = std::numeric_limits<float>::infinity();
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  for (std::size_t a = 0; a < parts_.size(); ++a) {
    Box all = {Vec3f::Constant(kFar), Vec3f::Constant(-kFar)};
    for (std::size_t r = parts_[a].first_run; parts_[a].used && r < parts_[a].end_run; ++r) {
      Run& run = runs_[r];
      Vec3f low = Vec3f::Constant(kFar), high = -low;
      for (std::uint32_t i = 0; i < kRun; ++i) {
        const bool counts = i < run.count && (among == nullptr || among->has(run.points[i]));
        const Vec3f at = counts ? x_[run.points[i]] : Vec3f(Vec3f::Constant(kNone));
        run.x[i] = at.x();
        run.y[i] = at.y();
        run.z[i] = at.z();
        if (!counts) continue;
        low = low.cwiseMin(at);
        high = high.cwiseMax(at);
      }
      run_boxes_.set(r, {low, high});
      all.low = all.low.cwiseMin(low);
      all.high = all.high.cwiseMax(high);
    }
    seeking_.set(a, all);
  }
}

/// False where nothing in a box can be in the box of a part's rest shape. `slack`: more than
/// rounding can make of a place there.
bool ContactSearch::mayBeIn(const Box& box, std::uint32_t part, float& slack) const {
  const PosedPart& in = parts_[part];
  const Vec3f middle = 0.5f * (box.low + box.high), half = 0.5f * (box.high - box.low);
  const Vec3f there = in.back * middle;
  const Vec3f reach = in.extents * half;
  slack = 1e-5f * ((in.extents * middle.cwiseAbs()).maxCoeff() +
                   in.back.translation().cwiseAbs().maxCoeff() + reach.maxCoeff());
  const Vec3f &low = body_.parts[part].low, &high = body_.parts[part].high;
  for (int k = 0; k < 3; ++k)
    if (!(there[k] - reach[k] <= high[k] + slack && there[k] + reach[k] >= low[k] - slack))
      return false;
  return true;
}

/// A bit for each of a run's points that may land in a part's rest box and away from its own rest
/// place: lookAt() would pass over all others.
std::uint32_t ContactSearch::mayLandIn(const Run& run, std::uint32_t part, float slack) const {
  const Affine3f& back = parts_[part].back;
  const auto m = [&](int row, int column) { return back.matrix()(row, column); };
  const Box& around = parts_[part].around;
  const Vec3f low = body_.parts[part].low.array() - slack;
  const Vec3f high = body_.parts[part].high.array() + slack;
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < kRun; i += 4) {
    const FloatRow x = loadRow(run.x + i), y = loadRow(run.y + i), z = loadRow(run.z + i);
    const FloatRow u = x * m(0, 0) + y * m(0, 1) + z * m(0, 2) + m(0, 3);
    const FloatRow v = x * m(1, 0) + y * m(1, 1) + z * m(1, 2) + m(1, 3);
    const FloatRow w = x * m(2, 0) + y * m(2, 1) + z * m(2, 2) + m(2, 3);
    const FloatRow du = u - loadRow(run.rest_x + i), dv = v - loadRow(run.rest_y + i),
                   dw = w - loadRow(run.rest_z + i);
    const FloatRow room = loadRow(run.room + i) - slack;
    const FloatRow square = du * du + dv * dv + dw * dw;
    const auto in = (x >= around.low.x()) & (x <= around.high.x()) & (y >= around.low.y()) &
                    (y <= around.high.y()) & (z >= around.low.z()) & (z <= around.high.z()) &
                    (u >= low.x()) & (u <= high.x()) & (v >= low.y()) & (v <= high.y()) &
                    (w >= low.z()) & (w <= high.z()) & ((square >= room * room) | (room < 0));
    for (std::size_t lane = 0; lane < 4; ++lane)
      out |= static_cast<std::uint32_t>(in[lane] & 1) << (i + lane);
  }
  return out;
}

/// Contacts of a run's points in a part. False where there is no room for more.
bool ContactSearch::lookInto(const Run& run, std::uint32_t part, float slack) {
  for (std::uint32_t left = mayLandIn(run, part, slack); left != 0; left &= left - 1) {
    const std::uint32_t p = run.points[std::countr_zero(left)];
    if (!inside(x_[p], parts_[part].around.low, parts_[part].around.high)) continue;
    Contact contact;
    if (!lookAt(p, part, contact)) continue;
    if (contacts_.size() == contacts_.capacity()) return false;
    contacts_.push_back(contact);
  }
  return true;
}

void ContactSearch::setGroups(std::vector<std::uint8_t> group_of_point) {
  DERM_REQUIRE(group_of_point.empty() || group_of_point.size() == body_.pointCount());
  group_of_point_ = std::move(group_of_point);
  group_of_part_.assign(group_of_point_.empty() ? 0 : parts_.size(), 0);
  for (std::size_t k = 0; k < group_of_part_.size(); ++k) {
    const std::vector<std::uint32_t>& members = body_.parts[k].members;
    if (members.empty()) continue;
    const std::uint8_t group = group_of_point_[members.front()];
    const bool all = std::all_of(members.begin(), members.end(),
                                 [&](std::uint32_t p) { return group_of_point_[p] == group; });
    group_of_part_[k] = all ? group : 0;
  }
}

bool ContactSearch::find(const PointSet* among) {
  findBoxes();
  takeUpRuns(among);
  contacts_.clear();
  refreshNormals();
  std::fill(own_error_.begin(), own_error_.end(), std::numeric_limits<float>::quiet_NaN());
  float slack = 0;
  for (std::uint32_t k = 0; k < parts_.size(); ++k) {
    if (!parts_[k].used) continue;
    const Box& around = parts_[k].around;
    const std::size_t count = seeking_.meeting(around, 0, parts_.size(), near_parts_);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t a = near_parts_[i];
      const bool one_group = !group_of_part_.empty() && group_of_part_[a] != 0 &&
                             group_of_part_[a] == group_of_part_[k];
      if (a == k || one_group || !mayBeIn(seeking_.at(a), k, slack)) continue;
      const auto begin = static_cast<std::ptrdiff_t>(contacts_.size());
      const std::size_t runs =
          run_boxes_.meeting(around, parts_[a].first_run, parts_[a].end_run, near_runs_);
      for (std::size_t j = 0; j < runs; ++j) {
        const std::uint32_t r = near_runs_[j];
        if (mayBeIn(run_boxes_.at(r), k, slack) && !lookInto(runs_[r], k, slack)) return false;
      }
      // In an order that does not depend on the runs.
      std::sort(contacts_.begin() + begin, contacts_.end(),
                [](const Contact& c, const Contact& d) { return c.point < d.point; });
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
