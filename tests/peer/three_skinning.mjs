// three.js skins the same characters on the CPU, five times in each clip; our vertices must agree
// within 1e-5 of the bounding diagonal. usage: three_skinning.mjs DUMP_PROGRAM CHARACTER_FOLDER
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const tools = createRequire(new URL('../../tools/node/package.json', import.meta.url));
const THREE = await import(pathToFileURL(tools.resolve('three')).href);
const loaderFile = tools.resolve('three/examples/jsm/loaders/GLTFLoader.js');
const { GLTFLoader } = await import(pathToFileURL(loaderFile).href);
// What three.js expects of a browser while it reads data: addresses.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class extends Event {};

const INSTANTS = 5;
const TOLERANCE = 1e-5;
const [dump, folder] = process.argv.slice(2);
if (!existsSync(folder)) {
  console.log(`skipped: no characters at ${folder}`);
  process.exit(77);
}

/// The file without its pictures, which need a browser: geometry and motion stay as they are.
function withoutPictures(file) {
  const bytes = readFileSync(file);
  const binary = bytes.readUInt32LE(0) === 0x46546c67;
  const jsonLength = binary ? bytes.readUInt32LE(12) : bytes.length;
  const json = JSON.parse(bytes.subarray(binary ? 20 : 0, (binary ? 20 : 0) + jsonLength));
  for (const key of ['materials', 'textures', 'images', 'samplers']) delete json[key];
  for (const mesh of json.meshes ?? []) for (const p of mesh.primitives) delete p.material;
  if (binary) {
    const at = 20 + jsonLength;
    const length = bytes.readUInt32LE(at);
    const data = bytes.subarray(at + 8, at + 8 + length);
    json.buffers[0].uri = `data:application/octet-stream;base64,${data.toString('base64')}`;
  }
  return JSON.stringify(json);
}

/// The object of a node's primitive: the node itself, or a child of the group that stands for a mesh
/// of several primitives.
async function meshOf(gltf, part) {
  const node = await gltf.parser.getDependency('node', part.node);
  const mesh = node.isMesh ? node : node.children[part.primitive];
  if (!mesh?.isMesh) throw new Error(`three.js has no mesh for node ${part.node}/${part.primitive}`);
  return mesh;
}

async function compare(file, work) {
  const out = join(work, 'poses.bin');
  execFileSync(dump, [file, out]);
  const bytes = readFileSync(out);
  const end = bytes.indexOf(10);
  const info = JSON.parse(bytes.subarray(0, end));
  const gltf = await new GLTFLoader().parseAsync(withoutPictures(file), '');
  const meshes = await Promise.all(info.parts.map((part) => meshOf(gltf, part)));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const vertex = new THREE.Vector3();
  let worst = 0, checked = 0, at = end + 1;
  for (let c = 0; c < info.clips.length; ++c) {
    mixer.stopAllAction();
    const action = mixer.clipAction(gltf.animations[c]);
    action.setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    for (let k = 0; k < INSTANTS; ++k) {
      action.reset().play();
      action.time = (info.clips[c] * k) / (INSTANTS - 1);
      mixer.update(0);
      gltf.scene.updateMatrixWorld(true);
      const ours = new Float32Array(bytes.buffer.slice(bytes.byteOffset + at,
        bytes.byteOffset + at + info.vertices * 12));
      at += info.vertices * 12;
      for (const [i, part] of info.parts.entries()) {
        const mesh = meshes[i];
        if (mesh.isSkinnedMesh) mesh.skeleton.update();
        for (let v = 0; v < part.count; ++v) {
          mesh.getVertexPosition(v, vertex).applyMatrix4(mesh.matrixWorld);
          const o = 3 * (part.first + v);
          const d = Math.hypot(vertex.x - ours[o], vertex.y - ours[o + 1], vertex.z - ours[o + 2]);
          if (!(d <= worst)) worst = d;  // a NaN must not pass as small
          ++checked;
        }
      }
    }
  }
  return { relative: worst / Math.max(info.diagonal, 1e-30), checked, clips: info.clips.length };
}

const work = mkdtempSync(join(tmpdir(), 'derm-three-'));
let failed = 0;
for (const name of readdirSync(folder).filter((n) => /\.gl(b|tf)$/.test(n)).sort()) {
  const { relative, checked, clips } = await compare(join(folder, name), work);
  const good = relative <= TOLERANCE && checked > 0;
  failed += good ? 0 : 1;
  console.log(`${good ? 'ok  ' : 'FAIL'} ${name}: ${clips} clips, ${checked} vertices compared, ` +
              `largest difference ${relative.toExponential(2)} of the diagonal`);
}
rmSync(work, { recursive: true });
process.exit(failed ? 1 : 0);
