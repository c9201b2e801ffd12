#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

namespace derm::detail::gltf {

/// The content of a "data:" uri.
struct DataUri {
  std::string mime_type;
  std::vector<std::uint8_t> bytes;
};

bool isDataUri(std::string_view uri);

/// Nothing where the uri is malformed.
std::optional<DataUri> decodeDataUri(std::string_view uri);

/// The path a relative uri means, percent-decoded. An error's message says why it is not followed:
/// a file must not make us read outside its own folder or from a network.
Result<std::string> relativePath(std::string_view uri);

/// A file name as a uri: everything but letters, digits and "-._~/" percent-encoded.
std::string encodeUri(std::string_view path);

}  // namespace derm::detail::gltf
