// three.js plays what we baked, with its own morphs and skinning on the CPU; every vertex of every frame
// must be where it was wanted. usage: three_bake.mjs BAKE_PROGRAM
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GLTFLoader, THREE, actionOf, largestDistance, meshOfNode, showInstant, vertexCount }
  from './three_player.mjs';

const CAST = [['arm', 'flex'], ['cat', 'jump']];
const bake = process.argv[2];

async function play(file) {
  const bytes = readFileSync(file);
  const gltf = await new GLTFLoader().parseAsync(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), '');
  const wanted = readFileSync(file.replace(/\.glb$/, '.bin'));
  const end = wanted.indexOf(10);
  const info = JSON.parse(wanted.subarray(0, end));
  // Baked meshes hang on one node each.
  const nodeOf = (mesh) => gltf.parser.json.nodes.findIndex((n) => n.mesh === mesh);
  const meshes = await Promise.all(
    info.parts.map((part) => meshOfNode(gltf, nodeOf(part.mesh), part.primitive)));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const action = actionOf(mixer, gltf.animations[info.clip]);
  let worst = 0;
  info.times.forEach((time, frame) => {
    showInstant(gltf, mixer, action, Math.fround(time));
    const at = wanted.byteOffset + end + 1 + frame * info.vertices * 12;
    const ours = new Float32Array(wanted.buffer.slice(at, at + info.vertices * 12));
    worst = Math.max(worst, largestDistance(meshes, info.parts, ours));
  });
  const checked = info.times.length * vertexCount(info.parts);
  const morphs = meshes.reduce((n, m) => n + (m.morphTargetInfluences?.length ?? 0), 0);
  return { relative: worst / info.diagonal, checked, frames: info.times.length, morphs, info };
}

let failed = 0;
for (const [member, clip] of CAST) {
  const work = mkdtempSync(join(tmpdir(), 'derm-bake-'));
  console.log(execFileSync(bake, [member, clip, work]).toString().trim());
  const files = readdirSync(work).filter((n) => n.endsWith('.glb')).sort();
  for (const name of files) {
    const { relative, checked, frames, morphs, info } = await play(join(work, name));
    const good = relative <= info.tolerance && checked > 0 && morphs > 0 && frames > 5;
    failed += good ? 0 : 1;
    console.log(`${good ? 'ok  ' : 'FAIL'} ${member} ${name}: ${frames} frames, ${morphs} shapes, ` +
                `${checked} vertices compared, largest difference ${relative.toExponential(2)} of ` +
                `the diagonal (allowed ${info.tolerance.toExponential(0)})`);
  }
  const validate = fileURLToPath(new URL('validate_gltf.mjs', import.meta.url));
  try {
    console.log(execFileSync(process.execPath, [validate, ...files.map((n) => join(work, n))])
      .toString().trim());
  } catch (error) {
    console.log(error.stdout.toString().trim());
    failed += 1;
  }
  rmSync(work, { recursive: true });
}
process.exit(failed ? 1 : 0);
