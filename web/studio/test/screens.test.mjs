// Every panel at two sizes, and what a program can tell about it: nothing is cut off, nothing lies over
// another, letters are not tiny, everything can be reached by keys. DERM_SCREENS names a folder to keep
// pictures in: else none are made, and little is drawn in the scene.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { dropFiles, hashAt, idle, inApp, jointOnScreen, openCast, openRecipe, openStudio,
  skip } from './harness.mjs';

const folder = process.env.DERM_SCREENS ?? '';
if (folder) mkdirSync(folder, { recursive: true });

/** Buttons and inputs that are cut off, or lie over each other. */
const faults = (page) => page.evaluate(() => {
  const found = [];
  const seen = [...document.querySelectorAll('button, select, input:not([hidden]), .time, .hint')]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.getClientRects().length > 0);
  const scrolls = (e) => e.closest('.fields, .layers, #start, .rail, textarea, dialog');
  const name = (e) => `${e.tagName} ${e.textContent?.trim().slice(0, 24) || e.getAttribute('aria-label')}`;
  const boxes = seen.filter((e) => !scrolls(e)).map((e) => [e, e.getBoundingClientRect()]);
  for (const [e, box] of boxes) {
    if (box.left < -1 || box.top < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1)
      found.push(`outside: ${name(e)}`);
    if (e.tagName === 'BUTTON' && e.scrollWidth > e.clientWidth + 1) found.push(`cut off: ${name(e)}`);
  }
  for (let i = 0; i < boxes.length; ++i)
    for (let k = i + 1; k < boxes.length; ++k) {
      const [a, p] = boxes[i], [b, q] = boxes[k];
      if (a.contains(b) || b.contains(a)) continue;
      const w = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const h = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (w > 2 && h > 2) found.push(`overlap: ${name(a)} / ${name(b)}`);
    }
  for (const label of document.querySelectorAll('.field-label'))
    if (label.scrollWidth > label.clientWidth + 1) found.push(`cut off: ${label.textContent}`);
  if (document.documentElement.scrollWidth > innerWidth) found.push('the page scrolls sideways');
  // Letters: of all elements that have some of their own.
  const least_px = innerWidth > 2200 ? 13.5 : 10.9;
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '')) continue;
    if (!e.checkVisibility({ visibilityProperty: true }) || e.getClientRects().length === 0) continue;
    const style = getComputedStyle(e);
    if (parseFloat(style.fontSize) < least_px) found.push(`tiny: ${name(e)} ${style.fontSize}`);
    const cut = style.overflowX === 'hidden' && e.scrollWidth > e.clientWidth + 1;
    if (cut && !e.title && style.textOverflow !== 'ellipsis') found.push(`cut off: ${name(e)}`);
  }
  return found;
});

for (const [width, height] of [[1280, 720], [2560, 1440]])
  test(`screens at ${width} × ${height}`, { skip }, async () => {
    const studio = await openStudio({ width, height, scale: 1, picture: folder ? 1 : 0.25 });
    const { page } = studio;
    const shot = async (name) => {
      if (folder) await page.screenshot({ path: join(folder, `${name}-${width}.png`) });
      else await idle(page);
      assert.deepEqual(await faults(page), [], name);
    };
    const command = async (...actions) => {
      await page.evaluate((list) => window.studio.run(list), actions);
      await idle(page);
    };
    try {
      await shot('start');
      await openRecipe(page, 'cat_jump');
      await page.waitForFunction(() => window.studio.plots.recorder.size > 20);
      await hashAt(page, 0.9);
      await shot('stack');
      await command({ command: 'split' }, { command: 'strokes' });
      await shot('split');
      await command({ command: 'split' }, { command: 'colour', argument: 'displacement' });
      await page.click('[data-plot=flesh]');
      await shot('heat');
      await command({ command: 'colour', argument: '' }, { command: 'strokes' }, { command: 'skeleton' },
        { command: 'xray' });
      await page.click('[aria-controls=panel-character]');
      await shot('skeleton');
      await command({ command: 'skeleton' }, { command: 'xray' });
      await page.click('[aria-controls=panel-recipe]');
      await shot('recipe');
      await page.click('[aria-controls=panel-stack]');
      await command({ command: 'side' }, { tool: 'fold' });
      const knee = await jointOnScreen(page, await inApp(page, (app) =>
        app.document.character.joints.map((j) => j.name).find((n) => /knee|shin|calf|hind/i.test(n))));
      await page.mouse.move(knee.x - 20, knee.y - 20);
      await page.mouse.down();
      await page.mouse.move(knee.x + 20, knee.y + 20, { steps: 8 });
      await page.waitForFunction(() => window.studio.app.viewport.overlay.children.some((each) =>
        each.isLineSegments && each.visible));
      await shot('fold');
      await page.mouse.up();
      await idle(page);
      for (const tool of ['flesh', 'shake', 'bend', 'brush', 'point']) {
        await command({ tool });
        await shot(`tool-${tool}`);
      }
      await command({ tool: 'look' }, { command: 'about' });
      await shot('about');
      await page.keyboard.press('Escape');
      await dropFiles(page, [{ name: 'broken.glb', bytes: Buffer.from('glTF, but no more') }]);
      await dropFiles(page, [{ name: 'other.toml', bytes: Buffer.from('character = "cast:cat"\n[[layer]]\n'
        + 'type = "flesh"\ndominant = "no_such_joint"\nends = ["nor_this"]\n') }]);
      await page.waitForFunction(() => document.querySelectorAll('.message.error').length === 2);
      await shot('error');
      await page.evaluate(() => document.querySelectorAll('.message').forEach((box) => box.remove()));
      await page.click('[data-command=start]');
      await page.waitForSelector('.drop-zone');
      await openCast(page, 'woman', { play: false });
      await idle(page);
      await page.click('[aria-controls=panel-face]');
      await command({ command: 'points' });
      await shot('face');
      await page.selectOption('[data-second]', 'cast:toon');
      await page.waitForFunction(() => window.studio.second.shown);
      await command({ tool: 'point' });
      await page.click('[data-point="9.3"]');
      await idle(page);
      await shot('heads');
      await command({ tool: 'look' }, { command: 'colour', argument: 'region:mouth' });
      await page.waitForFunction(() => window.studio.app.player.last.channel?.some((v) => v > 0.9));
      await idle(page);
      await shot('regions');
      await page.click('[data-command=start]');
      await openRecipe(page, 'wrinkle_maps');
      await hashAt(page, 1);
      await shot('maps');
      await page.selectOption('#colour-by', 'wrinkle maps');
      await page.waitForSelector('.legend-map');
      await idle(page);
      await shot('maps-colours');
      assert.deepEqual(studio.complaints, []);
    } finally {
      await studio.close();
    }
  });

test('keys alone reach every control', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await page.focus('[data-cast=cat]');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => window.studio.app.document !== null);
    await idle(page);
    const wanted = await page.evaluate(() => new Set([...document.querySelectorAll(
      '[data-command], [data-tool], [data-plot], .add, .track, #colour-by')]
      .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.disabled)).size);
    const reached = new Set();
    for (let i = 0; i < 160 && reached.size < wanted; ++i) {
      await page.keyboard.press('Tab');
      const name = await page.evaluate(() => {
        const e = document.activeElement;
        return e?.matches('[data-command], [data-tool], [data-plot], .add, .track, #colour-by')
          ? e.outerHTML.slice(0, 90) : '';
      });
      if (name !== '') reached.add(name);
    }
    assert.ok(reached.size >= wanted, `${reached.size} of ${wanted}`);
  } finally {
    await studio.close();
  }
});
