#include "anim/joint_names.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace derm::detail {
namespace {

struct Synonym {
  std::string_view word;
  std::string_view canonical;
  BodyPart part;
};

// The ways common rigs (MotionBuilder, Mixamo, 3ds Max Biped, Unreal, Rigify, VRM, MakeHuman, CMU,
// SMPL) write the joints of a body, without the side.
constexpr std::array kSynonyms = {
    Synonym{"hips", "hips", BodyPart::Trunk},
    Synonym{"hip", "hips", BodyPart::Trunk},
    Synonym{"pelvis", "hips", BodyPart::Trunk},
    Synonym{"hipjoint", "hipjoint", BodyPart::Trunk},
    Synonym{"lowerback", "lowerback", BodyPart::Trunk},
    Synonym{"spine", "spine", BodyPart::Trunk},
    Synonym{"spine0", "spine", BodyPart::Trunk},
    Synonym{"spine1", "spine1", BodyPart::Trunk},
    Synonym{"spine01", "spine1", BodyPart::Trunk},
    Synonym{"chest", "spine1", BodyPart::Trunk},
    Synonym{"spine2", "spine2", BodyPart::Trunk},
    Synonym{"spine02", "spine2", BodyPart::Trunk},
    Synonym{"upperchest", "spine2", BodyPart::Trunk},
    Synonym{"spine3", "spine3", BodyPart::Trunk},
    Synonym{"spine03", "spine3", BodyPart::Trunk},
    Synonym{"neck", "neck", BodyPart::Trunk},
    Synonym{"neck1", "neck1", BodyPart::Trunk},
    Synonym{"neck01", "neck", BodyPart::Trunk},
    Synonym{"neck02", "neck1", BodyPart::Trunk},
    Synonym{"head", "head", BodyPart::Trunk},
    Synonym{"shoulder", "shoulder", BodyPart::Trunk},
    Synonym{"clavicle", "shoulder", BodyPart::Trunk},
    Synonym{"collar", "shoulder", BodyPart::Trunk},
    Synonym{"collarbone", "shoulder", BodyPart::Trunk},
    Synonym{"shldr", "shoulder", BodyPart::Trunk},
    Synonym{"arm", "upperarm", BodyPart::Limb},
    Synonym{"upperarm", "upperarm", BodyPart::Limb},
    Synonym{"uparm", "upperarm", BodyPart::Limb},
    Synonym{"humerus", "upperarm", BodyPart::Limb},
    Synonym{"forearm", "forearm", BodyPart::Limb},
    Synonym{"lowerarm", "forearm", BodyPart::Limb},
    Synonym{"loarm", "forearm", BodyPart::Limb},
    Synonym{"elbow", "forearm", BodyPart::Limb},
    Synonym{"radius", "forearm", BodyPart::Limb},
    Synonym{"hand", "hand", BodyPart::Tip},
    Synonym{"wrist", "hand", BodyPart::Tip},
    Synonym{"upleg", "thigh", BodyPart::Limb},
    Synonym{"upperleg", "thigh", BodyPart::Limb},
    Synonym{"thigh", "thigh", BodyPart::Limb},
    Synonym{"femur", "thigh", BodyPart::Limb},
    Synonym{"leg", "shin", BodyPart::Limb},
    Synonym{"lowerleg", "shin", BodyPart::Limb},
    Synonym{"loleg", "shin", BodyPart::Limb},
    Synonym{"shin", "shin", BodyPart::Limb},
    Synonym{"calf", "shin", BodyPart::Limb},
    Synonym{"knee", "shin", BodyPart::Limb},
    Synonym{"tibia", "shin", BodyPart::Limb},
    Synonym{"foot", "foot", BodyPart::Tip},
    Synonym{"ankle", "foot", BodyPart::Tip},
    Synonym{"toebase", "toe", BodyPart::Tip},
    Synonym{"toe", "toe", BodyPart::Tip},
    Synonym{"toes", "toe", BodyPart::Tip},
    Synonym{"toe0", "toe", BodyPart::Tip},
    Synonym{"ball", "toe", BodyPart::Tip},
};

// Japanese rigs: MikuMikuDance's standard bones, whose legs and arms are named by the joints they
// begin at, then plainer words. The bones ending in D carry the skin of the legs where there are
// any. "Centre", "groove" and "waist" lie above each other, over legs and spine.
constexpr std::array kJapanese = {
    Synonym{"センター", "hips", BodyPart::Trunk},  Synonym{"グルーブ", "hips", BodyPart::Trunk},
    Synonym{"腰", "hips", BodyPart::Trunk},        Synonym{"下半身", "hips", BodyPart::Trunk},
    Synonym{"骨盤", "hips", BodyPart::Trunk},      Synonym{"上半身", "spine", BodyPart::Trunk},
    Synonym{"上半身1", "spine", BodyPart::Trunk},  Synonym{"上半身2", "spine1", BodyPart::Trunk},
    Synonym{"上半身3", "spine2", BodyPart::Trunk}, Synonym{"背骨", "spine", BodyPart::Trunk},
    Synonym{"胸", "spine1", BodyPart::Trunk},      Synonym{"首", "neck", BodyPart::Trunk},
    Synonym{"首1", "neck1", BodyPart::Trunk},      Synonym{"頭", "head", BodyPart::Trunk},
    Synonym{"肩", "shoulder", BodyPart::Trunk},    Synonym{"鎖骨", "shoulder", BodyPart::Trunk},
    Synonym{"腕", "upperarm", BodyPart::Limb},     Synonym{"上腕", "upperarm", BodyPart::Limb},
    Synonym{"二の腕", "upperarm", BodyPart::Limb}, Synonym{"ひじ", "forearm", BodyPart::Limb},
    Synonym{"肘", "forearm", BodyPart::Limb},      Synonym{"前腕", "forearm", BodyPart::Limb},
    Synonym{"手首", "hand", BodyPart::Tip},        Synonym{"手", "hand", BodyPart::Tip},
    Synonym{"足", "thigh", BodyPart::Limb},        Synonym{"足d", "thigh", BodyPart::Limb},
    Synonym{"太もも", "thigh", BodyPart::Limb},    Synonym{"もも", "thigh", BodyPart::Limb},
    Synonym{"太腿", "thigh", BodyPart::Limb},      Synonym{"ひざ", "shin", BodyPart::Limb},
    Synonym{"ひざd", "shin", BodyPart::Limb},      Synonym{"膝", "shin", BodyPart::Limb},
    Synonym{"すね", "shin", BodyPart::Limb},       Synonym{"脛", "shin", BodyPart::Limb},
    Synonym{"足首", "foot", BodyPart::Tip},        Synonym{"足首d", "foot", BodyPart::Tip},
    Synonym{"つま先", "toe", BodyPart::Tip},       Synonym{"足先ex", "toe", BodyPart::Tip},
    Synonym{"親指", "thumb", BodyPart::Tip},       Synonym{"人指", "index", BodyPart::Tip},
    Synonym{"人差指", "index", BodyPart::Tip},     Synonym{"人差し指", "index", BodyPart::Tip},
    Synonym{"中指", "middle", BodyPart::Tip},      Synonym{"薬指", "ring", BodyPart::Tip},
    Synonym{"小指", "pinky", BodyPart::Tip},
};

// Longer ones first where one begins another.
constexpr std::array<std::string_view, 9> kPrefixes = {
    "mixamorig", "bip001", "bip01", "valvebiped", "ccbase", "jbip", "def", "org", "character1"};

constexpr std::array<std::string_view, 6> kFingers = {"thumb", "index", "middle",
                                                      "ring",  "pinky", "finger"};

// Words that rigs add to every joint and that say nothing about it, numbers taken off ("Bip01").
constexpr std::array<std::string_view, 12> kFillers = {"joint", "jnt",       "bone", "skeleton",
                                                       "rig",   "jt",        "bip",  "biped",
                                                       "valve", "character", "bend", "stretch"};

bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool isLower(char c) { return c >= 'a' && c <= 'z'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
char lowered(char c) { return isUpper(c) ? static_cast<char>(c - 'A' + 'a') : c; }

/// "LeftUpLeg" -> left up leg; "upperarm_l" -> upperarm l; "LHipJoint" -> l hip joint.
std::vector<std::string> words(std::string_view name) {
  std::vector<std::string> out(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (!isUpper(c) && !isLower(c) && !isDigit(c) && static_cast<unsigned char>(c) < 0x80) {
      out.emplace_back();
      continue;
    }
    const bool after_lower = i > 0 && isLower(name[i - 1]);
    const bool before_lower = i + 1 < name.size() && isLower(name[i + 1]);
    const bool after_letter = i > 0 && (isLower(name[i - 1]) || isUpper(name[i - 1]));
    if (isUpper(c) && (after_lower || (after_letter && before_lower))) out.emplace_back();
    out.back() += lowered(c);
  }
  std::erase_if(out, [](const std::string& w) { return w.empty(); });
  return out;
}

/// Letters and digits of double width ("ＩＫ", "１") as plain ones, small.
std::string narrowed(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t k) {
      return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u;
    };
    // U+FF01 to U+FF5E are 0x21 to 0x7E; in UTF-8 EF BC 81 to EF BD 9E.
    const unsigned code = (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    if (byte(0) == 0xEF && (byte(1) == 0xBC || byte(1) == 0xBD) && code >= 0xF01 && code <= 0xF5E) {
      out += lowered(static_cast<char>(code - 0xF01 + 0x21));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

/// Takes the Japanese word for left or right off the front.
char takeJapaneseSide(std::string& plain) {
  for (const auto& [word, side] : {std::pair<std::string_view, char>("左", 'l'), {"右", 'r'}})
    if (plain.starts_with(word)) {
      plain.erase(0, word.size());
      return side;
    }
  return 0;
}

/// What a Japanese word means, fingers with the number of their bone; nothing for other words.
std::optional<JointMeaning> japaneseMeaning(const std::string& word, char side) {
  const auto means = [](std::string_view text) {
    return std::find_if(kJapanese.begin(), kJapanese.end(),
                        [&](const Synonym& s) { return s.word == text; });
  };
  auto found = means(word);
  std::string number;
  if (found == kJapanese.end() && !word.empty() && isDigit(word.back())) {
    found = means(std::string_view(word).substr(0, word.size() - 1));
    if (found != kJapanese.end() && found->part != BodyPart::Tip) found = kJapanese.end();
    number = word.back();
  }
  if (found == kJapanese.end()) return std::nullopt;
  const std::string side_text = side == 0 ? std::string() : std::string(1, side) + ".";
  return JointMeaning{.plain = side_text + word,
                      .canonical = side_text + std::string(found->canonical) + number,
                      .base = std::string(found->canonical),
                      .side = side,
                      .part = found->part};
}

/// Takes the side out of the words: 'l', 'r' or 0.
char takeSide(std::vector<std::string>& parts) {
  for (auto it = parts.begin(); it != parts.end(); ++it) {
    const bool left = *it == "l" || *it == "left";
    if (!left && *it != "r" && *it != "right") continue;
    parts.erase(it);
    return left ? 'l' : 'r';
  }
  return 0;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& p : parts) out += p;
  return out;
}

/// Fingers are written "LeftHandIndex1", "index_01_l", "f_index.01.L": the finger and its number.
std::string fingerName(std::string plain) {
  if (plain.starts_with("hand") && plain.size() > 4) plain.erase(0, 4);
  for (const std::string_view finger : kFingers) {
    const std::size_t at = plain.find(finger);
    if (at == std::string::npos || at > 1) continue;
    std::string number = plain.substr(at + finger.size());
    while (number.size() > 1 && number.front() == '0') number.erase(0, 1);
    const std::string_view base = finger == "finger" ? "index" : finger;
    const bool plain_number = std::all_of(number.begin(), number.end(), isDigit);
    return plain_number ? std::string(base) + number : std::string();
  }
  return {};
}

bool mentionsTip(std::string_view plain) {
  const auto mentions = [&](std::string_view word) {
    return plain.find(word) != std::string_view::npos;
  };
  return mentions("hand") || mentions("foot") || mentions("toe") ||
         std::any_of(kFingers.begin(), kFingers.end(), mentions);
}

const Synonym* findSynonym(std::string_view plain) {
  const auto found = std::find_if(kSynonyms.begin(), kSynonyms.end(),
                                  [&](const Synonym& s) { return s.word == plain; });
  return found == kSynonyms.end() ? nullptr : &*found;
}

/// "ValveBiped.Bip01_L_Thigh" has two.
std::string withoutPrefixes(std::string plain) {
  for (const std::string_view prefix : kPrefixes)
    if (plain.starts_with(prefix) && plain.size() > prefix.size())
      return withoutPrefixes(plain.substr(prefix.size()));
  return plain;
}

/// What is left of the words without fillers, single letters and numbers.
std::string bareWord(std::vector<std::string> parts) {
  std::erase_if(parts, [](std::string& w) {
    while (!w.empty() && isDigit(w.back())) w.pop_back();
    return w.size() <= 1 || std::find(kFillers.begin(), kFillers.end(), w) != kFillers.end();
  });
  return withoutPrefixes(joined(parts));
}

}  // namespace

JointMeaning meaningOf(std::string_view joint_name) {
  constexpr std::size_t kLongest = 128;  // longer names are not names of body parts
  JointMeaning out;
  if (joint_name.size() > kLongest) return out;
  const std::size_t colon = joint_name.rfind(':');
  if (colon != std::string_view::npos) joint_name.remove_prefix(colon + 1);
  std::vector<std::string> parts = words(joint_name);
  const char side = takeSide(parts);
  std::string plain = withoutPrefixes(joined(parts));
  if (std::string word = narrowed(plain); !word.empty() && (word.front() & 0x80) != 0) {
    const char japanese_side = side == 0 ? takeJapaneseSide(word) : side;
    if (std::optional<JointMeaning> known = japaneseMeaning(word, japanese_side))
      return *std::move(known);
  }
  // Where a side's hip is the leg's first joint.
  const auto legHip = [&](std::string& word) {
    if (side != 0 && word == "hip") word = "thigh";
  };
  legHip(plain);
  std::string canonical = plain;
  const Synonym* synonym = findSynonym(plain);
  // "J_Bip_C_Hips": what is on neither side is in the centre.
  if (synonym == nullptr && side == 0 && std::erase(parts, "c") > 0)
    synonym = findSynonym(withoutPrefixes(joined(parts)));
  std::string bare = bareWord(parts);
  legHip(bare);
  // "LHipJoint" lies above the thigh and is no leg's first joint.
  const Synonym* bare_synonym =
      synonym != nullptr && synonym->canonical == "hipjoint" ? synonym : findSynonym(bare);
  out.base = bare_synonym != nullptr ? std::string(bare_synonym->canonical) : bare;
  out.side = side;
  if (synonym != nullptr) {
    canonical = synonym->canonical;
    out.part = synonym->part;
  } else if (side != 0) {
    if (std::string finger = fingerName(plain); !finger.empty()) canonical = std::move(finger);
    if (mentionsTip(plain)) out.part = BodyPart::Tip;
  }
  const std::string side_text = side == 0 ? std::string() : std::string(1, side) + ".";
  out.plain = plain.empty() ? std::string() : side_text + plain;
  out.canonical = canonical.empty() ? std::string() : side_text + canonical;
  return out;
}

JointMeaning meaningOf(const Joint& joint) {
  return meaningOf(joint.role.empty() ? joint.name : joint.role);
}

}  // namespace derm::detail
