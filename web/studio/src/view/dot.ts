import * as THREE from 'three';

/** A round dot with a dark rim, for points that would be squares. */
export function dot(): THREE.Texture {
  const size = 32;
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = size;
  const context = canvas.getContext('2d')!;
  context.beginPath();
  context.arc(size / 2, size / 2, size / 2 - 3, 0, 2 * Math.PI);
  context.fillStyle = '#ffffff';
  context.fill();
  context.lineWidth = 4;
  context.strokeStyle = '#202020';
  context.stroke();
  return new THREE.CanvasTexture(canvas);
}
