#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "derm/base/rng.h"
#include "derm/face/photo_light.h"
#include "derm/image/normal_map.h"
#include "derm/io/image_file.h"
#include "derm/io/png.h"

#include "cli/run_program.h"

/// derm face detail: photos to maps, other sources of maps, and what plays them.
namespace derm::cli_test {
namespace {

constexpr int kSize = 160;

/// Skin of random albedo with one furrow across, `share` of its depth, light from 30 degrees above.
FloatImage skin(double share, std::uint64_t seed = 5) {
  Rng albedo(9), noise(seed);
  const Vec3d light = directionOf({0, 30});
  FloatImage out(kSize, kSize, 1);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < kSize; ++x) {
      const double off = (y - 80 - 3 * std::sin(x / 30.0)) / 5;
      const double q = share * 0.6 * off * std::exp(-0.5 * off * off);
      const double shade = (q * light.y() + light.z()) / std::sqrt(1 + q * q);
      out.at(x, y, 0) =
          static_cast<float>(albedo.uniform(0.4, 0.7) * shade + 0.002 * (noise.uniform() - 0.5));
    }
  return out;
}

FloatImage coloured(const FloatImage& grey) {
  FloatImage out(grey.width, grey.height, 3);
  for (std::size_t i = 0; i < grey.values.size(); ++i)
    for (std::size_t c = 0; c < 3; ++c)
      out.values[3 * i + c] = grey.values[i] * (c == 0 ? 1.0f : 0.8f);
  return out;
}

void savePhoto(const std::string& file, const FloatImage& photo) {
  ASSERT_TRUE(savePng(file, rgba8Image(photo, Curve::Srgb)));
}

class FaceDetail : public testing::Test {
 protected:
  void SetUp() override {
    savePhoto(rest(), coloured(skin(0, 1)));
    savePhoto(frown(), coloured(skin(1, 2)));
  }
  std::string rest() const { return folder_ / "rest.png"; }
  std::string frown() const { return folder_ / "frown.png"; }
  std::string out() const { return folder_ / "map.png"; }
  /// What acquire says of these photos, with further options.
  Outcome acquire(const std::string& neutral, const std::string& expression,
                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all = {"face",    "detail", "acquire", neutral, expression,
                                    "--light", "0,30",   "-o",      out()};
    all.insert(all.end(), more.begin(), more.end());
    return derm(all);
  }
  Outcome acquire(const std::vector<std::string>& more = {}) const {
    return acquire(rest(), frown(), more);
  }
  /// The map's steepest normal. [deg]
  double steepest() const {
    const auto map = loadImage(out());
    EXPECT_TRUE(map.ok());
    if (!map) return 0;
    double out_deg = 0;
    const FloatImage n = decodeNormals(*map, NormalGreen::Up);
    for (std::size_t i = 2; i < n.values.size(); i += 3)
      out_deg = std::max(out_deg, 57.3 * std::acos(std::min(1.0, double(n.values[i]))));
    return out_deg;
  }

  Folder folder_;
};

TEST_F(FaceDetail, AcquiresAFurrowAndReports) {
  const Outcome o = acquire({"--report", folder_ / "r.json", "--height", folder_ / "h.png"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NEAR(steepest(), 20, 8);  // 0.6 exp(-1/2) is a slope of 20 degrees
  const auto report = nlohmann::json::parse(contentOf(folder_ / "r.json"));
  EXPECT_EQ(report["width"], kSize);
  EXPECT_GT(report["masked"], 0.02);
  const Outcome deep = acquire({"--bits", "16", "--green", "down"});
  ASSERT_EQ(deep.exit_code, 0) << deep.err;
}

TEST_F(FaceDetail, TakesGreySixteenBitsAndAlpha) {
  const FloatImage a = skin(0, 1), b = skin(1, 2);
  ASSERT_TRUE(savePng16(folder_ / "g0.png", uint16Image(a, Curve::Srgb), Curve::Srgb));
  ASSERT_TRUE(savePng16(folder_ / "g1.png", uint16Image(b, Curve::Srgb), Curve::Srgb));
  const Outcome grey = acquire(folder_ / "g0.png", folder_ / "g1.png");
  EXPECT_EQ(grey.exit_code, 0) << grey.err;
  EXPECT_NEAR(steepest(), 20, 8);
  Rgba8Image clear = rgba8Image(coloured(b), Curve::Srgb);
  for (int y = 0; y < kSize; ++y)
    for (int x = 0; x < 20; ++x)
      clear.pixels[static_cast<std::size_t>(y * kSize + x)] = {0, 0, 0, 0};
  ASSERT_TRUE(savePng(folder_ / "a1.png", clear));
  const Outcome alpha = acquire(rest(), folder_ / "a1.png");
  EXPECT_EQ(alpha.exit_code, 0) << alpha.err;
  EXPECT_NEAR(steepest(), 20, 8);
}

/// Phones write the picture as the sensor saw it and say beside it how it was held.
TEST_F(FaceDetail, PhotosAreTurnedAsTheirExifSays) {
  const std::string turned = folder_ / "turned.jpg",
                    command = "ffmpeg -v error -nostdin -i " + frown() +
                              " -vf transpose=2,format=yuvj444p -q:v 1 " + turned;
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no ffmpeg";
  ASSERT_EQ(acquire().exit_code, 0);
  const FloatImage upright = decodeNormals(*loadImage(out()), NormalGreen::Up);
  std::string jpeg = contentOf(turned);
  // Turned left by ffmpeg; 6: turn it right. One entry, in the byte order of "MM".
  const std::string exif = std::string("Exif\0\0MM\0\x2a\0\0\0\x08\0\x01", 16) +
                           std::string("\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0", 16);
  jpeg.insert(2, std::string("\xff\xe1\0", 3) + static_cast<char>(2 + exif.size()) + exif);
  write(turned, jpeg);
  const Outcome o = acquire(rest(), turned);
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const FloatImage found = decodeNormals(*loadImage(out()), NormalGreen::Up);
  ASSERT_EQ(found.values.size(), upright.values.size());
  double apart = 0;
  for (std::size_t i = 0; i < found.values.size(); ++i)
    apart += std::abs(double(found.values[i] - upright.values[i]));
  EXPECT_LE(apart / double(found.values.size()), 0.02);  // a photo on its side: 0.1
  EXPECT_NEAR(steepest(), 20, 8);
}

TEST_F(FaceDetail, PhotosThatDoNotFitAreNamed) {
  FloatImage small(kSize - 10, kSize, 3, 0.5f);
  savePhoto(folder_ / "small.png", small);
  const Outcome size = acquire(rest(), folder_ / "small.png");
  EXPECT_NE(size.exit_code, 0);
  EXPECT_NE(size.err.find("size"), std::string::npos) << size.err;
  savePhoto(folder_ / "black.png", FloatImage(kSize, kSize, 3, 0.0f));
  const Outcome black = acquire(folder_ / "black.png", folder_ / "black.png");
  EXPECT_NE(black.exit_code, 0);
  EXPECT_FALSE(black.err.empty());
  // Some black pixels are only unknown.
  FloatImage spotted = coloured(skin(0, 1));
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 30; ++x)
      for (int c = 0; c < 3; ++c) spotted.at(x, y, c) = 0;
  savePhoto(folder_ / "spotted.png", spotted);
  EXPECT_EQ(acquire(folder_ / "spotted.png", frown()).exit_code, 0);
  EXPECT_NEAR(steepest(), 20, 12);
  const Outcome missing = acquire(rest(), folder_ / "none.png");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("none.png"), std::string::npos) << missing.err;
}

TEST_F(FaceDetail, LandmarksAndMasksThatDoNotFitAreNamed) {
  const std::string l = folder_ / "l.json";
  const auto said = [&](const std::string& text) {
    write(l, text);
    const Outcome o = acquire({"--landmarks", l});
    EXPECT_NE(o.exit_code, 0) << text;
    EXPECT_NE(o.err.find("l.json"), std::string::npos) << o.err;
    return o.err;
  };
  said("[1, 2]");
  EXPECT_NE(said(R"({"neutral": {"4.1": [1]}})").find("neutral.4.1"), std::string::npos);
  const std::string few = said(R"({"neutral": {"4.1": [40, 40], "4.2": [120, 40]},
                                   "expression": {"4.1": [40, 40], "4.2": [120, 40]}})");
  EXPECT_NE(few.find("3"), std::string::npos) << few;
  const std::string crossed =
      said(R"({"neutral": {"4.1": [40, 40], "4.2": [120, 40], "9.3": [80, 120], "2.1": [80, 150]},
               "expression": {"4.1": [120, 40], "4.2": [40, 40], "9.3": [80, 120], "2.1": [80, 150]}})");
  EXPECT_NE(crossed.find("4."), std::string::npos) << crossed;
  savePhoto(folder_ / "mask.png", FloatImage(kSize, kSize, 1, 0.0f));
  const Outcome mask = acquire({"--mask", folder_ / "mask.png"});
  EXPECT_NE(mask.exit_code, 0);
  EXPECT_NE(mask.err.find("mask.png"), std::string::npos) << mask.err;
  EXPECT_EQ(acquire({"--light", "0,95"}).exit_code == 0, false);
}

TEST_F(FaceDetail, GoesOntoAHeadsTextureOrSaysWhatIsMissing) {
  write(folder_ / "bare.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  write(folder_ / "l.json",
        R"({"neutral": {"4.1": [90, 60], "4.2": [70, 60], "9.3": [80, 100], "2.1": [80, 150]},
            "expression": {"4.1": [90, 60], "4.2": [70, 60], "9.3": [80, 100], "2.1": [80, 150]}})");
  const Outcome bare = acquire({"--landmarks", folder_ / "l.json", "--onto", folder_ / "bare.obj"});
  EXPECT_NE(bare.exit_code, 0);
  EXPECT_NE(bare.err.find("unwrap"), std::string::npos) << bare.err;
  const Outcome head =
      acquire({"--landmarks", folder_ / "l.json", "--onto", "cast:woman", "--texture", "256"});
  ASSERT_EQ(head.exit_code, 0) << head.err;
  EXPECT_EQ(loadImage(out())->width, 256);
}

TEST_F(FaceDetail, ConvertsMapsOfOtherConventions) {
  FloatImage normals(4, 4, 3, 0.0f);
  for (std::size_t i = 0; i < 16; ++i) {
    normals.values[3 * i + 1] = 0.6f;
    normals.values[3 * i + 2] = 0.8f;
  }
  ASSERT_TRUE(savePng(folder_ / "dx.png", encodeNormals8(normals, NormalGreen::Down)));
  const auto convert = [&](const std::string& from, const std::vector<std::string>& more) {
    std::vector<std::string> all = {"face", "detail", "convert", folder_ / from, "-o", out()};
    all.insert(all.end(), more.begin(), more.end());
    return derm(all);
  };
  ASSERT_EQ(convert("dx.png", {"--from", "down"}).exit_code, 0);
  EXPECT_EQ(*loadImage(out()), encodeNormals8(normals, NormalGreen::Up));
  ASSERT_EQ(convert("dx.png", {"--from", "down", "--bits", "16"}).exit_code, 0);
  EXPECT_NEAR(loadFloatImage(out(), Curve::Linear)->at(1, 1, 1), 0.8f, 0.003f);
  // Heights that rise to the right: normals lean to the left.
  FloatImage ramp(8, 8, 1);
  for (int y = 0; y < 8; ++y)
    for (int x = 0; x < 8; ++x) ramp.at(x, y, 0) = static_cast<float>(x) / 8;
  ASSERT_TRUE(savePng16(folder_ / "h.png", uint16Image(ramp, Curve::Linear), Curve::Linear));
  ASSERT_EQ(convert("h.png", {"--from", "height", "--height", "8"}).exit_code, 0);
  const Vec3f n = [&] {
    const FloatImage map = decodeNormals(*loadImage(out()), NormalGreen::Up);
    return Vec3f(map.at(4, 4, 0), map.at(4, 4, 1), map.at(4, 4, 2));
  }();
  EXPECT_NEAR(n.x(), -std::sqrt(0.5f), 0.01f);
  const Outcome grey = convert("h.png", {});
  EXPECT_NE(grey.exit_code, 0);
  EXPECT_NE(grey.err.find("--from height"), std::string::npos) << grey.err;
  EXPECT_NE(convert("dx.png", {"--from", "height"}).exit_code, 0);
}

TEST_F(FaceDetail, FindsTheCurveOfAFilm) {
  // Wrinkles as the square of the way; landmarks go down by 8 px.
  std::string tracks = "time,4.1.x,4.1.y,4.2.x,4.2.y,9.3.x,9.3.y\n";
  constexpr int kFrames = 9;
  for (int f = 0; f < kFrames; ++f) {
    const double way = static_cast<double>(f) / (kFrames - 1);
    savePhoto(folder_ / ("shot_" + std::to_string(f) + ".png"),
              coloured(skin(way * way, static_cast<std::uint64_t>(f + 1))));
    tracks +=
        std::to_string(f / 30.0) + ",60,40,100,40," + "80," + std::to_string(120 + 8 * way) + "\n";
  }
  write(folder_ / "t.csv", tracks);
  const Outcome o = derm({"face", "detail", "curve", folder_ / "shot_{frame}.png", "--landmarks",
                          folder_ / "t.csv", "--keys", "5", "-o", folder_ / "c.json"});
  // The landmark pulls the film's own skin along, so the shares are only near.
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("curve = [0, 0, 0.25,"), std::string::npos) << o.out;
  const auto json = nlohmann::json::parse(contentOf(folder_ / "c.json"));
  ASSERT_EQ(json["curve"].size(), 10u);
  EXPECT_EQ(json["samples"].size(), static_cast<std::size_t>(kFrames));
  double before = 0;
  for (std::size_t i = 1; i < 10; i += 2) {
    EXPECT_GE(json["curve"][i].get<double>(), before);
    before = json["curve"][i];
  }
  const Outcome none = derm({"face", "detail", "curve", folder_ / "none.mp4", "--landmarks",
                             folder_ / "t.csv", "-o", folder_ / "d.json"});
  EXPECT_NE(none.exit_code, 0);
}

TEST_F(FaceDetail, ExportsAndBakesWhatPlays) {
  write(folder_ / "look.toml", R"(character = "cast:woman"
clip = "expressions"
fps = 2
range_s = [4.0, 6.0]
[[layer]]
type = "detail"
name = "lines"
poses = [{ name = "raise", expression = "surprise", map = "drawn:forehead", curve = [0, 0, 0.5, 0.2, 1, 1] }]
groups = "brows.left; brows.right"
)");
  const Outcome o =
      derm({"face", "detail", "export", folder_ / "look.toml", "-o", folder_ / "face.glb"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const std::string glb = contentOf(folder_ / "face.glb");
  std::uint32_t length = 0;
  std::copy_n(glb.data() + 12, 4, reinterpret_cast<char*>(&length));
  const auto json = nlohmann::json::parse(glb.substr(20, length));
  const auto& block = json["extras"]["derm_wrinkles"];
  EXPECT_EQ(block["points"].size(), 28u);
  EXPECT_EQ(block["groups"].size(), 2u);
  EXPECT_EQ(block["poses"][0]["moves"].size(), 28u);
  EXPECT_EQ(block["poses"][0]["curve"].size(), 3u);
  EXPECT_EQ(block["poses"][0]["channel"], "lines.raise");
  EXPECT_EQ(block["surfaces"].size(), 1u);
  EXPECT_TRUE(block["head"].contains("node"));
  EXPECT_EQ(json["materials"][0]["extras"]["derm_detail_maps"][0]["channel"], "lines.raise");
  EXPECT_EQ(derm({"info", folder_ / "face.glb"}).exit_code, 0);

  const Outcome maps = derm({"face", "detail", "bake", folder_ / "look.toml", "--size", "512",
                             "--bits", "16", "-o", folder_ / "maps"});
  ASSERT_EQ(maps.exit_code, 0) << maps.err;
  const auto index = nlohmann::json::parse(contentOf(folder_ / "maps/maps.json"));
  ASSERT_EQ(index["maps"].size(), 5u);
  // At rest the map is flat, in the middle of surprise it is not.
  const auto tilted = [&](const std::string& name) {
    const FloatImage map = *loadFloatImage(folder_ / ("maps/" + name), Curve::Linear);
    std::size_t count = 0;
    for (std::size_t i = 2; i < map.values.size(); i += 3)
      count += map.values[i] < 0.999f ? 1u : 0u;
    return count;
  };
  EXPECT_GT(tilted("000003.png"), 20u);  // 5.5 s

  write(folder_ / "plain.toml", "character = \"cast:woman\"\n");
  const Outcome none =
      derm({"face", "detail", "export", folder_ / "plain.toml", "-o", folder_ / "x.glb"});
  EXPECT_NE(none.exit_code, 0);
  EXPECT_NE(none.err.find("no detail layer"), std::string::npos) << none.err;
  EXPECT_NE(derm({"face", "detail", "bake", folder_ / "plain.toml", "-o", folder_ / "m"}).exit_code,
            0);
}

TEST_F(FaceDetail, APoseEqualToRestIsNamed) {
  write(folder_ / "still.toml",
        "character = \"cast:woman\"\n[[layer]]\ntype = \"detail\"\nname = \"lines\"\n"
        "poses = [{ name = \"still\", expression = \"tongueOut\", map = \"drawn:frown\" }]\n");
  const Outcome o =
      derm({"face", "detail", "export", folder_ / "still.toml", "-o", folder_ / "x.glb"});
  EXPECT_NE(o.exit_code, 0);
  EXPECT_NE(o.err.find("still"), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("equals the pose at rest"), std::string::npos) << o.err;
}

TEST_F(FaceDetail, DrawsAndPreviews) {
  const Outcome drawn = derm(
      {"face", "detail", "draw", "cast:man", "--lines", "frown", "--size", "256", "-o", out()});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_GT(steepest(), 5);
  const Outcome unknown =
      derm({"face", "detail", "draw", "cast:man", "--lines", "forhead", "-o", out()});
  EXPECT_NE(unknown.exit_code, 0);
  EXPECT_NE(unknown.err.find("forehead"), std::string::npos) << unknown.err;
  const Outcome sheet = derm({"face", "detail", "preview", "cast:woman", "--size", "48x56",
                              "--colours", "safe", "-o", folder_ / "sheet.png"});
  if (sheet.err.find("EGL") != std::string::npos) GTEST_SKIP() << sheet.err;
  ASSERT_EQ(sheet.exit_code, 0) << sheet.err;
  EXPECT_EQ(loadImage(folder_ / "sheet.png")->width, 6 * 48 + 5 * 2);
  EXPECT_EQ(loadImage(folder_ / "sheet.png")->height, 3 * 56 + 2 * 2);
}

}  // namespace
}  // namespace derm::cli_test
