// Wrinkle maps in three.js: normal maps over a material's own, each with a weight per vertex that a
// layer of derm writes (a channel), a group that was painted, or a control.
import { BufferAttribute, DynamicDrawUsage, NoColorSpace, RepeatWrapping, Texture, Vector4 } from 'three';

const kMostMaps = 4;  // one attribute of four numbers

/** A picture of the scene's character. */
export async function textureOf(scene, index) {
  const { mime_type } = scene.character.images[index];
  const bitmap = await createImageBitmap(new Blob([scene.image(index)], { type: mime_type }),
    { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
  const texture = new Texture(bitmap);
  texture.colorSpace = NoColorSpace;
  texture.flipY = false;
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}

const declarations = `
attribute vec4 dermDetail;
varying vec4 vDermDetail;
varying vec2 vDermUv;
`;

/** Slopes of all maps are added to those of the material's own, as derm's renderer does. */
const blend = (count) => {
  let code = `
#ifdef USE_NORMALMAP_TANGENTSPACE
  vec2 dermSlope = mapN.xy / max(mapN.z, 0.05);
`;
  for (let i = 0; i < count; ++i)
    code += `  { vec3 n = texture2D(dermMap${i}, vDermUv * dermUv${i}.xy + dermUv${i}.zw).xyz * 2.0 - 1.0;
    dermSlope += vDermDetail[${i}] * n.xy / max(n.z, 0.05); }
`;
  return `${code}  mapN = normalize(vec3(dermSlope, 1.0));
#endif
`;
};

/** A copy of the material that shows the maps, and the weights that go with it. */
export async function detailMaterial(scene, maps, original) {
  const used = maps.slice(0, kMostMaps);
  const textures = await Promise.all(used.map((map) => textureOf(scene, map.image)));
  const material = original.clone();
  // Without a normal map of its own a flat one stands in: three.js has a tangent frame only then.
  let flat = null;
  if (!material.normalMap) {
    flat = textures[0].clone();
    material.normalMap = flat;
    material.normalScale.set(0, 0);
  }
  const controls = scene.character.controls.map((control) => control.name);
  material.onBeforeCompile = (shader) => {
    used.forEach((map, i) => {
      shader.uniforms[`dermMap${i}`] = { value: textures[i] };
      shader.uniforms[`dermUv${i}`] = { value: new Vector4(...map.uv_scale, ...map.uv_offset) };
    });
    const uniforms = used.map((_, i) =>
      `uniform sampler2D dermMap${i};\nuniform vec4 dermUv${i};\n`).join('');
    shader.vertexShader = declarations + shader.vertexShader.replace(
      '#include <uv_vertex>', '#include <uv_vertex>\n  vDermDetail = dermDetail;\n  vDermUv = uv;');
    shader.fragmentShader = `varying vec4 vDermDetail;\nvarying vec2 vDermUv;\n${uniforms}` +
      shader.fragmentShader.replace('#include <normal_fragment_maps>',
        `#ifdef USE_NORMALMAP_TANGENTSPACE
  vec3 mapN = texture2D(normalMap, vNormalMapUv).xyz * 2.0 - 1.0;
  mapN.xy *= normalScale;
  mapN = normalize(mapN);
#endif
${blend(used.length)}
#ifdef USE_NORMALMAP_TANGENTSPACE
  normal = normalize(tbn * mapN);
#endif`);
  };
  material.customProgramCacheKey = () => `derm-detail-${used.length}`;

  let weights = null;
  const write = (from) => {
    used.forEach((map, i) => {
      const channel = map.channel ? from.channel(`mask:${map.channel}`)
        : map.group ? from.channel(`group:${map.group}`) : null;
      const control = map.control ? from.controls[controls.indexOf(map.control)] ?? 0 : 1;
      for (let v = 0; v < weights.count; ++v)
        weights.array[4 * v + i] = map.strength * control * (channel ? channel[v] : 1);
    });
    weights.needsUpdate = true;
  };
  return {
    material,
    weightsFor(from) {
      weights = new BufferAttribute(new Float32Array(4 * from.vertexCount), 4);
      weights.setUsage(DynamicDrawUsage);
      return weights;
    },
    update: write,
    dispose() {
      material.dispose();
      flat?.dispose();
      for (const texture of textures) texture.dispose();
    },
  };
}
