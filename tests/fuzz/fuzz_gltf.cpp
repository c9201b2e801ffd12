#include "round_trip.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  derm::fuzz::roundTripGltf({data, size});
  return 0;
}
