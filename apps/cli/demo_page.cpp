#include "demo_page.h"

#include <array>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "derm/base/markup_text.h"
#include "derm/io/base64.h"
#include "derm/io/file_bytes.h"

namespace derm::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStyle = R"css(
:root { color-scheme: light; --ink: #1d2430; --soft: #5b6675; --line: #d7dce3; --paper: #f4f6f8; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
       font: 16px/1.55 "Inter", "Helvetica Neue", Helvetica, Arial, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 34px; margin: 0 0 4px; letter-spacing: -0.01em; }
h2 { font-size: 19px; margin: 44px 0 10px; }
p { margin: 0 0 14px; color: var(--soft); max-width: 70ch; }
#stage { position: relative; aspect-ratio: 16 / 9; border-radius: 12px; overflow: hidden;
         background: linear-gradient(#e6eaef, #ccd2da); border: 1px solid var(--line); }
#stage canvas, #stage video, #stage img { width: 100%; height: 100%; display: block; }
#panel { position: absolute; left: 14px; top: 10px; font-size: 14px; color: #4a5462; }
#panel label { display: block; }
#stage .hint { position: absolute; right: 14px; bottom: 10px; font-size: 13px; color: #4a5462; }
#player { position: relative; border-radius: 12px; overflow: hidden; border: 1px solid var(--line);
          background: #d9dee3; margin-bottom: 28px; }
#player canvas { width: 100%; aspect-ratio: 5 / 2; display: block; touch-action: none; cursor: grab; }
#player .side { position: absolute; top: 12px; padding: 2px 10px; border-radius: 6px; color: #fff; font-size: 14px; }
#player .left { left: 14px; background: #6b7480; }
#player .right { left: calc(50% + 14px); background: #1c4cbe; }
#player .hint { position: absolute; right: 14px; top: 12px; font-size: 13px; color: #4a5462; }
#player .controls { display: flex; flex-wrap: wrap; gap: 8px 20px; padding: 10px 14px; background: #fff; font-size: 14px; align-items: center; }
#player label { margin-right: 14px; }
video, img { max-width: 100%; border-radius: 10px; border: 1px solid var(--line); display: block; }
table { border-collapse: collapse; }
td { padding: 6px 24px 6px 0; border-bottom: 1px solid var(--line); }
td:last-child { font-variant-numeric: tabular-nums; padding-right: 0; }
code, li { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 14px; }
a { color: #1c4cbe; }
)css";

/// A stage with light and a turning camera. `document.body.dataset.shown` tells when something is
/// to be seen on it.
constexpr std::string_view kStage = R"js(
import * as THREE from 'three';
import { GLTFLoader } from 'three/GLTFLoader';
import { OrbitControls } from 'three/OrbitControls';

const stage = document.getElementById('stage');
const renderer = new THREE.WebGLRenderer({ antialias: true, alpha: true });
renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
renderer.toneMapping = THREE.NeutralToneMapping;
renderer.shadowMap.enabled = true;
renderer.shadowMap.type = THREE.PCFSoftShadowMap;
stage.prepend(renderer.domElement);

const scene = new THREE.Scene();
scene.add(new THREE.HemisphereLight(0xffffff, 0xb9b4ae, 2.2));
const key = new THREE.DirectionalLight(0xfff4e6, 2.6);
key.castShadow = true;
key.shadow.mapSize.set(1024, 1024);
key.shadow.radius = 6;
scene.add(key, key.target);
const camera = new THREE.PerspectiveCamera(28, 16 / 9, 0.01, 100);
const controls = new OrbitControls(camera, renderer.domElement);
controls.enableDamping = true;
controls.autoRotate = true;
controls.autoRotateSpeed = 1.2;

// Shows what moves within a box; step(dt) makes it move, `shown` says what it is.
const show = (box, shown, step) => {
  const centre = box.getCenter(new THREE.Vector3());
  const size = box.getSize(new THREE.Vector3()).length();
  controls.target.copy(centre);
  camera.position.copy(centre).add(new THREE.Vector3(0.62, 0.24, 0.75).multiplyScalar(size * 1.1));
  camera.near = size / 100;
  camera.far = size * 20;
  key.position.copy(centre).add(new THREE.Vector3(0.5, 1.2, 0.7).multiplyScalar(size));
  key.target.position.copy(centre);
  Object.assign(key.shadow.camera, { left: -size, right: size, top: size, bottom: -size, near: size / 50, far: size * 4 });
  const floor = new THREE.Mesh(new THREE.PlaneGeometry(size * 8, size * 8),
                               new THREE.ShadowMaterial({ opacity: 0.22 }));
  floor.rotation.x = -Math.PI / 2;
  floor.position.y = box.min.y;
  floor.receiveShadow = true;
  scene.add(floor);
  const fit = () => {
    renderer.setSize(stage.clientWidth, stage.clientHeight, false);
    camera.aspect = stage.clientWidth / Math.max(stage.clientHeight, 1);
    camera.updateProjectionMatrix();
  };
  new ResizeObserver(fit).observe(stage);
  fit();
  const clock = new THREE.Clock();
  let drawn = 0;
  renderer.setAnimationLoop(() => {
    step(clock.getDelta());
    controls.update();
    renderer.render(scene, camera);
    if (++drawn === 3) document.body.dataset.shown = shown;
  });
};
)js";

/// Plays the baked model.
constexpr std::string_view kModelViewer = R"js(
const text = atob(document.getElementById('model').textContent.trim());
const bytes = Uint8Array.from(text, (c) => c.charCodeAt(0));
new GLTFLoader().parse(bytes.buffer, '', (gltf) => {
  scene.add(gltf.scene);
  gltf.scene.traverse((o) => { if (o.isMesh) { o.castShadow = true; o.frustumCulled = false; } });
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const clip = THREE.AnimationClip.findByName(gltf.animations, stage.dataset.clip)
      ?? gltf.animations[0];
  if (clip) mixer.clipAction(clip).play();
  const box = new THREE.Box3();
  for (let i = 0; i <= 8; ++i) {
    if (clip) mixer.setTime(clip.duration * i / 8.001);
    gltf.scene.updateMatrixWorld(true);
    gltf.scene.traverse((o) => {
      if (o.isSkinnedMesh) { o.computeBoundingBox(); }
      if (o.isMesh) box.union((o.isSkinnedMesh ? o.boundingBox : o.geometry.boundingBox ??
          (o.geometry.computeBoundingBox(), o.geometry.boundingBox)).clone()
          .applyMatrix4(o.matrixWorld));
    });
  }
  if (clip) mixer.setTime(0);
  show(box, 'model', (dt) => mixer.update(dt));
}, (error) => { document.body.dataset.shown = 'error: ' + error; });
)js";

/// Plays the recipe itself, by derm in the page: its layers can be switched on and off.
constexpr std::string_view kLiveViewer = R"js(
const live = await (await derm.Derm.load()).open(document.getElementById('recipe').textContent);
const { start_s, end_s, layers } = live.recipe;
const geometry = new THREE.BufferGeometry();
const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial(
    { vertexColors: live.colours !== null, color: live.colours ? 0xffffff : 0xd98a4a, roughness: 0.8 }));
mesh.castShadow = true;
mesh.frustumCulled = false;
scene.add(mesh);
let topology = -1;
const update = () => {
  if (live.topology !== topology) {
    topology = live.topology;
    const add = (name, view, size) => {
      if (view) geometry.setAttribute(name, new THREE.BufferAttribute(view.slice(), size));
    };
    geometry.dispose();
    add('position', live.positions, 3);
    add('normal', live.normals, 3);
    add('color', live.colours, 4);
    geometry.setIndex(new THREE.BufferAttribute(live.triangles.slice(), 1));
  }
  for (const [name, view] of [['position', live.positions], ['normal', live.normals]]) {
    if (!view) continue;
    geometry.attributes[name].array.set(view);
    geometry.attributes[name].needsUpdate = true;
  }
};
const box = new THREE.Box3(), point = new THREE.Vector3();
for (let i = 0; i <= 8; ++i) {
  live.seek(start_s + (end_s - start_s) * i / 8);
  const p = live.positions;
  for (let v = 0; v < p.length; v += 3) box.expandByPoint(point.set(p[v], p[v + 1], p[v + 2]));
}
const panel = document.getElementById('panel');
const add = (tag, of, before = '') => {
  const label = document.createElement('label'), made = Object.assign(document.createElement(tag), of);
  label.append(made, before);
  panel.append(label);
  return made;
};
for (const { name } of layers)
  add('input', { type: 'checkbox', checked: true, id: 'layer-' + name,
                 onchange: (event) => live.enableLayer(name, event.target.checked) }, ' ' + name);
const speed = add('input', { type: 'range', min: 0, max: 2, step: 0.1, value: 1 }, ' speed');
const time = add('input', { type: 'range', min: start_s, max: end_s, step: 0.001, value: start_s }, ' time');
show(box, 'live', (dt) => {
  let at = Number(time.value) + Math.min(dt, 0.1) * Number(speed.value);
  if (at >= end_s) at = start_s;
  time.value = at;
  live.seek(at);
  update();
});
)js";

/// A module of three.js under a name of ours, and the relative import in it that has to become one.
struct Module {
  std::string_view name;
  std::string_view file;
  std::string_view import_from;
  std::string_view import_as;
};
constexpr std::array kModules = {
    Module{"three", "build/three.module.min.js", "./three.core.min.js", "three/core"},
    Module{"three/core", "build/three.core.min.js", "", ""},  // of its own from release 172 on
    Module{"three/GLTFLoader", "examples/jsm/loaders/GLTFLoader.js",
           "../utils/BufferGeometryUtils.js", "three/BufferGeometryUtils"},
    Module{"three/BufferGeometryUtils", "examples/jsm/utils/BufferGeometryUtils.js", "", ""},
    Module{"three/OrbitControls", "examples/jsm/controls/OrbitControls.js", "", ""}};

Result<std::string> importMap(const fs::path& three) {
  std::string out;
  for (const Module& module : kModules) {
    const fs::path file = three / module.file;
    std::error_code ignored;
    if (module.name == "three/core" && !fs::exists(file, ignored)) continue;
    DERM_TRY(std::vector<std::uint8_t> bytes, readFile(file));
    std::string text(bytes.begin(), bytes.end());
    if (!module.import_from.empty()) {
      const std::size_t at = text.find(module.import_from);
      if (at != std::string::npos) text.replace(at, module.import_from.size(), module.import_as);
    }
    const std::span<const std::uint8_t> content(reinterpret_cast<const std::uint8_t*>(text.data()),
                                                text.size());
    out += fmt::format("{}\"{}\": \"data:text/javascript;base64,{}\"", out.empty() ? "" : ",\n",
                       module.name, encodeBase64(content));
  }
  return "<script type=\"importmap\">{\"imports\": {\n" + out + "}}</script>\n";
}

std::string filmTag(const DemoPage::Film& film) {
  if (film.is_sequence)
    return fmt::format("<img src=\"{}/000001.png\" alt=\"first frame of the film\">\n",
                       markupText(film.file));
  return fmt::format("<video src=\"{}\" autoplay muted loop playsinline controls></video>\n",
                     markupText(film.file));
}

/// A script's text as it may stand in a page.
std::string inPage(std::string_view script) {
  constexpr std::string_view kEnd = "</script";
  std::string out(script);
  for (std::size_t at = out.find(kEnd); at != std::string::npos; at = out.find(kEnd, at + 1))
    out.insert(at + 1, "\\");
  return out;
}

Result<std::string> liveViewerHtml(const DemoPage& page, const fs::path& three,
                                   const fs::path& module) {
  DERM_TRY(const std::vector<std::uint8_t> script, readFile(module));
  DERM_TRY(const std::string map, importMap(three));
  const std::string_view text(reinterpret_cast<const char*>(script.data()), script.size());
  return fmt::format(
      "{}<script>{}</script>\n<script type=\"text/plain\" id=\"recipe\">{}</script>\n"
      "<script type=\"module\">{}{}</script>\n",
      map, inPage(text), inPage(page.recipe), kStage, kLiveViewer);
}

Result<std::string> viewerHtml(const DemoPage& page, const fs::path& folder,
                               const fs::path& three) {
  DERM_TRY(const std::vector<std::uint8_t> model, readFile(folder / page.model));
  DERM_TRY(const std::string map, importMap(three));
  return fmt::format(
      "{}<script type=\"text/plain\" id=\"model\">{}</script>\n<script "
      "type=\"module\">{}{}</script>\n",
      map, encodeBase64(model), kStage, kModelViewer);
}

std::string numbersHtml(const DemoPage& page) {
  std::string rows;
  for (const DemoPage::Number& n : page.numbers)
    rows +=
        fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", markupText(n.what), markupText(n.value));
  return "<h2>In numbers</h2>\n<table>\n" + rows + "</table>\n";
}

std::string galleryHtml(const DemoPage& page) {
  std::string out;
  for (const DemoPage::Panel& panel : page.gallery)
    out += fmt::format("<h2>{0}</h2>\n<p>{1}</p>\n<img src=\"{2}\" alt=\"{0}\">\n",
                       markupText(panel.title), markupText(panel.text), markupText(panel.picture));
  return out;
}

std::string filesHtml(const DemoPage& page) {
  std::string items;
  for (const std::string& file : page.files)
    items += fmt::format("<li><a href=\"{0}\">{0}</a></li>\n", markupText(file));
  return "<h2>Files</h2>\n<ul>\n" + items + "</ul>\n";
}

}  // namespace

fs::path findThree(const fs::path& given) {
  std::error_code ignored;
  for (const fs::path& folder :
       {given, fs::path("/usr/share/nodejs/three"), fs::path("/usr/share/javascript/three")})
    if (!folder.empty() && fs::exists(folder / kModules[0].file, ignored) &&
        fs::exists(folder / "examples/jsm/loaders/GLTFLoader.js", ignored))
      return folder;
  return {};
}

Result<std::string> demoPageHtml(const DemoPage& page, const fs::path& folder,
                                 const fs::path& three, const fs::path& module) {
  std::string stage;
  std::string viewer;
  if (!three.empty() && !module.empty()) {
    stage =
        "<h2>Live: derm itself, in this page</h2>\n<div id=\"stage\" data-clip=\"{}\"><div "
        "id=\"panel\"></div><span class=\"hint\">drag to turn</span></div>\n";
    DERM_TRY(viewer, liveViewerHtml(page, three, module));
  } else if (!three.empty()) {
    stage =
        "<h2>The baked file, played by three.js</h2>\n<div id=\"stage\" data-clip=\"{}\"><span "
        "class=\"hint\">drag to turn</span></div>\n";
    DERM_TRY(viewer, viewerHtml(page, folder, three));
  }
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n"
      "<p>{2}</p>\n{3}",
      markupText(page.title), kStyle, markupText(page.about), page.player);
  out += fmt::format(fmt::runtime(stage), markupText(page.clip));
  for (const DemoPage::Film& film : page.films)
    out += fmt::format("<h2>{}</h2>\n{}", markupText(film.title), filmTag(film));
  out += fmt::format("<h2>Strip</h2>\n<img src=\"{}\" alt=\"the motion in single pictures\">\n",
                     markupText(page.strip));
  out += fmt::format("<h2>Curves</h2>\n<img src=\"{}\" alt=\"volume, area and displacement\">\n",
                     markupText(page.plot));
  out += numbersHtml(page) + galleryHtml(page) + filesHtml(page) + "</main>\n" + viewer +
         "</body>\n</html>\n";
  return out;
}

}  // namespace derm::cli
