#include "io/import_answer.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

namespace derm::detail {
namespace {

constexpr std::uint64_t kMagic =
    0x31726577736e6164;  // also the first bytes: an answer that is whole

/// Writes what describe() lists.
class Writer {
 public:
  void bytes(const void* from, std::size_t count) {
    const auto* first = static_cast<const std::uint8_t*>(from);
    out_.insert(out_.end(), first, first + count);
  }
  template <class T>
  void number(const T& value) {
    bytes(&value, sizeof value);
  }
  void flag(const bool& value) { number(static_cast<std::uint8_t>(value)); }
  void text(const std::string& value) {
    number(static_cast<std::uint64_t>(value.size()));
    bytes(value.data(), value.size());
  }
  template <class T>
  void array(const std::vector<T>& values) {
    number(static_cast<std::uint64_t>(values.size()));
    bytes(static_cast<const void*>(values.data()), values.size() * sizeof(T));
  }
  template <class T>
  void list(const std::vector<T>& values) {
    number(static_cast<std::uint64_t>(values.size()));
    for (const T& value : values) describe(*this, value);
  }
  template <class T>
  void choice(const T& value, T) {
    number(static_cast<std::uint32_t>(value));
  }
  std::vector<std::uint8_t> take() && { return std::move(out_); }

 private:
  std::vector<std::uint8_t> out_;
};

/// Reads what describe() lists. After the first thing that is not there all is empty, good() false.
class Reader {
 public:
  explicit Reader(std::span<const std::uint8_t> bytes) : rest_(bytes) {}
  bool good() const { return good_; }
  bool atEnd() const { return rest_.empty(); }

  void bytes(void* to, std::size_t count) {
    if (count > rest_.size()) good_ = false;
    if (!good_ || count == 0) return;
    std::memcpy(to, rest_.data(), count);
    rest_ = rest_.subspan(count);
  }
  template <class T>
  void number(T& value) {
    bytes(&value, sizeof value);
  }
  void flag(bool& value) {
    std::uint8_t byte = 0;
    number(byte);
    value = byte != 0;
  }
  void text(std::string& value) {
    value.resize(count(1));
    bytes(value.data(), value.size());
  }
  template <class T>
  void array(std::vector<T>& values) {
    values.resize(count(sizeof(T)));
    bytes(static_cast<void*>(values.data()), values.size() * sizeof(T));
  }
  /// Grows as it is read, so that memory stays in proportion to the bytes that are there.
  template <class T>
  void list(std::vector<T>& values) {
    for (std::size_t left = count(1); left > 0 && good_; --left) {
      values.emplace_back();
      describe(*this, values.back());
    }
    if (!good_) values.clear();
  }
  template <class T>
  void choice(T& value, T last) {
    std::uint32_t read = 0;
    number(read);
    if (read > static_cast<std::uint32_t>(last)) good_ = false;
    if (good_) value = static_cast<T>(read);
  }

 private:
  /// A number of entries of at least `size` bytes; 0 where they cannot all be there.
  std::size_t count(std::size_t size) {
    std::uint64_t value = 0;
    number(value);
    if (value > rest_.size() / size) good_ = false;
    return good_ ? static_cast<std::size_t>(value) : 0;
  }
  std::span<const std::uint8_t> rest_;
  bool good_ = true;
};

// One description for both ways. T is const for a Writer.

template <class T, class U>
concept Of = std::is_same_v<std::remove_const_t<T>, U>;

template <class A, Of<Joint> T>
void describe(A& a, T& joint) {
  a.text(joint.name);
  a.number(joint.parent.value);
  a.number(joint.rest.translation);
  a.number(joint.rest.rotation);
  a.number(joint.rest.scale);
}

template <class A, Of<SkinSlot> T>
void describe(A& a, T& slot) {
  a.number(slot.joint.value);
  a.number(slot.inverse_bind);
}

template <class A, Of<Track> T>
void describe(A& a, T& track) {
  a.choice(track.channel, Channel::Control);
  a.choice(track.interpolation, Interpolation::Cubic);
  a.number(track.joint.value);
  a.number(track.first_morph);
  a.number(track.morph_count);
  a.array(track.times_s);
  a.array(track.values);
}

template <class A, Of<Clip> T>
void describe(A& a, T& clip) {
  a.text(clip.name);
  a.list(clip.tracks);
}

template <class A, Of<MorphTarget> T>
void describe(A& a, T& morph) {
  a.text(morph.name);
  a.number(morph.default_weight);
  a.array(morph.vertices);
  a.array(morph.positions);
  a.array(morph.normals);
  a.array(morph.tangents);
}

template <class A, Of<MeshPart> T>
void describe(A& a, T& part) {
  a.text(part.name);
  a.number(part.first_triangle);
  a.number(part.triangle_count);
  a.number(part.first_vertex);
  a.number(part.vertex_count);
  a.number(part.material);
}

template <class A, Of<MeshInstance> T>
void describe(A& a, T& instance) {
  a.text(instance.name);
  a.number(instance.joint.value);
  a.flag(instance.rigid);
  a.number(instance.first_part);
  a.number(instance.part_count);
  a.number(instance.first_vertex);
  a.number(instance.vertex_count);
  a.number(instance.first_morph);
  a.number(instance.morph_count);
}

template <class A, Of<Material> T>
void describe(A& a, T& material) {
  a.text(material.name);
  a.number(material.base_colour);
  a.number(material.base_colour_image);
  a.number(material.normal_image);
  a.number(material.metallic);
  a.number(material.roughness);
  a.flag(material.double_sided);
  a.flag(material.transparent);
}

template <class A, Of<Image> T>
void describe(A& a, T& image) {
  a.text(image.name);
  a.text(image.mime_type);
  a.text(image.uri);
  a.array(image.bytes);
}

template <class A, Of<Diagnostics::Note> T>
void describe(A& a, T& note) {
  a.choice(note.severity, Severity::Warning);
  a.text(note.kind);
  a.text(note.element);
  a.text(note.message);
  a.number(note.count);
  a.array(note.first_indices);
}

template <class A, Of<Error> T>
void describe(A& a, T& error) {
  a.choice(error.code, ErrorCode::Cancelled);
  a.text(error.message);
  a.text(error.where.file);
  a.text(error.where.element);
}

template <class A, Of<Character> T>
void describe(A& a, T& character) {
  a.text(character.name);
  a.array(character.mesh.positions);
  a.array(character.mesh.normals);
  a.array(character.mesh.uvs);
  a.array(character.mesh.colours);
  a.array(character.mesh.triangles);
  a.list(character.instances);
  a.list(character.parts);
  a.list(character.morphs);
  a.list(character.skeleton.joints);
  a.list(character.skin.slots);
  a.array(character.skin.offsets);
  a.array(character.skin.influences);
  a.list(character.clips);
  a.list(character.materials);
  a.list(character.images);
  a.text(character.import.format);
  a.text(character.import.declared_unit);
  a.number(character.import.metres_per_unit);
  a.text(character.import.up_axis);
  a.text(character.import.generator);
}

}  // namespace

std::vector<std::uint8_t> encodeAnswer(const Result<Character>& character,
                                       const Diagnostics& notes) {
  Writer out;
  out.number(kMagic);
  out.list(notes.notes());
  out.flag(character.ok());
  if (character.ok()) {
    describe(out, *character);
  } else {
    describe(out, character.error());
    out.flag(character.error().where.index.has_value());
    out.number(character.error().where.index.value_or(0));
  }
  return std::move(out).take();
}

Result<Character> decodeAnswer(std::span<const std::uint8_t> bytes, std::string_view name,
                               std::uint64_t max_notes, Diagnostics& notes) {
  const Error unreadable{ErrorCode::BadData,
                         "assimp went wrong on it: what it gave cannot be read",
                         {.file = std::string(name)}};
  Reader in(bytes);
  std::uint64_t magic = 0;
  in.number(magic);
  if (magic != kMagic) return unreadable;
  std::vector<Diagnostics::Note> list;
  in.list(list);
  bool ok = false;
  in.flag(ok);
  if (!in.good()) return unreadable;
  for (const Diagnostics::Note& note : list) {
    const std::uint64_t count = std::min<std::uint64_t>(note.count, max_notes);
    for (std::uint64_t i = 0; i < count; ++i)
      notes.add(
          note.severity, note.kind, note.element, note.message,
          i < note.first_indices.size() ? std::optional(note.first_indices[i]) : std::nullopt);
  }
  if (!ok) {
    Error error;
    bool has_index = false;
    std::uint64_t index = 0;
    describe(in, error);
    in.flag(has_index);
    in.number(index);
    if (!in.good() || !in.atEnd()) return unreadable;
    error.where.file = name;
    if (has_index) error.where.index = index;
    return error;
  }
  Character character;
  describe(in, character);
  if (!in.good() || !in.atEnd()) return unreadable;
  DERM_CHECK(validate(character));
  return character;
}

}  // namespace derm::detail
