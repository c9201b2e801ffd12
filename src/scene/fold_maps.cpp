#include "scene/fold_maps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "derm/base/parallel.h"
#include "derm/io/png.h"
#include "derm/mesh/uv_raster.h"

#include "scene/numbered_names.h"

namespace derm::detail {
namespace {

/// [px] Side of the raster that weights and errors are found on.
constexpr int kSampleSide_px = 256;
constexpr int kPadding_px = 4;
/// [rad] Where folds turn a normal by less at all times, there is none.
constexpr float kNoFold = 0.004f;
constexpr std::size_t kChunk = 2048;
constexpr std::string_view kNamePrefix = "derm folds ";

/// An instant of one clip's motion.
struct Instant {
  std::size_t clip = 0;
  double time_s = 0;
  bool is_frame = false;
};

/// Frames, and the middles between them, clip by clip.
std::vector<Instant> instantsOf(std::span<const Scene> scenes, bool with_middles) {
  std::vector<Instant> out;
  for (std::size_t c = 0; c < scenes.size(); ++c) {
    const std::span<const double> times = scenes[c].frameTimes();
    for (std::size_t i = 0; i < times.size(); ++i) {
      out.push_back({c, times[i], true});
      if (with_middles && i + 1 < times.size())
        out.push_back({c, 0.5 * (times[i] + times[i + 1]), false});
    }
  }
  return out;
}

/// Plays the motion with and without folds.
class Motion {
 public:
  Motion(std::span<const Scene> folded, std::span<const Scene> smooth) {
    for (const Scene& scene : folded) folded_.push_back(scene.playback().another(SeekRule::Replay));
    for (const Scene& scene : smooth) smooth_.push_back(scene.playback().another(SeekRule::Replay));
  }
  void show(const Instant& instant) {
    fine = &folded_[instant.clip].frameAt(instant.time_s);
    coarse = &smooth_[instant.clip].frameAt(instant.time_s);
  }
  const SkinFrame* fine = nullptr;
  const SkinFrame* coarse = nullptr;

 private:
  std::vector<Playback> folded_, smooth_;
};

/// The triangles of one material, coarse and fine.
struct Chart {
  int material = -1;
  std::vector<Triangle> coarse, fine;
};

/// Whether every fine triangle is known to lie on one of the character's.
bool sourcesAreKnown(const BoundSurface& fine, std::size_t coarse_count) {
  if (fine.source_triangles.empty()) return fine.rest.triangles.size() == coarse_count;
  return fine.source_triangles.size() == fine.rest.triangles.size() &&
         std::all_of(fine.source_triangles.begin(), fine.source_triangles.end(),
                     [&](std::uint32_t t) { return t < coarse_count; });
}

std::vector<Chart> chartsOf(const Character& character, const BoundSurface& fine) {
  std::map<int, Chart> by_material;
  std::vector<int> material_of(character.mesh.triangles.size(), -1);
  for (const MeshPart& part : character.parts)
    for (std::uint32_t t = 0; t < part.triangle_count; ++t) {
      const std::size_t at = std::size_t{part.first_triangle} + t;
      material_of[at] = part.material;
      Chart& chart = by_material[part.material];
      chart.material = part.material;
      chart.coarse.push_back(character.mesh.triangles[at]);
    }
  for (std::size_t t = 0; t < fine.rest.triangles.size(); ++t) {
    const std::size_t source = fine.source_triangles.empty() ? t : fine.source_triangles[t];
    by_material[material_of[source]].fine.push_back(fine.rest.triangles[t]);
  }
  std::vector<Chart> out;
  for (auto& [material, chart] : by_material) out.push_back(std::move(chart));
  return out;
}

/// A point of the coarse mesh and what lies over it on the fine one.
struct Sample {
  std::size_t texel = 0;
  Vec2f uv = Vec2f::Zero();
  SurfacePoint coarse, fine;
};

/// What a chart's texels show.
class Sampler {
 public:
  Sampler(const Chart& chart, std::span<const Vec2f> coarse_uvs, std::span<const Vec2f> fine_uvs,
          int side_px, int padding)
      : chart_(chart), coarse_uvs_(coarse_uvs) {
    const UvRasterDesc desc{.width = side_px, .height = side_px, .padding = padding};
    const Vec2f square = squareOfMost(coarse_uvs, chart.coarse);
    const UvRaster under = rasteriseUvs(uvsInSquare(coarse_uvs, square), chart.coarse, desc);
    const UvRaster over = rasteriseUvs(uvsInSquare(fine_uvs, square), chart.fine, desc);
    overlapping_ = under.overlapping_texels;
    for (int y = 0; y < side_px; ++y)
      for (int x = 0; x < side_px; ++x) {
        const std::size_t texel = under.texel(x, y);
        if (!under.hasSurface(texel) || !over.hasSurface(texel)) continue;
        const auto middle = [&](int at) {
          return (static_cast<float>(at) + 0.5f) / static_cast<float>(side_px);
        };
        samples.push_back(
            {texel, Vec2f(middle(x), middle(y)), under.points[texel], over.points[texel]});
      }
  }

  std::vector<Sample> samples;
  std::size_t overlapping() const { return overlapping_; }

  /// The folded normal at a sample, in the frame that shaders make of the smooth surface and its
  /// texture coordinates (Mikkelsen 2010): x along u, y against v, z along the normal.
  Vec3f normalAt(const Sample& sample, const Motion& motion) const {
    const Triangle& t = chart_.coarse[sample.coarse.triangle];
    const std::span<const Vec3f> p = motion.coarse->positions();
    const Vec3f n =
        valueAt<Vec3f>(sample.coarse, chart_.coarse, motion.coarse->normals()).normalized();
    const Vec3f e1 = p[t[1]] - p[t[0]], e2 = p[t[2]] - p[t[0]];
    const Vec2f d1 = coarse_uvs_[t[1]] - coarse_uvs_[t[0]];
    const Vec2f d2 = coarse_uvs_[t[2]] - coarse_uvs_[t[0]];
    const Vec3f a = e2.cross(n), b = n.cross(e1);
    const Vec3f along_u = a * d1.x() + b * d2.x(), along_v = a * d1.y() + b * d2.y();
    Mat3f frame;
    frame.col(0) = along_u.normalized();
    frame.col(1) = -along_v.normalized();
    frame.col(2) = n;
    const Vec3f fine =
        valueAt<Vec3f>(sample.fine, chart_.fine, motion.fine->normals()).normalized();
    const Vec3f out = (frame.inverse() * fine).normalized();
    return out.allFinite() && out.z() > 0 ? out : Vec3f(0, 0, 1);
  }

 private:
  const Chart& chart_;
  std::span<const Vec2f> coarse_uvs_;
  std::size_t overlapping_ = 0;
};

float angleTo(const Vec3f& a, const Vec3f& b) {
  return 2 * std::asin(std::min(1.0f, 0.5f * Vec3f(a - b).norm()));
}

/// What a shader shows: maps over each other, each faded to flat by its weight.
class MapBlend {
 public:
  void add(const Vec3f& map, float weight) {
    const Vec3f flat(0, 0, 1);
    const Vec3f m = (flat + weight * (map - flat)).normalized();
    sum_ = Vec3f(sum_.x() + m.x(), sum_.y() + m.y(), sum_.z() * m.z());
  }
  Vec3f normal() const { return sum_.normalized(); }

 private:
  Vec3f sum_ = Vec3f(0, 0, 1);
};

std::uint8_t encoded(float component) {
  return static_cast<std::uint8_t>(std::clamp(std::lround(127.5f * component + 127.5f), 0l, 255l));
}

/// As a shader reads it, between texels.
Vec3f texture(const Rgba8Image& image, const Vec2f& uv) {
  const float x = uv.x() * static_cast<float>(image.width) - 0.5f;
  const float y = uv.y() * static_cast<float>(image.height) - 0.5f;
  const float fx = x - std::floor(x), fy = y - std::floor(y);
  Vec3f sum = Vec3f::Zero();
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 2; ++i) {
      const Rgba8& p = image.at(std::clamp(int(std::floor(x)) + i, 0, image.width - 1),
                                std::clamp(int(std::floor(y)) + j, 0, image.height - 1));
      const float share = (i == 0 ? 1 - fx : fx) * (j == 0 ? 1 - fy : fy);
      sum += share * Vec3f(float(p.r), float(p.g), float(p.b));
    }
  return (sum * (2 / 255.0f) - Vec3f::Ones()).normalized();
}

/// The maps of one material and their weights.
struct ChartMaps {
  std::vector<std::size_t> keys;            ///< instants that the maps are of
  std::vector<std::vector<float>> weights;  ///< per instant, one per map
  std::vector<Rgba8Image> images;
};

class ChartFitter {
 public:
  ChartFitter(const Chart& chart, const TriMesh& coarse, const TriMesh& fine,
              const FoldMapsDesc& desc, std::span<const Instant> instants)
      : chart_(chart),
        coarse_(coarse),
        fine_(fine),
        desc_(desc),
        instants_(instants),
        sampler_(chart, coarse.uvs, fine.uvs, kSampleSide_px, 0) {}

  std::size_t overlapping() const { return sampler_.overlapping(); }
  bool folds() const { return !sampler_.samples.empty(); }

  /// First pass, every frame: where there are folds at all.
  void look(const Motion& motion) {
    turned_.resize(sampler_.samples.size(), 0.0f);
    parallelFor(turned_.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        turned_[i] = std::max(
            turned_[i], angleTo(sampler_.normalAt(sampler_.samples[i], motion), Vec3f(0, 0, 1)));
    });
  }
  void keepFolds() {
    std::vector<Sample> kept;
    for (std::size_t i = 0; i < turned_.size(); ++i)
      if (turned_[i] > kNoFold) kept.push_back(sampler_.samples[i]);
    sampler_.samples = std::move(kept);
  }

  /// Second pass, every instant in order: what is to be shown there.
  void record(const Motion& motion) {
    std::vector<Vec3f>& normals = wanted_.emplace_back(sampler_.samples.size());
    parallelFor(normals.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i)
        normals[i] = sampler_.normalAt(sampler_.samples[i], motion);
    });
  }

  /// One map after the other, of the frame that the maps so far show worst.
  void choose(std::size_t max_maps) {
    for (;;) {
      findWeights();
      std::optional<std::size_t> worst;
      double most = desc_.error_rad;
      for (std::size_t i = 0; i < instants_.size(); ++i) {
        if (!instants_[i].is_frame) continue;
        const double off = errorAt(i, [&](std::size_t map, std::size_t sample) {
                             return wanted_[maps_.keys[map]][sample];
                           }).rms;
        if (off <= most) continue;
        most = off;
        worst = i;
      }
      if (!worst || maps_.keys.size() >= max_maps) return;
      if (std::find(maps_.keys.begin(), maps_.keys.end(), *worst) != maps_.keys.end()) return;
      maps_.keys.push_back(*worst);
    }
  }

  /// Third pass: the instants of `maps().keys`.
  void draw(std::size_t map, const Motion& motion) {
    if (!full_) full_.emplace(chart_, coarse_.uvs, fine_.uvs, desc_.size_px, kPadding_px);
    maps_.images.resize(maps_.keys.size());
    Rgba8Image image(desc_.size_px, desc_.size_px);
    std::fill(image.pixels.begin(), image.pixels.end(), Rgba8{128, 128, 255, 255});
    const std::vector<Sample>& samples = full_->samples;
    parallelFor(samples.size(), kChunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const Vec3f n = full_->normalAt(samples[i], motion);
        if (angleTo(n, Vec3f(0, 0, 1)) <= kNoFold) continue;
        image.pixels[samples[i].texel] = {encoded(n.x()), encoded(n.y()), encoded(n.z()), 255};
      }
    });
    maps_.images[map] = std::move(image);
  }

  /// Of what plays, after all maps are drawn.
  void measure(BakeReport::FoldMaps& report) {
    std::vector<std::vector<Vec3f>> shown;
    for (const Rgba8Image& image : maps_.images) {
      std::vector<Vec3f>& normals = shown.emplace_back(sampler_.samples.size());
      for (std::size_t i = 0; i < normals.size(); ++i)
        normals[i] = texture(image, sampler_.samples[i].uv);
    }
    for (std::size_t i = 0; i < instants_.size(); ++i) {
      const Off off =
          errorAt(i, [&](std::size_t map, std::size_t sample) { return shown[map][sample]; });
      const bool frame = instants_[i].is_frame;
      double& most = frame ? report.max_error_rad : report.max_error_between_rad;
      most = std::max(most, off.largest);
      double& mean = frame ? report.rms_error_rad : report.rms_error_between_rad;
      mean = std::max(mean, off.rms);
      for (const Vec3f& n : wanted_[i])
        report.largest_turn_rad =
            std::max<double>(report.largest_turn_rad, angleTo(n, Vec3f(0, 0, 1)));
    }
  }

  const ChartMaps& maps() const { return maps_; }
  int material() const { return chart_.material; }

 private:
  struct Off {
    double largest = 0, rms = 0;  ///< [rad]
  };
  template <class MapNormal>
  Off errorAt(std::size_t instant, const MapNormal& normal_of) const {
    Off out;
    double squares = 0;
    const std::vector<Vec3f>& wanted = wanted_[instant];
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      MapBlend blend;
      for (std::size_t m = 0; m < maps_.keys.size(); ++m)
        blend.add(normal_of(m, i), maps_.weights[instant][m]);
      const double angle = angleTo(blend.normal(), wanted[i]);
      out.largest = std::max(out.largest, angle);
      squares += angle * angle;
    }
    out.rms = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(wanted.size(), 1)));
    return out;
  }

  /// Least squares of the maps' x and y at every frame, in [0,1]; linear in between.
  void findWeights() {
    const auto count = static_cast<Eigen::Index>(maps_.keys.size());
    const auto dot = [&](std::size_t a, std::size_t b) {
      double sum = 0;
      for (std::size_t i = 0; i < wanted_[a].size(); ++i)
        sum += wanted_[a][i].head<2>().cast<double>().dot(wanted_[b][i].head<2>().cast<double>());
      return sum;
    };
    Eigen::MatrixXd gram(count, count);
    for (Eigen::Index a = 0; a < count; ++a)
      for (Eigen::Index b = 0; b < count; ++b)
        gram(a, b) = dot(maps_.keys[std::size_t(a)], maps_.keys[std::size_t(b)]);
    maps_.weights.assign(instants_.size(), std::vector<float>(maps_.keys.size(), 0.0f));
    for (std::size_t i = 0; i < instants_.size(); ++i) {
      if (!instants_[i].is_frame) continue;
      Eigen::VectorXd right(count);
      for (Eigen::Index a = 0; a < count; ++a) right[a] = dot(maps_.keys[std::size_t(a)], i);
      const Eigen::VectorXd weights = boxed(gram, right);
      for (Eigen::Index a = 0; a < count; ++a)
        maps_.weights[i][std::size_t(a)] = static_cast<float>(weights[a]);
    }
    for (std::size_t i = 1; i + 1 < instants_.size(); ++i)
      if (!instants_[i].is_frame)
        for (std::size_t m = 0; m < maps_.keys.size(); ++m)
          maps_.weights[i][m] = 0.5f * (maps_.weights[i - 1][m] + maps_.weights[i + 1][m]);
  }

  /// min |A w - b| with w in [0,1], by coordinates: at most eight of them.
  static Eigen::VectorXd boxed(const Eigen::MatrixXd& gram, const Eigen::VectorXd& right) {
    Eigen::VectorXd w = Eigen::VectorXd::Zero(right.size());
    for (int round = 0; round < 500; ++round)
      for (Eigen::Index k = 0; k < w.size(); ++k) {
        if (!(gram(k, k) > 0)) continue;
        const double rest = right[k] - gram.row(k).dot(w) + gram(k, k) * w[k];
        w[k] = std::clamp(rest / gram(k, k), 0.0, 1.0);
      }
    return w;
  }

  const Chart& chart_;
  const TriMesh& coarse_;
  const TriMesh& fine_;
  const FoldMapsDesc& desc_;
  std::span<const Instant> instants_;
  Sampler sampler_;
  std::optional<Sampler> full_;
  std::vector<float> turned_;
  std::vector<std::vector<Vec3f>> wanted_;  ///< per instant, one per sample
  ChartMaps maps_;
};

/// The number after the largest that a bake has given before.
std::size_t nextNumber(const Character& character) {
  std::size_t last = 0;
  for (const Control& control : character.controls)
    last = std::max<std::size_t>(last, numberBehind(kNamePrefix, control.name));
  return last + 1;
}

std::optional<std::size_t> clipOf(const Scene& scene) {
  if (scene.clip() == nullptr) return std::nullopt;
  return static_cast<std::size_t>(scene.clip() - scene.character()->clips.data());
}

/// Puts a material's maps into the character: pictures, controls, tracks of the clips.
void addTo(Character& character, const ChartFitter& chart, std::span<const Scene> scenes,
           std::span<const Instant> instants) {
  int material = chart.material();
  if (material < 0) {  // parts without a material need one to carry maps
    material = static_cast<int>(character.materials.size());
    character.materials.push_back({.name = "derm folds"});
    for (MeshPart& part : character.parts)
      if (part.material < 0) part.material = material;
  }
  std::size_t number = nextNumber(character);
  const ChartMaps& maps = chart.maps();
  for (std::size_t m = 0; m < maps.keys.size(); ++m, ++number) {
    const std::string name = std::string(kNamePrefix) + std::to_string(number);
    const auto image = static_cast<int>(character.images.size());
    character.images.push_back(
        {.name = name, .mime_type = "image/png", .uri = {}, .bytes = encodePng(maps.images[m])});
    character.materials[static_cast<std::size_t>(material)].detail_maps.push_back(
        {.image = image, .control = name});
    const auto control = static_cast<std::uint32_t>(character.controls.size());
    character.controls.push_back({.name = name});
    for (std::size_t c = 0; c < scenes.size(); ++c) {
      Track track{.channel = Channel::Control, .control = control};
      for (std::size_t i = 0; i < instants.size(); ++i) {
        if (instants[i].clip != c || !instants[i].is_frame) continue;
        const auto time = static_cast<float>(instants[i].time_s);
        if (!track.times_s.empty() && !(time > track.times_s.back())) continue;
        track.times_s.push_back(time);
        track.values.push_back(maps.weights[i][m]);
      }
      if (const std::optional<std::size_t> clip = clipOf(scenes[c]))
        character.clips[*clip].tracks.push_back(std::move(track));
      else if (character.clips.size() > scenes[c].character()->clips.size())
        character.clips.back().tracks.push_back(std::move(track));  // of the rest pose, held
      else
        character.controls.back().preset = track.values.front();
    }
  }
}

}  // namespace

Result<BakeReport::FoldMaps> addFoldMaps(std::span<const Scene> folded,
                                         std::span<const Scene> smooth, const FoldMapsDesc& desc,
                                         Character& character, Diagnostics& notes,
                                         const Progress& progress) {
  const Error cancelled{ErrorCode::Cancelled, "cancelled", {}};
  const TriMesh& coarse = folded.front().character()->mesh;
  const BoundSurface& fine = folded.front().stack().output();
  if (coarse.uvs.empty())
    return Error{ErrorCode::BadData,
                 "has no texture coordinates to draw normal maps in",
                 {.file = character.name}};
  if (!sourcesAreKnown(fine, coarse.triangles.size()))
    return Error{ErrorCode::BadArgument,
                 "a layer changes the triangles without telling what they were cut from, which "
                 "normal maps need",
                 {.file = character.name}};
  const std::vector<Instant> frames = instantsOf(folded, false),
                             instants = instantsOf(folded, true);
  const std::vector<Chart> charts = chartsOf(*folded.front().character(), fine);
  std::vector<ChartFitter> fitters;
  for (const Chart& chart : charts) fitters.emplace_back(chart, coarse, fine.rest, desc, instants);
  const auto play = [&](std::span<const Instant> which, double from, const auto& each) {
    Motion motion(folded, smooth);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const double done = static_cast<double>(i) / static_cast<double>(which.size());
      if (!keepGoing(progress, from + 0.3 * done, "normal maps")) return false;
      motion.show(which[i]);
      for (ChartFitter& fitter : fitters) each(fitter, i, motion);
    }
    return true;
  };
  if (!play(frames, 0.0, [](ChartFitter& f, std::size_t, Motion& motion) { f.look(motion); }))
    return cancelled;
  for (ChartFitter& fitter : fitters) fitter.keepFolds();
  if (!play(instants, 0.3, [](ChartFitter& f, std::size_t, Motion& motion) { f.record(motion); }))
    return cancelled;
  for (ChartFitter& fitter : fitters) {
    if (!fitter.folds()) continue;
    std::size_t taken = 0;
    if (fitter.material() >= 0)
      taken = character.materials[static_cast<std::size_t>(fitter.material())].detail_maps.size();
    fitter.choose(std::min(desc.max_maps,
                           FoldMapsDesc::kMostMaps - std::min(taken, FoldMapsDesc::kMostMaps)));
    if (fitter.overlapping() > 0)
      notes.warn("uv-overlap", character.name,
                 "charts lie over each other in the texture: folds on one show on the other");
  }
  if (!play(instants, 0.6, [](ChartFitter& f, std::size_t i, Motion& motion) {
        const std::vector<std::size_t>& keys = f.maps().keys;
        const auto at = std::find(keys.begin(), keys.end(), i);
        if (at != keys.end()) f.draw(static_cast<std::size_t>(at - keys.begin()), motion);
      }))
    return cancelled;
  BakeReport::FoldMaps report{.size_px = desc.size_px};
  for (ChartFitter& fitter : fitters) {
    if (!fitter.folds()) continue;
    fitter.measure(report);
    report.maps += fitter.maps().keys.size();
    addTo(character, fitter, folded, instants);
  }
  if (report.maps == 0)
    notes.info("no-folds", character.name, "no fold shows in this motion; no map was added");
  return report;
}

}  // namespace derm::detail
