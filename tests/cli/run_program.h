#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <sys/types.h>

namespace derm::cli_test {

struct Outcome {
  int exit_code = -1;
  std::string out;
  std::string err;
};

/// Runs the program with these arguments (no shell in between) and waits for it. Further variables
/// are given as "NAME=value".
Outcome derm(const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment = {});

/// Runs the program with a terminal as its standard error, and gives what that was sent.
std::string shownOnTerminal(const std::vector<std::string>& arguments,
                            const std::vector<std::string>& environment = {});

/// Starts the program and returns its process, which somebody must wait for. It says nothing.
pid_t startDerm(const std::vector<std::string>& arguments);

/// A folder of its own for each test, removed afterwards.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string contentOf(const std::string& file);
void write(const std::string& file, const std::string& content);

}  // namespace derm::cli_test
