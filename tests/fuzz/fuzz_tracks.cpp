#include <cstdint>
#include <string_view>

#include "derm/io/point_tracks_file.h"

#include "expect.h"

using namespace derm;

namespace {

bool same(const PointTracks& a, const PointTracks& b) {
  return a.space == b.space && a.labels == b.labels && a.neutral == b.neutral &&
         a.times_s == b.times_s && a.positions == b.positions && a.confidence == b.confidence &&
         a.head == b.head;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics notes;
  const bool json = size > 0 && data[0] == '{';
  const Result<PointTracks> tracks =
      json ? parsePointTracksJson({data, size}, "fuzz", notes)
           : parsePointTracksCsv({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!tracks.ok()) {
    fuzz::expectReadable(tracks.error());
    return 0;
  }
  fuzz::expectOk(validate(*tracks, "fuzz"), "what is read is valid");
  const Result<std::string> table = pointTracksCsv(*tracks);
  if (table.ok()) {
    const Result<PointTracks> again = parsePointTracksCsv(*table, "again");
    fuzz::expectOk(again, "a table that is written can be read");
    fuzz::expect(same(*again, *tracks), "a table reads back the same");
  } else {
    fuzz::expect(json, "what came from a table can be one");
    fuzz::expectReadable(table.error());
  }
  if (!json) return 0;
  const std::string text = pointTracksJson(*tracks);
  const Result<PointTracks> again = parsePointTracksJson(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "again", notes);
  fuzz::expectOk(again, "a document that is written can be read");
  fuzz::expect(same(*again, *tracks), "a document reads back the same");
  return 0;
}
