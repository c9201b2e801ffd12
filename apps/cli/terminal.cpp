#include "terminal.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "derm/io/file_bytes.h"

namespace derm::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

using Clock = std::chrono::steady_clock;

constexpr std::string_view kRed = "\033[31m", kYellow = "\033[33m", kPlain = "\033[0m";

/// The escape sequence where people look at a terminal that shows colours (see no-color.org).
std::string_view colour(std::string_view sequence) {
  static const bool wanted = [] {
    const char* none = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    return ::isatty(STDERR_FILENO) != 0 && (none == nullptr || *none == '\0') &&
           terminal != nullptr && std::string_view(terminal) != "dumb";
  }();
  return wanted ? sequence : std::string_view();
}

std::string_view nameOf(ErrorCode code) {
  switch (code) {
    case ErrorCode::BadData:
      return "bad-data";
    case ErrorCode::BadArgument:
      return "bad-argument";
    case ErrorCode::Unsupported:
      return "unsupported";
    case ErrorCode::CannotRead:
      return "cannot-read";
    case ErrorCode::CannotWrite:
      return "cannot-write";
    case ErrorCode::Cancelled:
      return "cancelled";
  }
  return "";
}

nlohmann::json toJson(const Error& error) {
  nlohmann::json out = {
      {"code", nameOf(error.code)}, {"message", error.message}, {"text", error.text()}};
  const Where& where = error.where;
  if (!where.file.empty()) out["file"] = where.file;
  if (!where.element.empty()) out["element"] = where.element;
  if (where.line) out["line"] = *where.line;
  if (where.column) out["column"] = *where.column;
  if (where.byte) out["byte"] = *where.byte;
  if (where.index) out["index"] = *where.index;
  return out;
}

std::vector<std::string>& announcedOutputs() {
  static std::vector<std::string> files;
  return files;
}

void printAnswer() { fmt::print("{}", jsonFileText(jsonAnswer())); }

}  // namespace

CommonOptions& commonOptions() {
  static CommonOptions options;
  return options;
}

nlohmann::json& jsonAnswer() {
  static nlohmann::json answer = nlohmann::json::object();
  return answer;
}

void announceOutput(std::string file) { announcedOutputs().push_back(std::move(file)); }

Result<void> writeText(const std::string& file, std::string_view text) {
  if (file != "-") return writeFileWhole(file, text);
  if (commonOptions().json)
    jsonAnswer()["text"] = text;
  else
    fmt::print("{}", text);
  return {};
}

std::string jsonFileText(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

nlohmann::json toJson(const Diagnostics& notes) {
  nlohmann::json out = nlohmann::json::array();
  for (const Diagnostics::Note& n : notes.notes())
    out.push_back({{"severity", n.severity == Severity::Warning ? "warning" : "info"},
                   {"kind", n.kind},
                   {"element", n.element},
                   {"message", n.message},
                   {"count", n.count},
                   {"indices", n.first_indices}});
  return out;
}

int report(const Error& error) {
  if (commonOptions().json) {
    if (!jsonAnswer().is_object()) jsonAnswer() = nlohmann::json::object();
    jsonAnswer()["error"] = toJson(error);
    printAnswer();
  }
  fmt::print(stderr, "{}derm: {}{}\n", colour(kRed), error.text(), colour(kPlain));
  switch (error.code) {
    case ErrorCode::BadArgument:
      return kBadArguments;
    case ErrorCode::CannotWrite:
      return kCannotWrite;
    case ErrorCode::Cancelled:
      return kCancelled;
    case ErrorCode::BadData:
    case ErrorCode::Unsupported:
    case ErrorCode::CannotRead:
      break;
  }
  return kBadData;
}

void printWarnings(const Diagnostics& notes) {
  if (commonOptions().quiet || commonOptions().json) return;
  for (const Diagnostics::Note& note : notes.notes())
    if (note.severity == Severity::Warning)
      fmt::print(stderr, "{}warning:{} {}\n", colour(kYellow), colour(kPlain), note.text());
}

int finish(const Diagnostics& notes) {
  printWarnings(notes);
  if (!commonOptions().json) return kDone;
  if (jsonAnswer().is_object()) {
    jsonAnswer()["notes"] = toJson(notes);
    if (!announcedOutputs().empty()) jsonAnswer()["outputs"] = announcedOutputs();
  }
  printAnswer();
  return kDone;
}

void catchInterrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = SA_RESETHAND;  // a second Ctrl-C ends the program at once
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);  // `timeout`, containers that stop
  // A file that grows beyond the limit is then a write that fails, with its message.
  std::signal(SIGXFSZ, SIG_IGN);
}

namespace {

/// ", 12 s left": by the speed so far, once that says something.
std::string timeLeft(Clock::duration spent, double fraction) {
  constexpr double kTelling = 0.02;
  if (fraction < kTelling || fraction >= 1) return {};
  const double left_s = std::chrono::duration<double>(spent).count() * (1 - fraction) / fraction;
  return left_s < 90 ? fmt::format(", {:.0f} s left", left_s)
                     : fmt::format(", {:.0f} min left", left_s / 60);
}

}  // namespace

struct ProgressBar::State {
  std::string title;
  Clock::time_point start = Clock::now();
  Clock::time_point last_draw = start;
  bool terminal = !commonOptions().quiet && !commonOptions().json && ::isatty(STDERR_FILENO) != 0;
  bool drawn = false;
};

ProgressBar::ProgressBar(std::string_view title)
    : state_(std::make_unique<State>(State{.title = std::string(title)})) {}

ProgressBar::~ProgressBar() {
  if (state_->drawn) fmt::print(stderr, "\r\033[K");
}

Progress ProgressBar::callback() {
  return [state = state_.get()](double fraction, std::string_view stage) {
    using namespace std::chrono_literals;
    const Clock::time_point now = Clock::now();
    if (state->terminal && now - state->start > 1s && now - state->last_draw > 50ms) {
      constexpr int kWidth = 30;
      const int filled = static_cast<int>(fraction * kWidth + 0.5);
      fmt::print(stderr, "\r\033[K{} [{:=<{}}{: <{}}] {:3.0f} %{} {}", state->title, "", filled, "",
                 kWidth - filled, 100 * fraction, timeLeft(now - state->start, fraction), stage);
      state->last_draw = now;
      state->drawn = true;
    }
    return interrupted == 0;
  };
}

}  // namespace derm::cli
