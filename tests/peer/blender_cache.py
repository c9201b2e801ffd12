# Runs inside Blender: reads what bake_bump wrote and compares vertices within 1e-5 of the diagonal.
#   points.pc2, points.mdd  in a Mesh Cache modifier on a mesh of the same triangles
#                           and, with the settings that the manual (bake.md) gives, on the mesh that
#                           Blender imported from cache.glb
#   cache.glb               imported, its shape keys evaluated at every frame
#   correctives.glb         imported, armature and shape keys evaluated at every frame
# usage: blender --background --factory-startup --python blender_cache.py -- FOLDER MANUAL
import json
import os
import re
import struct
import sys
import traceback

import bpy
import numpy

# Debian 12 pairs Blender 3.4, whose glTF importer says numpy.bool, with a numpy that has dropped it.
if not hasattr(numpy, "bool"):
    numpy.bool = bool

TOLERANCE = 1e-5


def wanted(folder, name):
    """The JSON line of a .bin and its frames, each a list of (x, y, z)."""
    with open(os.path.join(folder, name), "rb") as file:
        info = json.loads(file.readline())
        count = info["vertices"]
        frames = []
        for _ in info["times"]:
            numbers = struct.unpack("<%df" % (3 * count), file.read(12 * count))
            frames.append([numbers[3 * v : 3 * v + 3] for v in range(count)])
    return info, frames


def largest(got, want):
    """Largest distance; a NaN must not pass as small."""
    worst = 0.0
    for a, b in zip(got, want):
        d = sum((a[i] - b[i]) ** 2 for i in range(3)) ** 0.5
        if not d <= worst:
            worst = d
    return worst


def evaluated(obj):
    graph = bpy.context.evaluated_depsgraph_get()
    final = obj.evaluated_get(graph)
    mesh = final.to_mesh()
    points = [tuple(final.matrix_world @ v.co) for v in mesh.vertices]
    final.to_mesh_clear()
    return points


def report(what, worst, diagonal, count, want_count):
    good = worst <= TOLERANCE * diagonal and count == want_count
    print("%s %s: %d vertices (want %d), largest difference %.2e of the diagonal"
          % ("ok  " if good else "FAIL", what, count, want_count, worst / diagonal))
    return good


def check_points(folder, info, frames):
    """PC2 and MDD in a Mesh Cache modifier; no axis is turned, since the mesh is in our axes too."""
    with open(os.path.join(folder, "triangles.bin"), "rb") as file:
        data = file.read()
    corners = struct.unpack("<%dI" % (len(data) // 4), data)
    faces = [corners[i : i + 3] for i in range(0, len(corners), 3)]
    mesh = bpy.data.meshes.new("points")
    mesh.from_pydata(frames[0], [], faces)
    obj = bpy.data.objects.new("points", mesh)
    bpy.context.scene.collection.objects.link(obj)
    good = True
    for kind in ("PC2", "MDD"):
        modifier = obj.modifiers.new("cache", "MESH_CACHE")
        modifier.cache_format = kind
        modifier.filepath = os.path.join(folder, "points." + kind.lower())
        modifier.interpolation = "NONE"
        modifier.deform_mode = "OVERWRITE"
        modifier.play_mode = "CUSTOM"
        modifier.time_mode = "FRAME"
        worst, count = 0.0, 0
        for number, want in enumerate(frames):
            modifier.eval_frame = number
            bpy.context.view_layer.update()
            got = evaluated(obj)
            count = len(got)
            worst = max(worst, largest(got, want))
        good &= report("points." + kind.lower(), worst, info["diagonal"], count, info["vertices"])
        obj.modifiers.remove(modifier)
    bpy.data.objects.remove(obj)
    return good


def imported_meshes(folder, name):
    """What the importer adds: all objects, and those that are the character's meshes."""
    before = set(bpy.data.objects)
    bpy.ops.import_scene.gltf(filepath=os.path.join(folder, name + ".glb"))
    added = [o for o in bpy.data.objects if o not in before]
    # The importer also makes spheres that stand for bones; they are nobody's mesh.
    return added, [o for o in added if o.type == "MESH" and o.data.shape_keys is not None]


def axes_of_manual(manual):
    """Forward and up as the page's table has them: "**+Z** / **-Y**"."""
    with open(manual, encoding="utf-8") as file:
        row = next(line for line in file if line.startswith("| Forward / Up"))
    found = re.findall(r"\*\*([+\u2212-])([XYZ])\*\*", row)
    return [("POS_" if sign == "+" else "NEG_") + axis for sign, axis in found[:2]]


def check_points_on_import(folder, manual, info, frames):
    """As docs/bake.md says it: import, add a Mesh Cache, set axes, start frame and frame rate."""
    forward, up = axes_of_manual(manual)
    scene = bpy.context.scene
    scene.render.fps = round(info["fps"])
    good = True
    for kind in ("PC2", "MDD"):
        added, meshes = imported_meshes(folder, "cache")
        assert len(meshes) == 1, "the member has one mesh"
        obj = meshes[0]
        modifier = obj.modifiers.new("cache", "MESH_CACHE")
        modifier.cache_format = kind
        modifier.filepath = os.path.join(folder, "points." + kind.lower())
        modifier.interpolation = "NONE"
        modifier.deform_mode = "OVERWRITE"
        modifier.forward_axis = forward
        modifier.up_axis = up
        modifier.time_mode = "FRAME"
        modifier.play_mode = "SCENE"
        modifier.frame_start = 0
        worst, count = 0.0, 0
        for number, frame in enumerate(frames):
            scene.frame_set(number)
            got = evaluated(obj)
            count = len(got)
            worst = max(worst, largest(got, [(x, -z, y) for x, y, z in frame]))
        good &= report("points.%s on an imported mesh" % kind.lower(), worst, info["diagonal"], count,
                       info["vertices"])
        for obj in added:
            bpy.data.objects.remove(obj)
    return good


def check_glb(folder, name):
    """Blender is +Z up: its importer turns (x, y, z) into (x, -z, y)."""
    info, frames = wanted(folder, name + ".bin")
    scene = bpy.context.scene
    scene.render.fps = round(info["fps"])
    added, meshes = imported_meshes(folder, name)
    worst, count = 0.0, 0
    for number, time_s in enumerate(info["times"]):
        # A hair later, so that a step key on this very frame counts.
        frame = time_s * scene.render.fps
        scene.frame_set(int(frame), subframe=min(frame - int(frame) + 1e-4, 0.9999))
        got = [p for o in meshes for p in evaluated(o)]
        count = len(got)
        want = [(x, -z, y) for x, y, z in frames[number]]
        worst = max(worst, largest(got, want))
    for obj in added:
        bpy.data.objects.remove(obj)
    return report(name + ".glb", worst, info["diagonal"], count, info["vertices"])


def main():
    folder, manual = sys.argv[sys.argv.index("--") + 1 :][:2]
    info, frames = wanted(folder, "cache.bin")
    bpy.ops.object.select_all(action="SELECT")
    bpy.ops.object.delete()
    good = check_points(folder, info, frames)
    good &= check_points_on_import(folder, manual, info, frames)
    good &= check_glb(folder, "cache")
    good &= check_glb(folder, "correctives")
    return 0 if good else 1


try:
    code = main()
except Exception:
    traceback.print_exc()
    code = 1
sys.stdout.flush()
os._exit(code)  # Blender itself would end with 0 whatever a script says
