// The studio without its panels: what is open, what plays, what is drawn, and everything that can be
// done. Panels, keys, mouse and scripts all come here.
import type { Hit } from 'derm';
import { bareRecipe } from 'derm/worker';
import * as THREE from 'three';
import { kindOf, pathsIn, stemOf, type NamedBytes } from './files';
import type { Library } from './library';
import { Messages } from './ui/messages';
import { Player } from './player';
import { Signal } from './signal';
import { keepAutosave, keepRecent, type StoredScene } from './storage';
import { StudioDocument, type FilesByName } from './studio_document';
import { kMapColours } from './view/heat';
import { Viewport, mapChannels, type ViewSettings } from './view/viewport';

const kAutosaveAfter_ms = 1500;

export class App {
  readonly player = new Player();
  readonly messages: Messages;
  readonly viewport: Viewport;
  readonly opened = new Signal<StudioDocument | null>();
  readonly viewChanged = new Signal();
  /** Something long is under way: what, or ''. */
  readonly working = new Signal<string>();
  readonly jointsChosen = new Signal<ReadonlySet<number>>();
  /** The layer whose parameters are shown. */
  chosenLayer = '';
  readonly layerChosen = new Signal<string>();
  #document: StudioDocument | null = null;
  #waitingRecipe: NamedBytes | null = null;
  #autosaveTimer = 0;
  /** Long work that is under way. */
  readonly #long: string[] = [];
  /** What the browser keeps of the scene for a tab that is killed. */
  kept: StoredScene | null = null;

  /** A command by its name; set when there are commands. */
  run: (id: string, argument?: unknown) => void = () => {};

  constructor(readonly library: Library, canvas: HTMLCanvasElement, messages: HTMLElement) {
    this.messages = new Messages(messages);
    this.viewport = new Viewport(canvas);
    this.player.shown.add((shown) => this.viewport.show(shown));
    this.player.failed.add((error) => this.messages.error(error, 'This frame cannot be shown'));
  }

  get document(): StudioDocument | null { return this.#document; }

  // ------------------------------------------------------------------------------------- opening

  async openText(text: string, name: string, files: FilesByName = {}): Promise<boolean> {
    const opened = await this.long(`Opening ${stemOf(name)} …`,
      () => StudioDocument.open(this.library, text, name, files));
    if (!opened) return false;
    this.#show(opened);
    return true;
  }

  openCast(name: string): Promise<boolean> {
    return this.openText(`character = "cast:${name}"\n`, `${name}.toml`);
  }

  async openStored(stored: StoredScene): Promise<boolean> {
    // What was painted and placed is put in first: layers and motions may need it.
    const { snapshot } = stored;
    const painted = snapshot.groups.size + snapshot.points.size + (snapshot.beside?.size ?? 0) > 0
      || Boolean(snapshot.shapes);
    const head = painted ? bareRecipe(snapshot.text) : snapshot.text;
    if (!await this.openText(head, stored.name, stored.files)) return false;
    return painted ? this.#document!.takeOver(snapshot, 'recover') : true;
  }

  /** What was dropped or chosen: characters, recipes, motions, tables, in any mixture. */
  async openFiles(dropped: readonly NamedBytes[]): Promise<boolean> {
    const empty = dropped.find((file) => file.bytes.length === 0);
    if (empty) {
      this.messages.error(new Error('It has no bytes: a download or a copy that was cut short?'),
        `${empty.name} is empty`);
      return false;
    }
    const of = (kind: string) => dropped.filter((file) => kindOf(file) === kind);
    const recipe = of('recipe')[0] ?? null;
    const character = of('character')[0] ?? null;
    const motion = of('motion')[0];
    const files: FilesByName = {};
    for (const file of dropped) if (file !== recipe) files[file.name] = file.bytes;
    for (const path of of('character').flatMap(pathsIn)) {
      const bytes = files[path.replace(/^.*\//, '')];
      if (bytes) files[path] ??= bytes;
    }
    const aside = [...of('recipe').slice(1), ...recipe ? [] : of('character').slice(1)];
    if (aside.length > 0)
      this.messages.say('info', `${(recipe ?? character)!.name} is opened`,
        `One scene at a time: ${aside.map((file) => file.name).join(', ')} was left aside.`);
    if (recipe) return this.#openRecipe(recipe, files);
    if (character) {
      const waiting = this.#waitingRecipe;
      if (waiting && decoded(waiting.bytes).includes(character.name))
        return this.#openRecipe(waiting, files);
      const opened = await this.openText(`character = ${JSON.stringify(character.name)}\n`,
        `${stemOf(character.name)}.toml`, files);
      return opened && motion ? this.#playMotion(motion, undefined, null) : opened;
    }
    const table = of('faceTable')[0], foreign = of('foreign')[0];
    if (foreign && !motion && !table) {
      this.messages.say('warning', `${foreign.name} is in a format that no web page reads`,
        'Save it as .glb in the program that it comes from. The program derm reads .fbx and .dae, and '
        + `shows them here: derm studio ${foreign.name}`);
      return false;
    }
    if (!motion && !table) {
      this.messages.say('warning', 'Nothing here that the studio opens',
        'It opens .glb, .gltf, .obj, .ply, .off, .stl, .toml, .bvh, .csv and .json files.');
      return false;
    }
    if (!this.#document) {
      this.messages.say('warning', 'Open a character first',
        `${(motion ?? table)!.name} is a motion: it is played by the character that is open.`);
      return false;
    }
    return this.#playMotion(motion, table, files);
  }

  /** One of the two, by what is open; `files` are those that it has not yet. */
  async #playMotion(motion: NamedBytes | undefined, table: NamedBytes | undefined,
    files: FilesByName | null): Promise<boolean> {
    const document = this.#document;
    if (!document) return false;
    const done = await this.long('Taking over the motion …', async () => {
      if (files && !await document.addFiles(files)) return false;
      return motion
        ? document.edit(`motion ${motion.name}`, 'set', '', 'motion', motion.name)
        : document.edit(`motion ${table!.name}`, 'set', '', 'face.motion', [{ source: table!.name }]);
    });
    if (done) this.player.play(true);
    return done === true;
  }

  async #openRecipe(recipe: NamedBytes, dropped: FilesByName): Promise<boolean> {
    const text = decoded(recipe.bytes);
    // What it names may be what is open.
    const files: FilesByName = {};
    for (const [name, bytes] of Object.entries(this.#document?.files ?? {}))
      if (text.includes(name)) files[name] = bytes;
    Object.assign(files, dropped);
    // Folders of paths are not known here: a file stands for every path that ends in its name.
    for (const [, path] of text.matchAll(/"([^"\n]*\/([^"/\n]+))"/g)) {
      const bytes = files[path!.slice(path!.lastIndexOf('/') + 1)];
      if (bytes) files[path!] = bytes;
    }
    const opened = await this.openText(text, recipe.name, files);
    this.#waitingRecipe = opened ? null : recipe;
    const named = /^\s*character\s*=\s*"(?!cast:)([^"\n]*)"/m.exec(text)?.[1];
    if (!opened && named !== undefined && !(named in files))
      this.messages.say('info', 'The recipe waits for its files',
        'Drop the character (and motions) that it names, or all of them together with it.');
    return opened;
  }

  #show(document: StudioDocument): void {
    const old = this.#document;
    this.#document = document;
    document.failed.add((error) => this.messages.error(error, 'That edit did not work'));
    document.changed.add(() => {
      this.player.wanted.maps = mapChannels(document.character);
      this.#keepSoon();
    });
    this.player.wanted.maps = mapChannels(document.character);
    this.chosenLayer = document.recipe.layers[0]?.name ?? '';
    this.player.show(document);
    this.opened.emit(document);
    old?.close();
    for (const note of document.character.notes.slice(0, 5)) this.messages.say('info', note, '');
    this.player.play(true);
    this.#keepSoon();
    setTimeout(() => { if (this.#document === document) void keepRecent(this.stored(document)); },
      2000);
  }

  stored(document: StudioDocument): StoredScene {
    return {
      name: document.name, files: document.files, snapshot: document.snapshot(),
      savedAt: Date.now(), picture: this.thumbnail(),
    };
  }

  /** A small picture of what is seen, as a data address. */
  thumbnail(): string {
    this.viewport.drawNow();
    const small = document.createElement('canvas');
    small.width = 240;
    small.height = 160;
    const { canvas } = this.viewport;
    const scale = Math.max(small.width / canvas.width, small.height / canvas.height);
    const w = canvas.width * scale, h = canvas.height * scale;
    small.getContext('2d')?.drawImage(canvas, (small.width - w) / 2, (small.height - h) / 2, w, h);
    return small.toDataURL('image/jpeg', 0.8);
  }

  /** Also while edits go on without a pause. */
  #keepSoon(): void {
    if (this.#autosaveTimer !== 0) return;
    this.#autosaveTimer = window.setTimeout(() => {
      this.#autosaveTimer = 0;
      const document = this.#document;
      if (!document) return;
      const scene = this.stored(document);
      void keepAutosave(scene).then(() => { this.kept = scene; });
    }, kAutosaveAfter_ms);
  }

  /** Back to the start page. */
  closeDocument(): void {
    const document = this.#document;
    this.player.play(false);
    this.#document = null;
    this.player.show(null);
    this.opened.emit(null);
    document?.close();
  }

  // -------------------------------------------------------------------------------------- helpers

  /** Long work with a word about it; an error is shown, and null is the answer. */
  async long<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    this.#long.push(what);
    this.working.emit(what);
    try {
      return await work();
    } catch (error) {
      this.messages.error(error, what.replace(/ …$/, ' did not work'));
      return null;
    } finally {
      this.#long.splice(this.#long.indexOf(what), 1);
      this.working.emit(this.#long.at(-1) ?? '');  // what goes on beside it
    }
  }

  setView(change: Partial<ViewSettings>): void {
    this.viewport.set(change);
    const s = this.viewport.settings;
    Object.assign(this.player.wanted, { linear: s.split || s.strokes, points: s.points,
      channel: s.channel === kMapColours ? '' : s.channel });
    this.player.refresh();
    this.viewChanged.emit();
  }

  chooseLayer(name: string): void {
    this.chosenLayer = name;
    this.layerChosen.emit(name);
  }

  /** What the mouse points at on the skin, by derm. */
  async pick(x: number, y: number): Promise<Hit | null> {
    const ray = this.viewport.ray(x, y);
    const document = this.#document;
    if (!document) return null;
    return await document.scene.ask('pick', ray.origin.toArray(), ray.direction.toArray())
      .catch(() => null) as Hit | null;
  }

  /** At once, to tell whether a drag begins on the skin. */
  overBody(x: number, y: number): boolean {
    const { geometry } = this.viewport.body.after;
    if (!geometry.getAttribute('position')) return false;
    geometry.boundingSphere = new THREE.Sphere(new THREE.Vector3(), Infinity);
    const caster = new THREE.Raycaster();
    caster.ray.copy(this.viewport.ray(x, y));
    return caster.intersectObject(this.viewport.body.after, false).length > 0;
  }

  /** Proposals of derm for this character, as one step of undo. */
  async propose(what: 'all' | 'flesh' | 'wrinkles' | 'volume'): Promise<boolean> {
    const document = this.#document;
    if (!document) return false;
    const text = await this.long('Looking for flesh, folds and volume …',
      () => document.apart((scene) => scene.ask('propose', what) as Promise<string>));
    if (text === null || document !== this.#document) return false;
    const done = await this.long('Binding …', () =>
      document.edit(what === 'all' ? 'auto' : `propose ${what}`, 'setRecipeText', text));
    if (done) {
      const names = document.recipe.layers.map((layer) => layer.name);
      if (names.length > 0) this.messages.say('done', 'It lives', `Layers: ${names.join(', ')}.`);
      else this.messages.say('info', 'Nothing was found to add',
        'There is no flesh that could swing, and nothing bends or folds here.');
      this.chooseLayer(names[0] ?? '');
      this.player.play(true);
    }
    return done === true;
  }
}

const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
