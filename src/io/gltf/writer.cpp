#include "io/gltf/writer.h"

#include "io/gltf/clip_writer.h"
#include "io/gltf/controls.h"
#include "io/gltf/prune.h"
#include "io/gltf/reader.h"
#include "io/json_value.h"

namespace derm::detail::gltf {
namespace {

/// The document as it was read, in the file's own units: what differs from it has changed.
Result<Import> readAgain(const GltfDocument& document) {
  Diagnostics noted_at_import;
  MemoryBudget budget = MemoryBudget::unlimited();
  return readImport({document, noted_at_import, budget}, SideFileReader());
}

/// Names derm as the generator, and who made what it was made from.
void signAsset(Json& asset) {
  const std::string derm = "derm " DERM_VERSION, from = ", from ";
  const std::string before = stringMember(asset, "generator").value_or("");
  const std::size_t first = before.starts_with("derm ") ? before.find(from) : std::string::npos;
  if (first != std::string::npos)
    asset["generator"] = derm + before.substr(first);
  else
    asset["generator"] =
        before.empty() || before.starts_with("derm ") ? derm : derm + from + before;
}

/// [bytes] About what vertices, triangles and shapes take: a buffer that grows holds twice as much
/// for a while.
std::size_t expectedBytes(const Character& c) {
  constexpr std::size_t kVertex = 80, kShapeEntry = 2 * sizeof(std::uint32_t);
  std::size_t out = kVertex * c.mesh.vertexCount() + sizeof(Triangle) * c.mesh.triangles.size();
  for (const MorphTarget& m : c.morphs)
    out += kShapeEntry * m.vertices.size() +
           sizeof(Vec3f) * (m.positions.size() + m.normals.size() + m.tangents.size());
  for (const Image& image : c.images) out += image.bytes.size();
  return out;
}

}  // namespace

Result<Written> writeCharacter(const Character& character, const WriteOptions& options,
                               Diagnostics& notes) {
  const auto* document = dynamic_cast<const GltfDocument*>(character.source.get());
  std::optional<Import> original;
  Output out;
  if (document != nullptr) {
    DERM_TRY(original, readAgain(*document));
    out = Output(*document);
  } else {
    out.root["asset"] = {{"version", "2.0"}};
    out.bin.reserve(expectedBytes(character));
  }
  WriteContext context{character, document, original ? &*original : nullptr, out, notes};
  NodeWriter nodes(context);
  nodes.write();
  MaterialWriter materials(context, options.embed_images);
  materials.write();
  InstanceWriter instances(context, nodes, materials);
  DERM_CHECK(instances.write());
  ClipWriter clips(context, nodes, instances);
  clips.write();
  writeControls(context, clips.animations(), clips.starts());
  if (document != nullptr) dropReplaced(*document, out);
  out.finishBuffers(options.bin_uri);
  // A file in which nothing has changed stays its maker's.
  if (document == nullptr || out.root != document->root) signAsset(out.root["asset"]);
  // Names from other formats may not be UTF-8; a broken letter is better than no file.
  return Written{
      out.root.dump(options.bin_uri.empty() ? -1 : 2, ' ', false, Json::error_handler_t::replace),
      std::move(out.bin)};
}

}  // namespace derm::detail::gltf
