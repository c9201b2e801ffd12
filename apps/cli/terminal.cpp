#include "terminal.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

namespace derm::cli {
namespace {

volatile std::sig_atomic_t interrupted = 0;

using Clock = std::chrono::steady_clock;

}  // namespace

int report(const Error& error) {
  fmt::print(stderr, "derm: {}\n", error.text());
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
  for (const Diagnostics::Note& note : notes.notes())
    if (note.severity == Severity::Warning) fmt::print(stderr, "warning: {}\n", note.text());
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

struct ProgressBar::State {
  std::string title;
  Clock::time_point start = Clock::now();
  Clock::time_point last_draw = start;
  bool terminal = ::isatty(STDERR_FILENO) != 0;
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
      fmt::print(stderr, "\r\033[K{} [{:=<{}}{: <{}}] {:3.0f} % {}", state->title, "", filled, "",
                 kWidth - filled, 100 * fraction, stage);
      state->last_draw = now;
      state->drawn = true;
    }
    return interrupted == 0;
  };
}

}  // namespace derm::cli
