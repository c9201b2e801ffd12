#include "io/gltf/uri.h"

#include <algorithm>

#include <fmt/format.h>

#include "derm/io/base64.h"

namespace derm::detail::gltf {
namespace {

int hexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool isAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// A '%' that starts no escape stands for itself, as browsers have it.
std::string percentDecoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = hexDigit(text[i + 1]);
      const int low = hexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out += static_cast<char>(high * 16 + low);
        i += 2;
        continue;
      }
    }
    out += text[i];
  }
  return out;
}

/// "http", "file", "C" …: letters, digits, "+-." before the first colon.
bool hasScheme(std::string_view uri) {
  const std::size_t colon = uri.find(':');
  if (colon == uri.npos || colon == 0 || !isAlpha(uri[0])) return false;
  return std::all_of(uri.begin(), uri.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return isAlpha(c) || isDigit(c) || c == '+' || c == '-' || c == '.';
  });
}

bool leavesFolder(std::string_view path) {
  while (!path.empty()) {
    const std::size_t end = std::min(path.find_first_of("/\\"), path.size());
    if (path.substr(0, end) == "..") return true;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return false;
}

}  // namespace

bool isDataUri(std::string_view uri) { return uri.starts_with("data:"); }

std::optional<DataUri> decodeDataUri(std::string_view uri) {
  if (!isDataUri(uri)) return std::nullopt;
  uri.remove_prefix(5);
  const std::size_t comma = uri.find(',');
  if (comma == uri.npos) return std::nullopt;
  std::string_view head = uri.substr(0, comma);
  const std::string_view body = uri.substr(comma + 1);
  DataUri out;
  out.mime_type = std::string(head.substr(0, head.find(';')));
  if (head.ends_with(";base64")) {
    std::optional<std::vector<std::uint8_t>> bytes = decodeBase64(body);
    if (!bytes) return std::nullopt;
    out.bytes = std::move(*bytes);
  } else {
    const std::string text = percentDecoded(body);
    out.bytes.assign(text.begin(), text.end());
  }
  return out;
}

Result<std::string> relativePath(std::string_view uri) {
  const auto refused = [&](const char* why) {
    return Error{
        ErrorCode::Unsupported, fmt::format("\"{}\" is not read: {}", uri.substr(0, 100), why), {}};
  };
  if (hasScheme(uri)) return refused("only files beside this one are");
  std::string path = percentDecoded(uri);
  if (path.empty()) return refused("it is empty");
  if (path.find('\0') != path.npos) return refused("it contains a zero byte");
  if (path[0] == '/' || path[0] == '\\' || hasScheme(path))
    return refused("only relative paths are followed");
  if (leavesFolder(path)) return refused("it leaves the file's folder");
  return path;
}

std::string encodeUri(std::string_view path) {
  std::string out;
  for (const char c : path) {
    if (isAlpha(c) || isDigit(c) || std::string_view("-._~/").find(c) != std::string_view::npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

}  // namespace derm::detail::gltf
