// Joints and bones, drawn through the skin.
import * as THREE from 'three';
import type { Character } from 'derm';
import { dot } from './dot';

const kJoint = new THREE.Color(0x8ecae6);
const kChosen = new THREE.Color(0xffb703);
const kIdle = new THREE.Color(0x5f7784);

export class SkeletonView {
  readonly group = new THREE.Group();
  /** x y z per joint, in the present pose. */
  positions = new Float32Array();
  #parents: number[] = [];
  #bones: boolean[] = [];
  readonly #lines: THREE.LineSegments;
  readonly #points: THREE.Points;
  #chosen: ReadonlySet<number> = new Set();

  constructor() {
    const over = { depthTest: false, depthWrite: false, transparent: true };
    this.#lines = new THREE.LineSegments(new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ color: 0x8ecae6, opacity: 0.75, ...over }));
    this.#points = new THREE.Points(new THREE.BufferGeometry(),
      new THREE.PointsMaterial({ size: 10, sizeAttenuation: false, vertexColors: true, map: dot(),
        alphaTest: 0.3, ...over }));
    for (const each of [this.#lines, this.#points]) {
      each.frustumCulled = false;
      each.renderOrder = 10;
      this.group.add(each);
    }
  }

  setCharacter(character: Character): void {
    this.#parents = character.joints.map((joint) => joint.parent);
    this.#bones = character.joints.map((joint) => joint.bone);
    const count = character.joints.length;
    this.positions = new Float32Array(3 * count);
    const attribute = (values: number) => new THREE.BufferAttribute(new Float32Array(values), 3);
    this.#points.geometry.dispose();
    this.#points.geometry = new THREE.BufferGeometry();
    this.#points.geometry.setAttribute('position', attribute(3 * count));
    this.#points.geometry.setAttribute('color', attribute(3 * count));
    this.#lines.geometry.dispose();
    this.#lines.geometry = new THREE.BufferGeometry();
    this.#lines.geometry.setAttribute('position', attribute(6 * count));
    this.choose(new Set());
  }

  choose(joints: ReadonlySet<number>): void {
    this.#chosen = joints;
    const colours = this.#points.geometry.getAttribute('color') as THREE.BufferAttribute | undefined;
    if (!colours) return;
    for (let j = 0; j < this.#parents.length; ++j) {
      const colour = this.#chosen.has(j) ? kChosen : this.#bones[j] ? kJoint : kIdle;
      colours.setXYZ(j, colour.r, colour.g, colour.b);
    }
    colours.needsUpdate = true;
  }

  setMatrices(matrices: Float32Array): void {
    const count = this.#parents.length;
    if (matrices.length !== 16 * count) return;
    for (let j = 0; j < count; ++j)
      for (let k = 0; k < 3; ++k) this.positions[3 * j + k] = matrices[16 * j + 12 + k]!;
    const points = this.#points.geometry.getAttribute('position') as THREE.BufferAttribute;
    (points.array as Float32Array).set(this.positions);
    points.needsUpdate = true;
    const lines = this.#lines.geometry.getAttribute('position') as THREE.BufferAttribute;
    const ends = lines.array as Float32Array;
    for (let j = 0; j < count; ++j) {
      const parent = this.#parents[j]! < 0 ? j : this.#parents[j]!;
      for (let k = 0; k < 3; ++k) {
        ends[6 * j + k] = this.positions[3 * parent + k]!;
        ends[6 * j + 3 + k] = this.positions[3 * j + k]!;
      }
    }
    lines.needsUpdate = true;
  }

  /** The joint nearest to a place of the picture [px], or -1 where none is near. */
  nearest(x: number, y: number, project: (point: THREE.Vector3) => [number, number] | null,
    reach_px = 18): number {
    let best = -1, least = reach_px;
    const point = new THREE.Vector3();
    for (let j = 0; j < this.#parents.length; ++j) {
      const at = project(point.fromArray(this.positions, 3 * j));
      if (!at) continue;
      // Joints of the skin win over helpers at the same place.
      const distance = Math.hypot(at[0] - x, at[1] - y) + (this.#bones[j] ? 0 : 6);
      if (distance < least) [best, least] = [j, distance];
    }
    return best;
  }
}
