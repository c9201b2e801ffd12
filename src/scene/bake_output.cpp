#include "scene/bake_output.h"

#include <algorithm>
#include <string>

#include "derm/io/file_ending.h"
#include "derm/io/gltf.h"
#include "derm/io/obj.h"
#include "derm/io/point_cache.h"

#include "scene/cache_character.h"

namespace derm::detail {
namespace {

constexpr std::string_view kFrameMark = "{frame}";
/// Step weights take frames x frames numbers.
constexpr std::size_t kMaxGltfFrames = 4096;
constexpr std::uint64_t kMaxCacheBytes = std::uint64_t{4} << 30;

bool isGltf(const std::filesystem::path& file) {
  const std::string ending = fileEnding(file);
  return ending == ".glb" || ending == ".gltf";
}

Error badOutput(const BakeDesc& desc, std::string message) {
  return Error{ErrorCode::BadArgument, std::move(message), {.file = desc.output.string()}};
}

/// PC2 and MDD, frame by frame.
class PointCacheOutput final : public BakeOutput {
 public:
  explicit PointCacheOutput(PointCacheWriter writer) : writer_(std::move(writer)) {}
  Result<void> add(const BakedFrame& frame) override {
    return writer_.append(frame.wanted.positions);
  }
  Result<void> finish(BakeReport&, Diagnostics&, const Progress&) override {
    return writer_.commit();
  }

 private:
  PointCacheWriter writer_;
};

/// One OBJ per frame; all take their names together at the end.
class ObjOutput final : public BakeOutput {
 public:
  ObjOutput(const BakeDesc& desc, std::size_t frame_count, Character still)
      : to_(filesOf(desc)),
        pattern_(desc.output),
        digits_(std::to_string(frame_count - 1).size()),
        still_(std::move(still)) {}

  Result<void> add(const BakedFrame& frame) override {
    still_.mesh.positions.assign(frame.wanted.positions.begin(), frame.wanted.positions.end());
    still_.mesh.normals.assign(frame.wanted.normals.begin(), frame.wanted.normals.end());
    DERM_TRY(std::unique_ptr<OutputFile> file, to_.create(nameOf(frame.index)));
    DERM_CHECK(file->append(encodeObj(still_)));
    DERM_CHECK(file->finish());
    files_.push_back(std::move(file));
    return {};
  }
  Result<void> finish(BakeReport&, Diagnostics&, const Progress&) override {
    for (const auto& file : files_) DERM_CHECK(file->commit());
    return {};
  }

 private:
  std::filesystem::path nameOf(std::size_t index) const {
    std::string name = pattern_.filename().string();
    std::string number = std::to_string(index);
    number.insert(0, digits_ - std::min(digits_, number.size()), '0');
    for (std::size_t at = name.find(kFrameMark); at != std::string::npos;
         at = name.find(kFrameMark, at + number.size()))
      name.replace(at, kFrameMark.size(), number);
    return pattern_.parent_path() / name;
  }

  OutputFiles& to_;
  std::filesystem::path pattern_;
  std::size_t digits_;
  Character still_;
  std::vector<std::unique_ptr<OutputFile>> files_;
};

/// Morph targets with step weights.
class GltfCacheOutput final : public BakeOutput {
 public:
  GltfCacheOutput(const BakeDesc& desc, const Scene& scene)
      : desc_(desc), scene_(scene), character_(scene.stack(), scene.frameTimes().size()) {}

  Result<void> add(const BakedFrame& frame) override {
    character_.addFrame(frame.wanted.positions, frame.wanted.normals);
    if (frame.index == 0) character_.addChannels(frame.surface, notes_);
    return {};
  }
  Result<void> finish(BakeReport&, Diagnostics& notes, const Progress&) override {
    notes.merge(notes_);
    const std::string clip = scene_.clip() != nullptr ? scene_.clip()->name : "derm";
    return saveGltf(desc_.output, std::move(character_).take(scene_.frameTimes(), clip), notes,
                    filesOf(desc_));
  }

 private:
  const BakeDesc& desc_;
  const Scene& scene_;
  CacheCharacter character_;
  Diagnostics notes_;
};

Result<std::unique_ptr<BakeOutput>> openGltfCache(const BakeDesc& desc, const Scene& scene) {
  const std::size_t frames = scene.frameTimes().size();
  if (frames > kMaxGltfFrames)
    return badOutput(desc, std::to_string(frames) + " frames; a glTF cache holds at most " +
                               std::to_string(kMaxGltfFrames) + ": use .pc2 or .mdd");
  // What moves, and the weights of every mesh's shapes.
  const std::uint64_t bytes =
      std::uint64_t{frames} * (scene.stack().output().rest.vertexCount() * 2 * sizeof(Vec3f) +
                               scene.character()->instances.size() * frames * sizeof(float));
  if (bytes > kMaxCacheBytes)
    return badOutput(desc, "the cache would need " + std::to_string(bytes >> 20) +
                               " MiB of memory: use .pc2 or .mdd");
  return std::unique_ptr<BakeOutput>(std::make_unique<GltfCacheOutput>(desc, scene));
}

}  // namespace

Result<void> checkOutput(const BakeDesc& desc) {
  const std::string ending = fileEnding(desc.output);
  const bool known =
      isGltf(desc.output) || ending == ".pc2" || ending == ".mdd" || ending == ".obj";
  if (!known)
    return badOutput(
        desc, "cannot write \"" + ending + "\" files; .glb, .gltf, .pc2, .mdd or .obj is expected");
  const auto marked = [](const std::filesystem::path& file) {
    return file.string().find(kFrameMark) != std::string::npos;
  };
  if (ending != ".obj" && marked(desc.output))
    return badOutput(desc, "{frame} is for .obj: a " + ending + " file holds all frames");
  if (marked(desc.output.parent_path()))
    return badOutput(desc, "{frame} must be in the file's name, not its folder");
  if (desc.report && marked(*desc.report))
    return badOutput(desc, "the report is one file: no {frame} in its name");
  const bool correctives = desc.as != BakeAs::Cache;  // normal maps are added to them
  if (correctives && !isGltf(desc.output))
    return badOutput(desc, "correctives are morph targets: .glb or .gltf is expected");
  const FoldMapsDesc& maps = desc.fold_maps;
  if (maps.size_px < 16 || maps.size_px > 8192)
    return badOutput(desc, "maps are 16 to 8192 pixels wide");
  if (maps.max_maps < 1 || maps.max_maps > FoldMapsDesc::kMostMaps)
    return badOutput(desc, "1 to 8 maps are expected");
  if (!(maps.error_rad > 0)) return badOutput(desc, "an angle of more than 0 is expected");
  if (!correctives && (desc.correctives.shapes || desc.correctives.error_m))
    return badOutput(desc, "a number of shapes or an error bound is for correctives only");
  if (!correctives && desc.influences)
    return badOutput(desc, "a cache has no weights: a number of influences is for correctives");
  if (desc.influences && *desc.influences == 0)
    return badOutput(desc, "at least 1 influence is expected");
  if (!desc.channels.empty() && (correctives || !isGltf(desc.output)))
    return badOutput(desc, "channels become vertex groups, which .glb and .gltf caches hold");
  if (desc.correctives.shapes && desc.correctives.error_m)
    return badOutput(desc, "either a number of shapes or an error bound, not both");
  if (desc.correctives.shapes && *desc.correctives.shapes == 0)
    return badOutput(desc, "at least 1 shape is expected");
  if (desc.correctives.error_m && !(*desc.correctives.error_m > 0))
    return badOutput(desc, "an error bound of more than 0 is expected");
  if (desc.report && !desc.measure) return badOutput(desc, "a report needs measures");
  if (desc.report && desc.report->lexically_normal() == desc.output.lexically_normal())
    return badOutput(desc, "the report would replace the output");
  return {};
}

Result<std::unique_ptr<BakeOutput>> openOutput(const BakeDesc& desc, std::span<const Scene> scenes,
                                               std::span<const Scene> folded) {
  if (desc.as != BakeAs::Cache) return openCorrectivesOutput(desc, scenes, folded);
  if (scenes.size() > 1)
    return badOutput(desc, "a cache holds one clip; several are for correctives");
  const Scene& scene = scenes.front();
  if (isGltf(desc.output)) return openGltfCache(desc, scene);
  const std::size_t frames = scene.frameTimes().size();
  if (fileEnding(desc.output) == ".obj") {
    const bool marked = desc.output.filename().string().find(kFrameMark) != std::string::npos;
    if (!marked && frames > 1)
      return badOutput(desc, std::to_string(frames) +
                                 " frames in one file; put {frame} into its "
                                 "name: walk_{frame}.obj");
    return std::unique_ptr<BakeOutput>(
        std::make_unique<ObjOutput>(desc, frames, stillCharacter(scene.stack())));
  }
  const PointCacheDesc cache{
      .format = fileEnding(desc.output) == ".pc2" ? PointCacheFormat::Pc2 : PointCacheFormat::Mdd,
      .points = scene.stack().output().rest.vertexCount(),
      .times_s = {scene.frameTimes().begin(), scene.frameTimes().end()},
      .fps = scene.recipe().fps};
  DERM_TRY(PointCacheWriter writer, PointCacheWriter::create(desc.output, cache, filesOf(desc)));
  return std::unique_ptr<BakeOutput>(std::make_unique<PointCacheOutput>(std::move(writer)));
}

}  // namespace derm::detail
