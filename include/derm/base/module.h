#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

namespace derm {

/// Optional parts of derm that need a heavy library are shared objects of their own, loaded by the
/// first call that needs them: a program that does not track films never waits for OpenCV's
/// libraries. A module exports one C function, named like its file; the room that owns the module
/// knows its type, and asks it for the version of the interface that both were compiled with.
///
/// A module is `lib<name>.so`, looked for in this order:
///   1. the folder that the environment's DERM_MODULES names;
///   2. `../lib/derm` as seen from the program (lib as CMAKE_INSTALL_LIBDIR has it), which fits the
///      build tree and what `cmake --install` makes alike;
///   3. the program's own folder;
///   4. where derm was to be installed when it was configured;
///   5. where the system's loader looks.
/// It stays loaded until the program ends. Safe to call from several threads.
///
/// Fails with Unsupported where it is nowhere, or cannot be loaded: the error has the loader's own
/// words, so a library that is missing on this machine is named. Without dlopen (WebAssembly) it
/// always fails.
Result<void*> loadModuleFunction(std::string_view name);

/// A program that does a dangerous part of the work in a process of its own lies where modules lie,
/// and is looked for in the same places but the last. Unsupported, with those places, where it is
/// nowhere.
Result<std::string> findModuleProgram(std::string_view name);

/// The files that loadModuleFunction() tries, in order; the last is a bare name.
std::vector<std::string> moduleFiles(std::string_view name);

}  // namespace derm
