#pragma once

#include <array>
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
  /// [m] > 0: the largest distance, over all vertices, keys and instants between keys, between the
  /// posed result and what was baked
  std::optional<double> error_m = {};
};

/// Shapes and their weights over time. Every shape is scaled so that its largest weight is 1.
/// Weights lie in [0,1], since many programs cut others off; the last shape may be one that always
/// has weight 1 and makes up for that.
struct Correctives {
  struct Shape {
    std::vector<std::uint32_t> vertices;  ///< sorted
    std::vector<Vec3f> positions;         ///< [m] in bind space, one per entry of `vertices`
    std::vector<Vec3f> normals;           ///< the same for normals; empty where there are none
  };
  std::vector<Shape> shapes;    ///< the one with the most energy first
  std::vector<double> times_s;  ///< [s] of the keys, ascending within a clip
  /// Per key CorrectiveFitter::Frame::clip, ascending; empty = all keys are of clip 0.
  std::vector<std::size_t> clips;
  std::vector<float> weights;      ///< keys x shapes; linear in between
  bool unit_weights = true;        ///< false: a single shape whose weight is negative at times
  double max_error_m = 0;          ///< [m] posed, over all vertices and keys
  double rms_error_m = 0;          ///< [m] the same, root of the mean square
  double max_error_between_m = 0;  ///< [m] over all vertices and instants between keys
  std::size_t near_singular = 0;   ///< vertices x keys whose blended matrix had no safe inverse

  float weight(std::size_t key, std::size_t shape) const {
    return weights[key * shapes.size() + shape];
  }
};

/// Turns what layers add to a skinned character into morph targets that any engine can play.
///
/// An engine shows M (m + sum w_k s_k) with M the vertex's blended linear skinning matrix and m the
/// rest position with the character's own morphs. What a frame adds to plain linear skinning, d, is
/// therefore moved to bind space as delta = L^-1 d (L the linear part of M), and the matrix of all
/// deltas (3 vertices x keys) is cut to its largest singular vectors. The decomposition goes
/// through the keys x keys Gram matrix in double; all shapes together reproduce every key to
/// rounding. Where L has a singular value below 1/50 of its largest (a limb twisted by half a
/// turn), no finite shape does what is asked: such directions are damped, counted, and show in the
/// error.
///
/// Engines show instants between keys too, with weights linear in between. The fitter takes any
/// number of such instants as checks: they get no key, but count in the error.
///
/// Normals are fitted to the same weights by least squares, as engines skin them (by L).
///
/// Several clips share one set of shapes: every instant belongs to a clip, and nothing is
/// interpolated from one clip to another. Mesh instances that stay within the error bound as they
/// are (without a bound: within rounding) get no shapes.
///
/// Memory 48 bytes per vertex and instant; time O(vertices x keys^2). Deterministic for any number
/// of threads. Not thread-safe.
class CorrectiveFitter {
 public:
  static constexpr std::size_t kMaxKeys = 4096;

  /// Fails where the keys are too many, or would take more than 4 GiB. Without a skin the deltas
  /// are the displacements themselves.
  static Result<CorrectiveFitter> make(std::shared_ptr<const Character> character,
                                       std::size_t key_count);
  CorrectiveFitter(CorrectiveFitter&&) noexcept;
  CorrectiveFitter& operator=(CorrectiveFitter&&) noexcept;
  ~CorrectiveFitter();

  /// One instant: the skinning matrices of its pose, the surface wanted, the surface that plain
  /// linear skinning gives, and the normals before skinning (rest and morphs; may be empty).
  struct Frame {
    std::size_t clip = 0;  ///< any number; the same for all instants of one clip
    double time_s = 0;
    std::span<const Affine3f> palette;
    SurfaceStreams wanted;
    SurfaceStreams plain;
    std::span<const Vec3f> unskinned_normals;
  };
  /// Instants may come in any order; no two of a clip at the same time.
  void addKey(const Frame& frame);
  void addCheck(const Frame& frame);
  /// After the last key of the clip the weights go on to those of the first, reached at this time.
  void setLoopEnd(double time_s, std::size_t clip = 0);
  /// Whether so many instants more, all of them keys, stay within the limits.
  bool hasRoomFor(std::size_t more) const;

  /// The instants so far, in order of clip and time.
  std::size_t instantCount() const;
  std::size_t clipOf(std::size_t instant) const;
  double timeOf(std::size_t instant) const;
  bool isKey(std::size_t instant) const;
  /// What the layers added to plain linear skinning there. [m]
  std::span<const Vec3f> displacement(std::size_t instant) const;
  /// The keys on both sides, by their times; the instant itself where there is none (or it is a
  /// key).
  std::array<double, 2> gapAround(std::size_t instant) const;
  /// How far linear weights between these keys are off there with all the shapes in the world; at a
  /// key, what no shape can do about a collapsed joint. [m]
  double interpolationError(std::size_t instant) const;
  void turnIntoKey(std::size_t instant);

  /// Requires a key. A bound that cannot be kept gives all shapes, and the errors tell. Checks that
  /// no shapes can bring within 9/10 of the bound (see interpolationError) are left out of it.
  Result<Correctives> fit(const CorrectivesDesc& desc, const Progress& progress) const;

 private:
  struct Data;
  struct Search;
  explicit CorrectiveFitter(std::unique_ptr<Data> data);
  std::unique_ptr<Data> data_;
};

/// Where the weights of a fitted clip go.
struct CorrectedClip {
  std::size_t fitted = 0;                 ///< as in Correctives::clips
  std::size_t clip = 0;                   ///< of the character
  std::optional<double> loop_end_s = {};  ///< [s] where the first key's weights come again
};

/// The character with the shapes as further morph targets ("derm 1", …, counted on from those it
/// has), one set per mesh instance that moves, and their weights added to the clips (linear between
/// keys; before the first and after the last key the end weights hold). Its own morphs, their
/// weights and all else stay. No clips: the weights of the only key become default weights. Notes
/// weight tracks that had to be resampled.
Character withCorrectives(const Character& character, const Correctives& correctives,
                          std::span<const CorrectedClip> clips, Diagnostics& notes);
/// The same for correctives of one clip, or of none.
Character withCorrectives(const Character& character, const Correctives& correctives,
                          std::optional<std::size_t> clip, std::optional<double> loop_end_s,
                          Diagnostics& notes);

}  // namespace derm
