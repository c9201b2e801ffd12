#include <gtest/gtest.h>

#include "derm/face/detail_acquisition.h"
#include "derm/image/normal_map.h"
#include "derm/io/image_file.h"

#include "face/maps/spline_alignment.h"
#include "support/compare.h"
#include "wrinkled_skin.h"

/// Real skin, whose colour was photographed and whose normals were scanned, photographed anew: 8
/// bits, noise, and moved between the photos.
namespace derm::detail_skin_data_test {
namespace {

using namespace testing_support;
using namespace detail::maps;

struct Patch {
  const char* name;
  int x, y, width, height;  ///< [px] of the scan's texture
};

Plane partOf(const FloatImage& image, int channel, const Patch& patch) {
  Plane out(patch.width, patch.height);
  for (int y = 0; y < patch.height; ++y)
    for (int x = 0; x < patch.width; ++x)
      out.row(y)[x] = image.at(patch.x + x, patch.y + y, channel);
  return out;
}

struct Scan {
  FloatImage luminance, normals;
};
Result<Scan> loadScan(const std::filesystem::path& folder) {
  DERM_TRY(const FloatImage colour, loadFloatImage(folder / "lps_color_lefthalf.jpg", Curve::Srgb));
  DERM_TRY(const Rgba8Image normals, loadImage(folder / "lps_normal_lefthalf.jpg"));
  return Scan{luminanceOf(colour), decodeNormals(normals, NormalGreen::Up)};
}

class SkinOfAScan : public ::testing::Test {
 protected:
  void SetUp() override {
    DERM_DATA_OR_SKIP(folder, "skin-photos");
    if (!hasImageFiles()) GTEST_SKIP() << "built without pictures";
    Result<Scan> scan = loadScan(folder);
    ASSERT_TRUE(scan.ok()) << scan.error().text();
    scan_ = *std::move(scan);
  }
  Scan scan_;
};

TEST_F(SkinOfAScan, IsAlignedToAFractionOfAPixelAndWrinklesStay) {
  const CoarseMap same = [](int y, std::span<const float> dx, std::span<const float> dy,
                            std::span<float> x, std::span<float> y_out) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = static_cast<float>(i) + dx[i];
      y_out[i] = static_cast<float>(y) + dy[i];
    }
  };
  for (const Patch& patch : {Patch{"neck", 192, 560, 256, 256}, Patch{"jaw", 250, 500, 256, 256},
                             Patch{"nape", 8, 384, 256, 256}})
    for (const bool wrinkled : {false, true}) {
      Rng rng(3);
      const Plane albedo = doubled(partOf(scan_.luminance, 0, patch), 512, 512, 1);
      const Warp warp(512, 512, 3, rng);
      const Relief relief = wrinkled ? furrows({}) : Relief(Plane(512, 512));
      Plane shaded = albedo;
      for (std::size_t i = 0; i < shaded.size(); ++i)
        shaded.values[i] *=
            static_cast<float>(shading(static_cast<double>(relief.p.values[i]),
                                       static_cast<double>(relief.q.values[i]), Vec3d::UnitZ()));
      const Plane neutral = planeOf(photographed(albedo, 0.005, rng));
      const Plane other = planeOf(photographed(warp.applied(shaded), 0.005, rng));
      const AlignmentResult found = alignDense(neutral, other, Plane(512, 512, 1), same, {});
      double error = 0, moved = 0;
      for (int y = 0; y < 512; ++y)
        for (int x = 0; x < 512; ++x) {
          const Vec2f truth = warp.of(x, y);
          error +=
              static_cast<double>((Vec2f(found.dx.at(x, y), found.dy.at(x, y)) - truth).norm());
          moved += static_cast<double>(truth.norm());
        }
      error /= 512 * 512;
      moved /= 512 * 512;
      RecordProperty(std::string(patch.name) + (wrinkled ? "_wrinkled" : "_flat"),
                     std::to_string(error));
      EXPECT_GT(moved, 0.8);
      EXPECT_LE(error, 0.06) << patch.name << wrinkled;

      // The whole chain on it: furrows are still there, and flat skin stays flat.
      PhotoPair pair;
      pair.neutral = imageOf(neutral);
      pair.expression = imageOf(other);
      AcquisitionDesc desc;
      desc.mask = FloatImage(512, 512, 1, 1.0f);
      Diagnostics notes;
      const auto map = acquireDetail(std::span(&pair, 1), desc, notes);
      ASSERT_TRUE(map.ok());
      const SlopeErrors e = compare(relief.p, relief.q, map->slopes);
      RecordProperty(std::string(patch.name) + (wrinkled ? "_deg" : "_false_deg"),
                     std::to_string(wrinkled ? e.steep_deg : e.false_tilt_deg));
      if (wrinkled)
        EXPECT_LE(e.steep_deg, 4.2) << patch.name;
      else
        EXPECT_LE(e.false_tilt_deg, 1.5) << patch.name;
    }
}

/// Fine relief of the scan: its slopes less their blur, which is what the neutral photo has.
struct Grain {
  Plane p, q, slow_p, slow_q, fine_p, fine_q;
};
Grain grainOf(const FloatImage& normals, const Patch& patch) {
  Grain out;
  out.p = out.q = Plane(patch.width, patch.height);
  const Plane x = partOf(normals, 0, patch), y = partOf(normals, 1, patch),
              z = partOf(normals, 2, patch);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float up = std::max(0.2f, z.values[i]);
    out.p.values[i] = -x.values[i] / up;
    out.q.values[i] = y.values[i] / up;
  }
  out.slow_p = blurred(out.p, 12);
  out.slow_q = blurred(out.q, 12);
  out.fine_p = out.p;
  out.fine_q = out.q;
  for (std::size_t i = 0; i < x.size(); ++i) {
    out.fine_p.values[i] -= out.slow_p.values[i];
    out.fine_q.values[i] -= out.slow_q.values[i];
  }
  return out;
}

PhotoPair photographedGrain(const Plane& albedo, const Grain& grain, const PhotoLight& light,
                            Rng& rng) {
  const Vec3d d = directionOf(light);
  Plane neutral = albedo, expression = albedo;
  for (std::size_t i = 0; i < albedo.size(); ++i) {
    neutral.values[i] *=
        static_cast<float>(shading(static_cast<double>(grain.slow_p.values[i]),
                                   static_cast<double>(grain.slow_q.values[i]), d));
    expression.values[i] *= static_cast<float>(
        shading(static_cast<double>(grain.p.values[i]), static_cast<double>(grain.q.values[i]), d));
  }
  const Warp warp(albedo.width, albedo.height, 1, rng);
  PhotoPair out;
  out.light = light;
  out.neutral = photographed(neutral, 0.005, rng);
  out.expression = photographed(warp.applied(expression), 0.005, rng);
  return out;
}

TEST_F(SkinOfAScan, SlopesAreNearerToTheScanThanAFlatMap) {
  for (const Patch& patch :
       {Patch{"neck", 300, 700, 200, 200}, Patch{"face", 320, 360, 192, 192},
        Patch{"nape", 8, 400, 192, 192}, Patch{"forehead", 320, 96, 192, 144}}) {
    const Grain grain = grainOf(scan_.normals, patch);
    const Plane albedo = partOf(scan_.luminance, 0, patch);
    Rng rng(11);
    std::vector<PhotoPair> pairs;
    pairs.push_back(photographedGrain(albedo, grain, {0, 30}, rng));
    pairs.push_back(photographedGrain(albedo, grain, {30, 0}, rng));
    AcquisitionDesc desc;
    desc.fine_grain = true;
    desc.mask = FloatImage(patch.width, patch.height, 1, 1.0f);
    Diagnostics notes;
    for (const std::size_t lights : {std::size_t{1}, std::size_t{2}}) {
      const auto map = acquireDetail(std::span(pairs).first(lights), desc, notes);
      ASSERT_TRUE(map.ok()) << map.error().text();
      const SlopeErrors e = compare(grain.fine_p, grain.fine_q, map->slopes, 2);
      const double gain = 1 - e.steep_deg / e.of_flat_deg;
      const std::string name = std::string(patch.name) + (lights == 1 ? "_one" : "_two");
      RecordProperty(name + "_error_deg", std::to_string(e.steep_deg));
      RecordProperty(name + "_flat_deg", std::to_string(e.of_flat_deg));
      RecordProperty(name + "_correlation_p", std::to_string(e.correlation_p));
      RecordProperty(name + "_correlation_q", std::to_string(e.correlation_q));
      EXPECT_GE(gain, lights == 1 ? 0.20 : 0.30) << name;
      EXPECT_GT(e.correlation_q, 0.55) << name;
      if (lights == 1 && std::string(patch.name) == "neck") {
        EXPECT_GE(gain, 0.40);
      }
    }
  }
}

}  // namespace
}  // namespace derm::detail_skin_data_test
