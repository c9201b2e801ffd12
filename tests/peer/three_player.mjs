// three.js in Node, playing glTF on the CPU: what three_skinning.mjs and three_bake.mjs share.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const tools = createRequire(new URL('../../tools/node/package.json', import.meta.url));
export const THREE = await import(pathToFileURL(tools.resolve('three')).href);
const loaderFile = tools.resolve('three/examples/jsm/loaders/GLTFLoader.js');
export const { GLTFLoader } = await import(pathToFileURL(loaderFile).href);
// What three.js expects of a browser while it reads data: addresses.
globalThis.self = globalThis;
globalThis.ProgressEvent ??= class extends Event {};

/// The object of a node's primitive: the node itself, or a child of the group that stands for a mesh
/// of several primitives.
export async function meshOfNode(gltf, number, primitive) {
  const node = await gltf.parser.getDependency('node', number);
  const mesh = node.isMesh ? node : node.children[primitive];
  if (!mesh?.isMesh) throw new Error(`three.js has no mesh for node ${number}/${primitive}`);
  return mesh;
}

/// A mixer's action that stops at its end instead of going round.
export function actionOf(mixer, clip) {
  const action = mixer.clipAction(clip);
  action.setLoop(THREE.LoopOnce);
  action.clampWhenFinished = true;
  return action;
}

export function showInstant(gltf, mixer, action, time) {
  action.reset().play();
  action.time = time;
  mixer.update(0);
  gltf.scene.updateMatrixWorld(true);
}

/// Largest distance between what is shown and positions of ours (x, y, z per vertex): parts[i] says
/// where the vertices of meshes[i] stand among them. A NaN is infinitely far.
export function largestDistance(meshes, parts, ours) {
  const vertex = new THREE.Vector3();
  let worst = 0;
  for (const [i, part] of parts.entries()) {
    const mesh = meshes[i];
    if (mesh.isSkinnedMesh) mesh.skeleton.update();
    for (let v = 0; v < part.count; ++v) {
      mesh.getVertexPosition(v, vertex).applyMatrix4(mesh.matrixWorld);
      const o = 3 * (part.first + v);
      const d = Math.hypot(vertex.x - ours[o], vertex.y - ours[o + 1], vertex.z - ours[o + 2]);
      if (!(d <= worst)) worst = Number.isNaN(d) ? Infinity : d;
    }
  }
  return worst;
}

export const vertexCount = (parts) => parts.reduce((n, part) => n + part.count, 0);
