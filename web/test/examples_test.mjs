// Every example is opened: it plays, moves, and nothing is said on the console.
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { kPatience_ms, openBrowser } from './browser.mjs';
import { check, run } from './setup.mjs';

const folder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../examples');
const { page, address, problems, close } = await openBrowser();
const tests = {};
for (const name of (await readdir(folder)).filter((file) => file.endsWith('.html')))
  tests[name] = async () => {
    check((await readFile(path.join(folder, name), 'utf8')).split('\n').length <= 51, `${name}: long`);
    await page.goto(`${address}/examples/${name}`);
    const reached = (count) => page.waitForFunction((frames) =>
      Number(document.body.dataset.frames) > frames, count).then(() => true, () => false);
    check(await reached(5), `${name} does not play: ${problems}`);
    const first = await page.screenshot();
    const options =
      process.env.DERM_PICTURES ? { path: path.join(process.env.DERM_PICTURES, `${name}.png`) } : {};
    let moves = false;
    for (const end = Date.now() + kPatience_ms; !moves && Date.now() < end;) {
      await page.waitForTimeout(100);
      moves = !first.equals(await page.screenshot(options));
    }
    check(moves, `${name}: nothing moves`);
    check(problems.length === 0, `${name}: ${problems}`);
    problems.length = 0;
  };
const exit = process.exit;
process.exit = (code) => { close().then(() => exit(code)); };
await run(tests);
