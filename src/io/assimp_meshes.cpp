#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include <Eigen/LU>

#include "derm/mesh/normals.h"
#include "derm/mesh/weld.h"

#include "io/assimp_scene.h"
#include "io/equal_rows.h"

namespace derm::detail::assimp {
namespace {

bool hasTriangles(const aiMesh& mesh) {
  return (mesh.mPrimitiveTypes & aiPrimitiveType_TRIANGLE) != 0;
}

/// Bones of a mesh by vertex: which, and how much.
struct BoneRows {
  std::vector<std::uint32_t> offsets;  ///< vertex count + 1
  std::vector<Influence> influences;   ///< `slot` is the mesh's bone

  std::span<const Influence> operator[](std::size_t vertex) const {
    return std::span(influences).subspan(offsets[vertex], offsets[vertex + 1] - offsets[vertex]);
  }
};

BoneRows boneRows(const aiMesh& mesh) {
  BoneRows rows;
  rows.offsets.assign(std::size_t{mesh.mNumVertices} + 1, 0);
  const auto forEachWeight = [&](const auto& call) {
    for (unsigned b = 0; b < mesh.mNumBones; ++b)
      for (unsigned w = 0; w < mesh.mBones[b]->mNumWeights; ++w)
        if (mesh.mBones[b]->mWeights[w].mVertexId < mesh.mNumVertices)
          call(b, mesh.mBones[b]->mWeights[w]);
  };
  forEachWeight([&](unsigned, const aiVertexWeight& w) { ++rows.offsets[w.mVertexId + 1]; });
  for (std::size_t v = 0; v < mesh.mNumVertices; ++v) rows.offsets[v + 1] += rows.offsets[v];
  rows.influences.resize(rows.offsets.back());
  std::vector<std::uint32_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
  forEachWeight([&](unsigned b, const aiVertexWeight& w) {
    rows.influences[next[w.mVertexId]++] = {b, w.mWeight};
  });
  return rows;
}

/// A mesh whose vertices that are equal in all they have count as one.
struct JoinedMesh {
  explicit JoinedMesh(const aiMesh& m) : mesh(m), bones(boneRows(m)) {
    numbers = joinedNumbers(
        firstEqual(m.mNumVertices, [&](std::uint32_t a, std::uint32_t b) { return compare(a, b); }),
        kept);
  }
  int compare(std::uint32_t a, std::uint32_t b) const;

  const aiMesh& mesh;
  BoneRows bones;
  std::vector<std::uint32_t> numbers;  ///< per vertex of the mesh its number among those kept
  std::vector<std::uint32_t> kept;     ///< vertices of the mesh, in order
};

int JoinedMesh::compare(std::uint32_t a, std::uint32_t b) const {
  const auto differ = [&](const auto* values) {
    return values == nullptr ? 0 : std::memcmp(&values[a], &values[b], sizeof *values);
  };
  int difference = differ(mesh.mVertices);
  if (difference == 0) difference = differ(mesh.mNormals);
  if (difference == 0) difference = differ(mesh.mTextureCoords[0]);
  if (difference == 0) difference = differ(mesh.mColors[0]);
  for (unsigned s = 0; s < mesh.mNumAnimMeshes && difference == 0; ++s)
    if (mesh.mAnimMeshes[s]->mNumVertices == mesh.mNumVertices)
      difference = differ(mesh.mAnimMeshes[s]->mVertices);
  if (difference != 0) return difference;
  const std::span<const Influence> row_a = bones[a], row_b = bones[b];
  if (row_a.size() != row_b.size()) return row_a.size() < row_b.size() ? -1 : 1;
  return row_a.empty() ? 0 : std::memcmp(row_a.data(), row_b.data(), row_a.size_bytes());
}

/// Adds the meshes of one node after the other to the character.
class MeshAdder {
 public:
  MeshAdder(const aiScene& scene, const NodeList& nodes, std::string_view file,
            Character& character, Diagnostics& notes)
      : scene_(scene),
        nodes_(nodes),
        file_(file),
        character_(character),
        notes_(notes),
        skin_({}, 0) {
    for (unsigned m = 0; m < scene.mNumMeshes; ++m) {
      has_normals_ = has_normals_ || scene.mMeshes[m]->HasNormals();
      has_uvs_ = has_uvs_ || scene.mMeshes[m]->HasTextureCoords(0);
      has_colours_ = has_colours_ || scene.mMeshes[m]->HasVertexColors(0);
    }
  }
  Result<void> addNode(std::uint32_t node, const Affine3d& to_model, bool with_skin);
  void finish(bool with_skin);

 private:
  Result<void> addPart(const JoinedMesh& joined, const Affine3d& to_model, std::string name);
  Result<void> addTriangles(const JoinedMesh& joined, std::uint32_t first_vertex, bool mirrored);
  void addAttributes(const JoinedMesh& joined, const Affine3d& to_model);
  void addSkinRows(const JoinedMesh& joined, std::uint32_t node, const Affine3d& to_model);
  void addMorphs(const JoinedMesh& joined, const Affine3d& to_model, std::uint32_t first_vertex,
                 MeshInstance& instance);
  std::uint32_t slot(std::uint32_t joint, const Affine3f& inverse_bind);
  Error bad(const aiMesh& mesh, std::string message, std::size_t index) const {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(file_),
                  .element = "mesh \"" + text(mesh.mName) + "\"",
                  .index = index}};
  }

  const aiScene& scene_;
  const NodeList& nodes_;
  std::string_view file_;
  Character& character_;
  Diagnostics& notes_;
  SkinBuilder skin_;
  std::multimap<std::uint32_t, std::pair<std::uint32_t, Affine3f>> slots_;  ///< joint -> slot, bind
  bool has_normals_ = false;
  bool has_uvs_ = false;
  bool has_colours_ = false;
};

std::uint32_t MeshAdder::slot(std::uint32_t joint, const Affine3f& inverse_bind) {
  const auto [begin, end] = slots_.equal_range(joint);
  for (auto it = begin; it != end; ++it)
    if (it->second.second.matrix() == inverse_bind.matrix()) return it->second.first;
  const std::uint32_t added = skin_.addSlot({JointId(joint), inverse_bind});
  slots_.emplace(joint, std::pair(added, inverse_bind));
  return added;
}

Result<void> MeshAdder::addTriangles(const JoinedMesh& joined, std::uint32_t first_vertex,
                                     bool mirrored) {
  const aiMesh& mesh = joined.mesh;
  for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
    const aiFace& face = mesh.mFaces[f];
    if (face.mNumIndices != 3) continue;
    Triangle triangle;
    for (unsigned c = 0; c < 3; ++c) {
      if (face.mIndices[c] >= mesh.mNumVertices)
        return bad(mesh,
                   "vertex " + std::to_string(face.mIndices[c]) + " of " +
                       std::to_string(mesh.mNumVertices),
                   f);
      triangle[c] = first_vertex + joined.numbers[face.mIndices[c]];
    }
    if (mirrored) std::swap(triangle[1], triangle[2]);
    character_.mesh.triangles.push_back(triangle);
  }
  return {};
}

void MeshAdder::addAttributes(const JoinedMesh& joined, const Affine3d& to_model) {
  const aiMesh& mesh = joined.mesh;
  TriMesh& out = character_.mesh;
  const Mat3d linear = to_model.linear();
  const bool invertible = std::abs(linear.determinant()) > 0;
  const Mat3d normal_matrix = invertible ? Mat3d(linear.inverse().transpose()) : Mat3d::Identity();
  for (const std::uint32_t v : joined.kept) {
    const Vec3d position = to_model * Vec3d(vec(mesh.mVertices[v]).cast<double>());
    out.positions.push_back(position.cast<float>());
    if (has_normals_) {
      Vec3d normal = Vec3d::Zero();
      if (mesh.HasNormals()) normal = normal_matrix * vec(mesh.mNormals[v]).cast<double>();
      const double length = normal.norm();
      const bool usable = length > 1e-30 && std::isfinite(length);
      // Zero marks what finish() computes.
      out.normals.push_back(usable ? Vec3f((normal / length).cast<float>()) : Vec3f(Vec3f::Zero()));
    }
    if (has_uvs_) {
      const aiVector3D uv =
          mesh.HasTextureCoords(0) ? mesh.mTextureCoords[0][v] : aiVector3D(0, 1, 0);
      out.uvs.emplace_back(uv.x, 1.0f - uv.y);  // assimp's origin is the bottom left
    }
    if (has_colours_) {
      const aiColor4D c = mesh.HasVertexColors(0) ? mesh.mColors[0][v] : aiColor4D(1, 1, 1, 1);
      out.colours.emplace_back(c.r, c.g, c.b, c.a);
    }
  }
}

Result<void> MeshAdder::addPart(const JoinedMesh& joined, const Affine3d& to_model,
                                std::string name) {
  const aiMesh& mesh = joined.mesh;
  TriMesh& out = character_.mesh;
  MeshPart part;
  part.name = std::move(name);
  part.first_triangle = static_cast<std::uint32_t>(out.triangles.size());
  part.first_vertex = static_cast<std::uint32_t>(out.vertexCount());
  part.vertex_count = static_cast<std::uint32_t>(joined.kept.size());
  part.material = mesh.mMaterialIndex < character_.materials.size()
                      ? static_cast<int>(mesh.mMaterialIndex)
                      : -1;
  if (std::uint64_t{part.first_vertex} + mesh.mNumVertices >= 0xFFFFFFFFu)
    return bad(mesh, "more than 2^32 - 2 vertices in all", 0);
  const bool mirrored = to_model.linear().determinant() < 0;
  DERM_CHECK(addTriangles(joined, part.first_vertex, mirrored));
  addAttributes(joined, to_model);
  part.triangle_count = static_cast<std::uint32_t>(out.triangles.size()) - part.first_triangle;
  character_.parts.push_back(std::move(part));
  return {};
}

void MeshAdder::addSkinRows(const JoinedMesh& joined, std::uint32_t node,
                            const Affine3d& to_model) {
  const aiMesh& mesh = joined.mesh;
  bool invertible = false;
  const Affine3d from_model = inverseOrIdentity(to_model, invertible);
  std::uint32_t fallback = JointId::kInvalid;
  std::vector<std::uint32_t> slot_of_bone(mesh.mNumBones, JointId::kInvalid);
  for (unsigned b = 0; b < mesh.mNumBones; ++b) {
    const aiBone& bone = *mesh.mBones[b];
    const auto joint = nodes_.by_name.find(text(bone.mName));
    if (joint == nodes_.by_name.end()) {
      notes_.warn("bone-without-node", file_, "bone without a node of its name ignored", b);
      continue;
    }
    const Affine3d bind = affine(bone.mOffsetMatrix) * from_model;
    slot_of_bone[b] = slot(joint->second, bind.cast<float>());
    fallback = std::min(fallback, slot_of_bone[b]);
  }
  const bool rigid = fallback == JointId::kInvalid;
  if (rigid) fallback = slot(node, from_model.cast<float>());
  std::vector<Influence> row;
  for (const std::uint32_t v : joined.kept) {
    row.clear();
    for (const Influence& influence : joined.bones[v])
      if (slot_of_bone[influence.slot] != JointId::kInvalid)
        row.push_back({slot_of_bone[influence.slot], influence.weight});
    if (rigid) row.assign(1, {fallback, 1.0f});
    skin_.addVertex(row, fallback, file_, notes_);
  }
}

void MeshAdder::addMorphs(const JoinedMesh& joined, const Affine3d& to_model,
                          std::uint32_t first_vertex, MeshInstance& instance) {
  const aiMesh& mesh = joined.mesh;
  for (unsigned a = 0; a < mesh.mNumAnimMeshes; ++a) {
    const aiAnimMesh& shape = *mesh.mAnimMeshes[a];
    // Assimp cuts a mesh by materials; each piece has the same shapes in the same order.
    if (a >= instance.morph_count) {
      MorphTarget morph;
      morph.name = text(shape.mName);
      if (morph.name.empty()) morph.name = "morph" + std::to_string(a);
      morph.default_weight = std::isfinite(shape.mWeight) ? shape.mWeight : 0.0f;
      character_.morphs.push_back(std::move(morph));
      ++instance.morph_count;
    }
    if (!shape.HasPositions() || shape.mNumVertices != mesh.mNumVertices) {
      notes_.warn("morph-unusable", file_, "blend shape of another size ignored", a);
      continue;
    }
    MorphTarget& morph = character_.morphs[instance.first_morph + a];
    for (std::size_t number = 0; number < joined.kept.size(); ++number) {
      const std::uint32_t v = joined.kept[number];
      const aiVector3D moved = shape.mVertices[v] - mesh.mVertices[v];
      if (moved.x == 0 && moved.y == 0 && moved.z == 0) continue;
      const Vec3d delta = to_model.linear() * vec(moved).cast<double>();
      morph.vertices.push_back(first_vertex + static_cast<std::uint32_t>(number));
      morph.positions.push_back(delta.cast<float>());
    }
  }
}

Result<void> MeshAdder::addNode(std::uint32_t node, const Affine3d& to_model, bool with_skin) {
  const aiNode& source = *nodes_.nodes[node];
  MeshInstance instance;
  instance.name = text(source.mName);
  instance.first_part = static_cast<std::uint32_t>(character_.parts.size());
  instance.first_vertex = static_cast<std::uint32_t>(character_.mesh.vertexCount());
  instance.first_morph = static_cast<std::uint32_t>(character_.morphs.size());
  instance.rigid = with_skin;
  if (with_skin) instance.joint = JointId(node);
  for (unsigned m = 0; m < source.mNumMeshes; ++m) {
    if (source.mMeshes[m] >= scene_.mNumMeshes) continue;
    const aiMesh& mesh = *scene_.mMeshes[source.mMeshes[m]];
    if (!hasTriangles(mesh)) {
      notes_.info("not-a-face", file_, "lines and points are not read");
      continue;
    }
    const auto first_vertex = static_cast<std::uint32_t>(character_.mesh.vertexCount());
    const JoinedMesh joined(mesh);
    DERM_CHECK(addPart(joined, to_model, text(mesh.mName)));
    if (with_skin) addSkinRows(joined, node, to_model);
    if (mesh.mNumBones > 0) instance.rigid = false;
    addMorphs(joined, to_model, first_vertex, instance);
  }
  instance.part_count = static_cast<std::uint32_t>(character_.parts.size()) - instance.first_part;
  instance.vertex_count =
      static_cast<std::uint32_t>(character_.mesh.vertexCount()) - instance.first_vertex;
  if (instance.part_count > 0) character_.instances.push_back(std::move(instance));
  return {};
}

void MeshAdder::finish(bool with_skin) {
  TriMesh& mesh = character_.mesh;
  std::size_t missing = mesh.normals.empty() ? mesh.vertexCount() : 0;
  for (const Vec3f& n : mesh.normals) missing += n.isZero(0);
  if (missing > 0) {
    notes_.info("normals-computed", file_,
                std::to_string(missing) + " vertices had no normal; computed from the faces");
    const std::vector<Vec3f> computed = areaWeightedNormals(
        mesh.positions, mesh.triangles, weldMap(mesh.positions, mesh.triangles));
    mesh.normals.resize(mesh.vertexCount(), Vec3f::Zero());
    for (std::size_t v = 0; v < computed.size(); ++v)
      if (mesh.normals[v].isZero(0)) mesh.normals[v] = computed[v];
  }
  if (with_skin && mesh.vertexCount() > 0) character_.skin = std::move(skin_).finish();
}

}  // namespace

Result<void> addMeshes(const aiScene& scene, const NodeList& nodes, const Skeleton& skeleton,
                       bool with_skin, std::string_view file, Character& character,
                       Diagnostics& notes) {
  const std::vector<Affine3d> rest = restModelMatrices(skeleton);
  MeshAdder adder(scene, nodes, file, character, notes);
  for (std::uint32_t node = 0; node < nodes.nodes.size(); ++node)
    if (nodes.nodes[node]->mNumMeshes > 0) DERM_CHECK(adder.addNode(node, rest[node], with_skin));
  adder.finish(with_skin);
  return {};
}

}  // namespace derm::detail::assimp
