#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "derm/cast/heads.h"
#include "derm/image/grey8_image.h"
#include "derm/math/rbf.h"
#include "derm/mesh/surface_point.h"
#include "derm/track/marker_tracker.h"

namespace derm::testing_support {

/// What a film of a marked head is like. Defaults: 640x480, 120 frames at 30 Hz, f = 820 px, the
/// camera 45 cm before the middle of head A, joy, surprise, anger and sadness one after the other,
/// the head turning by 4, 3 and 5 degrees and moving by 1 cm; noise, motion blur, light that
/// changes, and a hand before part of the face in 5 % of the frames.
struct MarkedFilmDesc {
  int width = 640;
  int height = 480;
  int frames = 120;
  double fps = 30;
  double focal_px = 820;
  double distance_cm = 45;
  double noise = 2;      ///< grey levels, standard deviation
  double shutter = 0.5;  ///< of a frame's time
  double light = 0.25;   ///< share by which it changes
  double motion = 1;     ///< of the head; 0 = it stays
  bool hand = true;
  bool blinks = false;  ///< two more expressions at the end: the eyes close
  double dot_cm = 0.2;  ///< radius
  /// Stickers, round however the skin stretches; else painted on the skin, which is harder: where
  /// lids meet, a painted dot is folded and its middle is not what it was.
  bool stickers = false;
  std::uint64_t seed = 1;
};

/// A film drawn triangle by triangle, so that where every marker is, and whether it shows, is known
/// exactly: the truth that trackers are measured by.
class MarkedFilm {
 public:
  explicit MarkedFilm(const MarkedFilmDesc& desc = {});

  const MarkedFilmDesc& desc() const { return desc_; }
  const std::vector<std::string>& labels() const { return labels_; }
  double time(int frame) const { return frame / desc_.fps; }

  struct Truth {
    std::vector<Vec3d> picture;         ///< [px] per marker
    std::vector<Vec3d> face;            ///< [m] in the head's own frame
    std::vector<std::uint8_t> visible;  ///< towards the camera, no part of the dot behind the hand
    std::vector<std::uint8_t> covered;  ///< by the hand, its middle at least
  };
  Truth truth(int frame) const;
  Grey8Image picture(int frame) const;

  /// Markers of the first frame.
  std::vector<Marker> markers() const;
  /// [m] the face at rest.
  std::vector<Marker> face() const;
  const Character& head() const { return head_; }
  const SyntheticHeadShape& shape() const { return shape_; }

 private:
  struct Instant {
    std::vector<Vec3f> face;    ///< [m] vertices in the head's frame
    std::vector<Vec3f> camera;  ///< before the camera (x right, y down, z away)
  };
  Instant instant(double frame) const;
  Vec3d toPicture(const Vec3d& camera) const;
  double handDistance(double frame, double x, double y) const;
  void draw(double frame, double jitter_x, double jitter_y, std::vector<float>& sum) const;

  MarkedFilmDesc desc_;
  SyntheticHeadShape shape_;
  Character head_;
  std::vector<std::string> labels_;
  std::vector<SurfacePoint> markers_;
  std::vector<std::vector<std::uint32_t>> near_;  ///< markers whose dot may be on a triangle
  std::vector<std::vector<Vec3f>> shapes_;        ///< displacements of vertices, per expression
  std::vector<float> texture_;
  std::vector<float> noise_;
};

}  // namespace derm::testing_support
