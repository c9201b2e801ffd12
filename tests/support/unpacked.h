#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "support/compare.h"

namespace derm::testing_support {

/// Folder with the files of a packed data set (NAME/NAME.tar.zst), unpacked once into the temporary
/// folder; empty path where the set, tar or zstd is absent. Tests run at the same time in several
/// processes, so the folder appears whole, by a rename.
inline std::filesystem::path unpackedFolder(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path archive = dataFolder(name) / (name + ".tar.zst");
  std::error_code failed;
  if (!fs::is_regular_file(archive, failed)) return {};
  const fs::path all = fs::temp_directory_path(failed) / "derm-test-data";
  const fs::path folder = all / name;
  if (fs::is_directory(folder, failed)) return folder;
  const fs::path partial = all / (name + "." + std::to_string(::getpid()));
  fs::create_directories(partial, failed);
  const std::string command =
      "tar --zstd -xf '" + archive.string() + "' -C '" + partial.string() + "' 2>/dev/null";
  if (std::system(command.c_str()) == 0) fs::rename(partial / name, folder, failed);
  fs::remove_all(partial, failed);
  return fs::is_directory(folder, failed) ? folder : fs::path();
}

}  // namespace derm::testing_support

/// Like DERM_DATA_OR_SKIP, for data sets that are packed.
#define DERM_PACKED_DATA_OR_SKIP(folder, name)                                        \
  const std::filesystem::path folder = ::derm::testing_support::unpackedFolder(name); \
  if (folder.empty()) GTEST_SKIP() << "test data \"" << name << "\" is not here"
