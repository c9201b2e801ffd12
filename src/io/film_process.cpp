#include "io/film_process.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace derm::detail {
namespace {

/// Starts a program with these three as its standard streams. 0, or the error number.
int spawn(const std::vector<std::string>& arguments, int in, int out, int words, pid_t& pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, words, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // Its own group: Ctrl-C in a terminal then reaches us alone, and we clean up.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawnattr_setpgroup(&attributes, 0);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int error = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) pid = -1;
  return error;
}

void closeEnd(int& fd) {
  if (fd >= 0) ::close(fd);
  fd = -1;
}

}  // namespace

int FedProcess::start(const std::vector<std::string>& arguments) {
  kill();
  // A socket instead of a pipe: writing to a program that died then gives an error, not SIGPIPE,
  // and a library may not change how its process handles signals.
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  words_ = ::memfd_create("derm-film-messages", MFD_CLOEXEC);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const int error = spawn(arguments, ends[1], nowhere, words_, pid_);
  ::close(nowhere);
  ::close(ends[1]);
  input_ = ends[0];
  if (error != 0) kill();
  return error;
}

bool FedProcess::feed(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::send(input_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
  }
  return true;
}

bool FedProcess::finish() {
  if (pid_ < 0) return false;
  closeInput();
  int status = 0;
  pid_t waited;
  do waited = ::waitpid(pid_, &status, 0);
  while (waited < 0 && errno == EINTR);
  pid_ = -1;
  return waited > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void FedProcess::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
  closeInput();
  if (words_ >= 0) ::close(words_);
  words_ = -1;
}

void FedProcess::closeInput() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

std::string FedProcess::lastWords() const {
  if (words_ < 0) return {};
  constexpr off_t kMaxTail = 4096;
  const off_t size = ::lseek(words_, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - kMaxTail);
  std::string text(static_cast<std::size_t>(std::max<off_t>(0, size - from)), '\0');
  const ssize_t got = ::pread(words_, text.data(), text.size(), from);
  text.resize(static_cast<std::size_t>(std::max<ssize_t>(0, got)));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.pop_back();
  return text.substr(text.find_last_of("\r\n") + 1);  // npos + 1 is 0
}

int ReadProcess::start(const std::vector<std::string>& arguments) {
  kill();
  int out[2] = {-1, -1}, words[2] = {-1, -1};
  if (::pipe2(out, O_CLOEXEC) != 0) return errno;
  if (::pipe2(words, O_CLOEXEC) != 0) {
    const int error = errno;
    for (int& end : out) closeEnd(end);
    return error;
  }
  int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int error = spawn(arguments, nothing, out[1], words[1], pid_);
  closeEnd(nothing);
  closeEnd(out[1]);
  closeEnd(words[1]);
  output_ = out[0];
  words_ = words[0];
  if (error != 0) kill();
  return error;
}

std::size_t ReadProcess::read(std::span<std::uint8_t> out, std::string& words) {
  std::size_t got = 0;
  // poll() passes over numbers below 0.
  pollfd ends[2] = {{out.empty() ? -1 : output_, POLLIN, 0}, {words_, POLLIN, 0}};
  if (ends[0].fd < 0 && ends[1].fd < 0) return 0;
  while (::poll(ends, 2, -1) < 0)
    if (errno != EINTR) return 0;
  const auto from = [](int& fd, void* into, std::size_t max_bytes) -> std::size_t {
    ssize_t count;
    do count = ::read(fd, into, max_bytes);
    while (count < 0 && errno == EINTR);
    if (count <= 0) closeEnd(fd);
    return static_cast<std::size_t>(std::max<ssize_t>(0, count));
  };
  if (ends[0].revents != 0) got = from(output_, out.data(), out.size());
  if (ends[1].revents != 0) {
    char text[4096];
    words.append(text, from(words_, text, sizeof text));
  }
  return got;
}

std::string ReadProcess::finish() {
  if (pid_ < 0) return "not started";
  closeEnd(output_);
  closeEnd(words_);
  int status = 0;
  pid_t waited;
  do waited = ::waitpid(pid_, &status, 0);
  while (waited < 0 && errno == EINTR);
  pid_ = -1;
  if (waited < 0) return "lost";
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return code == 0 ? "" : "exit code " + std::to_string(code);
}

void ReadProcess::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }
  closeEnd(output_);
  closeEnd(words_);
}

}  // namespace derm::detail
