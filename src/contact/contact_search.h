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
  /// Points of one group, other than 0, do not meet each other: find() passes over their contacts,
  /// and over parts that are all of it. One entry per point; empty = none are in any.
  void setGroups(std::vector<std::uint8_t> group_of_point);
  /// Takes contacts out that are not asked about, before gate() has to tell of each.
  template <class Wanted>
  void keepContacts(const Wanted& wanted) {
    std::erase_if(contacts_, [&](const Contact& c) { return !wanted(c); });
  }

 private:
  static constexpr std::size_t kRun = 24;  ///< points that are looked at or passed over together
  struct Box {
    Vec3f low, high;
  };
  /// Some points of a part, near each other at rest: numbers in columns, four points in a register.
  struct alignas(16) Run {
    float x[kRun], y[kRun], z[kRun];  ///< in this frame; not a number for points not looked at
    float rest_x[kRun], rest_y[kRun], rest_z[kRun], room[kRun];
    std::uint32_t points[kRun];
    std::uint32_t count = 0;
  };
  /// A part in this frame.
  struct PosedPart {
    bool used = false;
    Affine3f back;                             ///< posed to rest
    Eigen::Matrix3f extents;                   ///< absolute values of its linear part
    Box around;                                ///< its members and a margin
    std::uint32_t first_run = 0, end_run = 0;  ///< of its seekers
  };
  /// Boxes in columns: of parts, of runs.
  struct Boxes {
    std::vector<float> low[3], high[3];
    void resize(std::size_t count);
    void set(std::size_t i, const Box& box);
    Box at(std::size_t i) const;
    /// Numbers of those from `first` to `end` that meet a box, into `out`; how many.
    std::size_t meeting(const Box& box, std::size_t first, std::size_t end,
                        std::vector<std::uint32_t>& out) const;
  };

  void makeRuns();
  void findBoxes();
  void takeUpRuns(const PointSet* among);
  bool mayBeIn(const Box& box, std::uint32_t part, float& slack) const;
  std::uint32_t mayLandIn(const Run& run, std::uint32_t part, float slack) const;
  bool lookInto(const Run& run, std::uint32_t part, float slack);
  bool lookAt(std::uint32_t point, std::uint32_t part, Contact& out);
  float ownError(std::uint32_t entry, std::uint32_t point, std::uint32_t part);
  std::uint32_t walk(std::uint32_t from, const Vec3f& to) const;
  void completeApexes();

  const ContactBody& body_;
  float scale_ = 1, extra_gap_ = 0;
  std::vector<Vec3f> x_;
  std::vector<PosedPart> parts_;
  std::vector<Run> runs_;  ///< of all that seek contact, part by part
  Boxes seeking_;          ///< per part: around its runs
  Boxes run_boxes_;
  std::vector<std::uint32_t> near_parts_, near_runs_;
  std::vector<std::uint8_t> group_of_point_, group_of_part_;  ///< 0 = in none
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
