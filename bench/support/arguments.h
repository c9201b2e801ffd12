#pragma once

#include <span>
#include <string>
#include <vector>

namespace derm::bench_support {

/// A program's arguments with options of ours before them, which the command line may override.
/// Points into all of its inputs; ends with a null as argv does.
inline std::vector<char*> withDefaults(std::span<std::string> defaults, int argc, char** argv) {
  std::vector<char*> arguments = {argv[0]};
  for (std::string& option : defaults) arguments.push_back(option.data());
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  arguments.push_back(nullptr);
  return arguments;
}

}  // namespace derm::bench_support
