// Where the body was a moment ago: a few see-through copies.
import * as THREE from 'three';

const kCount = 3;
const kApart_s = 0.1;

export class Ghosts {
  readonly group = new THREE.Group();
  #kept: { time_s: number; positions: Float32Array }[] = [];
  #meshes: THREE.Mesh[] = [];

  constructor() {
    this.group.visible = false;
    for (let i = 0; i < kCount; ++i) {
      const mesh = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({
        color: 0x8ecae6, transparent: true, opacity: 0.16 - 0.04 * i, depthWrite: false }));
      mesh.frustumCulled = false;
      mesh.visible = false;
      this.#meshes.push(mesh);
      this.group.add(mesh);
    }
  }

  reset(index: THREE.BufferAttribute | null, vertexCount: number): void {
    this.#kept = [];
    for (const mesh of this.#meshes) {
      mesh.geometry.dispose();
      mesh.geometry = new THREE.BufferGeometry();
      mesh.geometry.setIndex(index);
      mesh.geometry.setAttribute('position', new THREE.BufferAttribute(
        new Float32Array(3 * vertexCount), 3).setUsage(THREE.DynamicDrawUsage));
      mesh.visible = false;
    }
  }

  add(time_s: number, positions: Float32Array): void {
    const last = this.#kept[0];
    if (last && time_s < last.time_s) this.#kept = [];  // another round, or scrubbed back
    if (!this.#kept[0] || time_s - this.#kept[0].time_s >= kApart_s)
      this.#kept.unshift({ time_s, positions });
    this.#kept.length = Math.min(this.#kept.length, kCount + 1);
    this.#meshes.forEach((mesh, i) => {
      const kept = this.#kept[i + 1];
      mesh.visible = kept !== undefined;
      const attribute = mesh.geometry.getAttribute('position') as THREE.BufferAttribute | undefined;
      if (!kept || !attribute || attribute.array.length !== kept.positions.length) return;
      (attribute.array as Float32Array).set(kept.positions);
      attribute.needsUpdate = true;
    });
  }
}
