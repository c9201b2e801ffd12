// A fold is drawn where the skin gets squeezed: from A to B, and it rises at right angles to that.
import * as THREE from 'three';
import type { Hit } from 'derm';
import type { App } from '../app';
import { h, shortNumber } from '../ui/dom';
import { layerIndexBefore } from './layer_order';
import { Newest, type Pointer, type Tool } from './tool';

const kFolds = { points: 9, spacing: 0, strategy: 'squeezed', profile: 'round' } as const;
const kLeastDrag_px = 8;

export class FoldTool implements Tool {
  readonly id = 'fold';
  readonly title = 'Fold';
  readonly icon = 'fold';
  readonly key = 'w';
  readonly hint = 'Drag on the skin, along the way it gets shorter. Wheel: width. Esc: none.';
  /** [m] of the folds, across the stroke. */
  width_m = 0;
  #start: Hit | null = null;
  #startAt: Pointer | null = null;
  #end: Hit | null = null;
  #dragging = false;
  #started: Promise<void> = Promise.resolve();
  readonly #line: THREE.LineSegments;
  readonly #label = h('output', { class: 'tool-value' });
  readonly #picks = new Newest<Pointer>(async (at) => {
    const hit = await this.app.pick(at.x, at.y);
    if (!hit || !this.#dragging) return;
    this.#end = hit;
    this.#preview();
  });

  constructor(private readonly app: App) {
    const geometry = new THREE.BufferGeometry();
    geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array(3 * 14), 3));
    this.#line = new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({
      color: 0xffd166, depthTest: false, transparent: true }));
    this.#line.frustumCulled = false;
    this.#line.renderOrder = 20;
    this.#line.visible = false;
    app.viewport.overlay.add(this.#line);
  }

  enter(): void {
    const diagonal = this.app.document?.character.diagonal_m ?? 1;
    this.width_m = Number((0.08 * diagonal).toPrecision(2));
    this.#say();
  }

  leave(): void { this.cancel(); }

  options(): HTMLElement {
    const input = h('input', {
      type: 'range', min: 0.01, max: 0.4, step: 0.005, 'aria-label': 'Width of the folds',
      oninput: () => {
        this.width_m = Number(input.value) * (this.app.document?.character.diagonal_m ?? 1);
        this.#say();
      } });
    input.value = String(this.width_m / (this.app.document?.character.diagonal_m ?? 1));
    return h('label', { class: 'tool-option' }, 'Width', input, this.#label);
  }

  down(at: Pointer): boolean {
    if (!this.app.overBody(at.x, at.y)) return false;
    this.app.player.play(false);
    this.#dragging = true;
    this.#startAt = at;
    this.#start = this.#end = null;
    this.#started = this.app.pick(at.x, at.y).then((hit) => { this.#start = hit; });
    return true;
  }

  move(at: Pointer): void { this.#picks.push(at); }

  wheel(steps: number): boolean {
    if (!this.#dragging) return false;
    this.resize(steps);
    return true;
  }

  resize(steps: number): void {
    this.width_m = Number((this.width_m * 1.12 ** steps).toPrecision(3));
    this.#say();
    this.#preview();
  }

  up(at: Pointer): void {
    const from = this.#startAt;
    this.#picks.clear();
    const dragged = from !== null && Math.hypot(at.x - from.x, at.y - from.y) >= kLeastDrag_px;
    const started = this.#started;
    const wanted = this.#dragging;
    this.#dragging = false;
    this.#line.visible = false;
    this.app.viewport.draw();
    if (!dragged || !wanted) return;
    void (async () => {
      await started;
      const end = await this.app.pick(at.x, at.y) ?? this.#end;
      if (this.#start && end) await this.#make(this.#start, end);
    })();
  }

  cancel(): void {
    this.#dragging = false;
    this.#line.visible = false;
    this.app.viewport.draw();
  }

  async #make(a: Hit, b: Hit): Promise<void> {
    const document = this.app.document;
    if (!document) return;
    const [from, to] = [this.#ownVertex(a), this.#ownVertex(b)];
    if (from === to) {
      this.app.messages.say('warning', 'Too short for a fold', 'Drag further over the skin.');
      return;
    }
    const joint = document.character.joints[a.joint]?.name ?? '';
    const name = freeName(document.recipe.layers.map((each) => each.name), `fold ${joint}`.trim());
    const length = new THREE.Vector3(...a.position as [number, number, number])
      .distanceTo(new THREE.Vector3(...b.position as [number, number, number]));
    const done = await document.edit(`draw ${name}`, 'addLayer', 'wrinkles', {
      name, index: layerIndexBefore(document.recipe, ['detail']),
      keys: { from_vertex: from, to_vertex: to, width_m: this.width_m, ...kFolds,
        h_max_m: Number((0.12 * length).toPrecision(2)) } });
    if (done) this.app.chooseLayer(name);
  }

  /** Folds add vertices; a recipe knows those of the character alone. */
  #ownVertex(hit: Hit): number {
    const { body } = this.app.viewport;
    const own = this.app.document?.character.vertices ?? 0;
    if (hit.vertex < own) return hit.vertex;
    let best = 0, least = Infinity;
    for (let v = 0; v < own; ++v) {
      const distance = Math.hypot(...[0, 1, 2].map((k) =>
        body.positions[3 * v + k]! - hit.position[k]!));
      if (distance < least) [best, least] = [v, distance];
    }
    return best;
  }

  #say(): void { this.#label.textContent = `${shortNumber(1000 * this.width_m)} mm`; }

  #preview(): void {
    if (!this.#start || !this.#end) return;
    const a = new THREE.Vector3(...this.#start.position as [number, number, number]);
    const b = new THREE.Vector3(...this.#end.position as [number, number, number]);
    const normal = new THREE.Vector3(...this.#start.normal as [number, number, number])
      .add(new THREE.Vector3(...this.#end.normal as [number, number, number]));
    const across = b.clone().sub(a).cross(normal).normalize().multiplyScalar(this.width_m / 2);
    const corners = [a.clone().sub(across), a.clone().add(across), b.clone().add(across),
      b.clone().sub(across)] as const;
    const ends = [a, b, corners[0], corners[1], corners[1], corners[2], corners[2], corners[3],
      corners[3], corners[0]];
    for (const t of [1 / 3, 2 / 3])
      ends.push(corners[0].clone().lerp(corners[3], t), corners[1].clone().lerp(corners[2], t));
    const attribute = this.#line.geometry.getAttribute('position') as THREE.BufferAttribute;
    ends.forEach((point, i) => attribute.setXYZ(i, point.x, point.y, point.z));
    attribute.needsUpdate = true;
    this.#line.visible = true;
    this.app.viewport.draw();
  }
}

export function freeName(taken: readonly string[], wanted: string): string {
  if (!taken.includes(wanted)) return wanted;
  for (let i = 2; ; ++i) if (!taken.includes(`${wanted} ${i}`)) return `${wanted} ${i}`;
}
