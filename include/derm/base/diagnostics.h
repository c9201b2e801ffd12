#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace derm {

enum class Severity {
  Info,     ///< a decision worth knowing: "no unit declared, metres assumed"
  Warning,  ///< odd, repaired or ignored: "weights of 12 vertices did not sum to 1"
};

/// Collects what was odd but could be dealt with. Notes of one kind are counted together and only
/// the first few indices kept, so a million bad triangles make one line. Libraries never print;
/// the caller decides what to do with the list. Not thread-safe: fill it from one thread.
class Diagnostics {
 public:
  static constexpr std::size_t kKeptIndices = 8;
  /// Beyond this many kinds further ones are only counted, so that hostile input cannot grow us.
  static constexpr std::size_t kMaxKinds = 256;

  struct Note {
    Severity severity = Severity::Warning;
    std::string kind;     ///< stable, machine-readable: "weights-not-normalised"
    std::string element;  ///< what it concerns: "meshes[0].primitives[1]"
    std::string message;  ///< for people, the first one given of this kind and element
    std::size_t count = 0;
    std::vector<std::uint64_t> first_indices;

    /// "meshes[0]: weights did not sum to 1 (12 times; first at 3, 17, 20)"
    std::string text() const;
  };

  void add(Severity severity, std::string_view kind, std::string_view element,
           std::string_view message, std::optional<std::uint64_t> index = std::nullopt);
  void info(std::string_view kind, std::string_view element, std::string_view message,
            std::optional<std::uint64_t> index = std::nullopt) {
    add(Severity::Info, kind, element, message, index);
  }
  void warn(std::string_view kind, std::string_view element, std::string_view message,
            std::optional<std::uint64_t> index = std::nullopt) {
    add(Severity::Warning, kind, element, message, index);
  }

  const std::vector<Note>& notes() const { return notes_; }
  bool empty() const { return notes_.empty(); }
  /// How often a kind was noted, over all elements.
  std::size_t count(std::string_view kind) const;
  /// Adds all of another list's notes.
  void merge(const Diagnostics& other);

 private:
  Note* find(std::string_view kind, std::string_view element);
  std::vector<Note> notes_;
};

}  // namespace derm
