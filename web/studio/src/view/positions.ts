import * as THREE from 'three';

/** Where points or the ends of lines are; the same buffer as long as there are as many. */
export function setPositions(geometry: THREE.BufferGeometry, positions: ArrayLike<number>): void {
  const there = geometry.getAttribute('position') as THREE.BufferAttribute | undefined;
  if (there === undefined || there.array.length !== positions.length) {
    geometry.setAttribute('position', new THREE.BufferAttribute(Float32Array.from(positions), 3));
    return;
  }
  (there.array as Float32Array).set(positions);
  there.needsUpdate = true;
}
