#include "derm/scene/motion.h"

#include <string>
#include <utility>

#include "derm/anim/retarget.h"
#include "derm/io/name_table.h"
#include "derm/scene/scene.h"

namespace derm {

Result<void> addMotion(std::string_view source, std::string_view map,
                       const std::filesystem::path& folder, Character& character,
                       Diagnostics& notes) {
  DERM_TRY(const Character mover, openCharacter(source, folder, {}, notes));
  if (mover.clips.empty())
    return Error{ErrorCode::BadData,
                 "has no clip to take a motion from",
                 {.file = (folder / source).string()}};
  const Clip& motion = mover.clips.front();
  RetargetDesc desc;
  desc.start_s = motionStart(motion, mover.skeleton);
  if (desc.start_s > 0) {
    desc.source_reference_time_s = 0.0f;
    notes.info("opening-pose", (folder / source).string(),
               "the motion opens with a pose of its own: taken as its reference, not played");
  }
  if (!map.empty()) {
    DERM_TRY(desc.names, loadNameTable(folder / map));
  }
  DERM_TRY(Clip clip, retarget(motion, mover.skeleton, character.skeleton, desc, notes));
  character.clips.push_back(std::move(clip));
  return {};
}

}  // namespace derm
