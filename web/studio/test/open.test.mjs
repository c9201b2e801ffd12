import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import test from 'node:test';
import { hashAt, idle, inApp, openCast, openRecipe, openStudio, page_file, skip } from './harness.mjs';

test('the page is one file of at most 8 MB', { skip }, () => {
  assert.ok(statSync(page_file).size <= 8e6, `${statSync(page_file).size} bytes`);
});

test('opens from a file, shows the cast, plays the cat, asks for nothing', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    console.log(`ready after ${Math.round(studio.opened_ms)} ms`);
    assert.ok(await page.isVisible('.drop-zone'));
    await openCast(page, 'cat');
    const time = () => inApp(page, (app) => app.player.time_s);
    const before = await time();
    await page.waitForFunction((then) => window.studio.app.player.time_s !== then, before);
    await page.keyboard.press('Space');
    const paused = await time();
    await page.waitForTimeout(300);
    assert.equal(await time(), paused, 'space pauses');
    const away = studio.requests.filter((url) => !/^(file|blob|data):/.test(url));
    assert.deepEqual(away, [], 'no request leaves the page');
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});

test('scrubbing there and back gives the same bytes', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openRecipe(page, 'cat_jump');
    const first = await hashAt(page, 0.5);
    const other = await hashAt(page, 0.9);
    assert.notEqual(first, other);
    await hashAt(page, 0.1);
    // With the mouse on the track, to about the same place and elsewhere.
    const box = await page.locator('.track').boundingBox();
    await page.mouse.move(box.x + 10, box.y + 8);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.8, box.y + 8, { steps: 20 });
    await page.mouse.up();
    await idle(page);
    assert.equal(await hashAt(page, 0.5), first);
    assert.equal(await hashAt(page, 0.9), other);
  } finally {
    await studio.close();
  }
});

test('auto brings the plain cat to life, as one step of undo', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openCast(page, 'cat');
    const began = Date.now();
    await page.click('[data-command=auto]');
    await page.waitForSelector('.message.done');
    console.log(`auto: ${Date.now() - began} ms`);
    const types = await inApp(page, (app) => app.document.recipe.layers.map((l) => l.type));
    assert.ok(types.includes('flesh') && types.includes('volume'), types.join());
    await page.click('[data-command=undo]');
    await idle(page);
    assert.equal(await inApp(page, (app) => app.document.recipe.layers.length), 0);
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});
