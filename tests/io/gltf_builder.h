#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "derm/io/gltf.h"

/// Small glTF files made by hand, so that a test shows every byte that matters.
namespace derm::testing_support {

using Json = nlohmann::json;

class GltfBuilder {
 public:
  GltfBuilder() { root["asset"] = {{"version", "2.0"}}; }

  Json root;
  std::vector<std::uint8_t> bin;

  template <class T>
  int addView(const std::vector<T>& values, int stride = 0) {
    while (bin.size() % 4 != 0) bin.push_back(0);
    Json view = {
        {"buffer", 0}, {"byteOffset", bin.size()}, {"byteLength", values.size() * sizeof(T)}};
    if (stride != 0) view["byteStride"] = stride;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(values.data());
    bin.insert(bin.end(), bytes, bytes + values.size() * sizeof(T));
    return append("bufferViews", view);
  }
  int addAccessor(Json accessor) { return append("accessors", std::move(accessor)); }
  int addFloats(const std::vector<float>& values, const char* type, int width) {
    return addAccessor({{"bufferView", addView(values)},
                        {"componentType", 5126},
                        {"count", values.size() / static_cast<std::size_t>(width)},
                        {"type", type}});
  }
  template <class T>
  int addInts(const std::vector<T>& values, int component, const char* type, int width,
              bool normalised = false) {
    Json accessor = {{"bufferView", addView(values)},
                     {"componentType", component},
                     {"count", values.size() / static_cast<std::size_t>(width)},
                     {"type", type}};
    if (normalised) accessor["normalized"] = true;
    return addAccessor(std::move(accessor));
  }
  int append(const char* array, Json item) {
    root[array].push_back(std::move(item));
    return static_cast<int>(root[array].size()) - 1;
  }
  /// One triangle (0,0,0) (1,0,0) (0,1,0) with normals towards +Z.
  int addTriangleMesh() {
    const int positions = addFloats({0, 0, 0, 1, 0, 0, 0, 1, 0}, "VEC3", 3);
    const int normals = addFloats({0, 0, 1, 0, 0, 1, 0, 0, 1}, "VEC3", 3);
    return append("meshes", {{"primitives",
                              {{{"attributes", {{"POSITION", positions}, {"NORMAL", normals}}}}}}});
  }
  int addNode(Json node) { return append("nodes", std::move(node)); }
  /// All nodes given become the roots of one scene.
  void addScene(std::vector<int> nodes) {
    append("scenes", {{"nodes", nodes}});
    root["scene"] = 0;
  }

  std::vector<std::uint8_t> glb() const {
    Json out = root;
    if (!bin.empty()) out["buffers"] = {{{"byteLength", bin.size()}}};
    return pack(out.dump(), bin);
  }
  static std::vector<std::uint8_t> pack(std::string json, std::vector<std::uint8_t> binary) {
    json.resize((json.size() + 3) / 4 * 4, ' ');
    binary.resize((binary.size() + 3) / 4 * 4);
    std::vector<std::uint8_t> out;
    const auto word = [&](std::size_t value) {
      for (int shift = 0; shift < 32; shift += 8)
        out.push_back(static_cast<std::uint8_t>(value >> shift));
    };
    word(0x46546C67);
    word(2);
    word(20 + json.size() + (binary.empty() ? 0 : 8 + binary.size()));
    word(json.size());
    word(0x4E4F534A);
    out.insert(out.end(), json.begin(), json.end());
    if (binary.empty()) return out;
    word(binary.size());
    word(0x004E4942);
    out.insert(out.end(), binary.begin(), binary.end());
    return out;
  }
};

inline Result<Character> parse(const std::vector<std::uint8_t>& bytes, Diagnostics& notes,
                               const ImportOptions& options = {}) {
  return parseGltf(bytes, "test.glb", SideFileReader(), options, notes);
}
inline Result<Character> parse(const std::vector<std::uint8_t>& bytes) {
  Diagnostics notes;
  return parse(bytes, notes);
}
/// What must be readable, and valid.
inline Character readValid(const std::vector<std::uint8_t>& bytes, Diagnostics& notes,
                           const ImportOptions& options = {}) {
  Result<Character> c = parse(bytes, notes, options);
  EXPECT_TRUE(c) << (c ? "" : c.error().text());
  if (!c) return {};
  EXPECT_TRUE(validate(*c)) << (validate(*c) ? "" : validate(*c).error().text());
  return *std::move(c);
}
inline std::vector<std::uint8_t> encode(const Character& c) {
  Diagnostics notes;
  Result<std::vector<std::uint8_t>> bytes = encodeGlb(c, notes);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().text());
  return bytes ? *std::move(bytes) : std::vector<std::uint8_t>();
}
inline Result<Character> parseText(std::string_view text) {
  Diagnostics notes;
  return parseGltf({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "test.gltf",
                   SideFileReader(), {}, notes);
}

/// The JSON inside a .glb.
inline Json jsonOf(const std::vector<std::uint8_t>& glb) {
  std::uint32_t length = 0;
  std::memcpy(&length, glb.data() + 12, 4);
  return Json::parse(glb.begin() + 20, glb.begin() + 20 + length);
}

}  // namespace derm::testing_support
