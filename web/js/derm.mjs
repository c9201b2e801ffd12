// derm in JavaScript: a thin layer over the C functions of derm.h, and the only file that knows
// pointers. Views of the module's memory are made anew at every call: memory that grows leaves old
// ones empty, so copy what you keep.
import createModule from './glue.mjs';

/** What went wrong, with text and place. The only thing that this package throws. */
export class DermError extends Error {
  constructor(fields) {
    super(fields.text || fields.message || 'derm failed');
    this.name = 'DermError';
    /** bad_data, bad_argument, unsupported, cannot_read, cannot_write, cancelled, not_loaded,
     *  out_of_memory, internal, closed */
    this.code = fields.code || 'internal';
    this.reason = fields.message || '';
    this.file = fields.file || '';
    this.element = fields.element || '';
    this.line = fields.line || 0;
    this.column = fields.column || 0;
  }
  /** Plain data, for messages between threads; new DermError(data) is the same again. */
  toJSON() {
    return {
      code: this.code, text: this.message, message: this.reason, file: this.file,
      element: this.element, line: this.line, column: this.column,
    };
  }
}

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

const bytesOf = (data, name) => {
  if (data instanceof Uint8Array) return data;
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  if (typeof data === 'string') return utf8.encode(data);
  throw new DermError({ code: 'bad_argument', text: `${name}: neither bytes nor text` });
};

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  if (source instanceof URL && source.protocol === 'file:' && typeof process === 'object') {
    const { readFile } = await import(/* @vite-ignore */ 'node:fs/promises');
    return WebAssembly.compile(await readFile(source));
  }
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok)
    throw new DermError({ code: 'cannot_read', text: `${response.url}: ${response.status}` });
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Work with a file of the module; what goes wrong is a DermError that names it. */
async function withFile(name, work) {
  try {
    return await work();
  } catch (error) {
    throw error instanceof DermError ? error
      : new DermError({ code: 'cannot_read', text: `${name}: ${error.message}` });
  }
}

const outOfMemory = () =>
  new DermError({ code: 'out_of_memory', text: 'out of memory', message: 'out of memory' });

/** An address as the module gives it: above 2 GiB it comes as a negative number. */
const address = (pointer) => pointer >>> 0;

/** Memory of the module's that work(address) may use. */
function withMemory(core, size, work) {
  const at = address(core._malloc(size));
  if (at === 0) throw outOfMemory();
  const result = work(at);
  core._free(at);
  return result;
}

/** Three numbers, as the module takes them. What callers give wrongly must not come so far as to end
 *  the module. */
function threeOf(values, what) {
  const three = Float32Array.from(values ?? []);
  if (three.length !== 3)
    throw new DermError({ code: 'bad_argument', text: `${what}: three numbers are needed` });
  return three;
}

/** Called where the second file is not there: no way leads here, or it would have asked. */
const kAbsent = new Proxy({}, { get: () => () => { throw new Error('derm.rest.wasm is not loaded'); } });

/** The module: one for any number of scenes. */
export class Derm {
  #compiled;
  #restSource;
  #rest = null;  // the second file, compiled, as a promise
  #core = null;
  #starting = null;
  #printed = '';

  /** `wasm`, `rest`: where derm.wasm and derm.rest.wasm are (address, bytes, response or compiled
   *  module; `rest` also a function that gives that); by default beside this file. */
  static async load({ wasm = new URL('./derm.wasm', import.meta.url),
    rest = () => new URL('./derm.rest.wasm', import.meta.url) } = {}) {
    const derm = new Derm();
    derm.#restSource = rest;
    await withFile('derm.wasm', async () => {
      derm.#compiled = await compiled(wasm);
      await derm.#start();
    });
    return derm;
  }

  /** The compiled module: a worker that gets it need not compile again. */
  get module() { return this.#compiled; }
  /** Whether loadRest() was called, by the page or by what needed it. */
  get hasRest() { return this.#core?.hasRest === true; }
  /** Loads what few pages need, and compiles it once: the cast, finding points of a face, making its
   *  shapes, baking, characters as files. Opening a member of the cast does so by itself; the other
   *  calls, which give their results at once, throw "not_loaded" before. */
  async loadRest() {
    this.#rest ??= withFile('derm.rest.wasm', async () => {
      const source = this.#restSource;
      return compiled(await (typeof source === 'function' ? source() : source));
    });
    try {
      await this.#rest;
    } catch (error) {
      this.#rest = null;  // it may be there the next time
      throw error;
    }
    await this.#start();
    await this.#addRest(this.#core);
  }
  get version() { return this.#text('derm_version'); }
  /** [{name, description}] of characters and liquids that derm makes itself: "cast:cat". */
  get cast() { return JSON.parse(this.#text('derm_cast')); }
  get liquids() { return JSON.parse(this.#text('derm_liquids')); }
  /** [{name, text}] of recipes for them. */
  get recipes() { return JSON.parse(this.#text('derm_shipped_recipes')); }
  /** Everything that a recipe may hold: {sections, layers}, each with fields. */
  get fields() { return JSON.parse(this.#text('derm_recipe_fields')); }
  /** {points: [{label, name, meaning}], regions: [name]}: the 28 control points of a face. */
  get faceNames() { return JSON.parse(this.#text('derm_face_names')); }
  /** [bytes] of the module's memory, which grows and never shrinks. */
  get memoryBytes() { return this.#core ? this.#core.HEAPU8.length : 0; }

  /** Opens a recipe's text. `files`: {name: bytes} that it refers to. */
  async open(recipe, { name = 'recipe.toml', files = {} } = {}) {
    return this.#opened((core, handle) => this.#withText(recipe, (text) =>
      this.#withText(name, (file) => core._derm_open(handle, text, file))), files);
  }
  /** A character by itself: "cast:cat", or the name of one of the files ("body.glb"). */
  async openCharacter(character, { files = {} } = {}) {
    return this.#opened((core, handle) => this.#withText(character, (text) =>
      core._derm_open_character(handle, text)), files);
  }
  /** A liquid of derm's own with its skin. */
  async openLiquid(name, { detail = 0 } = {}) {
    await this.loadRest();
    const core = this.#core;
    const handle = this.#call(() => this.#withText(name, (text) =>
      core._derm_liquid_open(text, detail)));
    if (handle === 0) throw this.#error();
    return new Liquid(this.#border(core), handle);
  }

  #start() {
    if (this.#core !== null) return Promise.resolve();
    this.#starting ??= this.#startNow().finally(() => { this.#starting = null; });
    return this.#starting;
  }

  async #startNow() {
    this.#printed = '';
    let exported;
    const core = await new Promise((resolve, reject) => {
      const options = {
        instantiateWasm: (imports, done) => {
          // What goes wrong here the glue does not hear of: it would wait for ever.
          WebAssembly.instantiate(this.#compiled, { ...imports, rest: kAbsent }).then((instance) => {
            exported = instance.exports;
            done(instance);
          }).catch(reject);
          return {};
        },
        print: () => {},
        printErr: (line) => { this.#printed = String(line); },
      };
      createModule(options).then(resolve, reject);
    });
    core.first = exported;
    // One that follows a module that ended has what that had.
    if (this.#rest !== null) await this.#addRest(core);
    this.#core = core;
  }

  async #addRest(core) {
    if (core.hasRest) return;
    const rest = await this.#rest;
    await withFile('derm.rest.wasm', () => WebAssembly.instantiate(rest, { first: core.first }));
    core._derm_rest_is_loaded();
    core.hasRest = true;
  }

  /** Opens; what asks for the second file gets it, and another try. */
  async #opened(open, files) {
    await this.#start();
    try {
      return this.#openedNow(open, files);
    } catch (error) {
      if (error.code !== 'not_loaded') throw error;
    }
    await this.loadRest();
    await this.#start();  // another scene may have ended the module meanwhile
    return this.#openedNow(open, files);
  }

  #openedNow(open, files) {
    const core = this.#core;
    const named = Object.entries(files ?? {}).map(([name, data]) => [name, bytesOf(data, name)]);
    const handle = this.#call(() => {
      const table = core._derm_files_new();
      try {
        for (const [name, bytes] of named) {
          const at = address(this.#withText(name, (text) =>
            core._derm_files_add(table, text, bytes.length)));
          if (at === 0) throw this.#error();
          core.HEAPU8.set(bytes, at);
        }
        return open(core, table);
      } finally {
        if (this.#core === core) core._derm_files_free(table);
      }
    });
    if (handle === 0) throw this.#error();
    return new Scene(this.#border(core), handle);
  }

  /** What scenes work with. */
  #border(core) {
    return {
      core: () => {
        if (this.#core === core) return core;
        throw new DermError({ code: 'closed', text: 'the module of this scene has ended' });
      },
      call: (work) => this.#call(work),
      needRest: (name) => {
        if (this.hasRest) return;
        throw new DermError({ code: 'not_loaded',
          text: `${name}() is in derm.rest.wasm, which is not loaded: await derm.loadRest() first` });
      },
      withText: (text, work) => this.#withText(text, work),
      error: () => this.#error(),
      textAt: (pointer) => this.#textAt(pointer),
    };
  }

  /** A trap ends the module: all its scenes are closed, and the next open starts a new one. */
  #call(work) {
    try {
      return work();
    } catch (error) {
      if (error instanceof DermError) throw error;
      const core = this.#core;
      this.#core = null;
      // A stack that is too deep is a RangeError, too.
      let memory = error instanceof RangeError && !/call stack/.test(error.message);
      try { memory ||= core._derm_ran_out_of_memory() !== 0; } catch { /* it has ended */ }
      throw memory ? outOfMemory()
        : new DermError({ code: 'internal', text: this.#printed || error.message });
    }
  }

  #withText(text, work) {
    const core = this.#core;
    const bytes = utf8.encode(String(text));
    return withMemory(core, bytes.length + 1, (at) => {
      core.HEAPU8.set(bytes, at);
      core.HEAPU8[at + bytes.length] = 0;
      return work(at);
    });
  }

  #textAt(pointer) {
    const heap = this.#core.HEAPU8;
    const begin = address(pointer);
    return fromUtf8.decode(heap.subarray(begin, heap.indexOf(0, begin)));
  }

  #text(name) {
    if (this.#core === null) throw new DermError({ code: 'closed', text: 'the module has ended' });
    return this.#call(() => this.#textAt(this.#core[`_${name}`]()));
  }

  #error() {
    const fields = JSON.parse(this.#textAt(this.#core._derm_last_error()));
    if (this.#core._derm_rest_was_missed()) fields.code = 'not_loaded';
    return new DermError(fields);
  }
}

class Handle {
  #border;
  #pointer;
  #close;
  constructor(border, pointer, close) {
    this.#border = border;
    this.#pointer = pointer;
    this.#close = close;
  }
  get closed() { return this.#pointer === 0; }
  /** Frees everything; further calls throw a DermError "closed". */
  close() {
    if (this.#pointer === 0) return;
    const pointer = this.#pointer;
    this.#pointer = 0;
    let core;
    try { core = this.#border.core(); } catch { return; }  // went with its module
    this.#border.call(() => core[this.#close](pointer));
  }
  /** Calls work(core, pointer); 0 is an error where `check` says so. */
  _do(work, check = true) {
    if (this.#pointer === 0) throw new DermError({ code: 'closed', text: 'it is closed' });
    const core = this.#border.core();
    const result = this.#border.call(() => work(core, this.#pointer));
    if (check && result === 0) throw this.#border.error();
    return result;
  }
  _needRest(name) { this.#border.needRest(name); }
  _text(work) { return this._do((core, at) => {
    const text = work(core, at);
    return text === 0 ? 0 : [this.#border.textAt(text)];
  })[0]; }
  _json(work) { return JSON.parse(this._text(work)); }
  _withText(text, work) { return this.#border.withText(text, work); }
  _view(work, length, Kind = Float32Array) {
    return this._do((core, at) => {
      const pointer = address(work(core, at));
      return pointer === 0 ? null : new Kind(core.HEAPU8.buffer, pointer, length);
    }, false);
  }
  _bytes(work) {
    return this._do((core, at) => withMemory(core, 4, (size) => {
      const pointer = address(work(core, at, size));
      const length = new Uint32Array(core.HEAPU8.buffer, size, 1)[0];
      return pointer === 0 ? 0 : core.HEAPU8.slice(pointer, pointer + length);
    }));
  }
}

/** A character at play: its recipe, its layers, and the present frame. */
export class Scene extends Handle {
  #character = null;
  /** Edits so far: who keeps what they may change looks here. */
  _edits = 0;
  constructor(border, pointer) { super(border, pointer, '_derm_close'); }

  // ------------------------------------------------------------------------------ what it is

  /** Joints, clips, morphs, controls, points, groups, parts, materials, images: see derm.d.ts. */
  get character() {
    this.#character ??= this._json((core, at) => core._derm_character(at));
    return this.#character;
  }
  get recipe() { return this._json((core, at) => core._derm_recipe(at)); }
  get recipeText() { return this._text((core, at) => core._derm_recipe_text(at)); }

  // ------------------------------------------------------------------------------------ edits

  #edit(work) {
    const report = this._json(work);
    ++this._edits;
    if (report.reopened) this.#character = null;
    return report;
  }
  setRecipeText(text) {
    return this.#edit((core, at) => this._withText(text, (t) => core._derm_set_recipe_text(at, t)));
  }
  /** `layer` '' = the recipe's own keys; undefined = the default. */
  set(layer, key, value) {
    const json = value === undefined ? '' : JSON.stringify(value);
    return this.#edit((core, at) => this._withText(layer, (l) => this._withText(key, (k) =>
      this._withText(json, (v) => core._derm_set_key(at, l, k, v)))));
  }
  addLayer(type, { name = '', index = -1, keys = {} } = {}) {
    const json = JSON.stringify(keys);
    return this.#edit((core, at) => this._withText(type, (t) => this._withText(name, (n) =>
      this._withText(json, (k) => core._derm_add_layer(at, t, n, index, k)))));
  }
  removeLayer(name) {
    return this.#edit((core, at) => this._withText(name, (n) => core._derm_remove_layer(at, n)));
  }
  moveLayer(name, index) {
    return this.#edit((core, at) =>
      this._withText(name, (n) => core._derm_move_layer(at, n, index)));
  }
  enableLayer(name, enabled) {
    return this.#edit((core, at) =>
      this._withText(name, (n) => core._derm_enable_layer(at, n, enabled ? 1 : 0)));
  }
  renameLayer(name, to) {
    return this.#edit((core, at) => this._withText(name, (n) =>
      this._withText(to, (t) => core._derm_rename_layer(at, n, t))));
  }
  /** The recipe's text with proposals in it, not yet set: 'flesh', 'contact', 'volume',
   *  'wrinkles', 'all'. */
  propose(what = 'all') {
    return this._text((core, at) => this._withText(what, (w) => core._derm_propose(at, w)));
  }

  // ---------------------------------------------------------------------------------- playing

  seek(time_s) { this._do((core, at) => core._derm_seek(at, time_s)); }
  step(dt_s) { this._do((core, at) => core._derm_step(at, dt_s)); }
  reset() { this._do((core, at) => core._derm_reset(at)); }
  sample(clip, time_s) { this._do((core, at) => core._derm_sample(at, clip, time_s)); }
  holdControl(control, value = NaN) {
    this._do((core, at) => core._derm_hold_control(at, control, value));
  }
  /** Ten floats per joint: translation, rotation (x y z w), scale; write here, then step(). */
  get pose() {
    return this._view((core, at) => core._derm_pose(at), 10 * this.character.joints.length);
  }
  get morphWeights() {
    return this._view((core, at) => core._derm_morph_weights(at), this.character.morphs.length);
  }
  get controls() {
    return this._view((core, at) => core._derm_controls(at), this.character.controls.length);
  }

  // -------------------------------------------------------------------------------- the frame

  get vertexCount() { return this._do((core, at) => core._derm_vertex_count(at), false); }
  get triangleCount() { return this._do((core, at) => core._derm_triangle_count(at), false); }
  get topology() { return this._do((core, at) => core._derm_topology(at), false); }
  get positions() {
    return this._view((core, at) => core._derm_positions(at), 3 * this.vertexCount);
  }
  get normals() { return this._view((core, at) => core._derm_normals(at), 3 * this.vertexCount); }
  get tangents() {
    return this._view((core, at) => core._derm_tangents(at), 4 * this.vertexCount);
  }
  get uvs() { return this._view((core, at) => core._derm_uvs(at), 2 * this.vertexCount); }
  get colours() { return this._view((core, at) => core._derm_colours(at), 4 * this.vertexCount); }
  get triangles() {
    return this._view((core, at) => core._derm_triangles(at), 3 * this.triangleCount, Uint32Array);
  }
  /** First triangle and number of triangles, for each part of the character. */
  get partRanges() {
    return this._view((core, at) => core._derm_part_ranges(at), 2 * this.character.parts.length,
      Uint32Array);
  }
  linearPositions() {
    const count = 3 * this.vertexCount;
    const view = this._view((core, at) => core._derm_linear_positions(at), count);
    if (view === null && count > 0) this._do(() => 0);
    return view;
  }
  jointMatrices() {
    return this._view((core, at) => core._derm_joint_matrices(at),
      16 * this.character.joints.length);
  }
  pointPositions() {
    return this._view((core, at) => core._derm_point_positions(at),
      3 * this.character.points.length);
  }
  /** A number per vertex: 'weight:JOINT', 'mask:LAYER', 'group:NAME', 'region:NAMES' (of a face),
   *  'displacement', 'compression'. */
  channel(name) {
    const count = this.vertexCount;
    const view = this._view((core, at) =>
      this._withText(name, (n) => core._derm_channel(at, n)), count);
    if (view === null && count > 0) this._do(() => 0);
    return view;
  }
  /** Milliseconds, springs, folds and volumes of the frame, layer by layer. */
  frameReport() { return this._json((core, at) => core._derm_frame_report(at)); }
  /** What a ray meets first on the present surface, or null. */
  pick(origin, direction) {
    const from = threeOf(origin, 'origin'), along = threeOf(direction, 'direction');
    return this._do((core, at) => withMemory(core, 96, (memory) => {
      new Float32Array(core.HEAPU8.buffer, memory, 3).set(from);
      new Float32Array(core.HEAPU8.buffer, memory + 12, 3).set(along);
      const hit = core._derm_pick(at, memory, memory + 12, memory + 24);
      const words = new Uint32Array(core.HEAPU8.buffer, memory + 24, 15).slice();
      const ints = new Int32Array(words.buffer), floats = new Float32Array(words.buffer);
      return hit === 0 ? null : {
        triangle: words[0], vertex: words[1], joint: ints[2], part: words[3],
        barycentric: [...floats.subarray(4, 7)], position: [...floats.subarray(7, 10)],
        normal: [...floats.subarray(10, 13)], distance: floats[13], characterTriangle: ints[14],
      };
    }), false);
  }

  // ---------------------------------------------------------------- changing the character

  setGroup(name, strengths) {
    const values = Float32Array.from(strengths ?? []);
    return this.#edit((core, at) => this._withText(name, (n) =>
      withMemory(core, 4 * values.length + 4, (memory) => {
        new Float32Array(core.HEAPU8.buffer, memory, values.length).set(values);
        return core._derm_set_group(at, n, memory, values.length);
      })));
  }
  setPoint(label, triangle, barycentric = [1, 0, 0]) {
    const shares = threeOf(barycentric, 'barycentric');
    return this.#edit((core, at) => this._withText(label, (n) => withMemory(core, 12, (memory) => {
      new Float32Array(core.HEAPU8.buffer, memory, 3).set(shares);
      return core._derm_set_point(at, n, triangle, memory);
    })));
  }

  /** Several at once, [{label, triangle, barycentric}]; triangle -1 takes a point away. */
  setPoints(points) {
    const json = JSON.stringify(points);
    return this.#edit((core, at) => this._withText(json, (text) => core._derm_set_points(at, text)));
  }
  /** ARKit's 52 shapes as morph targets, made from the 28 control points of the face. */
  addFaceShapes() {
    this._needRest('addFaceShapes');
    return this.#edit((core, at) => core._derm_add_face_shapes(at));
  }
  /** Points of another head ('cast:man', a file's name), or the 28 control points of a face, found
   *  by shape: {source, residual, points: [{label, triangle, barycentric, confidence}]}. Takes
   *  seconds and changes nothing: give what you want of it to setPoints(). */
  findPoints(source = '') {
    this._needRest('findPoints');
    return this._json((core, at) => this._withText(source,
      (text) => core._derm_find_points(at, text)));
  }

  // -------------------------------------------------------------------------------- bytes out

  /** {bytes, report}; options: {format: 'glb', as: 'cache' | 'correctives', shapes, error_m}. */
  bake(options = {}) {
    this._needRest('bake');
    const json = JSON.stringify(options);
    const bytes = this._bytes((core, at, size) =>
      this._withText(json, (text) => core._derm_bake(at, text, size)));
    return { bytes, report: this._json((core, at) => core._derm_bake_report(at)) };
  }
  characterGlb() {
    this._needRest('characterGlb');
    return this._bytes((core, at, size) => core._derm_character_glb(at, size));
  }
  image(index) { return this._bytes((core, at, size) => core._derm_image(at, index, size)); }
}

/** Particles with a skin of their own. */
export class Liquid extends Handle {
  constructor(border, pointer) { super(border, pointer, '_derm_liquid_close'); }
  step(dt_s) { this._do((core, at) => core._derm_liquid_step(at, dt_s)); }
  get time_s() { return this._do((core, at) => core._derm_liquid_time(at), false); }
  get volume_m3() { return this._do((core, at) => core._derm_liquid_volume(at), false); }
  get vertexCount() { return this._do((core, at) => core._derm_liquid_vertex_count(at), false); }
  get triangleCount() {
    return this._do((core, at) => core._derm_liquid_triangle_count(at), false);
  }
  get positions() {
    return this._view((core, at) => core._derm_liquid_positions(at), 3 * this.vertexCount);
  }
  get normals() {
    return this._view((core, at) => core._derm_liquid_normals(at), 3 * this.vertexCount);
  }
  get triangles() {
    return this._view((core, at) => core._derm_liquid_triangles(at), 3 * this.triangleCount,
      Uint32Array);
  }
}
