#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "derm/base/result.h"

namespace derm::cli {

/// What the demo's page shows. Files are in the page's own folder, by name.
struct DemoPage {
  struct Number {
    std::string what;
    std::string value;
  };
  struct Panel {
    std::string title;
    std::string text;
    std::string picture;
  };
  struct Film {
    std::string title;
    std::string file;  ///< a folder where it is a sequence of pictures
    bool is_sequence = false;
  };
  std::string title;
  std::string about;   ///< one sentence under the title
  std::string model;   ///< .glb that turns in the page, where there is three.js
  std::string recipe;  ///< text of the one that plays, where the page has derm itself
  std::string clip;    ///< the model's animation to play
  std::string player;  ///< HTML of demoPlayerHtml(), above all else
  std::vector<Film> films;
  std::string strip;
  std::string plot;
  std::vector<Number> numbers;
  std::vector<Panel> gallery;      ///< pictures with a few words each
  std::vector<std::string> files;  ///< offered as links
};

/// A folder with three.js (build/three.module.min.js and examples/jsm/…): `given` where it is not
/// empty, else where Debian installs it. Empty where there is none.
std::filesystem::path findThree(const std::filesystem::path& given);

/// One page that needs no server: the player in it draws by itself. Browsers refuse to load modules
/// and models from file: addresses, so three.js (where `three` is not empty) and the model are
/// written into it, below the player. Where `module` is derm as a script for pages
/// (derm.single.js), that and the recipe are, instead of the model: the page plays it live, and
/// layers can be switched on and off. Fails where one of their files cannot be read.
Result<std::string> demoPageHtml(const DemoPage& page, const std::filesystem::path& folder,
                                 const std::filesystem::path& three,
                                 const std::filesystem::path& module);

}  // namespace derm::cli
