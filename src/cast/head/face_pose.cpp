#include "cast/head/face_pose.h"

#include <algorithm>
#include <cmath>

#include "cast/head/falloff.h"
#include "cast/head/tables.h"
#include "cast/sculpt.h"

namespace derm::detail::cast {
namespace {

/// Turns about the x axis through a point.
Vec3d turnedAboutX(const Vec3d& p, double y, double z, double angle) {
  const double c = std::cos(angle), s = std::sin(angle), dy = p.y() - y, dz = p.z() - z;
  return {p.x(), y + dy * c - dz * s, z + dy * s + dz * c};
}

/// How much a ring of the eye follows its margin.
struct RingWeight {
  double ring, weight;
};
const std::vector<RingWeight> kLidWeights = {{-1, 0}, {0, 0},   {1, .28}, {2, .80}, {3, 1},
                                             {4, 1},  {5, .85}, {6, .2},  {7, 0},   {8, 0}};

/// 1 in the middle of a lip, 0 at the corners; round, so that the open mouth is an oval.
double lipSpan(double s) { return std::pow(std::max(1 - std::pow(std::abs(s), 2.2), 0.0), .6); }

}  // namespace

Vec3d turnedWithJaw(const Vec3d& p, double angle) { return turnedAboutX(p, kJawY, kJawZ, angle); }

FacePoser::FacePoser(const HeadSkin& skin, const HeadDesign& design)
    : skin_(skin), design_(design) {
  const Vec3d centre = eyeCentre(design, 1);
  for (std::size_t v = 0; v < skin.positions.size(); ++v) {
    const SkinLabels& l = skin.labels[v];
    const Vec3d& p = skin.positions[v];
    if (std::abs(l.eye_ring - 4) > 1e-6 || p.x() < 0) continue;
    const Margin m{l.eye_s, std::atan2(p.y() - centre.y(), p.z() - centre.z())};
    if (l.eye_u > -1e-6) upper_.push_back(m);
    if (l.eye_u < 1e-6) lower_.push_back(m);
  }
  for (std::vector<Margin>* lid : {&upper_, &lower_})
    std::sort(lid->begin(), lid->end(), [](const Margin& a, const Margin& b) { return a.s < b.s; });
}

double FacePoser::lidAngle(const SkinLabels& l, double close, double squint) const {
  const double up = interpolated(upper_, l.eye_s, &Margin::s, &Margin::angle);
  const double low = interpolated(lower_, l.eye_s, &Margin::s, &Margin::angle);
  const double meet = low + .12 * (up - low);
  double turn = 0;
  if (l.eye_u > 0) turn = close * (meet - up);
  // Shut lids meet a little above the lower one's place; squinting takes it up half of the way.
  if (l.eye_u < 0)
    turn =
        std::max(close, 0.0) * (meet - low) + squint * (1 - std::max(close, 0.0)) * .5 * (up - low);
  return turn * interpolated(kLidWeights, l.eye_ring, &RingWeight::ring, &RingWeight::weight) *
         std::min(1.0, 2 * std::abs(l.eye_u));
}

double FacePoser::lidBulge(const SkinLabels& l, double close) const {
  const EyeDesign& e = design_.eye;
  const double up = interpolated(upper_, l.eye_s, &Margin::s, &Margin::angle);
  const double low = interpolated(lower_, l.eye_s, &Margin::s, &Margin::angle);
  const double turn = std::max(close, 0.0) * .88 * (up - low);
  const double sag = (e.radius + e.lid) * turn * turn / 8;
  return 2 * std::max(sag - e.lid + .08, 0.0) *
         interpolated(kLidWeights, l.eye_ring, &RingWeight::ring, &RingWeight::weight);
}

Vec3d FacePoser::browMove(const Vec3d& p, const SkinLabels& l, const FacePose& pose) const {
  const Vec3d q = folded(p);
  const double front = smoothStep(3, 5.5, p.z()) * (1 - smoothStep(.2, 1.8, l.eye_ring));
  if (front <= 0 || p.y() < -2) return Vec3d::Zero();
  // Between the brow's three points moves are interpolated; the inner one takes the middle of the
  // forehead along, beyond the outer one they fade.
  const auto& at = design_.marks.brow_points;
  const double inner = smoothStep(at[0].x(), at[1].x(), q.x());
  const double outer = smoothStep(at[1].x(), at[2].x(), q.x());
  const double y = at[0].y() + inner * (at[1].y() - at[0].y()) + outer * (at[2].y() - at[1].y());
  const double dy = q.y() - y;
  Vec3d sum = pose.inner_brow + inner * (pose.middle_brow - pose.inner_brow) +
              outer * (pose.outer_brow - pose.middle_brow);
  sum *= bell(dy, dy > 0 ? 2.8 : 1.1) * bell(std::max(q.x() - at[2].x(), 0.0), 1.2);
  sum.x() *= std::clamp(p.x() / .8, -1.0, 1.0);
  return front * sum;
}

Vec3d FacePoser::mouthMove(const Vec3d& p, const SkinLabels& l, const FacePose& pose) const {
  const MouthDesign& m = design_.mouth;
  const Vec3d q = folded(p);
  const double side = p.x() < 0 ? -1 : 1, front = smoothStep(3, 6, p.z());
  // Inside the mouth the bag follows less and less.
  const double inside = 1 - .7 * smoothStep(5.5, 9, l.mouth_ring);
  Vec3d d = Vec3d::Zero();

  const double at_corner = bell(q.x() - m.half_width, 1.25) * bell(q.y() - m.y - m.corner, 1.25) *
                           (l.mouth_ring > 5.5 ? 1 : front);
  d += at_corner * Vec3d(side * pose.corner.x(), pose.corner.y(), pose.corner.z());

  const double on_lip = smoothStep(.4, 1.4, l.mouth_ring);
  const double lens = std::pow(std::max(1 - l.mouth_s * l.mouth_s, 0.0),
                               .75);  // lips that part without the jaw: pointed ends
  const double upper_out = bell(q.x(), 2.0) * softStep(m.y - .1, m.y + .5, q.y()) *
                           bell(std::max(q.y() - m.y - m.upper, 0.0), .9) * front;
  const double lower_out = bell(q.x(), 2.0) * softStep(m.y + .1, m.y - .5, q.y()) *
                           bell(std::max(m.y - m.lower - q.y(), 0.0), 1.2) * front;
  const double upper = (1 - on_lip) * upper_out + on_lip * (l.mouth_u > 0 ? lens : 0) * inside;
  const double lower = (1 - on_lip) * lower_out + on_lip * (l.mouth_u < 0 ? lens : 0) * inside;
  d += upper * pose.upper_lip * Vec3d(0, 1, .25);
  d -= lower * pose.lower_lip * Vec3d(0, 1, .15);
  d += lower * pose.pout * Vec3d(0, -.02, 1);
  d.y() -= pose.press * l.mouth_u * bell(l.mouth_ring - 2.3, .8) * (1 - l.mouth_s * l.mouth_s);
  d.z() -= .5 * pose.press * bell(l.mouth_ring - 3, 1.2);
  return d;
}

double FacePoser::jawWeight(const Vec3d& p, const SkinLabels& l) const {
  const double mouth_y = design_.mouth.y;
  // The line that parts what follows the jaw from what stays: from the ear to the mouth.
  const double line = p.z() < 0   ? kJawY - 2.8
                      : p.z() < 5 ? kJawY - 2.8 + p.z() / 5 * (mouth_y + .9 - kJawY + 2.8)
                                  : mouth_y + .9 - .9 * std::min((p.z() - 5) / 4, 1.0);
  const double out = softStep(1.35, -1.75, p.y() - line) *
                     softStep(design_.jaw_end_y, design_.jaw_end_y + 3.2, p.y()) *
                     softStep(-2.5, 2.0, p.z());
  const double on_lip = smoothStep(.4, 1.4, l.mouth_ring);
  const double sign = l.mouth_u > 0 ? 1 : l.mouth_u < 0 ? -1 : 0;
  return (1 - on_lip) * out + on_lip * (.5 - .5 * sign * lipSpan(l.mouth_s));
}

Vec3d FacePoser::moved(std::size_t vertex, const FacePose& pose) const {
  const Vec3d& p = skin_.positions[vertex];
  const SkinLabels& l = skin_.labels[vertex];
  const int side = p.x() < 0 ? -1 : 1;
  const std::size_t eye = side > 0 ? 0 : 1;
  Vec3d q = p;
  if (l.eye_ring > -.5 && (pose.close[eye] != 0 || pose.squint[eye] != 0)) {
    const Vec3d centre = eyeCentre(design_, side);
    q = turnedAboutX(p, centre.y(), centre.z(), -lidAngle(l, pose.close[eye], pose.squint[eye]));
    q += lidBulge(l, pose.close[eye]) * (q - centre).normalized();
  }
  q += browMove(p, l, pose);
  q += mouthMove(p, l, pose);
  const Vec3d fold = folded(p);
  const double off_lids = 1 - smoothStep(.5, 2.2, l.eye_ring);
  if (pose.cheek != 0) {
    const Vec3d r = (fold - design_.marks.cheek).cwiseQuotient(Vec3d(1.7, 1.3, 3));
    q += pose.cheek * std::exp(-r.squaredNorm()) * off_lids * Vec3d(side * .12, .30, .22);
    const MouthDesign& m = design_.mouth;  // the fold from the nose to the corner of the mouth
    q.z() -= pose.cheek * .14 * bell(fold.x() - m.half_width - .95, .35) *
             bell(fold.y() - m.y - 1.6, 1.2) * smoothStep(3, 6, p.z());
  }
  const Vec3d wing = Vec3d(fold.x() - 1.3, fold.y() - design_.marks.nostril.y() - .5,
                           fold.z() - design_.marks.nostril.z());
  const double at_wing = std::exp(-wing.cwiseQuotient(Vec3d(.8, .9, 1.6)).squaredNorm());
  q += at_wing * Vec3d(side * pose.nostrils * std::min(fold.x(), 1.0), pose.nose, 0);
  if (pose.nose != 0) {  // the bridge wrinkles with it
    q.y() += .35 * pose.nose * bell(p.x(), 1.3) * bell(p.y() + 1.2, 1.2) * smoothStep(5, 8, p.z());
  }
  if (pose.jaw != 0) {
    const double w = jawWeight(p, l);
    if (w > 0) q = turnedWithJaw(q, pose.jaw * w);
  }
  return q;
}

std::vector<Vec3d> FacePoser::posed(const FacePose& pose) const {
  std::vector<Vec3d> out;
  for (std::size_t v = 0; v < skin_.positions.size(); ++v) out.push_back(moved(v, pose));
  return out;
}

}  // namespace derm::detail::cast
