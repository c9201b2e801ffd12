#pragma once

#include "io/gltf/geometry_reader.h"

namespace derm::detail::gltf {

/// Materials and images, one each per the document's. Nothing here is worth refusing a file for:
/// what is wrong is noted and left at its default. `read_uri` may be empty; images then have no
/// bytes.
void readMaterials(const ReadContext& context, Import& import);
void readImages(const ReadContext& context, const SideFileReader& read_uri, Import& import);

/// The image a texture shows; -1 where there is none.
int imageOfTexture(const Json& root, std::size_t texture);

}  // namespace derm::detail::gltf
