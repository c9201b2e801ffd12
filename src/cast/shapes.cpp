#include "derm/base/assert.h"
#include "derm/implicit/build_potential.h"
#include "derm/implicit/polygonise.h"
#include "derm/implicit/shape_targets.h"

#include "cast/members.h"

namespace derm::detail::cast {
namespace {

constexpr double kVoxel = 0.03;  // [m] for shapes about 2 m across

Character shaped(const Target& target) {
  Character c;
  const Result<Potential> potential = buildPotential(target, {.voxel_m = kVoxel});
  DERM_REQUIRE(potential.ok());  // our own shapes
  c.mesh = polygonised(*potential);
  c.import.format = "cast";
  mouldOfClay(c, Vec4f(0.62f, 0.565f, 0.52f, 1.0f));
  return c;
}

Character named(Character c, const char* name) {
  c.name = name;
  for (MeshInstance& i : c.instances) i.name = name;
  return c;
}

}  // namespace

Character makeSphere() { return named(shaped(SphereTarget(Vec3d::Zero(), 0.6)), "sphere"); }
Character makeTorus() { return named(shaped(TorusTarget(Vec3d::Zero(), 0.6, 0.24)), "torus"); }
Character makeSixBlobs() { return named(shaped(sixBlobs()), "six-blobs"); }
Character makeTwoSpheres() { return named(shaped(twoBlobs()), "two-spheres"); }
Character makeScrew() { return named(shaped(ScrewTarget({})), "screw"); }
Character makeLetterD() { return named(shaped(LetterDTarget(Vec3d::Zero(), 1.6)), "letter-d"); }

}  // namespace derm::detail::cast
