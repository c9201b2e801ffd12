// What a game asks of a liquid: is this point in it, how deep, which way is out? The answer takes
// the same time however large the skin is, since it looks at the eight lattice nodes around the
// point.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "derm/base/rng.h"
#include "derm/implicit/active_skin.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/shape_targets.h"

int main() {
  using Clock = std::chrono::steady_clock;
  const derm::BlobTarget from = derm::sixBlobs(), to = derm::twoBlobs();
  for (const double voxel_m : {0.04, 0.01}) {
    derm::Result<derm::Potential> start = derm::buildPotential(from, {.voxel_m = voxel_m});
    if (!start) return EXIT_FAILURE;
    derm::Result<derm::ActiveSkin> skin =
        derm::ActiveSkin::make(*std::move(start), {.attraction = 2, .tension = 0.01});
    if (!skin || !skin->advance(to, 0.2)) return EXIT_FAILURE;  // it moves as you play

    // A swarm of small balls: those that are in the liquid are pushed out of it.
    constexpr double kBall_m = 0.02;
    derm::Rng random(1);
    std::vector<derm::Vec3d> balls;
    for (int i = 0; i < 200000; ++i)
      balls.emplace_back(random.uniform(-1, 1), random.uniform(-0.5, 0.5),
                         random.uniform(-0.5, 0.5));
    int touched = 0;
    const Clock::time_point begin = Clock::now();
    for (derm::Vec3d& ball : balls) {
      const derm::ContactSample touch = skin->potential().contactAt(ball);
      const double overlap_m = touch.depth_m + kBall_m;  // depth is negative outside
      if (overlap_m <= 0) continue;
      ball += overlap_m * touch.normal;
      ++touched;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("voxel %g m: %d of %zu balls touch the liquid, %.0f ns a question\n", voxel_m,
                touched, balls.size(), 1e9 * seconds / double(balls.size()));
    if (touched == 0) return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
