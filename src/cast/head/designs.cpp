#include "cast/head/design.h"

namespace derm::detail::cast {

HeadDesign womanDesign() { return {}; }

HeadDesign manDesign() {
  HeadDesign d;
  d.name = "man";
  d.warp = {{-20, -20.4, 1.16, 1.06},   {-12, -12.5, 1.16, 1.05}, {-9, -9.6, 1.13, 1.03},
            {-6.45, -6.75, 1.09, 1.01}, {-4.1, -4.3, 1.06, 1.0},  {-2, -2.1, 1.03, 1.0},
            {0, 0, 1.0, 1.0},           {4, 4.1, 1.0, 1.0},       {11.5, 11.3, .99, 1.0}};
  d.solids = {{"brow", {.move = {0, -.12, .22}, .blend = 1.5}},
              {"chin", {.scale = {1.22, 1.05, 1.04}}},
              {"tip", {.scale = {1.22, 1.1, 1.02}}},
              {"ala", {.move = {.22, -.02, -.1}, .scale = {1.15, 1.08, 1.0}}},
              {"nosebase", {.scale = {1.2, 1, 1}}},
              {"nostril", {.move = {.14, -.02, 0}, .scale = {1.15, 1, 1}}},
              {"jaw", {.move = {.35, 0, 0}, .scale = {1.08, 1, 1}}},
              {"ramus", {.move = {.35, 0, 0}}},
              {"cheek", {.scale = {1, .9, 1}}},
              {"buccal", {.scale = {.96, 1, .94}}},
              {"bridge", {.move = {0, 0, .1}, .scale = {1.12, 1, 1}}}};
  d.eye.centre.x() = 3.22;
  d.eye.half_width = 1.52;
  d.eye.upper = .56;
  d.eye.lower = .44;
  d.eye.tilt = .04;
  d.eye.crease_height = .34;
  d.eye.crease_depth = .07;
  d.eye.lash = .12;
  d.mouth = {.y = -6.75,
             .half_width = 2.62,
             .upper = .96,
             .lower = 1.05,
             .upper_bulge = .30,
             .lower_bulge = .33,
             .corner = .05,
             .nose_base_y = -4.3};
  d.ear.size = 1.05;
  d.ear.flare = .48;
  d.hair.thickness = .30;
  d.hair.parting = 0;
  d.hair.softness = .5;
  d.hair.fringe = .10;
  d.hair.line = {{0, 6.9},   {12, 6.8},  {24, 6.9},  {36, 6.2},   {44, 4.6},   {52, 3.9},
                 {60, 3.0},  {67, -.6},  {73, -2.0}, {79, -2.0},  {86, .5},    {92, 2.7},
                 {104, 2.6}, {112, 1.5}, {118, -.8}, {126, -3.4}, {150, -5.6}, {180, -5.8}};
  d.marks.cheek = {4.4, -3.1, 6.4};
  d.marks.nose = {0, -3.3, 11.3};
  d.marks.chin = {0, -9.9, 9.0};
  d.marks.wing_groove = {1.85, -3.6, 9.2};
  d.marks.nostril = {.70, -4.06, 10.05};
  d.marks.nostril_size = {.32, .22, .42};
  d.marks.brow = {
      {1.05, 1.55, .36}, {2.2, 1.80, .42}, {3.5, 2.05, .36}, {4.6, 1.85, .27}, {5.3, 1.45, .14}};
  d.marks.brow_points = {Vec2d(1.15, 1.55), Vec2d(3.5, 2.05), Vec2d(5.2, 1.45)};
  d.palette.skin = {.56, .38, .28};
  d.palette.brow = {.07, .05, .045};
  d.palette.lip = {.50, .27, .24};
  d.palette.lip_strength = .62;
  d.palette.iris = {.26, .15, .08};
  d.palette.iris_inner = {.36, .22, .10};
  d.palette.iris_angle = .455;
  d.palette.hair = {.075, .06, .055};
  d.palette.hair_light = {.13, .11, .10};
  d.palette.beard = .5;
  d.palette.blush = .6;
  d.palette.mottle = .45;
  d.palette.lower_lash = .2;
  d.palette.margin = {.55, .34, .29};
  d.palette.lid = {-.04, -.045, -.04};
  d.jaw_end_y = -15.0;
  return d;
}

HeadDesign toonDesign() {
  HeadDesign d;
  d.name = "toon";
  d.warp = {{-20, -15.5, .70, .70}, {-14, -11.6, .66, .70},    {-11.2, -9.3, .76, .80},
            {-9.2, -7.9, .90, .91}, {-6.45, -5.35, 1.02, .96}, {-4.1, -3.55, 1.08, .97},
            {-2, -2.45, 1.10, .98}, {0, 0, 1.11, .99},         {2.1, 3.25, 1.13, 1.0},
            {4, 4.9, 1.15, 1.0},    {11.5, 12.6, 1.17, 1.04}};
  d.solids = {
      {"lids", {.blend = 1.3}},
      {"bridge",
       {.move = {0, .2, -.25}, .move_end = Vec3d(0, .1, -.75), .scale = {.80, 1, 1}, .blend = 1.6}},
      {"tip", {.move = {0, .15, -.45}, .scale = {1.0, 1.15, .85}}},
      {"nosebase", {.move = {0, .1, -.1}, .scale = {.62, .9, .7}}},
      {"nosewall", {.removed = true}},
      {"ala", {.move = {-.42, .12, -.30}, .scale = {.72, .8, .62}}},
      {"columella", {.move = {0, .1, -.6}}},
      {"nostril", {.move = {-.26, .1, -.55}, .scale = {.55, .6, .6}}},
      {"brow", {.removed = true}},
      {"arch", {.removed = true}},
      {"socket", {.move = {.2, -.1, 0}, .scale = {.95, 1.15, .9}, .blend = 2.4}},
      {"canthus", {.removed = true}},
      {"cheek", {.move = {-.45, -.3, .15}, .scale = {1.0, 1.1, 1.05}}},
      {"chin", {.scale = {1.0, .95, .98}}},
      {"temple", {.removed = true}},
      {"traps", {.scale = {.7, 1, 1}}},
      {"jaw", {.move = {.25, .2, 0}, .scale = {1.22, 1, 1}}},
      {"buccal", {.move = {.1, -.5, 0}, .scale = {1.08, 1, 1}}},
      {"ramus", {.scale = {.9, 1, 1}}},
      {"sulcus", {.scale = {.8, .8, .8}}}};
  d.eye = {.centre = {3.55, .15, 5.55},
           .radius = 2.45,
           .half_width = 2.05,
           .upper = 1.32,
           .lower = .92,
           .tilt = .12,
           .lid = .20,
           .crease_depth = .10,
           .crease_height = .42,
           .orbit_above = 1.0,
           .orbit_below = .95,
           .lash = .30};
  d.mouth = {.y = -5.45,
             .half_width = 2.75,
             .upper = .46,
             .lower = .62,
             .upper_bulge = .14,
             .lower_bulge = .24,
             .corner = .28,
             .ring_above = .62,
             .ring_below = .80,
             .nose_base_y = -3.6};
  d.ear = {.size = 1.12, .flare = .60, .y = -.1, .z = -1.0};
  d.hair.thickness = 1.25;
  d.hair.parting = 0;
  d.hair.softness = 1.0;
  d.hair.line = {{0, 7.4},   {14, 7.2},  {28, 6.6},   {40, 5.6},   {50, 4.9},  {58, 3.6},
                 {66, 1.0},  {72, -.6},  {80, -.8},   {86, .8},    {92, 3.2},  {104, 3.0},
                 {112, 2.0}, {118, -.2}, {126, -2.8}, {150, -5.4}, {180, -5.8}};
  d.marks.cheek = {5.0, -3.3, 5.8};
  d.marks.nose = {0, -2.9, 9.7};
  d.marks.chin = {0, -8.0, 8.2};
  d.marks.wing_groove = {9, 9, 9};
  d.marks.nostril = {.42, -3.45, 9.3};
  d.marks.nostril_size = {.20, .14, .35};
  d.marks.brow = {
      {1.6, 3.05, .42}, {2.8, 3.55, .50}, {4.2, 3.65, .42}, {5.4, 3.15, .30}, {6.1, 2.5, .16}};
  d.marks.brow_points = {Vec2d(1.7, 3.05), Vec2d(4.2, 3.65), Vec2d(6.0, 2.5)};
  d.palette.skin = {.95, .74, .62};
  d.palette.brow = {.34, .13, .05};
  d.palette.lip = {.80, .40, .36};
  d.palette.lip_strength = .6;
  d.palette.iris = {.22, .46, .22};
  d.palette.iris_inner = {.55, .60, .22};
  d.palette.iris_angle = .53;
  d.palette.hair = {.62, .24, .08};
  d.palette.hair_light = {.86, .45, .18};
  d.palette.blush = 1.5;
  d.palette.freckles = 1;
  d.palette.mottle = .4;
  d.palette.brow_strength = 1.0;
  d.jaw_end_y = -11.5;
  return d;
}

}  // namespace derm::detail::cast
