#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"
#include "derm/io/side_files.h"

namespace derm {

/// One file being written: it appears whole with commit(), or not at all.
class OutputFile {
 public:
  virtual ~OutputFile() = default;

  virtual Result<void> append(std::span<const std::uint8_t> bytes) = 0;
  Result<void> append(std::string_view text);
  /// All bytes are where they will stay; append() must not follow. Many finished files cost little
  /// and can then be committed together.
  virtual Result<void> finish() = 0;
  /// finish(), then the file takes its name.
  virtual Result<void> commit() = 0;
};

/// Where files are written: what saves and bakes takes one of these.
class OutputFiles {
 public:
  virtual ~OutputFiles() = default;

  virtual Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& file) = 0;
  /// Whether the file is there already, with exactly these bytes.
  virtual bool holds(const std::filesystem::path& file,
                     std::span<const std::uint8_t> bytes) const = 0;

  /// A whole file at once.
  Result<void> write(const std::filesystem::path& file, std::span<const std::uint8_t> bytes);
  Result<void> write(const std::filesystem::path& file, std::string_view text);
};

/// The machine's own files, each a WholeFile.
OutputFiles& diskFiles();

/// Files in memory, for programs without a disk (a page in a browser) and for archives. Names are
/// kept as they are given, with '/' between folders. Must outlive the files created in it; one
/// thread at a time.
class MemoryFiles final : public OutputFiles {
 public:
  using Bytes = std::vector<std::uint8_t>;

  Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& file) override;
  bool holds(const std::filesystem::path& file, std::span<const std::uint8_t> bytes) const override;

  /// Puts a file there, or in the place of one.
  void put(const std::filesystem::path& file, Bytes bytes);
  /// Null where there is none.
  const Bytes* find(const std::filesystem::path& file) const;
  const std::map<std::string, Bytes>& files() const { return files_; }

  /// For parsing a file of these: gives those that it names. Keeps a reference to this.
  SideFileReader sideFilesOf(const std::filesystem::path& file) const;

 private:
  std::map<std::string, Bytes> files_;
};

}  // namespace derm
