#include "derm/io/output_files.h"

#include <algorithm>
#include <utility>

#include "derm/io/file_bytes.h"
#include "derm/io/whole_file.h"

namespace derm {
namespace {

class DiskFiles final : public OutputFiles {
 public:
  Result<std::unique_ptr<OutputFile>> create(const std::filesystem::path& file) override {
    DERM_TRY(WholeFile out, WholeFile::create(file));
    return std::unique_ptr<OutputFile>(std::make_unique<WholeFile>(std::move(out)));
  }
  bool holds(const std::filesystem::path& file,
             std::span<const std::uint8_t> bytes) const override {
    const Result<std::vector<std::uint8_t>> there = readFile(file, bytes.size());
    return there && std::equal(there->begin(), there->end(), bytes.begin(), bytes.end());
  }
};

class MemoryFile final : public OutputFile {
 public:
  MemoryFile(MemoryFiles& files, std::filesystem::path name)
      : files_(files), name_(std::move(name)) {}
  Result<void> append(std::span<const std::uint8_t> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  Result<void> finish() override { return {}; }
  Result<void> commit() override {
    files_.put(name_, std::move(bytes_));
    return {};
  }

 private:
  MemoryFiles& files_;
  std::filesystem::path name_;
  MemoryFiles::Bytes bytes_;
};

}  // namespace

Result<void> OutputFile::append(std::string_view text) {
  return append(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

Result<void> OutputFiles::write(const std::filesystem::path& file,
                                std::span<const std::uint8_t> bytes) {
  DERM_TRY(const std::unique_ptr<OutputFile> out, create(file));
  DERM_CHECK(out->append(bytes));
  return out->commit();
}

Result<void> OutputFiles::write(const std::filesystem::path& file, std::string_view text) {
  return write(file, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

OutputFiles& diskFiles() {
  static DiskFiles files;
  return files;
}

Result<std::unique_ptr<OutputFile>> MemoryFiles::create(const std::filesystem::path& file) {
  if (!file.has_filename())
    return Error{ErrorCode::CannotWrite, "a file needs a name", {.file = file.string()}};
  return std::unique_ptr<OutputFile>(std::make_unique<MemoryFile>(*this, file));
}

bool MemoryFiles::holds(const std::filesystem::path& file,
                        std::span<const std::uint8_t> bytes) const {
  const Bytes* there = find(file);
  return there != nullptr && std::equal(there->begin(), there->end(), bytes.begin(), bytes.end());
}

void MemoryFiles::put(const std::filesystem::path& file, Bytes bytes) {
  files_[file.lexically_normal().generic_string()] = std::move(bytes);
}

const MemoryFiles::Bytes* MemoryFiles::find(const std::filesystem::path& file) const {
  const auto found = files_.find(file.lexically_normal().generic_string());
  return found == files_.end() ? nullptr : &found->second;
}

SideFileReader MemoryFiles::sideFilesOf(const std::filesystem::path& file) const {
  return [this, folder = file.parent_path()](std::string_view name) -> Result<Bytes> {
    const std::filesystem::path path = folder / name;
    if (const Bytes* found = find(path)) return *found;
    return Error{ErrorCode::CannotRead, "no such file", {.file = path.generic_string()}};
  };
}

}  // namespace derm
