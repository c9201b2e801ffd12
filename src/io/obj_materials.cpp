#include "io/obj_materials.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "io/external_images.h"
#include "io/text_scanner.h"

namespace derm::detail::obj {
namespace {

using text::nextWord;

/// Texture options and how many values each takes. -o, -s and -t take one to three numbers.
constexpr std::array<std::pair<std::string_view, int>, 10> kTextureOptions = {{{"-blendu", 1},
                                                                               {"-blendv", 1},
                                                                               {"-boost", 1},
                                                                               {"-bm", 1},
                                                                               {"-cc", 1},
                                                                               {"-clamp", 1},
                                                                               {"-imfchan", 1},
                                                                               {"-mm", 2},
                                                                               {"-texres", 1},
                                                                               {"-type", 1}}};

bool isNumber(std::string_view word) {
  double ignored = 0;
  return text::parseNumber(word, ignored) == text::NumberKind::Finite;
}

/// Skips the options before a texture's file name, which may itself hold blanks.
std::string_view textureName(std::string_view rest) {
  for (;;) {
    rest = text::trimmed(rest);
    std::string_view after = rest;
    const std::string_view word = nextWord(after);
    if (word == "-o" || word == "-s" || word == "-t") {
      for (int i = 0; i < 3; ++i) {
        std::string_view next = after;
        if (!isNumber(nextWord(next))) break;
        after = next;
      }
    } else {
      const auto option = std::find_if(kTextureOptions.begin(), kTextureOptions.end(),
                                       [&](const auto& o) { return o.first == word; });
      if (option == kTextureOptions.end()) return rest;
      for (int i = 0; i < option->second; ++i) nextWord(after);
    }
    rest = after;
  }
}

Image imageAt(std::string uri) {
  Image image;
  image.name = uri.substr(uri.rfind('/') + 1);
  image.mime_type = pictureTypeOfName(image.name);
  image.uri = std::move(uri);
  return image;
}

/// One statement of the current material.
class MaterialReader {
 public:
  MaterialReader(Character& character, std::string_view folder)
      : character_(character), folder_(folder) {
    for (std::size_t i = 0; i < character.materials.size(); ++i)
      materials_.emplace(character.materials[i].name, i);
    for (std::size_t i = 0; i < character.images.size(); ++i)
      images_.emplace(character.images[i].uri, static_cast<int>(i));
  }

  void start(std::string_view name) {
    const auto used = materials_.find(name);
    material_ = used == materials_.end() ? nullptr : &character_.materials[used->second];
    has_dissolve_ = false;
  }
  /// False where a number is missing or unusable.
  bool read(std::string_view keyword, std::string_view rest) {
    if (material_ == nullptr) return true;
    if (keyword == "Kd") return readColour(rest);
    if (keyword == "d") {
      // Some files give both d and Tr, and disagree; d is the older and better defined.
      has_dissolve_ = true;
      if (text::trimmed(rest).starts_with("-halo")) nextWord(rest);
      return readClamped(rest, material_->base_colour[3]);
    }
    if (keyword == "Tr" && !has_dissolve_) {
      float transparency = 0;
      if (!readClamped(rest, transparency)) return false;
      material_->base_colour[3] = 1 - transparency;
    }
    if (keyword == "Pm") return readClamped(rest, material_->metallic);
    if (keyword == "Pr") return readClamped(rest, material_->roughness);
    if (keyword == "Ns") return readShininess(rest);
    if (keyword == "map_Kd" || keyword == "norm") return readTexture(keyword, rest);
    return true;
  }

 private:
  static std::optional<float> number(std::string_view& rest) {
    float value = 0;
    if (text::parseNumber(nextWord(rest), value) != text::NumberKind::Finite) return std::nullopt;
    return value;
  }
  static bool readClamped(std::string_view rest, float& value) {
    const std::optional<float> read = number(rest);
    if (read) value = std::clamp(*read, 0.0f, 1.0f);
    return read.has_value();
  }
  bool readColour(std::string_view rest) {
    const std::optional<float> red = number(rest);
    if (!red) return false;
    // The format allows one number for a grey.
    const float green = number(rest).value_or(*red);
    const float blue = number(rest).value_or(*red);
    material_->base_colour.head<3>() = Vec3f(*red, green, blue).cwiseMax(0.0f).cwiseMin(1.0f);
    return true;
  }
  bool readShininess(std::string_view rest) {
    const std::optional<float> exponent = number(rest);
    if (!exponent) return false;
    // The usual match of a Blinn-Phong lobe and a microfacet one.
    material_->roughness = std::sqrt(2.0f / (std::max(*exponent, 0.0f) + 2.0f));
    return true;
  }
  bool readTexture(std::string_view keyword, std::string_view rest) {
    const std::string_view name = textureName(rest);
    if (name.empty()) return false;
    int& slot = keyword == "norm" ? material_->normal_image : material_->base_colour_image;
    std::string uri = std::string(folder_) + std::string(name);
    std::replace(uri.begin(), uri.end(), '\\', '/');
    const auto [known, fresh] = images_.emplace(uri, static_cast<int>(character_.images.size()));
    if (fresh) character_.images.push_back(imageAt(std::move(uri)));
    slot = known->second;
    return true;
  }

  Character& character_;
  std::string_view folder_;
  std::map<std::string, std::size_t, std::less<>> materials_;
  std::map<std::string, int, std::less<>> images_;
  Material* material_ = nullptr;
  bool has_dissolve_ = false;
};

}  // namespace

void parseMaterials(std::string_view text, std::string_view file, std::string_view folder,
                    Character& character, Diagnostics& notes) {
  text::LineScanner lines(text, text::LineScanner::Continuation::Backslash);
  MaterialReader reader(character, folder);
  std::string_view line;
  while (lines.next(line)) {
    const std::string_view keyword = nextWord(line);
    if (keyword.empty() || keyword.front() == '#') continue;
    if (keyword == "newmtl") {
      reader.start(text::trimmed(line));
    } else if (!reader.read(keyword, line)) {
      notes.warn("material-statement-unusable", file, "material statement ignored",
                 lines.lineNumber());
    }
  }
  for (Material& m : character.materials) m.transparent = m.base_colour[3] < 1.0f;
}

}  // namespace derm::detail::obj
