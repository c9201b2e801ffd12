#include <algorithm>
#include <cctype>
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

void addCommon(CLI::App& verb, int& threads) {
  verb.add_flag("-q,--quiet", commonOptions().quiet, "no progress, warnings and summaries");
  verb.add_flag("--json", commonOptions().json,
                "one JSON document on standard output, errors included");
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

/// The verb, or verb below a verb, whose options were being read.
const CLI::App& verbBeingRead(const CLI::App& app) {
  const CLI::App* verb = &app;
  while (!verb->get_subcommands().empty()) verb = verb->get_subcommands()[0];
  return *verb;
}

/// A first word, or a first word after a verb that has verbs below, which is none: what CLI11 says
/// of it names neither it nor the nearest. `read` is the verb before it, `words` what follows.
std::string wrongVerb(const CLI::App& read, const std::vector<std::string>& words) {
  if (words.empty() || words[0].starts_with('-')) return {};
  std::vector<std::string> verbs;
  for (const CLI::App* verb : read.get_subcommands([](const CLI::App*) { return true; }))
    verbs.push_back(verb->get_name());
  const std::string& word = words[0];
  if (verbs.empty() || std::find(verbs.begin(), verbs.end(), word) != verbs.end()) return {};
  return "no verb \"" + word + "\"" + didYouMean(word, verbs);
}

/// Whether a word is meant as an option: numbers below zero and "-" for the terminal are not.
bool looksLikeAnOption(const std::string& word) {
  return word.size() > 1 && word[0] == '-' &&
         (word[1] == '-' || std::isalpha(static_cast<unsigned char>(word[1])) != 0);
}

/// The first option that the verb does not have, with the nearest that it has; empty = it has all.
/// Whatever else is wrong then (what an option needs was left over, a required one is missing)
/// follows from it.
std::string wrongOption(const CLI::App& verb, const std::vector<std::string>& words) {
  std::vector<std::string> known, letters;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) letters.push_back("-" + name);
  }
  const auto isIn = [](const std::string& name, const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const std::string& word : words) {
    if (word == "--") break;  // values from here
    if (!looksLikeAnOption(word)) continue;
    const bool spelled = word.starts_with("--");
    const std::string name = spelled ? word.substr(0, word.find('=')) : word.substr(0, 2);
    if (isIn(name, spelled ? known : letters)) continue;
    const bool near = spelled && !nearestNames(name, known).empty();
    return "no option \"" + name + "\"" + (near ? didYouMean(name, known) : std::string());
  }
  return {};
}

/// What is wrong, in the user's words, where CLI11's are not enough.
std::string whatIsWrong(const CLI::App& app, const CLI::ParseError& error,
                        const std::vector<std::string>& words) {
  const CLI::App& verb = verbBeingRead(app);
  std::size_t read = 0;  // words that named verbs
  for (const CLI::App* v = &app; v != &verb; ++read) v = v->get_subcommands()[0];
  const std::vector<std::string> left(
      words.begin() + static_cast<std::ptrdiff_t>(std::min(read, words.size())), words.end());
  if (std::string wrong = wrongVerb(verb, left); !wrong.empty()) return wrong;
  const bool left_over = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const bool missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  const std::string wrong = left_over || missing ? wrongOption(verb, words) : std::string();
  return wrong.empty() ? error.what() : wrong;
}

/// `derm help VERB …` is `derm VERB … --help`.
std::vector<std::string> wordsOf(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (!words.empty() && words[0] == "help") {
    words.erase(words.begin());
    words.push_back("--help");
  }
  // What all verbs have may stand before the verb, too.
  const auto common = [](const std::string& w) {
    return w == "-q" || w == "--quiet" || w == "--json";
  };
  for (std::size_t i = 0; i < words.size() && common(words[0]) && words.size() > 1; ++i)
    std::rotate(words.begin(), words.begin() + 1, words.end());
  return words;
}

int badArguments(const std::string& message, const std::string& verb,
                 const std::vector<std::string>& words) {
  commonOptions().json = std::find(words.begin(), words.end(), "--json") != words.end();
  const int code = report({ErrorCode::BadArgument, message, {}});
  fmt::print(stderr, "({} --help tells more)\n", verb);
  return code;
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
  addAutoVerb(app, run);
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
  addReproVerb(app, run);
  addStudioVerb(app, run);
  addCompletionVerb(app, run);
  int threads = 0;
  for (CLI::App* verb : app.get_subcommands({})) {
    addCommon(*verb, threads);
    for (CLI::App* below : verb->get_subcommands({})) addCommon(*below, threads);
  }
  const std::vector<std::string> words = wordsOf(argc, argv);
  if (const std::string wrong = wrongVerb(app, words); !wrong.empty())
    return badArguments(wrong, "derm", words);
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 takes the last first
  } catch (const CLI::Success& e) {
    return app.exit(e);  // --help, --version
  } catch (const CLI::ParseError& e) {
    return badArguments(whatIsWrong(app, e, words), verbAsked(app), words);
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
