// What is seldom used: baking, filming, presets, bending by the gizmo, motions that are dropped.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { drag, dropFiles, hashAt, idle, inApp, jointOnScreen, openCast, openRecipe, openStudio,
  skip } from './harness.mjs';

test('a preset is one step of undo, and own values can be kept as one', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openRecipe(page, 'cat_jump');
    await page.click('[data-layer=belly] .layer-name');
    const text = await inApp(page, (app) => app.document.text);
    await page.selectOption('[aria-label=Presets]', { label: 'jelly' });
    await page.waitForFunction(() =>
      window.studio.app.document.layer('belly').keys.softness === 'jelly');
    await idle(page);
    await page.click('.presets button');  // Keep
    await page.waitForFunction(() => [...document.querySelectorAll('[aria-label=Presets] option')]
      .some((option) => option.textContent === 'belly' && option.value !== '2'));
    await page.locator('#canvas').focus();
    await page.keyboard.press('Control+z');
    await idle(page);
    assert.equal(await inApp(page, (app) => app.document.text), text);
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});

test('a film of the clip, and a bake that opens again with corrective shapes', { skip }, async () => {
  const studio = await openStudio({ picture: 0.5 });
  const { page } = studio;
  const download = async (command) => {
    const [file] = await Promise.all([page.waitForEvent('download'),
      page.click(`[data-command=${command}]`)]);
    return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
  };
  try {
    await openRecipe(page, 'arm_twist');
    const film = await download('film');
    assert.match(film.name, /^arm_twist\.(mp4|webm)$/);
    assert.ok(film.bytes.length > 2000, `${film.bytes.length} bytes`);
    const baked = await download('bake');
    assert.equal(baked.name, 'arm_twist_alive.glb');
    assert.equal(baked.bytes.toString('latin1', 0, 4), 'glTF');
    const picture = await download('picture');
    assert.equal(picture.bytes.toString('latin1', 1, 4), 'PNG');
    await dropFiles(page, [baked]);
    await page.waitForFunction(() => window.studio.app.document.name === 'arm_twist_alive.toml');
    assert.ok(await inApp(page, (app) => app.document.character.morphs.length) > 0);
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});

test('a joint is bent by the rings of the gizmo', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openCast(page, 'arm');
    await hashAt(page, 0);
    await page.keyboard.press('1');
    await page.keyboard.press('b');
    await idle(page);
    const joint = await jointOnScreen(page, 'forearm');
    await page.mouse.click(joint.x, joint.y);
    await page.waitForFunction(() => window.studio.app.player.live !== null);
    await idle(page);
    const pose = () => inApp(page, (app) => Array.from(app.player.live?.pose ?? []));
    const before = await pose();
    let bent = false;
    // Somewhere about the joint there is a ring.
    for (let radius = 30; radius <= 110 && !bent; radius += 10)
      for (const [u, v] of [[0, -1], [1, 0], [0.7, -0.7]]) {
        const from = { x: joint.x + radius * u, y: joint.y + radius * v };
        await page.mouse.move(from.x, from.y);
        await drag(page, from, { x: from.x - 40 * v + 12, y: from.y + 40 * u + 12 }, 6);
        const after = await pose();
        bent = after.length === before.length && after.some((value, i) => Math.abs(value - before[i]) > 0.02);
        if (bent) break;
      }
    assert.ok(bent, 'no ring was met');
    await page.keyboard.press('Space');
    await page.waitForFunction(() => window.studio.app.player.live === null);
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});

const kBvh = `HIERARCHY
ROOT upper_arm { OFFSET 0 0 0 CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT forearm { OFFSET 0.3 0 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT hand { OFFSET 0.25 0 0 CHANNELS 3 Zrotation Xrotation Yrotation
      End Site { OFFSET 0.1 0 0 } } } }
MOTION
Frames: 3
Frame Time: 0.1
0 0 0 0 0 0 0 0 0 0 0 0
0 0 0 0 0 0 0 40 0 0 0 0
0 0 0 0 0 0 0 80 0 0 0 0
`;

test('a BVH that is dropped moves the character, one of ARKit a face', { skip }, async () => {
  const studio = await openStudio();
  const { page } = studio;
  try {
    await openCast(page, 'arm');
    await dropFiles(page, [{ name: 'bend.bvh', bytes: Buffer.from(kBvh) }]);
    await page.waitForFunction(() => window.studio.app.document.text.includes('bend.bvh'));
    await idle(page);
    assert.equal(await page.locator('.message.error').count(), 0, 'the clip played meanwhile');
    assert.notEqual(await hashAt(page, 0.2), await hashAt(page, 0));
    await page.click('[data-command=undo]');
    await idle(page);
    assert.ok(!await inApp(page, (app) => app.document.text.includes('bend.bvh')));

    await page.click('[data-command=start]');
    await openCast(page, 'woman', { play: false });
    await dropFiles(page, [{ name: 'talk.csv',
      bytes: Buffer.from('time,jawOpen,mouthSmileLeft\n0,0,0\n0.5,1,0.5\n1,0,0\n') }]);
    await page.waitForFunction(() => window.studio.app.document.text.includes('talk.csv'));
    await idle(page);
    assert.notEqual(await hashAt(page, 0.5), await hashAt(page, 0));
    assert.deepEqual(studio.complaints, []);
  } finally {
    await studio.close();
  }
});
