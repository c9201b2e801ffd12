// A second head beside the character, with its labelled points: points of the same label belong
// together when a motion goes from one face to the other, so both are drawn and joined by lines.
import * as THREE from 'three';
import type { Character, FoundPoints, Hit } from 'derm';
import type { RemoteScene } from 'derm/worker';
import type { App } from './app';
import { save, stemOf } from './files';
import { listOf, type FilesByName, type PlacedPoint } from './studio_document';
import { Body } from './view/body';
import { dot } from './view/dot';
import { setPositions } from './view/positions';

export class SecondHead {
  readonly #group = new THREE.Group();
  readonly #points: THREE.Points;
  readonly #lines: THREE.LineSegments;
  #body: Body | null = null;
  #scene: RemoteScene | null = null;
  #character: Character | null = null;
  #positions = new Float32Array();
  #files: FilesByName = {};
  #source = '';
  /** Its points as it was opened. */
  #base = new Map<string, PlacedPoint>();
  /** Labels that were placed since. */
  readonly #placed = new Set<string>();
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
    app.opened.add((document) => {
      this.hide();
      document?.besideRestored.add(() => void this.#restore());
    });
    app.player.shown.add(() => this.#join());
  }

  get shown(): boolean { return this.#scene !== null; }

  get pointCount(): number { return this.#character?.points.length ?? 0; }

  async show(character: string, files: FilesByName = {}): Promise<void> {
    const document = this.app.document;
    const opened = await this.app.long(`Opening ${stemOf(character)} …`, async () => {
      const scene = await this.app.library.openScene(`character = ${JSON.stringify(character)}\n`,
        `${stemOf(character)}.toml`, files);
      try {
        const [about, frame] = await Promise.all([
          scene.ask('character') as Promise<Character>, scene.seek(0)]);
        if (!frame.surface || !frame.positions)
          throw new Error(`${about.name || character} has no triangles: there is no skin to show.`);
        return { scene, about, frame, surface: frame.surface };
      } catch (error) {
        scene.close();
        throw error;
      }
    });
    if (!opened) return;
    if (document !== this.app.document) return opened.scene.close();  // another character is open now
    this.hide();
    this.name = stemOf(character);
    this.#scene = opened.scene;
    this.#character = opened.about;
    this.#files = files;
    this.#source = character;
    this.#base = new Map(opened.about.points.map((point) => [point.label, point]));
    this.#placed.clear();
    const body = new Body();
    this.#body = body;
    this.#group.add(body.group);
    body.setMaterials(opened.about, (i) => opened.scene.ask('image', i) as Promise<Uint8Array>,
      () => this.app.viewport.draw());
    body.setSurface(opened.about, opened.surface);
    body.setFrame(opened.frame);
    this.#stand();
    try {
      await this.#readPoints();
    } catch {
      if (this.#scene === opened.scene) this.hide();
      return;
    }
    if (this.#scene !== opened.scene) return;  // it was hidden meanwhile
    this.#group.visible = this.#lines.visible = true;
    this.app.setView({ points: true });
    this.app.viewport.also = this.#box(body.positions).translate(this.#group.position);
    this.app.viewport.look('front');
    await this.#restore();  // what was corrected when it was here before
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

  /** Its points and where they are, for tests. */
  places(): { label: string; at: number[] }[] {
    return (this.#character?.points ?? []).map((point, i) =>
      ({ label: point.label, at: [...this.#positions.subarray(3 * i, 3 * i + 3)] }));
  }
  /** A point's place in the picture [px]. */
  screenPlace(label: string): [number, number] | null {
    const i = this.#character?.points.findIndex((point) => point.label === label) ?? -1;
    return i < 0 ? null : this.app.viewport.project(this.#pointAt(i));
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
    const hit = await scene.ask('pick', origin.toArray(), ray.direction.toArray())
      .catch(() => null) as Hit | null;
    if (!hit || hit.characterTriangle < 0) return false;
    const point = { triangle: hit.characterTriangle,
      barycentric: hit.barycentric as [number, number, number] };
    return this.#put(new Map([[label, point]]), `place ${label} of ${this.name}`);
  }

  /** Finds the points of the character on it, by shape; those are to be looked at. */
  async match(): Promise<boolean> {
    const document = this.app.document;
    if (!document || !this.#scene) return false;
    const kSource = 'match source.glb';
    const found = await this.app.long('Looking for the same points …', async () => {
      const own = await document.apart((scene) => scene.ask('characterGlb') as Promise<Uint8Array>);
      return this.app.library.apart(`character = ${JSON.stringify(this.#source)}\n`,
        `${this.name}.toml`, { ...this.#files, [kSource]: own },
        (scene) => scene.ask('findPoints', kSource) as Promise<FoundPoints>);
    });
    if (!found) return false;
    const done = await this.#put(new Map(found.points.map((point) => [point.label, point])),
      `match points of ${this.name}`);
    if (done) this.app.messages.say('done', `${found.points.length} points were found`,
      `Misfit of the heads ${found.residual.toFixed(2)}. Look at them, and drag those that are wrong.`);
    return done;
  }

  /** One step of undo. */
  async #put(points: ReadonlyMap<string, PlacedPoint | null>, step: string): Promise<boolean> {
    const scene = this.#scene;
    if (!scene) return false;
    try {
      await scene.edit('setPoints', listOf(points));
      const character = await scene.ask('character') as Character;
      if (scene !== this.#scene) return false;
      this.#character = character;
      for (const label of points.keys()) this.#placed.add(label);
      if (step !== '') void this.app.document?.placedBeside(this.#source, points, step);
      await this.#readPoints();
      return true;
    } catch (error) {
      if (scene === this.#scene) this.app.messages.error(error, 'The point cannot be placed');
      return false;  // else it was hidden meanwhile
    }
  }

  /** Its points as undo has them. */
  async #restore(): Promise<void> {
    if (!this.#scene) return;
    const wanted = this.app.document?.pointsBeside(this.#source) ?? new Map<string, PlacedPoint>();
    const points = new Map<string, PlacedPoint | null>();
    for (const label of new Set([...this.#placed, ...wanted.keys()]))
      points.set(label, wanted.has(label) ? wanted.get(label) ?? null : this.#base.get(label) ?? null);
    if (points.size > 0) await this.#put(points, '');
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
    setPositions(this.#points.geometry, this.#positions);
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
    setPositions(this.#lines.geometry, ends);
  }
}
