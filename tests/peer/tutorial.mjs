// three.js plays alive.glb of the artist's tutorial; every vertex of every frame of alive.pc2 is no
// further off than alive.json states. usage: tutorial.mjs FOLDER
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GLTFLoader, THREE, actionOf, largestDistance, meshOfNode, showInstant }
  from './three_player.mjs';

const folder = process.argv[2];
const glb = readFileSync(join(folder, 'alive.glb'));
const points = readFileSync(join(folder, 'alive.pc2'));
const { correctives, fps } = JSON.parse(readFileSync(join(folder, 'alive.json')));
const gltf = await new GLTFLoader().parseAsync(
  glb.buffer.slice(glb.byteOffset, glb.byteOffset + glb.byteLength), '');
const count = points.readInt32LE(16), frames = points.readInt32LE(28);
const node = gltf.parser.json.nodes.findIndex((n) => n.mesh !== undefined);
const meshes = [await meshOfNode(gltf, node, 0)];
const mixer = new THREE.AnimationMixer(gltf.scene);
const action = actionOf(mixer, gltf.animations.at(-1));
let worst = 0;
for (let frame = 0; frame < frames; ++frame) {
  showInstant(gltf, mixer, action, Math.fround(frame / fps));
  const at = points.byteOffset + 32 + frame * count * 12;
  const wanted = new Float32Array(points.buffer.slice(at, at + count * 12));
  worst = Math.max(worst, largestDistance(meshes, [{ first: 0, count }], wanted));
}
const stated = correctives.max_error_m + 1e-5;
const good = worst <= stated && frames > 10 && meshes[0].morphTargetInfluences.length > 0;
console.log(`${good ? 'ok  ' : 'FAIL'} three.js: ${frames} frames of ${count} vertices, ` +
            `${(1000 * worst).toFixed(3)} mm off, stated ${correctives.max_error_mm.toFixed(3)} mm`);
process.exit(good ? 0 : 1);
