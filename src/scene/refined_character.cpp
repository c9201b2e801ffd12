#include "scene/refined_character.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "derm/deform/refined_vertices.h"
#include "derm/mesh/surface_point.h"
#include "derm/mesh/triangle_tree.h"

namespace derm::detail {
namespace {

/// What engines read; added vertices get no more unless the character's own have.
constexpr std::size_t kEngineInfluences = 4;

bool tellsSources(const Stack& stack) {
  const BoundSurface& surface = stack.output();
  const TriMesh& own = stack.character().mesh;
  if (surface.rest.vertexCount() < own.vertexCount()) return false;
  if (surface.source_triangles.size() != surface.rest.triangles.size()) return false;
  return std::all_of(surface.source_triangles.begin(), surface.source_triangles.end(),
                     [&](std::uint32_t t) { return t < own.triangles.size(); });
}

Error changesTriangles(const Stack& stack) {
  for (const auto& layer : stack.layers())
    if (layer->output() != nullptr)
      return Error{ErrorCode::BadArgument,
                   "layer \"" + layer->name() + "\" (" + layer->type() +
                       ") changes the triangles without telling what they were cut from, which "
                       "corrective shapes need; bake a cache, or disable it",
                   {}};
  return Error{ErrorCode::BadArgument, "the stack changes the triangles", {}};
}

template <class T>
std::vector<T> gathered(const std::vector<T>& from, std::span<const std::uint32_t> order) {
  std::vector<T> out;
  if (from.empty()) return out;
  out.reserve(order.size());
  for (const std::uint32_t v : order) out.push_back(from[v]);
  return out;
}

/// Puts a refined surface together: each instance's own vertices, then those added to it.
class Refiner {
 public:
  explicit Refiner(const Stack& stack)
      : from_(stack.character()), surface_(stack.output()), out_(from_) {
    order();
    mesh();
    skin();
    morphs(stack);
  }
  RefinedCharacter take() && {
    return {std::make_shared<const Character>(std::move(out_)), std::move(order_)};
  }

 private:
  std::size_t ownCount() const { return from_.mesh.vertexCount(); }

  void order() {
    const std::vector<std::uint32_t> part_of = partOfTriangle(from_);
    std::vector<std::size_t> instance_of_part(from_.parts.size(), 0);
    for (std::size_t i = 0; i < from_.instances.size(); ++i)
      std::fill_n(instance_of_part.begin() + from_.instances[i].first_part,
                  from_.instances[i].part_count, i);
    const std::size_t count = surface_.rest.vertexCount();
    std::vector<std::size_t> instance_of(count - ownCount(), 0);
    triangles_.resize(from_.parts.size());
    for (std::size_t t = 0; t < surface_.rest.triangles.size(); ++t) {
      const std::size_t part = part_of[surface_.source_triangles[t]];
      triangles_[part].push_back(t);
      for (const std::uint32_t v : surface_.rest.triangles[t])
        if (v >= ownCount()) instance_of[v - ownCount()] = instance_of_part[part];
    }
    std::vector<std::vector<std::uint32_t>> added(from_.instances.size());
    for (std::size_t n = 0; n < instance_of.size(); ++n)
      added[instance_of[n]].push_back(static_cast<std::uint32_t>(ownCount() + n));
    for (std::size_t i = 0; i < from_.instances.size(); ++i) placeInstance(i, added[i]);
    position_.resize(count);
    for (std::size_t n = 0; n < order_.size(); ++n)
      position_[order_[n]] = static_cast<std::uint32_t>(n);
  }

  void placeInstance(std::size_t index, std::span<const std::uint32_t> added) {
    const MeshInstance& old = from_.instances[index];
    MeshInstance& now = out_.instances[index];
    now.first_vertex = static_cast<std::uint32_t>(order_.size());
    now.vertex_count = old.vertex_count + static_cast<std::uint32_t>(added.size());
    for (std::uint32_t v = 0; v < old.vertex_count; ++v) order_.push_back(old.first_vertex + v);
    order_.insert(order_.end(), added.begin(), added.end());
    for (std::size_t p = old.first_part; p < std::size_t{old.first_part} + old.part_count; ++p) {
      MeshPart& part = out_.parts[p];
      if (added.empty()) {
        part.first_vertex = now.first_vertex + (part.first_vertex - old.first_vertex);
        continue;
      }
      part.first_vertex = now.first_vertex;
      part.vertex_count = now.vertex_count;
    }
  }

  void mesh() {
    const TriMesh& rest = surface_.rest;
    TriMesh& mesh = out_.mesh;
    mesh.positions = gathered(rest.positions, order_);
    mesh.normals = gathered(rest.normals, order_);
    mesh.tangents = gathered(rest.tangents, order_);
    mesh.uvs = gathered(rest.uvs, order_);
    mesh.colours = gathered(rest.colours, order_);
    mesh.triangles.clear();
    std::vector<std::uint32_t> sources;
    for (std::size_t p = 0; p < triangles_.size(); ++p) {
      out_.parts[p].first_triangle = static_cast<std::uint32_t>(mesh.triangles.size());
      out_.parts[p].triangle_count = static_cast<std::uint32_t>(triangles_[p].size());
      for (const std::size_t t : triangles_[p]) {
        Triangle corners = rest.triangles[t];
        for (std::uint32_t& v : corners) v = position_[v];
        mesh.triangles.push_back(corners);
        sources.push_back(surface_.source_triangles[t]);
      }
    }
    mesh.groups = rest.groups;
    for (VertexGroup& group : mesh.groups) {
      std::vector<std::pair<std::uint32_t, float>> entries;
      for (std::size_t i = 0; i < group.vertices.size(); ++i)
        entries.emplace_back(position_[group.vertices[i]], group.strengths[i]);
      std::sort(entries.begin(), entries.end());
      for (std::size_t i = 0; i < entries.size(); ++i)
        std::tie(group.vertices[i], group.strengths[i]) = entries[i];
    }
    out_.points = pointsOnPieces(from_, mesh, sources);
  }

  void skin() {
    const Skin& fine = surface_.skin;
    if (fine.empty()) return;
    const Skin few = pruned(fine, std::max(kEngineInfluences, from_.skin.maxInfluences()));
    out_.skin = {.slots = fine.slots, .offsets = {0}, .influences = {}};
    for (const std::uint32_t v : order_) {
      const std::span<const Influence> row = few[v];
      out_.skin.influences.insert(out_.skin.influences.end(), row.begin(), row.end());
      out_.skin.offsets.push_back(static_cast<std::uint32_t>(out_.skin.influences.size()));
    }
  }

  void morphs(const Stack& stack) {
    if (from_.morphs.empty()) return;
    const RefinedVertices carried(stack.character().mesh, ownCount(), surface_);
    for (MorphTarget& morph : out_.morphs) {
      const std::vector<Vec3f> positions = dense(morph.vertices, morph.positions, carried);
      const std::vector<Vec3f> normals = dense(morph.vertices, morph.normals, carried);
      const std::vector<Vec3f> tangents = dense(morph.vertices, morph.tangents, carried);
      MorphTarget now{.name = morph.name, .default_weight = morph.default_weight};
      const auto moves = [](const std::vector<Vec3f>& stream, std::uint32_t v) {
        return !stream.empty() && stream[v] != Vec3f(Vec3f::Zero());
      };
      for (std::size_t n = 0; n < order_.size(); ++n) {
        const std::uint32_t v = order_[n];
        const bool listed =
            v < ownCount() && std::binary_search(morph.vertices.begin(), morph.vertices.end(), v);
        if (!listed && !moves(positions, v) && !moves(normals, v) && !moves(tangents, v)) continue;
        now.vertices.push_back(static_cast<std::uint32_t>(n));
        now.positions.push_back(positions[v]);
        if (!normals.empty()) now.normals.push_back(normals[v]);
        if (!tangents.empty()) now.tangents.push_back(tangents[v]);
      }
      morph = std::move(now);
    }
  }

  /// A sparse stream of the character's vertices on all of the surface's; empty stays empty.
  std::vector<Vec3f> dense(std::span<const std::uint32_t> vertices, std::span<const Vec3f> stream,
                           const RefinedVertices& carried) const {
    std::vector<Vec3f> out;
    if (stream.empty() && !vertices.empty()) return out;
    out.assign(surface_.rest.vertexCount(), Vec3f::Zero());
    for (std::size_t i = 0; i < stream.size(); ++i) out[vertices[i]] = stream[i];
    std::vector<float> values(out.size());
    for (int axis = 0; axis < 3; ++axis) {
      for (std::size_t v = 0; v < out.size(); ++v) values[v] = out[v][axis];
      carried.carry(values);
      for (std::size_t v = ownCount(); v < out.size(); ++v) out[v][axis] = values[v];
    }
    return out;
  }

  const Character& from_;
  const BoundSurface& surface_;
  Character out_;
  std::vector<std::uint32_t> order_;                 ///< the surface's vertex of each
  std::vector<std::uint32_t> position_;              ///< the other way round
  std::vector<std::vector<std::size_t>> triangles_;  ///< of the surface, per part
};

}  // namespace

/// The part that each triangle of the character belongs to.
std::vector<std::uint32_t> partOfTriangle(const Character& character) {
  std::vector<std::uint32_t> out;
  out.reserve(character.mesh.triangles.size());
  for (std::size_t p = 0; p < character.parts.size(); ++p)
    out.insert(out.end(), character.parts[p].triangle_count, static_cast<std::uint32_t>(p));
  return out;
}

/// Labelled points on the pieces of the triangles they lay on; without pieces they are gone.
std::vector<LabelledPoint> pointsOnPieces(const Character& character, const TriMesh& fine,
                                          std::span<const std::uint32_t> sources) {
  std::vector<LabelledPoint> out;
  for (const LabelledPoint& point : character.points) {
    const Vec3d wanted =
        positionAt(point.point, character.mesh.triangles, character.mesh.positions).cast<double>();
    std::optional<SurfacePoint> best;
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t t = 0; t < sources.size(); ++t) {
      if (sources[t] != point.point.triangle) continue;
      const auto corner = [&](int c) {
        return Vec3d(fine.positions[fine.triangles[t][static_cast<std::size_t>(c)]].cast<double>());
      };
      const Vec3d share = closestOnTriangle(wanted, corner(0), corner(1), corner(2));
      const double distance =
          (share[0] * corner(0) + share[1] * corner(1) + share[2] * corner(2) - wanted).norm();
      if (distance >= nearest) continue;
      nearest = distance;
      best = {static_cast<std::uint32_t>(t), share.cast<float>()};
    }
    if (best) out.push_back({point.label, *best});
  }
  return out;
}

Result<RefinedCharacter> refinedCharacter(const Stack& stack) {
  if (&stack.output() == &stack.input()) return RefinedCharacter{};
  if (!tellsSources(stack)) return changesTriangles(stack);
  return Refiner(stack).take();
}

}  // namespace derm::detail
