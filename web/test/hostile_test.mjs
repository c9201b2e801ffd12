// Files that are wrong in every way: an error object each, and the module lives and gives the same
// frames afterwards.
import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { bytesOf, check, dataFolder, hasData, load, run } from './setup.mjs';

if (!hasData) {
  console.log('skipped: no shared data here');
  process.exit(77);
}
const { Derm, DermError } = await load('derm.mjs');
// What opens files is in the first file, whatever they hold.
const derm = await Derm.load({ rest: () => { throw new Error('derm.rest.wasm was asked for'); } });
const kCatGlb = (await (await Derm.load()).openCharacter('cast:cat')).characterGlb();

async function filesBelow(folder) {
  const out = [];
  for (const name of await readdir(folder)) {
    const full = path.join(folder, name);
    if ((await stat(full)).isDirectory()) out.push(...await filesBelow(full));
    else out.push(full);
  }
  return out;
}

/** Opens every file; those beside it can be found. Returns how many opened. */
async function openAll(folder, endings) {
  let opened = 0, refused = 0;
  for (const file of await filesBelow(folder)) {
    if (!endings.some((ending) => file.endsWith(ending))) continue;
    const files = { [path.basename(file)]: await bytesOf(file) };
    for (const beside of await filesBelow(path.dirname(file)))
      if (/\.(bin|png|jpg|mtl)$/.test(beside))
        files[path.relative(path.dirname(file), beside)] = await bytesOf(beside);
    try {
      const scene = await derm.openCharacter(path.basename(file), { files });
      scene.seek(0.1);
      check(scene.positions === null || scene.positions.every(Number.isFinite), `${file}: NaN`);
      scene.close();
      ++opened;
    } catch (error) {
      check(error instanceof DermError && error.message.length > 0, `${file}: ${error.stack}`);
      check(error.code !== 'internal' && error.code !== 'out_of_memory', `${file}: ${error.code}`);
      ++refused;
    }
  }
  console.log(`       ${refused} refused, ${opened} opened`);
  return refused;
}

const cat = await derm.openCharacter('cat.glb', { files: { 'cat.glb': kCatGlb } });
cat.seek(0.5);
const before = cat.positions.slice();
const stillWell = () => {
  cat.seek(0);
  cat.seek(0.5);
  check(before.every((v, i) => v === cat.positions[i]), 'other frames afterwards');
};

await run({
  async invalidGltf() {
    check(await openAll(path.join(dataFolder, 'invalid-gltf'), ['.gltf', '.glb']) > 20, 'few refused');
    stillWell();
  },
  async oddObj() {
    await openAll(path.join(dataFolder, 'odd-obj'), ['.obj', '.ply']);
    stillWell();
  },
  async cutAndChangedGlbs() {
    const glb = kCatGlb;
    let seed = 1;
    const random = () => { seed = (seed * 48271) % 2147483647; return seed / 2147483647; };
    for (let i = 0; i < 60; ++i) {
      const broken = i % 2 ? glb.slice(0, Math.floor(random() * glb.length)) : glb.slice();
      for (let k = 0; k < 20; ++k) broken[Math.floor(random() * Math.min(broken.length, 4000))] ^= 1 << (k % 8);
      try {
        (await derm.openCharacter('x.glb', { files: { 'x.glb': broken } })).close();
      } catch (error) {
        check(error instanceof DermError && error.code !== 'internal', `${i}: ${error.stack}`);
      }
    }
    stillWell();
  },
});
