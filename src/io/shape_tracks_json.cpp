#include <array>
#include <cmath>
#include <unordered_map>

#include "io/json_dom.h"
#include "io/shape_tracks_forms.h"
#include "io/text_scanner.h"

namespace derm::detail {
namespace {

/// The first of several members that other programs call differently.
template <std::size_t N>
const Json* anyMember(const Json& object, const std::array<const char*, N>& keys) {
  for (const char* key : keys)
    if (const Json* found = findMember(object, key)) return found;
  return nullptr;
}

constexpr std::array kNames{"names", "facsNames", "blendShapeNames", "blendshapeNames", "shapes"};
constexpr std::array kFrames{"frames", "weightMat", "values", "weights", "data"};
constexpr std::array kRate{"fps", "exportFps", "frameRate", "frame_rate", "rate"};
constexpr std::array kTimes{"times", "timestamps"};
constexpr std::array kSeconds{"time", "t", "timestamp", "time_s"};
constexpr std::array kMilliseconds{"timestamp_ms", "time_ms", "timestampMs", "timeMs"};
constexpr std::array kShapes{"blendshapes", "blendShapes",  "faceBlendshapes", "weights",
                             "values",      "coefficients", "shapes"};
constexpr std::array kEntryName{"name", "categoryName", "shape"};
constexpr std::array kEntryValue{"value", "score", "weight"};
constexpr std::array kHead{"head", "headRotation", "head_rotation"};

class JsonReader {
 public:
  JsonReader(std::string_view file, std::size_t bytes, Diagnostics& notes)
      : file_(file), notes_(notes), max_values_((std::size_t{1} << 22) + 4 * bytes) {}

  Result<ShapeTracks> read(const Json& root) {
    const Json* frames = &root;
    if (root.is_object()) {
      frames = anyMember(root, kFrames);
      if (frames == nullptr)
        return error({}, "no \"frames\"; must be {\"names\": […], \"fps\": …, \"frames\": [[…]]}");
      DERM_CHECK(readNames(root));
      DERM_CHECK(readRate(root));
    }
    if (!frames->is_array()) return error({}, "the frames must be a list");
    DERM_CHECK(readTimes(root, frames->size()));
    for (std::size_t f = 0; f < frames->size(); ++f) DERM_CHECK(readFrame((*frames)[f], f));
    if (const Json* head = root.is_object() ? anyMember(root, kHead) : nullptr) {
      if (!head->is_array() || head->size() != frames->size())
        return error({}, "\"head\" must have as many entries as there are frames");
      for (std::size_t f = 0; f < head->size(); ++f) DERM_CHECK(readHead((*head)[f], f));
    }
    return finish(frames->size());
  }

 private:
  Error error(std::optional<std::uint64_t> frame, std::string message) const {
    return {ErrorCode::BadData,
            std::move(message),
            {.file = std::string(file_), .element = frame ? "frames" : "", .index = frame}};
  }

  Result<void> readNames(const Json& root) {
    const Json* names = anyMember(root, kNames);
    if (names == nullptr) return {};
    if (!names->is_array()) return error({}, "the names must be a list of words");
    for (const Json& name : *names) {
      if (!name.is_string() || name.get_ref<const std::string&>().empty())
        return error({}, "the names must be a list of words");
      if (!index_.emplace(name.get_ref<const std::string&>(), names_.size()).second)
        return error(
            {}, "the name " + text::quoted(name.get_ref<const std::string&>()) + " is there twice");
      names_.push_back(name.get<std::string>());
      if (names_.size() > kMaxShapes) return tooMany();
    }
    return {};
  }

  Error tooFull(std::size_t frame) const {
    return error(frame, "more shapes that most frames do not name than any face has");
  }

  Error tooMany() const { return error({}, "more than " + std::to_string(kMaxShapes) + " shapes"); }

  Result<void> readRate(const Json& root) {
    const Json* rate = anyMember(root, kRate);
    if (rate == nullptr) return {};
    rate_ = rate->is_number() ? rate->get<double>() : 0;
    if (!(*rate_ > 0 && *rate_ <= 1e6)) return error({}, "the frame rate must be a number above 0");
    return {};
  }

  Result<void> readTimes(const Json& root, std::size_t frames) {
    const Json* times = root.is_object() ? anyMember(root, kTimes) : nullptr;
    if (times == nullptr) return {};
    if (!times->is_array() || times->size() != frames)
      return error({}, "there must be as many times as frames");
    for (std::size_t f = 0; f < frames; ++f) {
      DERM_TRY(const double time, number((*times)[f], f, "the time"));
      times_.push_back(time);
    }
    return {};
  }

  Result<double> number(const Json& json, std::size_t frame, const std::string& what) const {
    const double value = json.is_number() ? json.get<double>() : std::nan("");
    if (!(std::abs(value) <= 1e30)) return error(frame, what + " is not a number");
    return value;
  }

  Result<void> readFrame(const Json& frame, std::size_t f) {
    row_.assign(names_.size(), 0.0f);
    given_ = 0;
    if (frame.is_array()) {
      DERM_CHECK(readList(frame, f));
    } else if (frame.is_object()) {
      DERM_CHECK(readTimed(frame, f));
    } else {
      return error(f, "must be a list of numbers, or {\"time\": …, \"blendshapes\": {…}}");
    }
    rows_.push_back(row_);
    // A frame may name a shape or none, so that a short text could ask for long rows.
    values_ += row_.size();
    if (values_ > max_values_) return tooFull(f);
    if (given_ != names_.size()) ragged_ = true;
    return {};
  }

  Result<void> readTimed(const Json& frame, std::size_t f) {
    if (const Json* given = anyMember(frame, kSeconds)) {
      DERM_TRY(const double seconds, number(*given, f, "the time"));
      frame_times_.push_back(seconds);
    } else if (const Json* milliseconds = anyMember(frame, kMilliseconds)) {
      DERM_TRY(const double thousandths, number(*milliseconds, f, "the time"));
      frame_times_.push_back(thousandths / 1000);
    }
    if (const Json* head = anyMember(frame, kHead)) DERM_CHECK(readHead(*head, f));
    const Json* shapes = anyMember(frame, kShapes);
    if (shapes == nullptr) return error(f, "no \"blendshapes\"");
    if (shapes->is_object()) {
      for (const auto& [name, value] : shapes->get_ref<const Json::object_t&>())
        DERM_CHECK(readNamed(name, value, f));
      return {};
    }
    if (!shapes->is_array()) return error(f, "the shapes must be {name: value} or a list");
    if (shapes->empty() || !(*shapes)[0].is_object()) return readList(*shapes, f);
    for (const Json& entry : *shapes) {
      const Json* name = anyMember(entry, kEntryName);
      const Json* value = anyMember(entry, kEntryValue);
      if (name == nullptr || !name->is_string() || value == nullptr)
        return error(f, "a shape must be {\"categoryName\": …, \"score\": …}");
      DERM_CHECK(readNamed(name->get_ref<const std::string&>(), *value, f));
    }
    return {};
  }

  Result<void> readList(const Json& list, std::size_t f) {
    if (names_.empty()) return error(f, "a list of numbers, but no \"names\" say what they are");
    if (list.size() != names_.size())
      return error(f, std::to_string(list.size()) + " values, but there are " +
                          std::to_string(names_.size()) + " names");
    for (std::size_t s = 0; s < list.size(); ++s) {
      DERM_TRY(const double value, number(list[s], f, text::quoted(names_[s])));
      row_[s] = static_cast<float>(value);
    }
    given_ = names_.size();
    return {};
  }

  Result<void> readNamed(const std::string& name, const Json& json, std::size_t f) {
    if (name.empty()) return error(f, "a shape has no name");
    // MediaPipe's measure of a face in which nothing moves; it is no shape.
    if (name == "_neutral") return {};
    DERM_TRY(const double value, number(json, f, text::quoted(name)));
    const auto [at, fresh] = index_.emplace(name, names_.size());
    if (fresh) {
      names_.push_back(name);
      if (names_.size() > kMaxShapes) return tooMany();
      row_.push_back(0);
      if (f > 0) ragged_ = true;
    }
    row_[at->second] = static_cast<float>(value);
    ++given_;
    return {};
  }

  Result<void> readHead(const Json& json, std::size_t f) {
    std::array<double, 4> q{};
    if (!json.is_array() || json.size() != 4)
      return error(f, "the head's turn must be a quaternion [x, y, z, w]");
    for (std::size_t i = 0; i < 4; ++i) {
      DERM_TRY(q[i], number(json[i], f, "the head's turn"));
    }
    const Quatd turn(q[3], q[0], q[1], q[2]);
    if (!(std::abs(turn.norm() - 1) <= 1e-2))
      return error(f, "the head's turn is not a quaternion of length 1");
    head_.push_back(turn);
    return {};
  }

  Result<ShapeTracks> finish(std::size_t frames) {
    if (ragged_)
      notes_.info("shape-missing-in-frames", file_,
                  "shapes that a frame does not name are at rest");
    if (frames * names_.size() > max_values_) return tooFull(frames);
    ShapeTracks out;
    out.names = std::move(names_);
    for (const std::vector<float>& row : rows_) {
      out.values.insert(out.values.end(), row.begin(), row.end());
      out.values.resize(out.values.size() + out.names.size() - row.size(), 0.0f);
    }
    if (!times_.empty()) {
      out.times_s = std::move(times_);
    } else if (!frame_times_.empty()) {
      if (frame_times_.size() != frames) return error({}, "some frames have a time, others none");
      out.times_s = std::move(frame_times_);
    } else {
      if (!rate_ && frames > 1) return error({}, "no \"fps\" and no times");
      for (std::size_t f = 0; f < frames; ++f)
        out.times_s.push_back(static_cast<double>(f) / rate_.value_or(30));
    }
    if (!head_.empty() && head_.size() != frames)
      return error({}, "some frames have a head's turn, others none");
    out.head = std::move(head_);
    return settledTracks(std::move(out), {}, file_, notes_);
  }

  std::string_view file_;
  Diagnostics& notes_;
  std::size_t max_values_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::size_t> index_;
  std::optional<double> rate_;
  std::vector<double> times_, frame_times_;
  std::vector<Quatd> head_;
  std::vector<std::vector<float>> rows_;
  std::vector<float> row_;
  std::size_t given_ = 0;
  std::size_t values_ = 0;
  bool ragged_ = false;
};

}  // namespace

Result<ShapeTracks> parseShapeJson(std::span<const std::uint8_t> bytes, std::string_view name,
                                   Diagnostics& notes) {
  constexpr JsonLimits kLimits{.depth = 32, .memory = std::uint64_t{1} << 32};
  DERM_TRY(ParsedJson parsed, parseJson(bytes, name, kLimits, 0, notes));
  Result<ShapeTracks> out = JsonReader(name, bytes.size(), notes).read(parsed.root);
  dismantle(parsed.root);
  return out;
}

}  // namespace derm::detail
