#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "derm/base/result.h"

namespace derm::detail::ply {

enum class Format { Ascii, BinaryLittle, BinaryBig };
enum class Scalar { Int8, UInt8, Int16, UInt16, Int32, UInt32, Float32, Float64 };

std::size_t sizeOf(Scalar scalar);

struct Property {
  std::string name;
  Scalar type = Scalar::Float32;
  std::optional<Scalar> count_type;  ///< of a list
};

struct Element {
  std::string name;
  std::uint64_t count = 0;
  std::vector<Property> properties;
};

struct Header {
  Format format = Format::Ascii;
  std::vector<Element> elements;
  std::string_view body;       ///< what follows the header
  std::size_t body_start = 0;  ///< [bytes] from the start of the file
};

Result<Header> parseHeader(std::string_view bytes, std::string_view name);

/// Walks the values of a PLY body. Cheap to copy, so that a position can be returned to.
class Cursor {
 public:
  Cursor(Format format, std::string_view body, std::size_t body_start)
      : rest_(body), size_(body.size()), body_start_(body_start), format_(format) {}

  /// The next number; false where the data ends or holds something else.
  bool next(Scalar type, double& value);
  /// Offset in the file.
  std::size_t byte() const { return body_start_ + size_ - rest_.size(); }
  bool atEnd() const { return rest_.empty(); }
  /// Could `count` instances of the element fit into what is left? (Lists are counted as empty.)
  bool hasRoomFor(const Element& element) const;

 private:
  std::string_view rest_;
  std::size_t size_;
  std::size_t body_start_;
  Format format_;
};

}  // namespace derm::detail::ply
