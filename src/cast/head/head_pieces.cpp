#include "cast/head/head_pieces.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "cast/sculpt.h"

namespace derm::detail::cast {
namespace {

constexpr double kPi = std::numbers::pi;

/// Quads of a grid of `columns` x `rows` points, row by row inside a column.
void addGridQuads(HeadPiece& piece, std::uint32_t columns, std::uint32_t rows, bool turned) {
  for (std::uint32_t i = 0; i + 1 < columns; ++i)
    for (std::uint32_t k = 0; k + 1 < rows; ++k) {
      const std::uint32_t a = i * rows + k, b = a + 1, c = a + rows + 1, d = a + rows;
      for (Triangle t : {Triangle{a, b, c}, Triangle{a, c, d}}) {
        if (turned) std::swap(t[1], t[2]);
        piece.triangles.push_back(t);
      }
    }
}

/// Teeth and gum of one jaw: a bow whose front is drawn in between teeth.
void addJaw(const HeadDesign& design, const HeadClay& clay, bool upper, HeadPiece& teeth,
            HeadPiece& gum) {
  constexpr int kTeeth = 10, kColumnsPerTooth = 4, kColumns = kTeeth * kColumnsPerTooth + 1;
  const MouthDesign& m = design.mouth;
  const double u = upper ? 1 : -1, tall = upper ? .62 : .50;
  for (int i = 0; i < kColumns; ++i) {
    const double a = (2.0 * i / (kColumns - 1) - 1) * .80, x = a * m.half_width;
    const double z = clay.frontZ(x, m.y) - .88 - (upper ? 0 : .16);
    // 0 between teeth, 1 in the middle of one.
    const double round = std::sin(kPi * (i % kColumnsPerTooth) / kColumnsPerTooth);
    const double gap = i % kColumnsPerTooth == 0 ? 1 : 0;
    const double edge = m.y + u * (.02 + .05 * a * a + .05 * gap) - (upper ? .30 : .14);
    const double neck = m.y + u * (.02 + .05 * a * a) - (upper ? .30 : .14) + u * tall;
    const double scallop = neck + u * (.08 * round - .06);
    const double in = .035 * gap;
    gum.positions.insert(gum.positions.end(), {{x, neck + u * .60, z - .30},
                                               {x, neck + u * .30, z + .02},
                                               {x, scallop, z + .05 - .5 * in}});
    teeth.positions.insert(teeth.positions.end(), {{x, scallop, z + .035 - in},
                                                   {x, (neck + edge) / 2, z + .05 - in},
                                                   {x, edge, z - .05 - in},
                                                   {x, edge, z - .18},
                                                   {x, neck, z - .30}});
  }
  addGridQuads(gum, kColumns, 3, !upper);
  addGridQuads(teeth, kColumns, 5, !upper);
}

HeadPiece makeTongue(const HeadDesign& design, const HeadClay& clay) {
  constexpr int kAcross = 7, kAlong = 7;
  const MouthDesign& m = design.mouth;
  const double front = clay.frontZ(0, m.y) - 1.25;
  HeadPiece tongue;
  for (int i = 0; i < kAcross; ++i)
    for (int k = 0; k < kAlong; ++k) {
      const double a = 2.0 * i / (kAcross - 1) - 1, b = static_cast<double>(k) / (kAlong - 1);
      const double width = .58 * m.half_width * std::sqrt(std::min(1.0, .12 + 2.2 * b));
      const double dome = (1 - a * a) * (1 - .5 * b) - .12 * std::exp(-a * a * 30);
      tongue.positions.emplace_back(a * width,
                                    m.y - .78 + .32 * dome * smoothStep(-.1, .3, b) + .2 * b,
                                    front - 2.4 * b - .3 * a * a);
    }
  addGridQuads(tongue, kAcross, kAlong, true);
  return tongue;
}

}  // namespace

HeadPiece eyeball(const HeadDesign& design, int side) {
  constexpr double kAngles[] = {0, .16, .32, .48, .66, .88, 1.12, 1.4, 1.75, 2.2, kPi};
  constexpr std::uint32_t kColumns = 24;
  constexpr double kToeIn = 0.0;  // [rad]
  const Vec3d centre = eyeCentre(design, side);
  HeadPiece ball;
  for (const double angle : kAngles)
    for (std::uint32_t k = 0; k < kColumns; ++k) {
      const double turn = 2 * kPi * k / kColumns;
      const Vec3d d(std::sin(angle) * std::cos(turn), std::sin(angle) * std::sin(turn),
                    std::cos(angle));
      const double c = std::cos(side * kToeIn), s = -std::sin(side * kToeIn);
      ball.positions.push_back(
          centre + design.eye.radius * Vec3d(c * d.x() + s * d.z(), d.y(), c * d.z() - s * d.x()));
      ball.uvs.emplace_back(.5 + .5 * angle / kPi * std::cos(turn),
                            .5 + .5 * angle / kPi * std::sin(turn));
    }
  constexpr auto kRows = static_cast<std::uint32_t>(std::size(kAngles));
  for (std::uint32_t r = 0; r + 1 < kRows; ++r)
    for (std::uint32_t k = 0; k < kColumns; ++k) {
      const std::uint32_t next = (k + 1) % kColumns;
      const std::uint32_t a = r * kColumns + k, b = (r + 1) * kColumns + k,
                          c = (r + 1) * kColumns + next, d = r * kColumns + next;
      if (r + 2 < kRows || r == 0) ball.triangles.push_back({a, b, c});
      if (r > 0) ball.triangles.push_back({a, r + 2 < kRows ? c : b, d});
    }
  return ball;
}

HeadPiece lashes(const HeadSkin& head, const HeadDesign& design, const std::vector<Vec3d>& skin,
                 int side, double lift) {
  std::vector<std::uint32_t> margin;
  for (std::uint32_t v = 0; v < head.labels.size(); ++v) {
    const SkinLabels& l = head.labels[v];
    if (std::abs(l.eye_ring - 3) < 1e-6 && l.eye_u > -1e-6 && head.positions[v].x() * side > 0)
      margin.push_back(v);
  }
  std::sort(margin.begin(), margin.end(), [&](std::uint32_t a, std::uint32_t b) {
    return head.labels[a].eye_s < head.labels[b].eye_s;
  });
  const Vec3d centre = eyeCentre(design, side);
  HeadPiece out;
  const auto at = [&](double place) {  // along the margin
    const auto i = std::min(static_cast<std::size_t>(place), margin.size() - 2);
    const double share = place - static_cast<double>(i);
    return std::pair(
        Vec3d((1 - share) * skin[margin[i]] + share * skin[margin[i + 1]]),
        (1 - share) * head.labels[margin[i]].eye_s + share * head.labels[margin[i + 1]].eye_s);
  };
  const auto tip = [&](const Vec3d& p, double s, double length, double lean) {
    const Vec3d radial = (p - centre).normalized();
    const double l = design.eye.lash * length * (.25 + .75 * smoothStep(-1, .5, s)) *
                     (1 - smoothStep(.8, 1.05, std::abs(s)));
    return Vec3d(p + l * (.9 * radial + Vec3d(side * (.55 * s + lean), .40 * lift, 0)));
  };
  // A dark band along the margin, then one spike after another.
  for (std::size_t i = 0; i < margin.size(); ++i) {
    const auto [p, s] = at(static_cast<double>(i));
    out.positions.push_back(p - .02 * (p - centre).normalized());
    out.positions.push_back(tip(p, s, .38, 0));
    if (i == 0) continue;
    const auto a = static_cast<std::uint32_t>(2 * i - 2);
    out.triangles.push_back({a, a + 2, a + 3});
    out.triangles.push_back({a, a + 3, a + 1});
  }
  const double last = static_cast<double>(margin.size() - 1);
  const int spikes = static_cast<int>(2.5 * last);
  for (int k = 0; k < spikes; ++k) {
    const double from = last * k / spikes, to = last * (k + .8) / spikes;
    const auto [p, s] = at(from);
    const auto [q, t] = at(to);
    const auto a = static_cast<std::uint32_t>(out.positions.size());
    const double length = 1.0 + .22 * std::sin(7.3 * k);
    out.positions.push_back(tip(p, s, .30, 0));
    out.positions.push_back(tip(q, t, .30, 0));
    out.positions.push_back(tip((p + q) / 2, (s + t) / 2, length, .12 * std::sin(4.1 * k)));
    out.triangles.push_back({a, a + 1, a + 2});
  }
  return out;
}

MouthPieces mouthPieces(const HeadDesign& design, const HeadClay& clay) {
  MouthPieces out;
  addJaw(design, clay, true, out.upper_teeth, out.upper_gum);
  addJaw(design, clay, false, out.lower_teeth, out.lower_gum);
  out.tongue = makeTongue(design, clay);
  return out;
}

}  // namespace derm::detail::cast
