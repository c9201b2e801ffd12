#include "derm/scene/motion.h"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "derm/anim/body_joints.h"
#include "derm/base/deferred.h"
#include "derm/base/number_text.h"
#include "derm/contact/limb_clearance.h"
#include "derm/io/name_table.h"
#include "derm/scene/scene.h"

namespace derm {
namespace {

/// A motion to take, and how.
struct Source {
  Character mover;
  RetargetDesc desc;
};

Result<Source> openSource(std::string_view source, std::string_view map,
                          const std::filesystem::path& folder, const Character& character,
                          Diagnostics& notes) {
  Source out;
  DERM_TRY(out.mover, openCharacter(source, folder, {}, notes));
  const std::string file = (folder / source).string();
  if (out.mover.clips.empty())
    return Error{ErrorCode::BadData, "has no clip to take a motion from", {.file = file}};
  out.desc.start_s = motionStart(out.mover.clips.front(), out.mover.skeleton);
  if (out.desc.start_s > 0) {
    out.desc.source_reference_time_s = 0.0f;
    notes.info("opening-pose", file,
               "the motion opens with a pose of its own: taken as its reference, not played");
  }
  if (!map.empty()) {
    DERM_TRY(out.desc.names, loadNameTable(folder / map));
  }
  out.desc.source_bones = out.mover.bones();
  out.desc.target_bones = character.bones();
  out.desc.source_reference = bindReference(out.mover.skeleton, out.mover.skin);
  out.desc.target_reference = bindReference(character.skeleton, character.skin);
  return out;
}

/// What does not fit is told with the motion's file, unless a table of names is at fault.
Error misfit(Error error, const Source& source, const std::filesystem::path& file) {
  if (error.where.file.empty() && source.desc.names.empty()) error.where.file = file.string();
  return error;
}

Result<void> turnArmsOut(const Character& character, const std::filesystem::path& file,
                         const Progress& progress, Clip& clip, Diagnostics& notes) {
  Diagnostics of_contact;  // told by the contact layer, where there is one
  DERM_TRY(const LimbClearanceReport report,
           clearLimbs(character, upperArms(character.skeleton), {}, clip, of_contact, progress));
  if (report.turned == 0) return {};
  const double degrees = report.largest_turn_rad * 180 / std::numbers::pi;
  notes.info("arms-turned", file.string(),
             "arms that the motion sinks into this body are turned out, by up to " +
                 fixedNumber(std::ceil(degrees), 0) + " degrees (arms_out)");
  return {};
}

/// Deferred: see needDeferred().
Result<void> addRetargeted(std::string_view source, std::string_view map,
                           const std::filesystem::path& folder, Character& character,
                           Diagnostics& notes, const MotionOptions& options) {
  DERM_TRY(const Source from, openSource(source, map, folder, character, notes));
  const std::filesystem::path file = folder / source;
  const Skeleton& skeleton = from.mover.skeleton;
  Result<MotionMatch> match = derm::matchMotion(skeleton, character.skeleton, from.desc);
  if (!match) return misfit(std::move(match).error(), from, file);
  const bool most = 2 * match->pairs.size() >= match->pairs.size() + match->source_left.size();
  notes.add(most ? Severity::Info : Severity::Warning, "joints-matched", file.string(),
            match->text());
  RetargetOutcome outcome;
  Result<Clip> clip =
      retarget(from.mover.clips.front(), skeleton, character.skeleton, from.desc, notes, &outcome);
  if (!clip) return misfit(std::move(clip).error(), from, file);
  if (options.ground) {
    if (outcome.carrier && !outcome.clearance_m.empty())
      groundMotion(character, outcome, *clip);
    else
      notes.warn("no-ground", file.string(),
                 "the motion stands on no ground: it cannot be put on the floor");
  }
  if (options.arms_out) DERM_CHECK(turnArmsOut(character, file, options.progress, *clip, notes));
  character.clips.push_back(*std::move(clip));
  return {};
}

}  // namespace

Result<void> addMotion(std::string_view source, std::string_view map,
                       const std::filesystem::path& folder, Character& character,
                       Diagnostics& notes, const MotionOptions& options) {
  DERM_CHECK(needDeferred("retargeting from other skeletons"));
  return deferred(addRetargeted)(source, map, folder, character, notes, options);
}

Result<MotionMatch> matchMotion(std::string_view source, std::string_view map,
                                const std::filesystem::path& folder, const Character& character,
                                Diagnostics& notes) {
  DERM_TRY(const Source from, openSource(source, map, folder, character, notes));
  Result<MotionMatch> match = derm::matchMotion(from.mover.skeleton, character.skeleton, from.desc);
  if (!match) return misfit(std::move(match).error(), from, folder / source);
  return match;
}

}  // namespace derm
