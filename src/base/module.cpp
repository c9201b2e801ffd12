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

Result<std::string> findModuleProgram(std::string_view name) {
  return Error{
      ErrorCode::Unsupported, "programs cannot be started here", {.file = std::string(name)}};
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

/// Where modules may lie, in the order in which they are looked for.
std::vector<std::string> moduleFolders() {
  std::vector<std::string> out;
  if (const char* folder = std::getenv("DERM_MODULES"); folder != nullptr && *folder != '\0')
    out.emplace_back(folder);
  if (const std::string folder = programFolder(); !folder.empty()) {
    out.push_back(folder + "/../" DERM_MODULE_FOLDER);
    out.push_back(folder);
  }
  out.emplace_back(DERM_INSTALLED_MODULES);
  return out;
}

}  // namespace

std::vector<std::string> moduleFiles(std::string_view name) {
  const std::string file = "lib" + std::string(name) + ".so";
  std::vector<std::string> out = moduleFolders();
  for (std::string& folder : out) folder += "/" + file;
  out.push_back(file);
  return out;
}

Result<std::string> findModuleProgram(std::string_view name) {
  std::string looked_in;
  for (const std::string& folder : moduleFolders()) {
    std::string file = folder + "/" + std::string(name);
    if (::access(file.c_str(), X_OK) == 0) return file;
    looked_in += (looked_in.empty() ? "" : ", ") + folder;
  }
  return Error{ErrorCode::Unsupported,
               "no such program in " + looked_in + "; DERM_MODULES names its folder",
               {.file = std::string(name)}};
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
