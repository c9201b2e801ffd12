#include "derm/io/file_bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace derm {
namespace {

Error fileError(ErrorCode code, const std::filesystem::path& file, const std::string& what,
                int error_number) {
  std::string message = what;
  if (error_number != 0) message += std::string(": ") + std::strerror(error_number);
  return Error{code, message, {.file = file.string()}};
}

/// Closes the descriptor on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return fd < 0 || ::close(fd) == 0;
  }

 private:
  int fd_;
};

bool writeAll(int fd, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

}  // namespace

Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& file, std::uint64_t most) {
  const auto failed = [&](const std::string& what, int number) {
    return fileError(ErrorCode::CannotRead, file, what, number);
  };
  // Without O_NONBLOCK a named pipe without a writer would hang us here.
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!in.valid()) return failed("cannot open", errno);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) return failed("cannot read", errno);
  if (!S_ISREG(status.st_mode)) return failed("not a file", 0);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > most)
    return failed(std::to_string(size) + " bytes; at most " + std::to_string(most) + " are read", 0);
  std::vector<std::uint8_t> bytes(size);
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(in.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("cannot read", errno);
    if (got == 0) break;  // shrank while we read
    have += static_cast<std::size_t>(got);
  }
  bytes.resize(have);
  return bytes;
}

Result<void> writeFileWhole(const std::filesystem::path& file, std::span<const std::uint8_t> bytes) {
  const auto failed = [&](const std::string& what, int number) {
    return fileError(ErrorCode::CannotWrite, file, what, number);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) return failed("is a directory", 0);
  // The process id keeps two programs that write one file from mixing their bytes.
  std::filesystem::path temporary = file;
  temporary += "." + std::to_string(::getpid()) + ".part";
  Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!out.valid()) return failed("cannot write", errno);
  int error_number = 0;
  if (!writeAll(out.get(), bytes) || ::fsync(out.get()) != 0) error_number = errno;
  if (!out.close() && error_number == 0) error_number = errno;
  if (error_number == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) error_number = errno;
  if (error_number == 0) return {};
  ::unlink(temporary.c_str());
  return failed("cannot write", error_number);
}

Result<void> writeFileWhole(const std::filesystem::path& file, std::string_view text) {
  return writeFileWhole(
      file, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace derm
