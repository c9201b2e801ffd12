#include "derm/cast/cast.h"

#include <string>
#include <vector>

#include "derm/base/deferred.h"
#include "derm/base/nearest_name.h"
#include "derm/cast/heads.h"
#include "derm/cast/liquids.h"

#include "cast/head/head.h"
#include "cast/members.h"

// Makers have the namespace of what only they lead to: web/split.mjs knows it by that.
namespace derm::detail::cast {
namespace {

struct Maker {
  CastMember member;
  Character (*make)(const PictureEncoder& encode);
};

const Maker kMakers[] = {
    {{"cylinder", "the reference cylinder M627: 627 vertices, closed; bend, twist"},
     [](const PictureEncoder&) { return makeCylinder(CylinderKind::M627); }},
    {{"cylinder-m625", "the reference cylinder M625: collapsed end rings, closed only when welded"},
     [](const PictureEncoder&) { return makeCylinder(CylinderKind::M625); }},
    {{"cylinder-m258", "the reference cylinder M258: 16 x 16, closed"},
     [](const PictureEncoder&) { return makeCylinder(CylinderKind::M258); }},
    {{"arm", "upper arm, forearm with twist, hand with five fingers; flex, twist, wave"},
     [](const PictureEncoder&) { return makeArm(); }},
    {{"mushroom", "cap and foot, two joints; hop"},
     [](const PictureEncoder&) { return makeMushroom(); }},
    {{"wrist", "a baby's forearm and hand with a deep crease; flex"},
     [](const PictureEncoder&) { return makeWrist(); }},
    {{"trousers", "jeans on invisible legs; bend (knees), walk"},
     [](const PictureEncoder&) { return makeTrousers(); }},
    {{"cat", "five vertebrae, four legs, tail; run, jump, idle"},
     [](const PictureEncoder&) { return makeCat(); }},
    {{"woman", "a painted head: eyes, lids, lips, teeth, ears; six expressions, blinks, jaw"},
     [](const PictureEncoder& encode) { return makeHead(womanDesign(), encode); }},
    {{"man", "another one: stronger jaw and brow, short hair"},
     [](const PictureEncoder& encode) { return makeHead(manDesign(), encode); }},
    {{"toon", "a cartoon's: large eyes, small nose, red hair"},
     [](const PictureEncoder& encode) { return makeHead(toonDesign(), encode); }},
    {{"head-a", "a formula for an adult's face, with 28 feature points; for tests of faces"},
     [](const PictureEncoder&) { return makeSyntheticHead(syntheticHeadA()).value(); }},
    {{"head-b", "the same, longer and narrower, on another mesh"},
     [](const PictureEncoder&) { return makeSyntheticHead(syntheticHeadB()).value(); }},
    {{"head-c", "the same as a cartoon: wide, large eyes and mouth"},
     [](const PictureEncoder&) { return makeSyntheticHead(syntheticHeadC()).value(); }},
    {{"sphere", "a ball, for morphing"}, [](const PictureEncoder&) { return makeSphere(); }},
    {{"torus", "a ring, for morphing"}, [](const PictureEncoder&) { return makeTorus(); }},
    {{"six-blobs", "six point skeletons blended, for morphing"},
     [](const PictureEncoder&) { return makeSixBlobs(); }},
    {{"two-spheres", "two balls apart, what six blobs become"},
     [](const PictureEncoder&) { return makeTwoSpheres(); }},
    {{"screw", "a segment in twisted space, for morphing"},
     [](const PictureEncoder&) { return makeScrew(); }},
    {{"letter-d", "a letter D with round edges, for morphing"},
     [](const PictureEncoder&) { return makeLetterD(); }},
};

}  // namespace
}  // namespace derm::detail::cast

namespace derm {

std::span<const CastMember> castMembers() {
  static const std::vector<CastMember> members = [] {
    std::vector<CastMember> list;
    for (const detail::cast::Maker& m : detail::cast::kMakers) list.push_back(m.member);
    return list;
  }();
  return members;
}

Result<Character> makeCastMember(std::string_view name, const PictureEncoder& encode) {
  // The plain cylinder also answers to its number, as its variants do.
  const std::string_view wanted = name == "cylinder-m627" ? "cylinder" : name;
  std::vector<std::string> names;
  for (const detail::cast::Maker& m : detail::cast::kMakers) {
    names.emplace_back(m.member.name);
    if (m.member.name != wanted) continue;
    DERM_CHECK(needDeferred("the cast"));
    Character member = m.make(encode);
    member.import.declared_unit = "m";
    return member;
  }
  for (const CastMember& liquid : castLiquids())
    if (liquid.name == name)
      return Error{ErrorCode::BadArgument,
                   "is a liquid, not a character: `derm implicit particles` puts a skin on it",
                   {.file = "cast:" + std::string(name)}};
  return Error{ErrorCode::BadArgument,
               "no cast member is called \"" + std::string(name) + "\"" + didYouMean(name, names),
               {.file = "cast:" + std::string(name)}};
}

}  // namespace derm
