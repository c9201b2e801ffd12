#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "derm/base/result.h"
#include "derm/io/output_files.h"

namespace derm::detail {

/// A file written by a thread of its own, so that making bytes and writing them overlap. What
/// is appended is copied into one of two blocks; while one is written the other fills.
class BackgroundFile {
 public:
  explicit BackgroundFile(std::unique_ptr<OutputFile> file);
  ~BackgroundFile();
  BackgroundFile(const BackgroundFile&) = delete;
  BackgroundFile& operator=(const BackgroundFile&) = delete;

  /// Also reports the failure of an earlier write.
  Result<void> append(std::span<const std::uint8_t> bytes);
  /// Waits for all bytes, then OutputFile::commit().
  Result<void> commit();

 private:
  void work();
  Result<void> handOver();
  void stop();

  std::unique_ptr<OutputFile> file_;
  std::vector<std::uint8_t> filling_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Under the mutex:
  std::vector<std::uint8_t> writing_;
  bool busy_ = false;
  bool stopping_ = false;
  std::optional<Error> error_;

  std::thread thread_;  ///< last: it uses all of the above
};

}  // namespace derm::detail
