#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "derm/math/vec.h"
#include "derm/mesh/winding_columns.h"

#include "contact/contact_body.h"
#include "contact/point_set.h"

/// Private to room contact: which skin is inside which, in one frame.
namespace derm::detail {

struct ContactFrame {
  std::span<const Affine3f> palette;
  std::span<const Vec3f> positions;  ///< of vertices
  float extra_gap = 0;               ///< [m] for finding what is in contact at rest
};

/// A vertex inside another part.
struct Contact {
  std::uint32_t point = 0;
  Triangle hit = {};
  Vec3f share = Vec3f::Zero();  ///< of the hit triangle's corners
  Vec3f away = Vec3f::Zero();   ///< from the point to the nearest one of the other skin, outwards
  Vec3f normal = Vec3f::Zero();
  float depth = 0;
  float territory = 0;  ///< how much the place belongs to the other part
};

/// Finds contacts. Holds the points of one character in one frame, which may be moved between two
/// searches, and the work space; nothing is kept from frame to frame.
class ContactSearch {
 public:
  explicit ContactSearch(const ContactBody& body);

  /// Takes a frame's points and what takes each part back to its rest.
  void takeUp(const ContactFrame& frame);
  std::vector<Vec3f>& points() { return x_; }
  const std::vector<Vec3f>& points() const { return x_; }
  /// How much longer everything is than at rest.
  float scale() const { return scale_; }
  float gapOf(std::uint32_t p) const {
    return std::min(scale_ * body_.lengths.gap, 0.05f * scale_ * body_.thickness[p]);
  }
  /// Area-weighted, averaged `level` times (at most twice); found when asked for, of the points as
  /// they are then. find() makes them anew, and so does refreshNormals().
  Vec3f normal(int level, std::uint32_t p);
  void refreshNormals() { ++normal_now_; }

  /// Contacts of the points as they are now, or of those of a set alone. False where there are more
  /// than there is room for.
  bool find(const PointSet* among);
  /// Leaves those contacts whose vertex, or what lies just before it, is inside the whole skin.
  void gate();
  std::span<const Contact> contacts() const { return contacts_; }

 private:
  struct Box {
    Vec3f low, high;
    bool used = false;
  };
  /// Some points of a part.
  struct Run {
    Vec3f low, high;
    std::uint32_t part = 0, first = 0, last = 0;  ///< of seekers_
  };

  void findBoxes();
  void gatherSeekers(const PointSet* among);
  bool lookAt(std::uint32_t point, std::uint32_t part, Contact& out);
  float ownError(std::uint32_t entry, std::uint32_t point, std::uint32_t part);
  std::uint32_t walk(std::uint32_t from, const Vec3f& to) const;
  void completeApexes();

  const ContactBody& body_;
  float scale_ = 1, extra_gap_ = 0;
  std::vector<Vec3f> x_;
  std::vector<Affine3f> back_;  ///< per part: posed to rest
  std::vector<Box> boxes_;
  std::vector<std::uint32_t> seekers_;
  std::vector<Run> runs_;
  std::vector<float> own_error_;  ///< per entry of the body's weights; NaN = not known yet
  std::vector<Contact> contacts_;
  WindingColumns columns_;
  std::vector<std::uint32_t> column_of_point_;
  PointSet gated_;
  std::vector<Vec3f> normals_[3];
  std::vector<std::uint32_t> normal_stamp_[3];
  std::uint32_t normal_now_ = 0;
};

}  // namespace derm::detail
