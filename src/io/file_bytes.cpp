#include "derm/io/file_bytes.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "derm/io/file_overlay.h"
#include "derm/io/whole_file.h"

namespace derm {
namespace {

Error cannotRead(const std::filesystem::path& file, const std::string& what, int error_number) {
  std::string message = what;
  if (error_number != 0) message += std::string(": ") + std::strerror(error_number);
  return Error{ErrorCode::CannotRead, message, {.file = file.string()}};
}

/// Closes the descriptor on every way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }

 private:
  int fd_;
};

}  // namespace

Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& file,
                                           std::uint64_t max_bytes) {
  const auto failed = [&](const std::string& what, int number) {
    return cannotRead(file, what, number);
  };
  if (const MemoryFiles::Bytes* laid_over = FileOverlay::find(file)) {
    if (laid_over->size() > max_bytes)
      return failed(std::to_string(laid_over->size()) + " bytes; at most " +
                        std::to_string(max_bytes) + " are read",
                    0);
    return *laid_over;
  }
  // Without O_NONBLOCK a named pipe without a writer would hang us here.
  Descriptor in(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!in.valid()) return failed("cannot open", errno);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) return failed("cannot read", errno);
  if (!S_ISREG(status.st_mode)) return failed("not a file", 0);
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > max_bytes)
    return failed(
        std::to_string(size) + " bytes; at most " + std::to_string(max_bytes) + " are read", 0);
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

std::vector<std::uint8_t> firstBytes(const std::filesystem::path& file, std::size_t count) {
  if (const MemoryFiles::Bytes* laid_over = FileOverlay::find(file))
    return {laid_over->begin(),
            laid_over->begin() + static_cast<std::ptrdiff_t>(std::min(count, laid_over->size()))};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return {};
  std::vector<std::uint8_t> bytes(count);
  std::ifstream in(file, std::ios::binary);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return bytes;
}

Result<void> writeFileWhole(const std::filesystem::path& file,
                            std::span<const std::uint8_t> bytes) {
  DERM_TRY(WholeFile out, WholeFile::create(file));
  DERM_CHECK(out.append(bytes));
  return out.commit();
}

Result<void> writeFileWhole(const std::filesystem::path& file, std::string_view text) {
  return writeFileWhole(file,
                        std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace derm
