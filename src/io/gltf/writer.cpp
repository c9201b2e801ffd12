#include "io/gltf/writer.h"

#include "io/gltf/clip_writer.h"
#include "io/gltf/controls.h"
#include "io/gltf/prune.h"
#include "io/gltf/reader.h"

namespace derm::detail::gltf {
namespace {

/// The document as it was read, in the file's own units: what differs from it has changed.
Result<Import> readAgain(const GltfDocument& document) {
  Diagnostics noted_at_import;
  MemoryBudget budget = MemoryBudget::unlimited();
  return readImport({document, noted_at_import, budget}, SideFileReader());
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
    out.root["asset"] = {{"version", "2.0"}, {"generator", "derm " DERM_VERSION}};
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
  writeControls(context, clips.animations());
  if (document != nullptr) dropReplaced(*document, out);
  out.finishBuffers(options.bin_uri);
  // Names from other formats may not be UTF-8; a broken letter is better than no file.
  return Written{
      out.root.dump(options.bin_uri.empty() ? -1 : 2, ' ', false, Json::error_handler_t::replace),
      std::move(out.bin)};
}

}  // namespace derm::detail::gltf
