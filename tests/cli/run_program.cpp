#include "cli/run_program.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

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
