#include "derm/io/whole_file.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace derm {
namespace {

/// Bytes after which the disk is asked to start: it then works while the next ones are made, and
/// little is left to wait for at the end.
constexpr std::uint64_t kStartWriting = std::uint64_t{4} << 20;

void startWriting([[maybe_unused]] int descriptor, [[maybe_unused]] std::uint64_t from,
                  [[maybe_unused]] std::uint64_t to) {
#ifdef __linux__
  // Only a hint: if it fails, fsync() does all the work.
  (void)::sync_file_range(descriptor, static_cast<off64_t>(from), static_cast<off64_t>(to - from),
                          SYNC_FILE_RANGE_WRITE);
#endif
}

/// What a link, or a link to a link, stands for: that is what is to be replaced, not the link.
std::filesystem::path linkedFile(std::filesystem::path file) {
  constexpr int kMaxLinks = 40;  // as many as Linux follows
  std::error_code none;
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(file, none); ++i)
    file = file.parent_path() / std::filesystem::read_symlink(file, none);
  return file;
}

}  // namespace

Result<std::filesystem::path> replacedFile(const std::filesystem::path& file) {
  const auto failed = [&](const std::string& message) {
    return Error{ErrorCode::CannotWrite, message, {.file = file.string()}};
  };
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(there)) return failed("is a directory");
  // A device or pipe would be replaced by a file of its name.
  if (std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
    return failed("is not a file; only files can be written whole");
  return linkedFile(file);
}

Result<WholeFile> WholeFile::create(const std::filesystem::path& file) {
  const auto failed = [&](const std::string& message) {
    return Error{ErrorCode::CannotWrite, message, {.file = file.string()}};
  };
  DERM_TRY(const std::filesystem::path target, replacedFile(file));
  std::error_code ignored;
  const std::filesystem::file_status there = std::filesystem::status(target, ignored);
  // The process id keeps two programs that write one file from mixing their bytes.
  std::filesystem::path temporary = target;
  temporary += "." + std::to_string(::getpid()) + ".part";
  const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return failed(std::string("cannot write: ") + std::strerror(errno));
  // Who may read the old file may read the new one, and nobody else. Not every disk can say so.
  if (std::filesystem::exists(there))
    (void)::fchmod(descriptor, static_cast<mode_t>(there.permissions()) & 0777);
  return WholeFile(target, std::move(temporary), descriptor);
}

WholeFile::WholeFile(std::filesystem::path file, std::filesystem::path temporary, int descriptor)
    : file_(std::move(file)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

WholeFile::WholeFile(WholeFile&& other) noexcept
    : file_(std::move(other.file_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)),
      written_(other.written_),
      started_(other.started_) {}

WholeFile& WholeFile::operator=(WholeFile&& other) noexcept {
  if (this == &other) return *this;
  discard();
  file_ = std::move(other.file_);
  temporary_ = std::exchange(other.temporary_, {});
  descriptor_ = std::exchange(other.descriptor_, -1);
  written_ = other.written_;
  started_ = other.started_;
  return *this;
}

WholeFile::~WholeFile() { discard(); }

Error WholeFile::failed(int error_number) const {
  return Error{ErrorCode::CannotWrite,
               std::string("cannot write: ") + std::strerror(error_number),
               {.file = file_.string()}};
}

bool WholeFile::closeNow() {
  const int descriptor = std::exchange(descriptor_, -1);
  return descriptor < 0 || ::close(descriptor) == 0;
}

void WholeFile::discard() noexcept {
  closeNow();
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

Result<void> WholeFile::append(std::span<const std::uint8_t> bytes) {
  DERM_REQUIRE(descriptor_ >= 0);
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return failed(done < 0 ? errno : ENOSPC);
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    written_ += static_cast<std::uint64_t>(done);
  }
  if (written_ - started_ >= kStartWriting) {
    startWriting(descriptor_, started_, written_);
    started_ = written_;
  }
  return {};
}

Result<void> WholeFile::finish() {
  if (descriptor_ < 0) return {};
  const int sync_error = ::fsync(descriptor_) == 0 ? 0 : errno;
  const bool closed = closeNow();
  if (sync_error == 0 && closed) return {};
  return failed(sync_error != 0 ? sync_error : errno);
}

Result<void> WholeFile::commit() {
  DERM_REQUIRE(!temporary_.empty());
  if (Result<void> finished = finish(); !finished) {
    discard();
    return finished;
  }
  if (::rename(temporary_.c_str(), file_.c_str()) != 0) {
    const Error error = failed(errno);
    discard();
    return error;
  }
  temporary_.clear();
  return {};
}

}  // namespace derm
