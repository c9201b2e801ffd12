#include <array>
#include <filesystem>
#include <memory>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "derm/io/base64.h"
#include "derm/io/character_file.h"
#include "derm/io/file_bytes.h"
#include "derm/io/file_ending.h"
#include "derm/io/output_files.h"
#include "derm/io/whole_file.h"
#include "derm/scene/recipe_text.h"

#include "character_input.h"
#include "output_checks.h"
#include "recipe_input.h"
#include "terminal.h"
#include "verbs.h"

namespace derm::cli {
namespace {

namespace fs = std::filesystem;

/// Where the page takes a scene in; see web/studio.
constexpr std::string_view kSlot = "<script type=\"application/json\" id=\"scene\">";
constexpr std::string_view kSlotEnd = "</script>";
constexpr std::size_t kMaxPage = std::size_t{64} << 20;
constexpr std::size_t kMaxFile = std::size_t{256} << 20;

struct StudioOptions {
  std::string input;
  std::string page;
  std::string output = "studio.html";
  bool stay = false;
};

Result<std::string> readText(const fs::path& file, std::size_t max_bytes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file, max_bytes));
  return std::string(bytes.begin(), bytes.end());
}

/// The page as `./run web` makes it or a package brings it.
Result<fs::path> findPage(const std::string& given) {
  if (!given.empty()) return fs::path(given);
  std::error_code none;
  const fs::path program = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const fs::path& page : {fs::path("out/studio.html"), program / "../../../out/studio.html",
                               program / "../share/derm/studio.html"})
    if (fs::is_regular_file(page, none)) return page.lexically_normal();
  return Error{ErrorCode::CannotRead,
               "no studio page is here; `./run web` makes out/studio.html, --page names another",
               {.file = "studio.html"}};
}

/// A scene as the page takes it: a recipe's text, and the files that it names.
class SceneFiles {
 public:
  explicit SceneFiles(fs::path folder) : folder_(std::move(folder)) {}

  /// Adds a file by the name that the recipe has for it.
  Result<void> add(const std::string& name) {
    if (name.empty() || name.starts_with("cast:")) return {};
    DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(folder_ / name, kMaxFile));
    files_[name] = encodeBase64(bytes);
    return {};
  }

  /// Adds a character; files that name others, and those the page cannot read, as .glb. Returns its
  /// name.
  Result<std::string> addCharacter(const std::string& name, const ImportOptions& import,
                                   Diagnostics& notes) {
    const std::string ending = fileEnding(name);
    const bool as_is = name.starts_with("cast:") || ending == ".glb" || ending == ".bvh";
    if (as_is) {
      DERM_CHECK(add(name));
      return name;
    }
    DERM_TRY(const Character character, openCharacter(name, folder_, import, notes));
    const std::string glb = fs::path(name).replace_extension(".glb").filename().string();
    MemoryFiles memory;
    DERM_CHECK(saveCharacter(character, glb, notes, memory));
    for (const auto& [written, bytes] : memory.files()) files_[glb] = encodeBase64(bytes);
    return glb;
  }

  const nlohmann::json& files() const { return files_; }

 private:
  fs::path folder_;
  nlohmann::json files_ = nlohmann::json::object();
};

Result<nlohmann::json> sceneOf(const std::string& input, Diagnostics& notes) {
  Recipe recipe;
  std::string text, name = "scene.toml";
  fs::path folder;
  if (isRecipe(input)) {
    name = fs::path(input).filename().string();
    folder = fs::path(input).parent_path();
    DERM_TRY(text, readText(input, Recipe::kMaxBytes));
    DERM_TRY(recipe, parseRecipe(text, input));
  } else {
    recipe.character = fs::path(input).is_absolute() || input.starts_with("cast:")
                           ? input
                           : fs::path(input).generic_string();
    DERM_CHECK(checkRecipeCanName(recipe.character));
    text = writeRecipe(recipe);
  }
  SceneFiles files(folder);
  ImportOptions import;
  import.metres_per_unit = recipe.metres_per_unit;
  DERM_TRY(const std::string character, files.addCharacter(recipe.character, import, notes));
  for (const std::string& file : filesBesideCharacter(recipe)) DERM_CHECK(files.add(file));
  if (character != recipe.character) {
    recipe.character = character;
    DERM_TRY(text, editRecipe(text, recipe));
  }
  return nlohmann::json{{"name", name}, {"recipe", text}, {"files", files.files()}};
}

Result<std::string> pageWith(std::string page, const nlohmann::json& scene,
                             const std::string& file) {
  const std::size_t slot = page.find(kSlot);
  const std::size_t end = slot == std::string::npos ? slot : page.find(kSlotEnd, slot);
  if (end == std::string::npos)
    return Error{
        ErrorCode::BadData, "is no studio page: it has no slot for a scene", {.file = file}};
  std::string json = scene.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // A "</script>" in a name would end the element.
  for (std::size_t at = 0; (at = json.find("</", at)) != std::string::npos; at += 3)
    json.insert(at + 1, "\\");
  const std::size_t begin = slot + kSlot.size();
  return page.replace(begin, end - begin, json);
}

/// Hands the page to the desktop, which may have no browser: that is no error, and what it says
/// about it is nobody's concern.
void show(const fs::path& page) {
  std::string program = "xdg-open", file = fs::absolute(page).string();
  std::array<char*, 3> arguments = {program.data(), file.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  if (::posix_spawn_file_actions_init(&quiet) != 0) return;
  ::posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&quiet, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  if (::posix_spawnp(&child, program.c_str(), &quiet, nullptr, arguments.data(), environ) == 0)
    ::waitpid(child, nullptr, 0);
  ::posix_spawn_file_actions_destroy(&quiet);
}

Result<void> writeStudio(const StudioOptions& options, Diagnostics& notes) {
  DERM_CHECK(checkOutputs({options.output}));
  DERM_CHECK(checkNotAnInput({options.output}, {options.input, options.page}));
  DERM_TRY(const fs::path page, findPage(options.page));
  DERM_TRY(std::string html, readText(page, kMaxPage));
  if (!options.input.empty()) {
    DERM_TRY(const nlohmann::json scene, sceneOf(options.input, notes));
    DERM_TRY(html, pageWith(std::move(html), scene, page.string()));
  }
  DERM_CHECK(writeFileWhole(options.output, html));
  say("{}: {:.1f} MB; opens in a browser by a double click\n", options.output,
      static_cast<double>(html.size()) / 1e6);
  if (!options.stay) show(options.output);
  return {};
}

}  // namespace

void addStudioVerb(CLI::App& app, Run& run) {
  const auto options = std::make_shared<StudioOptions>();
  CLI::App* verb =
      app.add_subcommand("studio", "a page in which a scene is seen, touched and tuned");
  verb->add_option("INPUT", options->input,
                   "a recipe (.toml), a character file, or cast:NAME; without: the start page");
  addOutput(*verb, options->output, "the page, .html")->capture_default_str();
  verb->add_option("--page", options->page, "the studio's own page; default out/studio.html")
      ->envname("DERM_STUDIO");
  verb->add_flag("--no-open", options->stay, "write the page, do not open it");
  verb->footer("example:\n  derm studio look.toml -o look.html");
  setWork(*verb, run, options, writeStudio);
}

}  // namespace derm::cli
