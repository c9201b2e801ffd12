#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "verbs.h"

/// Completion scripts and the manual page, made of the options themselves.
namespace derm::cli {
namespace {

/// A verb with the words that lead to it: "derm face rig".
struct Path {
  std::string words;
  const CLI::App* app = nullptr;
};

std::vector<Path> allVerbs(const CLI::App& program) {
  std::vector<Path> out;
  const std::function<void(const std::string&, const CLI::App&)> walk =
      [&](const std::string& words, const CLI::App& app) {
        out.push_back({words, &app});
        for (const CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; }))
          walk(words + " " + below->get_name(), *below);
      };
  walk(program.get_name(), program);
  return out;
}

std::vector<const CLI::App*> verbsBelow(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> switchesOf(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    for (const std::string& name : option->get_snames()) out.push_back("-" + name);
  }
  return out;
}

std::vector<std::string> wordsOf(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* below : verbsBelow(app)) out.push_back(below->get_name());
  const std::vector<std::string> switches = switchesOf(app);
  out.insert(out.end(), switches.begin(), switches.end());
  return out;
}

/// The text with every one of these characters behind a backslash.
std::string escaped(const std::string& text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string bashScript(const CLI::App& program) {
  std::string cases;
  for (const Path& path : allVerbs(program))
    cases += fmt::format("    \"{}\") known=\"{}\" ;;\n", path.words,
                         fmt::join(wordsOf(*path.app), " "));
  // Words that lead to a verb are followed as far as they do.
  return fmt::format(
      "_derm_words() {{\n"
      "  local known=\n"
      "  case \"$1\" in\n{}"
      "  esac\n"
      "  echo \"$known\"\n"
      "}}\n"
      "_derm() {{\n"
      "  local path=derm i word current=${{COMP_WORDS[COMP_CWORD]}}\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    word=${{COMP_WORDS[i]}}\n"
      "    [ -n \"$(_derm_words \"$path $word\")\" ] && path=\"$path $word\"\n"
      "  done\n"
      "  COMPREPLY=($(compgen -W \"$(_derm_words \"$path\")\" -- \"$current\"))\n"
      "  [ ${{#COMPREPLY[@]}} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$current\"))\n"
      "}}\n"
      "complete -o filenames -F _derm derm\n",
      cases);
}

std::string zshScript(const CLI::App& program) {
  return "#compdef derm\nautoload -U +X bashcompinit && bashcompinit\n" + bashScript(program);
}

std::string fishScript(const CLI::App& program) {
  std::string out =
      "function __derm_at\n"
      "  set -l path derm\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    contains -- \"$path $word\" $__derm_verbs; and set path \"$path $word\"\n"
      "  end\n"
      "  test \"$path\" = \"$argv\"\n"
      "end\n"
      "set -g __derm_verbs";
  const std::vector<Path> verbs = allVerbs(program);
  for (const Path& path : verbs) out += fmt::format(" '{}'", path.words);
  out += '\n';
  for (const Path& path : verbs) {
    const std::string at = fmt::format("complete -c derm -n \"__derm_at {}\"", path.words);
    for (const CLI::App* below : verbsBelow(*path.app))
      out += fmt::format("{} -f -a {} -d '{}'\n", at, below->get_name(),
                         escaped(below->get_description(), "'\\"));
    for (const CLI::Option* option : path.app->get_options()) {
      if (option->get_lnames().empty() && option->get_snames().empty()) continue;
      out += at;
      for (const std::string& name : option->get_lnames()) out += " -l " + name;
      for (const std::string& name : option->get_snames()) out += " -s " + name;
      if (option->get_items_expected_max() > 0) out += " -r";
      out += fmt::format(" -d '{}'\n", escaped(option->get_description(), "'\\"));
    }
  }
  return out;
}

/// Text as the manual's formatter takes it: no line begins with its own signs.
std::string roff(const std::string& text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') out += '\\';
    if (c == '-') out += '\\';
    out += c;
    begins = c == '\n';
  }
  return out;
}

std::string manual(const CLI::App& program) {
  std::string out = fmt::format(
      ".TH DERM 1 \"\" \"derm {}\" \"User Commands\"\n.SH NAME\n{}\n.SH SYNOPSIS\n.B derm\n"
      "VERB [OPTIONS]\n",
      DERM_VERSION, roff("derm - the skin that skinning leaves out"));
  for (const Path& path : allVerbs(program)) {
    if (path.app == &program) continue;
    out += fmt::format(".SH \"{}\"\n{}\n", roff(path.words), roff(path.app->get_description()));
    for (const CLI::Option* option : path.app->get_options()) {
      const std::string type = option->get_type_name();
      out += fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", roff(option->get_name(true, true)),
                         option->get_items_expected_max() > 0 && !type.empty()
                             ? " \\fI" + roff(type) + "\\fR"
                             : "",
                         roff(option->get_description()));
    }
    if (!path.app->get_footer().empty())
      out += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(path.app->get_footer()));
  }
  out += ".SH EXIT STATUS\n0 done, 1 bad data, 2 bad arguments, 3 cannot write, 130 interrupted\n";
  return out;
}

int printed(const std::string& text) {
  const Result<void> done = writeText("-", text);
  return done ? finish({}) : report(done.error());
}

}  // namespace

void addCompletionVerb(CLI::App& app, Run& run) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion = app.add_subcommand("completion", "completion of words for a shell");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->footer(
      "examples:\n"
      "  derm completion bash > ~/.local/share/bash-completion/completions/derm\n"
      "  derm completion fish > ~/.config/fish/completions/derm.fish");
  completion->callback([&app, &run, shell] {
    run = [&app, shell] {
      return printed(*shell == "fish"  ? fishScript(app)
                     : *shell == "zsh" ? zshScript(app)
                                       : bashScript(app));
    };
  });
  CLI::App* man = app.add_subcommand("man", "the manual page of the program");
  man->footer("example:\n  derm man | man -l -");
  man->callback([&app, &run] { run = [&app] { return printed(manual(app)); }; });
}

}  // namespace derm::cli
