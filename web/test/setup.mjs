// What the tests share: the package as web/build.mjs leaves it, and checks that say what they found.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

export const packageFolder = path.resolve(process.env.DERM_PACKAGE ?? 'build/web/package');
export const dataFolder = path.resolve(process.env.DERM_DATA ?? '../shared/data');
export const hasData = existsSync(dataFolder);

export const load = (name) => import(pathToFileURL(path.join(packageFolder, name)).href);

let failures = 0;
export function check(holds, what) {
  if (holds) return;
  ++failures;
  console.log(`FAILED: ${what}`);
}

/** Runs the tests of a file, each {name: function}; the process ends with 1 where one failed. */
export async function run(tests) {
  const wanted = process.argv[2];
  for (const [name, test] of Object.entries(tests)) {
    if (wanted && !name.includes(wanted)) continue;
    const before = failures;
    const start = performance.now();
    try {
      await test();
    } catch (error) {
      check(false, `${name}: ${error.stack}`);
    }
    console.log(`${failures === before ? 'ok    ' : 'FAILED'} ${name} (${Math.round(performance.now() - start)} ms)`);
  }
  process.exit(failures > 0 ? 1 : 0);
}

export const bytesOf = async (file) => new Uint8Array(await readFile(file));

/** The largest difference of two lists of numbers; infinite where they do not compare. */
export function largestDifference(a, b) {
  if (a.length !== b.length) return Infinity;
  let most = 0;
  for (let i = 0; i < a.length; ++i) {
    const d = Math.abs(a[i] - b[i]);
    if (!(d <= most)) most = d;
  }
  return most;
}

/** Frames of a PC2 file: an array of positions each. */
export function framesOfPc2(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const points = view.getInt32(16, true), frames = view.getInt32(28, true);
  return Array.from({ length: frames }, (_, f) =>
    new Float32Array(bytes.slice(32 + 12 * points * f, 32 + 12 * points * (f + 1)).buffer));
}
