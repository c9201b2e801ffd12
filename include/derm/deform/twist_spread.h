#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "derm/anim/skeleton.h"
#include "derm/anim/skin.h"

namespace derm {

/// Which bones spread the twist of the joint at their end along their skin.
enum class TwistRule {
  None,
  Forearms,  ///< from each elbow to its hand
};
inline constexpr std::array<std::pair<TwistRule, std::string_view>, 2> kTwistRuleNames = {{
    {TwistRule::None, "none"},
    {TwistRule::Forearms, "forearms"},
}};

/// One bone that spreads a twist: what turns about its axis at or before its end turns the skin
/// between its ends little by little, as the two bones of a forearm do, instead of all at once at
/// the wrist.
///
/// Method (own; docs/skinning.md): every joint on the axis turns by swing * twist against the one
/// above it. The twists are taken out of the joints' matrices, and the vertices, their centres and
/// directions are turned about the axis at rest, by the whole twist times
///     share_i = S_a(i) * max(clamp(<p_i - a, axis> / |b - a|, 0, 1), S_b(i))
/// with a, b the bone's ends and S_j the weights of joint j and all below it. What hangs on the
/// hand alone (share 1) moves exactly as before. Twist joints between a and b, in a row or side by
/// side, are taken into account with what they turn.
/// Limits: the twist is continuous while no joint turns by 180 degrees against the one above it.
struct TwistBone {
  JointId start;                 ///< a: the elbow
  JointId end;                   ///< b: the wrist
  Vec3d origin = Vec3d::Zero();  ///< [m] a at bind
  Vec3d axis = Vec3d::UnitX();   ///< of unit length, at bind
  double length_m = 0;           ///< |b - a|

  /// A slot below the start. Parents come before children.
  struct Member {
    std::uint32_t slot = 0;
    std::uint32_t parent = 0;  ///< the slot above it
    bool first = false;        ///< the slot above it is the start's, which keeps its twist
    bool on_axis = false;      ///< its twist against the slot above it is taken out
  };
  std::vector<Member> members;
  std::uint32_t end_slot = 0;
};

/// The bones of a rule. Forearms: from joints that are called hands or wrists up to the elbow;
/// where no joint is, those with three fingers or more and the bone above them. Bones whose ends
/// have no slot or are at one position are left out.
std::vector<TwistBone> findTwistBones(const Skeleton& skeleton, const Skin& skin, TwistRule rule);

/// Which bone twists each vertex, and how much.
struct TwistShares {
  static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
  std::vector<std::uint32_t> bone;  ///< per vertex: index of the bone, or kNone
  std::vector<float> share;         ///< per vertex, (0,1] where there is a bone
};
TwistShares twistShares(std::span<const TwistBone> bones, const Skeleton& skeleton,
                        const Skin& skin, std::span<const Vec3f> positions);

/// Takes a bone's twist out of a frame's skinning matrices, in place; gives the angle that its
/// vertices have to be turned by at rest, times their share [rad]. `removed` is work space, one
/// entry per slot. Matrices that are not finite count as the identity. Allocation-free.
double takeTwist(const TwistBone& bone, std::span<Affine3f> palette,
                 std::span<double> removed) noexcept;
/// The same in double.
double takeTwist(const TwistBone& bone, std::span<Affine3d> palette,
                 std::span<double> removed) noexcept;

}  // namespace derm
