// Every example is opened: it plays, moves, and nothing is said on the console.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { openBrowser } from './browser.mjs';
import { check, run } from './setup.mjs';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../examples');
const { page, address, problems, close } = await openBrowser();
const tests = {};
for (const name of (await readdir(folder)).filter((file) => file.endsWith('.html')))
  tests[name] = async () => {
    check((await readFile(path.join(folder, name), 'utf8')).split('\n').length <= 51, `${name}: long`);
    await page.goto(`${address}/examples/${name}`);
    const played = await page.waitForFunction(() => Number(document.body.dataset.frames) > 5, null,
      { timeout: 120000 }).then(() => true, () => false);
    check(played, `${name} does not play: ${problems}`);
    const first = await page.screenshot();
    await page.waitForTimeout(600);
    const later = await page.screenshot(
      process.env.DERM_PICTURES ? { path: path.join(process.env.DERM_PICTURES, `${name}.png`) } : {});
    check(!first.equals(later), `${name}: nothing moves`);
    check(problems.length === 0, `${name}: ${problems}`);
    problems.length = 0;
  };
const exit = process.exit;
process.exit = (code) => { close().then(() => exit(code)); };
await run(tests);
