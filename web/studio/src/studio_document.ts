// The open scene: its recipe, what was changed on the character, and the way back. All edits go
// through here, one after another, whoever asks: panels, mouse, scripts.
import type { Character, Edit, Recipe } from 'derm';
import type { EditMethod, RemoteScene } from 'derm/worker';
import { History } from './history';
import type { Library } from './library';
import { Signal } from './signal';

export interface PlacedPoint {
  triangle: number;
  barycentric: [number, number, number];
}

/** All that undo brings back. Arrays in it are never written to. */
export interface Snapshot {
  text: string;
  /** Vertex groups that were painted here. */
  groups: ReadonlyMap<string, Float32Array>;
  /** Labelled points that were placed here; null = taken away. */
  points: ReadonlyMap<string, PlacedPoint | null>;
}

const sameMap = <K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>): boolean =>
  a.size === b.size && [...a].every(([key, value]) => b.get(key) === value);
const sameSnapshot = (a: Snapshot, b: Snapshot): boolean =>
  a.text === b.text && sameMap(a.groups, b.groups) && sameMap(a.points, b.points);

export type FilesByName = Record<string, Uint8Array>;

export class StudioDocument {
  readonly changed = new Signal<{ reopened: boolean }>();
  readonly failed = new Signal<unknown>();
  character: Character;
  recipe: Recipe;
  text: string;
  readonly history: History<Snapshot>;
  readonly #baseGroups = new Map<string, Float32Array>();
  readonly #basePoints = new Map<string, PlacedPoint>();
  #groups: ReadonlyMap<string, Float32Array> = new Map();
  #points: ReadonlyMap<string, PlacedPoint | null> = new Map();
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
    return { text: this.text, groups: this.#groups, points: this.#points };
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
      const painted = this.#groups.size + this.#points.size > 0;
      const scene = await this.library.openScene(
        painted ? withoutLayers(this.text) : this.text, this.name, files);
      if (painted) {
        await this.bringUp(scene);
        await scene.edit('setRecipeText', this.text);
      }
      this.scene.close();
      this.scene = scene;
      this.files = files;
      this.changed.emit({ reopened: true });
    });
  }

  async paintGroup(name: string, strengths: Float32Array): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#setGroup(name, strengths);
      this.history.commit(this.snapshot(), `paint ${name}`);
    });
  }

  placePoint(label: string, point: PlacedPoint | null): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#setPoint(label, point);
      this.history.commit(this.snapshot(), point ? `place ${label}` : `remove ${label}`);
    });
  }

  undo(): Promise<boolean> {
    return this.#inTurn(async () => {
      const state = this.history.back();
      if (state) await this.#restore(state);
    });
  }

  redo(): Promise<boolean> {
    return this.#inTurn(async () => {
      const state = this.history.forth();
      if (state) await this.#restore(state);
    });
  }

  /** Puts a state in place, as one step of undo: what was kept by the browser. */
  takeOver(state: Snapshot, label: string): Promise<boolean> {
    return this.#inTurn(async () => {
      await this.#restore(state);
      this.history.commit(this.snapshot(), label);
    });
  }

  /** Brings another scene's character to the same state, for work that is done apart. */
  async bringUp(scene: RemoteScene): Promise<void> {
    for (const [name, strengths] of this.#groups) await scene.edit('setGroup', name, strengths);
    for (const [label, point] of this.#points)
      await scene.edit('setPoint', label, point?.triangle ?? -1, point?.barycentric ?? [1, 0, 0]);
  }

  /** The recipe without what a character that was not yet painted cannot have. */
  async apart<T>(work: (scene: RemoteScene) => Promise<T>): Promise<T> {
    // Groups come first: the text may name them.
    const plain = this.#groups.size + this.#points.size === 0 ? this.text
      : withoutLayers(this.text);
    return this.library.apart(plain, this.name, this.files, async (scene) => {
      if (plain !== this.text) {
        await this.bringUp(scene);
        await scene.edit('setRecipeText', this.text);
      }
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
        if (!this.#closed) await work();
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

  async #setPoint(label: string, point: PlacedPoint | null): Promise<void> {
    const report = await this.scene.edit('setPoint', label, point?.triangle ?? -1,
      point?.barycentric ?? [1, 0, 0]);
    this.#points = new Map(this.#points).set(label, point);
    await this.#apply(report);
  }

  async #restore(state: Snapshot): Promise<void> {
    // A recipe may name groups, so those that come are set before it, those that go after it.
    const goes: [string, Float32Array][] = [];
    for (const name of new Set([...this.#groups.keys(), ...state.groups.keys()])) {
      const wanted = state.groups.get(name) ?? this.#baseGroups.get(name);
      if (wanted === undefined || wanted === this.#groups.get(name)) continue;
      if (wanted.some((strength) => strength > 0)) await this.#setGroup(name, wanted);
      else goes.push([name, wanted]);
    }
    for (const label of new Set([...this.#points.keys(), ...state.points.keys()])) {
      const wanted = state.points.has(label) ? state.points.get(label) ?? null
        : this.#basePoints.get(label) ?? null;
      if (wanted !== this.#points.get(label)) await this.#setPoint(label, wanted);
    }
    if (state.text !== this.text)
      await this.#apply(await this.scene.edit('setRecipeText', state.text));
    for (const [name, strengths] of goes) await this.#setGroup(name, strengths);
    this.#groups = state.groups;
    this.#points = state.points;
    this.changed.emit({ reopened: false });
  }
}

/** A recipe's head: what stands before its first layer. */
export function withoutLayers(text: string): string {
  const at = text.search(/^\s*\[\[\s*layer\s*\]\]/m);
  return at < 0 ? text : text.slice(0, at);
}
