#include "derm/base/diagnostics.h"

#include <algorithm>

namespace derm {
namespace {

/// Something odd may be met from several sides; one place is named once.
void keepIndex(std::vector<std::uint64_t>& kept, std::uint64_t index) {
  if (kept.size() < Diagnostics::kKeptIndices &&
      std::find(kept.begin(), kept.end(), index) == kept.end())
    kept.push_back(index);
}

}  // namespace

std::string Diagnostics::Note::text() const {
  std::string out = element.empty() ? message : element + ": " + message;
  if (count <= 1 && first_indices.empty()) return out;
  out += " (";
  if (count > 1) out += std::to_string(count) + " times";
  if (!first_indices.empty()) {
    if (count > 1) out += "; first ";
    out += "at ";
    for (std::size_t i = 0; i < first_indices.size(); ++i) {
      if (i > 0) out += ", ";
      out += std::to_string(first_indices[i]);
    }
  }
  return out + ")";
}

Diagnostics::Note* Diagnostics::find(std::string_view kind, std::string_view element) {
  const auto it = std::find_if(notes_.begin(), notes_.end(), [&](const Note& n) {
    return n.kind == kind && n.element == element;
  });
  return it == notes_.end() ? nullptr : &*it;
}

void Diagnostics::add(Severity severity, std::string_view kind, std::string_view element,
                      std::string_view message, std::optional<std::uint64_t> index) {
  Note* note = find(kind, element);
  if (note == nullptr && notes_.size() >= kMaxKinds) {
    // The last slot gathers everything that found no room.
    note = &notes_.back();
    note->kind = "more";
    note->element.clear();
    note->message = "further notes of other kinds";
    note->first_indices.clear();
    ++note->count;
    return;
  }
  if (note == nullptr) {
    notes_.push_back(
        {severity, std::string(kind), std::string(element), std::string(message), 0, {}});
    note = &notes_.back();
  }
  ++note->count;
  if (index) keepIndex(note->first_indices, *index);
}

std::size_t Diagnostics::count(std::string_view kind) const {
  std::size_t sum = 0;
  for (const Note& n : notes_)
    if (n.kind == kind) sum += n.count;
  return sum;
}

void Diagnostics::merge(const Diagnostics& other) {
  for (const Note& n : other.notes_) {
    add(n.severity, n.kind, n.element, n.message);
    Note* mine = find(n.kind, n.element);
    if (mine == nullptr) continue;
    mine->count += n.count - 1;
    for (const std::uint64_t index : n.first_indices) keepIndex(mine->first_indices, index);
  }
}

}  // namespace derm
