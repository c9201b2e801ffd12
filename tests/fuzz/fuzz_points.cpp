#include <cstdint>

#include "derm/io/point_file.h"

#include "expect.h"

using namespace derm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics notes;
  const Result<std::vector<NamedPosition>> points = parsePointFile({data, size}, "fuzz", notes);
  if (!points.ok()) {
    fuzz::expectReadable(points.error());
    return 0;
  }
  const std::string text = pointFileText(*points);
  const Result<std::vector<NamedPosition>> again = parsePointFile(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "again", notes);
  fuzz::expectOk(again, "what is written can be read");
  fuzz::expect(*again == *points, "what is written reads back the same");
  return 0;
}
