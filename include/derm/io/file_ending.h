#pragma once

#include <filesystem>
#include <string>

namespace derm {

/// The ending of a file's name with its dot, A to Z as a to z: ".glb" for "Body.GLB", "" where
/// there is none.
std::string fileEnding(const std::filesystem::path& file);

}  // namespace derm
