import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import test from 'node:test';
import { dropFiles, hashAt, idle, inApp, openCast, openRecipe, openStudio, page_file,
  skip } from './harness.mjs';

const bytes = (text) => Buffer.from(text);

test('broken files: a panel each, and the page lives', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openCast(page, 'cat');
    const before = await hashAt(page, 0.3);
    const errors = () => inApp(page, (app) => app.messages.errors);
    const broken = [
      { name: 'broken.glb', bytes: bytes('glTF\u0002\0\0\0 this is no model') },
      { name: 'cut.glb', bytes: bytes('glTF') },
      { name: 'empty.obj', bytes: bytes('') },
      { name: 'nan.obj', bytes: bytes('v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n') },
      { name: 'nothing.gltf', bytes: bytes('{"asset":{"version":"2.0"},"nodes":[{}],"scenes":[{"nodes":[0]}]}') },
      { name: 'odd.toml', bytes: bytes('character = "cast:cat"\nclip = "jumpp"\n') },
      { name: 'other.toml', bytes: bytes('character = "cast:cat"\n[[layer]]\ntype = "flesh"\n'
        + 'dominant = "no_such_joint"\nends = ["nor_this"]\n') },
      { name: 'missing.toml', bytes: bytes('character = "body.glb"\n') },
      { name: 'broken.bvh', bytes: bytes('HIERARCHY nonsense') },
      { name: 'broken.csv', bytes: bytes('a,b\n1,x\n') },
    ];
    for (const file of broken) {
      const count = await errors();
      await dropFiles(page, [file]);
      await page.waitForFunction((n) => window.studio.app.messages.errors > n, count);
      await idle(page);
      assert.ok(await page.isVisible('.message.error'), file.name);
      assert.ok(await inApp(page, (app) => app.document !== null), file.name);
    }
    assert.match(await page.textContent('#messages'), /csv|body\.glb|bvh/);
    assert.equal(await hashAt(page, 0.3), before, 'what was open plays on, to the bit');
    await dropFiles(page, [{ name: 'notes.txt', bytes: bytes('hello') }]);
    await page.waitForSelector('.message.warning');
    const { complaints } = studio;
    assert.deepEqual(complaints, []);
  } finally {
    await studio.close();
  }
});

test('a character without skin opens, and says so', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await dropFiles(page, [{ name: 'tetra.obj',
      bytes: bytes('v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n') }]);
    await page.waitForFunction(() => window.studio.app.document !== null);
    await idle(page);
    assert.equal(await inApp(page, (app) => app.document.character.has_skin), false);
    await page.click('[data-command=auto]');
    await page.waitForSelector('.message.error');
  } finally {
    await studio.close();
  }
});

test('a killed tab is recovered, its files and painted groups too', { skip }, async () => {
  const profile = mkdtempSync(join(tmpdir(), 'derm-profile-'));
  try {
    const first = await openStudio({ profile });
    await dropFiles(first.page, [
      { name: 'mine.toml', bytes: bytes('# mine\ncharacter = "sheet.obj"\nfps = 12\n') },
      { name: 'sheet.obj', bytes: sheet(8) }]);
    await first.page.waitForFunction(() => window.studio.app.document?.name === 'mine.toml');
    await inApp(first.page, async (app) => {
      await app.document.edit('slower', 'set', '', 'fps', 10);
      const strengths = new Float32Array(app.document.character.vertices).fill(0.5, 0, 40);
      await app.document.paintGroup('mine', strengths);
    });
    await idle(first.page);
    const text = await inApp(first.page, (app) => app.document.text);
    assert.match(text, /fps = 10/);
    await first.page.waitForFunction(() =>
      window.studio.app.kept?.snapshot.groups.has('mine'));  // the browser has it
    const crash = first.page.waitForEvent('crash');
    first.page.goto('chrome://crash').catch(() => {});
    await crash;
    await first.close();

    const second = await openStudio({ profile });
    await second.page.click('[data-recover]');
    await second.page.waitForFunction(() => window.studio.app.document !== null);
    await idle(second.page);
    assert.equal(await inApp(second.page, (app) => app.document.text), text);
    assert.ok(await inApp(second.page, (app) => app.document.character.groups.includes('mine')));
    assert.equal(await inApp(second.page, (app) => app.document.character.vertices), 81);
    await second.close();
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
});

test('a file of 500 MB: a panel that says so, and the page lives', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'derm-huge-'));
  const file = join(folder, 'huge.glb');
  writeFileSync(file, 'glTF');
  truncateSync(file, 500 * 1024 * 1024);  // sparse: takes no room
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openCast(page, 'arm');
    const before = await hashAt(page, 0.3);
    await page.setInputFiles('#chooser', file);
    await page.waitForSelector('.message.error');
    assert.match(await page.textContent('.message.error'), /huge\.glb has 524 MB/);
    assert.equal(await hashAt(page, 0.3), before);
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

/** A sheet of so many squares each way, as an OBJ. */
function sheet(count) {
  const lines = [];
  for (let y = 0; y <= count; ++y)
    for (let x = 0; x <= count; ++x) lines.push(`v ${x / count} ${y / count} ${Math.sin(9 * x / count)}`);
  const at = (x, y) => y * (count + 1) + x + 1;
  for (let y = 0; y < count; ++y)
    for (let x = 0; x < count; ++x)
      lines.push(`f ${at(x, y)} ${at(x + 1, y)} ${at(x + 1, y + 1)} ${at(x, y + 1)}`);
  return Buffer.from(`${lines.join('\n')}\n`);
}

test('out of memory in the module: a message, what was open plays on', { skip }, async () => {
  // Workers whose memory ends at 48 MB.
  const little = `{ const grow = WebAssembly.Memory.prototype.grow;
    WebAssembly.Memory.prototype.grow = function (pages) {
      if (this.buffer.byteLength + 65536 * pages > 48e6) throw new RangeError('no memory');
      return grow.call(this, pages); }; }`;
  const html = readFileSync(page_file, 'utf8').replace(
    '<script type="text/plain" id="derm-worker">', (start) => start + little);
  const folder = mkdtempSync(join(tmpdir(), 'derm-little-'));
  writeFileSync(join(folder, 'page.html'), html);
  const studio = await openStudio({ file: join(folder, 'page.html') });
  const { page } = studio;
  try {
    await openCast(page, 'arm');
    const before = await hashAt(page, 0.3);
    await dropFiles(page, [{ name: 'sheet.obj', bytes: sheet(600) }]);
    await page.waitForSelector('.message.error');
    assert.match(await page.textContent('.message.error'), /memory/);
    assert.equal(await hashAt(page, 0.3), before, 'what was open plays on');
    // Edits, too: those that show at once are made where the scene plays, others in a second worker.
    const edit = (...args) => inApp(page, (app, rest) => app.document.edit('edit', ...rest), args);
    // Along the whole upper side of the arm.
    const [from_vertex, to_vertex] = await inApp(page, (app) => {
      const p = app.viewport.body.positions;
      const all = Array.from({ length: p.length / 3 }, (_, v) => v);
      const heights = all.map((v) => p[3 * v + 1]);
      const [low, high] = [Math.min(...heights), Math.max(...heights)];
      const upper = all.filter((v) => heights[v] > low + 0.8 * (high - low))
        .sort((a, b) => p[3 * a] - p[3 * b]);
      return [upper[0], upper[upper.length - 1]];
    });
    const fold = { from_vertex, to_vertex, width_m: 10, points: 1025 };
    assert.ok(await edit('addLayer', 'wrinkles', { name: 'fold', keys: { ...fold, subdivide: 0 } }));
    const text = await inApp(page, (app) => app.document.text);
    const folded = await hashAt(page, 0.3);
    for (const args of [['set', 'fold', 'subdivide', 4],
      ['addLayer', 'wrinkles', { name: 'finer', keys: { ...fold, subdivide: 4 } }]]) {
      await page.evaluate(() => document.querySelectorAll('.message').forEach((box) => box.remove()));
      assert.equal(await edit(...args), false, args[0]);
      assert.match(await page.textContent('.message.error'), /memory/);
      assert.equal(await inApp(page, (app) => app.document.text), text);
      assert.equal(await hashAt(page, 0.3), folded, 'what was there before the edit plays on');
      assert.ok(await edit('set', 'fold', 'points', 9));
      assert.ok(await edit('enableLayer', 'fold', false));
      await inApp(page, (app) => app.document.undo());
      await inApp(page, (app) => app.document.undo());
      assert.equal(await hashAt(page, 0.3), folded);
    }
    await page.click('[data-command=start]');
    await openCast(page, 'cat');  // and others open
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('no WebGL 2: a word about it', { skip }, async () => {
  const studio = await openStudio({ more: ['--disable-3d-apis'], wait: false });
  try {
    await studio.page.waitForSelector('.refused');
    assert.match(await studio.page.textContent('.refused'), /WebGL 2/);
  } finally {
    await studio.close();
  }
});

test('a scene inside the page is opened at start; a script plays', { skip }, async () => {
  const recipe = 'character = "cast:cat"\nclip = "jump"\n';
  const html = readFileSync(page_file, 'utf8').replace(
    '<script type="application/json" id="scene"></script>',
    `<script type="application/json" id="scene">${JSON.stringify(
      { name: 'mine.toml', recipe, files: {} })}</script>`);
  const folder = mkdtempSync(join(tmpdir(), 'derm-embedded-'));
  writeFileSync(join(folder, 'page.html'), html);
  const script = encodeURIComponent(JSON.stringify([{ command: 'play', argument: false },
    { command: 'seek', argument: 0.25 }, { command: 'skeleton' }]));
  const studio = await openStudio({ file: join(folder, 'page.html'), query: `?script=${script}` });
  const { page } = studio;
  try {
    await idle(page);
    assert.equal(await inApp(page, (app) => app.document.text), recipe);
    await page.waitForFunction(() => window.studio.app.viewport.settings.skeleton);
    assert.equal(await inApp(page, (app) => app.player.time_s), 0.25);
  } finally {
    await studio.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

test('what a first visitor drops is answered in words, or opened', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  const text = (words) => Buffer.from(words);
  const answered = async (files, words) => {
    await page.evaluate(() => document.querySelectorAll('.message').forEach((box) => box.remove()));
    await dropFiles(page, files);
    await page.waitForSelector('.message');
    assert.match((await page.locator('.message').allTextContents()).join('\n'), words);
  };
  try {
    await answered([{ name: 'walk.bvh', bytes: text('HIERARCHY') }], /Open a character first/);
    await answered([{ name: 'empty.glb', bytes: text('') }], /empty\.glb is empty/);
    await answered([{ name: 'body.fbx', bytes: text('Kaydara') }], /derm studio body\.fbx/);
    await answered([{ name: 'notes.docx', bytes: text('PK') }], /Nothing here that the studio opens/);
    // A file by itself, then a recipe for it: what is open is what the recipe names.
    const sheet = 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n';
    await dropFiles(page, [{ name: 'sheet.obj', bytes: text(sheet) }]);
    await page.waitForFunction(() => window.studio.app.document?.name === 'sheet.toml');
    await dropFiles(page, [{ name: 'look.toml', bytes: text('character = "sheet.obj"\nfps = 12\n') }]);
    await page.waitForFunction(() => window.studio.app.document?.name === 'look.toml');
    // One with joints that it has not says which, and does not ask for files that are there.
    await answered([{ name: 'other.toml', bytes: text('character = "sheet.obj"\n[[layer]]\n'
      + 'type = "flesh"\ndominant = "hip"\nends = ["knee"]\n') }], /other\.toml:4:12/);
    assert.equal(await page.locator('.message', { hasText: 'waits for its files' }).count(), 0);
    // A folder, by a real drop; its files by themselves, which a .gltf names by paths.
    const folder = mkdtempSync(join(tmpdir(), 'derm-folder-'));
    const corners = Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer);
    mkdirSync(join(folder, 'parts'));
    writeFileSync(join(folder, 'parts', 'tri angle.bin'), corners);
    writeFileSync(join(folder, 'scene.gltf'), JSON.stringify({ asset: { version: '2.0' },
      buffers: [{ uri: 'parts/tri%20angle.bin', byteLength: corners.length }],
      bufferViews: [{ buffer: 0, byteLength: corners.length }],
      accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 0] }],
      meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }], nodes: [{ mesh: 0 }], scenes: [{ nodes: [0] }] }));
    const devices = await studio.context.newCDPSession(page);
    await page.evaluate(() => document.querySelectorAll('.message').forEach((box) => box.remove()));
    for (const type of ['dragEnter', 'dragOver', 'drop'])
      await devices.send('Input.dispatchDragEvent', { type, x: 400, y: 300,
        data: { items: [], files: [folder], dragOperationsMask: 1 } });
    await page.waitForSelector('.message.error');  // browsers hide folders from pages that are files
    assert.match(await page.textContent('.message.error'), /drop the files in it/);
    await dropFiles(page, [join('parts', 'tri angle.bin'), 'scene.gltf'].map((name) =>
      ({ name: basename(name), bytes: readFileSync(join(folder, name)) })));
    await page.waitForFunction(() => window.studio.app.document?.name === 'scene.toml');
    rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});
