#include "derm/cast/cast.h"

#include <string>
#include <vector>

#include "derm/base/nearest_name.h"
#include "derm/cast/heads.h"
#include "derm/cast/liquids.h"

#include "cast/members.h"

namespace derm {
namespace {

struct Maker {
  CastMember member;
  Character (*make)();
};

const Maker kMakers[] = {
    {{"cylinder", "the reference cylinder M627: 627 vertices, closed; bend, twist"},
     [] { return detail::cast::makeCylinder(CylinderKind::M627); }},
    {{"cylinder-m625", "the reference cylinder M625: collapsed end rings, closed only when welded"},
     [] { return detail::cast::makeCylinder(CylinderKind::M625); }},
    {{"cylinder-m258", "the reference cylinder M258: 16 x 16, closed"},
     [] { return detail::cast::makeCylinder(CylinderKind::M258); }},
    {{"arm", "upper arm, forearm with twist, hand with five fingers; flex, twist, wave"},
     detail::cast::makeArm},
    {{"mushroom", "cap and foot, two joints; hop"}, detail::cast::makeMushroom},
    {{"wrist", "a baby's forearm and hand with a deep crease; flex"}, detail::cast::makeWrist},
    {{"trousers", "jeans on invisible legs; bend (knees), walk"}, detail::cast::makeTrousers},
    {{"cat", "five vertebrae, four legs, tail; run, jump, idle"}, detail::cast::makeCat},
    {{"head-a", "a formula for an adult's face, with 28 feature points; for tests of faces"},
     [] { return makeSyntheticHead(syntheticHeadA()).value(); }},
    {{"head-b", "the same, longer and narrower, on another mesh"},
     [] { return makeSyntheticHead(syntheticHeadB()).value(); }},
    {{"head-c", "the same as a cartoon: wide, large eyes and mouth"},
     [] { return makeSyntheticHead(syntheticHeadC()).value(); }},
    {{"sphere", "a ball, for morphing"}, detail::cast::makeSphere},
    {{"torus", "a ring, for morphing"}, detail::cast::makeTorus},
    {{"six-blobs", "six point skeletons blended, for morphing"}, detail::cast::makeSixBlobs},
    {{"two-spheres", "two balls apart, what six blobs become"}, detail::cast::makeTwoSpheres},
    {{"screw", "a segment in twisted space, for morphing"}, detail::cast::makeScrew},
    {{"letter-d", "a letter D with round edges, for morphing"}, detail::cast::makeLetterD},
};

}  // namespace

std::span<const CastMember> castMembers() {
  static const std::vector<CastMember> members = [] {
    std::vector<CastMember> list;
    for (const Maker& m : kMakers) list.push_back(m.member);
    return list;
  }();
  return members;
}

Result<Character> makeCastMember(std::string_view name) {
  // The plain cylinder also answers to its number, as its variants do.
  const std::string_view wanted = name == "cylinder-m627" ? "cylinder" : name;
  std::vector<std::string> names;
  for (const Maker& m : kMakers) {
    names.emplace_back(m.member.name);
    if (m.member.name != wanted) continue;
    Character member = m.make();
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
