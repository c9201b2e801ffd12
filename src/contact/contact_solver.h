#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/contact/contact_layer.h"
#include "derm/math/vec.h"

#include "contact/contact_body.h"
#include "contact/contact_field.h"
#include "contact/contact_search.h"
#include "contact/crease_rounding.h"
#include "contact/point_set.h"

/// Private to room contact: one frame.
namespace derm::detail {

/// Moves skin out of skin. Holds the work space of one character; nothing is kept from frame to
/// frame. Runs in the caller's thread, and so gives the same bits for any number of them.
class ContactSolver {
 public:
  explicit ContactSolver(const ContactBody& body);

  /// Finds where points go. Allocation-free but for lists that reach their final size.
  const ContactReport& solve(const ContactFrame& frame) noexcept;
  /// After solve(): points that moved, sorted, and by how much.
  std::span<const std::uint32_t> moved() const { return moved_.list(); }
  Vec3f moveOf(std::uint32_t p) const { return search_.points()[p] - input_[p]; }
  /// After solve(): [0,1] how much each point of held() is held.
  std::span<const std::uint32_t> held() const { return held_.list(); }
  float heldOf(std::uint32_t p) const { return hold_[p]; }

 private:
  void pushApart();
  void wishApart();
  void guard();
  void apply();
  void pullTogether(const Triangle& corners, const Vec3f& way, float urge);
  void unfold();
  void giveUp();
  void openCreases();
  void findHeld();
  float yieldOf(const Contact& c) const;
  float capOf(std::uint32_t p) const {
    return search_.scale() *
           std::min(static_cast<float>(body_.max_move) * body_.thickness[p], body_.lengths.max_cap);
  }
  float unit() const { return search_.scale() * body_.lengths.unit; }
  void clearTriangles();
  void addTriangles(std::uint32_t around);

  const ContactBody& body_;
  ContactSearch search_;
  ContactField field_;
  CreaseRounding creases_;
  ContactReport report_;
  std::vector<Vec3f> input_;
  PointSet active_, moved_, held_, ring_;
  std::vector<std::uint32_t> triangle_stamp_, triangle_list_;
  std::uint32_t triangle_now_ = 0;
  std::vector<Vec3f> pull_;
  std::vector<float> pulls_, most_;
  std::vector<float> kept_;  ///< [0,1] of each moved point's way
  std::vector<float> hold_, hold_next_, least_hold_;
};

}  // namespace derm::detail
