#include <algorithm>
#include <cmath>
#include <cstring>

#include <assimp/material.h>

#include "io/assimp_scene.h"
#include "io/external_images.h"

namespace derm::detail::assimp {
namespace {

/// Pictures of the scene, embedded ones with their bytes.
class ImageTable {
 public:
  ImageTable(const aiScene& scene, std::string_view file, Character& character, Diagnostics& notes)
      : scene_(scene), file_(file), character_(character), notes_(notes) {}

  /// Index of the picture a material names; -1 where it cannot be carried.
  int indexOf(const std::string& path) {
    const auto known = std::find(paths_.begin(), paths_.end(), path);
    if (known != paths_.end()) return indices_[static_cast<std::size_t>(known - paths_.begin())];
    paths_.push_back(path);
    indices_.push_back(add(path));
    return indices_.back();
  }

 private:
  int add(const std::string& path) {
    Image image;
    if (const aiTexture* texture = scene_.GetEmbeddedTexture(path.c_str())) {
      if (texture->mHeight != 0) {
        notes_.warn("picture-not-encoded", file_, "embedded picture of bare pixels left out");
        return -1;
      }
      const auto* bytes = reinterpret_cast<const std::uint8_t*>(texture->pcData);
      image.bytes.assign(bytes, bytes + texture->mWidth);
      image.mime_type = pictureType(image.bytes);
      image.name = text(texture->mFilename).empty() ? path : text(texture->mFilename);
    } else {
      image.uri = path;
      std::replace(image.uri.begin(), image.uri.end(), '\\', '/');
      image.name = image.uri.substr(image.uri.rfind('/') + 1);
      image.mime_type = pictureTypeOfName(image.name);
    }
    character_.images.push_back(std::move(image));
    return static_cast<int>(character_.images.size() - 1);
  }

  const aiScene& scene_;
  std::string_view file_;
  Character& character_;
  Diagnostics& notes_;
  std::vector<std::string> paths_;
  std::vector<int> indices_;
};

std::string texturePath(const aiMaterial& material, std::initializer_list<aiTextureType> types) {
  for (const aiTextureType type : types) {
    aiString path;
    if (material.GetTexture(type, 0, &path) == aiReturn_SUCCESS && path.length > 0)
      return text(path);
  }
  return {};
}

float clampedOr(float value, float otherwise) {
  return std::isfinite(value) ? std::clamp(value, 0.0f, 1.0f) : otherwise;
}

}  // namespace

void addMaterials(const aiScene& scene, std::string_view file, Character& character,
                  Diagnostics& notes) {
  ImageTable images(scene, file, character, notes);
  for (unsigned m = 0; m < scene.mNumMaterials; ++m) {
    const aiMaterial& source = *scene.mMaterials[m];
    Material material;
    aiString name;
    if (source.Get(AI_MATKEY_NAME, name) == aiReturn_SUCCESS) material.name = text(name);
    aiColor4D colour(1, 1, 1, 1);
    if (source.Get(AI_MATKEY_BASE_COLOR, colour) != aiReturn_SUCCESS)
      source.Get(AI_MATKEY_COLOR_DIFFUSE, colour);
    float opacity = 1.0f;
    source.Get(AI_MATKEY_OPACITY, opacity);
    material.base_colour = Vec4f(clampedOr(colour.r, 1), clampedOr(colour.g, 1),
                                 clampedOr(colour.b, 1), clampedOr(opacity, 1));
    float metallic = 0.0f;
    source.Get(AI_MATKEY_METALLIC_FACTOR, metallic);
    material.metallic = clampedOr(metallic, 0);
    float roughness = 1.0f;
    source.Get(AI_MATKEY_ROUGHNESS_FACTOR, roughness);
    material.roughness = clampedOr(roughness, 1);
    int two_sided = 0;
    source.Get(AI_MATKEY_TWOSIDED, two_sided);
    material.double_sided = two_sided != 0;
    material.transparent = material.base_colour[3] < 1.0f;
    const std::string colour_path =
        texturePath(source, {aiTextureType_BASE_COLOR, aiTextureType_DIFFUSE});
    if (!colour_path.empty()) material.base_colour_image = images.indexOf(colour_path);
    const std::string normal_path = texturePath(source, {aiTextureType_NORMALS});
    if (!normal_path.empty()) material.normal_image = images.indexOf(normal_path);
    character.materials.push_back(std::move(material));
  }
}

}  // namespace derm::detail::assimp
