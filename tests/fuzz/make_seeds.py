#!/usr/bin/env python3
"""Writes the seed corpus in tests/fuzz/seeds: small files of our own, one feature each."""
import base64
import json
import pathlib
import struct
import zlib

HERE = pathlib.Path(__file__).parent / "seeds"


def write(target, name, data):
    folder = HERE / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data if isinstance(data, bytes) else data.encode())


class Buffer:
    """Grows a binary buffer with its views and accessors."""

    TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4", 16: "MAT4"}
    CODES = {"f": 5126, "B": 5121, "H": 5123, "I": 5125}

    def __init__(self):
        self.data = b""
        self.views = []
        self.accessors = []

    def view(self, raw):
        self.data += b"\0" * (-len(self.data) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(raw)})
        self.data += raw
        return len(self.views) - 1

    def add(self, code, width, rows, **more):
        flat = [x for row in rows for x in (row if width > 1 else [row])]
        accessor = {"bufferView": self.view(struct.pack("<%d%s" % (len(flat), code), *flat)),
                    "componentType": self.CODES[code], "count": len(rows),
                    "type": self.TYPES[width]}
        if code == "f" and width == 3:
            accessor["min"] = [min(r[i] for r in rows) for i in range(3)]
            accessor["max"] = [max(r[i] for r in rows) for i in range(3)]
        if code == "f" and width == 1:
            accessor["min"], accessor["max"] = [min(rows)], [max(rows)]
        accessor.update(more)
        self.accessors.append(accessor)
        return len(self.accessors) - 1


def finish(gltf, buffer, embedded):
    gltf = dict(gltf, asset={"version": "2.0"}, bufferViews=buffer.views,
                accessors=buffer.accessors, buffers=[{"byteLength": len(buffer.data)}])
    if embedded:
        encoded = base64.b64encode(buffer.data).decode()
        gltf["buffers"][0]["uri"] = "data:application/octet-stream;base64," + encoded
    return json.dumps(gltf, separators=(",", ":")).encode()


def png(width, height, bits, colour, data, interlaced=0, more=()):
    def chunk(name, body):
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">2I5B", width, height, bits, colour, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + b"".join(chunk(*c) for c in more) +
            chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))


def jpeg(frame, data, orientation):
    """A grey square of 8 x 8: one code for a difference of nothing, one for the end of a block."""
    def segment(marker, body):
        return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body

    def table(number):
        return segment(0xC4, bytes((number, 1)) + bytes(15) + b"\0")

    exif = b"Exif\0\0II*\0" + struct.pack("<IHHHIHHI", 8, 1, 274, 3, 1, orientation, 0, 0)
    last = 63 if frame == 0xC0 else 0
    return (b"\xff\xd8" + segment(0xE1, exif) + segment(0xDB, b"\0" + bytes([16] * 64)) +
            segment(frame, b"\x08\0\x08\0\x08\x01\x01\x11\0") + table(0) + table(0x10) +
            segment(0xDA, bytes((1, 1, 0, 0, last, 0))) + data + b"\xff\xd9")


def triangle():
    b = Buffer()
    position = b.add("f", 3, [(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    index = b.add("B", 1, [0, 1, 2])
    return {"scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "scale": [1, -1, 1]}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": position}, "indices": index}]}]}, b


def sparse():
    b = Buffer()
    position = b.add("f", 3, [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)])
    b.accessors[position]["sparse"] = {
        "count": 1, "indices": {"bufferView": b.view(struct.pack("<H", 3)), "componentType": 5123},
        "values": {"bufferView": b.view(struct.pack("<3f", 1, 1, 2))}}
    strip = {"attributes": {"POSITION": position}, "mode": 5}
    return {"scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0, "matrix": [
        0, 0, -1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 2, 3, 1]}], "meshes": [{"primitives": [strip]}]}, b


def character():
    b = Buffer()
    attributes = {
        "POSITION": b.add("f", 3, [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]),
        "NORMAL": b.add("f", 3, [(0, 0, 1)] * 4),
        "TEXCOORD_0": b.add("H", 2, [(0, 0), (65535, 0), (65535, 65535), (0, 65535)],
                            normalized=True),
        "COLOR_0": b.add("B", 4, [(255, 0, 0, 255)] * 4, normalized=True),
        "JOINTS_0": b.add("B", 4, [(0, 1, 0, 0)] * 4),
        "WEIGHTS_0": b.add("f", 4, [(0.5, 0.5, 0, 0)] * 4)}
    target = {"POSITION": b.add("f", 3, [(0, 0, 0), (0, 0, 0), (0, 0, 1), (0, 0, 1)])}
    binds = b.add("f", 16, [(1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -y, 0, 1) for y in (0, 0.5)])
    times = b.add("f", 1, [0, 0.5, 1])
    turn = b.add("f", 4, [(0, 0, 0, 1), (0, 0, 0.7071068, 0.7071068), (0, 0, 0, 1)])
    spline = b.add("f", 3, [(0, 0, 0), (0, 0.5, 0), (0, 0, 0)] * 3)
    weights = b.add("f", 1, [0, 1, 0])
    index = b.add("I", 1, [0, 1, 2, 0, 2, 3])
    return {
        "scene": 0, "scenes": [{"nodes": [0, 3]}],
        "nodes": [{"name": "hip", "children": [1]},
                  {"name": "knee", "translation": [0, 0.5, 0], "children": [2]},
                  {"name": "prop", "mesh": 1, "rotation": [0, 1, 0, 0]},
                  {"name": "body", "mesh": 0, "skin": 0}],
        "meshes": [{"name": "skin", "weights": [0.25], "extras": {"targetNames": ["bulge"]},
                    "primitives": [{"attributes": attributes, "indices": index, "material": 0,
                                    "targets": [target]}]},
                   {"primitives": [{"attributes": {"POSITION": attributes["POSITION"]},
                                    "indices": index}]}],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": binds, "skeleton": 0}],
        "animations": [{"name": "bend", "samplers": [
            {"input": times, "output": turn, "interpolation": "STEP"},
            {"input": times, "output": spline, "interpolation": "CUBICSPLINE"},
            {"input": times, "output": weights}], "channels": [
                {"sampler": 0, "target": {"node": 1, "path": "rotation"}},
                {"sampler": 1, "target": {"node": 1, "path": "translation"}},
                {"sampler": 2, "target": {"node": 3, "path": "weights"}}]}],
        "materials": [{"name": "m", "pbrMetallicRoughness": {
            "baseColorFactor": [1, 0.5, 0.25, 1], "baseColorTexture": {"index": 0}},
            "alphaMode": "MASK", "doubleSided": True}],
        "textures": [{"source": 0, "sampler": 0}], "samplers": [{"wrapS": 33071}],
        "images": [{"uri": "data:image/png;base64,iVBORw0KGgo="}],
        "cameras": [{"type": "perspective", "perspective": {"yfov": 1, "znear": 0.1}}],
        "extensionsUsed": ["KHR_materials_unlit"], "extras": {"note": [1, {"a": None}]}}, b


def glb(text, binary):
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    size = 12 + 8 + len(text) + 8 + len(binary)
    return (struct.pack("<4sIII4s", b"glTF", 2, size, len(text), b"JSON") + text +
            struct.pack("<I4s", len(binary), b"BIN\0") + binary)


def main():
    for name, make in (("triangle", triangle), ("sparse", sparse), ("character", character)):
        gltf, buffer = make()
        text = finish(gltf, buffer, False)
        write("fuzz_gltf", name + ".gltf", finish(gltf, buffer, True))
        write("fuzz_glb", name + ".glb", glb(text, buffer.data))
        write("fuzz_glb", name + ".parts", struct.pack("<I", len(text)) + text + buffer.data)
    square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
    write("fuzz_obj", "square.obj", square + "f 1 2 3 4\n")
    write("fuzz_obj", "full.obj",
          "# full\nmtllib a.mtl\no a thing\nv 0 0 0 1 0.5 0\nv 1 0 0\nv .5 .1 0\nv 1e0 1 0\n"
          "vt 0 0\nvt 1 0.5\nvn 0 0 1\nvn 0 1 0\ng a b\nusemtl red\ns 1\nf 1/1/1 2/2/1 3//2 -1/-1/-1\n"
          "g\nf 1 2 \\\n3\nl 1 2\np 1\nnewmtl red\nKd 1 0 0\nd 0.5\nTr 0.5\nNs 10\n"
          "map_Kd -s 1 1 1 -bm 2 a b.png\nnorm n.jpg\n")
    write("fuzz_obj", "objects.obj", square + "o a\nf 1 2 3\n" + square + "o b\nf 5 6 7 8\n")
    write("fuzz_obj", "crlf.obj", (square + "f -4 -3 -2 -1").replace("\n", "\r\n"))
    write("fuzz_bvh", "two.bvh",
          "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 0 0\n\tCHANNELS 6 Xposition Yposition Zposition "
          "Zrotation Yrotation Xrotation\n\tJOINT Knee\n\t{\n\t\tOFFSET 0 -1 .5\n\t\tCHANNELS 3 "
          "Xrotation Yrotation Zrotation\n\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 -1 0\n\t\t}\n\t}\n}\n"
          "MOTION\nFrames: 2\nFrame Time: .0083333\n1 2 3 4 5 6 7 8 9\n0 0 0 0 0 0 0 0 -190\n")
    write("fuzz_bvh", "roots.bvh",
          "HIERARCHY\r\nROOT a {\r\nCHANNELS 1 Yrotation }\r\nROOT b{ OFFSET 1 2 3 CHANNELS 2 "
          "Xposition Zrotation }\r\nMOTION\r\nFrame Time: 0.1\r\nFrames: 1\r\n10 20 30\r\n")
    header = ("ply\nformat %s 1.0\ncomment c\nelement vertex 4\nproperty float x\nproperty float y\n"
              "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
              "element face 1\nproperty list uchar int vertex_indices\nend_header\n")
    points = [(0, 0, 0), (1, 0, 0), (0.2, 0.2, 0), (0, 1, 0)]
    write("fuzz_ply", "ascii.ply", header % "ascii" +
          "".join("%g %g %g 255 128 0\n" % p for p in points) + "4 0 1 2 3\n")
    for order, name in (("<", "little"), (">", "big")):
        body = b"".join(struct.pack(order + "3f3B", *p, 255, 128, 0) for p in points)
        write("fuzz_ply", name + ".ply", (header % ("binary_%s_endian" % name)).encode() + body +
              struct.pack(order + "B4i", 4, 0, 1, 2, 3))
    write("fuzz_ply", "points.ply",
          "ply\nformat ascii 1.0\nelement other 1\nproperty list uchar int n\nelement vertex 2\n"
          "property double x\nproperty double y\nproperty double z\nproperty float nx\n"
          "property float ny\nproperty float nz\nproperty float s\nproperty float t\nend_header\n"
          "2 7 8\n0 0 0 0 0 1 0.5 0.5\n1 2 3 0 1 0 0 1\n")
    write("fuzz_off", "plain.off",
          "OFF\n# c\n4 2 0\n" + "".join("%g %g %g\n" % p for p in points) + "4 0 1 2 3 255 0 0\n2 0 1\n")
    write("fuzz_off", "all.off",
          "STCN4OFF 3 1 0\n0 0 0 1 0 0 1 255 0 0 255 0 0\n1 0 0 1 0 0 1 0 1 0 1 1 0\n"
          "0 2 0 2 0 0 1 0 0 1 1 0 1\n3 0 1 2\n")
    write("fuzz_stl", "text.stl",
          "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1e0 0\n"
          "endloop\nendfacet\nendsolid a\nsolid\nfacet normal nan 0 1\nouter loop\nvertex 0 0 0\n"
          "vertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n")
    for header, name in ((b"solid", "binary"), (b"COLOR=\xff\x80\x00\xff", "coloured")):
        write("fuzz_stl", name + ".stl", header.ljust(80) + struct.pack("<I", 2) +
              2 * struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0x801F))
    write("fuzz_answer", "empty.bin", struct.pack("<QB", 0, 1) + bytes(8 * 18))
    write("fuzz_answer", "error.bin",
          struct.pack("<QIQsQsQsQQQB", 1, 1, 1, b"k", 1, b"e", 1, b"m", 1, 1, 3, 0) +
          struct.pack("<IQsQQBQ", 0, 1, b"x", 0, 0, 1, 7))
    write("fuzz_picture", "grey.png", png(9, 2, 1, 0, b"\0\xaa\x80\0\x55\0"))
    write("fuzz_picture", "palette.png",
          png(4, 2, 2, 3, b"\0\x1b\1\x0f", more=[(b"PLTE", bytes(range(12))), (b"tRNS", b"\x80\0")]))
    write("fuzz_picture", "deep.png", png(1, 1, 16, 6, b"\0\1\2\3\4\5\6\7\x08", interlaced=1))
    write("fuzz_picture", "upright.jpg", jpeg(0xC0, b"\x3f", 6))
    write("fuzz_picture", "progressive.jpg", jpeg(0xC2, b"\x7f", 3))
    write("fuzz_points", "outer.json",
          '{"points": {"8.1": {"position": [0, 4.25, -9e-1], "note": 1}, "nose_tip": {"vertex": 9}}}')
    write("fuzz_points", "bare.json",
          '{"points": {"vertex": 3}, "brow \\u00e9\\n": {"position": [1, 2, 3]}, "a": {"vertex": 0}}')
    write("fuzz_tracks", "model.csv",
          "time,8.1.x,8.1.y,8.1.z,8.1.confidence,a.z,a.y,a.x,head.x,head.y,head.z,head.qx,head.qy,"
          "head.qz,head.qw\nneutral,0,1,2,,3,4,5,,,,,,,\n0,0,1,2,.5,3,4,5,0,0,0,0,0,0,1\n"
          "0.5,,,,,3,4,5,1,2,3,0,0.6,0,-0.8\n")
    write("fuzz_tracks", "picture.csv", 'time, "b c.x" ,b c.y\r\n0,1e2,-3\r\n1,2,+4\r\n')
    write("fuzz_tracks", "model.json",
          '{"space": "model", "labels": ["8.1", "b"], "neutral": [[0, 1, 2], [3, 4, 5]], "frames": ['
          '{"time": 0, "positions": [[0, 1, 2], [3, 4, 5]], "confidence": [1, 0.25], '
          '"head": [0, 0, 0, 0, 0.6, 0, 0.8]}]}')
    write("fuzz_tracks", "picture.json",
          '{"space": "picture", "labels": ["8.1"], "frames": [{"time": 0, "positions": [[0, 1]]}, '
          '{"time": 1, "positions": [[0, 2]]}]}')
    write("fuzz_shapes", "livelink.csv",
          "Timecode,BlendShapeCount,EyeBlinkLeft,JawOpen,HeadYaw,HeadPitch,HeadRoll\n"
          "13:13:04:58.652,61,0.1236470118,0,0.1,0,-.2\n13:13:05:00.651,61,1,.5,0,0,0\n"
          "13:13:05:02.651,0,,,,,\n23:59:59:59.9,61,0,1,0,0,0\n00:00:00:01.9,61,1,0,0,0,0\n")
    write("fuzz_shapes", "plain.csv", 'time,jawOpen,"a, b"\r\n0,0,1e-3\r\n0.5,1,2\r\n')
    write("fuzz_shapes", "matrix.json",
          '{"exportFps": 30, "facsNames": ["jawOpen", "b"], "weightMat": [[0, 1], [0.5, 0]], '
          '"head": [[0, 0, 0, 1], [0, 0.6, 0, 0.8]]}')
    write("fuzz_shapes", "frames.json",
          '[{"time": 1, "blendshapes": {"jawOpen": 0.5}}, {"timestamp_ms": 2000, "blendshapes": '
          '[{"categoryName": "b", "score": 1}]}, {"t": 3, "head": [0, 0, 0, 1], "values": {}}]')


if __name__ == "__main__":
    main()
