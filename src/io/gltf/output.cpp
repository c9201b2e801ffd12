#include "io/gltf/output.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace derm::detail::gltf {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr int kFloat = 5126;
/// A buffer of which the file says only its size gets that many zeros, up to here.
constexpr std::uint64_t kMaxInvented = 1 << 20;

template <class T>
std::span<const std::uint8_t> bytesOf(std::span<const T> values) {
  return {reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()};
}

void pad(std::vector<std::uint8_t>& bytes) { bytes.resize((bytes.size() + 3) / 4 * 4, 0); }

/// Adds to "byteOffset" and sets "buffer" of a view (or of an extension that describes one).
void moveView(Json& view, std::size_t buffer, std::uint64_t shift) {
  if (view["buffer"] != buffer) view["buffer"] = buffer;
  if (shift == 0) return;
  const Json* offset = findMember(view, "byteOffset");
  view["byteOffset"] = (offset != nullptr ? asUint(*offset).value_or(0) : 0) + shift;
}

}  // namespace

Output::Output(const GltfDocument& document) : root(document.root) {
  const std::size_t count = document.buffers.size();
  std::vector<std::uint64_t> shift(count, 0);
  std::map<const std::uint8_t*, std::uint64_t> placed;  // one file may serve several buffers
  bool first = true;
  for (std::size_t b = 0; b < count; ++b) {
    const SourceBuffer& source = document.buffers[b];
    if (!source.problem.empty()) continue;
    if (first) {
      first_buffer_ = root["buffers"][b];
      first_buffer_.erase("uri");
      first = false;
    }
    const auto known = placed.find(source.bytes.data());
    if (known != placed.end() && known->second + source.bytes.size() <= bin.size()) {
      shift[b] = known->second;
      continue;
    }
    pad(bin);
    shift[b] = bin.size();
    placed[source.bytes.data()] = bin.size();
    bin.insert(bin.end(), source.bytes.begin(), source.bytes.end());
  }
  std::vector<std::size_t> number(count, 0);
  for (std::size_t b = 0; b < count; ++b) {
    if (document.buffers[b].problem.empty()) continue;
    number[b] = separate_.size() + (first ? 0 : 1);
    separate_.push_back(root["buffers"][b]);
  }
  root.erase("buffers");
  const auto fix = [&](Json& view) {
    const Json* index = findMember(view, "buffer");
    const std::optional<std::uint64_t> b = index ? asUint(*index) : std::nullopt;
    if (b && *b < count) moveView(view, number[*b], shift[*b]);
  };
  for (std::size_t i = 0; i < arraySize(root, "bufferViews"); ++i) {
    Json& view = root["bufferViews"][i];
    fix(view);
    const Json* extensions = findMember(view, "extensions");
    if (extensions != nullptr && extensions->is_object())
      for (Json& extension : view["extensions"]) fix(extension);
  }
}

std::size_t Output::append(const char* array, Json item) {
  Json& list = root[array];
  if (!list.is_array()) list = Json::array();
  list.push_back(std::move(item));
  return list.size() - 1;
}

std::size_t Output::addView(std::span<const std::uint8_t> bytes, int target) {
  pad(bin);
  Json view = {{"buffer", 0}, {"byteOffset", bin.size()}, {"byteLength", bytes.size()}};
  if (target != 0) view["target"] = target;
  bin.insert(bin.end(), bytes.begin(), bytes.end());
  return append("bufferViews", std::move(view));
}

std::size_t Output::addAccessor(std::size_t view, int component, std::size_t count,
                                const char* type) {
  return append(
      "accessors",
      {{"bufferView", view}, {"componentType", component}, {"count", count}, {"type", type}});
}

std::size_t Output::addVectors(std::span<const Vec2f> values) {
  return addAccessor(addView(bytesOf(values), kVertexTarget), kFloat, values.size(), "VEC2");
}

std::size_t Output::addVectors(std::span<const Vec3f> values, bool with_bounds) {
  const std::size_t out =
      addAccessor(addView(bytesOf(values), kVertexTarget), kFloat, values.size(), "VEC3");
  if (with_bounds && !values.empty())
    setBounds(root["accessors"][out], {values.front().data(), 3 * values.size()}, 3);
  return out;
}

std::size_t Output::addVectors(std::span<const Vec4f> values) {
  return addAccessor(addView(bytesOf(values), kVertexTarget), kFloat, values.size(), "VEC4");
}

std::size_t Output::addIndices(std::span<const std::uint32_t> values) {
  const std::uint32_t largest =
      values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  if (largest >= 0xFFFF)  // 65535 itself would mean "restart"
    return addAccessor(addView(bytesOf(values), kIndexTarget), 5125, values.size(), "SCALAR");
  const std::vector<std::uint16_t> small(values.begin(), values.end());
  return addAccessor(addView(bytesOf(std::span(small)), kIndexTarget), 5123, values.size(),
                     "SCALAR");
}

std::size_t Output::addMatrices(std::span<const Affine3f> values) {
  std::vector<float> full;
  full.reserve(16 * values.size());
  for (const Affine3f& m : values)
    for (int c = 0; c < 4; ++c) {
      const Vec3f column = m.matrix().col(c);
      full.insert(full.end(), {column.x(), column.y(), column.z(), c == 3 ? 1.0f : 0.0f});
    }
  return addAccessor(addView(bytesOf(std::span<const float>(full)), 0), kFloat, values.size(),
                     "MAT4");
}

std::size_t Output::addJoints(std::span<const std::uint32_t> values, std::size_t joint_count) {
  if (joint_count <= 256) {
    const std::vector<std::uint8_t> small(values.begin(), values.end());
    return addAccessor(addView(bytesOf(std::span(small)), kVertexTarget), 5121, values.size() / 4,
                       "VEC4");
  }
  const std::vector<std::uint16_t> small(values.begin(), values.end());
  return addAccessor(addView(bytesOf(std::span(small)), kVertexTarget), 5123, values.size() / 4,
                     "VEC4");
}

std::size_t Output::addSparse(std::size_t count, std::span<const std::uint32_t> indices,
                              std::span<const Vec3f> values, bool with_bounds) {
  Json accessor = {{"componentType", kFloat}, {"count", count}, {"type", "VEC3"}};
  if (with_bounds) {
    std::vector<float> all;
    if (indices.size() < count) all.assign(3, 0.0f);
    for (const Vec3f& v : values) all.insert(all.end(), v.data(), v.data() + 3);
    setBounds(accessor, all, 3);
  }
  if (!indices.empty()) {
    Json sparse = {{"count", indices.size()}};
    if (count <= 0x10000) {
      const std::vector<std::uint16_t> small(indices.begin(), indices.end());
      sparse["indices"] = {{"bufferView", addView(bytesOf(std::span(small)), 0)},
                           {"componentType", 5123}};
    } else {
      sparse["indices"] = {{"bufferView", addView(bytesOf(indices), 0)}, {"componentType", 5125}};
    }
    sparse["values"] = {{"bufferView", addView(bytesOf(values), 0)}};
    accessor["sparse"] = std::move(sparse);
  }
  return append("accessors", std::move(accessor));
}

void Output::finishBuffers(const std::string& bin_uri) {
  Json buffers = Json::array();
  if (bin.empty() && !separate_.empty() && !separate_.front().contains("uri") && bin_uri.empty()) {
    // In a .glb a first buffer without uri is the binary chunk, so there has to be one.
    const Json* length = findMember(separate_.front(), "byteLength");
    const std::uint64_t size = length ? asUint(*length).value_or(0) : 0;
    if (size > 0 && size <= kMaxInvented) {
      bin.assign(size, 0);
      first_buffer_ = separate_.front();
      separate_.erase(separate_.begin());
    }
  }
  if (!bin.empty()) {
    first_buffer_["byteLength"] = bin.size();
    if (!bin_uri.empty()) first_buffer_["uri"] = bin_uri;
    buffers.push_back(first_buffer_);
  }
  for (Json& buffer : separate_) buffers.push_back(std::move(buffer));
  if (!buffers.empty()) root["buffers"] = std::move(buffers);
}

void setBounds(Json& accessor, std::span<const float> values, std::size_t width) {
  std::vector<float> low(width, std::numeric_limits<float>::infinity());
  std::vector<float> high(width, -std::numeric_limits<float>::infinity());
  for (std::size_t i = 0; i < values.size(); ++i) {
    low[i % width] = std::min(low[i % width], values[i]);
    high[i % width] = std::max(high[i % width], values[i]);
  }
  // -0 and 0 are equal, but not to every reader of the JSON text.
  for (float& v : low) v += 0.0f;
  for (float& v : high) v += 0.0f;
  accessor["min"] = low;
  accessor["max"] = high;
}

}  // namespace derm::detail::gltf
