// three.js skins the same characters on the CPU, five times in each clip; our vertices must agree
// within 1e-5 of the bounding diagonal. usage: three_skinning.mjs DUMP_PROGRAM CHARACTER_FOLDER
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GLTFLoader, THREE, actionOf, largestDistance, meshOfNode, showInstant, vertexCount }
  from './three_player.mjs';

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

async function compare(file, work) {
  const out = join(work, 'poses.bin');
  execFileSync(dump, [file, out]);
  const bytes = readFileSync(out);
  const end = bytes.indexOf(10);
  const info = JSON.parse(bytes.subarray(0, end));
  const gltf = await new GLTFLoader().parseAsync(withoutPictures(file), '');
  const meshes = await Promise.all(
    info.parts.map((part) => meshOfNode(gltf, part.node, part.primitive)));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  let worst = 0, checked = 0, at = bytes.byteOffset + end + 1;
  for (let c = 0; c < info.clips.length; ++c) {
    mixer.stopAllAction();
    const action = actionOf(mixer, gltf.animations[c]);
    for (let k = 0; k < INSTANTS; ++k) {
      showInstant(gltf, mixer, action, (info.clips[c] * k) / (INSTANTS - 1));
      const ours = new Float32Array(bytes.buffer.slice(at, at + info.vertices * 12));
      at += info.vertices * 12;
      worst = Math.max(worst, largestDistance(meshes, info.parts, ours));
      checked += vertexCount(info.parts);
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
