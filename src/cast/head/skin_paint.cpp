#include "cast/head/skin_paint.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cast/head/falloff.h"
#include "cast/head/hair.h"
#include "cast/head/tables.h"
#include "cast/head/value_noise.h"
#include "cast/sculpt.h"

namespace derm::detail::cast {
namespace {

/// 1 at `from`, 0 at `to`, or the other way round.
/// exp(-x) of what shows in a byte.
double fading(double x) { return x > 12 ? 0.0 : std::exp(-x); }
double fadingBell(double x, double width) { return fading((x / width) * (x / width)); }
double spot(const Vec3d& p, const Vec3d& centre, const Vec3d& size) {
  return fading((p - centre).cwiseQuotient(size).squaredNorm());
}
void mix(Vec3d& c, const Vec3d& with, double share) { c += share * (with - c); }

double above(double u) { return std::clamp(u, 0.0, 1.0); }
double below(double u) { return std::clamp(-u, 0.0, 1.0); }

}  // namespace

Rgba8 rgba8Of(const Vec3d& colour) {
  const auto byte = [](double v) {
    return static_cast<std::uint8_t>(std::lround(255 * std::clamp(v, 0.0, 1.0)));
  };
  return {byte(colour.x()), byte(colour.y()), byte(colour.z()), 255};
}

Vec3d SkinPaint::complexion(const SkinSample& s) const {
  const Palette& k = design_.palette;
  const FaceMarks& marks = design_.marks;
  const SkinLabels& l = s.labels;
  const Vec3d p = folded(s.p);
  const double patches = centredNoise(.9 * s.p, 1) + .8 * centredNoise(2.3 * s.p, 2);
  const double grain = centredNoise(7 * s.p, 3), pores = centredNoise(19 * s.p, 4);
  Vec3d c = k.skin;
  c += 2 * k.mottle * patches * Vec3d(.020, -.012, -.016);
  c += Vec3d::Constant(.018 * grain + .016 * pores);
  c += spot(p, marks.wing_groove, {.22, .55, .8}) * Vec3d(-.10, -.11, -.09);
  c += k.blush * spot(p, marks.cheek, {1.9, 1.5, 3}) * Vec3d(.035, -.055, -.050);
  c += k.blush * spot(p, marks.nose, {1.1, .8, 1.3}) * Vec3d(.025, -.045, -.045);
  c += k.blush * spot(p, marks.chin, {1.5, 1.0, 2}) * Vec3d(.015, -.025, -.022);
  c += softStep(1, 5, p.y()) * softStep(2, 6, p.z()) * Vec3d(.006, .006, -.012);
  c += softStep(.5, 3, l.ear) * Vec3d(.03, -.05, -.045);
  c += softStep(6.3, 8, l.ear) * Vec3d(-.16, -.15, -.14);
  c += fadingBell(l.ear - 5, .6) * Vec3d(-.09, -.10, -.095);  // the groove inside the helix
  c += fadingBell(l.ear - 6, .45) * Vec3d(.04, .03, .03);
  c += fadingBell(l.eye_ring - .9, .7) * below(l.eye_u) * Vec3d(-.035, -.040, -.022);
  if (k.beard > 0) {
    const double mouth = spot(p, {0, design_.mouth.y, p.z()}, {2.2, .6, 1});
    const double area = softStep(-3.6, -5.5, p.y()) * softStep(-12.0, -10.2, p.y()) *
                        softStep(.5, 3.0, p.z()) * (1 - mouth);
    c += area * k.beard * (.75 + .9 * pores + .5 * grain) * Vec3d(-.16, -.13, -.10);
  }
  if (k.freckles > 0) {
    const double area = spot(p, marks.cheek + Vec3d(-1.2, .6, 1), {2.2, .9, 4}) +
                        .7 * spot(p, marks.nose + Vec3d(0, .5, -.5), {1.2, .6, 2});
    const double speck = softStep(.76, .88, valueNoise(6.5 * s.p, 31));
    c += k.freckles * std::min(area, 1.0) * speck * Vec3d(-.10, -.13, -.13);
  }
  return c;
}

void SkinPaint::paintBrow(const SkinSample& s, Vec3d& c) const {
  const std::vector<BrowKnot>& brow = design_.marks.brow;
  const Vec3d p = folded(s.p);
  if (p.x() < brow.front().x - .3 || p.x() > brow.back().x + .3 || p.z() < 3) return;
  const double y = interpolated(brow, p.x(), &BrowKnot::x, &BrowKnot::y);
  const double thick = interpolated(brow, p.x(), &BrowKnot::x, &BrowKnot::half_thickness);
  const double off = (p.y() - y) / thick;
  if (std::abs(off) > 3) return;
  double cover = std::exp(-std::pow(std::abs(off), 2.6)) *
                 softStep(brow.front().x - .15, brow.front().x + .35, p.x()) *
                 softStep(brow.back().x + .1, brow.back().x - .5, p.x()) * softStep(3, 5, p.z());
  // Hairs run outwards and up, flatter towards the outer end.
  const double rise = 1 - softStep(brow.front().x, brow.back().x, p.x());
  const double across = p.y() - p.x() * (.2 + .9 * rise);
  const double hairs = .5 * valueNoise({p.x() * 2.6, across * 13, 0}, 7) +
                       .5 * valueNoise({p.x() * 4, across * 26, 0}, 8);
  cover = std::clamp(cover * (.50 + .9 * hairs), 0.0, 1.0) * design_.palette.brow_strength;
  mix(c, design_.palette.brow, softStep(.12, .75, cover) * design_.palette.brow_strength);
}

void SkinPaint::paintLips(const SkinSample& s, Vec3d& c) const {
  const Palette& k = design_.palette;
  const MouthDesign& m = design_.mouth;
  const SkinLabels& l = s.labels;
  const Vec3d p = folded(s.p);
  if (l.mouth_ring > 1) {
    const double red = softStep(1.72, 2.12, l.mouth_ring) * (l.mouth_ring < 8.9 ? 1 : 0);
    const double lines = centredNoise({s.p.x() * 9, s.p.y() * 1.5, 0}, 9);
    mix(c, k.lip + Vec3d::Constant(.02 * centredNoise(7 * s.p, 3) + .03 * lines),
        red * k.lip_strength);
    c += fadingBell(l.mouth_ring - 3, .5) * below(l.mouth_u) * (1 - l.mouth_s * l.mouth_s) *
         Vec3d(.03, .02, .02);
    mix(c, .55 * k.lip, .8 * softStep(3.7, 4.6, l.mouth_ring));
    mix(c, {.30, .09, .08}, softStep(5.2, 6.3, l.mouth_ring));
  }
  c += fadingBell(p.x() - m.half_width - .08, .16) * fadingBell(p.y() - m.y - m.corner, .14) *
       softStep(2, 6, p.z()) * Vec3d(-.12, -.12, -.10);
}

void SkinPaint::paintLids(const SkinSample& s, Vec3d& c) const {
  const Palette& k = design_.palette;
  const SkinLabels& l = s.labels;
  if (l.eye_ring < -.5) return;
  const double ring = l.eye_ring, along = std::abs(l.eye_s);
  c += softStep(.2, 1.2, ring) * softStep(4.5, 3, ring) * above(l.eye_u) * k.lid;
  c += fadingBell(ring - 1.35, .18) * above(l.eye_u) * (1 - std::pow(along, 4)) *
       Vec3d(-.13, -.13, -.11);
  mix(c, k.margin, .8 * softStep(2.9, 3.3, ring) * softStep(5.2, 4.6, ring));
  const double lashes = fadingBell(ring - 2.95, .42) *
                        (.9 * above(l.eye_u) + k.lower_lash * below(l.eye_u)) *
                        softStep(1.02, .9, along);
  mix(c, {.10, .06, .05}, std::clamp(lashes, 0.0, 1.0));
  mix(c, {.78, .47, .43}, softStep(4.0, 4.5, ring) * softStep(-.55, -.85, l.eye_s));  // caruncle
  mix(c, {.18, .06, .05}, softStep(5.0, 5.8, ring));
}

void SkinPaint::paintHair(const SkinSample& s, Vec3d& c) const {
  const Palette& k = design_.palette;
  if (design_.hair.thickness <= 0 || s.labels.ear > 1.2 || s.labels.eye_ring > -.5) return;
  const HairCover cover = hairCover(design_, s.p);
  if (cover.scalp <= 0) return;
  const double angle = std::atan2(s.p.x(), s.p.z() + 3);
  const double locks =
      valueNoise({angle * 22 + .5 * centredNoise(.9 * s.p, 1), s.p.y() * .45, s.p.z() * .2}, 12);
  const double fine = valueNoise({angle * 60, s.p.y() * .8, s.p.z() * .4}, 13);
  const double thin = valueNoise({angle * 150, s.p.y() * .7, s.p.z() * .5}, 14);
  Vec3d hair = k.hair * (.55 + .45 * locks + .35 * fine + .2 * thin);
  mix(hair, k.hair_light, .45 * softStep(.55, .95, .5 * locks + .3 * fine + .2 * thin));
  mix(c, .5 * c + .5 * k.hair, .55 * cover.scalp);  // roots darken the skin before strands begin
  mix(c, hair, cover.strands);
}

Vec3d SkinPaint::colour(const SkinSample& s) const {
  Vec3d c = complexion(s);
  paintBrow(s, c);
  paintLips(s, c);
  paintLids(s, c);
  const FaceMarks& marks = design_.marks;
  mix(c, {.20, .07, .05},
      .9 * std::clamp(1.25 * spot(folded(s.p), marks.nostril, marks.nostril_size), 0.0, 1.0));
  paintHair(s, c);
  return c.cwiseMax(0).cwiseMin(1);
}

Vec3d eyeColour(const Palette& k, double x, double y) {
  const double r = std::hypot(x, y) * std::numbers::pi, t = std::atan2(y, x), a = k.iris_angle;
  Vec3d c(.93, .915, .895);
  mix(c, {.86, .66, .60}, .55 * softStep(.75, 1.5, r));
  if (r < 1.1 * a) {
    const double rays = valueNoise({std::cos(t) * 9, std::sin(t) * 9, r * 3}, 21);
    const double fine = valueNoise({std::cos(t) * 26, std::sin(t) * 26, r * 6}, 22);
    Vec3d iris = k.iris * (.70 + .45 * rays + .35 * fine);
    mix(iris, k.iris_inner, .6 * softStep(.75 * a, .42 * a, r));
    iris *= (1 - .45 * softStep(0, 1, std::sin(t))) * .35 + .65;  // the upper lid's shade
    mix(iris, .22 * k.iris, softStep(.80 * a, .97 * a, r));
    mix(iris, {.015, .012, .012}, softStep(.44 * a, .38 * a, r));
    mix(c, iris, softStep(1.04 * a, .95 * a, r));
  }
  c *= 1 - .30 * softStep(.09, .34, y);  // and on the white
  const double dx = (x + .055) / .022, dy = (y - .055) / .022, d = dx * dx + dy * dy;
  mix(c, Vec3d::Ones(), .95 * std::exp(-d * d));
  return c;
}

Rgba8Image eyePicture(const Palette& palette, int size_px) {
  Rgba8Image picture(size_px, size_px);
  for (int row = 0; row < size_px; ++row)
    for (int column = 0; column < size_px; ++column)
      picture.at(column, row) = rgba8Of(
          eyeColour(palette, (column + .5) / size_px * 2 - 1, 1 - (row + .5) / size_px * 2));
  return picture;
}

}  // namespace derm::detail::cast
