#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "derm/base/diagnostics.h"
#include "derm/base/progress.h"
#include "derm/base/result.h"
#include "derm/face/photo_light.h"
#include "derm/image/float_image.h"
#include "derm/math/vec.h"

namespace derm {

/// A point of the face in a photo. [px] Continuous: the first pixel covers 0 to 1, y down.
struct PhotoLandmark {
  std::string label;
  Eigen::Matrix<double, 2, 1, Eigen::DontAlign> position = {0, 0};
};

/// One person, twice: at rest and with an expression, under one lamp and from one side. Pictures
/// are linear, with 1 to 4 channels of any size; colours become luminance, pixels with alpha below
/// one half are unknown.
struct PhotoPair {
  FloatImage neutral;
  FloatImage expression;
  std::vector<PhotoLandmark>
      neutral_landmarks;  ///< matched by label; none: photos lie on each other
  std::vector<PhotoLandmark> expression_landmarks;
  PhotoLight light;
};

/// What frontal light cannot tell and must be said: whether the skin folds in or out. Light from
/// the side shows it.
enum class FoldKind {
  Furrow,  ///< narrow and deep: forehead, crow's feet
  Bulge,   ///< narrow and raised
};

enum class DetailMethod {
  HeightFit,      ///< the height field that explains the ratio best; see acquireDetail()
  BlurDirection,  ///< tilt from the ratio, direction from its blurred gradient; frontal light only
  Thesis,         ///< Dutreve 2011, eq. 5.8, as printed: worse than no map for furrows
};

/// A part of the face with its own rule; of overlapping ones the last counts.
struct DetailZone {
  std::string name;
  std::vector<Vec2f> outline;        ///< [px] of the neutral photo; empty = everywhere
  FoldKind fold = FoldKind::Furrow;  ///< for frontal light
  /// The skin's mean normal there at rest: x to the picture's right, y up, z to the camera (the
  /// thesis's N_z). Cheeks look aside.
  Vec3d base_normal = Vec3d::UnitZ();
};

struct AcquisitionDesc {
  DetailMethod method = DetailMethod::HeightFit;
  /// One channel [0,1], as large as the first neutral photo: where detail is wanted. Empty: the
  /// zones' outlines, and without those wherever the surface has structure.
  FloatImage mask;
  std::vector<DetailZone> zones;
  /// Three channels, as large as the first neutral photo: the skin's normals at rest (a head mesh
  /// fitted to the photo), instead of the zones'. Zero = facing the camera. May be empty.
  FloatImage base_normals;
  bool align = true;          ///< dense alignment after the landmarks
  bool even_exposure = true;  ///< removes slow changes of brightness
  /// Pores and other grain without a common direction: full resolution whatever the noise, no
  /// stiffness along folds. Needs light from the side.
  bool fine_grain = false;
  /// Larger photos are reduced by a whole factor before anything else (counted inside the mask's
  /// bounds): time and memory are proportional to it.
  std::size_t max_pixels = 3'000'000;
  double blur_px = 8;  ///< [px] BlurDirection: 1.2 to 1.4 times a furrow's half width
};

/// Detail as slopes of a height over the photo's plane: what blends, moves to other textures and
/// becomes a normal map without loss.
struct SlopeMap {
  FloatImage slopes;    ///< two channels: dz/dx and dz/dy, y DOWN; times the mask
  FloatImage height;    ///< [px] one channel; empty for BlurDirection and Thesis
  FloatImage mask;      ///< one channel [0,1]
  double photo_px = 1;  ///< pixels of the first neutral photo per pixel of the map

  double noise = 0;     ///< standard deviation of the ratio
  double moved_px = 0;  ///< mean length of what dense alignment added, in pixels of the map
  double masked = 0;    ///< [0,1] share of the picture inside the mask
};

/// Wrinkles from photos: what got darker or brighter between rest and expression.
///
/// Method: Dutreve 2011, chapter 5, with another reconstruction. The expression is laid on the
/// neutral photo by its landmarks (thin plates), then by a stiff B-spline (64 px) on high-passed
/// logarithms: to 0.05 px on skin, while wrinkles, narrower than the spline, stay. Ratio R of the
/// two: albedo cancels. Slow changes are divided out. Then a height field z is fitted whose shading
/// explains R, and which bends little, least along folds:
///   sum huber((r(grad z) - R) / s) + 1/(2 k^2) |D2 z|^2,  r = (1 - lx p - ly q) / sqrt(1 + p^2 +
///   q^2)
/// starting stiff (k small) and giving way, on an image pyramid, by L-BFGS. At frontal light R is
/// even in the slopes: four starts for folds of different widths, the best of each neighbourhood.
///
/// Several pairs are several lights (or repetitions: equal lights are averaged) of one expression;
/// the first neutral photo is the frame of all. Two lights, 20 to 30 degrees from the camera, one
/// from above and one from the side, are best; the light's angle must be known to 5 degrees.
///
/// Errors: pairs, pictures, masks, normals of wrong sizes, or not finite; photos of different size
/// without landmarks; fewer than three common landmarks; landmarks that cross (named); an empty
/// mask; photos with nothing but black or white in it; a light out of range; fine_grain,
/// or BlurDirection and Thesis with several or oblique lights. Notes: landmark-unmatched,
/// photo-reduced, light-frontal (a fold kind was assumed), photos-unlike (alignment did not
/// settle). Same bytes for any number of threads.
Result<SlopeMap> acquireDetail(std::span<const PhotoPair> pairs, const AcquisitionDesc& desc,
                               Diagnostics& notes, const Progress& progress = {});

/// Unit normals of a map: x right, y UP, z out of the skin.
FloatImage normalsOf(const SlopeMap& map);

/// Several expressions of one face in one map, each where its mask is: slopes are mixed by mask
/// where masks overlap. Maps of one size and frame, at least one (else an error).
Result<SlopeMap> fuseDetails(std::span<const SlopeMap> maps);

/// 1 inside the polygons (even-odd rule, borders to a quarter of a pixel), else 0. [px] y down.
FloatImage polygonMask(int width, int height, std::span<const std::vector<Vec2f>> polygons);

/// Luminance (Rec. 709) of a linear picture of 1 to 4 channels; alpha is left out.
FloatImage luminanceOf(const FloatImage& image);

}  // namespace derm
