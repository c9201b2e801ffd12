// Writes the skinned vertices of every clip at five instants, for another program to compare:
// dump_poses CHARACTER OUT. A JSON line, then for every clip and instant all positions as floats.
#include <cstdio>
#include <fstream>
#include <string>

#include "derm/deform/pose_character.h"
#include "derm/io/character_file.h"
#include "derm/mesh/measures.h"

namespace {

constexpr int kInstants = 5;

std::string header(const derm::Character& c) {
  std::string out = "{\"diagonal\":" + std::to_string(derm::bounds(c.mesh.positions).diagonal()) +
                    ",\"vertices\":" + std::to_string(c.mesh.vertexCount()) + ",\"clips\":[";
  for (std::size_t i = 0; i < c.clips.size(); ++i)
    out += (i > 0 ? "," : "") + std::to_string(c.clips[i].duration_s());
  out += "],\"parts\":[";
  for (const derm::MeshInstance& m : c.instances)
    for (std::size_t p = m.first_part; p < std::size_t{m.first_part} + m.part_count; ++p) {
      if (out.back() != '[') out += ",";
      out += "{\"node\":" + std::to_string(c.joint_source[m.joint.index()]) +
             ",\"primitive\":" + std::to_string(c.parts[p].source_primitive) +
             ",\"first\":" + std::to_string(c.parts[p].first_vertex) +
             ",\"count\":" + std::to_string(c.parts[p].vertex_count) + "}";
    }
  return out + "]}\n";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  derm::Diagnostics notes;
  const derm::Result<derm::Character> loaded = derm::loadCharacter(argv[1], {}, notes);
  if (!loaded) {
    std::fprintf(stderr, "%s\n", loaded.error().text().c_str());
    return 1;
  }
  const derm::Character& c = *loaded;
  std::ofstream out(argv[2], std::ios::binary);
  out << header(c);
  for (const derm::Clip& clip : c.clips)
    for (int k = 0; k < kInstants; ++k) {
      derm::Pose pose = c.restPose();
      derm::sampleClip(clip, clip.duration_s() * float(k) / float(kInstants - 1), pose);
      const derm::Result<derm::TriMesh> posed =
          derm::poseCharacter(c, pose, derm::SkinningMethod::Linear);
      if (!posed) return 1;
      out.write(reinterpret_cast<const char*>(posed->positions.data()),
                static_cast<std::streamsize>(posed->positions.size() * sizeof(derm::Vec3f)));
    }
  return out.good() ? 0 : 1;
}
