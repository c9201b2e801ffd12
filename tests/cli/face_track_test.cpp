#include <cmath>
#include <cstdlib>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "derm/cast/cast.h"
#include "derm/io/film.h"
#include "derm/io/point_file.h"
#include "derm/io/point_tracks_file.h"
#include "derm/mesh/surface_point.h"

#include "cli/run_program.h"
#include "track/marked_film.h"

namespace derm::cli_test::face_track_test {
namespace {

using testing_support::MarkedFilm;
using testing_support::MarkedFilmDesc;

/// A short film of a marked head as a file, and its markers.
class FaceTrack : public testing::Test {
 protected:
  static MarkedFilmDesc shortFilm() {
    MarkedFilmDesc desc;
    desc.frames = 40;
    desc.hand = false;
    return desc;
  }
  FaceTrack() : film_(shortFilm()) {}

  static Rgba8Image colour(const Grey8Image& grey) {
    Rgba8Image out(grey.width, grey.height);
    for (std::size_t i = 0; i < grey.pixels.size(); ++i)
      out.pixels[i] = {grey.pixels[i], grey.pixels[i], grey.pixels[i], 255};
    return out;
  }
  /// `blank` frames without anything at the end.
  std::string writeFilm(const std::string& name, int frames, int blank = 0) {
    const std::string file = folder_ / name;
    FilmDesc desc;
    desc.width = film_.desc().width;
    desc.height = film_.desc().height;
    desc.fps = film_.desc().fps;
    desc.quality = 12;
    Diagnostics notes;
    auto writer = FilmWriter::open(file, desc, notes);
    EXPECT_TRUE(writer.ok()) << writer.error().text();
    for (int f = 0; f < frames; ++f) EXPECT_TRUE(writer->add(colour(film_.picture(f))).ok());
    for (int f = 0; f < blank; ++f)
      EXPECT_TRUE(writer->add(Rgba8Image(desc.width, desc.height, {90, 90, 90, 255})).ok());
    EXPECT_TRUE(writer->finish().ok());
    return file;
  }
  std::string writeMarkers() {
    std::vector<NamedPosition> points;
    for (const Marker& m : film_.markers()) points.push_back({m.label, {}, m.position});
    write(folder_ / "first.json", picturePointFileText(points));
    return folder_ / "first.json";
  }
  /// [px] mean distance of tracks with the head's motion in them from the truth.
  double meanError(const PointTracks& tracks) const {
    double sum = 0;
    for (std::size_t f = 0; f < tracks.frames(); ++f) {
      const MarkedFilm::Truth truth = film_.truth(static_cast<int>(f));
      for (std::size_t l = 0; l < tracks.labels.size(); ++l)
        for (std::size_t i = 0; i < film_.labels().size(); ++i)
          if (film_.labels()[i] == tracks.labels[l])
            sum += (tracks.frame(f)[l] - truth.picture[i]).norm();
    }
    return sum / static_cast<double>(tracks.frames() * tracks.labels.size());
  }

  Folder folder_;
  MarkedFilm film_;
};

TEST_F(FaceTrack, MarkersOfAFileThroughAFilmWithOverlayAndReport) {
  const std::string film = writeFilm("film.mp4", 16);
  const Outcome o =
      derm({"face", "track", film, "--markers", writeMarkers(), "-o", folder_ / "tracks.csv",
            "--keep-head", "--film", folder_ / "seen.mp4", "--report", folder_ / "report.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  Diagnostics notes;
  const auto tracks = loadPointTracks(folder_ / "tracks.csv", notes);
  ASSERT_TRUE(tracks.ok()) << tracks.error().text();
  EXPECT_EQ(tracks->space, TrackSpace::Picture);
  ASSERT_EQ(tracks->frames(), 16u);
  EXPECT_NEAR(tracks->times_s[15], 0.5, 1e-3);
  EXPECT_LT(meanError(*tracks), 0.3);
  const nlohmann::json report = nlohmann::json::parse(contentOf(folder_ / "report.json"));
  EXPECT_EQ(report["frames"], 16);
  EXPECT_EQ(report["even_rate"], true);
  EXPECT_EQ(report["markers"]["9.3"]["seen"], 16);
  EXPECT_GT(std::filesystem::file_size(folder_ / "seen.mp4"), 1000u);
}

TEST_F(FaceTrack, DotsAreFoundNamedAfterTheHeadAndTheHeadsMotionIsTakenOut) {
  const std::string film = writeFilm("film.mp4", 16);
  const Outcome o = derm({"face", "track", film, "--detect", "dark", "--head", "cast:head-a", "-o",
                          folder_ / "tracks.json", "--report", folder_ / "report.json",
                          "--save-markers", folder_ / "found.json"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.out.find("focal length"), std::string::npos) << o.out;
  Diagnostics notes;
  const auto tracks = loadPointTracks(folder_ / "tracks.json", notes);
  ASSERT_TRUE(tracks.ok()) << tracks.error().text();
  EXPECT_EQ(tracks->labels.size(), 28u);  // with the chin's, on 2.10
  EXPECT_EQ(tracks->head.size(), 16u);
  const nlohmann::json report = nlohmann::json::parse(contentOf(folder_ / "report.json"));
  EXPECT_EQ(report["head"]["method"], "pnp");
  EXPECT_LT(report["head"]["residual_px"].get<double>(), 1.0);
  const auto found = loadPicturePointFile(folder_ / "found.json", notes);
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->size(), tracks->labels.size());
}

TEST_F(FaceTrack, WhereTheHeadLooksInItsOwnSpaceChangesNothing) {
  const std::string film = writeFilm("film.mp4", 8);
  const Character head = makeCastMember("head-a").value();
  std::vector<PointTracks> tracks;
  for (const double degrees : {0.0, 180.0, 90.0}) {  // to +Z, -Z and +X
    const Eigen::AngleAxisd turn(degrees * 3.14159265358979 / 180, Eigen::Vector3d::UnitY());
    std::vector<NamedPosition> points;
    for (const LabelledPoint& p : head.points) {
      const Vec3d at = positionAt(p.point, head.mesh.triangles, head.mesh.positions).cast<double>();
      points.push_back({p.label, {}, turn * at});
    }
    write(folder_ / "face.json", pointFileText(points));
    const Outcome o = derm({"face", "track", film, "--detect", "dark", "--head",
                            folder_ / "face.json", "-o", folder_ / "tracks.json"});
    ASSERT_EQ(o.exit_code, 0) << degrees << ": " << o.err;
    Diagnostics notes;
    tracks.push_back(loadPointTracks(folder_ / "tracks.json", notes).value());
    ASSERT_EQ(tracks.back().labels, tracks.front().labels) << degrees;
    ASSERT_EQ(tracks.back().head.size(), 8u);
    for (std::size_t f = 0; f < 8; ++f) {
      for (std::size_t l = 0; l < tracks.front().labels.size(); ++l)
        // [px]; points say to some degrees only how a head stands.
        EXPECT_LT((tracks.back().frame(f)[l] - tracks.front().frame(f)[l]).norm(), 0.1) << degrees;
      EXPECT_LT(tracks.back().head[f].rotation.angularDistance(tracks.front().head[f].rotation),
                2e-3f)
          << degrees;
    }
  }
}

TEST_F(FaceTrack, AllMarkersLostStopsWithTheFrameAndKeepsWhatWasTracked) {
  const std::string film = writeFilm("film.mp4", 8, 20);
  const Outcome o = derm({"face", "track", film, "--markers", writeMarkers(), "-o",
                          folder_ / "tracks.csv", "--keep-head"});
  EXPECT_EQ(o.exit_code, 1);
  EXPECT_NE(o.err.find("frame[8]: all markers are lost from here on; the 8 frames before are kept"),
            std::string::npos)
      << o.err;
  Diagnostics notes;
  const auto tracks = loadPointTracks(folder_ / "tracks.csv", notes);
  ASSERT_TRUE(tracks.ok());
  EXPECT_EQ(tracks->frames(), 8u);
}

TEST_F(FaceTrack, UnevenFramesKeepTheirTimes) {
  const std::string even = writeFilm("even.mp4", 2);
  const std::string film = writeFilm("film.mp4", 10);
  // Every third frame left out, the others at their times.
  const std::string command = "ffmpeg -v error -nostdin -i " + film +
                              " -vf \"select='mod(n,3)-1'\" -fps_mode vfr -crf 10 " +
                              (folder_ / "uneven.mp4") + " 2>/dev/null";
  if (std::system(command.c_str()) != 0) GTEST_SKIP() << "no ffmpeg";
  const Outcome o = derm({"face", "track", folder_ / "uneven.mp4", "--markers", writeMarkers(),
                          "-o", folder_ / "tracks.csv", "--keep-head"});
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_NE(o.err.find("33.3 to 66.7 ms apart"), std::string::npos) << o.err;
  Diagnostics notes;
  const auto tracks = loadPointTracks(folder_ / "tracks.csv", notes);
  ASSERT_TRUE(tracks.ok());
  EXPECT_NEAR(tracks->times_s[1], 2 / 30.0, 1e-3);
}

TEST_F(FaceTrack, BadInputIsNamed) {
  const std::string markers = writeMarkers();
  const std::string out = folder_ / "tracks.csv";
  const auto says = [&](std::vector<std::string> arguments, int code, const std::string& words) {
    arguments.insert(arguments.begin(), {"face", "track"});
    arguments.insert(arguments.end(), {"-o", out});
    const Outcome o = derm(arguments);
    EXPECT_EQ(o.exit_code, code) << o.err;
    EXPECT_NE(o.err.find(words), std::string::npos) << o.err;
    EXPECT_FALSE(std::filesystem::exists(out));
  };
  says({folder_ / "none.mp4", "--markers", markers}, 1, "none.mp4: no such file");
  write(folder_ / "text.mp4", "this is no film");
  says({folder_ / "text.mp4", "--markers", markers}, 1, "text.mp4: not a film that can be read");
  const std::string film = writeFilm("film.mp4", 2);
  write(folder_ / "outside.json", R"({"9.3": [320, 240], "8.1": [640, 100], "8.2": [3, -1]})");
  says({film, "--markers", folder_ / "outside.json"}, 2,
       "outside the picture of 640x480 pixels: \"8.1\" (640, 100), \"8.2\" (3, -1)");
  write(folder_ / "three.json", R"({"9.3": [320, 240, 1]})");
  says({film, "--markers", folder_ / "three.json"}, 1, "two numbers, in pixels");
  write(folder_ / "both.json", R"({"9.3": [320, 240], "nose_tip": [300, 200]})");
  says({film, "--markers", folder_ / "both.json"}, 1, "9.3");
  says({film}, 2, "--detect");
  says({"--markers", markers}, 2, "a film is needed");
  says({"--camera", "63", "--markers", markers}, 1, "/dev/video63: there is no such camera");
  const Outcome ending = derm({"face", "track", film, "--markers", markers, "-o", "tracks.txt"});
  EXPECT_EQ(ending.exit_code, 2);
}

TEST_F(FaceTrack, AModuleThatIsNoneIsPassedOver) {
  const std::string film = writeFilm("film.mp4", 1);
  write(folder_ / "libderm_track_opencv.so", "no library");
  const Outcome o =
      derm({"face", "track", film, "--markers", writeMarkers(), "-o", folder_ / "tracks.csv"},
           {"DERM_MODULES=" + folder_.path().string()});
  // The one beside the program is as good.
  EXPECT_EQ(o.exit_code, 0) << o.err;
}

}  // namespace
}  // namespace derm::cli_test::face_track_test
