// Living skin for three.js: a loaded glTF plays as ever (AnimationMixer, bones moved by hand), and
// derm makes its skin of the bones' pose.
//
//     const gltf = await new GLTFLoader().loadAsync('body.glb');
//     const skin = await LivingSkin.from(gltf, { derm, recipe });
//     // each frame, after the mixer's:
//     skin.update(dt);
import {
  BufferAttribute, BufferGeometry, Color, DoubleSide, DynamicDrawUsage, Mesh, MeshStandardMaterial,
  SRGBColorSpace,
} from 'three';

import { DermError } from './derm.mjs';
import { detailMaterial, pictureTexture } from './three_detail.mjs';

const kOwnName = 'model.gltf';
const kMark = 'livingSkin';  // in the user data of meshes that are ours, also after cloning

/** The glTF that a loader read, as derm reads it: its JSON and its buffers. */
async function filesOf(gltf) {
  const { parser } = gltf;
  if (!parser?.json)
    throw new DermError({ code: 'bad_argument', text: 'a glTF of GLTFLoader is needed' });
  const json = { ...parser.json };
  const files = {};
  json.buffers = await Promise.all((json.buffers ?? []).map(async (buffer, i) => {
    // A fallback of EXT_meshopt_compression that is not there: the loader would fetch the page.
    if (buffer.uri === undefined && i > 0) return buffer;
    const data = await parser.getDependency('buffer', i);
    files[`buffer${i}.bin`] = new Uint8Array(data);
    return { ...buffer, uri: `buffer${i}.bin` };
  }));
  return { text: JSON.stringify(json), files };
}

/** The recipe for this glTF, whatever character it names. */
function recipeFor(recipe) {
  const first = recipe.search(/^\s*\[/m);
  const top = first < 0 ? recipe : recipe.slice(0, first);
  const named = /^([ \t]*character[ \t]*=[ \t]*).*$/m;
  return named.test(top)
    ? top.replace(named, `$1"${kOwnName}"`) + recipe.slice(top.length)
    : `character = "${kOwnName}"\n${recipe}`;
}

/** The number of every object's node in the glTF. The loader's own associations say it but for
 *  meshes that several nodes share, whose nodes they confuse: those are taken in their order. */
function nodesOf({ parser, scene }) {
  const { json, associations } = parser;
  const out = new Map();
  const isPrimitive = (object, { meshes }) =>
    object.isMesh && meshes !== undefined && json.meshes[meshes].primitives.length > 1;
  const visit = (object, nodes) => {
    const left = [...nodes];
    for (const child of object.children) {
      const at = associations.get(child);
      if (!at || isPrimitive(child, at)) continue;
      const place = at.meshes === undefined ? left.indexOf(at.nodes)
        : left.findIndex((node) => json.nodes[node].mesh === at.meshes);
      if (place < 0) continue;
      const [node] = left.splice(place, 1);
      out.set(child, node);
      visit(child, json.nodes[node].children ?? []);
    }
  };
  visit(scene, json.scenes[associations.get(scene)?.scenes ?? json.scene ?? 0].nodes ?? []);
  return out;
}

/** Number of a node in the glTF -> its object below `root`, which may be a clone. */
function objectsOf(gltf, root) {
  const all = (from) => {
    const out = [];
    from.traverse((object) => { if (!object.userData[kMark]) out.push(object); });
    return out;
  };
  const originals = all(gltf.scene), copies = all(root);
  if (originals.length !== copies.length)
    throw new DermError({ code: 'bad_argument', text: 'root is no clone of the glTF\'s scene' });
  const node_of = nodesOf(gltf);
  const nodes = new Map();
  const meshes = new Map();  // "node/primitive"; "mesh:mesh/primitive" where derm has no node for it
  originals.forEach((object, i) => {
    const node = node_of.get(object);
    if (node !== undefined) nodes.set(node, copies[i]);
    if (!object.isMesh) return;
    const { meshes: mesh, primitives: primitive = 0 } = gltf.parser.associations.get(object) ?? {};
    meshes.set(`${node ?? node_of.get(object.parent)}/${primitive}`, copies[i]);
    meshes.set(`mesh:${mesh}/${primitive}`, copies[i]);
  });
  return { nodes, meshes };
}

/** The skin of one glTF, or of one clone of it. */
export class LivingSkin {
  /** The Scene of derm: its recipe can be edited while it plays. */
  scene;
  /** The meshes that are drawn, one for each part; children of `root`. */
  meshes = [];
  /** For each of them the glTF's own mesh, which is not drawn; undefined where there is none. */
  originals = [];
  #root;
  #joints = [];
  #morphs = [];
  #hidden = [];
  #scale = 1;
  #topology = -1;
  #shared = {};
  #details = new Map();  // by part
  #nodes = null;
  #edits = -1;  // of the scene when joints and morphs were mapped
  #face = null;  // the clip of another face's motion
  /** [s] Where the motion that the recipe's [face] names has come; set it to seek. */
  faceTime_s = 0;

  /**
   * @param gltf what GLTFLoader gives
   * @param options derm: a loaded Derm; recipe: its text (its character is this glTF);
   *   root: a clone of gltf.scene (SkeletonUtils.clone), by default gltf.scene itself;
   *   files: others that the recipe names
   */
  static async from(gltf, { derm, recipe = '', root = gltf.scene, files = {} }) {
    if (!root) throw new DermError({ code: 'bad_argument', text: 'the glTF has no scene' });
    const own = await filesOf(gltf);
    const scene = await derm.open(recipeFor(recipe),
      { files: { ...files, ...own.files, [kOwnName]: own.text } });
    const skin = new LivingSkin();
    skin.scene = scene;
    skin.#root = root;
    try {
      await skin.#build(gltf);
    } catch (error) {
      skin.dispose();
      throw error;
    }
    return skin;
  }

  /** After the mixer's update: the frame dt_s seconds after the last. */
  update(dt_s) {
    this.faceTime_s += dt_s;
    this.#readPose();
    this.scene.step(dt_s);
    this.#show();
  }

  /** After a cut to another pose or place: flesh is at rest there. */
  reset() {
    this.#readPose();
    this.scene.reset();
    this.#show();
  }

  /** Frees everything; the glTF's own meshes are drawn again. */
  dispose() {
    for (const mesh of this.meshes) {
      mesh.removeFromParent();
      mesh.geometry.dispose();
    }
    for (const [mesh, mask] of this.#hidden) mesh.layers.mask = mask;
    for (const detail of this.#details.values()) detail.dispose();
    this.meshes = [];
    this.originals = [];
    this.#hidden = [];
    this.#details.clear();
    this.#shared = {};
    this.scene.close();
  }

  async #build(gltf) {
    const { character } = this.scene;
    const { nodes, meshes } = objectsOf(gltf, this.#root);
    if (this.#root !== gltf.scene)  // copies of a skin that was there when this was cloned
      for (const child of [...this.#root.children]) if (child.userData[kMark]) child.removeFromParent();
    this.#nodes = nodes;
    this.#scale = character.metres_per_unit;
    for (const [number, part] of character.parts.entries()) {
      const original = meshes.get(`${part.node}/${part.primitive}`) ??
        meshes.get(`mesh:${part.mesh}/${part.primitive}`);
      const mesh = new Mesh(new BufferGeometry(), original?.material);
      mesh.name = part.name;
      mesh.userData[kMark] = true;
      mesh.frustumCulled = false;
      mesh.scale.setScalar(1 / this.#scale);
      this.meshes.push(mesh);
      this.originals.push(original);
      this.#root.add(mesh);
      if (!original) continue;
      mesh.castShadow = original.castShadow;
      mesh.receiveShadow = original.receiveShadow;
      mesh.renderOrder = original.renderOrder;
      mesh.layers.mask = original.layers.mask || 1;
      this.#hidden.push([original, mesh.layers.mask]);
      original.layers.disableAll();
      const maps = character.materials[part.material]?.detail_maps ?? [];
      if (maps.length === 0 || !original.material.normalScale) continue;  // unlit ones show none
      const detail = await detailMaterial(this.scene, maps, original.material);
      this.#details.set(number, detail);
      mesh.material = detail.material;
    }
    this.reset();
  }

  /** Who moves what: the glTF its joints and morphs, but for those that a face's motion has. */
  #map() {
    const { character } = this.scene;
    this.#edits = this.scene._edits;
    const { clip, sections, loop } = this.scene.recipe;
    const motions = [sections.face?.motion ?? []].flat();  // one is a table, several are a list
    const of_face = clip && motions.length > 0;
    this.#face = of_face ? { ...character.clips[clip.number], number: clip.number, loop } : null;
    const joints = new Set(this.#face?.joints), morphs = new Set(this.#face?.morphs);
    this.#joints = [];
    this.#morphs = [];
    character.joints.forEach((joint, j) => {
      const object = this.#nodes.get(joint.node);
      if (object && !joints.has(j)) this.#joints.push([object, 10 * j]);
    });
    character.parts.forEach((part, i) => {
      const influences = this.originals[i]?.morphTargetInfluences;
      for (let m = 0; influences && m < part.morph_count; ++m)
        if (!morphs.has(part.first_morph + m)) this.#morphs.push([influences, m, part.first_morph + m]);
    });
  }

  #readPose() {
    if (this.scene._edits !== this.#edits) this.#map();
    if (this.#face) {
      const { number, duration_s, loop } = this.#face;
      this.scene.sample(number, loop && duration_s > 0 ? this.faceTime_s % duration_s : this.faceTime_s);
    }
    const pose = this.scene.pose;
    for (const [{ position, quaternion, scale }, at] of this.#joints) {
      pose[at] = position.x * this.#scale;
      pose[at + 1] = position.y * this.#scale;
      pose[at + 2] = position.z * this.#scale;
      pose[at + 3] = quaternion.x;
      pose[at + 4] = quaternion.y;
      pose[at + 5] = quaternion.z;
      pose[at + 6] = quaternion.w;
      pose[at + 7] = scale.x;
      pose[at + 8] = scale.y;
      pose[at + 9] = scale.z;
    }
    if (this.#morphs.length === 0) return;
    const weights = this.scene.morphWeights;
    for (const [influences, from, to] of this.#morphs) weights[to] = influences[from] ?? 0;
  }

  #show() {
    if (this.scene.topology !== this.#topology) this.#rebuild();
    const { position, normal, tangent } = this.#shared;
    if (!position) return;  // a glTF without triangles
    position.array.set(this.scene.positions);
    position.needsUpdate = true;
    if (normal) {
      normal.array.set(this.scene.normals);
      normal.needsUpdate = true;
    }
    if (tangent) {
      tangent.array.set(this.scene.tangents);
      tangent.needsUpdate = true;
    }
    for (const detail of this.#details.values()) detail.update(this.scene);
  }

  /** Attributes for these vertices, shared by all parts; triangles for each. */
  #rebuild() {
    this.#topology = this.scene.topology;
    const attribute = (view, size, moves) => {
      if (!view) return null;
      const made = new BufferAttribute(view.slice(), size);
      if (moves) made.setUsage(DynamicDrawUsage);
      return made;
    };
    this.#shared = {
      position: attribute(this.scene.positions, 3, true),
      normal: attribute(this.scene.normals, 3, true),
      tangent: attribute(this.scene.tangents, 4, true),
      uv: attribute(this.scene.uvs, 2),
      color: attribute(this.scene.colours, 4),
      ...this.#furtherUvs(),
    };
    const { triangles, partRanges } = this.scene;
    if (!triangles) return;
    this.meshes.forEach((mesh, part) => {
      const [first, count] = [partRanges[2 * part], partRanges[2 * part + 1]];
      const geometry = new BufferGeometry();
      for (const [name, shared] of Object.entries(this.#shared))
        if (shared) geometry.setAttribute(name, shared);
      const detail = this.#details.get(part);
      for (const [name, weights] of Object.entries(detail?.attributesFor(this.scene) ?? {}))
        geometry.setAttribute(name, weights);
      geometry.setIndex(new BufferAttribute(triangles.slice(3 * first, 3 * (first + count)), 1));
      mesh.geometry.dispose();
      mesh.geometry = geometry;
    });
  }

  /** Texture coordinates that derm does not keep, from the glTF's own meshes; where a layer has
   *  refined the skin there are none. */
  #furtherUvs() {
    const { parts, vertices } = this.scene.character;
    const out = {};
    if (this.scene.vertexCount !== vertices) return out;
    for (const name of ['uv1', 'uv2', 'uv3'])
      parts.forEach((part, i) => {
        const own = this.originals[i]?.geometry.getAttribute(name);
        if (!own || own.count !== part.vertex_count) return;
        out[name] ??= new BufferAttribute(new Float32Array(2 * vertices), 2);
        for (let v = 0; v < own.count; ++v)
          out[name].setXY(part.first_vertex + v, own.getX(v), own.getY(v));
      });
    return out;
  }
}

/** A texture; null where there is none, and where the browser cannot decode it (KTX2, a picture that
 *  was not found): the plain colour is shown. */
async function pictureOf(scene, index) {
  if (index < 0) return null;
  const { mime_type } = scene.character.images[index];
  const bytes = scene.image(index);
  return pictureTexture(bytes, mime_type).catch(() => null);
}

/** The materials of a scene's character for three.js, textures included, one for each part. */
export async function materialsOf(scene) {
  const { materials, parts } = scene.character;
  const made = await Promise.all(materials.map(async (from) => {
    const [red, green, blue, alpha] = from.base_colour;
    const material = new MeshStandardMaterial({
      name: from.name, color: new Color(red, green, blue), opacity: alpha,
      transparent: from.transparent, metalness: from.metallic, roughness: from.roughness,
      vertexColors: scene.colours !== null,
    });
    if (from.double_sided) material.side = DoubleSide;
    material.map = await pictureOf(scene, from.base_colour_image);
    if (material.map) material.map.colorSpace = SRGBColorSpace;
    material.normalMap = await pictureOf(scene, from.normal_image);
    return material;
  }));
  const plain = new MeshStandardMaterial({ vertexColors: scene.colours !== null, roughness: 0.8 });
  return parts.map((part) => made[part.material] ?? plain);
}

/** Draws the present frame of a Scene or a Liquid: call show() after each. */
export class SurfaceMesh extends Mesh {
  #source;
  #topology = null;
  /** `material`: one, or one for each part (materialsOf). */
  constructor(source, material = new MeshStandardMaterial({ vertexColors: !!source.colours })) {
    super(new BufferGeometry(), material);
    this.#source = source;
    this.frustumCulled = false;
    this.show();
  }
  show() {
    const source = this.#source;
    // A liquid has other triangles in every frame.
    if (source.topology === undefined || source.topology !== this.#topology) this.#rebuild();
    for (const name of ['position', 'normal']) {
      const attribute = this.geometry.getAttribute(name);
      const values = name === 'position' ? source.positions : source.normals;
      if (!attribute || !values) continue;
      attribute.array.set(values);
      attribute.needsUpdate = true;
    }
  }
  dispose() {
    this.removeFromParent();
    this.geometry.dispose();
    for (const material of [this.material].flat()) material.dispose();
  }
  #rebuild() {
    const source = this.#source;
    this.#topology = source.topology;
    const geometry = new BufferGeometry();
    const add = (name, view, size) => {
      if (view) geometry.setAttribute(name, new BufferAttribute(view.slice(), size));
    };
    add('position', source.positions, 3);
    add('normal', source.normals, 3);
    add('uv', source.uvs, 2);
    add('color', source.colours, 4);
    geometry.setIndex(new BufferAttribute(source.triangles?.slice() ?? new Uint32Array(), 1));
    if (Array.isArray(this.material))
      this.material.forEach((_, part) =>
        geometry.addGroup(3 * source.partRanges[2 * part], 3 * source.partRanges[2 * part + 1], part));
    this.geometry.dispose();
    this.geometry = geometry;
  }
}
