#include "derm/base/module.h"

#ifndef __EMSCRIPTEN__
#include <array>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>
#endif

namespace derm {

#ifdef __EMSCRIPTEN__

Result<void*> loadModuleFunction(std::string_view name) {
  return Error{
      ErrorCode::Unsupported, "modules cannot be loaded here", {.file = std::string(name)}};
}

std::vector<std::string> moduleFiles(std::string_view) { return {}; }

#else

namespace {

/// Empty where the system does not tell.
std::string programFolder() {
  std::array<char, 4096> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0 || static_cast<std::size_t>(length) == path.size()) return {};
  const std::string_view program(path.data(), static_cast<std::size_t>(length));
  const std::size_t slash = program.rfind('/');
  return slash == std::string_view::npos ? std::string() : std::string(program.substr(0, slash));
}

}  // namespace

std::vector<std::string> moduleFiles(std::string_view name) {
  const std::string file = "lib" + std::string(name) + ".so";
  std::vector<std::string> out;
  if (const char* folder = std::getenv("DERM_MODULES"); folder != nullptr && *folder != '\0')
    out.push_back(std::string(folder) + "/" + file);
  if (const std::string folder = programFolder(); !folder.empty()) {
    out.push_back(folder + "/../" DERM_MODULE_FOLDER "/" + file);
    out.push_back(folder + "/" + file);
  }
  out.push_back(DERM_INSTALLED_MODULES "/" + file);
  out.push_back(file);
  return out;
}

Result<void*> loadModuleFunction(std::string_view name) {
  std::string reason;
  for (const std::string& file : moduleFiles(name)) {
    // A file that is there and cannot be loaded says more than those that are not there.
    const bool here = file.find('/') == std::string::npos || ::access(file.c_str(), F_OK) == 0;
    if (!here) continue;
    void* const module = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) {
      const char* const words = ::dlerror();
      if (reason.empty() && words != nullptr) reason = words;
      continue;
    }
    if (void* const function = ::dlsym(module, std::string(name).c_str())) return function;
    ::dlclose(module);
    if (reason.empty()) reason = file + " is no module of derm";
  }
  return Error{ErrorCode::Unsupported, "cannot be loaded: " + reason, {.file = std::string(name)}};
}

#endif

}  // namespace derm
