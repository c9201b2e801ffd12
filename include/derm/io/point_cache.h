#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/io/output_files.h"
#include "derm/math/vec.h"

/// Point caches: the positions of every vertex in every frame, and nothing else. The mesh they
/// belong to travels in another file, with its vertices in the same order. Positions are written in
/// derm's own axes (right-handed, +Y up, metres): a program with +Z up must turn them, for instance
/// Blender's Mesh Cache modifier with forward axis -Z and up axis Y.
namespace derm {

enum class PointCacheFormat {
  Pc2,  ///< little-endian; "POINTCACHE2\0", version 1, vertices, start, rate, samples (32 bytes)
  Mdd,  ///< big-endian; frames, points, a table of times in seconds
};

struct PointCacheDesc {
  PointCacheFormat format = PointCacheFormat::Pc2;
  std::size_t points = 0;            ///< vertices per frame, at least one, fewer than 2^31
  std::vector<double> times_s = {};  ///< [s] of each frame; at least one, fewer than 2^31
  double fps = 24;                   ///< [Hz] PC2 counts its start in frames of this rate
};

namespace detail {
class BackgroundFile;
}

/// Writes a cache frame by frame, on a thread of its own; the file appears whole with commit().
class PointCacheWriter {
 public:
  PointCacheWriter(PointCacheWriter&&) noexcept;
  PointCacheWriter& operator=(PointCacheWriter&&) noexcept;
  ~PointCacheWriter();

  static Result<PointCacheWriter> create(const std::filesystem::path& file,
                                         const PointCacheDesc& desc,
                                         OutputFiles& files = diskFiles());
  /// The next frame's positions, desc.points of them; they are copied. Also reports the failure of
  /// an earlier write.
  Result<void> append(std::span<const Vec3f> positions);
  /// Requires that all frames were appended.
  Result<void> commit();

 private:
  PointCacheWriter(std::unique_ptr<detail::BackgroundFile> file, const PointCacheDesc& desc);
  std::unique_ptr<detail::BackgroundFile> file_;
  PointCacheFormat format_;
  std::size_t points_;
  std::size_t frames_left_;
  std::vector<std::uint32_t> swapped_;  ///< one frame in the other byte order
};

/// A whole cache in memory.
struct PointCache {
  std::size_t points = 0;
  std::vector<float> times;      ///< one per frame: seconds for MDD, frame numbers for PC2
  std::vector<Vec3f> positions;  ///< frame by frame

  std::size_t frameCount() const { return times.size(); }
  std::span<const Vec3f> frame(std::size_t index) const {
    return std::span(positions).subspan(index * points, points);
  }
};

/// Reads a cache. Any bytes give a cache or an Error naming the field; a size that does not fit the
/// header is an error before anything is allocated. `name` is used in errors.
Result<PointCache> parsePointCache(PointCacheFormat format, std::span<const std::uint8_t> bytes,
                                   std::string_view name);
/// The format is told by the ending, .pc2 or .mdd.
Result<PointCache> loadPointCache(const std::filesystem::path& file);

}  // namespace derm
