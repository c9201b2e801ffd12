// Makes the manual's pictures of the studio: node tools/pictures.mjs. Needs out/studio.html, Chromium
// and ffmpeg.
import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashAt, idle, inApp, jointOnScreen, openCast, openRecipe, openStudio, root,
  skip } from '../test/harness.mjs';

if (skip) throw new Error(skip);
const folder = mkdtempSync(join(tmpdir(), 'derm-pictures-'));
const studio = await openStudio({ scale: 1 });
const { page } = studio;
const shot = async (name) => {
  const file = join(folder, `${name}.png`);
  await page.screenshot({ path: file });
  execFileSync('ffmpeg', ['-loglevel', 'error', '-y', '-i', file, '-c:v', 'libwebp', '-quality', '80',
    join(root, 'docs/pictures', `studio-${name}.webp`)]);
  console.log(name);
};
const run = async (...actions) => {
  await page.evaluate((list) => window.studio.run(list), actions);
  await idle(page);
};
/** So that the curves are whole. */
const playThrough = async () => {
  await page.evaluate(async () => {
    const { player, document } = window.studio.app;
    player.play(false);
    for (let t = document.recipe.start_s; t <= document.recipe.end_s; t += 1 / document.recipe.fps) {
      const arrived = new Promise((done) => { const stop = player.shown.add(() => { stop(); done(); }); });
      player.seek(t);
      await arrived;
    }
  });
};

await shot('start');
await openRecipe(page, 'cat_belly_and_folds');
await run({ command: 'play', argument: false }, { command: 'seek', argument: 0.1 }, { tool: 'fold' },
  { command: 'side' });
const knee = await jointOnScreen(page, await inApp(page, (app) =>
  app.document.character.joints.map((j) => j.name).find((n) => /shin|knee/i.test(n))));
await page.mouse.move(knee.x - 24, knee.y - 26);
await page.mouse.down();
await page.mouse.move(knee.x + 24, knee.y + 14, { steps: 8 });
await page.waitForTimeout(800);
await shot('fold');
await page.keyboard.press('Escape');
await page.mouse.up();
await page.click('[data-command=start]');
await page.waitForSelector('[data-recipe=cat_jump]');
await openRecipe(page, 'cat_jump');
await playThrough();
await run({ command: 'seek', argument: 1.5 }, { command: 'side' }, { command: 'split' });
await page.click('[data-plot=volume]');
await shot('split');
await run({ command: 'split' }, { command: 'colour', argument: 'displacement' });
await page.click('[data-plot=flesh]');
await shot('heat');
await run({ command: 'colour', argument: '' }, { command: 'seek', argument: 0 }, { command: 'strokes' },
  { command: 'side' }, { tool: 'shake' });
const grip = await jointOnScreen(page, 'spine_1');
await page.mouse.move(grip.x, grip.y);
await page.mouse.down();
for (let i = 0; i < 8; ++i) {
  await page.mouse.move(grip.x + (i % 2 ? 12 : -12), grip.y + (i % 2 ? 30 : -30), { steps: 3 });
  await page.waitForTimeout(90);
}
await shot('flesh');
await page.mouse.up();
await page.click('[data-command=start]');
await page.waitForSelector('[data-cast=woman]');
await openCast(page, 'woman');
await hashAt(page, 0);
await page.click('[aria-controls=panel-face]');
await page.evaluate(() => window.studio.second.show('cast:toon'));
await run({ tool: 'point' });
await page.click('[data-point="9.3"]');
await idle(page);
await shot('heads');

// It moves: a fold is drawn behind the knee, then the cat runs with it.
let frames = 0;
const frame = async (times = 1) => {
  for (let i = 0; i < times; ++i)
    await page.screenshot({ path: join(folder, `moving-${String(frames++).padStart(3, '0')}.png`) });
};
await page.click('[data-command=start]');
await page.waitForSelector('[data-recipe=cat_belly_and_folds]');
await openRecipe(page, 'cat_belly_and_folds');
await page.click('[aria-controls=panel-stack]');
await run({ command: 'play', argument: false }, { command: 'seek', argument: 0.1 }, { tool: 'fold' },
  { command: 'side' });
await page.mouse.move(knee.x - 24, knee.y - 26);
await page.mouse.down();
for (let i = 0; i <= 8; ++i) {
  await page.mouse.move(knee.x - 24 + 6 * i, knee.y - 26 + 5 * i);
  await page.waitForTimeout(200);
  await frame();
}
await page.mouse.up();
await idle(page);
await frame(3);
await page.click('[data-plot=flesh]');
await run({ tool: 'look' });
const { start_s, end_s } = await inApp(page, (app) => app.document.recipe);
for (let i = 0; i < 32; ++i) {
  await run({ command: 'seek', argument: start_s + ((end_s - start_s) * i) / 32 });
  await frame();
}
execFileSync('ffmpeg', ['-loglevel', 'error', '-y', '-framerate', '10', '-i', join(folder, 'moving-%03d.png'),
  '-vf', 'scale=960:-1', '-c:v', 'libwebp_anim', '-loop', '0', '-quality', '70',
  join(root, 'docs/pictures/studio-moving.webp')]);
console.log('moving');
await studio.close();
