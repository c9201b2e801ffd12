#include <cstdint>

#include "derm/io/particle_file.h"

#include "expect.h"

using namespace derm;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Diagnostics notes;
  const Result<Particles> particles = parseParticles({data, size}, "fuzz", notes);
  if (!particles.ok()) {
    fuzz::expectReadable(particles.error());
    return 0;
  }
  fuzz::expectOk(validate(*particles, "fuzz"), "what is read is valid");
  return 0;
}
