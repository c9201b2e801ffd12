#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "io/gltf/node_writer.h"

namespace derm::detail::gltf {

/// Images, textures and materials. The document's keep their numbers; only fields of a material
/// that changed are touched.
class MaterialWriter {
 public:
  /// `embed`: images given by uri whose bytes are to go into the file.
  MaterialWriter(WriteContext& context, const std::set<std::size_t>& embed)
      : context_(context), embed_(embed) {}

  void write();

  /// The file's number of one of the character's materials; -1 = none.
  int numberOf(int material) const {
    return material < 0 ? -1 : material_number_[static_cast<std::size_t>(material)];
  }
  /// Does showing it need texture coordinates?
  bool textured(int material) const;
  /// The number of a material that does without textures whose coordinates (TEXCOORD_n) are not
  /// among these attributes: `number` itself, or a copy of it. Textures left out are warned of.
  int usableWith(int number, const Json& attributes);

 private:
  void writeImage(std::size_t image);
  void writeMaterial(std::size_t material);
  void writeDetails(const Material& material, Json& json);
  void setTexture(Json& object, const char* key, int image);
  bool imageUnchanged(std::size_t image) const;
  int textureFor(int image);

  WriteContext& context_;
  const std::set<std::size_t>& embed_;
  std::vector<int> image_number_;
  std::vector<int> material_number_;
  std::set<int> claimed_;              ///< the document's materials that are in use already
  std::vector<int> texture_of_image_;  ///< by the file's image number, -1 = not known yet
  std::map<std::pair<int, std::set<int>>, int> reduced_;  ///< copies, by material and sets lost
};

}  // namespace derm::detail::gltf
