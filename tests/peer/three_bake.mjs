// three.js plays what we baked, with its own morphs and skinning on the CPU; every vertex of every frame
// must be where it was wanted. usage: three_bake.mjs BAKE_PROGRAM
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const tools = createRequire(new URL('../../tools/node/package.json', import.meta.url));
const THREE = await import(pathToFileURL(tools.resolve('three')).href);
const loaderFile = tools.resolve('three/examples/jsm/loaders/GLTFLoader.js');
const { GLTFLoader } = await import(pathToFileURL(loaderFile).href);
globalThis.self = globalThis;

const CAST = [['arm', 'flex'], ['cat', 'jump']];
const bake = process.argv[2];

/// The object of a mesh's primitive: that of the one node that carries it, or a child of the group
/// that stands for a mesh of several primitives.
async function meshOf(gltf, part) {
  const number = gltf.parser.json.nodes.findIndex((n) => n.mesh === part.mesh);
  const node = await gltf.parser.getDependency('node', number);
  const mesh = node.isMesh ? node : node.children[part.primitive];
  if (!mesh?.isMesh) throw new Error(`three.js has no object for mesh ${part.mesh}/${part.primitive}`);
  return mesh;
}

async function play(file) {
  const bytes = readFileSync(file);
  const gltf = await new GLTFLoader().parseAsync(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), '');
  const wanted = readFileSync(file.replace(/\.glb$/, '.bin'));
  const end = wanted.indexOf(10);
  const info = JSON.parse(wanted.subarray(0, end));
  const meshes = await Promise.all(info.parts.map((part) => meshOf(gltf, part)));
  const mixer = new THREE.AnimationMixer(gltf.scene);
  const action = mixer.clipAction(gltf.animations[info.clip]);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  const vertex = new THREE.Vector3();
  let worst = 0, checked = 0;
  info.times.forEach((time, frame) => {
    action.reset().play();
    action.time = Math.fround(time);
    mixer.update(0);
    gltf.scene.updateMatrixWorld(true);
    const at = wanted.byteOffset + end + 1 + frame * info.vertices * 12;
    const frameBytes = wanted.buffer.slice(at, at + info.vertices * 12);
    const ours = new Float32Array(frameBytes);
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
  });
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
