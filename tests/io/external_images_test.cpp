// Pictures that OBJ, DAE and FBX files name by path go where the character goes.
#include <filesystem>

#include <gtest/gtest.h>

#include "derm/io/character_file.h"
#include "derm/io/file_bytes.h"

#include "io/assimp_import.h"
#include "support/test_folder.h"

namespace derm::external_images_test {
namespace {

const std::vector<std::uint8_t> kPicture{0x89, 'P', 'N', 'G', 1, 2, 3};

class SideImages : public testing_support::FolderTest {
 protected:
  SideImages() {
    std::filesystem::create_directory(folder_ / "model");
    std::filesystem::create_directory(folder_ / "other");
  }
  void write(const std::string& name, std::string_view text) {
    ASSERT_TRUE(writeFileWhole(folder_ / name, text));
  }
  void writePicture(const std::string& name) {
    ASSERT_TRUE(writeFileWhole(folder_ / name, kPicture));
  }
  void writeObj(const std::string& texture) {
    write("model/a.obj",
          "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\n"
          "f 1/1 2/2 3/3\n");
    write("model/a.mtl", "newmtl m\nmap_Kd " + texture + "\n");
  }
  Character load(const std::string& name) {
    notes_ = {};
    Result<Character> c = loadCharacter(folder_ / name, {}, notes_);
    EXPECT_TRUE(c) << (c ? "" : c.error().text());
    return c ? *std::move(c) : Character();
  }
  std::string noteText() const {
    std::string out;
    for (const Diagnostics::Note& n : notes_.notes()) out += n.text() + "\n";
    return out;
  }
  /// Written beside the source and far from it, the picture is found either way.
  void expectCarried(const Character& c, const std::string& where) {
    SCOPED_TRACE(where);
    for (const char* out : {"model/out.glb", "other/out.glb", "other/out.gltf"}) {
      Diagnostics notes;
      ASSERT_TRUE(saveCharacter(c, folder_ / out, notes));
      const Character back = load(out);
      ASSERT_EQ(back.images.size(), 1u) << out;
      EXPECT_EQ(back.images[0].bytes, kPicture) << out;
      EXPECT_EQ(back.images[0].mime_type, "image/png") << out;
      EXPECT_EQ(back.materials[0].base_colour_image, 0) << out;
      EXPECT_EQ(notes_.count("image-not-read"), 0u) << noteText();
    }
  }

  Diagnostics notes_;
};

TEST_F(SideImages, OfAnObjTravelWithIt) {
  for (const auto& [named, lies_at] : std::vector<std::pair<std::string, std::string>>{
           {"tex.png", "model/tex.png"},
           {"my skin.png", "model/my skin.png"},
           {"..\\maps\\skin.png", "maps/skin.png"},
           {"C:\\work\\far away.png", "model/far away.png"},
           {"/home/somebody/near.png", "model/near.png"},
           {"100%25.png", "model/100%25.png"}}) {
    std::filesystem::create_directory(folder_ / "maps");
    writePicture(lies_at);
    writeObj(named);
    const Character c = load("model/a.obj");
    ASSERT_EQ(c.images.size(), 1u) << named;
    EXPECT_EQ(c.images[0].bytes, kPicture) << named;
    expectCarried(c, named);
  }
}

TEST_F(SideImages, ThatAreMissingAreNamed) {
  writeObj("gone.png");
  const Character c = load("model/a.obj");
  EXPECT_EQ(notes_.count("image-not-read"), 1u);
  EXPECT_NE(noteText().find("gone.png"), std::string::npos) << noteText();
  ASSERT_EQ(c.images.size(), 1u);
  EXPECT_EQ(c.images[0].uri, "gone.png") << "whoever puts it there later has it";
}

TEST_F(SideImages, WithoutANameAreLeftOut) {
  for (const char* nothing : {".", "maps/", "./.", ".."}) {
    writeObj(nothing);
    const Character c = load("model/a.obj");
    EXPECT_TRUE(c.images.empty()) << nothing;
    EXPECT_EQ(c.materials[0].base_colour_image, -1) << nothing;
    EXPECT_EQ(notes_.count("image-without-name"), 1u) << nothing;
  }
}

TEST_F(SideImages, OfOtherKindsAreNotTakenIn) {
  write("model/secret.png", "not a picture at all");
  writeObj("secret.png");
  EXPECT_TRUE(load("model/a.obj").images[0].bytes.empty());
  EXPECT_NE(noteText().find("neither PNG"), std::string::npos) << noteText();
  write("model/skin.tga", "truevision");
  writeObj("skin.tga");
  const Character c = load("model/a.obj");
  Diagnostics notes;
  ASSERT_TRUE(saveCharacter(c, folder_ / "other/out.glb", notes));
  EXPECT_EQ(notes.count("image-not-written"), 1u);
  EXPECT_TRUE(load("other/out.glb").images.empty());
}

TEST_F(SideImages, OfADaeTravelWithIt) {
  if (!detail::assimpAvailable()) GTEST_SKIP() << "built without assimp";
  writePicture("model/tex.png");
  write("model/a.dae", R"(<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit meter="1"/><up_axis>Y_UP</up_axis></asset>
<library_images><image id="i" name="i"><init_from>tex.png</init_from></image></library_images>
<library_effects><effect id="e"><profile_COMMON>
<newparam sid="s"><surface type="2D"><init_from>i</init_from></surface></newparam>
<newparam sid="t"><sampler2D><source>s</source></sampler2D></newparam>
<technique sid="c"><lambert><diffuse><texture texture="t" texcoord="UV"/></diffuse></lambert>
</technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m" name="m"><instance_effect url="#e"/></material>
</library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>
<accessor source="#pa" count="3" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<source id="u"><float_array id="ua" count="6">0 0 1 0 0 1</float_array><technique_common>
<accessor source="#ua" count="3" stride="2"><param name="S" type="float"/>
<param name="T" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1" material="mm"><input semantic="VERTEX" source="#v" offset="0"/>
<input semantic="TEXCOORD" source="#u" offset="1" set="0"/><p>0 0 1 1 2 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="w"><node id="n"><instance_geometry url="#g">
<bind_material><technique_common><instance_material symbol="mm" target="#m">
<bind_vertex_input semantic="UV" input_semantic="TEXCOORD" input_set="0"/></instance_material>
</technique_common></bind_material></instance_geometry></node></visual_scene>
</library_visual_scenes>
<scene><instance_visual_scene url="#w"/></scene>
</COLLADA>
)");
  const Character c = load("model/a.dae");
  ASSERT_EQ(c.images.size(), 1u) << noteText();
  EXPECT_EQ(c.images[0].bytes, kPicture);
  expectCarried(c, "dae");
}

}  // namespace
}  // namespace derm::external_images_test
