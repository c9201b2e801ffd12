// Lines from where plain skinning puts a vertex to where derm puts it, drawn longer than they are.
import * as THREE from 'three';

const kLonger = 3;
const kMost = 6000;

export class Strokes {
  readonly lines: THREE.LineSegments;

  constructor() {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(6 * kMost), 3));
    this.lines = new THREE.LineSegments(geometry,
      new THREE.LineBasicMaterial({ color: 0xff7a59, depthTest: false, transparent: true }));
    this.lines.frustumCulled = false;
    this.lines.renderOrder = 5;
    this.lines.visible = false;
  }

  /** How many lines there are. */
  set(from: Float32Array, to: Float32Array, least_m: number): number {
    const attribute = this.lines.geometry.getAttribute('position') as THREE.BufferAttribute;
    const out = attribute.array as Float32Array;
    const count = Math.min(from.length, to.length) / 3;
    const every = Math.max(1, Math.ceil(count / kMost));
    let n = 0;
    for (let v = 0; v < count; v += every) {
      const x = to[3 * v]! - from[3 * v]!, y = to[3 * v + 1]! - from[3 * v + 1]!,
        z = to[3 * v + 2]! - from[3 * v + 2]!;
      if (Math.hypot(x, y, z) < least_m) continue;
      const at = 6 * n++;
      for (let k = 0; k < 3; ++k) out[at + k] = from[3 * v + k]!;
      out[at + 3] = from[3 * v]! + kLonger * x;
      out[at + 4] = from[3 * v + 1]! + kLonger * y;
      out[at + 5] = from[3 * v + 2]! + kLonger * z;
    }
    this.lines.geometry.setDrawRange(0, 2 * n);
    attribute.needsUpdate = true;
    return n;
  }
}
