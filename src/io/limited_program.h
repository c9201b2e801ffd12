#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Private to room io: what a reader does that is a program of its own (limited_process.h):
///   PROGRAM NAME OPTION MEMORY_BYTES ANSWER_BYTES PROCESSOR_SECONDS <file >answer
/// Standard input is a file that can be mapped. The answer is whole where its first eight bytes are
/// there; the exit code says nothing.
namespace derm::detail {

inline constexpr int kBadArguments = 2;

struct ReaderArguments {
  std::string name;
  std::string option;
  std::int64_t memory_bytes = 0;
  std::int64_t answer_bytes = 0;
  std::int64_t processor_s = 0;

  /// "READER cannot read it: WHAT, which is the limit for a file of this size".
  std::string tooLarge(std::string_view reader, const std::string& what) const;
  std::string tooMuchMemory(std::string_view reader) const;
};

/// Nothing where they are not those above.
std::optional<ReaderArguments> readerArguments(std::span<char*> arguments);

/// From here on the system holds the process to its limits; where memory runs out it ends with
/// `out_of_memory` for an answer, made beforehand, since there will be no memory to make it of.
void enterLimits(const ReaderArguments& arguments, std::vector<std::uint8_t> out_of_memory);

/// Nothing more can be opened: whatever the file says, no other one is read.
void openNoMoreFiles();

/// The file, mapped. Ends the process where that takes too much memory.
std::span<const std::uint8_t> readerInput();

/// Writes the answer, piece after piece, the first bytes of the first last: they say that all
/// others are there. Then ends the process: there is nothing to tidy up.
[[noreturn]] void answer(std::initializer_list<std::span<const std::uint8_t>> pieces);

}  // namespace derm::detail
