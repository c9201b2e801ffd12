// A monkey at mouse and keys. DERM_MONKEY_SECONDS (10) and DERM_MONKEY_SEED (1; "clock" = another one
// every time) from outside.
import assert from 'node:assert/strict';
import test from 'node:test';
import { inApp, openRecipe, openStudio, skip } from './harness.mjs';

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

test(`a monkey finds no error (seed ${seed}, ${seconds} s)`,
  { skip }, async () => {
    console.log(`monkey: DERM_MONKEY_SEED=${seed}`);
    const random = randomFrom(seed);
    const pick = (list) => list[Math.floor(random() * list.length)];
    const studio = await openStudio();
    const { page } = studio;
    // Downloads and file choosers would leave the page.
    const keys = ['Space', 'v', 'w', 'e', 's', 'b', 'p', 'o', 'k', 'g', 'x', 'h', 'j', 'd', 'f', '1',
      '3', '7', 'l', ',', '.', 'Home', 'End', 'Escape', 'Control+z', 'Control+Shift+z', 'Tab',
      'ArrowLeft', 'ArrowRight', 'Enter'];
    /** What could grow: the page's heap, the module's memory, elements, what is on the graphics card. */
    const memory = () => page.evaluate(async () => {
      globalThis.gc?.();
      const { app } = window.studio;
      const { geometries, textures } = app.viewport.renderer.info.memory;
      return { heap: performance.memory?.usedJSHeapSize ?? 0,
        module: await app.document.scene.of('memoryBytes'),
        elements: document.querySelectorAll('*').length, geometries, textures };
    });
    try {
      await openRecipe(page, 'cat_jump');
      const half = Date.now() + seconds * 500, end = Date.now() + seconds * 1000;
      let actions = 0, middle = null;
      while (Date.now() < end) {
        if (middle === null && Date.now() > half) middle = await memory();
        const kind = random();
        const place = () => [60 + random() * 860, 90 + random() * 420];
        const [x, y] = place();
        if (kind < 0.3) {
          await page.keyboard.press(pick(keys));
        } else if (kind < 0.6) {
          const [u, v] = random() < 0.5 ? [x + (random() - 0.5) * 120, y + (random() - 0.5) * 120]
            : place();
          await page.mouse.move(x, y);
          await page.mouse.down({ button: pick(['left', 'left', 'left', 'right']) });
          await page.mouse.move(u, v, { steps: 4 });
          await page.mouse.up({ button: 'left' });
          await page.mouse.up({ button: 'right' });
        } else if (kind < 0.7) {
          await page.mouse.move(x, y);
          await page.mouse.wheel(0, (random() - 0.5) * 400);
        } else if (kind < 0.8) {
          await page.mouse.click(100 + random() * 800, 560 + random() * 40);  // the timeline
        } else {
          const buttons = page.locator('#view-bar button, #rail button, .tabs button, .layers button, '
            + '.layers input, .plot-tabs button, .fields input, .fields button, [data-command=undo], '
            + '[data-command=redo], [data-command=play]');
          const count = await buttons.count();
          if (count > 0) await buttons.nth(Math.floor(random() * count))
            .click({ timeout: 300, force: true }).catch(() => {});
        }
        ++actions;
      }
      await page.waitForTimeout(1000);
      const last = await memory();
      console.log(`monkey: ${actions} actions, ${JSON.stringify(middle)} → ${JSON.stringify(last)}`);
      assert.deepEqual(studio.complaints, []);
      // Errors in words are fine (a fold of no length); errors of the program are not.
      const words = await page.locator('.message.error').allTextContents();
      assert.ok(!words.some((text) => /Something went wrong|undefined|not a function/.test(text)),
        words.join('\n'));
      assert.ok(await inApp(page, (app) => app.document !== null));
      if (middle) {
        // Undo keeps two hundred states, and scenes differ; what leaks grows by more in minutes.
        assert.ok(last.heap < 1.2 * middle.heap + 10e6, `heap ${middle.heap} → ${last.heap}`);
        assert.ok(last.module < 1.5 * middle.module + 32e6, `module ${middle.module} → ${last.module}`);
        assert.ok(last.elements < 2 * middle.elements + 500, `elements ${middle.elements} → ${last.elements}`);
        assert.ok(last.geometries < 60 && last.textures < 40, JSON.stringify(last));
      }
    } finally {
      await studio.close();
    }
  });
