# Runs inside Blender: imports alive.glb of the artist's tutorial and compares every vertex of every
# frame with alive.pc2: no further off than alive.json states.
# usage: blender --background --factory-startup --python tutorial_blender.py -- FOLDER
import json
import os
import struct
import sys
import traceback

import bpy
import numpy

# Debian 12 pairs Blender 3.4, whose glTF importer says numpy.bool, with a numpy that has dropped it.
if not hasattr(numpy, "bool"):
    numpy.bool = bool


def main():
    folder = sys.argv[sys.argv.index("--") + 1]
    with open(os.path.join(folder, "alive.json"), encoding="utf-8") as file:
        report = json.load(file)
    with open(os.path.join(folder, "alive.pc2"), "rb") as file:
        data = file.read()
    count, frames = struct.unpack_from("<i", data, 16)[0], struct.unpack_from("<i", data, 28)[0]
    points = numpy.frombuffer(data, "<f4", offset=32).reshape(frames, count, 3)
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()
    scene = bpy.context.scene
    scene.render.fps = round(report["fps"])  # before importing: keys are put on frames then
    bpy.ops.import_scene.gltf(filepath=os.path.join(folder, "alive.glb"))
    mesh = next(o for o in bpy.data.objects if o.type == "MESH" and o.data.shape_keys is not None)
    # As the page says: every clip is an action, and the one that was baked is to be shown.
    for owner in [*bpy.data.objects, *bpy.data.shape_keys]:
        if owner.animation_data is None:
            continue
        for track in owner.animation_data.nla_tracks:
            track.mute = True
            if track.name == report["clip"]:
                owner.animation_data.action = track.strips[0].action
    # Pose, Clear Transform, All: what the clip does not move still stands as in the first clip.
    for armature in (o for o in bpy.data.objects if o.type == "ARMATURE"):
        for bone in armature.pose.bones:
            bone.matrix_basis.identity()
    worst = 0.0
    for frame in range(frames):
        scene.frame_set(frame)
        final = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
        shown = final.to_mesh()
        got = numpy.array([tuple(final.matrix_world @ v.co) for v in shown.vertices])
        final.to_mesh_clear()
        x, y, z = points[frame].T
        off = numpy.linalg.norm(got - numpy.stack([x, -z, y], axis=1), axis=1).max()
        worst = off if not off <= worst else worst  # a NaN must not pass as small
    stated = report["correctives"]["max_error_m"] + 1e-5
    good = worst <= stated and frames > 10
    print("%s Blender: %d frames of %d vertices, %.3f mm off, stated %.3f mm"
          % ("ok  " if good else "FAIL", frames, count, 1000 * worst, 1000 * stated))
    return 0 if good else 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
os._exit(code)  # Blender itself would end with 0 whatever a script says
