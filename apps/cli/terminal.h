#pragma once

#include <memory>
#include <string_view>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"

/// What the program says to people (stderr) and to shells (exit codes).
namespace derm::cli {

inline constexpr int kDone = 0;
inline constexpr int kBadData = 1;
inline constexpr int kBadArguments = 2;
inline constexpr int kCannotWrite = 3;
inline constexpr int kCancelled = 130;  ///< what shells give for Ctrl-C

/// Prints "derm: <error>" on one line and returns the exit code that belongs to it.
int report(const Error& error);

/// Prints warnings, one line per kind, to stderr. Info notes are for `derm info`.
void printWarnings(const Diagnostics& notes);

/// Ctrl-C asks long work to stop at its next progress call instead of killing it mid-write.
void catchInterrupts();

/// A bar on stderr when that is a terminal and the work lasts over a second; it also carries
/// Ctrl-C to the work. Clears itself when destroyed.
class ProgressBar {
 public:
  explicit ProgressBar(std::string_view title);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  Progress callback();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace derm::cli
