import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { drag, hashAt, idle, inApp, jointOnScreen, kPatience_ms, openCast, openRecipe, openStudio,
  root, skip } from './harness.mjs';

const derm = process.env.DERM ?? join(root, 'build/dev/bin/derm');

test('a fold drawn across the knee is in the saved recipe, shows natively, and undo removes it',
  { skip }, async (t) => {
    const studio = await openStudio();
    const { page } = studio;
    try {
      await openCast(page, 'cat');
      await hashAt(page, 0.4);
      await page.keyboard.press('3');
      await page.keyboard.press('w');
      await idle(page);
      const knee = await kneeOf(page);
      const plain = await inApp(page, (app) => app.document.text);
      const from = { x: knee.x - 22, y: knee.y - 14 }, to = { x: knee.x + 22, y: knee.y + 14 };
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(to.x, to.y, { steps: 10 });
      const width = await inApp(page, () => window.studio.tools.current.width_m);
      await page.mouse.wheel(0, -100);
      await page.waitForFunction((before) => window.studio.tools.current.width_m > before, width);
      await page.mouse.up();
      await page.waitForFunction(() =>
        window.studio.app.document.recipe.layers.some((layer) => layer.type === 'wrinkles'));
      await idle(page);
      const [download] = await Promise.all([page.waitForEvent('download'),
        page.keyboard.press('Control+s')]);
      const folder = mkdtempSync(join(tmpdir(), 'derm-fold-'));
      const recipe = join(folder, 'drawn.toml');
      await download.saveAs(recipe);
      const text = readFileSync(recipe, 'utf8');
      assert.match(text, /type = "wrinkles"/);
      assert.match(text, /from_vertex = \d+/);
      assert.equal(text, await inApp(page, (app) => app.document.text));
      if (existsSync(derm)) {
        const bare = join(folder, 'plain.toml');
        writeFileSync(bare, plain);
        const picture = (file, out) => {
          execFileSync(derm, ['render', file, '--time', '0.4', '-o', out, '--size', '400x300']);
          return readFileSync(out);
        };
        assert.ok(!picture(recipe, join(folder, 'drawn.png')).equals(
          picture(bare, join(folder, 'plain.png'))), 'the native picture shows the fold');
      } else {
        t.diagnostic(`no native program at ${derm}`);
      }
      await page.keyboard.press('Control+z');
      await idle(page);
      assert.equal(await inApp(page, (app) => app.document.text), plain);
      await page.keyboard.press('Control+Shift+z');
      await idle(page);
      assert.equal(await inApp(page, (app) => app.document.text), text);
      assert.deepEqual(studio.complaints, []);
    } finally {
      await studio.close();
    }
  });

/** A hind leg's middle joint that is on the skin's side of the picture. */
async function kneeOf(page) {
  const name = await inApp(page, (app) => {
    const names = app.document.character.joints.map((joint) => joint.name);
    return names.find((each) => /knee/i.test(each)) ?? names.find((each) => /hind.*(mid|lower|shin|calf)/i.test(each))
      ?? names.find((each) => /shin|calf/i.test(each));
  });
  return jointOnScreen(page, name);
}

test('two clicks on joints make flesh; shaking a joint moves it', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openCast(page, 'cat');
    await hashAt(page, 0);
    await page.keyboard.press('3');
    await page.keyboard.press('e');
    await idle(page);
    const [a, b] = [await jointOnScreen(page, 'spine_1'), await jointOnScreen(page, 'spine_5')];
    await page.mouse.click(a.x, a.y);
    await page.mouse.click(b.x, b.y);
    await page.waitForFunction(() =>
      window.studio.app.document.recipe.layers.some((layer) => layer.type === 'flesh'));
    await idle(page);
    const keys = await inApp(page, (app) => app.document.recipe.layers[0].keys);
    assert.equal(keys.dominant, 'spine_1');
    assert.deepEqual(keys.ends, ['spine_5']);
    await page.keyboard.press('h');  // lines
    await page.keyboard.press('s');  // shake
    await idle(page);
    const grip = await jointOnScreen(page, 'spine_1');
    await page.mouse.move(grip.x, grip.y);
    await page.mouse.down();
    let lines = 0;
    for (const end = Date.now() + kPatience_ms / 3; lines <= 50 && Date.now() < end;)
      for (const side of [-1, 1]) {
        await page.mouse.move(grip.x + side * 40, grip.y + side * 25, { steps: 3 });
        await page.waitForTimeout(60);
        lines = Math.max(lines, await inApp(page, (app) => app.viewport.strokeCount));
      }
    await page.mouse.up();
    assert.ok(lines > 50, `${lines} lines`);
    await page.keyboard.press('Space');
    await page.waitForFunction(() => window.studio.app.player.live === null);  // the clip goes on
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});

test('a slider shows at once, and is one step of undo', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openRecipe(page, 'cat_jump');
    await hashAt(page, 0.8);
    await page.click('[data-layer=belly] .layer-name');
    const text = await inApp(page, (app) => app.document.text);
    const before = await hashAt(page, 0.8);
    const slider = page.locator('.field[data-key=frequency_hz] input[type=range]');
    const box = await slider.boundingBox();
    await drag(page, { x: box.x + box.width * 0.5, y: box.y + box.height / 2 },
      { x: box.x + box.width * 0.2, y: box.y + box.height / 2 }, 15);
    await idle(page);
    assert.notEqual(await hashAt(page, 0.8), before);
    assert.notEqual(await inApp(page, (app) => app.document.text), text);
    await page.locator('#canvas').focus();
    await page.keyboard.press('Control+z');
    await idle(page);
    assert.equal(await inApp(page, (app) => app.document.text), text, 'one step for the stroke');
    assert.equal(await hashAt(page, 0.8), before);
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});

test('layers: off and on, later and earlier, rename, remove, add', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openRecipe(page, 'cat_jump');
    const layers = () => inApp(page, (app) =>
      app.document.recipe.layers.map((l) => `${l.name}${l.enabled ? '' : '-'}`).join());
    const start = await layers();
    const text = await inApp(page, (app) => app.document.text);
    await page.click('[data-layer=belly] input[type=checkbox]');
    await idle(page);
    assert.match(await layers(), /belly-/);
    await page.click('[aria-label="belly: later"]');
    await idle(page);
    assert.equal(await layers(), 'volume,belly-');
    await page.dblclick('[data-layer=belly] .layer-name');
    await page.keyboard.type('paunch');
    await page.keyboard.press('Enter');
    await idle(page);
    assert.equal(await layers(), 'volume,paunch-');
    await page.click('[aria-label="volume: remove"]');
    await idle(page);
    assert.equal(await layers(), 'paunch-');
    await page.selectOption('.add', 'volume');
    await idle(page);
    assert.equal(await layers(), 'paunch-,volume');
    await page.locator('#canvas').focus();
    for (let i = 0; i < 5; ++i) await page.keyboard.press('Control+z');
    await idle(page);
    assert.equal(await layers(), start);
    assert.equal(await inApp(page, (app) => app.document.text), text, 'comments and order are kept');
  } finally {
    await studio.close();
  }
});

test('painting a group, mirrored, is one step of undo', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openCast(page, 'cat');
    await hashAt(page, 0);
    await page.keyboard.press('3');
    await page.keyboard.press('p');
    await idle(page);
    const at = await jointOnScreen(page, 'spine_3');
    await drag(page, { x: at.x - 20, y: at.y }, { x: at.x + 20, y: at.y }, 8);
    await page.waitForFunction(() => window.studio.app.document.character.groups.includes('painted'));
    await idle(page);
    const sides = await page.evaluate(async () => {
      const { app } = window.studio;
      const strengths = await app.document.scene.ask('channel', 'group:painted');
      await app.document.scene.ask('sample', -1, 0);
      const { positions } = await app.document.scene.frame({ reset: true });
      let left = 0, right = 0;
      strengths.forEach((s, v) => { if (s > 0) positions[3 * v] > 0 ? ++left : ++right; });
      return [left, right];
    });
    assert.ok(sides[0] > 0 && sides[1] > 0, sides.join());
    await page.locator('#canvas').focus();
    await page.keyboard.press('Control+z');
    await idle(page);
    assert.ok(!await inApp(page, (app) => app.document.character.groups.includes('painted')));
    // The brush looks at the shape at rest: also right after folds have brought other triangles.
    await inApp(page, async (app) => {
      window.studio.tools.use('look');
      await app.openCast('arm');
      await app.document.edit('fold', 'addLayer', 'wrinkles',
        { keys: { from_vertex: 10, to_vertex: 60, width_m: 0.05 } });
      window.studio.tools.use('brush');
    });
    await idle(page);
    const drawn = await inApp(page, (app) => [app.viewport.body.positions.length,
      app.viewport.body.after.geometry.getAttribute('position').array.length]);
    assert.equal(drawn[0], drawn[1]);
    assert.equal(await page.locator('.message.error').count(), 0);
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});
