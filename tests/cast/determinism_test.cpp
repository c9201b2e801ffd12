#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "derm/base/hash.h"
#include "derm/base/parallel.h"
#include "derm/cast/cast.h"

namespace derm::determinism_test {
namespace {

std::uint64_t hashOf(const Character& c) {
  Hash64 hash;
  hash.addSpan(std::span<const Vec3f>(c.mesh.positions));
  hash.addSpan(std::span<const Vec3f>(c.mesh.normals));
  hash.addSpan(std::span<const Vec4f>(c.mesh.colours));
  hash.addSpan(std::span<const Triangle>(c.mesh.triangles));
  hash.addSpan(std::span<const Influence>(c.skin.influences));
  for (const MorphTarget& m : c.morphs) hash.addSpan(std::span<const Vec3f>(m.positions));
  for (const Image& image : c.images) hash.addSpan(std::span<const std::uint8_t>(image.bytes));
  for (const Clip& clip : c.clips)
    for (const Track& t : clip.tracks) {
      hash.addSpan(std::span<const float>(t.times_s));
      hash.addSpan(std::span<const float>(t.values));
    }
  return hash.value();
}

/// The pixels themselves.
std::vector<std::uint8_t> rawPicture(const Rgba8Image& picture) {
  std::vector<std::uint8_t> bytes;
  for (const Rgba8& p : picture.pixels) bytes.insert(bytes.end(), {p.r, p.g, p.b, p.a});
  return bytes;
}

class EveryMember : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Cast, EveryMember,
                         testing::Values("cylinder", "arm", "mushroom", "wrist", "trousers", "cat",
                                         "head-b"),
                         [](const auto& member) {
                           std::string name = member.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryMember, HasTheSameBytesWhateverTheThreadCount) {
  std::uint64_t one = 0, four = 0;
  {
    const ThreadLimit limit(1);
    one = hashOf(makeCastMember(GetParam(), rawPicture).value());
  }
  {
    const ThreadLimit limit(4);
    four = hashOf(makeCastMember(GetParam(), rawPicture).value());
  }
  EXPECT_EQ(one, four);
}

}  // namespace
}  // namespace derm::determinism_test
