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

}  // namespace derm::detail
