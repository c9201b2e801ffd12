#pragma once

#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "derm/base/diagnostics.h"
#include "derm/base/result.h"

#include "terminal.h"

/// Each verb adds its own sub-command to the program; `run` is set to what it does once parsed.
/// A verb reads, calls the library, writes, and returns an exit code (see terminal.h).
namespace derm::cli {

using Run = std::function<int()>;

/// What a word says, if that is a finite number.
inline std::optional<double> numberOf(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || stop != end || !std::isfinite(value)) return {};
  return value;
}

/// For options that need a number of a range (CLI11's own check lets nan through).
inline CLI::Validator within(double min, double max) {
  return CLI::Validator(
      [min, max](std::string& text) -> std::string {
        const std::optional<double> value = numberOf(text);
        const bool inside = value && *value >= min && *value <= max;
        return inside ? "" : fmt::format("must be {:g} to {:g}, not {}", min, max, text);
      },
      fmt::format("in [{:g} - {:g}]", min, max));
}

/// For options that need a number above 0 (CLI11's own check answers with the largest double).
inline const CLI::Validator kAboveZero(
    [](std::string& text) -> std::string {
      const std::optional<double> value = numberOf(text);
      return value && *value > 0 ? "" : "must be a number above 0, not " + text;
    },
    "> 0");

/// The usual end of a verb's description: once parsed, `work` runs; its error is the program's
/// answer, warnings are printed when all went well.
template <class Options>
void setWork(CLI::App& verb, Run& run, const std::shared_ptr<Options>& options,
             Result<void> (*work)(const Options& options, Diagnostics& notes)) {
  verb.callback([&run, options, work] {
    run = [options, work] {
      Diagnostics notes;
      const Result<void> done = work(*options, notes);
      return done ? finish(notes) : report(done.error());
    };
  });
}

void addAutoVerb(CLI::App& app, Run& run);
void addBakeVerb(CLI::App& app, Run& run);
void addCastVerb(CLI::App& app, Run& run);
void addCheckVerb(CLI::App& app, Run& run);
void addCompletionVerb(CLI::App& app, Run& run);
void addDemoVerb(CLI::App& app, Run& run);
void addFaceVerb(CLI::App& app, Run& run);
void addFleshVerb(CLI::App& app, Run& run);
void addImplicitVerb(CLI::App& app, Run& run);
void addInfoVerb(CLI::App& app, Run& run);
void addPlotVerb(CLI::App& app, Run& run);
void addPoseVerb(CLI::App& app, Run& run);
void addRenderVerb(CLI::App& app, Run& run);
void addReproVerb(CLI::App& app, Run& run);
void addStudioVerb(CLI::App& app, Run& run);
void addVolumeVerb(CLI::App& app, Run& run);
void addWeightsVerb(CLI::App& app, Run& run);
void addWrinklesVerb(CLI::App& app, Run& run);

}  // namespace derm::cli
