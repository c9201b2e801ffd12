#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

namespace derm::detail {

/// A program we feed through its standard input. Never uses a shell; what it prints on standard
/// error is kept. Destroyed while running, it is killed and waited for.
class FedProcess {
 public:
  FedProcess() = default;
  ~FedProcess() { kill(); }
  FedProcess(const FedProcess&) = delete;
  FedProcess& operator=(const FedProcess&) = delete;

  /// 0, or the error number; ENOENT where there is no such program.
  int start(const std::vector<std::string>& arguments);
  /// False where the program no longer reads.
  bool feed(std::span<const std::uint8_t> bytes);
  /// Ends the input and waits. True where the program ended well.
  bool finish();
  void kill();
  /// The last line on standard error that is not empty.
  std::string lastWords() const;

 private:
  void closeInput();
  pid_t pid_ = -1;
  int input_ = -1;
  int words_ = -1;
};

/// A program whose standard output and standard error we read; it has no input. Never uses a shell.
/// Both are watched at once, so that it cannot get stuck on one while we wait for the other.
/// Destroyed while running, it is killed and waited for.
class ReadProcess {
 public:
  ReadProcess() = default;
  ~ReadProcess() { kill(); }
  ReadProcess(const ReadProcess&) = delete;
  ReadProcess& operator=(const ReadProcess&) = delete;

  /// 0, or the error number; ENOENT where there is no such program.
  int start(const std::vector<std::string>& arguments);
  /// Waits for the next bytes. Output goes into `out` (none is taken where that is empty), errors
  /// are appended to `words`. Gives the number of bytes of output.
  std::size_t read(std::span<std::uint8_t> out, std::string& words);
  bool outputEnded() const { return output_ < 0; }
  bool wordsEnded() const { return words_ < 0; }
  /// Waits for the end. Empty where the program ended well, else what became of it: "exit code 1",
  /// "signal 9".
  std::string finish();
  void kill();

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int words_ = -1;
};

}  // namespace derm::detail
