// derm in an engine's loop: the engine has a pose and a time step of its own, derm gives back the
// surface to draw. Flesh is proposed for any skeleton; joints keep their volume.
// usage: derm_example_live CHARACTER.glb
#include <algorithm>
#include <cstdio>
#include <memory>
#include <vector>

#include "derm/deform/basic_layers.h"
#include "derm/deform/flesh_auto.h"
#include "derm/deform/live_runner.h"
#include "derm/deform/stack.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"
#include "derm/volume/volume_layer.h"

namespace {

int fail(const derm::Error& error) { return std::fprintf(stderr, "%s\n", error.text().c_str()), 1; }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s CHARACTER\n", argv[0]), 2;
  derm::Diagnostics notes;
  derm::Result<derm::Character> loaded = derm::loadCharacter(argv[1], {}, notes);
  if (!loaded) return fail(loaded.error());
  const auto character = std::make_shared<const derm::Character>(std::move(*loaded));

  // Once per kind of character: what is on it, in order.
  std::vector<derm::LayerFactory> layers = {
      derm::morphLayer(), derm::skinningLayer({.method = derm::SkinningMethod::Centre})};
  const auto flesh = derm::proposeFlesh(*character, notes);
  if (!flesh) return fail(flesh.error());
  for (const derm::FleshProposal& element : *flesh)
    layers.push_back(derm::fleshLayer(element.desc));
  layers.push_back(derm::volumeLayer("volume", derm::volumePreset(derm::VolumePreset::Default)));
  const auto stack = derm::Stack::bind(character, layers, notes);
  if (!stack) return fail(stack.error());
  for (const auto& note : notes.notes()) std::fprintf(stderr, "note: %s\n", note.text().c_str());

  // Once per character on the stage.
  derm::LiveRunner runner(*stack);
  derm::Pose pose = character->restPose();
  if (!character->clips.empty()) derm::sampleClip(character->clips[0], 0, pose);
  runner.reset(pose);  // also after a cut to another place

  // Every frame; nothing is allocated. derm asks for the poses between two frames, too, so that
  // flesh swings alike at any frame rate. (Without them: runner.advance(dt_s, pose), which
  // guesses.)
  double time_s = 0;
  const derm::LiveRunner::PoseAt pose_at = [&](double ago_s, derm::Pose& out) {
    if (character->clips.empty()) return;
    const derm::Clip& clip = character->clips[0];
    derm::sampleClip(clip, std::min(float(time_s - ago_s), clip.duration_s()), out);
  };
  for (int frame = 0; frame < 120; ++frame) {
    const double dt_s = frame % 3 == 0 ? 1.0 / 30 : 1.0 / 60;  // as uneven as a real one
    time_s += dt_s;
    const derm::SkinFrame& skin = runner.advance(dt_s, pose_at);
    if (frame % 20 == 0)  // positions(), normals(), tangents(), triangles() go to the GPU
      std::printf("%.3f s: volume %+.1e of rest\n", time_s,
                  derm::volume(skin.positions(), skin.triangles()) /
                          derm::volume(character->mesh.positions, character->mesh.triangles) -
                      1);
    if (frame == 60 && !flesh->empty()) {  // an artist makes the flesh softer: it swings on
      derm::FleshDesc softer = flesh->front().desc;
      softer.frequency_hz = 2.0;
      layers[2] = derm::fleshLayer(softer);
      const auto edited = runner.stack().rebind(layers, notes);
      if (!edited) return fail(edited.error());
      runner.change(*edited);
    }
  }
  return 0;
}
