#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/winding_columns.h"

#include "contact/contact_body.h"

/// Private to room contact: one frame.
namespace derm::detail {

/// A set of points with a list, cheap to clear.
class PointSet {
 public:
  explicit PointSet(std::size_t count) : stamp_(count, 0) { list_.reserve(count); }
  void clear() {
    list_.clear();
    if (++now_ == 0) {
      std::fill(stamp_.begin(), stamp_.end(), 0u);
      now_ = 1;
    }
  }
  bool has(std::uint32_t p) const { return stamp_[p] == now_; }
  void add(std::uint32_t p) {
    if (has(p)) return;
    stamp_[p] = now_;
    list_.push_back(p);
  }
  std::span<const std::uint32_t> list() const { return list_; }
  bool empty() const { return list_.empty(); }
  void sort();

 private:
  std::vector<std::uint32_t> stamp_, list_;
  std::uint32_t now_ = 1;
};

/// Moves skin out of skin. Holds the work space of one character; nothing is kept from frame to
/// frame. Runs in the caller's thread, and so gives the same bits for any number of them.
class ContactSolver {
 public:
  explicit ContactSolver(const ContactBody& body);

  struct Frame {
    std::span<const Affine3f> palette;
    std::span<const Vec3f> positions;  ///< of vertices
    float extra_gap = 0;               ///< [m] for finding what is in contact at rest
  };
  /// Finds where points go. Allocation-free but for lists that reach their final size.
  const ContactReport& solve(const Frame& frame) noexcept;
  /// After solve(): points that moved, sorted, and by how much.
  std::span<const std::uint32_t> moved() const { return moved_.list(); }
  Vec3f moveOf(std::uint32_t p) const { return x_[p] - input_[p]; }
  /// After solve(): [0,1] how much each point of held() is held.
  std::span<const std::uint32_t> held() const { return held_.list(); }
  float heldOf(std::uint32_t p) const { return hold_[p]; }

 private:
  /// A vertex inside another part.
  struct Contact {
    std::uint32_t point = 0;
    Triangle hit = {};
    Vec3f share = Vec3f::Zero();  ///< of the hit triangle's corners
    Vec3f away = Vec3f::Zero();   ///< from the point to the nearest one of the other skin
    Vec3f normal = Vec3f::Zero();
    float depth = 0;
    float territory = 0;
  };
  struct Box {
    Vec3f low, high;
    bool used = false;
  };

  void takeUp(const Frame& frame);
  void findBoxes();
  void findContacts(bool only_active, float extra_gap);
  bool lookAt(std::uint32_t point, std::uint32_t part, float extra_gap, Contact& out);
  float ownError(std::uint32_t entry, std::uint32_t point, std::uint32_t part);
  std::uint32_t walk(std::uint32_t from, const Vec3f& to) const;
  void gate(float extra_gap);
  void pushApart();
  void cutSpikes();
  void spread();
  void soften();
  void guard();
  void apply();
  void retreat();
  float yieldOf(const Contact& c) const;
  void findHeld();
  float gapOf(std::uint32_t p) const {
    return std::min(scale_ * body_.lengths.gap, 0.05f * scale_ * body_.thickness[p]);
  }
  float capOf(std::uint32_t p) const {
    return scale_ *
           std::min(static_cast<float>(body_.max_move) * body_.thickness[p], body_.lengths.max_cap);
  }
  Vec3f normal(int level, std::uint32_t p);
  void completeApexes();
  void push(std::uint32_t p, const Vec3f& step, float weight);

  const ContactBody& body_;
  ContactReport report_;
  float scale_ = 1;
  std::vector<Vec3f> x_, input_;
  std::vector<Affine3f> back_;  ///< per part: posed to rest
  std::vector<Box> boxes_;
  std::vector<float> own_error_;  ///< per entry of the body's weights; NaN = not known yet
  std::vector<Contact> contacts_;
  WindingColumns columns_;
  std::vector<std::uint32_t> column_of_point_;
  std::vector<Vec3f> normals_[3];
  std::vector<std::uint32_t> normal_stamp_[3];
  std::uint32_t normal_now_ = 0;
  std::vector<Vec3f> d_, next_, first_;
  std::vector<float> weight_;
  PointSet touched_, spread_, ring_, active_, moved_, held_, gated_;
  std::vector<std::uint32_t> triangle_stamp_, triangle_list_;
  std::uint32_t triangle_now_ = 0;
  std::vector<Vec3f> pull_;
  std::vector<std::uint32_t> pulls_;
  std::vector<float> hold_, hold_next_;
};

}  // namespace derm::detail
