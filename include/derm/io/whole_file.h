#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "derm/base/result.h"
#include "derm/io/output_files.h"

namespace derm {

/// The file that a name stands for when it is to be replaced: what a link, or a link to a link,
/// leads to, there or not. Fails for folders, devices and pipes.
Result<std::filesystem::path> replacedFile(const std::filesystem::path& file);

/// A file that appears whole or not at all, for output too large or too slow to hold in memory:
/// bytes are appended to a temporary beside it ("out.pc2.1234.part"), and commit() puts that in its
/// place. Without commit() the temporary is removed and what was there before stays. A process that
/// is killed leaves the old file whole, and the temporary.
class WholeFile final : public OutputFile {
 public:
  /// Fails where the folder is missing or not writable, or the target is a directory.
  static Result<WholeFile> create(const std::filesystem::path& file);

  WholeFile(WholeFile&& other) noexcept;
  WholeFile& operator=(WholeFile&& other) noexcept;
  ~WholeFile() override;

  const std::filesystem::path& path() const { return file_; }
  using OutputFile::append;
  Result<void> append(std::span<const std::uint8_t> bytes) override;
  /// Flushes to disk and closes, so that finished files cost no descriptors.
  Result<void> finish() override;
  /// After an error the temporary is gone.
  Result<void> commit() override;

 private:
  WholeFile(std::filesystem::path file, std::filesystem::path temporary, int descriptor);
  Error failed(int error_number) const;
  bool closeNow();
  void discard() noexcept;

  std::filesystem::path file_;
  std::filesystem::path temporary_;  ///< empty once it is renamed or removed
  int descriptor_ = -1;
  std::uint64_t written_ = 0;
  std::uint64_t started_ = 0;  ///< up to here the disk was asked to start
};

}  // namespace derm
