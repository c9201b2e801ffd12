#include "contact/contact_solver.h"

#include <algorithm>
#include <cmath>

namespace derm::detail {
namespace {

// Lengths are in the body's units, about a millimetre on a grown-up.
constexpr float kNoMove = 0.01f;  ///< shorter moves are none
constexpr int kGuardPasses = 8, kUnfoldPasses = 10, kHeldPasses = 8;
constexpr float kGuardShare = 0.75f;
/// Skin that contact has moved so far is held entirely.
constexpr float kHeldMove = 1;
/// A triangle counts as turned where less than this is left of its area, seen from where it faced.
constexpr float kLeast = 0.1f;
/// From here on it is left alone; in between the guard sets in gradually, or skin would jump.
constexpr float kFree = 0.4f;
/// The same after all passes; below, contact gives up there.
constexpr float kLeastAtEnd = 0.02f;
constexpr int kGiveUpPasses = 12;
/// Over this length skin goes from where contact gave up to where it did not.
constexpr float kGiveUpReach = 25;
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

/// Whether two triangles, by their area vectors, lie on one another. `scale` is ContactLengths'.
bool folds(const Vec3f& a, const Vec3f& b, float scale) {
  const float of_areas = scale * scale * scale * scale;
  const float cosine = of_areas * a.dot(b);
  return cosine < 0 && cosine * cosine > kFoldedCosine * kFoldedCosine *
                                             (of_areas * a.squaredNorm()) *
                                             (of_areas * b.squaredNorm());
}

Vec3f areaVector(std::span<const Vec3f> x, const Triangle& c) {
  return Vec3f(x[c[1]] - x[c[0]]).cross(Vec3f(x[c[2]] - x[c[0]]));
}

}  // namespace

ContactSolver::ContactSolver(const ContactBody& body)
    : body_(body),
      search_(body),
      field_(body),
      creases_(body),
      input_(body.pointCount(), Vec3f::Zero()),
      active_(body.pointCount()),
      moved_(body.pointCount()),
      held_(body.pointCount()),
      ring_(body.pointCount()),
      triangle_stamp_(body.own.size(), 0),
      pull_(body.pointCount(), Vec3f::Zero()),
      pulls_(body.pointCount(), 0.0f),
      most_(body.pointCount(), 0.0f),
      kept_(body.pointCount(), 1.0f),
      hold_(body.pointCount(), 0.0f),
      hold_next_(body.pointCount(), 0.0f),
      least_hold_(body.pointCount(), 0.0f) {
  triangle_list_.reserve(body.own.size());
}

void ContactSolver::clearTriangles() {
  triangle_list_.clear();
  if (++triangle_now_ == 0) {
    std::fill(triangle_stamp_.begin(), triangle_stamp_.end(), 0u);
    triangle_now_ = 1;
  }
}

void ContactSolver::addTriangles(std::uint32_t around) {
  for (const std::uint32_t t : body_.triangles_of_point[around]) {
    if (triangle_stamp_[t] == triangle_now_) continue;
    triangle_stamp_[t] = triangle_now_;
    triangle_list_.push_back(t);
  }
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

/// Both skins to a surface between them. What is too deep, faces the same way or is hardly the
/// other part's is no reason to stay: it is not sure, and goes with the skin around it.
void ContactSolver::wishApart() {
  field_.clear();
  for (const Contact& c : search_.contacts()) {
    const Vec3f own = search_.normal(2, c.point);
    const float gap = search_.gapOf(c.point);
    Vec3f out = (c.away + 2 * gap * c.normal).normalized();
    if (out.dot(c.normal) < 0.2f) out = (out + c.normal).normalized();
    const Vec3f u = out - own;
    const float square = u.squaredNorm();
    const float yields = yieldOf(c);
    const float given = 2 * yields * c.depth / (search_.scale() * body_.thickness[c.point]);
    const float sure = smoothstep(0.6f, 2.4f, square) * smoothstep(kTerritory, 0.6f, c.territory) *
                       (1 - smoothstep(0.4f, 0.8f, given)) * smoothstep(0, 1.5f * gap, c.depth);
    const Vec3f step = u * (c.depth / std::max(square, 1.0f));
    if (!step.allFinite() || !(sure > 0)) continue;
    const float weight = c.depth * c.depth;
    field_.want(c.point, saturated(2 * yields * step, capOf(c.point)), sure, weight);
    for (std::size_t k = 0; k < 3; ++k) {
      const float share = c.share[static_cast<int>(k)];
      if (share > 0)
        field_.want(c.hit[k], saturated(-2 * (1 - yields) * step, capOf(c.hit[k])), sure * share,
                    weight);
    }
  }
}

/// Notes that the corners of a triangle should go this way, the more the greater the urge.
void ContactSolver::pullTogether(const Triangle& corners, const Vec3f& way, float urge) {
  for (const std::uint32_t p : corners) {
    if (!ring_.has(p)) {
      ring_.add(p);
      pull_[p].setZero();
      pulls_[p] = most_[p] = 0;
    }
    pull_[p] += urge * way;
    pulls_[p] += urge;
    most_[p] = std::max(most_[p], urge);
  }
}

/// A triangle that would turn over moves as one instead.
void ContactSolver::guard() {
  const std::vector<Vec3f>& x = search_.points();
  clearTriangles();
  for (const std::uint32_t p : field_.points()) addTriangles(p);
  for (int pass = 0; pass < kGuardPasses; ++pass) {
    ring_.clear();
    for (const std::uint32_t t : triangle_list_) {
      const Triangle& c = body_.own[t];
      const Vec3f d[3] = {field_.at(c[0]), field_.at(c[1]), field_.at(c[2])};
      const Vec3f was = areaVector(input_, c);
      const Vec3f a = x[c[0]] + d[0];
      const Vec3f is = Vec3f(x[c[1]] + d[1] - a).cross(Vec3f(x[c[2]] + d[2] - a));
      const float full = was.squaredNorm();
      const float urge = 1 - smoothstep(kLeast, kFree, full > 0 ? is.dot(was) / full : 1.0f);
      if (!(urge > 0)) continue;
      pullTogether(c, (d[0] + d[1] + d[2]) / 3, urge);
    }
    if (ring_.empty()) return;
    // Only triangles beside a point that goes another way now can be others than they were.
    clearTriangles();
    for (const std::uint32_t p : ring_.list()) {
      if (!field_.has(p)) continue;
      const Vec3f d = field_.at(p);
      field_.set(p, d + kGuardShare * most_[p] * (pull_[p] / pulls_[p] - d));
      addTriangles(p);
    }
  }
}

void ContactSolver::apply() {
  std::vector<Vec3f>& x = search_.points();
  const float least = kNoMove * unit() * kNoMove * unit();
  for (const std::uint32_t p : field_.points()) {
    const Vec3f d = field_.at(p);
    if (p >= body_.welded_count || !(d.squaredNorm() > least)) continue;
    moved_.add(p);
    x[p] += d;
    const float cap = kTotalCap * capOf(p);
    const Vec3f all = x[p] - input_[p];
    const float length = all.norm();
    if (length > cap) x[p] = input_[p] + all * (cap / length);
  }
}

/// Triangles that have folded against a neighbour go as one.
void ContactSolver::unfold() {
  std::vector<Vec3f>& x = search_.points();
  const float scale = body_.lengths.to_units;
  clearTriangles();
  for (const std::uint32_t p : moved_.list()) addTriangles(p);
  for (int pass = 0; pass < kUnfoldPasses; ++pass) {
    ring_.clear();
    for (const std::uint32_t t : triangle_list_) {
      const Triangle& c = body_.own[t];
      const Vec3f was = areaVector(input_, c), is = areaVector(x, c);
      bool bad = is.dot(was) < kLeast * was.squaredNorm();
      for (std::size_t k = 0; k < 3 && !bad; ++k) {
        const std::uint32_t other = body_.across[t][k];
        if (other == kNoPoint || !folds(is, areaVector(x, body_.own[other]), scale)) continue;
        bad = !folds(was, areaVector(input_, body_.own[other]), scale);
      }
      if (bad) pullTogether(c, (moveOf(c[0]) + moveOf(c[1]) + moveOf(c[2])) / 3, 1);
    }
    if (ring_.empty()) return;
    clearTriangles();
    for (const std::uint32_t p : ring_.list()) {
      const Vec3f way = moveOf(p);
      x[p] = input_[p] + way + kGuardShare * (pull_[p] / pulls_[p] - way);
      if (p < body_.welded_count) moved_.add(p);
      addTriangles(p);
    }
  }
}

/// Where triangles have turned over in spite of all, contact keeps less and less of what it did,
/// there and, fading, around: a smooth overlap looks better than a torn edge.
void ContactSolver::giveUp() {
  std::vector<Vec3f>& x = search_.points();
  const float reach = kGiveUpReach * unit();
  clearTriangles();
  for (const std::uint32_t p : moved_.list()) {
    addTriangles(p);
    kept_[p] = 1;
    pull_[p] = x[p] - input_[p];
  }
  for (int pass = 0; pass < kGiveUpPasses; ++pass) {
    ring_.clear();
    for (const std::uint32_t t : triangle_list_) {
      const Triangle& c = body_.own[t];
      const Vec3f was = areaVector(input_, c);
      if (!(areaVector(x, c).dot(was) < kLeastAtEnd * was.squaredNorm())) continue;
      for (const std::uint32_t p : c)
        if (moved_.has(p)) ring_.add(p);
    }
    if (ring_.empty()) return;
    for (const std::uint32_t p : ring_.list()) kept_[p] *= pass + 1 < kGiveUpPasses ? 0.6f : 0.0f;
    // Outwards from there; a list that grows while it is read.
    for (std::size_t i = 0; i < ring_.list().size(); ++i) {
      const std::uint32_t p = ring_.list()[i];
      for (const std::uint32_t q : body_.neighbours[p]) {
        if (!moved_.has(q)) continue;
        const float most = kept_[p] + (input_[p] - input_[q]).norm() / reach;
        if (!(most < kept_[q])) continue;
        kept_[q] = most;
        ring_.add(q);
      }
    }
    for (const std::uint32_t p : ring_.list()) x[p] = input_[p] + kept_[p] * pull_[p];
  }
}

/// The bottoms of creases, where skin meets the skin beside it.
void ContactSolver::openCreases() {
  creases_.open(search_);
  for (const std::uint32_t p : creases_.moved()) moved_.add(p);
}

/// What others must leave alone: what was sure to be in contact and all that went with it, fading
/// beside it. Skin beside a contact that swells again on its own goes back in.
void ContactSolver::findHeld() {
  for (const std::uint32_t p : moved_.list()) {
    held_.add(p);
    hold_[p] = std::max(hold_[p], std::min(1.0f, moveOf(p).norm() / (kHeldMove * unit())));
  }
  for (const std::uint32_t p : held_.list()) least_hold_[p] = hold_[p];
  for (int pass = 0; pass < kHeldPasses; ++pass) {
    for (std::size_t i = 0, n = held_.list().size(); i < n; ++i)
      for (const std::uint32_t q : body_.neighbours[held_.list()[i]])
        if (!held_.has(q)) {
          held_.add(q);
          least_hold_[q] = 0;
        }
    for (const std::uint32_t p : held_.list()) {
      const auto ring = body_.neighbours[p];
      float sum = 0;
      for (const std::uint32_t q : ring) sum += hold_[q];
      const float mean = ring.empty() ? hold_[p] : sum / static_cast<float>(ring.size());
      hold_next_[p] = std::max(0.5f * (hold_[p] + mean), least_hold_[p]);
    }
    for (const std::uint32_t p : held_.list()) hold_[p] = hold_next_[p];
  }
}

/// Out of other parts, pass by pass.
void ContactSolver::pushApart() {
  for (int pass = 0; pass < body_.passes; ++pass) {
    report_.overflow |= !search_.find(pass > 0 ? &active_ : nullptr);
    if (search_.contacts().empty()) return;
    if (pass == 0) {
      search_.gate();
      report_.contacts = search_.contacts().size();
    }
    wishApart();
    if (field_.empty()) return;
    field_.solve();
    guard();
    active_.clear();
    for (const std::uint32_t p : field_.points()) active_.add(p);
    for (const std::uint32_t p : field_.wanted()) {
      held_.add(p);
      hold_[p] = std::max(hold_[p], field_.sureOf(p));
    }
    apply();
  }
}

const ContactReport& ContactSolver::solve(const ContactFrame& frame) noexcept {
  report_ = {};
  moved_.clear();
  for (const std::uint32_t p : held_.list()) hold_[p] = 0;
  held_.clear();
  search_.takeUp(frame);
  input_ = search_.points();
  pushApart();
  unfold();
  openCreases();
  if (moved_.empty()) return report_;
  giveUp();
  moved_.sort();
  report_.moved = moved_.list().size();
  for (const std::uint32_t p : moved_.list())
    report_.largest_move_m = std::max(report_.largest_move_m, double{moveOf(p).norm()});
  findHeld();
  return report_;
}

}  // namespace derm::detail
