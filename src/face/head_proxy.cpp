#include "derm/face/head_proxy.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "derm/face/face_points.h"
#include "derm/face/head_shapes.h"
#include "derm/mesh/adjacency.h"
#include "derm/mesh/triangle_tree.h"
#include "derm/mesh/weld.h"

#include "face/control_point_index.h"
#include "face/eye_centre.h"
#include "face/face_rig_parts.h"
#include "face/lid_closing.h"
#include "face/shape_morph.h"
#include "face/share_pruning.h"

namespace derm {
namespace {

constexpr std::uint32_t kNoVertex = 0xFFFFFFFFu;

Vec3d areaOf(const TriMesh& mesh, const Triangle& t) {
  const Vec3d a = mesh.positions[t[0]].cast<double>();
  return (mesh.positions[t[1]].cast<double>() - a)
      .cross(Vec3d(mesh.positions[t[2]].cast<double>() - a));
}

/// Each point of one mesh on the nearest triangle of another that faces the same way: lips that
/// touch are two surfaces.
std::vector<LabelledPoint> placedOn(const TriMesh& to, const TriMesh& from,
                                    std::span<const LabelledPoint> points) {
  struct Place {
    Vec3d position, facing;
    SurfacePoint found;
    double distance = std::numeric_limits<double>::infinity();
  };
  std::vector<Place> places;
  for (const LabelledPoint& p : points)
    places.push_back({positionAt(p.point, from.triangles, from.positions).cast<double>(),
                      areaOf(from, from.triangles[p.point.triangle]),
                      {}});
  for (std::uint32_t t = 0; t < to.triangles.size(); ++t) {
    const Triangle& c = to.triangles[t];
    const Vec3d corners[3] = {to.positions[c[0]].cast<double>(), to.positions[c[1]].cast<double>(),
                              to.positions[c[2]].cast<double>()};
    const double reach =
        std::max((corners[1] - corners[0]).norm(), (corners[2] - corners[0]).norm());
    for (Place& place : places) {
      const double near = place.distance + reach;
      if ((corners[0] - place.position).squaredNorm() > near * near ||
          (place.facing.squaredNorm() > 0 && areaOf(to, c).dot(place.facing) <= 0))
        continue;
      const Vec3d at = closestOnTriangle(place.position, corners[0], corners[1], corners[2]);
      const double distance =
          (at[0] * corners[0] + at[1] * corners[1] + at[2] * corners[2] - place.position).norm();
      if (distance >= place.distance) continue;
      place.distance = distance;
      place.found = {t, at.cast<float>()};
    }
  }
  std::vector<LabelledPoint> out;
  for (std::size_t i = 0; i < points.size(); ++i) out.push_back({points[i].label, places[i].found});
  return out;
}

/// weldMap() within each instance: a part of one mesh does not hang on vertices of another.
std::vector<std::uint32_t> weldedInInstances(const Character& c) {
  std::vector<std::uint32_t> out = weldMap(c.mesh.positions);
  std::vector<std::uint32_t> first(out.size(), kNoVertex);
  for (const MeshInstance& m : c.instances)
    for (std::uint32_t v = m.first_vertex; v < m.first_vertex + m.vertex_count; ++v) {
      std::uint32_t& own = first[out[v]];
      if (own == kNoVertex || own < m.first_vertex) own = v;
      out[v] = own;
    }
  return out;
}

/// The vertices of a head that a coarsening keeps, with what they follow.
Character coarseCharacter(const Character& full, const Coarsening& coarsening,
                          std::span<const std::uint32_t> weld,
                          std::vector<std::uint32_t>& vertex_of) {
  Character out;
  out.name = full.name;
  out.import = full.import;
  out.skeleton = full.skeleton;
  out.source = full.source;
  out.joint_source = full.joint_source;
  out.controls = full.controls;
  std::vector<std::uint32_t> entry(coarsening.kept.size(), kNoVertex);
  for (std::size_t i = 0; i < entry.size(); ++i) {
    const std::uint32_t v = coarsening.kept[i];
    if (weld[v] != v) continue;  // stands for nobody
    entry[i] = static_cast<std::uint32_t>(vertex_of.size());
    vertex_of.push_back(v);
    out.mesh.positions.push_back(full.mesh.positions[v]);
  }
  out.mesh.triangles = mapped(coarsening.triangles, entry);
  if (full.hasSkin()) {
    out.skin.slots = full.skin.slots;
    out.skin.offsets = {0};
    for (const std::uint32_t v : vertex_of) {
      const std::span<const Influence> row = full.skin[v];
      out.skin.influences.insert(out.skin.influences.end(), row.begin(), row.end());
      out.skin.offsets.push_back(static_cast<std::uint32_t>(out.skin.influences.size()));
    }
  }
  // Vertices and triangles keep their order, so those of an instance stay together.
  std::size_t next = 0, triangle = 0;
  for (MeshInstance instance : full.instances) {
    const std::size_t end = std::size_t{instance.first_vertex} + instance.vertex_count;
    instance.first_vertex = static_cast<std::uint32_t>(next);
    while (next < vertex_of.size() && vertex_of[next] < end) ++next;
    instance.vertex_count = static_cast<std::uint32_t>(next) - instance.first_vertex;
    instance.first_part = static_cast<std::uint32_t>(out.parts.size());
    instance.part_count = 1;
    instance.first_morph = instance.morph_count = 0;
    MeshPart part;
    part.name = instance.name;
    part.first_triangle = static_cast<std::uint32_t>(triangle);
    while (triangle < out.mesh.triangles.size() && out.mesh.triangles[triangle][0] < next)
      ++triangle;
    part.triangle_count = static_cast<std::uint32_t>(triangle) - part.first_triangle;
    part.first_vertex = instance.first_vertex;
    part.vertex_count = instance.vertex_count;
    out.parts.push_back(part);
    out.instances.push_back(instance);
  }
  if (full.instances.empty()) addDefaultParts(out);
  return out;
}

/// The eyes of a rigged head with what may hide them, and the control points, as a head of its own.
struct EyesOnly {
  Character head;
  std::vector<std::uint32_t> vertex_of;  ///< per vertex that of the whole head
};

EyesOnly eyesOf(const Character& whole, const FacePoints& points) {
  constexpr double kReach = 1.6;  // eye widths
  const Vec3d left = 0.5 * (points.at("3.7") + points.at("3.11")),
              right = 0.5 * (points.at("3.12") + points.at("3.8"));
  const double reach = kReach * std::max((points.at("3.7") - points.at("3.11")).norm(),
                                         (points.at("3.12") - points.at("3.8")).norm());
  std::vector<bool> near(whole.mesh.vertexCount());
  for (std::size_t v = 0; v < near.size(); ++v) {
    const Vec3d p = whole.mesh.positions[v].cast<double>();
    near[v] = (left + closestOnSegment(p, left, right) * (right - left) - p).norm() < reach;
  }
  std::vector<std::uint32_t> of_points;
  for (const LabelledPoint& p : whole.points) of_points.push_back(p.point.triangle);
  std::sort(of_points.begin(), of_points.end());
  EyesOnly out;
  std::vector<std::uint32_t> entry(near.size(), kNoVertex);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> kept;  // of the whole, of the part
  for (std::uint32_t t = 0; t < whole.mesh.triangles.size(); ++t) {
    const Triangle& c = whole.mesh.triangles[t];
    const bool of_point = std::binary_search(of_points.begin(), of_points.end(), t);
    if (!of_point && !(near[c[0]] && near[c[1]] && near[c[2]])) continue;
    if (of_point) kept.push_back({t, static_cast<std::uint32_t>(out.head.mesh.triangles.size())});
    out.head.mesh.triangles.push_back(c);
    for (const std::uint32_t v : c) entry[v] = 0;
  }
  out.head.skeleton = whole.skeleton;
  out.head.skin.slots = whole.skin.slots;
  out.head.skin.offsets = {0};
  for (std::uint32_t v = 0; v < entry.size(); ++v) {
    if (entry[v] == kNoVertex) continue;
    entry[v] = static_cast<std::uint32_t>(out.vertex_of.size());
    out.vertex_of.push_back(v);
    out.head.mesh.positions.push_back(whole.mesh.positions[v]);
    const std::span<const Influence> row = whole.skin[v];
    out.head.skin.influences.insert(out.head.skin.influences.end(), row.begin(), row.end());
    out.head.skin.offsets.push_back(static_cast<std::uint32_t>(out.head.skin.influences.size()));
  }
  out.head.mesh.triangles = mapped(out.head.mesh.triangles, entry);
  for (const LabelledPoint& p : whole.points) {
    const auto at = std::lower_bound(kept.begin(), kept.end(), std::pair{p.point.triangle, 0u});
    out.head.points.push_back({p.label, {at->second, p.point.barycentric}});
  }
  return out;
}

/// The clip "blink" as a rig makes it for a head; none where it cannot.
std::optional<Clip> ownBlink(const Character& head, const FaceRig& rig, const FacePoints& points,
                             const FaceSlits& slits) {
  const Result<FacePoser> poser = FacePoser::make(head, rig);
  if (!poser) return {};
  return poser->clip("blink", detail::expressionOf(head, rig, points, slits, {}, "blink"));
}

}  // namespace

Result<HeadProxy> HeadProxy::of(Character& full, const Progress& progress, std::size_t largest,
                                std::size_t coarse) {
  HeadProxy out;
  out.full_ = &full;
  if (full.mesh.triangles.size() <= largest) return out;
  out.weld_ = weldedInInstances(full);
  DERM_TRY(out.coarsening_, coarsened(full.mesh.positions, mapped(full.mesh.triangles, out.weld_),
                                      {.max_triangles = coarse}, progress));
  out.coarse_ = coarseCharacter(full, out.coarsening_, out.weld_, out.vertex_);
  out.coarse_->points = placedOn(out.coarse_->mesh, full.mesh, full.points);
  out.coarsening_.triangles = {};
  out.coarsening_.triangle_source = {};
  return out;
}

template <class T>
std::vector<T> HeadProxy::spread(std::span<const T> values, const T& zero) const {
  std::vector<T> out(weld_.size(), zero);
  for (std::size_t i = 0; i < vertex_.size(); ++i) out[vertex_[i]] = values[i];
  for (std::size_t i = 0; i < coarsening_.removed.size(); ++i) {
    T sum = zero;
    for (const Coarsening::Share& s : coarsening_.sharesOf(i))
      sum += T(static_cast<double>(s.weight) * out[s.vertex]);
    out[coarsening_.removed[i]] = sum;
  }
  for (std::size_t v = 0; v < out.size(); ++v) out[v] = out[weld_[v]];
  return out;
}

std::vector<LabelledPoint> HeadProxy::onFull(std::span<const LabelledPoint> points) const {
  if (!coarse_) return {points.begin(), points.end()};
  return placedOn(full_->mesh, coarse_->mesh, points);
}

std::vector<LabelledPoint> HeadProxy::fromFull(std::span<const LabelledPoint> points) const {
  if (!coarse_) return {points.begin(), points.end()};
  return placedOn(coarse_->mesh, full_->mesh, points);
}

std::vector<float> HeadProxy::onFull(std::span<const float> values) const {
  if (!coarse_) return {values.begin(), values.end()};
  return spread<float>(values, 0.0f);
}

void HeadProxy::keepPoints() {
  if (coarse_) full_->points = onFull(coarse_->points);
}

void HeadProxy::keepShapes(std::vector<MorphTarget> shapes, Diagnostics& notes) {
  if (!coarse_) {
    setShapes(*full_, shapes, notes);
    return;
  }
  const detail::MorphMaker maker(full_->mesh, weld_);
  const auto displacementsOf = [&](const MorphTarget& shape) {
    std::vector<Vec3d> out(coarse_->mesh.vertexCount(), Vec3d::Zero());
    for (std::size_t i = 0; i < shape.vertices.size(); ++i)
      out[shape.vertices[i]] = shape.positions[i].cast<double>();
    return spread<Vec3d>(out, Vec3d::Zero());
  };
  // mouthClose is played on top of jawOpen, and lit as such.
  const auto jaw = std::find_if(shapes.begin(), shapes.end(),
                                [](const MorphTarget& s) { return s.name == "jawOpen"; });
  std::vector<Vec3d> open;
  if (jaw != shapes.end()) open = displacementsOf(*jaw);
  for (MorphTarget& shape : shapes) {
    MorphTarget made = maker.make(displacementsOf(shape),
                                  shape.name == "mouthClose" ? open : std::vector<Vec3d>());
    made.name = shape.name;
    made.default_weight = shape.default_weight;
    shape = std::move(made);
  }
  setShapes(*full_, shapes, notes);
}

FaceWeights HeadProxy::weightsOnFull(const FaceRig& rig, std::size_t max_influences) const {
  using Share = FaceWeights::Share;
  const Skin& skin = coarse_->skin;
  // Of the head and what hangs on it: control points, else the head.
  std::vector<std::uint32_t> point_of_slot(skin.slots.size(), kNoVertex);
  for (std::size_t s = 0; s < skin.slots.size(); ++s) {
    if (!isBelow(coarse_->skeleton, skin.slots[s].joint, rig.head)) continue;
    const auto at = std::find(rig.joints.begin(), rig.joints.end(), skin.slots[s].joint);
    point_of_slot[s] = at == rig.joints.end() ? FaceWeights::kHead
                                              : static_cast<std::uint32_t>(at - rig.joints.begin());
  }
  // Rows that are not yet cut to `max_influences`, so that what is linear stays so. Most are the
  // head alone, and share one.
  struct Row {
    std::uint32_t first = 0, count = 1;
  };
  std::vector<Share> pool = {{FaceWeights::kHead, 1}};
  std::vector<Row> rows(weld_.size());
  std::array<double, FaceWeights::kHead + 1> sums{};
  const auto store = [&](double total) -> Row {
    if (!(total > 0) || sums[FaceWeights::kHead] == total) return {};
    const auto first = static_cast<std::uint32_t>(pool.size());
    for (std::uint32_t j = 0; j < sums.size(); ++j)
      if (sums[j] > 0) pool.push_back({j, sums[j] / total});
    return {first, static_cast<std::uint32_t>(pool.size()) - first};
  };
  for (std::size_t i = 0; i < vertex_.size(); ++i) {
    sums.fill(0);
    double total = 0;
    for (const Influence& w : skin[i])
      if (const std::uint32_t j = point_of_slot[w.slot]; j != kNoVertex) {
        sums[j] += static_cast<double>(w.weight);
        total += static_cast<double>(w.weight);
      }
    rows[vertex_[i]] = store(total);
  }
  for (std::size_t i = 0; i < coarsening_.removed.size(); ++i) {
    const std::span<const Coarsening::Share> around = coarsening_.sharesOf(i);
    const bool bare = std::all_of(around.begin(), around.end(), [&](const Coarsening::Share& s) {
      return rows[s.vertex].first == 0;
    });
    if (bare) continue;
    sums.fill(0);
    double total = 0;
    for (const Coarsening::Share& s : around) {
      const Row& row = rows[s.vertex];
      for (std::uint32_t k = 0; k < row.count; ++k)
        sums[pool[row.first + k].point] +=
            static_cast<double>(s.weight) * pool[row.first + k].weight;
      total += static_cast<double>(s.weight);
    }
    rows[coarsening_.removed[i]] = store(total);
  }
  FaceWeights out;
  out.offsets = {0};
  out.offsets.reserve(weld_.size() + 1);
  std::vector<Share> row;
  for (const std::uint32_t v : weld_) {
    const Row& own = rows[v];
    row.assign(pool.begin() + own.first, pool.begin() + own.first + own.count);
    detail::pruneShares(row, max_influences, true);
    out.shares.insert(out.shares.end(), row.begin(), row.end());
    out.offsets.push_back(static_cast<std::uint32_t>(out.shares.size()));
  }
  return out;
}

/// Between the vertices of the proxy margins are curved, and what shuts an eye must be so to a
/// hundredth of its height: the lids are shut once more, with every vertex of their margins.
Result<void> HeadProxy::shutLids(const FaceRig& rig, std::size_t max_influences) {
  DERM_TRY(const FacePoints points, facePoints(full_->points, full_->mesh));
  EyesOnly eyes = eyesOf(*full_, points);
  Diagnostics ignored;  // eyes that do not open were told of before
  const FaceSlits slits = findFaceSlits(eyes.head.mesh, eyes.head.points, ignored);
  detail::closeLids(eyes.head, rig, points, slits, max_influences);
  std::uint32_t head_slot = 0;
  for (std::uint32_t s = 0; s < full_->skin.slots.size(); ++s)
    if (full_->skin.slots[s].joint == rig.head) head_slot = s;
  SkinBuilder builder(full_->skin.slots, full_->mesh.vertexCount());
  std::vector<Influence> row;
  std::size_t next = 0;
  for (std::size_t v = 0; v < full_->mesh.vertexCount(); ++v) {
    const bool is_eye = next < eyes.vertex_of.size() && eyes.vertex_of[next] == v;
    const std::span<const Influence> from = is_eye ? eyes.head.skin[next++] : full_->skin[v];
    row.assign(from.begin(), from.end());
    builder.addVertex(row, head_slot, "face rig", ignored);
  }
  full_->skin = std::move(builder).finish();
  // A blink that a rig makes is made for these margins; one that was carried stays as it came.
  DERM_TRY(const FacePoints coarse_points, facePoints(coarse_->points, coarse_->mesh));
  for (Clip& clip : full_->clips) {
    if (clip.name != "blink") continue;
    const auto isMade = [&](const FaceSlits& found) {
      return ownBlink(*coarse_, rig, coarse_points, found) == clip;
    };
    if (!isMade(findFaceSlits(coarse_->mesh, coarse_points, ignored)) &&
        !isMade(findFaceSlits(coarse_->mesh, coarse_->points, ignored)))
      continue;
    if (std::optional<Clip> blink = ownBlink(eyes.head, rig, points, slits))
      clip = *std::move(blink);
  }
  return {};
}

Result<void> HeadProxy::keepRig(const FaceRig& rig, std::size_t max_influences,
                                Diagnostics& notes) {
  if (!coarse_) return {};
  keepPoints();
  const FaceWeights weights = weightsOnFull(rig, max_influences);
  FaceRigDesc desc;
  desc.weights.max_influences = max_influences;
  DERM_TRY(const FacePoints points, facePoints(full_->points, full_->mesh));
  DERM_TRY(const FaceRig made,
           detail::addRigOfWeights(*full_, points, weights, desc, rig.head, notes));
  DERM_REQUIRE(made.joints == rig.joints);  // both start from one skeleton
  // The control joints stand at the coarse head's points, as its clips have them.
  full_->skeleton = coarse_->skeleton;
  for (SkinSlot& slot : full_->skin.slots)
    for (const SkinSlot& found : coarse_->skin.slots)
      if (slot.joint == found.joint) slot.inverse_bind = found.inverse_bind;
  full_->clips.insert(full_->clips.end(), coarse_->clips.begin(), coarse_->clips.end());
  return shutLids(rig, max_influences);
}

}  // namespace derm
