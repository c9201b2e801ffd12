#pragma once

#include "io/gltf/geometry_reader.h"

namespace derm::detail::gltf {

/// Reads all that derm understands of a document. The import reads a file with it; the writer reads
/// the same document again to see what has changed since.
Result<Import> readImport(const ReadContext& context, const SideFileReader& read_uri);

}  // namespace derm::detail::gltf
