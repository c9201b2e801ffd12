// Plays what `derm bake --as normal-maps` writes: folds as normal maps whose weights are in the clip.
// The maps are in a material's extras ("derm_detail_maps"), the weights in the document's
// ("derm_controls"). Everything else of the file (skin, clip, corrective shapes) three.js plays itself.
//
//   const gltf = await loader.loadAsync('folds.glb');
//   const folds = await FoldMaps.attach(gltf);
//   // every frame, after mixer.update():
//   folds.update(gltf.animations.indexOf(action.getClip()), action.time);

/// A track's value: linear (or a step) between keys, held before the first and after the last.
export function sampleTrack({ times, values, interpolation }, time) {
  if (time <= times[0]) return values[0];
  const last = times.length - 1;
  if (time >= times[last]) return values[last];
  let low = 0, high = last;  // times[low] <= time < times[high]
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle; else high = middle;
  }
  if (interpolation === 'STEP') return values[low];
  const share = (time - times[low]) / (times[high] - times[low]);
  return values[low] + share * (values[high] - values[low]);
}

/// The shader of one material, with maps over what it has. As derm draws them: every map is faded to
/// flat by its weight, then x and y are added and z multiplied (Dutreve 2011, eq. 5.13 and 5.14).
function addMaps(material, textures, strengths, weights) {
  const before = material.onBeforeCompile;
  material.onBeforeCompile = (shader, renderer) => {
    before?.call(material, shader, renderer);
    textures.forEach((texture, i) => { shader.uniforms[`foldMap${i}`] = { value: texture }; });
    shader.uniforms.foldWeights = { value: weights };
    shader.vertexShader = shader.vertexShader
      .replace('#include <common>', '#include <common>\nvarying vec2 vFoldUv;')
      .replace('#include <uv_vertex>', '#include <uv_vertex>\nvFoldUv = uv;');
    const maps = textures.map((_, i) => `
      { vec3 m = texture2D(foldMap${i}, vFoldUv).xyz * 2.0 - 1.0;
        m = normalize(vec3(m.xy * ${strengths[i].toFixed(6)}, m.z));
        m = normalize(mix(vec3(0.0, 0.0, 1.0), m, clamp(foldWeights[${i}], 0.0, 1.0)));
        fold = vec3(fold.xy + m.xy, fold.z * m.z); }`).join('');
    shader.fragmentShader = shader.fragmentShader
      .replace('#include <common>', `#include <common>
        varying vec2 vFoldUv;
        uniform float foldWeights[${textures.length}];
        ${textures.map((_, i) => `uniform sampler2D foldMap${i};`).join('\n')}`)
      .replace('#include <normal_fragment_maps>', `#include <normal_fragment_maps>
        {
          vec3 fold = vec3(0.0, 0.0, 1.0);
          ${maps}
          fold = normalize(fold);
          // Tangents from screen derivatives (Mikkelsen 2010), each made unit length.
          vec3 px = dFdx(-vViewPosition), py = dFdy(-vViewPosition);
          vec2 ux = dFdx(vFoldUv), uy = dFdy(vFoldUv);
          vec3 a = cross(py, normal), b = cross(normal, px);
          vec3 t = a * ux.x + b * uy.x, s = a * ux.y + b * uy.y;
          // glTF's v runs down the picture while the map's y points up.
          if (dot(t, t) > 0.0 && dot(s, s) > 0.0)
            normal = normalize(normalize(t) * fold.x - normalize(s) * fold.y + normal * fold.z);
        }`);
  };
  material.customProgramCacheKey = () => `derm-folds-${textures.length}-${strengths}`;
  material.needsUpdate = true;
}

export class FoldMaps {
  #controls;   // name -> number
  #clips;      // animation -> tracks
  #materials;  // { weights, names } each

  /// Changes the materials of a loaded file; one without fold maps stays as it is.
  static async attach(gltf) {
    const out = new FoldMaps();
    const document = gltf.parser.json.extras?.derm_controls ?? { controls: [], clips: [] };
    out.#controls = document.controls;
    out.#clips = new Map(document.clips.map((clip) => [clip.animation, clip.tracks]));
    const materials = new Set();
    gltf.scene.traverse((object) => {
      for (const material of [object.material ?? []].flat()) materials.add(material);
    });
    out.#materials = [];
    for (const material of materials) {
      const maps = (material.userData.derm_detail_maps ?? []).filter((map) => map.control);
      if (maps.length === 0) continue;
      const textures = await Promise.all(
        maps.map((map) => gltf.parser.getDependency('texture', map.index)));
      const weights = new Array(maps.length).fill(0);
      addMaps(material, textures, maps.map((map) => map.strength ?? 1), weights);
      out.#materials.push({ weights, names: maps.map((map) => map.control) });
    }
    out.update(-1, 0);
    return out;
  }

  get mapCount() { return this.#materials.reduce((n, m) => n + m.weights.length, 0); }
  /// What shows now, material by material.
  get weights() { return this.#materials.map((m) => [...m.weights]); }

  /// `animation`: its number in the file (-1 = none: everything at rest); `time` in seconds.
  update(animation, time) {
    const values = this.#controls.map((control) => control.preset ?? 0);
    for (const track of this.#clips.get(animation) ?? [])
      values[track.control] = sampleTrack(track, time);
    const byName = new Map(this.#controls.map((control, i) => [control.name, values[i]]));
    for (const { weights, names } of this.#materials)
      names.forEach((name, i) => { weights[i] = byName.get(name) ?? 1; });
  }

  /// Without folds, to see what they do.
  hide() { for (const { weights } of this.#materials) weights.fill(0); }
}
