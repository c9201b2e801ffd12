#include "io/gltf/accessor.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <fmt/format.h>

namespace derm::detail::gltf {
namespace {

std::optional<Component> componentFrom(std::uint64_t code) {
  for (const Component c : {Component::Int8, Component::Uint8, Component::Int16, Component::Uint16,
                            Component::Uint32, Component::Float})
    if (static_cast<std::uint64_t>(c) == code) return c;
  return std::nullopt;
}

std::optional<std::size_t> widthFrom(std::string_view type) {
  if (type == "SCALAR") return 1;
  if (type == "VEC2") return 2;
  if (type == "VEC3") return 3;
  if (type == "VEC4" || type == "MAT2") return 4;
  if (type == "MAT3") return 9;
  if (type == "MAT4") return 16;
  return std::nullopt;
}

template <class T>
T load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);  // files need not be aligned
  return value;
}

std::uint32_t loadUint(const std::uint8_t* at, Component component) {
  switch (component) {
    case Component::Uint8:
      return *at;
    case Component::Uint16:
      return load<std::uint16_t>(at);
    default:
      return load<std::uint32_t>(at);
  }
}

/// Normalised integers as the specification (3.11) maps them to floats.
template <class T, bool kNormalised>
float toFloat(T value) {
  if constexpr (!kNormalised || std::is_same_v<T, float>) {
    return static_cast<float>(value);
  } else {
    const float scaled =
        static_cast<float>(value) / static_cast<float>(std::numeric_limits<T>::max());
    return std::is_signed_v<T> ? std::max(scaled, -1.0f) : scaled;
  }
}

struct Rows {
  const std::uint8_t* data;
  std::size_t stride;
  std::size_t count;
  std::size_t width;
};

template <class T, bool kNormalised>
void convertRows(const Rows& rows, float* out, std::size_t out_stride) {
  for (std::size_t i = 0; i < rows.count; ++i)
    for (std::size_t c = 0; c < rows.width; ++c)
      out[i * out_stride + c] =
          toFloat<T, kNormalised>(load<T>(rows.data + i * rows.stride + c * sizeof(T)));
}

template <class T>
void convertRows(const Rows& rows, bool normalised, float* out, std::size_t out_stride) {
  if (normalised)
    convertRows<T, true>(rows, out, out_stride);
  else
    convertRows<T, false>(rows, out, out_stride);
}

void convertRows(const Rows& rows, Component component, bool normalised, float* out,
                 std::size_t out_stride) {
  switch (component) {
    case Component::Int8:
      return convertRows<std::int8_t>(rows, normalised, out, out_stride);
    case Component::Uint8:
      return convertRows<std::uint8_t>(rows, normalised, out, out_stride);
    case Component::Int16:
      return convertRows<std::int16_t>(rows, normalised, out, out_stride);
    case Component::Uint16:
      return convertRows<std::uint16_t>(rows, normalised, out, out_stride);
    case Component::Uint32:
      return convertRows<std::uint32_t>(rows, normalised, out, out_stride);
    case Component::Float:
      if (rows.stride == rows.width * sizeof(float) && out_stride == rows.width)
        std::memcpy(out, rows.data, rows.count * rows.stride);
      else
        convertRows<float, false>(rows, out, out_stride);
  }
}

void convertRows(const Rows& rows, Component component, std::uint32_t* out,
                 std::size_t out_stride) {
  if (component == Component::Uint32 && rows.stride == rows.width * 4 && out_stride == rows.width) {
    std::memcpy(out, rows.data, rows.count * rows.stride);
    return;
  }
  const std::size_t size = sizeOf(component);
  const auto all = [&](auto type) {
    using T = decltype(type);
    for (std::size_t i = 0; i < rows.count; ++i)
      for (std::size_t c = 0; c < rows.width; ++c)
        out[i * out_stride + c] = load<T>(rows.data + i * rows.stride + c * size);
  };
  if (component == Component::Uint8)
    all(std::uint8_t{});
  else if (component == Component::Uint16)
    all(std::uint16_t{});
  else
    all(std::uint32_t{});
}

template <class T>
void decode(const Accessor& a, std::size_t first, std::size_t n, T* out, std::size_t out_stride) {
  const auto convert = [&](const Rows& rows, T* to) {
    if constexpr (std::is_same_v<T, float>)
      convertRows(rows, a.component, a.normalised, to, out_stride);
    else
      convertRows(rows, a.component, to, out_stride);
  };
  if (a.data != nullptr) {
    convert({a.data + first * a.stride, a.stride, n, a.width}, out);
  } else {
    for (std::size_t i = 0; i < n; ++i) std::fill_n(out + i * out_stride, a.width, T{});
  }
  const std::size_t packed = a.width * sizeOf(a.component);
  std::size_t begin = 0;  // first sparse entry at or after `first`: they increase
  for (std::size_t step = a.sparse_count; step > 0;) {
    const std::size_t half = step / 2;
    if (a.sparseIndex(begin + half) < first) {
      begin += half + 1;
      step -= half + 1;
    } else {
      step = half;
    }
  }
  for (std::size_t i = begin; i < a.sparse_count; ++i) {
    const std::size_t at = a.sparseIndex(i);
    if (at - first >= n) break;
    convert({a.sparse_values + i * packed, packed, 1, a.width}, out + (at - first) * out_stride);
  }
}

/// The bytes [offset, offset + needed) of a view must exist.
Result<const std::uint8_t*> within(const ReadContext& context, const BufferView& view,
                                   std::uint64_t offset, std::uint64_t needed, const JsonPath& at) {
  if (offset > view.bytes.size() || needed > view.bytes.size() - offset)
    return context.bad(at, fmt::format("needs bytes {} to {} of a buffer view of {} bytes", offset,
                                       offset + needed, view.bytes.size()));
  return view.bytes.data() + offset;
}

Result<void> openSparse(const ReadContext& context, const Json& sparse, const JsonPath& at,
                        Accessor& out) {
  const std::size_t views = arraySize(context.root(), "bufferViews");
  DERM_TRY(const auto count, uintMember(context.file(), sparse, "count", at));
  if (!count || *count == 0 || *count > out.count)
    return context.bad(JsonPath(at, "count"),
                       fmt::format("must be between 1 and the accessor's {}", out.count));
  const Json* indices = findMember(sparse, "indices");
  const Json* values = findMember(sparse, "values");
  if (indices == nullptr || values == nullptr) return context.bad(at, "needs indices and values");
  const JsonPath indices_at(at, "indices");
  const JsonPath values_at(at, "values");
  DERM_TRY(const auto component, uintMember(context.file(), *indices, "componentType", indices_at));
  const std::optional<Component> known = componentFrom(component.value_or(0));
  if (known != Component::Uint8 && known != Component::Uint16 && known != Component::Uint32)
    return context.bad(JsonPath(indices_at, "componentType"), "must be 5121, 5123 or 5125");
  const auto open = [&](const Json& object, const JsonPath& here,
                        std::uint64_t size) -> Result<const std::uint8_t*> {
    DERM_TRY(const auto view_index, indexMember(context.file(), object, "bufferView", views, here));
    if (!view_index) return context.bad(JsonPath(here, "bufferView"), "missing");
    DERM_TRY(const BufferView view, openBufferView(context, *view_index));
    DERM_TRY(const auto offset, uintMember(context.file(), object, "byteOffset", here));
    return within(context, view, offset.value_or(0), size, here);
  };
  DERM_TRY(out.sparse_indices, open(*indices, indices_at, *count * sizeOf(*known)));
  DERM_TRY(out.sparse_values, open(*values, values_at, *count * out.width * sizeOf(out.component)));
  out.sparse_component = *known;
  out.sparse_count = static_cast<std::size_t>(*count);
  for (std::size_t i = 0; i < out.sparse_count; ++i) {
    if (out.sparseIndex(i) >= out.count)
      return context.bad(
          indices_at,
          fmt::format("{} is not below the accessor's count {}", out.sparseIndex(i), out.count), i);
    if (i > 0 && out.sparseIndex(i) <= out.sparseIndex(i - 1))
      return context.bad(indices_at, "does not increase", i);
  }
  return {};
}

}  // namespace

std::size_t sizeOf(Component component) {
  switch (component) {
    case Component::Int8:
    case Component::Uint8:
      return 1;
    case Component::Int16:
    case Component::Uint16:
      return 2;
    case Component::Uint32:
    case Component::Float:
      break;
  }
  return 4;
}

std::size_t Accessor::sparseIndex(std::size_t i) const {
  return loadUint(sparse_indices + i * sizeOf(sparse_component), sparse_component);
}

Result<BufferView> openBufferView(const ReadContext& context, std::size_t index) {
  const JsonPath root;
  const JsonPath at(root, "bufferViews", index);
  DERM_TRY(const Json* json, objectAt(context.file(), context.root(), "bufferViews", index));
  DERM_TRY(const auto buffer,
           indexMember(context.file(), *json, "buffer", context.document.buffers.size(), at));
  if (!buffer) return context.bad(JsonPath(at, "buffer"), "missing");
  DERM_TRY(const auto offset, uintMember(context.file(), *json, "byteOffset", at));
  DERM_TRY(const auto length, uintMember(context.file(), *json, "byteLength", at));
  DERM_TRY(const auto stride, uintMember(context.file(), *json, "byteStride", at));
  if (!length || *length == 0) return context.bad(JsonPath(at, "byteLength"), "missing or 0");
  if (stride && *stride == 0)
    context.warn("zero-stride", at, "a byteStride of 0 is no distance; taken as none");
  else if (stride && (*stride < 4 || *stride > 252))
    return context.bad(JsonPath(at, "byteStride"), fmt::format("{} is not in 4 to 252", *stride));
  const SourceBuffer& source = context.document.buffers[*buffer];
  if (!source.problem.empty())
    return context.bad(JsonPath(root, "buffers", *buffer), source.problem);
  const std::uint64_t start = offset.value_or(0);
  if (start > source.bytes.size() || *length > source.bytes.size() - start)
    return context.bad(at, fmt::format("bytes {} + {} reach beyond the {} of buffer {}", start,
                                       *length, source.bytes.size(), *buffer));
  return BufferView{source.bytes.subspan(start, *length),
                    static_cast<std::size_t>(stride.value_or(0))};
}

Result<Accessor> openAccessor(const ReadContext& context, std::size_t index, const JsonPath& user) {
  const JsonPath root;
  const JsonPath at(root, "accessors", index);
  if (index >= arraySize(context.root(), "accessors"))
    return context.bad(user, fmt::format("refers to accessor {}, but there are {}", index,
                                         arraySize(context.root(), "accessors")));
  DERM_TRY(const Json* json, objectAt(context.file(), context.root(), "accessors", index));
  DERM_TRY(const auto component, uintMember(context.file(), *json, "componentType", at));
  DERM_TRY(const auto count, uintMember(context.file(), *json, "count", at));
  DERM_TRY(const auto offset, uintMember(context.file(), *json, "byteOffset", at));
  DERM_TRY(const auto view_index, indexMember(context.file(), *json, "bufferView",
                                              arraySize(context.root(), "bufferViews"), at));
  const std::optional<Component> known = componentFrom(component.value_or(0));
  if (!known) return context.bad(JsonPath(at, "componentType"), "missing or unknown");
  const Json* type = findMember(*json, "type");
  const std::optional<std::size_t> width = type != nullptr && type->is_string()
                                               ? widthFrom(type->get_ref<const std::string&>())
                                               : std::nullopt;
  if (!width) return context.bad(JsonPath(at, "type"), "missing or unknown");
  if (!count || *count == 0 || *count > std::numeric_limits<std::uint32_t>::max())
    return context.bad(JsonPath(at, "count"), "missing, 0 or above 2^32 - 1");
  Accessor out{.index = index,
               .count = static_cast<std::size_t>(*count),
               .width = *width,
               .component = *known};
  const Json* normalised = findMember(*json, "normalized");
  out.normalised = normalised != nullptr && normalised->is_boolean() && normalised->get<bool>() &&
                   *known != Component::Float;
  const std::uint64_t packed = out.width * sizeOf(out.component);
  out.stride = packed;
  if (view_index) {
    DERM_TRY(const BufferView view, openBufferView(context, *view_index));
    if (view.stride != 0) out.stride = view.stride;
    if (out.stride < packed)
      return context.bad(
          at, fmt::format("its elements take {} bytes, but lie {} apart", packed, out.stride));
    DERM_TRY(out.data, within(context, view, offset.value_or(0),
                              std::uint64_t{out.stride} * (out.count - 1) + packed, at));
  }
  if (const Json* sparse = findMember(*json, "sparse"); sparse != nullptr)
    DERM_CHECK(openSparse(context, *sparse, JsonPath(at, "sparse"), out));
  return out;
}

void decodeFloats(const Accessor& accessor, std::size_t first, std::size_t n, float* out,
                  std::size_t out_stride) {
  DERM_REQUIRE(first + n <= accessor.count && out_stride >= accessor.width);
  decode(accessor, first, n, out, out_stride);
}

void decodeUints(const Accessor& accessor, std::size_t first, std::size_t n, std::uint32_t* out,
                 std::size_t out_stride) {
  DERM_REQUIRE(first + n <= accessor.count && out_stride >= accessor.width);
  decode(accessor, first, n, out, out_stride);
}

void decodeSparseFloats(const Accessor& accessor, float* out) {
  const std::size_t packed = accessor.width * sizeOf(accessor.component);
  if (accessor.sparse_count > 0)
    convertRows({accessor.sparse_values, packed, accessor.sparse_count, accessor.width},
                accessor.component, accessor.normalised, out, accessor.width);
}

std::optional<std::size_t> firstNonFinite(std::span<const float> values) {
  // All bits of the exponent set means infinite or not a number. Blocks without an early exit are
  // what compilers vectorise.
  constexpr std::uint32_t kExponent = 0x7F800000u;
  constexpr std::size_t kBlock = 4096;
  for (std::size_t start = 0; start < values.size(); start += kBlock) {
    const std::size_t end = std::min(values.size(), start + kBlock);
    std::uint32_t bad = 0;
    for (std::size_t i = start; i < end; ++i) {
      std::uint32_t bits;
      std::memcpy(&bits, &values[i], sizeof bits);
      bad |= (bits & kExponent) == kExponent ? 1u : 0u;
    }
    if (bad == 0) continue;
    for (std::size_t i = start; i < end; ++i)
      if (!(values[i] - values[i] == 0)) return i;
  }
  return std::nullopt;
}

Result<std::vector<float>> readFloats(const ReadContext& context, const Accessor& accessor,
                                      const JsonPath& user) {
  const std::uint64_t numbers = std::uint64_t{accessor.count} * accessor.width;
  DERM_CHECK(context.take(numbers * sizeof(float), user));
  std::vector<float> out(numbers);
  decodeFloats(accessor, 0, accessor.count, out.data(), accessor.width);
  if (const auto index = firstNonFinite(out))
    return context.bad(user,
                       fmt::format("accessor {} holds a number that is not finite", accessor.index),
                       *index / accessor.width);
  return out;
}

}  // namespace derm::detail::gltf
