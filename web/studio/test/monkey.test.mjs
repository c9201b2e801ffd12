// A monkey at mouse and keys: every tool, every panel and every parameter, files of every kind, undo and
// redo in storms, one character after another. DERM_MONKEY_SECONDS (10) and DERM_MONKEY_SEED (1;
// "clock" = another one every time) from outside; what it does depends on the seed alone, what it meets
// on how fast the machine is.
import assert from 'node:assert/strict';
import test from 'node:test';
import { dropFiles, idle, inApp, openRecipe, openStudio, shown, skip } from './harness.mjs';

const seconds = Number(process.env.DERM_MONKEY_SECONDS ?? 10);
const seed = process.env.DERM_MONKEY_SEED === 'clock' ? Date.now() % 1_000_000
  : Number(process.env.DERM_MONKEY_SEED ?? 1);

/** Mulberry32. */
function randomFrom(state) {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// What opens a file chooser or leaves the page is left out.
const kKeys = ['Space', 'v', 'w', 'e', 's', 'b', 'p', 'o', 'k', 'g', 'x', 'h', 'j', 'd', 'f', 'c', '1',
  '3', '7', 'l', ',', '.', '[', ']', 'Home', 'End', 'Escape', 'Control+z', 'Control+Shift+z', 'Tab',
  'Shift+Tab', 'ArrowLeft', 'ArrowRight', 'Enter', 'F2', 'Delete', 'Control+s'];
const kMembers = ['cat', 'mushroom', 'arm', 'wrist', 'trousers', 'woman', 'toon', 'sphere'];
const kRecipes = ['cat_jump', 'cat_belly_and_folds', 'arm_twist', 'forehead', 'wrinkle_maps', 'wrist'];
const kTexts = ['', '0', '1', '-1', '0.5', '1e9', '-1e-9', '3', '12', 'nan', 'group:painted',
  'group:no such', 'auto', 'weights', '0.7, 0.3', '1, 2, 3', '0.5 0.5', 'Ω "x" \\', '  '];
const kButtons = '#view-bar button, #rail button, #tool-bar button, #tool-bar select, .tabs button, '
  + '.layers button, .layers input, .plot-tabs button, .fields button, .fields input, #top button, '
  + '.time-row button, .message .close, .divider';
/** They take long, or ask for a file; the film has a test of its own. */
const kNotThese = ['open', 'film', 'bake', 'auto', 'start'];

const text = (words) => Buffer.from(words);
const kFiles = [
  [{ name: 'tetra.obj', bytes: text('v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n') }],
  [{ name: 'broken.glb', bytes: text('glTF\u0002\0\0\0 this is no model') }],
  [{ name: 'nan.obj', bytes: text('v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n') }],
  [{ name: 'empty.bvh', bytes: text('') }],
  [{ name: 'other.bvh', bytes: text('HIERARCHY\nROOT hips { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation '
    + 'Yrotation End Site { OFFSET 0 1 0 } }\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n0 30 0\n') }],
  [{ name: 'talk.csv', bytes: text('time,jawOpen,mouthSmileLeft\n0,0,0\n0.5,1,0.5\n1,0,0\n') }],
  [{ name: 'other.toml', bytes: text('character = "cast:cat"\n[[layer]]\ntype = "flesh"\n'
    + 'dominant = "no_such_joint"\nends = ["nor_this"]\n') }],
  [{ name: 'good.toml', bytes: text('# mine\ncharacter = "cast:wrist"\n') }],
  [{ name: 'notes.txt', bytes: text('hello') }, { name: 'more.docx', bytes: text('PK') }],
];

class Monkey {
  #random = randomFrom(seed);
  actions = 0;
  /** The last of them. */
  did = [];
  constructor(page) { this.page = page; }

  number() { return this.#random(); }
  pick(list) { return list[Math.floor(this.#random() * list.length)]; }
  place() { return [60 + this.#random() * 860, 90 + this.#random() * 420]; }

  /** One of these elements, if there is any that can be seen. */
  async one(selector) {
    const at = this.#random();
    const all = this.page.locator(selector);
    const count = await all.count();
    return count === 0 ? null : all.nth(Math.floor(at * count));
  }
  /** A click that may come too late: what it was for may be gone. */
  async click(element) {
    await element?.click({ timeout: 300, force: true }).catch(() => {});
  }

  async key() { await this.page.keyboard.press(this.pick(kKeys)); }

  async drag() {
    const { mouse } = this.page;
    const [x, y] = this.place();
    const [u, v] = this.number() < 0.5
      ? [x + (this.number() - 0.5) * 120, y + (this.number() - 0.5) * 120] : this.place();
    const button = this.pick(['left', 'left', 'left', 'right']), wheel = this.number();
    await mouse.move(x, y);
    await mouse.down({ button });
    await mouse.move(u, v, { steps: 4 });
    if (wheel < 0.2) await mouse.wheel(0, 100 - 1000 * wheel);
    if (wheel > 0.95) await this.page.keyboard.press('Escape');
    await mouse.up({ button });
  }

  async wheel() {
    const [x, y] = this.place();
    await this.page.mouse.move(x, y);
    await this.page.mouse.wheel(0, (this.number() - 0.5) * 400);
  }

  async timeline() {
    const x = 100 + this.number() * 800;
    await this.page.mouse.click(x, 560 + this.number() * 40);
  }

  async button() {
    const element = await this.one(kButtons);
    if (!element) return;
    const command = await element.getAttribute('data-command', { timeout: 300 }).catch(() => null);
    const slow = await element.evaluate((e) => e.matches('[data-find-points], [data-shapes], [data-match]'),
      undefined, { timeout: 300 }).catch(() => true);
    if (!kNotThese.includes(command) && !slow) await this.click(element);
  }

  /** Any parameter of any layer, skinning, the clip, the face, by whatever its input takes. */
  async parameter() {
    if (this.number() < 0.4)
      await this.click(await this.one('.tabs [aria-controls=panel-stack], .tabs [aria-controls=panel-stack], '
        + '.tabs [aria-controls=panel-character], .tabs [aria-controls=panel-face]'));
    if (this.number() < 0.4) await this.click(await this.one('.panel:not([hidden]) .layer .layer-name'));
    const words = this.pick(kTexts), share = this.number(), from = this.number();
    const field = await this.one('.panel:not([hidden]) .field input, .panel:not([hidden]) .field select, '
      + '.panel:not([hidden]) .presets select');
    if (!field) return;
    const about = await field.evaluate((e) => {
      e.scrollIntoView({ block: 'nearest' });
      const box = e.getBoundingClientRect();
      return { kind: e.tagName === 'SELECT' ? 'select' : e.type, options: e.options?.length ?? 0,
        second: e.matches('[data-second]'), box: { x: box.x, y: box.y, width: box.width, height: box.height } };
    }, undefined, { timeout: 300 }).catch(() => null);
    if (!about || about.second) return;
    const { kind, options, box } = about;
    if (kind === 'select') {
      await field.selectOption({ index: Math.floor(share * options) }, { timeout: 300, force: true })
        .catch(() => {});
    } else if (kind === 'range') {
      const y = box.y + box.height / 2;
      await this.page.mouse.move(box.x + box.width * from, y);
      await this.page.mouse.down();
      await this.page.mouse.move(box.x + box.width * share, y, { steps: 5 });
      await this.page.mouse.up();
    } else if (kind === 'checkbox') {
      await this.click(field);
    } else {
      await field.fill(words, { timeout: 300, force: true }).catch(() => {});
      await this.page.keyboard.press(share < 0.5 ? 'Enter' : 'Tab');
    }
  }

  async layer() {
    const type = this.pick(['volume', 'contact', 'flesh', 'wrinkles', 'detail']);
    const from = this.number(), to = this.number();
    if (from < 0.6) {
      await this.click(this.page.locator('.tabs [aria-controls=panel-stack]'));
      await this.page.selectOption('.add', type, { timeout: 300 }).catch(() => {});
      return;
    }
    const rows = this.page.locator('.layer[draggable]');
    const count = await rows.count();
    if (count > 1)
      await rows.nth(Math.floor(to * count)).dragTo(rows.nth(Math.floor((from - 0.6) / 0.4 * count)),
        { timeout: 500, force: true }).catch(() => {});
  }

  /** Many times back and forth, with and without waiting. */
  async storm() {
    await this.page.locator('#canvas').focus({ timeout: 300 }).catch(() => {});
    for (const keys of ['Control+z', 'Control+Shift+z', 'Control+z']) {
      const times = Math.floor(this.number() * 12), waits = this.number() < 0.3;
      for (let i = 0; i < times; ++i) await this.page.keyboard.press(keys);
      if (waits) await idle(this.page);
    }
  }

  async drop() { await dropFiles(this.page, this.pick(kFiles)); }

  async colour() {
    const share = this.number();
    const count = await this.page.locator('#colour-by option').count();
    await this.page.selectOption('#colour-by', { index: Math.floor(share * count) }, { timeout: 300 })
      .catch(() => {});
  }

  /** From the start page, as a visitor does; sometimes before the last one is there. */
  async another() {
    const recipe = this.number() < 0.5;
    const name = this.pick(recipe ? kRecipes : kMembers), waits = this.number() < 0.7;
    const visible = await this.page.isVisible('[data-cast=cat]');
    if (!visible) await this.page.click('[data-command=start]', { timeout: 2000 }).catch(() => {});
    const clicked = await this.page.click(`[data-${recipe ? 'recipe' : 'cast'}="${name}"]`,
      { timeout: 2000 }).then(() => true, () => false);
    if (clicked && waits) await shown(this.page);
  }

  async proposal() {
    const what = this.pick(['all', 'flesh', 'volume', 'wrinkles']);
    await this.page.evaluate((kind) => void window.studio.app.run('auto', kind), what);
  }

  async act() {
    const kinds = [[14, 'key'], [20, 'drag'], [4, 'wheel'], [5, 'timeline'], [14, 'button'],
      [30, 'parameter'], [5, 'layer'], [3, 'storm'], [2, 'colour'], [1.5, 'drop'], [0.8, 'another'],
      [0.3, 'proposal']];
    let left = this.number() * kinds.reduce((sum, [weight]) => sum + weight, 0);
    const [, kind] = kinds.find(([weight]) => (left -= weight) < 0) ?? kinds[0];
    ++this.actions;
    this.did = [...this.did.slice(-9), kind];
    await this[kind]();
    // A page without a scene, or behind a dialog, has little to touch.
    if (await this.page.isVisible('dialog[open]')) await this.page.keyboard.press('Escape');
    if (this.number() < 0.3 && await this.page.isVisible('[data-cast=cat]')) await this.another();
  }
}

/** What could grow, with one and the same scene open: the page's heap, the module's memory, elements,
 *  what is on the graphics card, workers. */
async function memory(page) {
  await page.keyboard.press('Escape');
  if (await page.isVisible('[data-command=start]')) await page.click('[data-command=start]');
  await openRecipe(page, 'cat_jump');
  await idle(page);
  // What is under way elsewhere, a proposal say, ends and closes its worker.
  await page.waitForFunction(() => document.getElementById('working').hidden);
  await page.evaluate(() => document.querySelectorAll('.message').forEach((box) => box.remove()));
  const workers = page.workers().length;
  return page.evaluate(async (count) => {
    for (let i = 0; i < 3; ++i) {
      globalThis.gc?.();
      await new Promise((done) => setTimeout(done, 100));
    }
    const { app } = window.studio;
    const { geometries, textures } = app.viewport.renderer.info.memory;
    return { heap: performance.memory?.usedJSHeapSize ?? 0,
      module: await app.document.scene.of('memoryBytes'),
      elements: document.querySelectorAll('*').length, geometries, textures, workers: count };
  }, workers);
}

test(`a monkey finds no error (seed ${seed}, ${seconds} s)`,
  { skip }, async () => {
    console.log(`monkey: DERM_MONKEY_SEED=${seed}`);
    const studio = await openStudio();
    const { page } = studio;
    const monkey = new Monkey(page);
    const bad = () => page.locator('.message.error').allTextContents().then((words) => words.filter(
      (each) => /Something went wrong|undefined|not a function|null|\[object|internal|started anew/.test(each)));
    try {
      const before = await memory(page);
      const half = Date.now() + seconds * 500, end = Date.now() + seconds * 1000;
      let middle = null;
      while (Date.now() < end) {
        if (middle === null && Date.now() > half) middle = await memory(page);
        await monkey.act();
        // Errors in words are fine (a fold of no length); errors of the program are not.
        const wrong = [...studio.complaints, ...await bad()];
        assert.deepEqual(wrong, [], `${monkey.actions} actions, the last: ${monkey.did}; ${wrong}`);
      }
      const last = await memory(page);
      console.log(`monkey: ${monkey.actions} actions, ${JSON.stringify(before)} → `
        + `${JSON.stringify(middle)} → ${JSON.stringify(last)}`);
      assert.deepEqual(studio.complaints, []);
      assert.ok(await inApp(page, (app) => app.document.name === 'cat_jump.toml'));
      assert.ok(last.module <= 1.3 * before.module, `module ${before.module} → ${last.module}`);
      assert.ok(last.workers <= before.workers + 1, `workers ${before.workers} → ${last.workers}`);
      assert.ok(last.geometries < 60 && last.textures < 40, JSON.stringify(last));
      if (middle) {
        // Code and caches come in the first minutes; what leaks goes on growing.
        assert.ok(last.heap < 1.1 * middle.heap + 4e6, `heap ${middle.heap} → ${last.heap}`);
        assert.ok(last.elements < 1.2 * middle.elements + 100,
          `elements ${middle.elements} → ${last.elements}`);
        assert.ok(last.geometries <= middle.geometries + 4 && last.textures <= middle.textures + 4,
          `${JSON.stringify(middle)} → ${JSON.stringify(last)}`);
      }
    } finally {
      await studio.close();
    }
  });
