#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "derm/character/character.h"

#include "io/json_value.h"

namespace derm::detail::gltf {

struct WriteOptions {
  std::set<std::size_t> embed_images;  ///< given by uri, to be put into the file
  std::string bin_uri;                 ///< of the binary buffer; empty = inside a .glb
};

struct Written {
  std::string json;
  std::vector<std::uint8_t> bin;
};

/// The character as JSON text and binary buffer.
Result<Written> writeCharacter(const Character& character, const WriteOptions& options,
                               Diagnostics& notes);

}  // namespace derm::detail::gltf
