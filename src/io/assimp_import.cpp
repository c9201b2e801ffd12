#include <cmath>
#include <exception>
#include <memory>

#include <assimp/Importer.hpp>
#include <assimp/postprocess.h>

#include "derm/io/file_ending.h"

#include "io/assimp_reader.h"
#include "io/assimp_scene.h"
#include "io/import_units.h"
#include "io/text_scanner.h"

namespace derm::detail {
namespace {

/// Unit and axes as the file declares them.
struct Declared {
  std::string unit;
  double metres = 1.0;  ///< per unit
  std::string up = "+Y";
  Mat3d to_y_up = Mat3d::Identity();
};

std::string unitName(double metres) {
  constexpr std::pair<double, const char*> kUnits[] = {{0.001, "mm"}, {0.01, "cm"}, {0.1, "dm"},
                                                       {1, "m"},      {1000, "km"}, {0.0254, "in"},
                                                       {0.3048, "ft"}};
  for (const auto& [length, name] : kUnits)
    if (std::abs(metres - length) < 1e-6 * length) return name;
  return std::to_string(metres) + " m";
}

/// Global settings of an FBX. Assimp 5.2 reports them and leaves the scene as it is.
Declared declaredByFbx(const aiScene& scene, std::string_view file, Diagnostics& notes) {
  Declared out;
  out.metres = 0.01;
  if (scene.mMetaData == nullptr) {
    out.unit = "cm";
    return out;
  }
  double centimetres = 1.0;
  float narrow = 1.0f;
  if (scene.mMetaData->Get("UnitScaleFactor", narrow)) centimetres = narrow;
  scene.mMetaData->Get("UnitScaleFactor", centimetres);
  if (centimetres > 0 && std::isfinite(centimetres)) out.metres = 0.01 * centimetres;
  out.unit = unitName(out.metres);

  const auto axis = [&](const char* key, int otherwise) {
    std::int32_t index = otherwise, sign = 1;
    scene.mMetaData->Get(key, index);
    scene.mMetaData->Get(std::string(key) + "Sign", sign);
    Vec3d direction = Vec3d::Zero();
    if (index >= 0 && index < 3) direction[index] = sign < 0 ? -1 : 1;
    return direction;
  };
  const Vec3d up = axis("UpAxis", 1);
  Mat3d rows;
  rows << axis("CoordAxis", 0).transpose(), up.transpose(), axis("FrontAxis", 2).transpose();
  const char letter = up.x() != 0 ? 'X' : up.y() != 0 ? 'Y' : 'Z';
  out.up = std::string(up.sum() < 0 ? "-" : "+") + letter;
  if (std::abs(rows.determinant() - 1) > 1e-9)
    notes.warn("axes-unusable", file, "the axes of the file are no right-handed frame; left alone");
  else
    out.to_y_up = rows;
  return out;
}

/// What stands between two pieces of text; empty where the first is missing.
std::string_view between(std::string_view text, std::string_view start, std::string_view end) {
  const std::size_t begin = text.find(start);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + start.size());
  return text.substr(0, std::min(text.find(end), text.size()));
}

/// The <asset> of a DAE. Assimp 5.2 reports neither unit nor axes, so we look for ourselves.
Declared declaredByDae(std::string_view text) {
  Declared out;
  const std::string_view asset = between(text, "<asset", "</asset>");
  const std::string_view unit = between(asset, "<unit", ">");
  std::string_view metres_text = between(unit, "meter=\"", "\"");
  if (metres_text.empty()) metres_text = between(unit, "meter='", "'");
  double metres = 1.0;
  if (detail::text::parseNumber(detail::text::trimmed(metres_text), metres) ==
          detail::text::NumberKind::Finite &&
      metres > 0)
    out.metres = metres;
  out.unit = unitName(out.metres);
  const std::string_view up = detail::text::trimmed(between(asset, "<up_axis>", "<"));
  if (up == "Z_UP") {
    out.up = "+Z";
    out.to_y_up << 1, 0, 0, 0, 0, 1, 0, -1, 0;
  } else if (up == "X_UP") {
    out.up = "+X";
    out.to_y_up << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  }
  return out;
}

/// Assimp 5.2 multiplies a DAE's unit into the root node. Taken out again, so that the unit can go
/// into vertices, joints and binds as it does for every other format, or be overridden.
void undoUnitOfRoot(aiScene& scene, double metres) {
  aiMatrix4x4& root = scene.mRootNode->mTransformation;
  const auto back = static_cast<ai_real>(1.0 / metres);
  for (unsigned row = 0; row < 3; ++row)
    for (unsigned column = 0; column < 3; ++column) root[row][column] *= back;
}

bool hasBones(const aiScene& scene) {
  for (unsigned m = 0; m < scene.mNumMeshes; ++m)
    if (scene.mMeshes[m]->mNumBones > 0) return true;
  return false;
}

bool hasNodeMotion(const aiScene& scene) {
  for (unsigned a = 0; a < scene.mNumAnimations; ++a)
    if (scene.mAnimations[a]->mNumChannels > 0) return true;
  return false;
}

Result<Character> convert(const aiScene& scene, const std::string& file, Diagnostics& notes) {
  Character character;
  character.name = fileStem(file);
  const detail::assimp::NodeList nodes = detail::assimp::listNodes(scene);
  Skeleton skeleton = detail::assimp::skeletonOf(nodes, file, notes);
  const bool with_skeleton = hasBones(scene) || hasNodeMotion(scene);
  detail::assimp::addMaterials(scene, file, character, notes);
  DERM_CHECK(
      detail::assimp::addMeshes(scene, nodes, skeleton, with_skeleton, file, character, notes));
  if (with_skeleton) character.skeleton = std::move(skeleton);
  detail::assimp::addClips(scene, nodes, file, character, notes);
  if (character.mesh.vertexCount() == 0 && character.skeleton.size() == 0)
    return Error{ErrorCode::BadData, "neither a mesh nor a skeleton in the file", {.file = file}};
  return character;
}

Result<Character> importBytes(std::span<const std::uint8_t> bytes, const std::string& file,
                              const std::string& ending, const ImportOptions& options,
                              Diagnostics& notes) {
  Assimp::Importer importer;
  // Helper nodes for FBX pivots would hide the joints' own names and motions.
  importer.SetPropertyBool(AI_CONFIG_IMPORT_FBX_PRESERVE_PIVOTS, false);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, true);
  importer.SetPropertyBool(AI_CONFIG_IMPORT_NO_SKELETON_MESHES, true);
  // Vertices are joined by addMeshes(): assimp's own step takes hundreds of bytes per corner, and
  // half a minute for a flat sheet of 90,000 vertices.
  importer.ReadFileFromMemory(bytes.data(), bytes.size(),
                              aiProcess_Triangulate | aiProcess_SortByPType, ending.c_str());
  const std::string why = importer.GetErrorString();  // gone once the scene is ours
  const std::unique_ptr<aiScene> scene(importer.GetOrphanedScene());
  if (scene == nullptr || scene->mRootNode == nullptr)
    return Error{ErrorCode::BadData,
                 "assimp cannot read it: " + (why.empty() ? "it has no scene" : why),
                 {.file = file}};
  Declared declared;
  if (ending == "fbx") {
    declared = declaredByFbx(*scene, file, notes);
  } else if (ending == "dae") {
    declared = declaredByDae({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    undoUnitOfRoot(*scene, declared.metres);
  }
  DERM_TRY(Character character, convert(*scene, file, notes));
  const std::string format = detail::text::upperCase(ending);
  DERM_TRY(declared.metres, metresPerUnit(options, declared.metres, file));
  if (declared.metres != 1.0) scaleLengths(character, declared.metres);
  if (declared.up != "+Y") rotateAxes(character, Quatd(declared.to_y_up));
  character.import = {.format = format,
                      .declared_unit = declared.unit,
                      .metres_per_unit = declared.metres,
                      .up_axis = declared.up};
  aiString generator;
  if (scene->mMetaData != nullptr && scene->mMetaData->Get("SourceAsset_Generator", generator))
    character.import.generator = detail::assimp::text(generator);
  DERM_CHECK(validate(character));
  return character;
}

}  // namespace

Result<Character> readWithAssimp(std::span<const std::uint8_t> bytes, std::string_view name,
                                 const ImportOptions& options, Diagnostics& notes) {
  const std::string file(name);
  std::string ending = fileEnding(std::filesystem::path(name));
  if (ending.starts_with('.')) ending.erase(0, 1);
  // Assimp catches its own exceptions while reading, but not all of the standard library's.
  try {
    return importBytes(bytes, file, ending, options, notes);
  } catch (const std::exception& failure) {
    return Error{ErrorCode::BadData,
                 std::string("assimp cannot read it: ") + failure.what(),
                 {.file = file}};
  }
}

}  // namespace derm::detail
