#include "derm/io/file_overlay.h"

namespace derm {
namespace {

thread_local const MemoryFiles* overlay = nullptr;

}  // namespace

FileOverlay::FileOverlay(const MemoryFiles& files) : before_(overlay) { overlay = &files; }
FileOverlay::~FileOverlay() { overlay = before_; }

const MemoryFiles::Bytes* FileOverlay::find(const std::filesystem::path& file) {
  if (overlay == nullptr) return nullptr;
  return overlay->find(file);
}

}  // namespace derm
