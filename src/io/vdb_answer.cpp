#include "io/vdb_answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

namespace derm::detail {
namespace {

/// "derm vdb", which is written last.
constexpr std::uint64_t kMark = 0x62647620'6d726564u;
constexpr std::uint64_t kMaxText = 4096;

struct Head {
  std::uint64_t mark = kMark;
  std::uint64_t ok = 0;
  std::uint64_t count = 0;  ///< blocks, or bytes of the error's words
  std::uint64_t code = 0;   ///< of the error
  double voxel_m = 0;
  double origin[3] = {0, 0, 0};
  double width = 0;
};
static_assert(std::is_trivially_copyable_v<Head>);

using Block = std::array<std::int32_t, 3>;
constexpr std::uint64_t kBlockBytes = sizeof(Block) + 512 * sizeof(float);

template <class T>
void append(std::vector<std::uint8_t>& out, const T* data, std::size_t count) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(data);
  out.insert(out.end(), bytes, bytes + count * sizeof(T));
}

}  // namespace

std::uint64_t vdbAnswerBytes(const LevelSetBlocks& blocks) {
  return sizeof(Head) + blocks.blocks.size() * kBlockBytes;
}

std::vector<std::uint8_t> encodeVdbAnswer(const Result<LevelSetBlocks>& blocks) {
  Head head;
  std::vector<std::uint8_t> out;
  if (!blocks) {
    const std::string text = blocks.error().message.substr(0, kMaxText);
    head.count = text.size();
    head.code = static_cast<std::uint64_t>(blocks.error().code);
    append(out, &head, 1);
    append(out, text.data(), text.size());
    return out;
  }
  head.ok = 1;
  head.count = blocks->blocks.size();
  head.voxel_m = blocks->voxel_m;
  for (int k = 0; k < 3; ++k) head.origin[k] = blocks->origin[k];
  head.width = double{blocks->width};
  append(out, &head, 1);
  return out;
}

Result<LevelSetBlocks> decodeVdbAnswer(std::span<const std::uint8_t> bytes, std::string_view name) {
  const auto bad = [&](std::string message) {
    return Error{ErrorCode::BadData, std::move(message), {.file = std::string(name)}};
  };
  const auto no_answer = [&] {
    return bad("OpenVDB cannot read it: it stopped without an answer");
  };
  Head head;
  if (bytes.size() < sizeof(Head)) return no_answer();
  std::memcpy(&head, bytes.data(), sizeof(Head));
  bytes = bytes.subspan(sizeof(Head));
  if (head.mark != kMark) return no_answer();
  if (head.ok != 1) {
    if (head.count > kMaxText || head.count != bytes.size()) return no_answer();
    Error error = bad(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    if (head.code == static_cast<std::uint64_t>(ErrorCode::Unsupported))
      error.code = ErrorCode::Unsupported;
    return error;
  }
  if (head.count > bytes.size() / kBlockBytes || head.count * kBlockBytes != bytes.size())
    return no_answer();
  LevelSetBlocks out;
  out.voxel_m = head.voxel_m;
  out.origin = Vec3d(head.origin[0], head.origin[1], head.origin[2]);
  out.width = static_cast<float>(head.width);
  if (!(out.voxel_m > 0) || !std::isfinite(out.voxel_m) || !out.origin.allFinite() ||
      !(out.width > 0) || !std::isfinite(out.width))
    return bad("its voxels have no usable size");
  out.blocks.resize(head.count);
  out.values.resize(512 * head.count);
  std::memcpy(out.blocks.data(), bytes.data(), head.count * sizeof(Block));
  std::memcpy(out.values.data(), bytes.data() + head.count * sizeof(Block),
              out.values.size() * sizeof(float));
  if (!std::all_of(out.values.begin(), out.values.end(), [](float v) { return std::isfinite(v); }))
    return bad("a value is not a finite number");
  return out;
}

}  // namespace derm::detail
