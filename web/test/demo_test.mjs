// The page of `derm demo`, made where the module was built: it plays the recipe live, from a file,
// and its layers can be switched off and on. DERM_PROGRAM is the program.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { openBrowser } from './browser.mjs';
import { check, packageFolder, run } from './setup.mjs';

const program = process.env.DERM_PROGRAM;
const single = path.join(packageFolder, '../bin/derm.single.js');
const three = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../tools/node/node_modules/three');
for (const [what, file] of [['program', program], ['derm.single.js', single], ['three.js', three]])
  if (!file || !existsSync(file)) {
    console.log(`skipped: no ${what} here`);
    process.exit(77);
  }

await run({
  async playsLive() {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'derm-demo-'));
    execFileSync(program, ['demo', '-o', folder, '--web', single, '--three', three],
      { stdio: ['ignore', 'ignore', 'pipe'] });
    const { page, problems, close } = await openBrowser();
    try {
      await page.goto(pathToFileURL(path.join(folder, 'index.html')).href);
      await page.waitForFunction(() => document.body.dataset.shown);
      check(await page.evaluate(() => document.body.dataset.shown) === 'live', 'it does not play live');
      const boxes = await page.locator('#panel input[type=checkbox]').all();
      check(boxes.length >= 2, `${boxes.length} layers`);
      for (const box of boxes) await box.uncheck();
      const time = () => page.evaluate(() =>
        Number(document.querySelectorAll('#panel input[type=range]')[1].value));
      const before = await time();
      await page.waitForFunction((then) =>
        Number(document.querySelectorAll('#panel input[type=range]')[1].value) !== then, before);
      for (const box of boxes) await box.check();
      check(problems.length === 0, `${problems}`);
    } finally {
      await close();
      await rm(folder, { recursive: true, force: true });
    }
  },
});
