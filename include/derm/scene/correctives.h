#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/character/character.h"
#include "derm/deform/surface_streams.h"

namespace derm {

/// How many corrective shapes: a number, or as few as keep an error bound. Neither: all of them.
struct CorrectivesDesc {
  std::optional<std::size_t> shapes = {};  ///< >= 1; fewer where the motion has fewer
  /// [m] > 0: the largest distance, over all vertices and frames, between the posed result and what
  /// was baked
  std::optional<double> error_m = {};
};

/// Shapes and their weights over the frames. Every shape is scaled so that its largest weight is 1.
/// Weights lie in [0,1], since many programs cut others off; the last shape may be one that always
/// has weight 1 and makes up for that.
struct Correctives {
  struct Shape {
    std::vector<std::uint32_t> vertices;  ///< sorted
    std::vector<Vec3f> positions;         ///< [m] in bind space, one per entry of `vertices`
    std::vector<Vec3f> normals;           ///< the same for normals; empty where there are none
  };
  std::vector<Shape> shapes;   ///< the one with the most energy first
  std::vector<float> weights;  ///< frames x shapes
  std::size_t frame_count = 0;
  bool unit_weights = true;       ///< false: a single shape whose weight is negative at times
  double max_error_m = 0;         ///< [m] posed, over all vertices and frames
  double rms_error_m = 0;         ///< [m] the same, root of the mean square
  std::size_t near_singular = 0;  ///< vertices x frames whose blended matrix had no safe inverse

  float weight(std::size_t frame, std::size_t shape) const {
    return weights[frame * shapes.size() + shape];
  }
};

/// Turns what layers add to a skinned character into morph targets that any engine can play.
///
/// An engine shows M (m + sum w_k s_k) with M the vertex's blended linear skinning matrix and m the
/// rest position with the character's own morphs. What a frame adds to plain linear skinning, d, is
/// therefore moved to bind space as delta = L^-1 d (L the linear part of M), and the matrix of all
/// deltas (3 vertices x frames) is cut to its largest singular vectors. The decomposition goes
/// through the frames x frames Gram matrix in double; all shapes together reproduce every frame to
/// rounding. Where L has a singular value below 1/50 of its largest (a limb twisted by half a
/// turn), no finite shape does what is asked: such directions are damped, counted, and show in the
/// error.
///
/// Normals are fitted to the same weights by least squares, as engines skin them (by L).
///
/// Memory 48 bytes per vertex and frame; time O(vertices x frames^2). Deterministic for any number
/// of threads. Not thread-safe.
class CorrectiveFitter {
 public:
  static constexpr std::size_t kMostFrames = 4096;

  /// Fails where the frames are too many, or would take more than 4 GiB. Without a skin the deltas
  /// are the displacements themselves.
  static Result<CorrectiveFitter> make(std::shared_ptr<const Character> character,
                                       std::size_t frame_count);
  CorrectiveFitter(CorrectiveFitter&&) noexcept;
  CorrectiveFitter& operator=(CorrectiveFitter&&) noexcept;
  ~CorrectiveFitter();

  /// One frame: the skinning matrices of its pose, the surface wanted, the surface that plain
  /// linear skinning gives, and the normals before skinning (rest and morphs; may be empty).
  struct Frame {
    std::span<const Affine3f> palette;
    SurfaceStreams wanted;
    SurfaceStreams plain;
    std::span<const Vec3f> unskinned_normals;
  };
  void addFrame(const Frame& frame);
  /// What a frame added to plain linear skinning. [m]
  std::span<const Vec3f> displacement(std::size_t frame) const;

  /// Requires that all frames were added. Fails where the error bound cannot be kept, and names the
  /// best that can.
  Result<Correctives> fit(const CorrectivesDesc& desc, const Progress& progress) const;

 private:
  struct Data;
  struct Search;
  explicit CorrectiveFitter(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// The character with the shapes as further morph targets ("derm 1", …), one set per mesh instance
/// that moves, and their weights added to the clip at `times_s` (linear between frames; before the
/// first and after the last frame the end weights hold). Its own morphs, their weights and all else
/// stay. `clip` absent: the weights of the only frame become default weights. `loop_end_s`: where
/// the first frame's weights come again. Notes weight tracks that had to be resampled.
Character withCorrectives(const Character& character, const Correctives& correctives,
                          std::optional<std::size_t> clip, std::span<const double> times_s,
                          std::optional<double> loop_end_s, Diagnostics& notes);

}  // namespace derm
