#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <utility>

#include "derm/io/bvh.h"
#include "derm/io/file_bytes.h"

#include "io/bvh_hierarchy.h"
#include "io/import_units.h"
#include "io/text_scanner.h"

namespace derm {
namespace {

using detail::bvh::BvhChannel;
using detail::bvh::Hierarchy;
using detail::text::nextWord;

constexpr std::size_t kMaxFrames = 1 << 23;  // so that float times still increase
constexpr double kShortestFrame_s = 1e-6;
constexpr double kLongestFrame_s = 3600;
constexpr double kAssumedFrame_s = 1.0 / 30.0;

/// The channels of one joint and the tracks they fill.
struct JointChannels {
  std::size_t first = 0;
  std::size_t count = 0;
  std::optional<std::size_t> translation_track;
  std::optional<std::size_t> rotation_track;
};

class MotionParser {
 public:
  MotionParser(detail::text::LineScanner& lines, std::string_view name, Diagnostics& notes,
               const Hierarchy& hierarchy, double unit_m)
      : lines_(lines), name_(name), notes_(notes), hierarchy_(hierarchy), unit_m_(unit_m) {}
  Result<void> parse(BvhMotion& motion);

 private:
  Error bad(std::string message, std::optional<std::uint64_t> frame = std::nullopt) const {
    return Error{ErrorCode::BadData,
                 std::move(message),
                 {.file = std::string(name_),
                  .element = "MOTION",
                  .line = lines_.lineIfAny(),
                  .index = frame}};
  }
  bool nextFilledLine(std::string_view& line) {
    while (lines_.next(line)) {
      line = detail::text::trimmed(line);
      if (!line.empty()) return true;
    }
    return false;
  }
  Result<void> readHeader();
  void makeTracks(Clip& clip);
  Result<void> readFrame(std::string_view line, std::size_t frame);
  Result<void> addKeys(std::size_t frame, Clip& clip);

  detail::text::LineScanner& lines_;
  std::string_view name_;
  Diagnostics& notes_;
  const Hierarchy& hierarchy_;
  double unit_m_;
  std::uint64_t declared_frames_ = 0;
  double frame_time_s_ = 0;
  std::vector<JointChannels> joints_;
  std::vector<double> row_;
};

Result<void> MotionParser::readHeader() {
  bool has_frames = false, has_time = false;
  while (!has_frames || !has_time) {
    std::string_view line;
    if (!nextFilledLine(line))
      return bad(std::string("the file ends before \"") + (has_frames ? "Frame Time:" : "Frames:") +
                 "\"");
    const std::size_t colon = std::min(line.find(':'), line.size());
    const std::string_view key = detail::text::trimmed(line.substr(0, colon));
    const std::string_view value =
        detail::text::trimmed(line.substr(std::min(colon + 1, line.size())));
    if (detail::text::equalIgnoringCase(key, "Frames") && !has_frames) {
      std::int64_t count = 0;
      if (!detail::text::parseInteger(value, count) || count < 0)
        return bad("Frames: " + detail::text::quoted(value) + " is not a count");
      declared_frames_ = static_cast<std::uint64_t>(count);
      has_frames = true;
    } else if (detail::text::equalIgnoringCase(key, "Frame Time") && !has_time) {
      if (detail::text::parseNumber(value, frame_time_s_) != detail::text::NumberKind::Finite ||
          frame_time_s_ < 0)
        return bad("Frame Time: " + detail::text::quoted(value) + " is not a time in seconds");
      has_time = true;
      if (frame_time_s_ >= kShortestFrame_s && frame_time_s_ <= kLongestFrame_s) continue;
      notes_.warn("frame-time-unusable", name_,
                  "frame time " + std::string(value) + " s makes no sense; 1/30 s assumed");
      frame_time_s_ = kAssumedFrame_s;
    } else {
      return bad(detail::text::quoted(line) +
                 " where \"Frames:\" and \"Frame Time:\" are expected");
    }
  }
  return {};
}

void MotionParser::makeTracks(Clip& clip) {
  const std::size_t channels = hierarchy_.channels.size();
  // A right frame takes two bytes per value, so a hostile count cannot make us reserve more.
  const std::size_t frames = static_cast<std::size_t>(std::min<std::uint64_t>(
      declared_frames_, channels == 0 ? 0 : lines_.rest().size() / (2 * channels) + 1));
  const auto add = [&](Channel channel, std::uint32_t joint) {
    Track track;
    track.channel = channel;
    track.joint = JointId(joint);
    track.times_s.reserve(frames);
    track.values.reserve(frames * track.valueWidth());
    clip.tracks.push_back(std::move(track));
    return clip.tracks.size() - 1;
  };
  for (std::size_t c = 0; c < channels;) {
    JointChannels joint;
    joint.first = c;
    const std::uint32_t index = hierarchy_.channels[c].joint;
    for (; c < channels && hierarchy_.channels[c].joint == index; ++c) {
      std::optional<std::size_t>& track = detail::bvh::isRotation(hierarchy_.channels[c].kind)
                                              ? joint.rotation_track
                                              : joint.translation_track;
      if (!track)
        track = add(detail::bvh::isRotation(hierarchy_.channels[c].kind) ? Channel::Rotation
                                                                         : Channel::Translation,
                    index);
    }
    joint.count = c - joint.first;
    joints_.push_back(joint);
  }
}

Result<void> MotionParser::readFrame(std::string_view line, std::size_t frame) {
  const std::size_t wanted = hierarchy_.channels.size();
  row_.clear();
  std::size_t count = 0;
  for (std::string_view word = nextWord(line); !word.empty(); word = nextWord(line)) {
    if (++count > wanted) continue;
    double value = 0;
    const detail::text::NumberKind kind = detail::text::parseNumber(word, value);
    if (kind != detail::text::NumberKind::Finite)
      return bad("value " + std::to_string(count - 1) + ": " + detail::text::quoted(word) +
                     (kind == detail::text::NumberKind::NotFinite ? " is not a finite number"
                                                                  : " is not a number"),
                 frame);
    row_.push_back(value);
  }
  if (count != wanted)
    return bad(std::to_string(count) + " values, but the hierarchy needs " +
                   std::to_string(wanted) + " (" +
                   std::to_string(hierarchy_.skeleton.size() - hierarchy_.end_sites) + " joints)",
               frame);
  return {};
}

Result<void> MotionParser::addKeys(std::size_t frame, Clip& clip) {
  const auto time_s = static_cast<float>(static_cast<double>(frame) * frame_time_s_);
  for (const JointChannels& joint : joints_) {
    const std::uint32_t index = hierarchy_.channels[joint.first].joint;
    Vec3d position = hierarchy_.skeleton.joints[index].rest.translation.cast<double>();
    Quatd rotation = Quatd::Identity();
    for (std::size_t c = joint.first; c < joint.first + joint.count; ++c) {
      const int axis = detail::bvh::axisOf(hierarchy_.channels[c].kind);
      if (detail::bvh::isRotation(hierarchy_.channels[c].kind))
        rotation = rotation * Quatd(Eigen::AngleAxisd(row_[c] * std::numbers::pi / 180.0,
                                                      Eigen::Vector3d::Unit(axis)));
      else
        position[axis] = row_[c];
    }
    if (joint.translation_track) {
      const Vec3f value = (position * unit_m_).cast<float>();
      if (!value.allFinite()) return bad("position too large", frame);
      Track& track = clip.tracks[*joint.translation_track];
      track.times_s.push_back(time_s);
      track.values.insert(track.values.end(), value.data(), value.data() + 3);
    }
    if (joint.rotation_track) {
      Track& track = clip.tracks[*joint.rotation_track];
      rotation.normalize();
      Eigen::Vector4f value = rotation.coeffs().cast<float>();
      if (!track.values.empty() &&
          Eigen::Map<const Eigen::Vector4f>(&*(track.values.end() - 4)).dot(value) < 0)
        value = -value;
      track.times_s.push_back(time_s);
      track.values.insert(track.values.end(), value.data(), value.data() + 4);
    }
  }
  return {};
}

Result<void> MotionParser::parse(BvhMotion& motion) {
  DERM_CHECK(readHeader());
  makeTracks(motion.clip);
  std::string_view line;
  std::size_t frames = 0;
  while (nextFilledLine(line)) {
    if (frames == kMaxFrames)
      return bad("more than " + std::to_string(kMaxFrames) + " frames", frames);
    DERM_CHECK(readFrame(line, frames));
    DERM_CHECK(addKeys(frames, motion.clip));
    ++frames;
  }
  const std::string counts =
      std::to_string(frames) + " frames, but \"Frames:\" says " + std::to_string(declared_frames_);
  if (frames == 0 && declared_frames_ > 0 && !hierarchy_.channels.empty()) return bad(counts);
  if (frames == 0) motion.clip.tracks.clear();
  if (frames != declared_frames_) notes_.warn("frame-count-differs", name_, counts);
  motion.frame_count = frames;
  motion.frame_time_s = static_cast<float>(frame_time_s_);
  return {};
}

}  // namespace

Result<BvhMotion> parseBvh(std::string_view text, std::string_view name,
                           const ImportOptions& options, Diagnostics& notes) {
  DERM_TRY(const double unit_m, detail::assumedMetresPerUnit(options, name, "BVH", notes));
  detail::text::LineScanner lines(text);
  DERM_TRY(Hierarchy hierarchy, detail::bvh::parseHierarchy(lines, name));
  BvhMotion motion;
  motion.clip.name = detail::fileStem(name);
  DERM_CHECK(MotionParser(lines, name, notes, hierarchy, unit_m).parse(motion));
  motion.skeleton = std::move(hierarchy.skeleton);
  if (unit_m != 1.0)
    for (Joint& j : motion.skeleton.joints)
      j.rest.translation = (j.rest.translation.cast<double>() * unit_m).cast<float>();
  DERM_CHECK(validate(motion.skeleton, name));
  DERM_CHECK(validate(motion.clip, {.joints = motion.skeleton.size()}, name));
  return motion;
}

Result<BvhMotion> loadBvh(const std::filesystem::path& file, const ImportOptions& options,
                          Diagnostics& notes) {
  DERM_TRY(const std::vector<std::uint8_t> bytes, readFile(file));
  return parseBvh({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, file.string(),
                  options, notes);
}

Character characterOf(BvhMotion motion, const ImportOptions& options) {
  Character character;
  character.name = motion.clip.name;
  character.skeleton = std::move(motion.skeleton);
  if (!motion.clip.tracks.empty()) character.clips.push_back(std::move(motion.clip));
  character.import.format = "BVH";
  character.import.metres_per_unit = options.metres_per_unit.value_or(1.0);
  return character;
}

}  // namespace derm
