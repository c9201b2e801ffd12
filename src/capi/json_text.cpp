#include "capi/json_text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "derm/mesh/measures.h"
#include "derm/scene/recipe_edit.h"

namespace derm::detail::capi {
namespace {

std::string_view nameOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::BadData:
      return "bad_data";
    case ErrorCode::BadArgument:
      return "bad_argument";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::CannotRead:
      return "cannot_read";
    case ErrorCode::CannotWrite:
      return "cannot_write";
    case ErrorCode::Cancelled:
      return "cancelled";
  }
  return "bad_data";
}

template <class Vector>
Json listOf(const Vector& v) {
  Json out = Json::array();
  for (Eigen::Index i = 0; i < v.size(); ++i) out.push_back(v[i]);
  return out;
}

Json detailMapJson(const DetailMap& map) {
  return {{"image", map.image},
          {"strength", map.strength},
          {"uv_set", map.uv_set},
          {"uv_scale", listOf(map.uv_scale)},
          {"uv_offset", listOf(map.uv_offset)},
          {"group", map.vertex_group},
          {"control", map.control},
          {"channel", map.channel}};
}

Json materialJson(const Material& material) {
  Json maps = Json::array();
  for (const DetailMap& map : material.detail_maps) maps.push_back(detailMapJson(map));
  return {{"name", material.name},
          {"base_colour", listOf(material.base_colour)},
          {"base_colour_image", material.base_colour_image},
          {"normal_image", material.normal_image},
          {"metallic", material.metallic},
          {"roughness", material.roughness},
          {"double_sided", material.double_sided},
          {"transparent", material.transparent},
          {"source", material.source_index},
          {"detail_maps", std::move(maps)}};
}

int nodeOf(const Character& character, JointId joint) {
  if (!joint.valid()) return -1;
  if (character.joint_source.empty()) return -1;
  return character.joint_source[joint.index()];
}

Json partsJson(const Character& character) {
  Json out = Json::array();
  for (const MeshInstance& instance : character.instances)
    for (std::uint32_t p = 0; p < instance.part_count; ++p) {
      const MeshPart& part = character.parts[instance.first_part + p];
      out.push_back({{"name", part.name},
                     {"instance", instance.name},
                     {"material", part.material},
                     {"node", nodeOf(character, instance.joint)},
                     {"mesh", instance.source_mesh},
                     {"primitive", part.source_primitive},
                     {"rigid", instance.rigid},
                     {"first_morph", instance.first_morph},
                     {"morph_count", instance.morph_count},
                     {"first_vertex", part.first_vertex},
                     {"vertex_count", part.vertex_count}});
    }
  return out;
}

/// What a clip moves, so that a program with motions of its own knows what to leave to it.
Json clipJson(const Clip& clip) {
  std::vector<std::uint32_t> joints, morphs;
  for (const Track& track : clip.tracks) {
    if (track.ofJoint()) joints.push_back(static_cast<std::uint32_t>(track.joint.index()));
    for (std::uint32_t m = 0; m < track.morph_count; ++m) morphs.push_back(track.first_morph + m);
  }
  for (std::vector<std::uint32_t>* list : {&joints, &morphs}) {
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  return {{"name", clip.name},
          {"duration_s", clip.duration_s()},
          {"joints", std::move(joints)},
          {"morphs", std::move(morphs)}};
}

Json jointsJson(const Character& character) {
  Json out = Json::array();
  const std::vector<bool> bones = character.bones();
  const std::vector<std::string> names = character.skeleton.names();
  for (std::size_t j = 0; j < character.skeleton.size(); ++j) {
    const Joint& joint = character.skeleton.joints[j];
    out.push_back({{"name", names[j]},
                   {"parent", joint.parent.valid() ? static_cast<int>(joint.parent.index()) : -1},
                   {"node", character.joint_source.empty() ? -1 : character.joint_source[j]},
                   {"bone", bool(bones[j])}});
  }
  return out;
}

/// Lists in lists, tables in tables: recipes need four, and this function calls itself.
constexpr int kMaxDepth = 64;

/// Objects become tables, null is an error.
Result<RecipeValue> valueOf(const Json& json, int depth = 0) {
  if (depth > kMaxDepth) return Error{ErrorCode::BadArgument, "is nested too deep", {}};
  if (json.is_boolean()) return RecipeValue{json.get<bool>()};
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > INT64_MAX)
    return RecipeValue{json.get<double>()};
  if (json.is_number_integer()) return RecipeValue{json.get<std::int64_t>()};
  if (json.is_number()) return RecipeValue{json.get<double>()};
  if (json.is_string()) return RecipeValue{json.get<std::string>()};
  if (json.is_array()) {
    RecipeValue::List list;
    for (const Json& each : json) {
      DERM_TRY(RecipeValue value, valueOf(each, depth + 1));
      list.push_back(std::move(value));
    }
    return RecipeValue{std::move(list)};
  }
  if (json.is_object()) {
    RecipeValue::Table table;
    for (const auto& [key, each] : json.items()) {
      DERM_TRY(RecipeValue value, valueOf(each, depth + 1));
      table.push_back({.key = key, .value = std::move(value)});
    }
    return RecipeValue{std::move(table)};
  }
  return Error{ErrorCode::BadArgument, "a recipe has no value for JSON's null", {}};
}

}  // namespace

std::string textOf(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json toJson(const RecipeValue& value) {
  if (const auto* list = std::get_if<RecipeValue::List>(&value.content)) {
    Json out = Json::array();
    for (const RecipeValue& each : *list) out.push_back(toJson(each));
    return out;
  }
  if (const auto* table = std::get_if<RecipeValue::Table>(&value.content)) {
    Json out = Json::object();
    for (const RecipeEntry& entry : *table) out[entry.key] = toJson(entry.value);
    return out;
  }
  if (const auto* flag = std::get_if<bool>(&value.content)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&value.content)) return *whole;
  if (const auto* number = std::get_if<double>(&value.content)) return *number;
  return std::get<std::string>(value.content);
}

Result<RecipeValue> parseJsonValue(std::string_view text) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  const Json json =
      text.size() > kMaxBytes ? Json(Json::value_t::discarded) : Json::parse(text, nullptr, false);
  if (json.is_discarded()) return Error{ErrorCode::BadArgument, "is no JSON value", {}};
  return valueOf(json);
}

Json errorJson(const Error& error) {
  return {{"code", nameOf(error.code)},
          {"text", error.text()},
          {"message", error.message},
          {"file", error.where.file},
          {"element", error.where.element},
          {"line", error.where.line.value_or(0)},
          {"column", error.where.column.value_or(0)}};
}

Json editJson(const EditReport& report) {
  return {{"rebound", report.rebound},
          {"reopened", report.reopened},
          {"ms", report.ms},
          {"notes", report.notes}};
}

Json membersJson(std::span<const CastMember> members) {
  Json out = Json::array();
  for (const CastMember& member : members)
    out.push_back({{"name", member.name}, {"description", member.description}});
  return out;
}

Json characterJson(const Session& session) {
  const Character& character = session.character();
  Json clips = Json::array(), morphs = Json::array(), controls = Json::array();
  Json points = Json::array(), groups = Json::array(), images = Json::array();
  Json materials = Json::array();
  for (const Clip& clip : character.clips) clips.push_back(clipJson(clip));
  for (const MorphTarget& morph : character.morphs)
    morphs.push_back({{"name", morph.name}, {"preset", morph.default_weight}});
  for (const Control& control : character.controls)
    controls.push_back({{"name", control.name},
                        {"low", control.low},
                        {"high", control.high},
                        {"preset", control.preset}});
  for (const LabelledPoint& point : character.points)
    points.push_back({{"label", point.label},
                      {"triangle", point.point.triangle},
                      {"barycentric", listOf(point.point.barycentric)}});
  for (const VertexGroup& group : character.mesh.groups) groups.push_back(group.name);
  for (const Image& image : character.images)
    images.push_back({{"name", image.name},
                      {"mime_type", image.mime_type},
                      {"uri", image.uri},
                      {"bytes", image.bytes.size()}});
  for (const Material& material : character.materials) materials.push_back(materialJson(material));
  return {{"name", character.name},
          {"vertices", character.mesh.vertexCount()},
          {"triangles", character.mesh.triangles.size()},
          {"diagonal_m", bounds(character.mesh.positions).size().norm()},
          {"has_skin", character.hasSkin()},
          {"metres_per_unit", character.import.metres_per_unit},
          {"joints", jointsJson(character)},
          {"clips", std::move(clips)},
          {"morphs", std::move(morphs)},
          {"controls", std::move(controls)},
          {"points", std::move(points)},
          {"groups", std::move(groups)},
          {"images", std::move(images)},
          {"materials", std::move(materials)},
          {"parts", partsJson(character)},
          {"notes", session.notes()}};
}

Json recipeJson(const Session& session) {
  const Scene& scene = session.scene();
  Recipe recipe = scene.recipe();
  Json sections = Json::object(), controls = Json::object(), layers = Json::array();
  for (const RecipeSection& section : recipeSections(recipe))
    sections[section.name] = toJson(RecipeValue{writeFields(section.fields)});
  for (const auto& [name, value] : recipe.controls) controls[name] = value;
  for (const RecipeLayer& layer : recipe.layers)
    layers.push_back({{"name", layer.name},
                      {"type", layer.type},
                      {"enabled", layer.enabled},
                      {"before_skinning", layer.before_skinning},
                      {"keys", toJson(RecipeValue{layer.keys})}});
  Json clip;
  if (scene.clip() != nullptr)
    clip = {{"name", scene.clip()->name},
            {"number", scene.clip() - scene.character()->clips.data()},
            {"duration_s", scene.clip()->duration_s()}};
  const PlaybackDesc& desc = scene.playback().desc();
  return {{"clip", std::move(clip)},
          {"start_s", desc.start_s},
          {"end_s", desc.end_s},
          {"loop", recipe.loop},
          {"fps", recipe.fps},
          {"frames", scene.frameTimes().size()},
          {"sections", std::move(sections)},
          {"controls", std::move(controls)},
          {"layers", std::move(layers)},
          {"masks", scene.stack().masks()},
          {"channels", scene.stack().channels()}};
}

}  // namespace derm::detail::capi
