#include "cli/run_program.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace derm::cli_test {

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "derm-cli-XXXXXX").string();
  path_ = ::mkdtemp(name.data());
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string contentOf(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write(const std::string& file, const std::string& content) {
  std::ofstream(file, std::ios::binary) << content;
}

namespace {

/// In the child: becomes the program.
[[noreturn]] void execDerm(const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(DERM_CLI)};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  ::execv(DERM_CLI, argv.data());
  ::_exit(127);
}

}  // namespace

std::string shownOnTerminal(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (terminal < 0 || ::grantpt(terminal) != 0 || ::unlockpt(terminal) != 0) return {};
  const std::string name = ::ptsname(terminal);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(name.c_str(), O_RDWR | O_NOCTTY), STDERR_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    for (const std::string& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
    execDerm(arguments);
  }
  // A terminal holds little: who does not read from it stops the program.
  ::fcntl(terminal, F_SETFL, O_NONBLOCK);
  std::string shown;
  for (bool running = true; running;) {
    int status = 0;
    running = ::waitpid(child, &status, WNOHANG) == 0;
    std::array<char, 4096> part = {};
    for (ssize_t n = 0; (n = ::read(terminal, part.data(), part.size())) > 0;)
      shown.append(part.data(), static_cast<std::size_t>(n));
    if (running) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ::close(terminal);
  return shown;
}

pid_t startDerm(const std::vector<std::string>& arguments) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const int nowhere = ::open("/dev/null", O_WRONLY);
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  execDerm(arguments);
}

Outcome derm(const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment) {
  const Folder work;
  const std::string out = work / "out";
  const std::string err = work / "err";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open(out.c_str(), O_CREAT | O_WRONLY, 0600), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
    for (const std::string& variable : environment) ::putenv(const_cast<char*>(variable.c_str()));
    execDerm(arguments);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  // A signal is not an exit code: let it show as the shell would.
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return {code, contentOf(out), contentOf(err)};
}

}  // namespace derm::cli_test
