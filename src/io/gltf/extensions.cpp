#include "io/gltf/extensions.h"

#include <algorithm>
#include <array>

namespace derm::detail::gltf {
namespace {

template <std::size_t N>
bool startsWithAny(std::string_view name, const std::array<std::string_view, N>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return name.starts_with(p); });
}

constexpr std::array<std::string_view, 9> kAppearance = {
    "KHR_materials_", "KHR_texture_",  "KHR_lights_",   "EXT_materials_", "EXT_texture_",
    "EXT_lights_",    "MSFT_texture_", "MSFT_packing_", "KHR_xmp"};

// Humanoid descriptions name nodes and meshes but no accessors.
constexpr std::array<std::string_view, 2> kHumanoid = {"VRM", "KHR_node_visibility"};

// Their references are followed when things are renumbered.
constexpr std::array<std::string_view, 4> kFollowed = {
    "KHR_mesh_quantization", "KHR_draco_mesh_compression", "EXT_meshopt_compression",
    "EXT_mesh_gpu_instancing"};

}  // namespace

ExtensionKind extensionKind(std::string_view name) {
  if (name == "KHR_mesh_quantization") return ExtensionKind::Understood;
  if (startsWithAny(name, kAppearance) || startsWithAny(name, kHumanoid) ||
      name == "KHR_animation_pointer")
    return ExtensionKind::Appearance;
  return ExtensionKind::Unknown;
}

std::string_view unpackingHint(std::string_view extension) {
  const bool packed = extension == "KHR_draco_mesh_compression" ||
                      extension == "EXT_meshopt_compression" ||
                      extension == "KHR_meshopt_compression";
  return packed ? "; \"gltf-transform cp IN.glb OUT.glb\" unpacks it" : "";
}

bool accessorsMayMove(std::string_view name) {
  return startsWithAny(name, kAppearance) || startsWithAny(name, kHumanoid) ||
         startsWithAny(name, kFollowed) || name == "KHR_animation_pointer";
}

bool meshesMayMove(std::string_view name) {
  return startsWithAny(name, kAppearance) || startsWithAny(name, kFollowed);
}

}  // namespace derm::detail::gltf
