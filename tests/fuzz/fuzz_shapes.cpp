#include <cstdint>

#include "derm/io/shape_tracks_file.h"

#include "expect.h"

using namespace derm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics notes;
  const Result<ShapeTracks> tracks = parseShapeTracks({data, size}, "fuzz", notes);
  if (!tracks.ok()) {
    fuzz::expectReadable(tracks.error());
    return 0;
  }
  fuzz::expectOk(validate(*tracks, "fuzz"), "what is read is valid");
  const std::string text = shapeTracksText(*tracks, ShapeTracksForm::Json, notes);
  for (const std::string& name : tracks->names)
    for (const char c : name)
      if (static_cast<unsigned char>(c) >= 0x80) return 0;  // CSV may hold any bytes, JSON not
  const Result<ShapeTracks> again = parseShapeTracks(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "again", notes);
  fuzz::expectOk(again, "what is written can be read");
  fuzz::expect(again->names == tracks->names && again->times_s == tracks->times_s &&
                   again->values == tracks->values && again->head.size() == tracks->head.size(),
               "what is written reads back the same");
  shapeTracksText(*tracks, ShapeTracksForm::LiveLink, notes);
  shapeTracksText(*tracks, ShapeTracksForm::Csv, notes);
  return 0;
}
