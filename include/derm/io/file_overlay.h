#pragma once

#include <filesystem>

#include "derm/io/output_files.h"

namespace derm {

/// While one lives, whatever reads files on this thread (readFile() and all that loads) finds these
/// before those on disk, by the same name ("faces/smile.glb"; "./smile.glb" is "smile.glb"). So a
/// page in a browser opens a recipe that names files: it has their bytes, and no disk. The one made
/// last counts. Keeps a reference to `files`.
class FileOverlay {
 public:
  explicit FileOverlay(const MemoryFiles& files);
  ~FileOverlay();
  FileOverlay(const FileOverlay&) = delete;
  FileOverlay& operator=(const FileOverlay&) = delete;

  /// The bytes that lie over this name on this thread; null where none do.
  static const MemoryFiles::Bytes* find(const std::filesystem::path& file);

 private:
  const MemoryFiles* before_;
};

}  // namespace derm
