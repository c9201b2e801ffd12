// A scene in a worker, so that nothing it does stops the page. Binding does not even stop the
// scene: an edit that must bind is made in a second worker while the first plays on; when it is
// ready they change places. Both sides are in this file: the page's is RemoteScene.
import { Derm, DermError } from './derm.mjs';

const kName = 'derm';  // of the workers that serve

// ----------------------------------------------------------------------------- in the worker

/** Methods of Scene that change the recipe. */
const kEdits = ['set', 'addLayer', 'removeLayer', 'moveLayer', 'enableLayer', 'renameLayer',
  'setRecipeText'];

const copyOf = (view) => (view === null ? null : view.slice());

function surfaceOf(scene) {
  return {
    vertexCount: scene.vertexCount, triangles: copyOf(scene.triangles), uvs: copyOf(scene.uvs),
    colours: copyOf(scene.colours), partRanges: copyOf(scene.partRanges),
  };
}

function frameOf(scene, have) {
  const frame = {
    topology: scene.topology, positions: copyOf(scene.positions), normals: copyOf(scene.normals),
  };
  if (frame.topology !== have) frame.surface = surfaceOf(scene);
  return frame;
}

const noScene = () => new DermError({ code: 'closed', text: 'no scene is open' });

/** Ends of locks that are held: nobody calls them. */
const held = [];

/** Holds a lock for as long as this worker lives, whatever ends it; goes on when it has it. */
const hold = (name) => new Promise((resolve, reject) => {
  navigator.locks.request(name, () => {
    resolve();
    return new Promise((release) => { held.push(release); });
  }).catch(reject);
});

/** Answers messages {id, method, args} with {id, result} or {id, error}; with the recipe's `text`
 *  where that changed, and `gone` where the scene's module has ended. */
export function serve(port) {
  let derm = null;
  let scene = null;
  const methods = {
    load: async (wasm, rest, lock) => {
      if (lock) await hold(lock).catch(() => {});  // the page asks whether it is held
      derm ??= await Derm.load({ wasm, rest });
      return true;
    },
    open: async (recipe, options) => {
      const opened = await derm.open(recipe, options);
      scene?.close();
      scene = opened;
      return true;
    },
    frame: ({ time_s, dt_s, reset, pose, morphWeights, controls, have }) => {
      if (scene === null) throw noScene();
      const write = (values, to) => {
        if (!values || !to) return;
        if (values.length > to.length)
          throw new DermError({ code: 'bad_argument', text: `${values.length} numbers for ${to.length}` });
        to.set(values);
      };
      if (time_s !== undefined) scene.seek(time_s);
      write(pose, scene.pose);
      write(morphWeights, scene.morphWeights);
      write(controls, scene.controls);
      if (reset) scene.reset();
      else if (dt_s !== undefined) scene.step(dt_s);
      return frameOf(scene, have);
    },
    ask: (name, args) => {
      const answer = () => {
        if (scene === null) throw noScene();
        const value = scene[name];
        const result = typeof value === 'function' ? scene[name](...args) : value;
        return ArrayBuffer.isView(result) ? copyOf(result) : result;
      };
      try {
        return answer();
      } catch (error) {
        if (error.code !== 'not_loaded') throw error;
        return derm.loadRest().then(answer);
      }
    },
    of: (name) => derm[name],
    close: () => { scene?.close(); scene = null; return true; },
  };
  const buffersIn = (value, out = []) => {
    if (ArrayBuffer.isView(value)) out.push(value.buffer);
    else if (value !== null && typeof value === 'object')
      for (const each of Object.values(value)) buffersIn(each, out);
    return out;
  };
  port.onmessage = async ({ data }) => {
    try {
      const { id, method, args } = data;
      const result = await methods[method](...args);
      const changes = method === 'open' || (method === 'ask' && kEdits.includes(args[0]));
      port.postMessage({ id, result, ...(changes ? { text: scene.recipeText } : {}) },
        buffersIn(result));
    } catch (error) {
      const fields = error instanceof DermError ? error.toJSON()
        : { code: 'internal', text: String(error?.message ?? error) };
      const gone = scene !== null && derm.memoryBytes === 0;
      port.postMessage({ id: data.id, error: fields, gone });
    }
  };
}

if (typeof WorkerGlobalScope !== 'undefined' && globalThis instanceof WorkerGlobalScope &&
    globalThis.name === kName)
  serve(globalThis);

// -------------------------------------------------------------------------------- on the page

const workerBesideThis = () =>
  new Worker(new URL('./worker.mjs', import.meta.url), { type: 'module', name: kName });

/** Locks of pages; none where the browser gives none, and in Node. */
const locks = () => (typeof window === 'object' ? globalThis.navigator?.locks : undefined);

/** A worker that serves, seen from the page. */
class Remote {
  #worker;
  #unwatch = new AbortController();
  #waiting = new Map();
  #next = 0;
  #ended = false;
  applied = 0;  // edits of the character that it has
  opened = false;
  text = '';  // of the recipe, after the last edit that was made: known when the scene is gone, too
  played = undefined;  // the text of its last frame
  again = false;  // it took the place of one that had ended
  died = false;  // the browser has ended it, which is no recipe's fault
  gone = false;  // its scene: the module has ended, or the worker
  #dead = false;
  constructor(worker) {
    this.#worker = worker;
    worker.onmessage = ({ data }) => {
      this.text = data.text ?? this.text;
      this.gone ||= data.gone === true;
      const asked = this.#waiting.get(data.id);
      if (!asked) return;  // it was told of an error already
      this.#waiting.delete(data.id);
      if (data.error) asked.reject(new DermError(data.error));
      else asked.resolve(data.result);
    };
    worker.onerror = worker.onmessageerror = (event) => this.#rejectAll(new DermError(
      { code: 'internal', text: `worker: ${event.message ?? 'it does not start or answer'}` }));
  }
  #rejectAll(error) {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
  call(method, ...args) {
    return new Promise((resolve, reject) => {
      if (this.#ended) throw new DermError({ code: 'closed', text: 'it is closed' });
      if (this.#dead) throw diedOf();
      const id = this.#next++;
      this.#worker.postMessage({ id, method, args });
      this.#waiting.set(id, { resolve, reject });
    });
  }
  async load(wasm, rest) {
    const lock = locks() && `derm ${crypto.randomUUID()}`;
    await this.call('load', wasm, rest, lock);
    if (lock) await this.#watch(lock).catch(() => {});  // then nobody watches
  }
  /** A browser that is short of memory ends workers without a word: their locks become free. (One
   *  that binds for long does not answer, but holds its lock.) */
  async #watch(lock) {
    // Browsers may keep the locks of a page apart from those of its workers: free tells nothing then.
    if (await locks().request(lock, { ifAvailable: true }, (free) => free !== null)) return;
    const died = () => {
      if (this.#ended) return;
      this.gone = this.died = this.#dead = true;
      this.#rejectAll(diedOf());
    };
    locks().request(lock, { signal: this.#unwatch.signal }, died).catch(() => {});
  }
  end() {
    this.#ended = true;
    this.#unwatch.abort();
    this.#worker.terminate();
    this.#rejectAll(new DermError({ code: 'closed', text: 'it is closed' }));
  }
}

const diedOf = () => new DermError({ code: 'internal', text: 'worker: the browser has ended it' });

/** Texts that are kept to go back to. */
const kKept = 8;

const kCharacterEdits = ['setGroup', 'setPoint', 'setPoints', 'addFaceShapes'];

/** After these a worker's scene is gone, or nobody knows what is left of it. */
const hasEnded = (error) => ['out_of_memory', 'closed', 'internal'].includes(error.code);

/** A recipe of the same character and of nothing else: layers, motions of faces and controls may need
 *  groups and points that the character does not have yet. */
export function bareRecipe(text) {
  const tables = text.search(/^\s*\[/m);
  const top = tables < 0 ? text : text.slice(0, tables);
  const lines = top.match(/^[ \t]*"?(?:character|metres_per_unit)"?[ \t]*=.*$/gm) ?? [];
  return lines.map((line) => `${line}\n`).join('');
}

/** A Scene in a worker: the same methods, as promises. */
export class RemoteScene {
  #player = null;
  #spare = null;
  #start;
  #files;
  #name;
  #live = new Set();
  #types = null;  // of the recipe's layers, by name; null = to be asked for
  #characterEdits = [];  // in order; null where a later one replaces it
  #queue = Promise.resolve();
  #meanwhile = null;  // live edits made while another binds
  #mending = null;  // the player's module has ended: until there is another
  #have = [null, -1];
  #time_s = null;  // of the last frame of the clip
  #played = [];  // texts that gave a frame, the last at the end: what may be gone back to
  #hopeless = null;  // the error, where no text is left that does not end its module
  #closed = false;

  /** Opens a recipe's text. `wasm`, `rest`: as for Derm.load(), but no functions; `worker`: makes a
   *  worker that runs this file (or calls serve(self)), for pages that are one file. */
  static async open(recipe, { name = 'recipe.toml', files = {}, wasm, rest, worker } = {}) {
    const scene = new RemoteScene();
    scene.#start = async () => {
      const remote = new Remote((worker ?? workerBesideThis)());
      try {
        await remote.load(wasm, rest);
      } catch (error) {
        remote.end();
        throw error;
      }
      return remote;
    };
    scene.#files = files;
    scene.#name = name;
    scene.#player = await scene.#start();
    try {
      await scene.#player.call('open', recipe, { name, files });
      const fields = await scene.#player.call('of', 'fields');
      for (const section of fields.sections)
        for (const field of section.fields)
          if (field.live) scene.#live.add(section.name ? `${section.name}.${field.key}` : field.key);
      for (const layer of fields.layers)
        for (const field of layer.fields)
          if (field.live) scene.#live.add(`layer ${layer.type}.${field.key}`);
    } catch (error) {
      scene.#player.end();
      throw error;
    }
    scene.#player.opened = true;
    return scene;
  }

  /** True while an edit binds; frames go on meanwhile. */
  get binding() { return this.#meanwhile !== null; }

  /** The frame at an instant of the clip, or dt_s after the last in a pose of one's own:
   *  {positions, normals, surface} with `surface` (triangles, uvs, …) where that changed. */
  async frame(request) {
    this.#time_s = request.time_s ?? this.#time_s;
    return this.#ofPlayer(async (player) => {
      const have = this.#have[0] === player ? this.#have[1] : -1;
      const frame = await player.call('frame', { ...request, have });
      if (player === this.#player) this.#have = [player, frame.topology];
      player.played = player.text;
      if (player.text !== this.#played.at(-1)) this.#played.push(player.text);
      if (this.#played.length > kKept) this.#played.shift();
      return frame;
    });
  }
  seek(time_s) { return this.frame({ time_s }); }
  step(dt_s, pose) { return this.frame({ dt_s, pose }); }

  /** Any getter or method of Scene that changes nothing: ask('recipeText'), ask('pick', o, d). */
  ask(name, ...args) { return this.#ofPlayer((player) => player.call('ask', name, args)); }
  /** Of Derm: of('cast'), of('fields'), of('recipes'). */
  of(name) { return this.#ofPlayer((player) => player.call('of', name)); }

  /** Work of the player; where its module has ended, of the one that takes its place. */
  async #ofPlayer(work) {
    if (this.#mending) await this.#mending;
    const player = this.#player;
    try {
      return await work(player);
    } catch (error) {
      if (!hasEnded(error)) throw error;
      if (player.gone) this.#mendAfter(player);
      if (player === this.#player && !this.#mending) throw error;
    }
    await this.#mending;
    return work(this.#player);
  }

  #mendAfter(player) {
    if (player !== this.#player || this.#closed || this.#mending || this.#hopeless) return;
    this.#mending = this.#mend().finally(() => { this.#mending = null; });
    this.#mending.catch(() => {});  // told to who asks for frames
  }

  /** An edit of Scene: edit('set', 'belly', 'frequency_hz', 3). Edits are made one after another;
   *  those that cost less than a frame at once, also while another binds. */
  async edit(method, ...args) {
    if (await this.#isLive(method, args)) {
      if (this.#mending) await this.#mending.catch(() => {});
      this.#meanwhile?.push([method, args]);
      if (method !== 'set') this.#types = null;
      const player = this.#player;
      return player.call('ask', method, args).catch((error) => {
        if (hasEnded(error)) this.#mendAfter(player);
        throw error;
      });
    }
    const edited = this.#queue.then(() => this.#bind(method, args));
    // The one that played until now follows, so that the next edit finds it ready.
    this.#queue = edited.then(() => this.#follow(), () => {});
    return edited;
  }

  /** Gets ready for edits that bind: the first of them otherwise waits for a second worker to open
   *  the scene. For pages that know that an edit is to come. */
  prepare() {
    if (!this.#spare) this.#queue = this.#queue.then(() => this.#follow());
    return this.#queue;
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#player.end();
    this.#spare?.end();
  }

  async #isLive(method, [layer, key]) {
    if (method === 'renameLayer') return true;
    if (method !== 'set') return false;
    if (layer === '') return key.startsWith('controls.') || this.#live.has(key);
    this.#types ??= this.ask('recipe')
      .then(({ layers }) => new Map(layers.map((each) => [each.name, each.type])));
    const types = await this.#types.catch(() => { this.#types = null; });
    return this.#live.has(`layer ${types?.get(layer)}.${key}`);
  }

  async #bind(method, args) {
    this.#meanwhile = [];
    try {
      const spare = await this.#caughtUp();
      const report = await spare.call('ask', method, args);
      if (kCharacterEdits.includes(method)) {
        if (method === 'setGroup') this.#forgetGroup(args[0]);
        this.#characterEdits.push([method, args]);
        spare.applied = this.#characterEdits.length;
      }
      // Played up to now here, so that the frame after the change does not wait for it.
      if (this.#time_s !== null) await spare.call('ask', 'seek', [this.#time_s]);
      while (this.#meanwhile.length > 0) {
        const [live, of] = this.#meanwhile.shift();
        await spare.call('ask', live, of).catch(() => {});  // the layer may be gone
      }
      [this.#player, this.#spare] = [spare, this.#player];
      return report;
    } catch (error) {
      if (hasEnded(error)) {  // the next edit makes another worker
        this.#spare?.end();
        this.#spare = null;
      }
      throw error;
    } finally {
      this.#types = null;
      this.#meanwhile = null;
    }
  }

  /** A group that is set anew replaces what it was: strokes of a brush are not kept one by one. */
  #forgetGroup(name) {
    this.#characterEdits.forEach((edit, i) => {
      if (edit?.[0] === 'setGroup' && edit[1][0] === name) this.#characterEdits[i] = null;
    });
  }

  /** The second worker, with the scene as it is. */
  async #caughtUp() {
    if (this.#spare?.gone) {
      this.#spare.end();
      this.#spare = null;
    }
    const spare = this.#spare ?? await this.#start();
    this.#spare = spare;
    if (this.#closed) {
      spare.end();
      throw new DermError({ code: 'closed', text: 'it is closed' });
    }
    await this.#bring(spare, await this.ask('recipeText'));
    return spare;
  }

  async #follow() {
    if (this.#closed) return;
    try {
      await this.#caughtUp();
    } catch (error) {
      if (!hasEnded(error)) return;
      this.#spare?.end();
      this.#spare = null;
    }
  }

  /** Brings a worker's scene to a text, and to the edits of the character so far. */
  async #bring(remote, text) {
    const changeCharacter = async () => {
      for (; remote.applied < this.#characterEdits.length; ++remote.applied) {
        const edit = this.#characterEdits[remote.applied];
        if (edit !== null) await remote.call('ask', ...edit);
      }
    };
    // The text may name groups and points that are still to come; those that go are named no more.
    const open = (recipe) => remote.call('open', recipe, { name: this.#name, files: this.#files });
    if (remote.opened) {
      await remote.call('ask', 'setRecipeText', [text]).catch(async (error) => {
        if (hasEnded(error)) throw error;
        await changeCharacter();
        await remote.call('ask', 'setRecipeText', [text]);
      });
    } else if (this.#characterEdits.length > 0) {
      await open(bareRecipe(text));
      await changeCharacter();
      await remote.call('ask', 'setRecipeText', [text]);
    } else {
      await open(text);
    }
    remote.opened = true;
    await changeCharacter();
  }

  /** The player's module or worker has ended: another worker plays what the last edit that was
   *  made left, or, where that never gave a frame, what was played before it: an edit that ends the
   *  module once ends it again. */
  async #mend() {
    const ended = this.#player;
    const blamed = ended.played !== ended.text &&
      (ended.again || (!ended.died && this.#played.length > 0));
    const texts = this.#played.filter((text) => !blamed || text !== ended.text);
    if (!blamed && texts.at(-1) !== ended.text) texts.push(ended.text);
    let fresh = null;
    for (let last = null; fresh === null;) {
      const text = texts.pop();
      if (text === undefined) {
        this.#hopeless = last ?? new DermError({ code: 'internal', text: 'no frame of it can be made' });
        throw this.#hopeless;
      }
      fresh = await this.#start();
      try {
        await this.#bring(fresh, text);
        fresh.again = true;
        fresh.text = text;
        this.#played = this.#played.includes(text) ? [...texts, text] : texts;
      } catch (error) {
        fresh.end();
        fresh = null;
        if (!hasEnded(error)) throw error;
        last = error;
      }
    }
    if (this.#closed) return fresh.end();
    this.#types = null;
    if (this.#player === ended) {
      this.#player = fresh;
    } else {  // an edit that was binding has put its own in place
      fresh.end();
      if (this.#spare === ended) this.#spare = null;
    }
    ended.end();
  }
}
