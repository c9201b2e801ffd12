#pragma once

#include <string_view>

namespace derm::detail::gltf {

/// What an extension means for a reader that does not implement it.
enum class ExtensionKind {
  Understood,  ///< derm reads it
  Appearance,  ///< concerns materials, textures, lights or annotations: safe to carry unread
  Unknown,     ///< may change geometry or motion
};
ExtensionKind extensionKind(std::string_view name);

/// What to do about a compression that derm does not read, to follow an error's message; empty for
/// all other extensions.
std::string_view unpackingHint(std::string_view extension);

/// May accessors and buffer views be renumbered in a file that uses this extension? Only where we
/// know all its references to them (or that it has none).
bool accessorsMayMove(std::string_view name);
/// The same for meshes and skins.
bool meshesMayMove(std::string_view name);

}  // namespace derm::detail::gltf
