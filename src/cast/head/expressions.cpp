#include "cast/head/expressions.h"

namespace derm::detail::cast {

std::vector<Expression> expressions(const HeadDesign& design) {
  // Lengths are an adult's; brows of a cartoon move further, as its eyes are taller.
  const double tall = design.eye.upper / 0.68, brow = tall > 1.5 ? 1.35 : 1.0;
  const double wide = design.mouth.half_width / 2.38;
  std::vector<Expression> all;
  const auto both = [](double value) { return std::array{value, value}; };

  FacePose joy;
  joy.corner = Vec3d(.50, .62, -.34) * wide;
  joy.cheek = 1.1;
  joy.squint = both(.24);
  joy.close = both(.04);
  joy.upper_lip = .22;
  joy.lower_lip = .14;
  joy.outer_brow = joy.middle_brow = Vec3d(0, .10, 0) * brow;
  all.push_back({"joy", joy});

  FacePose sadness;
  sadness.inner_brow = Vec3d(-.14, .50, .05) * brow;
  sadness.middle_brow = Vec3d(-.05, .08, 0) * brow;
  sadness.outer_brow = Vec3d(0, -.25, 0) * brow;
  sadness.close = both(.30);
  sadness.corner = Vec3d(.04, -.42, -.08) * wide;
  sadness.pout = .14;
  sadness.cheek = -.25;
  all.push_back({"sadness", sadness});

  FacePose disgust;
  disgust.inner_brow = Vec3d(-.16, -.30, .06) * brow;
  disgust.middle_brow = Vec3d(-.06, -.22, 0) * brow;
  disgust.nose = .30;
  disgust.nostrils = .10;
  disgust.upper_lip = .42;
  disgust.lower_lip = .05;
  disgust.corner = Vec3d(.05, -.14, -.08) * wide;
  disgust.cheek = .75;
  disgust.squint = both(.48);
  disgust.close = both(.14);
  all.push_back({"disgust", disgust});

  FacePose surprise;
  surprise.inner_brow = Vec3d(0, .70, .04) * brow;
  surprise.middle_brow = Vec3d(0, .80, .04) * brow;
  surprise.outer_brow = Vec3d(0, .62, 0) * brow;
  surprise.close = both(-.32);
  surprise.jaw = .24;
  surprise.corner = Vec3d(-.34, .10, .14) * wide;
  all.push_back({"surprise", surprise});

  FacePose fear;
  fear.inner_brow = Vec3d(-.20, .62, .05) * brow;
  fear.middle_brow = Vec3d(-.06, .42, .02) * brow;
  fear.outer_brow = Vec3d(0, .12, 0) * brow;
  fear.close = both(-.30);
  fear.squint = both(.10);
  fear.corner = Vec3d(.34, -.24, -.24) * wide;
  fear.lower_lip = .14;
  fear.jaw = .10;
  all.push_back({"fear", fear});

  FacePose anger;
  anger.inner_brow = Vec3d(-.22, -.46, .10) * brow;
  anger.middle_brow = Vec3d(-.08, -.32, .04) * brow;
  anger.outer_brow = Vec3d(0, .10, 0) * brow;
  anger.close = both(.10);
  anger.squint = both(.36);
  anger.press = .13;
  anger.corner = Vec3d(-.10, -.10, 0) * wide;
  anger.nostrils = .14;
  anger.cheek = .15;
  all.push_back({"anger", anger});

  FacePose left, right, open;
  left.close = {1, 0};
  right.close = {0, 1};
  open.jaw = .34;
  all.push_back({"eyeBlinkLeft", left});
  all.push_back({"eyeBlinkRight", right});
  all.push_back({"jawOpen", open});
  return all;
}

Clip expressionsClip(const std::vector<Expression>& all) {
  // [s] of one expression: comes, stays, goes, rest.
  constexpr double kComes = .35, kStays = .75, kGoes = .40, kRest = .20;
  Clip clip;
  clip.name = "expressions";
  Track track;
  track.channel = Channel::MorphWeights;
  track.morph_count = static_cast<std::uint32_t>(all.size());
  const auto key = [&](double time_s, std::size_t which, std::size_t also, float weight) {
    track.times_s.push_back(static_cast<float>(time_s));
    for (std::size_t k = 0; k < all.size(); ++k)
      track.values.push_back(k == which || k == also ? weight : 0.0f);
  };
  double t = 0;
  key(t, 0, 0, 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool blink = all[k].name == "eyeBlinkLeft";
    if (all[k].name == "eyeBlinkRight") continue;
    const std::size_t also = blink ? k + 1 : k;  // both eyes together
    t += blink ? .12 : kComes;
    key(t, k, also, 1);
    t += blink ? .20 : kStays;
    key(t, k, also, 1);
    t += blink ? .18 : kGoes;
    key(t, k, also, 0);
    t += kRest;
    key(t, k, also, 0);
  }
  clip.tracks.push_back(std::move(track));
  return clip;
}

}  // namespace derm::detail::cast
