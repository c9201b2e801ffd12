#include "derm/io/particle_file.h"

#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "derm/io/gltf.h"
#include "derm/io/mesh_sequence.h"
#include "derm/io/ply.h"
#include "derm/mesh/closedness.h"

#include "support/compare.h"

namespace derm::particle_file_test {
namespace {

Result<Particles> parse(std::string_view text) {
  Diagnostics notes;
  return parseParticles({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "p",
                        notes);
}

std::string errorOf(std::string_view text) {
  const Result<Particles> p = parse(text);
  return p.ok() ? "ok" : p.error().text();
}

void appendBig(std::string& out, float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, 4);
  for (int shift = 24; shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(bits >> shift & 255));
}

TEST(ParticleFile, ReadsPlainXyzWithRadiusAndVelocity) {
  const Result<Particles> plain = parse("# a comment\n1 2 3\n\n4 5 6\n");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->positions, (std::vector<Vec3f>{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_TRUE(plain->radii.empty());
  const Result<Particles> full = parse("2\nwater\n1 2 3 0.5 7 8 9\n4 5 6 0.25 0 0 1\n");
  ASSERT_TRUE(full.ok()) << full.error().text();
  EXPECT_EQ(full->radii, (std::vector<float>{0.5f, 0.25f}));
  EXPECT_EQ(full->velocities[0], Vec3f(7, 8, 9));
}

TEST(ParticleFile, NamesTheLineThatIsWrong) {
  EXPECT_NE(errorOf("1 2 3\n1 2 x\n").find("p:2"), std::string::npos);
  EXPECT_NE(errorOf("1 2 3\n1 2 nan\n").find("finite"), std::string::npos);
  EXPECT_NE(errorOf("1 2 3\n1 2\n").find("2 numbers"), std::string::npos);
  EXPECT_NE(errorOf("1 2 3 0\n").find("radii[0]"), std::string::npos);
  for (const char* nothing : {"", "# still closed\n", "0\nnone yet\n"}) {
    const Result<Particles> none = parse(nothing);
    ASSERT_TRUE(none.ok()) << none.error().text();
    EXPECT_EQ(none->size(), 0u);
  }
}

TEST(ParticleFile, ReadsPlyWithAttributes) {
  const Result<Particles> p = parse(
      "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n"
      "property float z\nproperty float radius\nproperty float vx\nproperty float vy\n"
      "property float vz\nproperty uint id\nend_header\n0 1 2 0.5 1 0 0 7\n3 4 5 0.25 0 1 0 9\n");
  ASSERT_TRUE(p.ok()) << p.error().text();
  EXPECT_EQ(p->positions[1], Vec3f(3, 4, 5));
  EXPECT_EQ(p->ids, (std::vector<std::uint64_t>{7, 9}));
  EXPECT_EQ(p->velocities[1], Vec3f(0, 1, 0));
}

std::string binaryVtk() {
  std::string t =
      "# vtk DataFile Version 4.1\nwater\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 2 float\n";
  for (const float v : {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}) appendBig(t, v);
  t += "\nPOINT_DATA 2\nFIELD FieldData 2\nvelocity 3 2 float\n";
  for (const float v : {0.f, 1.f, 0.f, 0.f, 2.f, 0.f}) appendBig(t, v);
  t += "\npressure 1 2 float\n";
  for (const float v : {9.f, 9.f}) appendBig(t, v);
  return t + "\n";
}

TEST(ParticleFile, ReadsBinaryVtkAndSurvivesEveryTruncation) {
  const std::string whole = binaryVtk();
  const Result<Particles> p = parse(whole);
  ASSERT_TRUE(p.ok()) << p.error().text();
  EXPECT_EQ(p->positions[1], Vec3f(4, 5, 6));
  EXPECT_EQ(p->velocities[1], Vec3f(0, 2, 0));
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Result<Particles> cut = parse(std::string_view(whole).substr(0, n));
    EXPECT_TRUE(!cut.ok() || cut->size() <= 2u);
  }
}

TEST(ParticleFile, ReadsVtkAsVersion9WritesIt) {
  // Cells in two arrays, and metadata between the others.
  const std::string whole =
      "# vtk DataFile Version 5.1\nvtk output\nASCII\nDATASET POLYDATA\nPOINTS 2 float\n"
      "1 2 3 4 5 6 \nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\n"
      "DATA 2 3.7 8.8 \n\nVERTICES 3 2\nOFFSETS vtktypeint64\n0 1 2 \n"
      "CONNECTIVITY vtktypeint64\n0 1 \nCELL_DATA 2\nFIELD FieldData 1\nid 1 2 int\n3 4\n"
      "SCALARS radius float\nLOOKUP_TABLE default\n5 6\nPOINT_DATA 2\nFIELD FieldData 2\n"
      "id 1 2 vtkIdType\n7 9 \nMETADATA\nINFORMATION 0\n\nvelocity 3 2 float\n"
      "0 1 0 0 2 0 \nMETADATA\nCOMPONENT_NAMES\nX\nY\nZ\nINFORMATION 0\n\n";
  const Result<Particles> p = parse(whole);
  ASSERT_TRUE(p.ok()) << p.error().text();
  EXPECT_EQ(p->positions[1], Vec3f(4, 5, 6));
  EXPECT_EQ(p->ids, (std::vector<std::uint64_t>{7, 9}));
  ASSERT_EQ(p->velocities.size(), 2u);
  EXPECT_EQ(p->velocities[1], Vec3f(0, 2, 0));
  EXPECT_TRUE(p->radii.empty()) << "those are the cells'";
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Result<Particles> cut = parse(std::string_view(whole).substr(0, n));
    EXPECT_TRUE(!cut.ok() || cut->size() <= 2u);
  }
}

TEST(ParticleFile, ReadsRealSets) {
  DERM_DATA_OR_SKIP(folder, "particles-sph");
  Diagnostics notes;
  const Result<Particles> vtk =
      loadParticles(folder / "double_dam_break_frame_26_4732_particles.vtk", notes);
  const Result<Particles> xyz =
      loadParticles(folder / "double_dam_break_frame_26_4732_particles.xyz", notes);
  ASSERT_TRUE(vtk.ok()) << vtk.error().text();
  ASSERT_TRUE(xyz.ok()) << xyz.error().text();
  EXPECT_EQ(vtk->size(), 4732u);
  EXPECT_EQ(vtk->ids.size(), 4732u);
  EXPECT_EQ(vtk->velocities.size(), 4732u);
  ASSERT_EQ(xyz->size(), vtk->size());
  for (std::size_t i = 0; i < xyz->size(); ++i)
    EXPECT_LT((xyz->positions[i] - vtk->positions[i]).norm(), 1e-4);
}

TEST(ParticleFile, FindsNumberedFilesInTheOrderOfTheirNumbers) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("derm-numbered-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  for (const char* name : {"a_002.xyz", "a_10.xyz", "a_1.xyz", "a_x.xyz", "b_3.xyz"})
    std::ofstream(folder / name) << "0 0 0\n";
  const auto files = numberedFiles((folder / "a_{frame}.xyz").string());
  ASSERT_TRUE(files.ok());
  ASSERT_EQ(files->size(), 3u);
  EXPECT_EQ((*files)[0].path.filename(), "a_1.xyz");
  EXPECT_EQ((*files)[1].digits, "002");
  EXPECT_EQ((*files)[2].path.filename(), "a_10.xyz");
  EXPECT_FALSE(numberedFiles((folder / "c_{frame}.xyz").string()).ok());
  EXPECT_EQ(numberedName("s_{frame}.glb", 7), "s_0007.glb");
  EXPECT_EQ(numberedName("s_{frame}.glb", "002"), "s_002.glb");
  std::filesystem::remove_all(folder);
}

TriMesh tetrahedron(float size) {
  TriMesh m;
  m.positions = {{0, 0, 0}, {size, 0, 0}, {0, size, 0}, {0, 0, size}};
  m.triangles = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
  m.normals.assign(4, Vec3f(0, 1, 0));
  return m;
}

TEST(MeshSequence, APlyComesBackAsItWas) {
  const TriMesh mesh = tetrahedron(1);
  const std::vector<Vec3f> velocities(4, Vec3f(1, 2, 3));
  const std::vector<std::uint8_t> bytes = encodePly(mesh, velocities);
  Diagnostics notes;
  const Result<Character> back = parsePly(bytes, "m.ply", {}, notes);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(back->mesh.positions, mesh.positions);
  EXPECT_EQ(back->mesh.triangles, mesh.triangles);
  const Result<Particles> points = parseParticles(bytes, "m.ply", notes);
  ASSERT_TRUE(points.ok());
  EXPECT_EQ(points->velocities, velocities);
}

TEST(MeshSequence, OneFileShowsOneFrameAtATime) {
  const std::vector<TriMesh> frames = {tetrahedron(1), tetrahedron(2), {}, tetrahedron(3)};
  const Character c = sequenceCharacter(frames, 10, "skin");
  ASSERT_TRUE(validate(c).ok()) << validate(c).error().text();
  Diagnostics notes;
  const Result<std::vector<std::uint8_t>> glb = encodeGlb(c, notes);
  ASSERT_TRUE(glb.ok()) << glb.error().text();
  const Result<Character> back = parseGltf(*glb, "s.glb", {}, {}, notes);
  ASSERT_TRUE(back.ok()) << back.error().text();
  ASSERT_EQ(back->clips.size(), 1u);
  ASSERT_EQ(back->instances.size(), 3u);
  for (const double time : {0.05, 0.15, 0.25, 0.35}) {
    Pose pose = back->restPose();
    sampleClip(back->clips[0], float(time), pose);
    int shown = 0;
    for (const MeshInstance& i : back->instances)
      shown += pose.local[i.joint.index()].scale.x() > 0.5f;
    EXPECT_EQ(shown, time > 0.2 && time < 0.3 ? 0 : 1) << time;
  }
}

}  // namespace
}  // namespace derm::particle_file_test
