// The open scene: its recipe, what was changed on the character, and the way back. All edits go
// through here, one after another, whoever asks: panels, mouse, scripts.
import type { Character, Edit, Recipe } from 'derm';
import { bareRecipe, type EditMethod, type RemoteScene } from 'derm/worker';
import { History } from './history';
import type { Library } from './library';
import { Signal } from './signal';

export interface PlacedPoint {
  triangle: number;
  barycentric: [number, number, number];
}

/** Labelled points that were placed; null = taken away. */
export type PlacedPoints = ReadonlyMap<string, PlacedPoint | null>;

/** All that undo brings back. Arrays in it are never written to. */
export interface Snapshot {
  text: string;
  /** Vertex groups that were painted here. */
  groups: ReadonlyMap<string, Float32Array>;
  points: PlacedPoints;
  /** The points that ARKit's 52 shapes were made from, which may have moved since; false = none were
   *  made, true = from `points` (scenes that were kept before there was such). */
  shapes: PlacedPoints | boolean;
  /** Points of heads that were shown beside it, by their names. */
  beside: ReadonlyMap<string, PlacedPoints>;
}

const sameMap = <K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
const sameSnapshot = (a: Snapshot, b: Snapshot): boolean =>
  a.text === b.text && sameMap(a.groups, b.groups) && sameMap(a.points, b.points)
  && a.shapes === b.shapes && sameMap(a.beside, b.beside);

export type FilesByName = Record<string, Uint8Array>;

export class StudioDocument {
  readonly changed = new Signal<{ reopened: boolean }>();
  readonly failed = new Signal<unknown>();
  /** Undo or redo put another state in place: what is shown of it, a value that has the focus too, is
   *  made anew. */
  readonly restored = new Signal();
  /** Undo or redo changed points of heads beside it. */
  readonly besideRestored = new Signal();
  character: Character;
  recipe: Recipe;
  text: string;
  readonly history: History<Snapshot>;
  readonly #baseGroups = new Map<string, Float32Array>();
  readonly #basePoints = new Map<string, PlacedPoint>();
  #groups: ReadonlyMap<string, Float32Array> = new Map();
  #points: PlacedPoints = new Map();
  #beside: ReadonlyMap<string, PlacedPoints> = new Map();
  #shapes: PlacedPoints | false = false;
  #tail: Promise<void> = Promise.resolve();
  #waitingSets = new Map<string, { layer: string; key: string; value: unknown }>();
  #closed = false;
  /** Edits that have not answered yet. */
  busy = 0;
  readonly busyChanged = new Signal();

  private constructor(readonly library: Library, public scene: RemoteScene, readonly name: string,
    public files: FilesByName, character: Character, recipe: Recipe, text: string) {
    this.character = character;
    this.recipe = recipe;
    this.text = text;
    for (const point of character.points)
      this.#basePoints.set(point.label, { triangle: point.triangle, barycentric: point.barycentric });
    this.history = new History(this.snapshot(), sameSnapshot);
  }

  static async open(library: Library, text: string, name: string,
    files: FilesByName): Promise<StudioDocument> {
    const scene = await library.openScene(text, name, files);
    try {
      const [character, recipe, now] = await Promise.all([
        scene.ask('character') as Promise<Character>, scene.ask('recipe') as Promise<Recipe>,
        scene.ask('recipeText') as Promise<string>]);
      if (character.triangles === 0)
        throw new Error(`${character.name || name} has no triangles: there is no skin to show.`);
      return new StudioDocument(library, scene, name, files, character, recipe, now);
    } catch (error) {
      scene.close();
      throw error;
    }
  }

  get closed(): boolean { return this.#closed; }

  close(): void {
    this.#closed = true;
    this.scene.close();
  }

  snapshot(): Snapshot {
    return { text: this.text, groups: this.#groups, points: this.#points,
      shapes: this.#shapes, beside: this.#beside };
  }

  /** One step of undo: an edit and all that it changes. */
  edit(label: string, method: EditMethod, ...args: unknown[]): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#apply(await this.scene.edit(method, ...args));
      this.history.commit(this.snapshot(), label);
    });
  }

  /** A parameter that is being dragged: only the last value of those that wait is worked off. End
   *  the stroke with commit(). */
  drag(layer: string, key: string, value: unknown): void {
    const id = `${layer}\n${key}`;
    const waits = this.#waitingSets.has(id);
    this.#waitingSets.set(id, { layer, key, value });
    if (waits) return;
    void this.#inTurn(async () => {
      const set = this.#waitingSets.get(id);
      this.#waitingSets.delete(id);
      if (set) await this.#apply(await this.scene.edit('set', set.layer, set.key, set.value));
    });
  }

  /** Ends a stroke of drag(): one step of undo. */
  commit(label: string): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.history.commit(this.snapshot(), label)) this.changed.emit({ reopened: false });
    });
  }

  /** More files for the recipe to name: motions, tables. What plays goes on until they are in. */
  addFiles(more: FilesByName): Promise<boolean> {
    return this.#inTurn(async () => {
      const files = { ...this.files, ...more };
      await this.#reopen(files, this.snapshot());
      this.changed.emit({ reopened: true });
    });
  }

  async paintGroup(name: string, strengths: Float32Array): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#setGroup(name, strengths);
      this.history.commit(this.snapshot(), `paint ${name}`);
    });
  }

  addFaceShapes(): Promise<boolean> {
    return this.#inTurn(async () => {
      const report = await this.scene.edit('addFaceShapes');
      this.#shapes = this.#points;
      await this.#apply(report);
      this.history.commit(this.snapshot(), 'make shapes');
    });
  }

  placePoint(label: string, point: PlacedPoint | null): Promise<boolean> {
    return this.placePoints(new Map([[label, point]]), point ? `place ${label}` : `remove ${label}`);
  }

  placePoints(points: PlacedPoints, step: string): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#setPoints(points);
      this.history.commit(this.snapshot(), step);
    });
  }

  /** Points of a head that is shown beside it were placed there. */
  placedBeside(head: string, points: PlacedPoints, step: string): Promise<boolean> {
    return this.#inTurn(async () => {
      this.#beside = new Map(this.#beside).set(head,
        new Map([...this.#beside.get(head) ?? [], ...points]));
      this.history.commit(this.snapshot(), step);
      this.changed.emit({ reopened: false });
    });
  }

  pointsBeside(head: string): PlacedPoints { return this.#beside.get(head) ?? new Map(); }

  undo(): Promise<boolean> {
    return this.#inTurn(() => this.#goTo(this.history.back(), () => this.history.forth()));
  }

  redo(): Promise<boolean> {
    return this.#inTurn(() => this.#goTo(this.history.forth(), () => this.history.back()));
  }

  /** Puts a state in place, as one step of undo: what was kept by the browser. */
  takeOver(state: Snapshot, label: string): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#restore(state);
      this.history.commit(this.snapshot(), label);
    });
  }

  /** Work on a scene of its own in the same state, so that what plays is not held up. */
  apart<T>(work: (scene: RemoteScene) => Promise<T>): Promise<T> {
    const state = this.snapshot();
    return this.library.apart(headOf(state), this.name, this.files, async (scene) => {
      await bringUp(scene, state);
      return work(scene);
    });
  }

  layer(name: string) {
    return this.recipe.layers.find((each) => each.name === name);
  }

  // Answers false where it failed; the error goes to `failed`.
  #inTurn(work: () => Promise<void>): Promise<boolean> {
    this.busy += 1;
    this.busyChanged.emit();
    const done = this.#tail.then(async () => {
      try {
        if (this.#closed) return false;
        await work();
        return true;
      } catch (error) {
        if (!this.#closed) {
          this.failed.emit(error);
          this.changed.emit({ reopened: false });  // panels show what is
        }
        return false;
      } finally {
        this.busy -= 1;
        this.busyChanged.emit();
      }
    });
    this.#tail = done.then(() => {});
    return done;
  }

  async #apply(report: Edit): Promise<void> {
    const scene = this.scene;
    const [recipe, text, character] = await Promise.all([
      scene.ask('recipe') as Promise<Recipe>, scene.ask('recipeText') as Promise<string>,
      report.reopened ? scene.ask('character') as Promise<Character> : this.character]);
    this.recipe = recipe;
    this.text = text;
    this.character = character;
    this.changed.emit({ reopened: report.reopened });
  }

  async #setGroup(name: string, strengths: Float32Array): Promise<void> {
    if (!this.#baseGroups.has(name)) {
      const there = this.character.groups.includes(name)
        ? await this.scene.ask('channel', `group:${name}`) as Float32Array
        : new Float32Array(this.character.vertices);
      this.#baseGroups.set(name, there.slice(0, this.character.vertices));
    }
    const report = await this.scene.edit('setGroup', name, strengths);
    this.#groups = new Map(this.#groups).set(name, strengths);
    await this.#apply(report);
  }

  async #setPoints(points: PlacedPoints): Promise<void> {
    const report = await this.scene.edit('setPoints', listOf(points));
    this.#points = new Map([...this.#points, ...points]);
    await this.#apply(report);
  }

  /** A step of undo or redo; where it fails, the history stays where the scene is. */
  async #goTo(state: Snapshot | null, back: () => void): Promise<void> {
    if (!state) return;
    try {
      await this.#restore(state);
    } catch (error) {
      back();
      throw error;
    }
    this.restored.emit();
  }

  /** Another scene in place of this one; what plays goes on until it is ready. */
  async #reopen(files: FilesByName, state: Snapshot): Promise<void> {
    const scene = await this.library.openScene(headOf(state), this.name, files);
    try {
      await bringUp(scene, state);
      const character = await scene.ask('character') as Character;
      if (this.#closed) throw new Error('it was closed meanwhile');
      this.scene.close();
      [this.scene, this.files, this.character] = [scene, files, character];
    } catch (error) {
      scene.close();
      throw error;
    }
  }

  /** Points as these, and as they were at first where these say nothing. */
  async #bringPoints(points: PlacedPoints): Promise<void> {
    const others = new Map<string, PlacedPoint | null>();
    for (const label of new Set([...this.#points.keys(), ...points.keys()])) {
      const wanted = points.has(label) ? points.get(label) ?? null
        : this.#basePoints.get(label) ?? null;
      if (wanted !== this.#points.get(label)) others.set(label, wanted);
    }
    if (others.size > 0) await this.#setPoints(others);
  }

  async #restore(state: Snapshot): Promise<void> {
    const shapes = shapesOf(state);
    if (this.#shapes && shapes !== this.#shapes) {  // shapes cannot be taken away one by one
      await this.#reopen(this.files, state);
      [this.#groups, this.#points, this.#shapes] = [state.groups, state.points, shapes];
      const [recipe, text] = await Promise.all([this.scene.ask('recipe') as Promise<Recipe>,
        this.scene.ask('recipeText') as Promise<string>]);
      [this.recipe, this.text] = [recipe, text];
      this.changed.emit({ reopened: true });
    }
    // A recipe may name groups, so those that come are set before it, those that go after it.
    const goes: [string, Float32Array][] = [];
    for (const name of new Set([...this.#groups.keys(), ...state.groups.keys()])) {
      const wanted = state.groups.get(name) ?? this.#baseGroups.get(name);
      if (wanted === undefined || wanted === this.#groups.get(name)) continue;
      if (wanted.some((strength) => strength > 0)) await this.#setGroup(name, wanted);
      else goes.push([name, wanted]);
    }
    if (shapes && !this.#shapes) {
      await this.#bringPoints(shapes);
      await this.#apply(await this.scene.edit('addFaceShapes'));
      this.#shapes = shapes;
    }
    await this.#bringPoints(state.points);
    if (state.text !== this.text)
      await this.#apply(await this.scene.edit('setRecipeText', state.text));
    for (const [name, strengths] of goes) await this.#setGroup(name, strengths);
    this.#groups = state.groups;
    this.#points = state.points;
    const beside = state.beside ?? new Map();  // scenes that were kept before there was such
    if (beside !== this.#beside) {
      this.#beside = beside;
      this.besideRestored.emit();
    }
    this.changed.emit({ reopened: false });
  }
}

const changesCharacter = ({ groups, points, shapes }: Snapshot): boolean =>
  groups.size + points.size > 0 || Boolean(shapes);

const shapesOf = ({ shapes, points }: Snapshot): PlacedPoints | false =>
  (shapes === true ? points : shapes || false);

/** The text that a scene is opened with: layers and motions may need groups and points that are not
 *  there yet. */
const headOf = (state: Snapshot): string =>
  (changesCharacter(state) ? bareRecipe(state.text) : state.text);

/** Brings a scene that was opened with the head to the state. */
async function bringUp(scene: RemoteScene, state: Snapshot): Promise<void> {
  if (!changesCharacter(state)) return;
  for (const [name, strengths] of state.groups) await scene.edit('setGroup', name, strengths);
  const shapes = shapesOf(state);
  if (shapes && shapes.size > 0) await scene.edit('setPoints', listOf(shapes));
  if (shapes) await scene.edit('addFaceShapes');
  if (state.points !== shapes && state.points.size > 0)
    await scene.edit('setPoints', listOf(state.points));
  await scene.edit('setRecipeText', state.text);
}

/** As the library takes points. */
export const listOf = (points: PlacedPoints): object[] => [...points].map(([label, point]) =>
  ({ label, triangle: point?.triangle ?? -1, ...(point ? { barycentric: point.barycentric } : {}) }));
