#include "demo_player.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "derm/image/rgba8_image.h"
#include "derm/io/base64.h"
#include "derm/mesh/measures.h"
#include "derm/scene/scene.h"

#include "demo_recipes.h"

namespace derm::cli {
namespace {

/// What one sees the difference in at once comes first.
struct PlayedScene {
  std::string_view title;
  std::string_view recipe;
  double fps;
  double start_s, end_s;  ///< of the clip
  double yaw_deg, pitch_deg;
};
constexpr std::array kScenes = {
    PlayedScene{"a forearm twists by 170 degrees", kArmTwistRecipe, 20, 0, 4, 20, 20},
    PlayedScene{"a wrist bends", kWristRecipe, 15, 0.8, 4.4, 20, 45},
    PlayedScene{"a cat jumps", kCatRecipe, 30, 0, 1e9, 60, 12}};

constexpr std::string_view kPlayer = R"js(
const scenes = JSON.parse(document.getElementById('scenes').textContent);
const player = document.getElementById('player'), canvas = player.querySelector('canvas');
const gl = canvas.getContext('webgl', { antialias: true });
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const shader = (type, source) => {
  const s = gl.createShader(type);
  gl.shaderSource(s, source);
  gl.compileShader(s);
  return s;
};
const program = gl.createProgram();
gl.attachShader(program, shader(gl.VERTEX_SHADER, `
attribute vec3 position, normal, colour; uniform mat4 view; varying vec3 n, c;
void main() { gl_Position = view * vec4(position, 1.0); n = normal; c = colour; }`));
gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `
precision mediump float; varying vec3 n, c; uniform vec3 key, eye;
void main() {
  vec3 m = normalize(n);
  float lit = max(0.0, dot(m, key)), sky = 0.5 + 0.5 * m.y, rim = pow(1.0 - max(0.0, dot(m, eye)), 3.0);
  vec3 base = pow(c, vec3(2.2));
  gl_FragColor = vec4(pow(base * (0.85 * lit + 0.22 + 0.28 * sky) + 0.06 * rim, vec3(1.0 / 2.2)), 1.0);
}`));
gl.linkProgram(program);
gl.useProgram(program);
gl.enable(gl.DEPTH_TEST);
gl.getExtension('OES_element_index_uint');
const at = (name) => gl.getAttribLocation(program, name);
const buffers = { position: gl.createBuffer(), normal: gl.createBuffer(), colour: gl.createBuffer(), index: gl.createBuffer() };

// A variant's frames as they are needed: positions mixed between two frames, normals from triangles.
const unpack = (v) => v.packed ? v : Object.assign(v, { packed: new Uint16Array(bytes(v.positions).buffer),
  triangles: new Uint32Array(bytes(v.triangles).buffer), colours: bytes(v.colours),
  now: new Float32Array(3 * v.vertices), normals: new Float32Array(3 * v.vertices) });
const pose = (v, frame) => {
  unpack(v);
  const n = 3 * v.vertices, last = v.packed.length / n - 1, a = Math.min(Math.floor(frame), last), b = Math.min(a + 1, last), t = frame - a;
  for (let i = 0; i < n; ++i) {
    const k = i % 3, x = v.packed[a * n + i] * (1 - t) + v.packed[b * n + i] * t;
    v.now[i] = v.low[k] + (v.high[k] - v.low[k]) * x / 65535;
  }
  v.normals.fill(0);
  for (let i = 0; i < v.triangles.length; i += 3) {
    const [p, q, r] = [3 * v.triangles[i], 3 * v.triangles[i + 1], 3 * v.triangles[i + 2]];
    const ux = v.now[q] - v.now[p], uy = v.now[q + 1] - v.now[p + 1], uz = v.now[q + 2] - v.now[p + 2];
    const wx = v.now[r] - v.now[p], wy = v.now[r + 1] - v.now[p + 1], wz = v.now[r + 2] - v.now[p + 2];
    const nx = uy * wz - uz * wy, ny = uz * wx - ux * wz, nz = ux * wy - uy * wx;
    for (const s of [p, q, r]) { v.normals[s] += nx; v.normals[s + 1] += ny; v.normals[s + 2] += nz; }
  }
};
const fill = (name, data, size, type, unit) => {
  gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]);
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  gl.enableVertexAttribArray(at(name));
  gl.vertexAttribPointer(at(name), size, type, unit, 0, 0);
};
let scene, yaw, pitch, zoom = 1, frame = 0, drawn = 0;
const draw = (v, x, width, height) => {
  const cy = Math.cos(yaw), sy = Math.sin(yaw), cp = Math.cos(pitch), sp = Math.sin(pitch);
  const right = [cy, 0, -sy], up = [-sy * sp, cp, -cy * sp], back = [sy * cp, sp, cy * cp];
  const c = scene.centre, r = scene.radius / zoom, f = 3.2, aspect = width / height, d = r * f * Math.max(1, 1 / aspect);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const near = Math.max(0.05 * d, d - 1.6 * scene.radius), far = d + 2.4 * scene.radius, s = f, z = -(far + near) / (far - near), w = -2 * far * near / (far - near);
  // Clip space: x and y by the distance, which is d minus the way towards the eye.
  const m = new Float32Array(16);
  for (let k = 0; k < 3; ++k) {
    m[4 * k] = s / aspect * right[k];
    m[4 * k + 1] = s * up[k];
    m[4 * k + 2] = z * back[k];
    m[4 * k + 3] = -back[k];
  }
  m[12] = -s / aspect * dot(right, c);
  m[13] = -s * dot(up, c);
  m[14] = z * (-dot(back, c) - d) + w;
  m[15] = dot(back, c) + d;
  gl.viewport(x, 0, width, height);
  gl.uniformMatrix4fv(gl.getUniformLocation(program, 'view'), false, m);
  const key = [0.55 * right[0] + 0.62 * up[0] + 0.56 * back[0], 0.55 * right[1] + 0.62 * up[1] + 0.56 * back[1], 0.55 * right[2] + 0.62 * up[2] + 0.56 * back[2]];
  gl.uniform3fv(gl.getUniformLocation(program, 'key'), key);
  gl.uniform3fv(gl.getUniformLocation(program, 'eye'), back);
  fill('position', v.now, 3, gl.FLOAT, false);
  fill('normal', v.normals, 3, gl.FLOAT, false);
  fill('colour', v.colours, 3, gl.UNSIGNED_BYTE, true);
  gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers.index);
  gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, v.triangles, gl.DYNAMIC_DRAW);
  gl.drawElements(gl.TRIANGLES, v.triangles.length, gl.UNSIGNED_INT, 0);
};
const controls = player.querySelector('.controls');
const make = (tag, of, words, into) => {
  const label = document.createElement('label'), made = Object.assign(document.createElement(tag), of);
  label.append(made, words);
  into.append(label);
  return made;
};
const choice = document.createElement('select');
scenes.forEach((s, i) => choice.append(new Option(s.title, i)));
controls.append(choice);
const switches = document.createElement('span');
controls.append(switches);
const time = make('input', { type: 'range', min: 0, max: 1, step: 0.001, value: 0, id: 'player-time' }, ' time', controls);
const speed = make('input', { type: 'range', min: 0, max: 2, step: 0.1, value: 1, id: 'player-speed' }, ' speed', controls);
const variant = () => {
  const on = [...switches.querySelectorAll('input')].map((i) => i.checked ? '1' : '0').join('');
  return scene.variants.find((v) => v.on === on);
};
const open = (index) => {
  scene = scenes[index];
  yaw = scene.yaw; pitch = scene.pitch; zoom = 1.3; frame = 0;
  switches.replaceChildren();
  scene.layers.forEach((name) => make('input', { type: 'checkbox', checked: true, id: 'switch-' + name }, ' ' + name, switches));
};
choice.onchange = () => open(choice.value);
time.oninput = () => { frame = time.value * (scene.frames - 1); };
let held = null;
canvas.onpointerdown = (e) => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); };
canvas.onpointermove = (e) => {
  if (!held) return;
  yaw -= (e.clientX - held[0]) * 0.008;
  pitch = Math.max(-1.5, Math.min(1.5, pitch + (e.clientY - held[1]) * 0.008));
  held = [e.clientX, e.clientY];
};
canvas.onpointerup = () => { held = null; };
canvas.onwheel = (e) => { e.preventDefault(); zoom = Math.max(0.5, Math.min(6, zoom * Math.exp(-e.deltaY * 0.001))); };
open(0);
let before = performance.now();
const tick = (now) => {
  const dt = Math.min(0.1, (now - before) / 1000);
  before = now;
  frame += dt * scene.fps * Number(speed.value);
  if (frame > scene.frames - 1) frame = 0;
  if (document.activeElement !== time || Number(speed.value) > 0) time.value = frame / (scene.frames - 1);
  const width = Math.round(canvas.clientWidth * devicePixelRatio), height = Math.round(canvas.clientHeight * devicePixelRatio);
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  gl.viewport(0, 0, width, height);
  gl.clearColor(0.85, 0.87, 0.89, 1);
  gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  const plain = scene.variants[0], shown = variant();
  pose(plain, frame);
  if (shown !== plain) pose(shown, frame);
  const half = Math.floor(width / 2);
  draw(plain, 0, half, height);
  draw(shown, half, width - half, height);
  if (++drawn === 3) document.body.dataset.player = 'shown';
  document.body.dataset.variant = shown.on;
  requestAnimationFrame(tick);
};
requestAnimationFrame(tick);
)js";

template <class T>
std::string base64Of(const std::vector<T>& values) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return encodeBase64(bytes);
}

/// sRGB bytes per vertex: the character's colours, or those of its materials.
std::vector<std::uint8_t> coloursOf(const Scene& scene) {
  const Character& character = *scene.character();
  const TriMesh& mesh = scene.stack().output().rest;
  const std::vector<std::uint32_t>& sources = scene.stack().output().source_triangles;
  std::vector<Vec4f> linear(mesh.vertexCount(), Vec4f(0.6f, 0.3f, 0.15f, 1));
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    const std::uint32_t source = sources.empty() ? static_cast<std::uint32_t>(t) : sources[t];
    for (const MeshPart& part : character.parts) {
      if (source < part.first_triangle || source >= part.first_triangle + part.triangle_count)
        continue;
      if (part.material >= 0) {
        const auto& c = character.materials[static_cast<std::size_t>(part.material)].base_colour;
        for (const std::uint32_t v : mesh.triangles[t]) linear[v] = Vec4f(c[0], c[1], c[2], 1);
      }
    }
  }
  std::vector<std::uint8_t> out;
  for (std::size_t v = 0; v < linear.size(); ++v) {
    Vec4f c = linear[v];
    if (v < mesh.colours.size()) c = c.cwiseProduct(mesh.colours[v]);
    const Rgba8 encoded = encodedColour(c);
    out.insert(out.end(), {encoded.r, encoded.g, encoded.b});
  }
  return out;
}

/// The recipe with only these of its layers; without the volume layer it is linear skinning.
Recipe withLayers(Recipe recipe, const std::vector<std::string>& names, unsigned on) {
  for (std::size_t i = 0; i < names.size(); ++i)
    for (RecipeLayer& layer : recipe.layers)
      if (layer.name == names[i] && (on >> i & 1) == 0) {
        layer.enabled = false;
        if (layer.type == "volume") recipe.skinning = SkinningMethod::Linear;
      }
  return recipe;
}

Result<nlohmann::json> playedVariant(const Recipe& recipe, const PlayedScene& played,
                                     std::shared_ptr<const Character>& character,
                                     const std::string& on, Bounds& box, Diagnostics& notes) {
  DERM_TRY(Scene scene, openScene(recipe, {.character = character}, notes));
  character = scene.character();
  const PlaybackDesc& range = scene.playback().desc();
  const double start_s = std::max(range.start_s, played.start_s);
  const double end_s = std::min(range.end_s, played.end_s);
  const int frames = std::max(2, 1 + static_cast<int>(std::floor((end_s - start_s) * played.fps)));
  std::vector<Vec3f> all;
  for (int f = 0; f < frames; ++f) {
    const auto now = scene.playback().frameAt(start_s + f / played.fps).positions();
    all.insert(all.end(), now.begin(), now.end());
  }
  const Bounds own = bounds(all);
  box.low = box.low.cwiseMin(own.low);
  box.high = box.high.cwiseMax(own.high);
  std::vector<std::uint16_t> packed;
  for (const Vec3f& p : all)
    for (int k = 0; k < 3; ++k) {
      const float size = std::max(own.high[k] - own.low[k], 1e-9f);
      packed.push_back(static_cast<std::uint16_t>(std::lround(65535 * (p[k] - own.low[k]) / size)));
    }
  const TriMesh& mesh = scene.stack().output().rest;
  std::vector<std::uint32_t> triangles;
  for (const Triangle& t : mesh.triangles) triangles.insert(triangles.end(), t.begin(), t.end());
  return nlohmann::json{{"on", on},
                        {"vertices", mesh.vertexCount()},
                        {"frames", frames},
                        {"low", {own.low.x(), own.low.y(), own.low.z()}},
                        {"high", {own.high.x(), own.high.y(), own.high.z()}},
                        {"positions", base64Of(packed)},
                        {"triangles", base64Of(triangles)},
                        {"colours", encodeBase64(coloursOf(scene))}};
}

Result<nlohmann::json> playedScene(const PlayedScene& played, Diagnostics& notes) {
  DERM_TRY(const Recipe recipe, parseRecipe(played.recipe, std::string(played.title)));
  std::vector<std::string> names;
  for (const RecipeLayer& layer : recipe.layers) names.push_back(layer.name);
  nlohmann::json variants = nlohmann::json::array();
  Bounds box;
  std::shared_ptr<const Character> character;
  for (unsigned on = 0; on < 1u << names.size(); ++on) {
    std::string switches;
    for (std::size_t i = 0; i < names.size(); ++i) switches += (on >> i & 1) != 0 ? '1' : '0';
    DERM_TRY(nlohmann::json variant,
             playedVariant(withLayers(recipe, names, on), played, character, switches, box, notes));
    variants.push_back(std::move(variant));
  }
  constexpr double kDegree = 0.017453292519943295;
  const Vec3f centre = box.centre();
  const std::size_t frames = variants[0]["frames"];
  return nlohmann::json{{"title", played.title},
                        {"fps", played.fps},
                        {"frames", frames},
                        {"layers", names},
                        {"yaw", played.yaw_deg * kDegree},
                        {"pitch", played.pitch_deg * kDegree},
                        {"centre", {centre.x(), centre.y(), centre.z()}},
                        {"radius", 0.5f * static_cast<float>(box.diagonal())},
                        {"variants", std::move(variants)}};
}

}  // namespace

Result<std::string> demoPlayerHtml(Diagnostics& notes, const Progress& progress) {
  nlohmann::json scenes = nlohmann::json::array();
  for (const PlayedScene& played : kScenes) {
    if (!keepGoing(progress, double(scenes.size()) / double(kScenes.size()), "playing"))
      return Error{ErrorCode::Cancelled, "stopped", {}};
    DERM_TRY(nlohmann::json scene, playedScene(played, notes));
    scenes.push_back(std::move(scene));
  }
  return "<div id=\"player\"><canvas></canvas><span class=\"side left\">linear skinning</span>"
         "<span class=\"side right\">derm</span><span class=\"hint\">drag to turn</span>"
         "<div class=\"controls\"></div></div>\n"
         "<script type=\"application/json\" id=\"scenes\">" +
         scenes.dump() + "</script>\n<script type=\"module\">" + std::string(kPlayer) +
         "</script>\n";
}

}  // namespace derm::cli
