#include "io/limited_program.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <new>
#include <utility>

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/text_scanner.h"

namespace derm::detail {
namespace {

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

std::vector<std::uint8_t> out_of_memory_answer;

[[noreturn]] void onNoMemory() { answer({out_of_memory_answer}); }

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

}  // namespace

std::string ReaderArguments::tooLarge(std::string_view reader, const std::string& what) const {
  return std::string(reader) + " cannot read it: " + what +
         ", which is the limit for a file of this size";
}

std::string ReaderArguments::tooMuchMemory(std::string_view reader) const {
  return tooLarge(reader,
                  "it needs more memory than " + std::to_string(memory_bytes >> 20) + " MB");
}

std::optional<ReaderArguments> readerArguments(std::span<char*> arguments) {
  ReaderArguments out;
  if (arguments.size() != 5 || !text::parseInteger(arguments[2], out.memory_bytes) ||
      !text::parseInteger(arguments[3], out.answer_bytes) ||
      !text::parseInteger(arguments[4], out.processor_s))
    return std::nullopt;
  out.name = arguments[0];
  out.option = arguments[1];
  return out;
}

void enterLimits(const ReaderArguments& arguments, std::vector<std::uint8_t> out_of_memory) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody waits for the answer of an orphan
  out_of_memory_answer = std::move(out_of_memory);
  std::set_new_handler(onNoMemory);
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_CPU, static_cast<std::uint64_t>(arguments.processor_s));
  setLimit(RLIMIT_FSIZE, static_cast<std::uint64_t>(arguments.answer_bytes));
  setLimit(RLIMIT_AS, addressSpace() + static_cast<std::uint64_t>(arguments.memory_bytes));
}

void openNoMoreFiles() { setLimit(RLIMIT_NOFILE, 0); }

std::span<const std::uint8_t> readerInput() {
  struct stat about {};
  if (::fstat(STDIN_FILENO, &about) != 0) ::_exit(kBadArguments);
  const auto size = static_cast<std::size_t>(std::max<off_t>(0, about.st_size));
  if (size == 0) return {};
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, STDIN_FILENO, 0);
  if (at == MAP_FAILED) onNoMemory();
  return {static_cast<const std::uint8_t*>(at), size};
}

void answer(std::initializer_list<std::span<const std::uint8_t>> pieces) {
  constexpr std::size_t kMark = 8;
  const std::span<const std::uint8_t> mark = pieces.begin()->first(kMark);
  std::size_t at = kMark;
  bool written = true;
  for (std::span<const std::uint8_t> piece : pieces) {
    if (piece.data() == mark.data()) piece = piece.subspan(kMark);
    written = written && writeAt(piece, at);
    at += piece.size();
  }
  written = written && writeAt(mark, 0);
  ::_exit(written ? 0 : 1);
}

}  // namespace derm::detail
