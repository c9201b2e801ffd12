#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <unistd.h>

#include "derm/base/nearest_name.h"
#include "derm/base/parallel.h"

#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

constexpr int kMaxThreads = 1024;

void addThreads(CLI::App& verb, int& threads) {
  verb.add_option("--threads", threads, "use at most this many threads (results do not change)")
      ->envname("DERM_THREADS")
      ->check(CLI::Range(1, kMaxThreads))
      ->type_name("N");
}

/// The program with the verb, and the verb below it, that were asked for.
std::string verbAsked(const CLI::App& app) {
  std::string words = app.get_name();
  for (const CLI::App* verb = &app; !verb->get_subcommands().empty();) {
    verb = verb->get_subcommands()[0];
    words += " " + verb->get_name();
  }
  return words;
}

/// A first word that is no verb: what CLI11 says of it names neither it nor the nearest.
std::string wrongVerb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return {};
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  const std::string word = argv[1];
  if (std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return {};
  return "no verb \"" + word + "\"" + didYouMean(word, verbs);
}

int runProgram(int argc, char** argv) {
  CLI::App app("derm — the skin that skinning leaves out");
  app.name("derm");
  app.require_subcommand(1);
  app.set_version_flag("--version", "derm " DERM_VERSION);
  app.footer("exit codes: 0 done, 1 bad data, 2 bad arguments, 3 cannot write");
  Run run;
  addDemoVerb(app, run);
  addInfoVerb(app, run);
  addCheckVerb(app, run);
  addCastVerb(app, run);
  addWeightsVerb(app, run);
  addWrinklesVerb(app, run);
  addPoseVerb(app, run);
  addBakeVerb(app, run);
  addPlotVerb(app, run);
  addRenderVerb(app, run);
  addFleshVerb(app, run);
  addVolumeVerb(app, run);
  addImplicitVerb(app, run);
  addFaceVerb(app, run);
  int threads = 0;
  for (CLI::App* verb : app.get_subcommands({})) {
    addThreads(*verb, threads);
    for (CLI::App* below : verb->get_subcommands({})) addThreads(*below, threads);
  }
  if (const std::string wrong = wrongVerb(app, argc, argv); !wrong.empty()) {
    fmt::print(stderr, "derm: {}\n(derm --help tells more)\n", wrong);
    return kBadArguments;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    fmt::print(stderr, "derm: {}\n({} --help tells more)\n", e.what(), verbAsked(app));
    return kBadArguments;
  }
  std::optional<ThreadLimit> limit;
  if (threads > 0) limit.emplace(threads);
  catchInterrupts();
  const int code = run();
  // A full disk behind a redirected report must not pass as success.
  if (std::fflush(stdout) != 0 && code == kDone) {
    fmt::print(stderr, "derm: cannot write standard output\n");
    return kCannotWrite;
  }
  return code;
}

}  // namespace
}  // namespace derm::cli

int main(int argc, char** argv) {
  try {
    return derm::cli::runProgram(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("derm: out of memory\n", stderr);
  } catch (const std::system_error& e) {
    // Only printing throws these.
    std::fprintf(stderr, "derm: cannot write standard output: %s\n", e.what());
    return derm::cli::kCannotWrite;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "derm: %s\n", e.what());
  }
  return derm::cli::kBadData;
}
