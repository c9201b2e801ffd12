#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <assimp/Exporter.hpp>
#include <assimp/scene.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "derm/base/rng.h"
#include "derm/io/file_bytes.h"
#include "derm/mesh/closedness.h"
#include "derm/mesh/measures.h"

#include "io/assimp_import.h"
#include "io/limited_process.h"
#include "support/test_folder.h"

namespace derm::assimp_test {
namespace {

namespace fs = std::filesystem;

void setFace(aiFace& face, unsigned a, unsigned b, unsigned c) {
  face.mNumIndices = 3;
  face.mIndices = new unsigned[3]{a, b, c};
}

/// A strip of two squares along y on a two-bone chain, in file units: feet at the origin, each bone
/// 10 long. The body's node is moved and turned, so that binds and node matrices both matter.
aiMesh* makeMesh() {
  auto* mesh = new aiMesh;
  mesh->mName = aiString("strip");
  mesh->mPrimitiveTypes = aiPrimitiveType_TRIANGLE;
  mesh->mNumVertices = 6;
  mesh->mVertices = new aiVector3D[6];
  mesh->mNormals = new aiVector3D[6];
  for (unsigned v = 0; v < 6; ++v) {
    // In the body node's space, which is moved by (5, 0, 0).
    mesh->mVertices[v] = aiVector3D((v % 2 == 0 ? 0.f : 4.f) - 5.f, 10.f * float(v / 2), 0.f);
    mesh->mNormals[v] = aiVector3D(0, 0, 1);
  }
  mesh->mNumFaces = 4;
  mesh->mFaces = new aiFace[4];
  for (unsigned q = 0; q < 2; ++q) {
    setFace(mesh->mFaces[2 * q], 2 * q, 2 * q + 1, 2 * q + 3);
    setFace(mesh->mFaces[2 * q + 1], 2 * q, 2 * q + 3, 2 * q + 2);
  }
  mesh->mNumBones = 2;
  mesh->mBones = new aiBone*[2];
  for (unsigned b = 0; b < 2; ++b) {
    auto* bone = new aiBone;
    bone->mName = aiString(b == 0 ? "lower" : "upper");
    bone->mNumWeights = 4;
    bone->mWeights = new aiVertexWeight[4];
    for (unsigned w = 0; w < 4; ++w) {
      const unsigned vertex = 2 * b + w;
      bone->mWeights[w] = aiVertexWeight(vertex, vertex / 2 == 1 ? 0.5f : 1.0f);
    }
    // Mesh space to bone space in the bind pose.
    aiMatrix4x4::Translation(aiVector3D(5, b == 0 ? 0.f : -10.f, 0), bone->mOffsetMatrix);
    mesh->mBones[b] = bone;
  }
  return mesh;
}

std::unique_ptr<aiScene> makeScene() {
  auto scene = std::make_unique<aiScene>();
  scene->mNumMaterials = 1;
  scene->mMaterials = new aiMaterial* [1] { new aiMaterial };
  const aiString name("skin");
  const aiColor4D colour(0.75f, 0.5f, 0.25f, 1.0f);
  scene->mMaterials[0]->AddProperty(&name, AI_MATKEY_NAME);
  scene->mMaterials[0]->AddProperty(&colour, 1, AI_MATKEY_COLOR_DIFFUSE);
  scene->mNumMeshes = 1;
  scene->mMeshes = new aiMesh* [1] { makeMesh() };
  auto* root = new aiNode("scene");
  auto* body = new aiNode("body");
  body->mNumMeshes = 1;
  body->mMeshes = new unsigned[1]{0};
  aiMatrix4x4::Translation(aiVector3D(5, 0, 0), body->mTransformation);
  auto* lower = new aiNode("lower");
  auto* upper = new aiNode("upper");
  aiMatrix4x4::Translation(aiVector3D(0, 10, 0), upper->mTransformation);
  root->addChildren(1, &body);
  root->addChildren(1, &lower);
  lower->addChildren(1, &upper);
  scene->mRootNode = root;
  // Assimp's exporters write ticks as if they were seconds, so one tick is one second here.
  auto* bend = new aiAnimation;
  bend->mName = aiString("bend");
  bend->mTicksPerSecond = 1;
  bend->mDuration = 2;
  bend->mNumChannels = 1;
  auto* channel = new aiNodeAnim;
  bend->mChannels = new aiNodeAnim* [1] { channel };
  channel->mNodeName = aiString("upper");
  channel->mNumRotationKeys = channel->mNumPositionKeys = channel->mNumScalingKeys = 3;
  channel->mRotationKeys = new aiQuatKey[3];
  channel->mPositionKeys = new aiVectorKey[3];
  channel->mScalingKeys = new aiVectorKey[3];
  for (unsigned k = 0; k < 3; ++k) {
    channel->mRotationKeys[k] = aiQuatKey(k, aiQuaternion(aiVector3D(0, 0, 1), k == 1 ? 1.f : 0.f));
    channel->mPositionKeys[k] = aiVectorKey(k, aiVector3D(0, 10, 0));
    channel->mScalingKeys[k] = aiVectorKey(k, aiVector3D(1, 1, 1));
  }
  scene->mNumAnimations = 1;
  scene->mAnimations = new aiAnimation* [1] { bend };
  return scene;
}

void addMorph(aiScene& scene) {
  aiMesh& mesh = *scene.mMeshes[0];
  auto* shape = new aiAnimMesh;
  shape->mName = aiString("swell");
  shape->mNumVertices = mesh.mNumVertices;
  shape->mVertices = new aiVector3D[mesh.mNumVertices];
  std::copy_n(mesh.mVertices, mesh.mNumVertices, shape->mVertices);
  shape->mVertices[5] += aiVector3D(0, 0, 3);
  shape->mNormals = new aiVector3D[mesh.mNumVertices];  // without them the exporter leaves it out
  std::copy_n(mesh.mNormals, mesh.mNumVertices, shape->mNormals);
  mesh.mNumAnimMeshes = 1;
  mesh.mAnimMeshes = new aiAnimMesh* [1] { shape };
}

class AssimpImport : public testing_support::FolderTest {
 protected:
  void SetUp() override {
    if (!detail::assimpAvailable()) GTEST_SKIP() << "this build is without assimp";
  }
  fs::path exported(const aiScene& scene, const char* format, const std::string& name) {
    Assimp::Exporter exporter;
    EXPECT_EQ(exporter.Export(&scene, format, (folder_ / name).string()), aiReturn_SUCCESS)
        << exporter.GetErrorString();
    return folder_ / name;
  }
  void replace(const fs::path& file, const std::string& from, const std::string& to) {
    const Result<std::vector<std::uint8_t>> bytes = readFile(file);
    ASSERT_TRUE(bytes.ok());
    std::string text(bytes->begin(), bytes->end());
    ASSERT_NE(text.find(from), std::string::npos) << from;
    text.replace(text.find(from), from.size(), to);
    ASSERT_TRUE(writeFileWhole(file, std::string_view(text)).ok());
  }
  Character loaded(const fs::path& file, const ImportOptions& options = {}) {
    Result<Character> c = detail::loadWithAssimp(file, options, notes_);
    EXPECT_TRUE(c.ok()) << (c.ok() ? "" : c.error().text());
    return c.ok() ? *std::move(c) : Character{};
  }
  /// The scene above, read back, with lengths times `unit` and axes turned by `turn`.
  void expectStrip(const Character& c, double unit, const Mat3d& turn) {
    ASSERT_EQ(c.mesh.vertexCount(), 6u);
    EXPECT_EQ(c.mesh.triangles.size(), 4u);
    const Vec3d corner = turn * Vec3d(4, 20, 0) * unit;
    EXPECT_TRUE(std::any_of(c.mesh.positions.begin(), c.mesh.positions.end(), [&](const Vec3f& p) {
      return (p.cast<double>() - corner).norm() < 1e-5 * unit * 20;
    }));
    ASSERT_TRUE(c.hasSkin());
    ASSERT_TRUE(c.skeleton.find("upper").valid());
    // At rest the skinning matrices are the identity: binds, nodes and mesh agree.
    std::vector<Affine3f> palette(c.skin.slots.size());
    skinningMatrices(c.skin, restModelMatrices(c.skeleton), palette);
    for (const Affine3f& m : palette)
      EXPECT_LT((m.matrix() - Affine3f::Identity().matrix()).cwiseAbs().maxCoeff(), 1e-4f);
    ASSERT_EQ(c.clips.size(), 1u);
    EXPECT_NEAR(c.clips[0].duration_s(), 2.0f, 1e-3);
    Pose pose = c.restPose();
    sampleClip(c.clips[0], 1.0f, pose);
    std::vector<Affine3d> model(c.skeleton.size());
    localToModel(c.skeleton, pose.local, model);
    // The second bone, turned by one radian about the file's z, in the middle of the clip.
    const Vec3d tip = model[c.skeleton.find("upper").index()] * (Vec3d(0, 10, 0) * unit);
    const Vec3d wanted = turn * Vec3d(-10 * std::sin(1.0), 10 + 10 * std::cos(1.0), 0) * unit;
    EXPECT_LT((tip - wanted).norm(), 1e-3 * unit * 20);
    EXPECT_EQ(c.materials[static_cast<std::size_t>(c.parts[0].material)].name, "skin");
  }
  Diagnostics notes_;
};

TEST_F(AssimpImport, DaeBringsSkinClipMaterialAndUnit) {
  const fs::path file = exported(*makeScene(), "collada", "strip.dae");
  const Character metres = loaded(file);
  expectStrip(metres, 1.0, Mat3d::Identity());
  EXPECT_EQ(metres.import.format, "DAE");
  EXPECT_EQ(metres.import.declared_unit, "m");
  EXPECT_NEAR(metres.materials[0].base_colour.x(), 0.75f, 1e-5);
  replace(file, "meter=\"1\"", "meter='0.01'");
  const Character centimetres = loaded(file);
  expectStrip(centimetres, 0.01, Mat3d::Identity());
  EXPECT_EQ(centimetres.import.declared_unit, "cm");
  EXPECT_EQ(centimetres.import.metres_per_unit, 0.01);
  expectStrip(loaded(file, {.metres_per_unit = 2.0}), 2.0, Mat3d::Identity());
}

TEST_F(AssimpImport, DaeAxesEndWithYUp) {
  const fs::path file = exported(*makeScene(), "collada", "strip.dae");
  replace(file, "Y_UP", "Z_UP");
  const Character z_up = loaded(file);
  Mat3d turn;
  turn << 1, 0, 0, 0, 0, 1, 0, -1, 0;
  expectStrip(z_up, 1.0, turn);
  EXPECT_EQ(z_up.import.up_axis, "+Z");
  replace(file, "Z_UP", "X_UP");
  turn << 0, -1, 0, 1, 0, 0, 0, 0, 1;
  const Character x_up = loaded(file);
  expectStrip(x_up, 1.0, turn);
  EXPECT_EQ(x_up.import.up_axis, "+X");
}

TEST_F(AssimpImport, FbxBringsSkinClipUnitAndAxes) {
  std::unique_ptr<aiScene> scene = makeScene();
  const fs::path plain = exported(*scene, "fbxa", "plain.fbx");
  const Character centimetres = loaded(plain);
  expectStrip(centimetres, 0.01, Mat3d::Identity());
  EXPECT_EQ(centimetres.import.declared_unit, "cm");
  EXPECT_EQ(centimetres.import.format, "FBX");
  scene->mMetaData = aiMetadata::Alloc(5);
  scene->mMetaData->Set(0, "UpAxis", std::int32_t{2});
  scene->mMetaData->Set(1, "FrontAxis", std::int32_t{1});
  scene->mMetaData->Set(2, "FrontAxisSign", std::int32_t{-1});
  scene->mMetaData->Set(3, "CoordAxis", std::int32_t{0});
  scene->mMetaData->Set(4, "UnitScaleFactor", 2.54);
  const Character inches = loaded(exported(*scene, "fbxa", "inches.fbx"));
  Mat3d turn;
  turn << 1, 0, 0, 0, 0, 1, 0, -1, 0;
  expectStrip(inches, 0.0254, turn);
  EXPECT_EQ(inches.import.declared_unit, "in");
  EXPECT_EQ(inches.import.up_axis, "+Z");
}

TEST_F(AssimpImport, FbxBlendShapesBecomeMorphTargets) {
  std::unique_ptr<aiScene> scene = makeScene();
  addMorph(*scene);
  const Character c = loaded(exported(*scene, "fbxa", "morph.fbx"));
  ASSERT_EQ(c.morphs.size(), 1u);
  EXPECT_NE(c.morphs[0].name.find("swell"), std::string::npos);
  ASSERT_EQ(c.morphs[0].vertices.size(), 1u);
  EXPECT_NEAR(c.morphs[0].positions[0].z(), 0.03f, 1e-6);
  EXPECT_EQ(c.instances[0].morph_count, 1u);
}

// Both are in meshes whose corners assimp lists apart.
TEST_F(AssimpImport, EqualVerticesAreJoinedAndOthersStayApart) {
  std::unique_ptr<aiScene> scene = makeScene();
  addMorph(*scene);
  const Character c = loaded(exported(*scene, "fbxa", "joined.fbx"));
  EXPECT_EQ(c.mesh.vertexCount(), 6u);
  // Two vertices at the place of one, with other weights: they are not equal.
  const fs::path dae = exported(*makeScene(), "collada", "strip.dae");
  EXPECT_EQ(loaded(dae).mesh.vertexCount(), 6u);
  aiMesh& mesh = *scene->mMeshes[0];
  mesh.mVertices[1] = mesh.mVertices[0];
  mesh.mVertices[2] = mesh.mVertices[0];
  EXPECT_EQ(loaded(exported(*scene, "collada", "same.dae")).mesh.vertexCount(), 5u);
}

TEST_F(AssimpImport, FailuresComeBackWithAssimpsText) {
  for (const char* name : {"bad.fbx", "bad.dae", "empty.dae"}) {
    const std::string_view text = std::string_view(name).starts_with("bad") ? "no scene" : "";
    ASSERT_TRUE(writeFileWhole(folder_ / name, text).ok());
    const Result<Character> c = detail::loadWithAssimp(folder_ / name, {}, notes_);
    ASSERT_FALSE(c.ok()) << name;
    EXPECT_EQ(c.error().code, ErrorCode::BadData);
    EXPECT_EQ(c.error().where.file, (folder_ / name).string());
    const std::string start = "assimp cannot read it: ";
    ASSERT_TRUE(c.error().message.starts_with(start)) << c.error().message;
    EXPECT_GT(c.error().message.size(), start.size() + 10) << c.error().message;
  }
  const Result<Character> missing = detail::loadWithAssimp(folder_ / "none.fbx", {}, notes_);
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.error().code, ErrorCode::CannotRead);
}

TEST_F(AssimpImport, EveryTruncationIsACharacterOrAnError) {
  const fs::path file = exported(*makeScene(), "fbxa", "strip.fbx");
  const Result<std::vector<std::uint8_t>> bytes = readFile(file);
  ASSERT_TRUE(bytes.ok());
  const std::size_t step = 97;  // assimp is slow to fail; a prime step meets every kind of place
  for (std::size_t length = 0; length < bytes->size(); length += step) {
    ASSERT_TRUE(writeFileWhole(folder_ / "cut.fbx", std::span(*bytes).first(length)).ok());
    const Result<Character> c = detail::loadWithAssimp(folder_ / "cut.fbx", {}, notes_);
    if (c.ok()) {
      EXPECT_TRUE(validate(*c).ok());
    }
  }
}

/// What became of a file that only wants to do harm.
std::string failureOf(std::string_view text, std::string_view name) {
  Diagnostics notes;
  const Result<Character> c = detail::parseWithAssimp(
      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, name, {}, {}, notes);
  return c.ok() ? "read" : c.error().text();
}

std::string repeated(std::string_view text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

// 800 bytes that asked for 24 GB, and went on as if nothing had happened where there was as much.
TEST_F(AssimpImport, AFileThatAsksForMoreMemoryThanItsSizeAllowsIsAnError) {
  const std::string fbx =
      "; FBX 7.4.0 project file\nFBXHeaderExtension:  {\n\tFBXHeaderVersion: 1003\n"
      "\tFBXVersion: 7400\n}\nObjects:  {\n\tGeometry: 1, \"Geometry::g\", \"Mesh\" {\n"
      "\t\tVertices: *2000000000 {\n\t\t\ta: 0,0,0,1,0,0,0,1,0\n\t\t} \n"
      "\t\tPolygonVertexIndex: *3 {\n\t\t\ta: 0,1,-3\n\t\t} \n\t\tGeometryVersion: 124\n\t}\n"
      "\tModel: 2, \"Model::m\", \"Mesh\" {\n\t\tVersion: 232\n\t}\n}\n"
      "Connections:  {\n\tC: \"OO\",2,0\n\tC: \"OO\",1,2\n}\n";
  EXPECT_EQ(failureOf(fbx, "big.fbx"),
            "big.fbx: assimp cannot read it: it needs more memory than 48 MB, which is the limit "
            "for a file of this size");
  std::string honest = fbx;
  honest.replace(honest.find("2000000000"), 10, "9");
  EXPECT_EQ(failureOf(honest, "small.fbx"), "read");
}

// Assimp reads nodes by recursion: this took the whole program down.
TEST_F(AssimpImport, AFileThatCrashesAssimpIsAnError) {
  const std::string deep =
      "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" "
      "version=\"1.4.1\"><asset/><library_visual_scenes><visual_scene id=\"s\">" +
      repeated("<node id=\"n\">", 200000) + repeated("</node>", 200000) +
      "</visual_scene></library_visual_scenes><scene><instance_visual_scene url=\"#s\"/></scene>"
      "</COLLADA>";
  const std::string failure = failureOf(deep, "deep.dae");
  EXPECT_TRUE(failure.starts_with("deep.dae: assimp cannot read it: ")) << failure;
}

TEST_F(AssimpImport, WithoutTheProgramTheErrorSaysWhereItWasLookedFor) {
  // Every place but the environment's is out of a test's reach; a folder there is no program.
  fs::create_directory(folder_ / "derm-import");
  const char* const given = std::getenv("DERM_MODULES");
  const std::string before = given != nullptr ? given : "";
  ::setenv("DERM_MODULES", folder_.c_str(), 1);
  const std::string failure = failureOf("no scene", "a.fbx");
  ::setenv("DERM_MODULES", before.c_str(), 1);  // empty means none
  EXPECT_NE(failure.find("derm-import cannot be started"), std::string::npos) << failure;
}

TEST_F(AssimpImport, TheLimitsOfAFileArePartOfThePromise) {
  // 16 MB for the program and its libraries; the answer is held twice, the file once.
  const std::uint64_t size = 10 << 20;
  const detail::ReaderLimits limits = detail::readerLimits(size);
  EXPECT_LE(limits.memory_bytes + (16u << 20), (64u << 20) + 20 * size);
  EXPECT_LE(2 * limits.answer_bytes + size, (64u << 20) + 20 * size);
}

/// A file with a few places changed: numbers made large, bytes overwritten, pieces doubled or cut.
std::string mutated(std::string text, Rng& rng) {
  constexpr std::string_view kNumbers[] = {"2000000000", "-1", "4294967296", "1e39", "nan", ""};
  for (std::uint64_t k = 1 + rng.below(4); k > 0 && !text.empty(); --k) {
    const std::size_t at = rng.below(text.size());
    switch (rng.below(4)) {
      case 0: {
        const std::size_t digit = text.find_first_of("0123456789", at);
        if (digit == std::string::npos) break;
        const std::size_t end = text.find_first_not_of("0123456789.", digit);
        text.replace(digit, std::min(end, text.size()) - digit, kNumbers[rng.below(6)]);
        break;
      }
      case 1:
        text[at] = static_cast<char>(rng.below(256));
        break;
      case 2:
        text.insert(at, text.substr(rng.below(text.size()), rng.below(200)));
        break;
      default:
        text.erase(at, rng.below(100));
    }
  }
  return text;
}

TEST_F(AssimpImport, MutatedFilesAreCharactersOrErrors) {
  constexpr int kFilesPerFormat = 60;
  Rng rng(20);
  for (const auto& [format, name] :
       {std::pair("collada", "m.dae"), std::pair("fbxa", "t.fbx"), std::pair("fbx", "b.fbx")}) {
    std::unique_ptr<aiScene> scene = makeScene();
    addMorph(*scene);
    const Result<std::vector<std::uint8_t>> bytes = readFile(exported(*scene, format, name));
    ASSERT_TRUE(bytes.ok());
    const std::string whole(bytes->begin(), bytes->end());
    for (int i = 0; i < kFilesPerFormat; ++i) {
      const std::string text = mutated(whole, rng);
      Diagnostics notes;
      const Result<Character> c = detail::parseWithAssimp(
          {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, name, {}, {}, notes);
      if (c.ok()) {
        EXPECT_TRUE(validate(*c).ok());
      } else {
        EXPECT_EQ(c.error().where.file, name) << c.error().text();
      }
    }
  }
}

}  // namespace
}  // namespace derm::assimp_test
