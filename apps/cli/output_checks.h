#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>

#include <CLI/CLI.hpp>

#include "derm/base/result.h"

/// What is asked of a verb's outputs before any work is done.
namespace derm::cli {

/// Adds -o, --output for a character or recipe, and --force.
CLI::Option* addOutput(CLI::App& verb, std::string& output, const std::string& help);

/// Fails where the ending is not one we can write.
Result<void> checkWritable(const std::filesystem::path& output);
/// As checkWritable(), for joints, shapes and clips: an .obj has none.
Result<void> checkWritableRig(const std::filesystem::path& output);

/// Fails where two outputs are one file, where one's folder does not exist, and where a character
/// would be lost that derm did not write (unless --force was given): with {frame} in the name, any
/// file of the sequence. --json lists them as "outputs". Empty names count for nothing, "-" is
/// standard output (see writeText()).
Result<void> checkOutputs(std::initializer_list<std::string> outputs);
/// No output is one of the inputs: it would be lost, --force or not. Empty names count for nothing.
Result<void> checkNotAnInput(std::initializer_list<std::string> outputs,
                             std::initializer_list<std::string> inputs);

}  // namespace derm::cli
