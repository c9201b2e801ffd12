// Plays the wrinkle maps of a .glb that `derm face detail export` wrote, in three.js:
//   const wrinkles = await addWrinkleMaps(gltf);   // what GLTFLoader gives
//   wrinkles.update();                             // every frame, after the mixer
// The numbers are described in docs/wrinkle-maps.md: extras.derm_wrinkles.
import * as THREE from 'three';

const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const meshAt = (gltf, mesh, primitive) => {
  let found;
  gltf.scene.traverse((o) => {
    const at = gltf.parser.associations.get(o);
    if (o.isMesh && at?.meshes === mesh && (at.primitives ?? 0) === primitive) found = o;
  });
  return found;
};

/// How much shows of a pose when a point has come so far (eq. 5.12, or the file's own curve).
const shown = (curve, x) => {
  if (curve === 'sin4') return Math.sin(0.5 * Math.PI * x) ** 4;
  for (let i = 1; i < curve.length; ++i)
    if (x <= curve[i][0]) {
      const [a, b] = [curve[i - 1], curve[i]];
      return x <= a[0] ? a[1] : a[1] + (b[1] - a[1]) * (x - a[0]) / (b[0] - a[0]);
    }
  return curve.at(-1)[1];
};

export async function addWrinkleMaps(gltf) {
  const { points, groups, poses, surfaces, head } = gltf.parser.json.extras.derm_wrinkles;
  const n = points.length;
  const theta = { value: new Float32Array(poses.length * n) };  // theta(alpha) of pose k, point j
  const mode = { value: 1 };  // 0 no wrinkles, 1 wrinkles, 2 white where a map is not flat
  const headNode = head && await gltf.parser.getDependency('node', head.node);
  const bind = new THREE.Matrix4().fromArray(head?.bind ?? new THREE.Matrix4().elements);
  const holders = points.map((p) => meshAt(gltf, p.mesh, p.primitive));

  for (const { mesh, primitive, vertex_points, vertex_weights } of surfaces) {
    const object = meshAt(gltf, mesh, primitive), { geometry, material } = object;
    geometry.setAttribute('wrinklePoint', new THREE.BufferAttribute(bytes(vertex_points), 4));
    geometry.setAttribute('wrinkleWeight', new THREE.BufferAttribute(bytes(vertex_weights), 4, true));
    const maps = [];
    for (const map of material.userData.derm_detail_maps) {
      const pose = poses.findIndex((p) => p.channel === map.channel);
      if (pose >= 0)
        maps.push({ pose, strength: map.strength, map: await gltf.parser.getDependency('texture', map.index) });
    }
    // Without a normal map of its own the material has no tangent frame.
    material.normalMap ??= Object.assign(new THREE.DataTexture(new Uint8Array([128, 128, 255, 255])), { needsUpdate: true });
    material.onBeforeCompile = (shader) => {
      shader.uniforms.wrinkleTheta = theta;
      shader.uniforms.wrinkleMode = mode;
      maps.forEach((m, i) => { shader.uniforms['wrinkleMap' + i] = { value: m.map }; });
      const beta = (k) => [0, 1, 2, 3].map((c) => `wrinkleWeight[${c}] * wrinkleTheta[${k * n} + int(wrinklePoint[${c}] + 0.5)]`).join(' + ');
      shader.vertexShader = `attribute vec4 wrinklePoint, wrinkleWeight;
        uniform float wrinkleTheta[${theta.value.length}];
        ${maps.map((_, i) => `varying float wrinkle${i};`).join('\n')}\n` +
        shader.vertexShader.replace('#include <begin_vertex>', `#include <begin_vertex>
        ${maps.map((m, i) => `wrinkle${i} = min(${beta(m.pose)}, 1.0);`).join('\n')}`);
      // Fade each map to flat, then lay it over what is below: eq. 5.13 and 5.14.
      shader.fragmentShader = `uniform int wrinkleMode;
        ${maps.map((_, i) => `uniform sampler2D wrinkleMap${i}; varying float wrinkle${i};`).join('\n')}\n` +
        shader.fragmentShader.replace('#include <normal_fragment_maps>', `
        vec3 mapN = texture2D(normalMap, vNormalMapUv).xyz * 2.0 - 1.0;
        mapN.xy *= normalScale;
        float wrinkled = 0.0;
        ${maps.map((m, i) => `{
          vec3 w = texture2D(wrinkleMap${i}, vNormalMapUv).xyz * 2.0 - 1.0;
          if (max(abs(w.x), abs(w.y)) < 0.006) w.xy = vec2(0.0);  // flat is 128, not 127.5
          w = normalize(vec3(w.xy * ${m.strength.toFixed(4)}, w.z));
          if (wrinkle${i} * length(w.xy) > 0.002) wrinkled = 1.0;
          w = normalize(mix(vec3(0.0, 0.0, 1.0), w, wrinkle${i}));
          if (wrinkleMode == 1) mapN = normalize(vec3(mapN.xy + w.xy, mapN.z * w.z));
        }`).join('\n')}
        normal = normalize(tbn * mapN);`)
        .replace('#include <dithering_fragment>', `#include <dithering_fragment>
        if (wrinkleMode == 2) gl_FragColor = vec4(vec3(wrinkled), 1.0);`);
    };
    material.needsUpdate = true;
  }

  const corner = new THREE.Vector3(), p = new THREE.Vector3(), toRest = new THREE.Matrix4();
  const update = () => {
    gltf.scene.updateMatrixWorld();
    toRest.copy(bind);
    if (headNode) toRest.multiply(new THREE.Matrix4().copy(headNode.matrixWorld).invert());
    const moved = points.map(({ vertices, weights, rest }, j) => {
      p.set(0, 0, 0);
      vertices.forEach((v, c) => p.addScaledVector(holders[j].getVertexPosition(v, corner), weights[c]));
      return p.applyMatrix4(holders[j].matrixWorld).applyMatrix4(toRest).sub(corner.fromArray(rest)).toArray();
    });
    poses.forEach(({ moves, curve }, k) => {
      const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
      const still = moves.map((m) => dot(m, m) === 0);
      const alpha = moves.map((m, j) => still[j] ? 0 : Math.min(Math.max(dot(moved[j], m) / dot(m, m), 0), 1));
      for (const group of groups) {
        const going = group.filter((j) => !still[j]);
        const mean = going.reduce((sum, j) => sum + alpha[j], 0) / Math.max(going.length, 1);
        for (const j of group) alpha[j] = mean;
      }
      alpha.forEach((a, j) => { theta.value[k * n + j] = shown(curve, a); });
    });
  };
  return { update, theta: theta.value, show: (what) => { mode.value = { none: 0, wrinkles: 1, mask: 2 }[what]; } };
}
