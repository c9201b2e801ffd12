// Wrinkle maps in three.js: normal maps over a material's own, each with a weight per vertex that a
// layer of derm writes (a channel), a group that was painted, or a control. The blend is that of
// derm's own renderer (docs/detail.md).
import {
  BufferAttribute, DataTexture, DynamicDrawUsage, LinearFilter, LinearMipmapLinearFilter,
  NoColorSpace, RepeatWrapping, Texture, Vector4,
} from 'three';

import { DermError } from './derm.mjs';

export const kMostMaps = 8;  // two attributes of four numbers

/** A picture of a character: its bytes as three.js draws them. */
export async function pictureTexture(bytes, mime_type) {
  const bitmap = await createImageBitmap(new Blob([bytes], { type: mime_type || 'image/png' }),
    { colorSpaceConversion: 'none', premultiplyAlpha: 'none' });
  const texture = new Texture(bitmap);
  texture.colorSpace = NoColorSpace;
  texture.flipY = false;
  texture.wrapS = texture.wrapT = RepeatWrapping;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}

async function textureOf(scene, { image }) {
  const bytes = scene.image(image);
  const { name, mime_type } = scene.character.images[image];
  try {
    return await pictureTexture(bytes, mime_type);
  } catch (error) {
    const what = name || `image ${image}`;
    throw new DermError({ code: 'bad_data', element: what,
      text: `wrinkle map "${what}": the browser cannot decode it (${error.message})` });
  }
}

/** All or none. */
async function texturesOf(scene, maps) {
  const made = await Promise.allSettled(maps.map((map) => textureOf(scene, map)));
  const failed = made.find(({ status }) => status === 'rejected');
  if (!failed) return made.map(({ value }) => value);
  for (const { value } of made) value?.dispose();
  throw failed.reason;
}

const weightAt = (i) => `vDermDetail${i >> 2}[${i & 3}]`;

/** Faded to flat by its weight, each map is laid over those below (Dutreve 2011, eq. 5.13, 5.14). */
const blended = (maps) => maps.map((map, i) => `{
    vec3 n = texture2D(dermMap${i}, vDermUv * dermUv${i}.xy + dermUv${i}.zw).xyz * 2.0 - 1.0;
    if (max(abs(n.x), abs(n.y)) < 0.006) n.xy = vec2(0.0);  // flat is 128, not 127.5
    n = normalize(vec3(n.xy * ${Number(map.strength).toFixed(4)}, n.z));
    n = normalize(mix(vec3(0.0, 0.0, 1.0), n, clamp(${weightAt(i)}, 0.0, 1.0)));
    dermSum = vec3(dermSum.xy + n.xy, dermSum.z * n.z);
  }
`).join('');

/** What attributes of weights are called, but for a number. */
const kAttribute = 'dermDetail';

/** Makes a material draw `maps` (of derm's description) with these textures. Its geometries need the
 *  attributes of DetailWeights, called alike. Returns what is to be disposed with it. */
export function drawMaps(material, maps, textures, attribute = kAttribute) {
  // Without a normal map of its own a flat one stands in: three.js has a tangent frame only then.
  let flat = null;
  if (!material.normalMap) {
    flat = new DataTexture(new Uint8Array([128, 128, 255, 255]));
    flat.needsUpdate = true;
    material.normalMap = flat;
    material.normalScale.set(0, 0);
  }
  const four = maps.length > 4 ? [0, 1] : [0];
  material.onBeforeCompile = (shader) => {
    maps.forEach((map, i) => {
      shader.uniforms[`dermMap${i}`] = { value: textures[i] };
      shader.uniforms[`dermUv${i}`] = { value: new Vector4(...map.uv_scale, ...map.uv_offset) };
    });
    const varyings = `${four.map((k) => `varying vec4 vDermDetail${k};`).join('\n')}
varying vec2 vDermUv;
`;
    shader.vertexShader = varyings + four.map((k) => `attribute vec4 ${attribute}${k};\n`).join('') +
      shader.vertexShader.replace('#include <uv_vertex>', `#include <uv_vertex>
  ${four.map((k) => `vDermDetail${k} = ${attribute}${k};`).join(' ')}
  vDermUv = uv;`);
    shader.fragmentShader = varyings +
      maps.map((_, i) => `uniform sampler2D dermMap${i};\nuniform vec4 dermUv${i};\n`).join('') +
      shader.fragmentShader.replace('#include <normal_fragment_maps>', `
#ifdef USE_NORMALMAP_TANGENTSPACE
  vec3 dermSum = texture2D(normalMap, vNormalMapUv).xyz * 2.0 - 1.0;
  dermSum = normalize(vec3(dermSum.xy * normalScale, dermSum.z));
  ${blended(maps)}
  normal = normalize(tbn * normalize(dermSum));
#endif`);
  };
  const key = maps.map((map) => Number(map.strength).toFixed(4)).join();
  material.customProgramCacheKey = () => `derm-detail-${attribute}-${key}`;
  material.needsUpdate = true;
  return [...textures, ...(flat ? [flat] : [])];
}

/** How strongly each map shows at each vertex. A geometry of several materials needs one for each list
 *  of maps, each with a name of its own. */
export class DetailWeights {
  /** By name, for a geometry. */
  attributes = {};
  #attribute;
  constructor(map_count, vertex_count, attribute = kAttribute) {
    this.#attribute = attribute;
    for (let first = 0; first < map_count; first += 4) {
      const four = new BufferAttribute(new Float32Array(4 * vertex_count), 4);
      four.setUsage(DynamicDrawUsage);
      this.attributes[`${attribute}${first >> 2}`] = four;
    }
  }
  /** The same factor everywhere, times a number per vertex where there is one. */
  set(map, factor, channel) {
    const attribute = this.attributes[`${this.#attribute}${map >> 2}`];
    const { array, count } = attribute;
    for (let v = 0, at = map & 3; v < count; ++v, at += 4)
      array[at] = factor * (channel ? channel[v] ?? 0 : 1);
    attribute.needsUpdate = true;
  }
}

/** The name for Scene.channel() of what a map is weighted by; '' = the same everywhere. */
export const channelOf = (map) =>
  (map.channel ? `mask:${map.channel}` : map.group ? `group:${map.group}` : '');

/** A copy of the material that shows the maps, and the weights that go with it. */
export async function detailMaterial(scene, all, original) {
  const maps = all.slice(0, kMostMaps);
  const textures = await texturesOf(scene, maps);
  const material = original.clone();
  const owned = drawMaps(material, maps, textures);
  const controls = scene.character.controls.map((control) => control.name);
  let weights = null;
  return {
    material,
    attributesFor(from) {
      weights = new DetailWeights(maps.length, from.vertexCount);
      return weights.attributes;
    },
    update(from) {
      maps.forEach((map, i) => {
        const channel = channelOf(map);
        const control = map.control ? from.controls?.[controls.indexOf(map.control)] ?? 0 : 1;
        weights.set(i, control, channel === '' ? null : from.channel(channel));
      });
    },
    dispose() {
      material.dispose();
      for (const texture of owned) texture.dispose();
    },
  };
}
