// derm-import: reads an FBX or DAE file with assimp in a process of its own, for parseWithAssimp().
//   derm-import NAME METRES_PER_UNIT MEMORY_BYTES ANSWER_BYTES PROCESSOR_SECONDS <file >answer
// Standard input is a file that can be mapped. METRES_PER_UNIT may be empty. The answer
// (io/import_answer.h) is whole where its first eight bytes are there; the exit code says nothing.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/assimp_reader.h"
#include "io/import_answer.h"
#include "io/text_scanner.h"

namespace derm::detail {
namespace {

constexpr int kBadArguments = 2;

bool writeAt(std::span<const std::uint8_t> bytes, std::size_t at) {
  while (!bytes.empty()) {
    const ssize_t done =
        ::pwrite(STDOUT_FILENO, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(done));
    at += static_cast<std::size_t>(done);
  }
  return true;
}

/// The first bytes last: they say that all others are there.
[[noreturn]] void answer(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kMark = 8;
  const bool written = writeAt(bytes.subspan(kMark), kMark) && writeAt(bytes.first(kMark), 0);
  ::_exit(written ? 0 : 1);  // nothing to tidy up: the process is all there is
}

/// Made beforehand, since there will be no memory to make it of.
std::vector<std::uint8_t> out_of_memory;

[[noreturn]] void onNoMemory() { answer(out_of_memory); }

void setLimit(decltype(RLIMIT_AS) what, std::uint64_t value) {
  const rlimit limit{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  if (::setrlimit(what, &limit) != 0) ::_exit(1);
}

/// [bytes] of address space that the program takes already; libraries are most of it.
std::uint64_t addressSpace() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

int run(std::span<char*> arguments) {
  std::int64_t memory_bytes = 0, answer_bytes = 0, processor_s = 0;
  ImportOptions options;
  if (arguments.size() != 5 || !text::parseInteger(arguments[2], memory_bytes) ||
      !text::parseInteger(arguments[3], answer_bytes) ||
      !text::parseInteger(arguments[4], processor_s))
    return kBadArguments;
  if (double metres = 0; *arguments[1] != '\0') {
    if (text::parseNumber(arguments[1], metres) != text::NumberKind::Finite) return kBadArguments;
    options.metres_per_unit = metres;
  }
  const std::string name(arguments[0]);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the answer of an orphan
  struct stat about {};
  if (::fstat(STDIN_FILENO, &about) != 0) return kBadArguments;
  const auto size = static_cast<std::size_t>(std::max<off_t>(0, about.st_size));
  const Diagnostics none;
  const auto tooLarge = [&](const std::string& what) {
    return encodeAnswer(
        Error{ErrorCode::BadData,
              "assimp cannot read it: " + what + ", which is the limit for a file of this size",
              {.file = name}},
        none);
  };
  const auto megabytes = [](std::int64_t bytes) { return std::to_string(bytes >> 20) + " MB"; };
  out_of_memory = tooLarge("it needs more memory than " + megabytes(memory_bytes));
  std::set_new_handler(onNoMemory);
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_CPU, static_cast<std::uint64_t>(processor_s));
  setLimit(RLIMIT_FSIZE, static_cast<std::uint64_t>(answer_bytes));
  setLimit(RLIMIT_AS, addressSpace() + static_cast<std::uint64_t>(memory_bytes));
  setLimit(RLIMIT_NOFILE, 0);  // whatever the file says, no other one is opened
  std::span<const std::uint8_t> bytes;
  if (size > 0) {
    void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
    if (at == MAP_FAILED) onNoMemory();
    bytes = {static_cast<const std::uint8_t*>(at), size};
  }
  Diagnostics notes;
  const Result<Character> character = readWithAssimp(bytes, name, options, notes);
  const std::vector<std::uint8_t> out = encodeAnswer(character, notes);
  if (out.size() > static_cast<std::size_t>(answer_bytes))
    answer(tooLarge("what is in it takes more than " + megabytes(answer_bytes)));
  answer(out);
}

}  // namespace
}  // namespace derm::detail

int main(int argc, char** argv) {
  return derm::detail::run(std::span(argv + 1, static_cast<std::size_t>(std::max(argc - 1, 0))));
}
