// The page's own thread while a body of 13 k vertices binds. The body is made by the test: a file of
// the shared data where it is there, else the cast's.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import test from 'node:test';
import { dropFiles, idle, inApp, openCast, openStudio, shown, skip } from './harness.mjs';

const body = process.env.DERM_BODY ?? '';

/** Nobody else wants the processors: a loop is never held up. What waits for one counts as a long
 *  task, too, so a busy machine tells nothing. */
function quiet() {
  if (loadavg()[0] > cpus().length / 2) return false;
  let last = performance.now(), longest = 0;
  for (const end = last + 1000; last < end;) {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }
  return longest < 3;
}

test('edits are there within a second, no task takes over 50 ms, and the animation runs on', { skip },
  async (t) => {
    const judged = quiet();
    const studio = await openStudio({ picture: 0.5 });
    const { page } = studio;
    try {
      if (existsSync(body)) {
        await dropFiles(page, [{ name: 'body.glb', bytes: readFileSync(body) }]);
        await shown(page);
      } else {
        await openCast(page, 'man');
      }
      await page.waitForTimeout(2000);
      await page.evaluate(() => {
        window.tasks = [];
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries()) window.tasks.push(Math.round(entry.duration));
        }).observe({ type: 'longtask' });
        window.frames = 0;
        window.studio.app.player.shown.add(() => { window.frames += 1; });
      });
      // As the mouse comes to the panels; then edits that bind, and one that need not.
      await inApp(page, (app) => app.document.scene.prepare());
      const times = {};
      const edit = async (what, ...args) => {
        const began = Date.now();
        assert.ok(await inApp(page, (app, rest) => app.document.edit('edit', ...rest), args), what);
        times[what] = Date.now() - began;
      };
      await edit('volume', 'addLayer', 'volume', {});
      await edit('contact', 'addLayer', 'contact', { index: 0 });
      await edit('centre skinning', 'set', '', 'skinning.method', 'centre');
      await edit('a number of the volume layer', 'set', 'volume', 'beta', 0.5);
      await edit('a fold', 'addLayer', 'wrinkles',
        { name: 'fold', keys: { from_vertex: 10, to_vertex: 60, width_m: 0.05 } });
      await edit('its width', 'set', 'fold', 'width_m', 0.06);
      const { tasks, frames } = await page.evaluate(() => ({ tasks: window.tasks, frames: window.frames }));
      await idle(page);
      const vertices = await inApp(page, (app) => app.document.character.vertices);
      console.log(`${vertices} vertices: ${Object.entries(times).map(([what, ms]) => `${what} ${ms} ms`).join(', ')}; `
        + `${frames} frames meanwhile, long tasks [${tasks}] ms`);
      assert.ok(frames > 0, 'frames go on');
      if (!judged || !quiet()) {
        t.diagnostic('busy machine: times are not judged');
      } else {
        assert.deepEqual(tasks.filter((duration) => duration > 50), []);
        assert.deepEqual(Object.entries(times).filter(([, ms]) => ms > 1000), []);
      }
    } finally {
      await studio.close();
    }
  });
