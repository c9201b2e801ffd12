// What the examples share: a scene with light, a floor, a camera that can be turned, and a loop.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';

export function stage({ target = [0, 0.3, 0], from = [0.9, 0.5, 1.2] } = {}) {
  const renderer = new THREE.WebGLRenderer({ antialias: true });
  document.body.style.margin = 0;
  document.body.append(renderer.domElement);
  const scene = new THREE.Scene();
  scene.background = new THREE.Color(0xf4f1ec);
  const sun = new THREE.DirectionalLight(0xffffff, 2.5);
  sun.position.set(1, 3, 2);
  const floor = new THREE.Mesh(new THREE.CircleGeometry(3, 64),
    new THREE.MeshStandardMaterial({ color: 0xe4dfd6 }));
  floor.rotation.x = -Math.PI / 2;
  scene.add(new THREE.HemisphereLight(0xffffff, 0x8a7f70, 1.5), sun, floor);
  const camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
  camera.position.set(...from);
  const controls = new OrbitControls(camera, renderer.domElement);
  controls.target.set(...target);
  const fit = () => {
    renderer.setSize(innerWidth, innerHeight);
    camera.aspect = innerWidth / innerHeight;
    camera.updateProjectionMatrix();
  };
  addEventListener('resize', fit);
  fit();
  /** Calls frame(dt_s, time_s) before each picture. */
  const play = (frame) => {
    const clock = new THREE.Clock();
    renderer.setAnimationLoop(() => {
      const dt = Math.min(clock.getDelta(), 0.1);
      frame(dt, clock.elapsedTime);
      controls.update();
      renderer.render(scene, camera);
      document.body.dataset.frames = Number(document.body.dataset.frames ?? 0) + 1;
    });
  };
  return { scene, camera, renderer, floor, play };
}
