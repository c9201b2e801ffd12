// The picture: camera, light, the character and what is drawn over it. It is drawn when something
// changed, not all the time.
import * as THREE from 'three';
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js';
import type { Character } from 'derm';
import type { Shown } from '../player';
import { Signal } from '../signal';
import { Body } from './body';
import { Ghosts } from './ghosts';
import { channelOf } from 'derm/three_detail';
import { heatColours, kMapColours, mapColours, scaleOf, type HeatScale } from './heat';
import { SkeletonView } from './skeleton_view';
import { Strokes } from './strokes';

export interface ViewSettings {
  skeleton: boolean;
  wire: boolean;
  xray: boolean;
  strokes: boolean;
  split: boolean;
  ghosts: boolean;
  floor: boolean;
  /** The camera goes along. */
  follow: boolean;
  points: boolean;
  /** '' = the materials. */
  channel: string;
}

export const kPlainView: ViewSettings = {
  skeleton: false, wire: false, xray: false, strokes: false, split: false, ghosts: false,
  floor: true, follow: true, points: false, channel: '',
};

export type Side = 'front' | 'side' | 'top' | 'three-quarter';

/** What decides on materials and bones; groups and points may change without it. */
const looksOf = ({ name, joints, materials }: Character): string =>
  JSON.stringify([name, joints, materials]);

/** Weights that the character's wrinkle maps need. */
export const mapChannels = (character: Character): string[] => [...new Set(character.materials
  .flatMap((material) => material.detail_maps.map(channelOf)).filter((name) => name !== ''))];

const kFreeShare = 0.12;  // of its size that a character moves before the camera follows
const kRoom = 1.25;  // around the character, when it is framed

export class Viewport {
  readonly scene = new THREE.Scene();
  readonly camera = new THREE.PerspectiveCamera(35, 1, 0.01, 100);
  readonly controls: OrbitControls;
  readonly renderer: THREE.WebGLRenderer;
  readonly body = new Body();
  readonly skeleton = new SkeletonView();
  readonly strokes = new Strokes();
  readonly ghosts = new Ghosts();
  /** Drawn over everything by tools. */
  readonly overlay = new THREE.Group();
  readonly drawn = new Signal();
  readonly heatChanged = new Signal<{ channel: string; scale: HeatScale } | null>();
  /** Wrinkle maps are shown in colours: their names. */
  readonly mapsColoured = new Signal<readonly string[]>();
  /** Strokes in the last frame. */
  strokeCount = 0;
  /** Share of the picture's width where the divider stands. */
  divider = 0.5;
  /** Something beside the character that is framed with it. */
  also: THREE.Box3 | null = null;
  #settings: ViewSettings = { ...kPlainView };
  #dirty = true;
  #floor: THREE.GridHelper;
  #topology: unknown = null;
  #scale: HeatScale | null = null;
  #shown: Shown | null = null;
  #framed = false;
  #heat = new Float32Array();
  #painted: Float32Array | null = null;
  #character: Character | null = null;
  #looks = '';
  #mapNames = '';
  readonly #followed = new THREE.Vector3();

  constructor(readonly canvas: HTMLCanvasElement) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, alpha: false });
    this.renderer.toneMapping = THREE.ACESFilmicToneMapping;
    this.scene.background = new THREE.Color(0x23262b);
    this.scene.add(new THREE.HemisphereLight(0xf2f5ff, 0x4a4540, 1.5));
    const key = new THREE.DirectionalLight(0xfff4e6, 2.2);
    key.position.set(1, 1.6, 1.4);
    const rim = new THREE.DirectionalLight(0xcfe0ff, 0.9);
    rim.position.set(-1.5, 0.8, -1.2);
    this.camera.add(key, rim);
    key.target = rim.target = this.camera;
    this.#floor = new THREE.GridHelper(10, 20, 0x4b5159, 0x33373d);
    this.scene.add(this.camera, this.body.group, this.skeleton.group, this.strokes.lines,
      this.ghosts.group, this.#floor, this.overlay);
    this.skeleton.group.visible = false;
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.addEventListener('change', () => this.draw());
    new ResizeObserver(() => this.#resize()).observe(canvas.parentElement!);
    canvas.addEventListener('webglcontextrestored', () => this.draw());
    const tick = () => {
      requestAnimationFrame(tick);  // first: a picture that fails must not be the last
      if (this.#dirty) this.#drawNow();
    };
    requestAnimationFrame(tick);
    this.#resize();
  }

  get settings(): Readonly<ViewSettings> { return this.#settings; }

  set(change: Partial<ViewSettings>): void {
    Object.assign(this.#settings, change);
    const s = this.#settings;
    this.skeleton.group.visible = s.skeleton;
    this.body.wire.visible = s.wire;
    this.strokes.lines.visible = s.strokes;
    this.ghosts.group.visible = s.ghosts;
    this.#floor.visible = s.floor;
    this.body.setXray(s.xray);
    this.#scale = null;
    this.#mapNames = '';
    if (s.channel === '') this.body.setHeat(null);
    if (s.channel === '' || s.channel === kMapColours) this.heatChanged.emit(null);
    this.draw();
  }

  draw(): void { this.#dirty = true; }

  setCharacter(shown: Shown): void {
    this.#topology = null;
    this.#framed = false;
    this.#newCharacter(shown);
  }

  /** The character was bound anew: its materials and joints may be others. */
  #newCharacter(shown: Shown): void {
    const { document } = shown;
    const { character } = document;
    this.#looks = looksOf(character);
    const image = async (index: number): Promise<Uint8Array> => {
      for (;;) {
        const { scene } = document;
        try {
          return await scene.ask('image', index) as Uint8Array;
        } catch (error) {
          // Another scene in its place looks the same: nobody asks for pictures again.
          if (document.closed || document.scene === scene) throw error;
        }
      }
    };
    this.body.setMaterials(character, image, () => this.draw());
    this.body.setXray(this.#settings.xray);
    this.skeleton.setCharacter(character);
  }

  show(shown: Shown): void {
    const { frame, document } = shown;
    if (this.#shown?.document !== document) this.setCharacter(shown);
    else if (this.#character !== document.character && looksOf(document.character) !== this.#looks)
      this.#newCharacter(shown);
    this.#character = document.character;
    this.#shown = shown;
    if (frame.surface) {
      this.body.setSurface(document.character, frame.surface);
      this.ghosts.reset(this.body.after.geometry.getIndex(), frame.surface.vertexCount);
      this.#topology = frame.topology;
    }
    if (this.#topology === null) return;
    this.body.setFrame(frame);
    if (!this.#framed) {
      this.#framed = true;
      this.look('three-quarter');
    } else if (this.#settings.follow) {
      this.#follow(document.character.diagonal_m);
    }
    if (shown.joints) this.skeleton.setMatrices(shown.joints);
    if (shown.linear) {
      if (this.#settings.split) this.body.setBefore(shown.linear);
      if (this.#settings.strokes)
        this.strokeCount = this.strokes.set(shown.linear, frame.positions,
          2e-4 * document.character.diagonal_m);
    }
    if (this.#settings.ghosts) this.ghosts.add(shown.time_s, frame.positions);
    this.body.setMapWeights(shown.maps);
    const channel = this.#painted ?? (this.#settings.channel !== '' ? shown.channel : null);
    if (channel) this.#showChannel(channel);
    else if (this.#settings.channel === kMapColours) this.#showMaps(shown.maps);
    this.draw();
  }

  /** A vertex group that is being painted, in place of the channel; null = no more. */
  paint(strengths: Float32Array | null): void {
    this.#painted = strengths;
    if (strengths === null) {
      this.#scale = null;
      if (this.#settings.channel === '') this.body.setHeat(null);
      this.heatChanged.emit(null);
    } else if (this.#shown) {
      this.#showChannel(strengths);
    }
    this.draw();
  }

  #showChannel(few: Float32Array): void {
    const channel = this.#painted ? 'group' : this.#settings.channel;
    const count = this.body.positions.length / 3;
    let values = few;
    if (few.length !== count) {  // vertices that folds add have no group of their own
      values = new Float32Array(count);
      values.set(few.subarray(0, count));
    }
    const scale = scaleOf(channel, values);
    // A scale that only grows: colours of two frames mean the same.
    if (!this.#scale || this.#scale.high < scale.high) {
      this.#scale = scale;
      this.heatChanged.emit({ channel, scale });
    }
    if (this.#heat.length !== 3 * values.length) this.#heat = new Float32Array(3 * values.length);
    heatColours(values, this.#scale, this.#heat);
    this.body.setHeat(this.#heat);
  }

  #showMaps(maps: ReadonlyMap<string, Float32Array>): void {
    const size = this.body.positions.length;
    if (this.#heat.length !== size) this.#heat = new Float32Array(size);
    mapColours([...maps.values()], this.#heat);
    this.body.setHeat(this.#heat);
    const names = [...maps.keys()].map((name) => name.replace(/^(mask|group):/, ''));
    if (names.join() !== this.#mapNames) this.mapsColoured.emit(names);
    this.#mapNames = names.join();
  }

  #box(): THREE.Box3 {
    const box = new THREE.Box3();
    const p = this.body.positions;
    const point = new THREE.Vector3();
    for (let i = 0; i + 2 < p.length; i += 3) box.expandByPoint(point.fromArray(p, i));
    if (this.also) box.union(this.also);
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, 0, -1), new THREE.Vector3(1, 2, 1));
    return box;
  }

  #centre(): THREE.Vector3 {
    const p = this.body.positions;
    const sum = new THREE.Vector3();
    const every = 3 * Math.max(1, Math.floor(p.length / 3 / 500));
    let count = 0;
    for (let i = 0; i + 2 < p.length; i += every, ++count)
      sum.add(new THREE.Vector3(p[i]!, p[i + 1]!, p[i + 2]!));
    return sum.divideScalar(Math.max(count, 1));
  }

  /** The camera goes along with a character that runs away, but not with every bounce of it. */
  #follow(diagonal_m: number): void {
    const away = this.#centre().sub(this.#followed);
    const free_m = kFreeShare * diagonal_m;
    if (away.length() <= free_m) return;
    away.setLength(away.length() - free_m);
    this.#followed.add(away);
    this.camera.position.add(away);
    this.controls.target.add(away);
    this.camera.updateMatrixWorld();
  }

  /** All of the character, from where the camera stands. */
  frame(): void {
    const direction = this.camera.position.clone().sub(this.controls.target).normalize();
    this.#lookFrom(direction);
  }

  look(side: Side): void {
    const directions: Record<Side, [number, number, number]> = {
      front: [0, 0.0001, 1], side: [1, 0.0001, 0], top: [0, 1, 0.0001],
      'three-quarter': [0.72, 0.28, 0.72] };
    this.#lookFrom(new THREE.Vector3(...directions[side]).normalize());
  }

  #lookFrom(direction: THREE.Vector3): void {
    const box = this.#box();
    const centre = box.getCenter(new THREE.Vector3());
    const size = box.getSize(new THREE.Vector3());
    const radius = Math.max(size.length() / 2, 1e-6);
    // As near as all corners of the box allow.
    const up = Math.abs(direction.y) > 0.999 ? new THREE.Vector3(0, 0, -1) : new THREE.Vector3(0, 1, 0);
    const right = up.clone().cross(direction).normalize();
    const above = direction.clone().cross(right);
    const tangent = Math.tan(this.camera.fov * Math.PI / 360);
    let distance = 0;
    for (let i = 0; i < 8; ++i) {
      const corner = new THREE.Vector3(i & 1 ? 0.5 : -0.5, i & 2 ? 0.5 : -0.5, i & 4 ? 0.5 : -0.5)
        .multiply(size);
      const across = Math.max(Math.abs(corner.dot(right)) / (tangent * this.camera.aspect),
        Math.abs(corner.dot(above)) / tangent);
      distance = Math.max(distance, corner.dot(direction) + kRoom * across);
    }
    distance = Math.max(distance, 0.5 * radius);
    this.#followed.copy(this.#centre());
    this.controls.target.copy(centre);
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    this.camera.near = distance / 200;
    this.camera.far = distance * 20;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.camera.updateMatrixWorld();
    this.#floor.position.y = Math.min(0, box.min.y);
    this.#floor.scale.setScalar(Math.max(0.1, 10 ** Math.round(Math.log10(radius))));
    this.draw();
  }

  /** A place of the window in the picture's pixels. */
  local(event: { clientX: number; clientY: number }): [number, number] {
    const box = this.canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  /** Where a point of the world is in the picture [px]; null = behind the camera. */
  project(point: THREE.Vector3): [number, number] | null {
    const p = point.clone().project(this.camera);
    if (p.z > 1) return null;
    return [(p.x + 1) / 2 * this.canvas.clientWidth, (1 - p.y) / 2 * this.canvas.clientHeight];
  }

  ray(x: number, y: number): THREE.Ray {
    const caster = new THREE.Raycaster();
    caster.setFromCamera(new THREE.Vector2(2 * x / this.canvas.clientWidth - 1,
      1 - 2 * y / this.canvas.clientHeight), this.camera);
    return caster.ray;
  }

  #resize(): void {
    const parent = this.canvas.parentElement!;
    const width = Math.max(parent.clientWidth, 1), height = Math.max(parent.clientHeight, 1);
    const ratio = Math.min(window.devicePixelRatio, 2);  // zooming changes it
    if (ratio !== this.renderer.getPixelRatio()) this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.#drawNow();
  }

  /** At once: what reads the canvas wants it drawn in the same task. */
  drawNow(): void { this.#drawNow(); }

  #drawNow(): void {
    this.#dirty = false;
    const { renderer } = this;
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    renderer.setScissorTest(false);
    if (!this.#settings.split) {
      renderer.render(this.scene, this.camera);
    } else {
      const left = Math.round(width * this.divider);
      renderer.setScissorTest(true);
      const half = (x: number, w: number, before: boolean) => {
        if (w <= 0) return;
        renderer.setScissor(x, 0, w, height);
        this.body.before.visible = before;
        this.body.after.visible = !before;
        const strokes = this.strokes.lines.visible, wire = this.body.wire.visible;
        this.strokes.lines.visible = strokes && !before;
        this.body.wire.visible = wire && !before;
        renderer.render(this.scene, this.camera);
        this.strokes.lines.visible = strokes;
        this.body.wire.visible = wire;
      };
      half(0, left, true);
      half(left, width - left, false);
      renderer.setScissorTest(false);
      this.body.before.visible = false;
      this.body.after.visible = true;
    }
    this.drawn.emit();
  }
}
