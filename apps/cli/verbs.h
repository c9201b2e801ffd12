#pragma once

#include <functional>

#include <CLI/CLI.hpp>

/// Each verb adds its own sub-command to the program; `run` is set to what it does once parsed.
/// A verb reads, calls the library, writes, and returns an exit code (see terminal.h).
namespace derm::cli {

using Run = std::function<int()>;

void addBakeVerb(CLI::App& app, Run& run);
void addCastVerb(CLI::App& app, Run& run);
void addCheckVerb(CLI::App& app, Run& run);
void addDemoVerb(CLI::App& app, Run& run);
void addFleshVerb(CLI::App& app, Run& run);
void addInfoVerb(CLI::App& app, Run& run);
void addPlotVerb(CLI::App& app, Run& run);
void addPoseVerb(CLI::App& app, Run& run);
void addRenderVerb(CLI::App& app, Run& run);
void addVolumeVerb(CLI::App& app, Run& run);
void addWeightsVerb(CLI::App& app, Run& run);
void addWrinklesVerb(CLI::App& app, Run& run);

}  // namespace derm::cli
