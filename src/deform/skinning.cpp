#include "derm/deform/skinning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "derm/base/nearest_name.h"
#include "derm/base/parallel.h"

#include "deform/skinning_blocks.h"
#include "deform/skinning_kernels.h"
#include "deform/skinning_palette.h"

namespace derm {
namespace {

Error bad(const char* element, std::optional<std::uint64_t> index, std::string message) {
  return Error{ErrorCode::BadData, std::move(message), {.element = element, .index = index}};
}

template <class V>
Result<void> checkStream(const char* element, std::span<const V> stream, std::size_t vertices) {
  if (!stream.empty() && stream.size() != vertices)
    return bad(
        element, std::nullopt,
        std::to_string(stream.size()) + " entries for " + std::to_string(vertices) + " vertices");
  for (std::size_t v = 0; v < stream.size(); ++v)
    if (!stream[v].allFinite()) return bad(element, v, "not a finite number");
  return {};
}

Result<void> checkShares(const SkinningDesc& desc, std::size_t vertices) {
  const std::vector<float>& shares = desc.dual_quaternion_share;
  if (shares.empty()) return {};
  constexpr const char* kElement = "dual_quaternion_share";
  if (desc.method == SkinningMethod::Rigid || desc.method == SkinningMethod::Centre)
    return Error{ErrorCode::BadArgument,
                 "shares need the linear or dual-quaternion method",
                 {.element = kElement}};
  if (shares.size() != vertices)
    return Error{
        ErrorCode::BadArgument,
        std::to_string(shares.size()) + " entries for " + std::to_string(vertices) + " vertices",
        {.element = kElement}};
  for (std::size_t v = 0; v < shares.size(); ++v)
    if (!(shares[v] >= 0 && shares[v] <= 1))
      return Error{ErrorCode::BadArgument, "not in [0,1]", {.element = kElement, .index = v}};
  return {};
}

void noteMissingDirections(const SurfaceStreams& rest, Diagnostics& notes) {
  for (std::size_t v = 0; v < rest.normals.size(); ++v)
    if (!(rest.normals[v].cast<double>().norm() > 1e-15))
      notes.warn("normal-without-length", "normals", "normal without length, +Y used", v);
  for (std::size_t v = 0; v < rest.tangents.size(); ++v)
    if (!(rest.tangents[v].head<3>().cast<double>().norm() > 1e-15))
      notes.warn("tangent-without-length", "tangents", "tangent without length, +X used", v);
}

template <class V>
const float* numbers(std::span<const V> stream) {
  return stream.empty() ? nullptr : stream.data()->data();
}
template <class V>
float* numbers(std::span<V> stream) {
  return stream.empty() ? nullptr : stream.data()->data();
}

}  // namespace

std::string_view name(SkinningMethod method) {
  for (const auto& [known, text] : kSkinningMethodNames)
    if (known == method) return text;
  return "unknown";
}

Result<SkinningMethod> parseSkinningMethod(std::string_view wanted) {
  std::vector<std::string> names;
  for (const auto& [method, text] : kSkinningMethodNames) {
    if (text == wanted) return method;
    names.emplace_back(text);
  }
  return Error{ErrorCode::BadArgument,
               "no skinning method \"" + std::string(wanted) + "\"" + didYouMean(wanted, names),
               {}};
}

SkinningScratch::SkinningScratch(std::unique_ptr<detail::SkinningPalette> palette)
    : palette_(std::move(palette)) {}
SkinningScratch::SkinningScratch(SkinningScratch&&) noexcept = default;
SkinningScratch& SkinningScratch::operator=(SkinningScratch&&) noexcept = default;
SkinningScratch::~SkinningScratch() = default;

SkinningBinding::SkinningBinding(std::shared_ptr<const detail::SkinningBlocks> blocks, double alpha)
    : blocks_(std::move(blocks)), alpha_(static_cast<float>(alpha)) {}

namespace {

Result<void> checkSurface(const SurfaceStreams& rest, const Skin& skin, const SkinningDesc& desc) {
  const std::size_t n = rest.positions.size();
  if (n >= std::numeric_limits<std::uint32_t>::max())
    return bad("positions", std::nullopt, "more vertices than 32-bit indices reach");
  DERM_CHECK(checkStream("positions", rest.positions, n));
  DERM_CHECK(checkStream("normals", rest.normals, n));
  DERM_CHECK(checkStream("tangents", rest.tangents, n));
  // Joints are the skeleton's business: any valid one will do here.
  DERM_CHECK(validate(skin, n, std::numeric_limits<std::size_t>::max(), ""));
  DERM_CHECK(checkShares(desc, n));
  if (!(desc.alpha >= 0 && desc.alpha <= 1))
    return Error{ErrorCode::BadArgument, "expected a number, 0 to 1", {.element = "alpha"}};
  return {};
}

}  // namespace

Result<SkinningBinding> SkinningBinding::bind(const SurfaceStreams& rest, const Skin& skin,
                                              const SkinningDesc& desc, Diagnostics& notes) {
  DERM_CHECK(checkSurface(rest, skin, desc));
  if (desc.method == SkinningMethod::Centre)
    return Error{ErrorCode::BadArgument,
                 "the centre method needs the mesh's triangles and the skeleton",
                 {.element = "method"}};
  noteMissingDirections(rest, notes);
  return SkinningBinding(std::make_shared<const detail::SkinningBlocks>(
                             detail::makeSkinningBlocks(rest, skin, desc, {})),
                         desc.alpha);
}

Result<SkinningBinding> SkinningBinding::bind(const TriMesh& rest, const Skeleton& skeleton,
                                              const Skin& skin, const SkinningDesc& desc,
                                              Diagnostics& notes) {
  if (desc.method != SkinningMethod::Centre) return bind(surfaceOf(rest), skin, desc, notes);
  DERM_CHECK(checkSurface(surfaceOf(rest), skin, desc));
  DERM_CHECK(validate(rest, ""));
  DERM_CHECK(validate(skin, rest.vertexCount(), skeleton.size(), ""));
  noteMissingDirections(surfaceOf(rest), notes);
  detail::CentreTables tables{.of_vertices = rotationCentres(rest.positions, rest.triangles, skin),
                              .links = slotLinks(skeleton, skin),
                              .twist_bones = findTwistBones(skeleton, skin, desc.twist_spread)};
  if (!tables.twist_bones.empty())
    tables.twists = twistShares(tables.twist_bones, skeleton, skin, rest.positions);
  return SkinningBinding(std::make_shared<const detail::SkinningBlocks>(
                             detail::makeSkinningBlocks(surfaceOf(rest), skin, desc, tables)),
                         desc.alpha);
}

SkinningBinding SkinningBinding::withAlpha(double alpha) const {
  DERM_REQUIRE(alpha >= 0 && alpha <= 1);
  return SkinningBinding(blocks_, alpha);
}

std::span<const Vec3f> SkinningBinding::centres() const { return blocks_->vertex_centres; }
std::span<const TwistBone> SkinningBinding::twistBones() const { return blocks_->twist_bones; }

std::size_t SkinningBinding::vertexCount() const { return blocks_->vertex_count; }
std::size_t SkinningBinding::slotCount() const { return blocks_->slotCount(); }

SkinningScratch SkinningBinding::makeScratch() const {
  return SkinningScratch(std::make_unique<detail::SkinningPalette>(
      blocks_->slotCount(), blocks_->uses_dual_quaternions, blocks_->twist_bones.size()));
}

void SkinningBinding::evaluate(std::span<const Affine3f> palette, SkinningScratch& scratch,
                               const SurfaceOutput& out) const noexcept {
  DERM_REQUIRE(out.normals.empty() || blocks_->has_normals);
  DERM_REQUIRE(out.tangents.empty() || blocks_->has_tangents);
  run(palette, SurfaceStreams{}, scratch, out);
}

void SkinningBinding::evaluate(std::span<const Affine3f> palette, const SurfaceStreams& in,
                               SkinningScratch& scratch, const SurfaceOutput& out) const noexcept {
  const std::size_t n = vertexCount();
  DERM_REQUIRE(in.positions.size() == n);
  DERM_REQUIRE(in.normals.size() == n || out.normals.empty());
  DERM_REQUIRE(in.tangents.size() == n || out.tangents.empty());
  // Kernels read a few bytes of the next vertex, too: in place they would race.
  DERM_REQUIRE(n == 0 || in.positions.data() != out.positions.data());
  DERM_REQUIRE(out.normals.empty() || in.normals.data() != out.normals.data());
  DERM_REQUIRE(out.tangents.empty() || in.tangents.data() != out.tangents.data());
  run(palette, in, scratch, out);
}

void SkinningBinding::run(std::span<const Affine3f> palette, const SurfaceStreams& in,
                          SkinningScratch& scratch, const SurfaceOutput& out) const noexcept {
  const std::size_t n = vertexCount();
  DERM_REQUIRE(palette.size() == slotCount());
  DERM_REQUIRE(scratch.palette_ &&
               scratch.palette_->fits(slotCount(), blocks_->uses_dual_quaternions,
                                      blocks_->twist_bones.size()));
  DERM_REQUIRE(out.positions.size() == n);
  DERM_REQUIRE(out.normals.empty() || out.normals.size() == n);
  DERM_REQUIRE(out.tangents.empty() || out.tangents.size() == n);
  scratch.palette_->prepare(scratch.palette_->takeTwists(palette, blocks_->twist_bones),
                            blocks_->slot_centres, blocks_->slot_links);
  const detail::SkinningFrame frame{
      .blocks = blocks_.get(),
      .palette = scratch.palette_.get(),
      .alpha = alpha_,
      .in_positions = numbers(in.positions),
      .in_normals = numbers(in.normals),
      .in_tangents = numbers(in.tangents),
      .out_positions = numbers(out.positions),
      .out_normals = numbers(out.normals),
      .out_tangents = numbers(out.tangents),
  };
  parallelFor(blocks_->tileCount(), 1,
              [&](std::size_t begin, std::size_t end) { detail::skinTiles(frame, begin, end); });
}

}  // namespace derm
