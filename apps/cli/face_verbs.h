#pragma once

#include "verbs.h"

/// What `derm face` can do, a file each: face_<name>_verb.cpp. A new one is declared here and
/// called in addFaceVerb() (face_verb.cpp), in the order of a face's way from bare head to motion.
namespace derm::cli {

void addFaceNames(CLI::App& face, Run& run);
void addFacePoints(CLI::App& face, Run& run);
void addFaceRig(CLI::App& face, Run& run);
void addFaceShapes(CLI::App& face, Run& run);
void addFaceTransfer(CLI::App& face, Run& run);
void addFaceRetarget(CLI::App& face, Run& run);
void addFaceEvaluate(CLI::App& face, Run& run);
void addFaceTrack(CLI::App& face, Run& run);
void addFaceDetail(CLI::App& face, Run& run);

}  // namespace derm::cli
