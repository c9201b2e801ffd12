#include "output_checks.h"

#include <set>
#include <system_error>
#include <vector>

#include "derm/io/character_author.h"
#include "derm/io/file_ending.h"
#include "derm/io/particle_file.h"

#include "terminal.h"

namespace derm::cli {
namespace {

/// A character's file with something in it that is not our own work.
bool isSomebodysCharacter(const std::filesystem::path& file) {
  const std::string ending = fileEnding(file);
  if (ending != ".glb" && ending != ".gltf" && ending != ".obj") return false;
  std::error_code none;
  return std::filesystem::file_size(file, none) > 0 && !isWrittenByDerm(file);
}

/// Files that an output with {frame} in its name may replace; else the output itself.
std::vector<std::filesystem::path> filesOf(const std::filesystem::path& output) {
  std::vector<std::filesystem::path> out;
  if (!isNumbered(output.string())) return {output};
  if (const Result<std::vector<NumberedFile>> files = numberedFiles(output.string()))
    for (const NumberedFile& file : *files) out.push_back(file.path);
  return out;
}

}  // namespace

CLI::Option* addOutput(CLI::App& verb, std::string& output, const std::string& help) {
  verb.add_flag("--force", commonOptions().force, "replace files that derm did not write");
  return verb.add_option("-o,--output", output, help);
}

Result<void> checkWritable(const std::filesystem::path& output) {
  const std::string ending = fileEnding(output);
  if (isNumbered(output.string()))
    return Error{ErrorCode::BadArgument,
                 "{frame} means nothing here: one file is written",
                 {.file = output.string()}};
  if (ending == ".glb" || ending == ".gltf" || ending == ".obj") return {};
  return Error{ErrorCode::BadArgument,
               "cannot write \"" + ending + "\" files; .glb, .gltf or .obj is expected",
               {.file = output.string()}};
}

Result<void> checkWritableRig(const std::filesystem::path& output) {
  if (fileEnding(output) == ".obj")
    return Error{ErrorCode::BadArgument,
                 "an .obj has no joints, shapes or clips; .glb or .gltf is expected",
                 {.file = output.string()}};
  return checkWritable(output);
}

Result<void> checkNotAnInput(std::initializer_list<std::string> outputs,
                             std::initializer_list<std::string> inputs) {
  namespace fs = std::filesystem;
  for (const std::string& output : outputs)
    for (const std::string& input : inputs) {
      std::error_code ignored;
      if (!output.empty() && !input.empty() && fs::equivalent(output, input, ignored))
        return Error{
            ErrorCode::BadArgument, "is an input; another name keeps it", {.file = output}};
    }
  return {};
}

Result<void> checkOutputs(std::initializer_list<std::string> outputs) {
  std::set<std::filesystem::path> met;
  for (const std::string& output : outputs) {
    if (output.empty()) continue;
    const std::filesystem::path file = std::filesystem::absolute(output).lexically_normal();
    if (!met.insert(file).second)
      return Error{ErrorCode::BadArgument, "would be written twice", {.file = output}};
    if (output == "-") {
      commonOptions().prints_text = true;
      continue;
    }
    std::error_code none;
    if (!std::filesystem::is_directory(file.parent_path(), none))
      return Error{
          ErrorCode::CannotWrite, "cannot write: its folder does not exist", {.file = output}};
    if (!commonOptions().force)
      for (const std::filesystem::path& old : filesOf(file))
        if (std::filesystem::is_regular_file(old, none) && isSomebodysCharacter(old))
          return Error{ErrorCode::BadArgument,
                       "exists and was not written by derm; --force replaces it",
                       {.file = isNumbered(output) ? old.string() : output}};
    announceOutput(output);
  }
  return {};
}

}  // namespace derm::cli
