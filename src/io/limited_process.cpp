#include "io/limited_process.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "derm/base/module.h"

extern char** environ;

namespace derm::detail {
namespace {

/// How the program ended.
struct Ending {
  int error = 0;   ///< error number where it could not be started
  int signal = 0;  ///< that killed it
  double processor_s = 0;
};

Ending runProgram(const std::vector<std::string>& arguments, int in, int out) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  // What it prints is of no use to anybody: assertions of libraries, and words of the C++ runtime.
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  Ending ending;
  ending.error = ::posix_spawn(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (ending.error != 0) return ending;
  int status = 0;
  rusage used{};
  pid_t waited;
  do waited = ::wait4(pid, &status, 0, &used);
  while (waited < 0 && errno == EINTR);
  // Nothing is known where the caller's process has its children waited for elsewhere; a whole
  // answer is a whole answer all the same.
  if (waited < 0) return ending;
  if (WIFSIGNALED(status)) ending.signal = WTERMSIG(status);
  for (const timeval& time : {used.ru_utime, used.ru_stime})
    ending.processor_s +=
        static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  return ending;
}

Error failure(const Ending& ending, const ReaderLimits& limits, const ReaderRun& run) {
  std::string what(run.reader);
  what += " cannot read it: ";
  const bool killed = ending.signal == SIGKILL || ending.signal == SIGXCPU;
  if (killed && ending.processor_s + 1 >= static_cast<double>(limits.processor_s))
    what += "it took more than " + std::to_string(limits.processor_s) +
            " s, which is the limit for a file of this size";
  else if (ending.signal != 0)
    what += "it crashed (signal " + std::to_string(ending.signal) + ")";
  else
    what += "it stopped without an answer";
  return Error{ErrorCode::BadData, std::move(what), {.file = std::string(run.name)}};
}

}  // namespace

ReaderLimits readerLimits(std::uint64_t file_bytes) {
  constexpr std::uint64_t kMegabyte = 1 << 20;
  return {.memory_bytes = 48 * kMegabyte + 20 * file_bytes,
          .answer_bytes = 16 * kMegabyte + 9 * file_bytes,
          .processor_s = 20 + file_bytes / kMegabyte};
}

MemoryFile::MemoryFile(const char* name) : fd_(::memfd_create(name, MFD_CLOEXEC)) {}

MemoryFile::~MemoryFile() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
  if (fd_ >= 0) ::close(fd_);
}

bool MemoryFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(fd_, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return ::lseek(fd_, 0, SEEK_SET) == 0;
}

std::span<const std::uint8_t> MemoryFile::map(std::uint64_t max_bytes) {
  struct stat about {};
  if (::fstat(fd_, &about) != 0 || about.st_size <= 0 ||
      static_cast<std::uint64_t>(about.st_size) > max_bytes)
    return {};
  size_ = static_cast<std::size_t>(about.st_size);
  void* const at = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd_, 0);
  if (at == MAP_FAILED) return {};
  mapped_ = at;
  return {static_cast<const std::uint8_t*>(mapped_), size_};
}

Result<std::span<const std::uint8_t>> runReader(const ReaderRun& run,
                                                std::span<const std::uint8_t> bytes,
                                                MemoryFile& out) {
  const std::string file(run.name);
  const Result<std::string> program = findModuleProgram(run.program);
  if (!program) {
    return Error{
        ErrorCode::Unsupported,
        std::string(run.reader) + " reads it in a program of its own: " + program.error().text(),
        {.file = file}};
  }
  const ReaderLimits limits = readerLimits(bytes.size());
  MemoryFile in("derm-reader");
  if (in.fd() < 0 || out.fd() < 0 || !in.write(bytes))
    return Error{ErrorCode::CannotRead,
                 "cannot be handed to " + std::string(run.program) + ": " + std::strerror(errno),
                 {.file = file}};
  const Ending ending =
      runProgram({*program, file, run.option, std::to_string(limits.memory_bytes),
                  std::to_string(limits.answer_bytes), std::to_string(limits.processor_s)},
                 in.fd(), out.fd());
  if (ending.error != 0)
    return Error{ErrorCode::Unsupported,
                 *program + " cannot be started: " + std::strerror(ending.error),
                 {.file = file}};
  const std::span<const std::uint8_t> answer = out.map(limits.answer_bytes);
  if (answer.empty()) return failure(ending, limits, run);
  return answer;
}

}  // namespace derm::detail
