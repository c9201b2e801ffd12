#include "contact/contact_body.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/winding_columns.h"

namespace derm::detail {
namespace {

/// Of the skin's area: bones with less join the one above. Fingers and toes stay, faces do not.
constexpr double kLeastShare = 0.0008;
/// Root of the skin's area of a grown-up [mm].
constexpr double kUnits = 1370;
constexpr float kGap = 2, kMaxCap = 50, kMaxThickness = 400, kSpacing = 10, kBand = 60,
                kMargin = 30, kBeside = 15;  // in units
constexpr int kThicknessPasses = 4;
/// Of ContactLengths::to_units: its fourth power is a float.
constexpr int kMaxExponent = 31;
/// Between the normals beside an edge at rest: sharper ones are meant to be.
constexpr float kRestCrease = -0.35f;

std::vector<double> pointAreas(std::span<const Vec3f> positions,
                               std::span<const Triangle> triangles, std::size_t count) {
  std::vector<double> out(count, 0.0);
  for (const Triangle& t : triangles) {
    const Vec3d a = positions[t[0]].cast<double>();
    const Vec3d u = positions[t[1]].cast<double>() - a, v = positions[t[2]].cast<double>() - a;
    for (const std::uint32_t p : t) out[p] += u.cross(v).norm() / 6;
  }
  return out;
}

/// Per slot the slot whose part it belongs to.
std::vector<std::uint32_t> partSlots(const Skeleton& skeleton, const Skin& skin,
                                     std::vector<double> area_of_slot) {
  std::vector<std::uint32_t> slot_of_joint(skeleton.size(), kNoPoint), out(skin.slots.size());
  for (std::uint32_t s = 0; s < skin.slots.size(); ++s) {
    out[s] = s;
    std::uint32_t& first = slot_of_joint[skin.slots[s].joint.index()];
    if (first == kNoPoint) {
      first = s;
    } else {  // the joint's first slot stands for all
      out[s] = first;
      area_of_slot[first] += area_of_slot[s];
    }
  }
  double all = 0;
  for (std::uint32_t s = 0; s < out.size(); ++s)
    if (out[s] == s) all += area_of_slot[s];
  for (std::size_t j = skeleton.size(); j-- > 0;) {  // children first
    const std::uint32_t s = slot_of_joint[j];
    if (s == kNoPoint || area_of_slot[s] >= kLeastShare * all) continue;
    for (JointId above = skeleton.joints[j].parent; above.valid(); above = skeleton[above].parent)
      if (slot_of_joint[above.index()] != kNoPoint) {
        out[s] = slot_of_joint[above.index()];
        area_of_slot[out[s]] += area_of_slot[s];
        break;
      }
  }
  for (std::uint32_t& s : out)
    while (out[s] != s) s = out[s];
  return out;
}

void addParts(ContactBody& body, std::span<const Vec3f> positions, const Skeleton& skeleton,
              const Skin& skin) {
  std::vector<double> area_of_slot(skin.slots.size(), 0.0);
  const auto row = [&](std::size_t p) { return skin[body.vertices_of_point[p].front()]; };
  for (std::size_t p = 0; p < body.welded_count; ++p)
    for (const Influence& i : row(p))
      area_of_slot[i.slot] += double{i.weight} * double{body.areas[p]};
  const std::vector<std::uint32_t> slots = partSlots(skeleton, skin, area_of_slot);
  std::vector<std::uint32_t> part_of_slot(slots.size(), kNoPoint);
  for (std::uint32_t s = 0; s < slots.size(); ++s)
    if (slots[s] == s) {
      part_of_slot[s] = static_cast<std::uint32_t>(body.parts.size());
      body.parts.push_back({.slot = s});
    }
  body.weight_offsets = {0};
  for (std::size_t p = 0; p < body.pointCount(); ++p) {
    if (p < body.welded_count) {
      const std::size_t begin = body.weights.size();
      for (const Influence& i : row(p)) {
        const std::uint32_t part = part_of_slot[slots[i.slot]];
        const auto at = std::find_if(body.weights.begin() + static_cast<std::ptrdiff_t>(begin),
                                     body.weights.end(),
                                     [&](const ContactWeight& w) { return w.part == part; });
        if (at == body.weights.end())
          body.weights.push_back({part, i.weight});
        else
          at->weight += i.weight;
      }
      std::stable_sort(
          body.weights.begin() + static_cast<std::ptrdiff_t>(begin), body.weights.end(),
          [](const ContactWeight& a, const ContactWeight& b) { return a.weight > b.weight; });
    }
    body.weight_offsets.push_back(static_cast<std::uint32_t>(body.weights.size()));
  }
  for (ContactPart& part : body.parts) {
    part.low = Vec3f::Constant(std::numeric_limits<float>::infinity());
    part.high = -part.low;
  }
  for (std::uint32_t p = 0; p < body.welded_count; ++p) {
    if (!body.takes_part[p]) continue;
    const auto weights = body.weightsOf(p);
    for (std::size_t k = 0; k < weights.size(); ++k) {
      ContactPart& part = body.parts[weights[k].part];
      if (k == 0) part.labelled.push_back(p);
      if (k > 0 && weights[k].weight <= kTerritory) continue;
      part.members.push_back(p);
      part.low = part.low.cwiseMin(positions[p]);
      part.high = part.high.cwiseMax(positions[p]);
    }
  }
}

/// Of the flesh under each point, along its normal.
void addThickness(ContactBody& body, std::span<const Vec3f> positions,
                  std::span<const Vec3f> normals) {
  const float max = body.lengths.max_thickness, begin = 0.05f * body.lengths.unit;
  const TriangleTree tree(positions, body.closed);
  std::vector<float> now(body.pointCount(), max), next = now;
  for (std::size_t p = 0; p < body.welded_count; ++p) {
    if (!body.takes_part[p]) continue;
    const Vec3d from = (positions[p] - begin * normals[p]).cast<double>();
    const Vec3d to = (positions[p] - max * normals[p]).cast<double>();
    if (const auto hit = tree.firstHit(from, to)) now[p] = static_cast<float>(hit->t) * max + begin;
  }
  for (int pass = 0; pass < kThicknessPasses; ++pass) {
    for (std::size_t p = 0; p < body.welded_count; ++p) {
      const auto ring = body.neighbours[p];
      if (ring.empty()) continue;
      float sum = 0;
      for (const std::uint32_t q : ring) sum += now[q];
      next[p] = 0.5f * (now[p] + sum / static_cast<float>(ring.size()));
    }
    std::swap(now, next);
  }
  body.thickness = std::move(now);
}

/// Of points, by the areas of the triangles around them.
std::vector<Vec3f> pointNormals(const ContactBody& body, std::span<const Vec3f> positions) {
  std::vector<Vec3f> normals(positions.size(), Vec3f::Zero());
  for (const Triangle& t : body.own) {
    const Vec3f n =
        Vec3f(positions[t[1]] - positions[t[0]]).cross(Vec3f(positions[t[2]] - positions[t[0]]));
    for (const std::uint32_t p : t) normals[p] += n;
  }
  for (Vec3f& n : normals) n.normalize();
  return normals;
}

float gapOf(const ContactDesc& desc, const ContactLengths& lengths) {
  return desc.gap_m ? static_cast<float>(*desc.gap_m) : kGap * lengths.unit;
}

void addRestWinding(ContactBody& body, std::span<const Vec3f> positions,
                    std::span<const Vec3f> normals) {
  WindingColumns columns(body.welded_count);
  for (std::size_t p = 0; p < body.welded_count; ++p) {
    const float gap = std::min(body.lengths.gap, 0.05f * body.thickness[p]);
    columns.add(positions[p] + (gap + 0.1f * body.lengths.unit) * normals[p]);
  }
  const auto winding = columns.evaluate(positions, body.closed);
  body.rest_winding.resize(body.welded_count);
  for (std::size_t p = 0; p < body.welded_count; ++p)
    body.rest_winding[p] = static_cast<std::int8_t>(std::clamp(winding[p], 0, 100));
}

/// Triangles that share an edge, each other's.
void addAcross(ContactBody& body) {
  struct Side {
    std::uint32_t low, high, triangle, edge;
  };
  std::vector<Side> sides;
  for (std::uint32_t t = 0; t < body.own.size(); ++t)
    for (std::uint32_t k = 0; k < 3; ++k) {
      const auto [low, high] = std::minmax(body.own[t][k], body.own[t][(k + 1) % 3]);
      sides.push_back({low, high, t, k});
    }
  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) {
    return std::array{a.low, a.high, a.triangle} < std::array{b.low, b.high, b.triangle};
  });
  body.across.assign(body.own.size(), {kNoPoint, kNoPoint, kNoPoint});
  for (std::size_t i = 1; i < sides.size(); ++i) {
    const Side &a = sides[i - 1], &b = sides[i];
    if (a.low != b.low || a.high != b.high) continue;
    body.across[a.triangle][a.edge] = b.triangle;
    body.across[b.triangle][b.edge] = a.triangle;
  }
}

/// Edges that can become creases.
void addEdges(ContactBody& body, std::span<const Vec3f> positions, const Skin& skin) {
  const auto bone = [&](std::uint32_t p) {  // that carries a point alone
    if (p >= body.welded_count) return kNoPoint;
    const auto row = skin[body.vertices_of_point[p].front()];
    return row.size() == 1 ? row.front().slot : kNoPoint;
  };
  const auto normal = [&](const Triangle& c) {
    return Vec3f(
        Vec3f(positions[c[1]] - positions[c[0]]).cross(Vec3f(positions[c[2]] - positions[c[0]])));
  };
  for (std::uint32_t t = 0; t < body.own.size(); ++t)
    for (std::size_t k = 0; k < 3; ++k) {
      const std::uint32_t other = body.across[t][k];
      if (other == kNoPoint || other < t) continue;
      const Triangle &mine = body.own[t], &its = body.own[other];
      const std::uint32_t a = mine[k], b = mine[(k + 1) % 3], c = mine[(k + 2) % 3];
      const auto at = std::find(its.begin(), its.end(), b);
      if (at == its.end() || !body.takes_part[a]) continue;
      const auto first = static_cast<std::size_t>(at - its.begin());
      if (its[(first + 1) % 3] != a) continue;  // wound the other way
      const std::uint32_t d = its[(first + 2) % 3], carrier = bone(a);
      if (carrier != kNoPoint && bone(b) == carrier && bone(c) == carrier && bone(d) == carrier)
        continue;
      const Vec3f left = normal(mine), right = normal(its);
      if (!(left.dot(right) > kRestCrease * left.norm() * right.norm())) continue;
      body.edges.push_back({a, b, c, d, t, other});
    }
}

/// Points and middles of triangles of one piece inside another.
void addJoinedPieces(ContactBody& body, const MeasuredSurface& surface,
                     std::span<const Vec3f> positions, std::span<const std::uint8_t> counts) {
  struct Probe {
    Vec3f at;
    std::uint32_t piece;
  };
  std::vector<Probe> probes;
  std::vector<std::vector<Triangle>> triangles(surface.piece_count);
  std::vector<Vec3f> low(surface.piece_count,
                         Vec3f::Constant(std::numeric_limits<float>::infinity())),
      high(surface.piece_count, Vec3f::Constant(-std::numeric_limits<float>::infinity()));
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    const std::uint32_t piece = surface.piece_of_triangle[t];
    if (!counts[piece]) continue;
    const Triangle& c = surface.triangles[t];
    triangles[piece].push_back(c);
    for (const std::uint32_t p : c) {
      low[piece] = low[piece].cwiseMin(positions[p]);
      high[piece] = high[piece].cwiseMax(positions[p]);
    }
    probes.push_back({(positions[c[0]] + positions[c[1]] + positions[c[2]]) / 3, piece});
  }
  for (std::uint32_t p = 0; p < body.welded_count; ++p)
    if (body.takes_part[p]) probes.push_back({positions[p], surface.piece_of_point[p]});
  // By x, so that of many small pieces each looks at those beside it only.
  std::sort(probes.begin(), probes.end(),
            [](const Probe& a, const Probe& b) { return a.at.x() < b.at.x(); });
  WindingColumns columns(probes.size());
  std::vector<std::uint32_t> asked;
  for (std::uint32_t piece = 0; piece < surface.piece_count; ++piece) {
    if (!counts[piece]) continue;
    columns.clear();
    asked.clear();
    auto probe = std::lower_bound(probes.begin(), probes.end(), low[piece].x(),
                                  [](const Probe& p, float x) { return p.at.x() < x; });
    for (; probe != probes.end() && probe->at.x() <= high[piece].x(); ++probe) {
      if (probe->piece == piece || !(probe->at.array() >= low[piece].array()).all() ||
          !(probe->at.array() <= high[piece].array()).all())
        continue;
      columns.add(probe->at);
      asked.push_back(probe->piece);
    }
    if (asked.empty()) continue;
    const auto winding = columns.evaluate(positions, triangles[piece]);
    for (std::size_t i = 0; i < asked.size(); ++i)
      if (winding[i] != 0)
        body.joined_pieces.push_back({std::min(piece, asked[i]), std::max(piece, asked[i])});
  }
  std::sort(body.joined_pieces.begin(), body.joined_pieces.end());
  body.joined_pieces.erase(std::unique(body.joined_pieces.begin(), body.joined_pieces.end()),
                           body.joined_pieces.end());
}

}  // namespace

bool ContactBody::withinTwoRings(std::uint32_t a, std::uint32_t b) const {
  if (a == b || areNeighbours(a, b)) return true;
  for (const std::uint32_t q : neighbours[a])
    if (areNeighbours(q, b)) return true;
  return false;
}

bool ContactBody::isBeside(std::uint32_t a, std::uint32_t b) const {
  if (a == b || areNeighbours(a, b)) return true;
  const float near = kBeside * lengths.unit;
  return (rest[a] - rest[b]).squaredNorm() < near * near && withinTwoRings(a, b);
}

ContactBody makeContactBody(const TriMesh& rest, const Skeleton& skeleton, const Skin& skin,
                            std::span<const std::uint8_t> is_prop, const ContactDesc& desc,
                            std::string_view element, Diagnostics& notes) {
  const MeasuredSurface surface =
      makeMeasuredSurface(rest.positions, rest.triangles, element, notes);
  ContactBody body;
  body.max_move = desc.max_move;
  body.passes = desc.passes;
  body.vertices_of_point = surface.vertices_of_welded;
  body.borders = surface.borders;
  body.welded_count = surface.weldedCount();
  body.piece_of_point = surface.piece_of_point;
  std::vector<std::uint8_t> counts_piece(surface.piece_count), prop_piece(surface.piece_count, 1);
  for (std::size_t v = 0; v < surface.vertexCount(); ++v)
    if (is_prop.empty() || !is_prop[v])
      prop_piece[surface.piece_of_point[surface.welded_of_vertex[v]]] = 0;
  const auto counts = [&](std::uint32_t piece) { return counts_piece[piece] != 0; };
  double area = 0;
  std::size_t left_out = 0, props = 0;
  for (std::uint32_t piece = 0; piece < surface.piece_count; ++piece) {
    const bool solid = surface.hasVolume(piece) && surface.piece_volumes[piece] > 0;
    counts_piece[piece] = solid && !prop_piece[piece];
    if (counts(piece))
      area += surface.piece_areas[piece];
    else
      ++(solid ? props : left_out);
  }
  if (left_out > 0)
    notes.info(
        "contact-piece-left-out", element,
        std::to_string(left_out) + " piece(s) without a volume, or inside out, take no part");
  if (props > 0)
    notes.info("contact-prop-left-out", element,
               std::to_string(props) + " rigid piece(s) take no part");
  body.takes_part.assign(surface.pointCount(), 0);
  for (std::size_t p = 0; p < surface.weldedCount(); ++p)
    body.takes_part[p] = counts(surface.piece_of_point[p]) ? 1 : 0;
  body.own.assign(
      surface.triangles.begin(),
      surface.triangles.begin() + static_cast<std::ptrdiff_t>(surface.ownTriangleCount()));
  for (std::size_t t = 0; t < surface.triangles.size(); ++t)
    if (counts(surface.piece_of_triangle[t])) body.closed.push_back(surface.triangles[t]);
  body.triangles_of_point = vertexTriangles(body.own, surface.pointCount());
  body.neighbours = vertexNeighbours(body.own, surface.pointCount());
  addAcross(body);
  body.lengths.unit = static_cast<float>(std::sqrt(area) / kUnits);
  const float unit = body.lengths.unit;
  body.lengths.gap = gapOf(desc, body.lengths);
  body.lengths.max_cap = kMaxCap * unit;
  body.lengths.max_thickness = kMaxThickness * unit;
  if (body.closed.empty() || !(unit > 0)) return body;
  body.lengths.to_units =
      std::ldexp(1.0f, std::clamp(-std::ilogb(unit), -kMaxExponent, kMaxExponent));

  std::vector<Vec3d> points(surface.pointCount());
  measurePoints(surface, rest.positions, Vec3d::Zero(), points);
  std::vector<Vec3f> positions(points.size());
  for (std::size_t p = 0; p < points.size(); ++p) positions[p] = points[p].cast<float>();
  const std::vector<Vec3f> normals = pointNormals(body, positions);
  addJoinedPieces(body, surface, positions, counts_piece);
  const std::vector<double> areas = pointAreas(positions, body.own, body.pointCount());
  body.areas.assign(areas.begin(), areas.end());
  addParts(body, positions, skeleton, skin);
  addEdges(body, positions, skin);
  addThickness(body, positions, normals);
  addRestWinding(body, positions, normals);
  body.rest = positions;
  body.room.assign(body.pointCount(), 0.0f);
  const IndexLists around = vertexTriangles(body.closed, surface.pointCount());
  body.grid = ContactGrid({.positions = positions,
                           .triangles = body.closed,
                           .triangles_of_point = around,
                           .counts = body.takes_part,
                           .spacing = kSpacing * unit,
                           .band = kBand * unit,
                           .margin = kMargin * unit});
  body.rest_distance.resize(body.welded_count);
  for (std::size_t p = 0; p < body.welded_count; ++p) {
    ContactGrid::Sample s;
    body.rest_distance[p] =
        body.takes_part[p] && body.grid.sample(positions[p], s) ? s.distance() : 0;
  }
  body.seeks = body.takes_part;
  return body;
}

bool takeNumbers(ContactBody& body, const ContactDesc& desc) {
  body.max_move = desc.max_move;
  body.passes = desc.passes;
  const float gap = gapOf(desc, body.lengths);
  if (gap == body.lengths.gap) return false;
  body.lengths.gap = gap;
  addRestWinding(body, body.rest, pointNormals(body, body.rest));
  return true;
}

}  // namespace derm::detail
