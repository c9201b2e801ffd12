// A second head beside the character, with its labelled points: points of the same label belong
// together when a motion goes from one face to the other, so both are drawn and joined by lines.
import * as THREE from 'three';
import type { Character, Hit } from 'derm';
import type { RemoteScene } from 'derm/worker';
import type { App } from './app';
import { save, stemOf } from './files';
import { Body } from './view/body';
import { dot } from './view/dot';

export class SecondHead {
  readonly #group = new THREE.Group();
  readonly #points: THREE.Points;
  readonly #lines: THREE.LineSegments;
  #body: Body | null = null;
  #scene: RemoteScene | null = null;
  #character: Character | null = null;
  #positions = new Float32Array();
  name = '';

  constructor(private readonly app: App) {
    const over = { depthTest: false, transparent: true };
    this.#points = new THREE.Points(new THREE.BufferGeometry(), new THREE.PointsMaterial({
      size: 9, sizeAttenuation: false, color: 0x56b4e9, map: dot(), alphaTest: 0.3, ...over }));
    this.#lines = new THREE.LineSegments(new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ color: 0xb8c4cf, opacity: 0.45, ...over }));
    for (const each of [this.#points, this.#lines]) {
      each.frustumCulled = false;
      each.renderOrder = 12;
    }
    this.#group.add(this.#points);
    app.viewport.scene.add(this.#group, this.#lines);
    this.#lines.visible = this.#group.visible = false;
    app.opened.add(() => this.hide());
    app.player.shown.add(() => this.#join());
  }

  get shown(): boolean { return this.#scene !== null; }

  async show(character: string, files: Record<string, Uint8Array> = {}): Promise<void> {
    const opened = await this.app.long(`Opening ${stemOf(character)} …`, async () => {
      const scene = await this.app.library.openScene(`character = ${JSON.stringify(character)}\n`,
        `${stemOf(character)}.toml`, files);
      const [about, frame] = await Promise.all([
        scene.ask('character') as Promise<Character>, scene.seek(0)]);
      return { scene, about, frame };
    });
    if (!opened) return;
    this.hide();
    this.name = stemOf(character);
    this.#scene = opened.scene;
    this.#character = opened.about;
    const body = new Body();
    this.#body = body;
    this.#group.add(body.group);
    body.setMaterials(opened.about, (i) => opened.scene.ask('image', i) as Promise<Uint8Array>,
      () => this.app.viewport.draw());
    body.setSurface(opened.about, opened.frame.surface!);
    body.setFrame(opened.frame);
    this.#stand();
    await this.#readPoints();
    this.#group.visible = this.#lines.visible = true;
    this.app.setView({ points: true });
    this.app.viewport.also = this.#box(body.positions).translate(this.#group.position);
    this.app.viewport.look('front');
  }

  hide(): void {
    if (!this.#scene) return;
    this.#scene.close();
    this.#scene = null;
    this.#group.remove(this.#body!.group);
    this.#body!.dispose();
    this.#body = null;
    this.#group.visible = this.#lines.visible = false;
    this.app.viewport.also = null;
    this.app.viewport.draw();
  }

  /** The label of its point near a place of the picture, or ''. */
  nearest(x: number, y: number, reach_px = 12): string {
    let best = '', least = reach_px;
    if (this.#scene) this.#character!.points.forEach((point, i) => {
      const at = this.app.viewport.project(this.#pointAt(i));
      const distance = at ? Math.hypot(at[0] - x, at[1] - y) : Infinity;
      if (distance < least) [best, least] = [point.label, distance];
    });
    return best;
  }

  /** Moves its point to where the mouse is on its skin. */
  async place(label: string, x: number, y: number): Promise<boolean> {
    const scene = this.#scene;
    if (!scene) return false;
    const ray = this.app.viewport.ray(x, y);
    const origin = ray.origin.clone().sub(this.#group.position);
    try {
      const hit = await scene.ask('pick', origin.toArray(), ray.direction.toArray()) as Hit | null;
      if (!hit || hit.characterTriangle < 0) return false;
      await scene.edit('setPoint', label, hit.characterTriangle, hit.barycentric);
      const character = await scene.ask('character') as Character;
      if (scene !== this.#scene) return false;
      this.#character = character;
      await this.#readPoints();
      return true;
    } catch (error) {
      if (scene === this.#scene) this.app.messages.error(error, 'The point cannot be placed');
      return false;  // else it was hidden meanwhile
    }
  }

  async save(): Promise<void> {
    const scene = this.#scene;
    if (!scene) return;
    const bytes = await this.app.long('Writing the head …',
      () => scene.ask('characterGlb') as Promise<Uint8Array>);
    if (bytes) save(`${this.name}_points.glb`, bytes as BlobPart, 'model/gltf-binary');
  }

  #box(positions: Float32Array): THREE.Box3 {
    return new THREE.Box3().setFromArray(positions);
  }

  /** To the right of the character, at its height. */
  #stand(): void {
    const own = this.#box(this.app.viewport.body.positions);
    const other = this.#box(this.#body!.positions);
    const gap = 0.15 * Math.max(own.max.x - own.min.x, other.max.x - other.min.x);
    this.#group.position.set(own.max.x + gap - other.min.x,
      (own.min.y + own.max.y - other.min.y - other.max.y) / 2, 0);
  }

  #pointAt(i: number): THREE.Vector3 {
    return new THREE.Vector3().fromArray(this.#positions, 3 * i).add(this.#group.position);
  }

  async #readPoints(): Promise<void> {
    const scene = this.#scene!;
    const positions = await scene.ask('pointPositions') as Float32Array | null;
    if (scene !== this.#scene) return;
    this.#positions = positions ?? new Float32Array();
    this.#points.geometry.setAttribute('position',
      new THREE.BufferAttribute(this.#positions.slice(), 3));
    this.#join();
    this.app.viewport.draw();
  }

  /** Lines between points of the same label. */
  #join(): void {
    const last = this.app.player.last;
    if (!this.#scene || !last?.points) return;
    const ends: number[] = [];
    last.document.character.points.forEach((point, i) => {
      const k = this.#character!.points.findIndex((other) => other.label === point.label);
      if (k >= 0) ends.push(...last.points!.subarray(3 * i, 3 * i + 3), ...this.#pointAt(k).toArray());
    });
    this.#lines.geometry.setAttribute('position', new THREE.Float32BufferAttribute(ends, 3));
  }
}
