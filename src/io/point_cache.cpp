#include "derm/io/point_cache.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "derm/base/bit_cast.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"

#include "io/background_file.h"

namespace derm {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::string_view kPc2Magic("POINTCACHE2\0", 12);
constexpr std::size_t kPc2HeaderBytes = 32;
constexpr std::size_t kMaxCount = std::numeric_limits<std::int32_t>::max();

std::uint32_t swappedBytes(std::uint32_t x) {
  return x >> 24 | (x >> 8 & 0xFF00u) | (x << 8 & 0xFF0000u) | x << 24;
}

/// Header fields one after another, in the format's byte order.
class HeaderWriter {
 public:
  explicit HeaderWriter(PointCacheFormat format) : swap_(format == PointCacheFormat::Mdd) {}
  void add(std::uint32_t bits) {
    if (swap_) bits = swappedBytes(bits);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(&bits);
    bytes_.insert(bytes_.end(), bytes, bytes + 4);
  }
  void add(float value) { add(bitCast<std::uint32_t>(value)); }
  void add(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  bool swap_;
  std::vector<std::uint8_t> bytes_;
};

std::vector<std::uint8_t> headerOf(const PointCacheDesc& desc) {
  HeaderWriter header(desc.format);
  const auto points = static_cast<std::uint32_t>(desc.points);
  const auto frames = static_cast<std::uint32_t>(desc.times_s.size());
  if (desc.format == PointCacheFormat::Pc2) {
    header.add(kPc2Magic);
    header.add(std::uint32_t{1});
    header.add(points);
    header.add(static_cast<float>(desc.times_s.front() * desc.fps));
    header.add(1.0f);  // one sample per frame
    header.add(frames);
  } else {
    header.add(frames);
    header.add(points);
    for (const double t : desc.times_s) header.add(static_cast<float>(t));
  }
  return header.bytes();
}

Error badCache(std::string_view name, const char* element, std::string message,
               std::optional<std::uint64_t> index = std::nullopt) {
  return Error{ErrorCode::BadData,
               std::move(message),
               {.file = std::string(name), .element = element, .index = index}};
}

/// What a header says, before it is believed.
struct Header {
  std::uint64_t points = 0;
  std::uint64_t frames = 0;
  std::size_t data_at = 0;
};

class Words {
 public:
  Words(PointCacheFormat format, std::span<const std::uint8_t> bytes)
      : bytes_(bytes), swap_(format == PointCacheFormat::Mdd) {}
  std::uint32_t word(std::size_t at) const {
    std::uint32_t bits;
    std::memcpy(&bits, bytes_.data() + at, 4);
    return swap_ ? swappedBytes(bits) : bits;
  }
  float number(std::size_t at) const { return bitCast<float>(word(at)); }

 private:
  std::span<const std::uint8_t> bytes_;
  bool swap_;
};

Result<Header> readHeader(PointCacheFormat format, std::span<const std::uint8_t> bytes,
                          std::string_view name) {
  const bool pc2 = format == PointCacheFormat::Pc2;
  if (bytes.size() < (pc2 ? kPc2HeaderBytes : 8))
    return badCache(name, "header", std::to_string(bytes.size()) + " bytes are too few");
  if (pc2 && std::memcmp(bytes.data(), kPc2Magic.data(), kPc2Magic.size()) != 0)
    return badCache(name, "header", "does not begin with POINTCACHE2");
  const Words words(format, bytes);
  if (pc2 && words.word(12) != 1)
    return badCache(name, "version", "expected 1, found " + std::to_string(words.word(12)));
  Header header;
  header.points = words.word(pc2 ? 16 : 4);
  header.frames = words.word(pc2 ? 28 : 0);
  if (header.points == 0 || header.points > kMaxCount)
    return badCache(name, "points", "expected 1 to 2147483647");
  if (header.frames == 0 || header.frames > kMaxCount)
    return badCache(name, "frames", "expected 1 to 2147483647");
  // Both below 2^31: points * frames * 12 stays below 2^66, so divide rather than multiply.
  const std::uint64_t table = pc2 ? kPc2HeaderBytes : 8 + 4 * header.frames;
  const std::uint64_t numbers = header.points * header.frames;
  const bool fits = table <= bytes.size() && (bytes.size() - table) % 12 == 0 &&
                    (bytes.size() - table) / 12 == numbers;
  if (!fits)
    return badCache(name, "header",
                    std::to_string(header.frames) + " frames of " + std::to_string(header.points) +
                        " points do not fit " + std::to_string(bytes.size()) + " bytes");
  header.data_at = static_cast<std::size_t>(table);
  return header;
}

}  // namespace

PointCacheWriter::PointCacheWriter(PointCacheWriter&&) noexcept = default;
PointCacheWriter& PointCacheWriter::operator=(PointCacheWriter&&) noexcept = default;
PointCacheWriter::~PointCacheWriter() = default;

PointCacheWriter::PointCacheWriter(std::unique_ptr<detail::BackgroundFile> file,
                                   const PointCacheDesc& desc)
    : file_(std::move(file)),
      format_(desc.format),
      points_(desc.points),
      frames_left_(desc.times_s.size()) {
  if (format_ == PointCacheFormat::Mdd) swapped_.resize(3 * points_);
}

Result<PointCacheWriter> PointCacheWriter::create(const std::filesystem::path& file,
                                                  const PointCacheDesc& desc, OutputFiles& files) {
  const auto bad = [&](const char* element, const char* message) {
    return Error{ErrorCode::BadArgument, message, {.file = file.string(), .element = element}};
  };
  if (desc.times_s.empty() || desc.times_s.size() > kMaxCount)
    return bad("frames", "expected 1 to 2147483647");
  if (desc.points == 0 || desc.points > kMaxCount) return bad("points", "expected 1 to 2147483647");
  DERM_TRY(std::unique_ptr<OutputFile> whole, files.create(file));
  auto out = std::make_unique<detail::BackgroundFile>(std::move(whole));
  DERM_CHECK(out->append(headerOf(desc)));
  return PointCacheWriter(std::move(out), desc);
}

Result<void> PointCacheWriter::append(std::span<const Vec3f> positions) {
  DERM_REQUIRE(positions.size() == points_ && frames_left_ > 0);
  --frames_left_;
  if (format_ == PointCacheFormat::Pc2)
    return file_->append(
        std::span(reinterpret_cast<const std::uint8_t*>(positions.data()), positions.size_bytes()));
  for (std::size_t v = 0; v < positions.size(); ++v)
    for (int i = 0; i < 3; ++i)
      swapped_[3 * v + static_cast<std::size_t>(i)] =
          swappedBytes(bitCast<std::uint32_t>(positions[v][i]));
  return file_->append(std::span(reinterpret_cast<const std::uint8_t*>(swapped_.data()),
                                 swapped_.size() * sizeof(std::uint32_t)));
}

Result<void> PointCacheWriter::commit() {
  DERM_REQUIRE(frames_left_ == 0);
  return file_->commit();
}

Result<PointCache> parsePointCache(PointCacheFormat format, std::span<const std::uint8_t> bytes,
                                   std::string_view name) {
  DERM_TRY(const Header header, readHeader(format, bytes, name));
  const Words words(format, bytes);
  PointCache cache;
  cache.points = static_cast<std::size_t>(header.points);
  for (std::size_t f = 0; f < header.frames; ++f) {
    const bool pc2 = format == PointCacheFormat::Pc2;
    const float time =
        pc2 ? words.number(20) + static_cast<float>(f) * words.number(24) : words.number(8 + 4 * f);
    if (!std::isfinite(time)) return badCache(name, "times", "not a finite number", f);
    cache.times.push_back(time);
  }
  cache.positions.resize(static_cast<std::size_t>(header.points * header.frames));
  for (std::size_t i = 0; i < cache.positions.size(); ++i) {
    const std::size_t at = header.data_at + 12 * i;
    cache.positions[i] = Vec3f(words.number(at), words.number(at + 4), words.number(at + 8));
    if (!cache.positions[i].allFinite())
      return badCache(name, "positions", "not a finite number", i);
  }
  return cache;
}

Result<PointCache> loadPointCache(const std::filesystem::path& file) {
  const std::string ending = fileEnding(file);
  if (ending != ".pc2" && ending != ".mdd")
    return Error{
        ErrorCode::BadArgument, "expected the ending .pc2 or .mdd", {.file = file.string()}};
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parsePointCache(ending == ".pc2" ? PointCacheFormat::Pc2 : PointCacheFormat::Mdd, bytes,
                         file.string());
}

}  // namespace derm
