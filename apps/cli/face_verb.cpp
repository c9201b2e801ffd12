#include "face_verbs.h"

namespace derm::cli {

void addFaceVerb(CLI::App& app, Run& run) {
  CLI::App* verb =
      app.add_subcommand("face", "faces: control points, rigs, shapes, transfer, tracking");
  verb->require_subcommand(1);
  addFaceNames(*verb, run);
  addFacePoints(*verb, run);
  addFaceRig(*verb, run);
  addFaceShapes(*verb, run);
  addFaceTransfer(*verb, run);
  addFaceRetarget(*verb, run);
  addFaceEvaluate(*verb, run);
  addFaceTrack(*verb, run);
  addFaceDetail(*verb, run);
}

}  // namespace derm::cli
