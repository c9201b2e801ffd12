#include "io/bvh_hierarchy.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace derm::detail::bvh {
namespace {

using text::equalIgnoringCase;
using text::nextWord;

constexpr std::size_t kMaxJoints = 1 << 18;
constexpr std::size_t kLongestName = 255;
constexpr std::array<std::string_view, 6> kChannelNames = {"Xposition", "Yposition", "Zposition",
                                                           "Xrotation", "Yrotation", "Zrotation"};

class HierarchyParser {
 public:
  HierarchyParser(text::LineScanner& lines, std::string_view name) : lines_(lines), name_(name) {}
  Result<Hierarchy> parse();

 private:
  Error bad(std::string message, ErrorCode code = ErrorCode::BadData) const {
    return Error{code,
                 std::move(message),
                 {.file = std::string(name_), .element = "HIERARCHY", .line = lines_.lineIfAny()}};
  }
  /// The next word, over line ends; empty at the end of the text. Braces are words of their own.
  std::string_view word() {
    for (;;) {
      line_ = text::trimmed(line_);
      if (!line_.empty()) break;
      if (!lines_.next(line_)) return {};
    }
    if (line_.front() == '{' || line_.front() == '}') {
      const std::string_view brace = line_.substr(0, 1);
      line_.remove_prefix(1);
      return brace;
    }
    std::string_view rest = line_;
    const std::string_view whole = nextWord(rest);
    const std::string_view cut = whole.substr(0, whole.find_first_of("{}"));
    line_.remove_prefix(cut.size());
    return cut;
  }
  std::string_view nameOnLine() {
    const std::string_view name = text::trimmed(line_.substr(0, line_.find('{')));
    line_.remove_prefix(std::min(line_.find('{'), line_.size()));
    return name;
  }
  Result<void> statement(std::string_view keyword);
  Result<void> openJoint(std::string_view keyword);
  Result<void> offset();
  Result<void> channels();

  text::LineScanner& lines_;
  std::string_view name_;
  std::string_view line_;
  Hierarchy out_;
  std::vector<bool> has_channels_;   ///< per joint
  std::vector<std::uint32_t> open_;  ///< joints whose '}' is still to come
};

Result<void> HierarchyParser::openJoint(std::string_view keyword) {
  const bool root = equalIgnoringCase(keyword, "ROOT");
  const bool end_site = equalIgnoringCase(keyword, "End");
  if (root && !open_.empty()) return bad("ROOT inside a joint");
  if (!root && open_.empty()) return bad(std::string(keyword) + " outside of any ROOT");
  Joint joint;
  if (end_site) {
    if (!equalIgnoringCase(nameOnLine(), "Site")) return bad("\"End\" without \"Site\"");
    joint.name = out_.skeleton.joints[open_.back()].name + "_end";
    ++out_.end_sites;
  } else {
    joint.name = nameOnLine();
    if (joint.name.empty()) return bad(std::string(keyword) + " without a name");
    if (joint.name.size() > kLongestName)
      return bad("joint name " + text::quoted(joint.name) + " has more than 255 bytes");
  }
  if (out_.skeleton.size() == kMaxJoints)
    return bad("more than " + std::to_string(kMaxJoints) + " joints", ErrorCode::Unsupported);
  if (!open_.empty()) joint.parent = JointId(open_.back());
  if (word() != "{") return bad("\"{\" expected after joint " + text::quoted(joint.name));
  open_.push_back(static_cast<std::uint32_t>(out_.skeleton.size()));
  out_.skeleton.joints.push_back(std::move(joint));
  has_channels_.push_back(false);
  return {};
}

Result<void> HierarchyParser::offset() {
  Vec3f& translation = out_.skeleton.joints[open_.back()].rest.translation;
  for (int i = 0; i < 3; ++i) {
    const std::string_view number = word();
    if (text::parseNumber(number, translation[i]) != text::NumberKind::Finite)
      return bad("OFFSET of joint " + text::quoted(out_.skeleton.joints[open_.back()].name) + ": " +
                 text::quoted(number) + " is not a finite number");
  }
  return {};
}

Result<void> HierarchyParser::channels() {
  const std::uint32_t joint = open_.back();
  const std::string who = "CHANNELS of joint " + text::quoted(out_.skeleton.joints[joint].name);
  if (has_channels_[joint]) return bad(who + " are given twice");
  has_channels_[joint] = true;
  std::int64_t count = 0;
  const std::string_view number = word();
  if (!text::parseInteger(number, count) || count < 0)
    return bad(who + ": " + text::quoted(number) + " is not a count");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string_view channel = word();
    std::size_t kind = 0;
    while (kind < kChannelNames.size() && !equalIgnoringCase(kChannelNames[kind], channel)) ++kind;
    if (kind == kChannelNames.size())
      return bad(who + ": " + text::quoted(channel) + " is not a channel (" + std::to_string(i) +
                 " of " + std::to_string(count) + " read)");
    out_.channels.push_back({joint, static_cast<ChannelKind>(kind)});
  }
  return {};
}

Result<void> HierarchyParser::statement(std::string_view keyword) {
  if (equalIgnoringCase(keyword, "ROOT") || equalIgnoringCase(keyword, "JOINT") ||
      equalIgnoringCase(keyword, "End"))
    return openJoint(keyword);
  if (keyword == "}") {
    if (open_.empty()) return bad("\"}\" without a joint");
    open_.pop_back();
    return {};
  }
  if (open_.empty()) return bad(text::quoted(keyword) + " where ROOT or MOTION is expected");
  if (equalIgnoringCase(keyword, "OFFSET")) return offset();
  if (equalIgnoringCase(keyword, "CHANNELS")) return channels();
  return bad(text::quoted(keyword) + " where OFFSET, CHANNELS, JOINT, End Site or } is expected");
}

Result<Hierarchy> HierarchyParser::parse() {
  if (!equalIgnoringCase(word(), "HIERARCHY")) return bad("a BVH file begins with \"HIERARCHY\"");
  for (;;) {
    const std::string_view keyword = word();
    if (keyword.empty())
      return bad(open_.empty() ? "the file ends before MOTION"
                               : "the file ends inside joint " +
                                     text::quoted(out_.skeleton.joints[open_.back()].name));
    if (open_.empty() && equalIgnoringCase(keyword, "MOTION")) break;
    DERM_CHECK(statement(keyword));
  }
  if (out_.skeleton.size() == 0) return bad("no ROOT");
  return std::move(out_);
}

}  // namespace

Result<Hierarchy> parseHierarchy(text::LineScanner& lines, std::string_view name) {
  return HierarchyParser(lines, name).parse();
}

}  // namespace derm::detail::bvh
