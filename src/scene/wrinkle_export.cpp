#include "derm/scene/wrinkle_export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <set>

#include <nlohmann/json.hpp>

#include "derm/face/face_features.h"
#include "derm/io/base64.h"
#include "derm/io/gltf.h"

#include "scene/detail_parameters.h"

namespace derm {
namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::vector<std::uint8_t>;

Error noDetail(const Scene& scene, const char* message) {
  return {
      ErrorCode::BadArgument, message, {.file = scene.recipe().origin.file, .element = "layer"}};
}

struct NamedDetail {
  std::string layer;
  DetailDesc desc;
};

/// The recipe's first enabled detail layer.
Result<NamedDetail> detailOf(const Scene& scene) {
  for (const RecipeLayer& layer : scene.recipe().layers) {
    if (layer.type != "detail" || !layer.enabled) continue;
    detail::DetailParameters parameters;
    DERM_CHECK(readFields(layer.keys, scene.recipe().origin.file, layer.name,
                          [&](RecipeFields& f) { parameters.fields(f); }));
    return NamedDetail{layer.name, parameters.desc()};
  }
  return noDetail(scene, "the recipe has no detail layer, so there are no wrinkle maps to export");
}

Json listOf(const Vec3d& v) { return Json::array({v.x(), v.y(), v.z()}); }

/// Whether a mesh or node of the file has this name; what is no text counts as none.
bool isCalled(const Json& what, const std::string& name) {
  const auto member = what.find("name");
  if (member == what.end() || !member->is_string()) return name.empty();
  return member->get_ref<const std::string&>() == name;
}

/// Where a part of the character is in the file.
struct Place {
  std::size_t mesh = 0, primitive = 0;
  std::uint32_t first_vertex = 0;
  std::uint32_t vertex_count = 0;
};

class FilePlaces {
 public:
  FilePlaces(const Character& character, const Json& root) : character_(character), root_(root) {}

  /// Nothing where the file has it in a way that cannot be told.
  std::optional<Place> of(std::size_t part) const {
    const auto& instances = character_.instances;
    const auto i = std::find_if(instances.begin(), instances.end(), [&](const MeshInstance& m) {
      return part >= m.first_part && part - m.first_part < m.part_count;
    });
    if (i == instances.end()) return {};
    const std::optional<std::size_t> mesh = meshOf(*i);
    if (!mesh) return {};
    const MeshPart& p = character_.parts[part];
    Place out{.mesh = *mesh, .primitive = part - i->first_part};
    const Json& primitive = root_["meshes"][*mesh]["primitives"][out.primitive];
    const auto accessor = primitive["attributes"]["POSITION"].get<std::size_t>();
    const auto count = root_["accessors"][accessor]["count"].get<std::uint32_t>();
    // A part's own vertices, or those of the whole mesh where parts share them.
    const bool own = count == p.vertex_count;
    if (!own && count != i->vertex_count) return {};
    out.first_vertex = own ? p.first_vertex : i->first_vertex;
    out.vertex_count = count;
    return out;
  }

 private:
  std::optional<std::size_t> meshOf(const MeshInstance& instance) const {
    const Json& meshes = root_["meshes"];
    const auto fits = [&](std::size_t m) {
      return m < meshes.size() && meshes[m]["primitives"].size() == instance.part_count;
    };
    if (instance.source_mesh >= 0 && fits(static_cast<std::size_t>(instance.source_mesh)))
      return static_cast<std::size_t>(instance.source_mesh);
    for (std::size_t m = 0; m < meshes.size(); ++m)
      if (isCalled(meshes[m], instance.name) && fits(m)) return m;
    return {};
  }
  const Character& character_;
  const Json& root_;
};

/// Four points and weights per vertex, the largest; weights as shares of 255.
void addWeights(const FaceWeights& weights, bool any_counts, const Place& place, Json& entry) {
  Bytes points, shares;
  for (std::uint32_t v = 0; v < place.vertex_count; ++v) {
    std::size_t count = 0;
    for (const FaceWeights::Share& share : weights[place.first_vertex + v]) {
      if (share.point == FaceWeights::kHead || count == 4) continue;
      points.push_back(static_cast<std::uint8_t>(share.point));
      const double weight = any_counts ? 1 : std::clamp(share.weight, 0.0, 1.0);
      shares.push_back(static_cast<std::uint8_t>(std::lround(255 * weight)));
      ++count;
    }
    for (; count < 4; ++count) {
      points.push_back(0);
      shares.push_back(0);
    }
  }
  entry["vertex_points"] = encodeBase64(points);
  entry["vertex_weights"] = encodeBase64(shares);
}

std::size_t partOfTriangle(const Character& character, std::uint32_t triangle) {
  for (std::size_t p = 0; p < character.parts.size(); ++p)
    if (triangle >= character.parts[p].first_triangle &&
        triangle - character.parts[p].first_triangle < character.parts[p].triangle_count)
      return p;
  return character.parts.size();
}

Json posesJson(const NamedDetail& layer, const WrinklePosesDesc& poses) {
  Json out = Json::array();
  for (const ReferencePose& pose : poses.poses) {
    Json moves = Json::array();
    for (std::size_t j = 0; j < pose.points.size(); ++j)
      moves.push_back(listOf(pose.points[j] - poses.neutral[j]));
    Json curve = "sin4";
    if (!pose.curve.keys.empty()) {
      curve = Json::array();
      for (const Vec2f& key : pose.curve.keys) curve.push_back(Json::array({key.x(), key.y()}));
    }
    out.push_back({{"name", pose.name},
                   {"channel", detailChannel(layer.layer, pose.name)},
                   {"moves", std::move(moves)},
                   {"curve", std::move(curve)}});
  }
  return out;
}

std::uint32_t wordAt(const Bytes& bytes, std::size_t at) {
  std::uint32_t out = 0;
  std::memcpy(&out, bytes.data() + at, 4);
  return out;
}

void addWord(std::uint32_t word, Bytes& bytes) {
  for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<std::uint8_t>(word >> (8 * i)));
}

/// The .glb with another JSON chunk. The first chunk is JSON, as the format demands.
Bytes withJson(const Bytes& glb, std::string json) {
  const std::uint32_t before = wordAt(glb, 12);
  while (json.size() % 4 != 0) json += ' ';
  Bytes out(glb.begin(), glb.begin() + 12);
  addWord(static_cast<std::uint32_t>(json.size()), out);
  out.insert(out.end(), glb.begin() + 16, glb.begin() + 20);
  out.insert(out.end(), json.begin(), json.end());
  out.insert(out.end(), glb.begin() + 20 + static_cast<std::ptrdiff_t>(before), glb.end());
  const auto size = static_cast<std::uint32_t>(out.size());
  for (int i = 0; i < 4; ++i)
    out[8 + static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(size >> (8 * i));
  return out;
}

}  // namespace

Result<std::vector<std::uint8_t>> encodeWrinkleGlb(const Scene& scene, Diagnostics& notes) {
  const Character& character = *scene.character();
  DERM_TRY(const NamedDetail layer, detailOf(scene));
  DERM_TRY(const DetailTables tables, detailTables(layer.desc, character, notes));
  const WrinkleInfluence influence = tables.poses.influence;
  const FaceWeights weights =
      influence == WrinkleInfluence::Spread ? spreadWeights(tables.weights) : tables.weights;
  std::set<int> materials;
  for (std::size_t m = 0; m < character.materials.size(); ++m)
    for (const DetailMap& map : character.materials[m].detail_maps)
      if (map.channel.starts_with(layer.layer + ".")) materials.insert(static_cast<int>(m));
  if (materials.empty()) return noDetail(scene, "no pose of the detail layer has a map to export");

  DERM_TRY(const Bytes glb, encodeGlb(character, notes));
  Json root = Json::parse(glb.begin() + 20,
                          glb.begin() + 20 + static_cast<std::ptrdiff_t>(wordAt(glb, 12)));
  const FilePlaces places(character, root);
  const auto unclear = [&] {
    return Error{ErrorCode::Unsupported,
                 "parts share vertices in a way that cannot be told from the file",
                 {.file = character.name}};
  };
  Json points = Json::array(), surfaces = Json::array(), groups = Json::array();
  const auto numbers = controlPointNumbers();
  for (std::size_t j = 0; j < tables.points.size(); ++j) {
    const SurfacePoint& p = tables.points[j];
    const std::optional<Place> place = places.of(partOfTriangle(character, p.triangle));
    if (!place) return unclear();
    const Triangle& t = character.mesh.triangles[p.triangle];
    Json corners = Json::array(), shares = Json::array();
    for (std::size_t c = 0; c < 3; ++c) {
      corners.push_back(t[c] - place->first_vertex);
      shares.push_back(p.barycentric[static_cast<Eigen::Index>(c)]);
    }
    points.push_back({{"label", numbers[j]},
                      {"mesh", place->mesh},
                      {"primitive", place->primitive},
                      {"vertices", std::move(corners)},
                      {"weights", std::move(shares)},
                      {"rest", listOf(tables.poses.neutral[j])}});
  }
  for (std::size_t p = 0; p < character.parts.size(); ++p) {
    if (!materials.contains(character.parts[p].material)) continue;
    const std::optional<Place> place = places.of(p);
    if (!place) return unclear();
    Json entry = {{"mesh", place->mesh}, {"primitive", place->primitive}};
    addWeights(weights, influence == WrinkleInfluence::Printed, *place, entry);
    surfaces.push_back(std::move(entry));
  }
  for (const WrinkleGroup& group : tables.poses.groups) groups.push_back(group.points);
  Json block = {{"version", 1},
                {"points", std::move(points)},
                {"groups", std::move(groups)},
                {"poses", posesJson(layer, tables.poses)},
                {"surfaces", std::move(surfaces)}};
  if (tables.head.valid()) {
    const std::string& name = character.skeleton[tables.head].name;
    const Json& nodes = root["nodes"];
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (isCalled(nodes[n], name) && !nodes[n].contains("mesh")) {
        Json bind = Json::array();
        for (Eigen::Index column = 0; column < 4; ++column) {
          for (Eigen::Index row = 0; row < 3; ++row)
            bind.push_back(tables.head_bind.matrix()(row, column));
          bind.push_back(column == 3 ? 1.0 : 0.0);
        }
        block["head"] = {{"node", n}, {"bind", std::move(bind)}};
        break;
      }
  }
  root["extras"]["derm_wrinkles"] = std::move(block);
  // Names come from files and may be any bytes; an export must not fail over them.
  return withJson(glb, root.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace derm
