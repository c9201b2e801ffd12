#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

/// Private to room io: readers that run as programs of their own, under limits that they set
/// themselves (limited_program.h), since nothing inside a process bounds what a library does.
namespace derm::detail {

/// What reading a file may take: by its size, so that no header makes it more.
struct ReaderLimits {
  std::uint64_t memory_bytes = 0;  ///< beyond what the program takes before it looks at a byte
  std::uint64_t answer_bytes = 0;
  std::uint64_t processor_s = 0;
};
ReaderLimits readerLimits(std::uint64_t file_bytes);

/// A file without a name, in memory: how bytes go to the program and back without a reader on the
/// other side that has to keep pace.
class MemoryFile {
 public:
  explicit MemoryFile(const char* name);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  int fd() const { return fd_; }
  bool write(std::span<const std::uint8_t> bytes);
  /// All of it; empty where it is larger than `max_bytes`.
  std::span<const std::uint8_t> map(std::uint64_t max_bytes);

 private:
  int fd_ = -1;
  void* mapped_ = nullptr;
  std::size_t size_ = 0;
};

/// A reader's run: the program `program` (findModuleProgram()) with `name`, `option` and the limits
/// as its arguments, the bytes as its standard input, its answer in `out`. `reader` is who cannot
/// read it, for people.
struct ReaderRun {
  std::string_view program;
  std::string_view reader;
  std::string_view name;
  std::string option;
};
Result<std::span<const std::uint8_t>> runReader(const ReaderRun& run,
                                                std::span<const std::uint8_t> bytes,
                                                MemoryFile& out);

}  // namespace derm::detail
