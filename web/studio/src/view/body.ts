// The character's surface as three.js draws it: one geometry, a group of triangles per part.
import * as THREE from 'three';
import type { Character } from 'derm';
import { channelOf, DetailWeights, drawMaps, kMostMaps, pictureTexture } from 'derm/three_detail';
import type { RemoteFrame, RemoteSurface } from 'derm/worker';

/** Wrinkle maps of materials that weight them by the same channels, in the same order. */
interface MapWeights {
  channels: string[];
  attribute: string;
  weights: DetailWeights | null;
}

export type Paint = 'material' | 'heat';

const kHeatMaterial = () => new THREE.MeshStandardMaterial({
  vertexColors: true, roughness: 0.85, metalness: 0, side: THREE.DoubleSide });

export class Body {
  readonly group = new THREE.Group();
  readonly after = new THREE.Mesh<THREE.BufferGeometry, THREE.Material | THREE.Material[]>();
  readonly before = new THREE.Mesh<THREE.BufferGeometry, THREE.Material | THREE.Material[]>();
  readonly wire: THREE.Mesh;
  /** The present positions, for tools. */
  positions: Float32Array = new Float32Array();
  triangles: Uint32Array = new Uint32Array();
  #materials: THREE.MeshStandardMaterial[] = [];
  readonly #heat = kHeatMaterial();
  #paint: Paint = 'material';
  #colours: THREE.BufferAttribute | null = null;
  readonly #textures: THREE.Texture[] = [];
  #mapWeights: MapWeights[] = [];

  constructor() {
    const wireMaterial = new THREE.MeshBasicMaterial({
      color: 0x0b0d10, wireframe: true, transparent: true, opacity: 0.35, depthWrite: false,
      polygonOffset: true, polygonOffsetFactor: -1 });
    this.wire = new THREE.Mesh(new THREE.BufferGeometry(), wireMaterial);
    this.wire.visible = false;
    for (const mesh of [this.after, this.before, this.wire]) {
      mesh.frustumCulled = false;
      this.group.add(mesh);
    }
    this.before.visible = false;
  }

  setMaterials(character: Character, image: (index: number) => Promise<Uint8Array>,
    loaded: () => void): void {
    for (const material of this.#materials) material.dispose();
    for (const texture of this.#textures.splice(0)) texture.dispose();
    this.#mapWeights = [];
    this.#materials = character.materials.map((material) => {
      const [r, g, b, a] = material.base_colour;
      const made = new THREE.MeshStandardMaterial({
        color: new THREE.Color(r, g, b), opacity: material.transparent ? a : 1,
        transparent: material.transparent, roughness: Math.max(material.roughness, 0.35),
        metalness: material.metallic,
        side: material.double_sided ? THREE.DoubleSide : THREE.FrontSide });
      made.userData = { opacity: made.opacity, transparent: made.transparent };
      return made;
    });
    // Of parts that have none.
    this.#materials.push(new THREE.MeshStandardMaterial({ color: 0xc9b8a8, roughness: 0.7 }));
    const mine = this.#materials;
    character.materials.forEach((material, index) => {
      const decode = async (number: number): Promise<THREE.Texture | null> => {
        const picture = character.images[number];
        if (number < 0 || !picture) return null;
        return await pictureTexture(await image(number), picture.mime_type) as THREE.Texture;
      };
      const put = (number: number, take: (texture: THREE.Texture) => void) => {
        // A picture that cannot be decoded leaves the plain colour.
        decode(number).then((texture) => {
          if (!texture || this.#materials !== mine) return texture?.dispose();
          this.#textures.push(texture);
          take(texture);
          mine[index]!.needsUpdate = true;
          loaded();
        }, () => {});
      };
      put(material.base_colour_image, (texture) => {
        texture.colorSpace = THREE.SRGBColorSpace;
        mine[index]!.map = texture;
      });
      const maps = material.detail_maps.slice(0, kMostMaps);
      if (maps.length === 0) {
        put(material.normal_image, (texture) => { mine[index]!.normalMap = texture; });
        return;
      }
      const { attribute } = this.#weightsFor(maps.map(channelOf));
      void Promise.all([material.normal_image, ...maps.map((map) => map.image)].map(decode))
        .then(([normal, ...textures]) => {
          if (this.#materials !== mine || textures.some((texture) => !texture)) return;
          if (normal) mine[index]!.normalMap = normal;
          this.#textures.push(...drawMaps(mine[index]!, maps, textures as THREE.Texture[],
            attribute));
          loaded();
        }, () => {});
    });
    this.#usePaint();
  }

  setSurface(character: Character, surface: RemoteSurface): void {
    const geometry = new THREE.BufferGeometry();
    const before = new THREE.BufferGeometry();
    const count = surface.vertexCount;
    const dynamic = (size: number) =>
      new THREE.BufferAttribute(new Float32Array(size * count), size).setUsage(
        THREE.DynamicDrawUsage);
    geometry.setAttribute('position', dynamic(3));
    geometry.setAttribute('normal', dynamic(3));
    before.setAttribute('position', dynamic(3));
    const index = new THREE.BufferAttribute(surface.triangles, 1);
    for (const each of [geometry, before]) {
      each.setIndex(index);
      if (surface.uvs) each.setAttribute('uv', new THREE.BufferAttribute(surface.uvs, 2));
      character.parts.forEach((part, i) => {
        const first = surface.partRanges[2 * i] ?? 0, triangles = surface.partRanges[2 * i + 1] ?? 0;
        const material = part.material < 0 ? character.materials.length : part.material;
        if (triangles > 0) each.addGroup(3 * first, 3 * triangles, material);
      });
      if (each.groups.length === 0) each.addGroup(0, surface.triangles.length, 0);
    }
    this.#colours = surface.colours ? new THREE.BufferAttribute(surface.colours, 4) : null;
    this.after.geometry.dispose();
    this.before.geometry.dispose();
    this.after.geometry = this.wire.geometry = geometry;
    this.before.geometry = before;
    this.triangles = surface.triangles;
    this.#usePaint();
  }

  setFrame(frame: RemoteFrame): void {
    this.positions = frame.positions;
    const { geometry } = this.after;
    const put = (name: string, values: Float32Array) => {
      const attribute = geometry.getAttribute(name) as THREE.BufferAttribute;
      (attribute.array as Float32Array).set(values);
      attribute.needsUpdate = true;
    };
    put('position', frame.positions);
    if (frame.normals) put('normal', frame.normals);
    else geometry.computeVertexNormals();
  }

  /** How strongly wrinkle maps show, by channel. */
  setMapWeights(weights: ReadonlyMap<string, Float32Array>): void {
    const { geometry } = this.after;
    const count = geometry.getAttribute('position')?.count ?? 0;
    if (count === 0) return;
    for (const each of this.#mapWeights) {
      if (!each.weights || !geometry.getAttribute(`${each.attribute}0`)) {
        each.weights = new DetailWeights(each.channels.length, count, each.attribute);
        for (const [name, attribute] of Object.entries(each.weights.attributes)) {
          geometry.setAttribute(name, attribute as THREE.BufferAttribute);
          // Plain skinning has no wrinkles.
          this.before.geometry.setAttribute(name,
            new THREE.BufferAttribute(new Float32Array(4 * count), 4));
        }
      }
      each.channels.forEach((channel, i) =>
        each.weights!.set(i, 1, channel === '' ? null : weights.get(channel) ?? []));
    }
  }

  /** Those of these channels; materials whose channels are others have others. */
  #weightsFor(channels: string[]): MapWeights {
    const there = this.#mapWeights.find((each) =>
      JSON.stringify(each.channels) === JSON.stringify(channels));
    if (there) return there;
    const made = { channels, attribute: `dermDetail${this.#mapWeights.length}_`, weights: null };
    this.#mapWeights.push(made);
    return made;
  }

  setBefore(positions: Float32Array): void {
    const { geometry } = this.before;
    const attribute = geometry.getAttribute('position') as THREE.BufferAttribute | undefined;
    if (!attribute || attribute.array.length !== positions.length) return;
    (attribute.array as Float32Array).set(positions);
    attribute.needsUpdate = true;
    geometry.computeVertexNormals();
  }

  /** Colours per vertex (r g b), or null for the character's own materials. */
  setHeat(colours: Float32Array | null): void {
    const { geometry } = this.after;
    const paint: Paint = colours ? 'heat' : 'material';
    if (colours) {
      const there = geometry.getAttribute('color') as THREE.BufferAttribute | undefined;
      if (there && there.array.length === colours.length && there !== this.#colours) {
        (there.array as Float32Array).set(colours);
        there.needsUpdate = true;
      } else {
        geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3).setUsage(
          THREE.DynamicDrawUsage));
      }
    }
    if (paint !== this.#paint || colours === null) {
      this.#paint = paint;
      this.#usePaint();
    }
  }

  setXray(on: boolean): void {
    for (const material of [...this.#materials, this.#heat]) {
      const own = material.userData as { opacity?: number; transparent?: boolean };
      material.transparent = on || own.transparent === true;
      material.opacity = on ? 0.35 : own.opacity ?? 1;
      material.depthWrite = !on;
      material.needsUpdate = true;
    }
  }

  dispose(): void {
    this.after.geometry.dispose();
    this.before.geometry.dispose();
    for (const material of [...this.#materials, this.#heat]) material.dispose();
    for (const texture of this.#textures) texture.dispose();
    (this.wire.material as THREE.Material).dispose();
  }

  #usePaint(): void {
    const { geometry } = this.after;
    if (this.#paint === 'material') {
      if (this.#colours) {
        geometry.setAttribute('color', this.#colours);
        this.before.geometry.setAttribute('color', this.#colours);
      } else {
        geometry.deleteAttribute('color');
      }
      for (const material of this.#materials) {
        if (material.vertexColors === (this.#colours !== null)) continue;
        material.vertexColors = this.#colours !== null;
        material.needsUpdate = true;
      }
    }
    this.after.material = this.#paint === 'heat' ? this.#heat : this.#materials;
    this.before.material = this.#materials;
  }
}
