#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/// What every verb takes.
struct CommonOptions {
  bool quiet = false;  ///< no progress, no warnings, no summaries
  bool json = false;   ///< one JSON document on standard output, errors included
  bool force = false;  ///< replace what derm did not write
  /// Standard output holds a file's text (see writeText()): no summary gets between.
  bool prints_text = false;
};
CommonOptions& commonOptions();

/// What --json prints in the end; verbs fill it as they go.
nlohmann::json& jsonAnswer();
/// A file that the verb is about to write: "outputs" of the answer, where the work goes well.
void announceOutput(std::string file);
nlohmann::json toJson(const Diagnostics& notes);
/// Writes a text file, whole or not at all; "-" is standard output, or with --json the "text" of
/// the answer.
Result<void> writeText(const std::string& file, std::string_view text);
/// Indented, as files and --json have it. Names and paths may hold any bytes, JSON may not: what is
/// no UTF-8 is replaced, where the library's own way throws.
std::string jsonFileText(const nlohmann::json& json);

/// Prints "derm: <error>" on one line, with --json the answer with an "error" too, and returns the
/// exit code that belongs to it.
int report(const Error& error);

/// Prints warnings, one line per kind, to stderr. Info notes are for `derm info`.
void printWarnings(const Diagnostics& notes);

/// The end of work that went well: its warnings, or with --json the answer, with "notes" where it
/// is an object.
int finish(const Diagnostics& notes);

/// Prints what a verb was asked for, unless JSON was wanted.
template <class... Args>
void tell(fmt::format_string<Args...> format, Args&&... args) {
  if (!commonOptions().json) fmt::print(format, std::forward<Args>(args)...);
}
/// Prints what was done, for people, unless they want quiet or JSON.
template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const CommonOptions& o = commonOptions();
  if (!o.quiet && !o.json && !o.prints_text) fmt::print(format, std::forward<Args>(args)...);
}

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
