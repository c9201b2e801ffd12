// The module's frames against those of the native program: every shipped recipe, every shared
// character with the layers that derm recommends. DERM_PROGRAM is the program.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { bytesOf, check, dataFolder, framesOfPc2, hasData, largestDifference, load, run }
  from './setup.mjs';

const kBound = 1e-6;  // of the diagonal
const kMostFrames = 40;

const program = process.env.DERM_PROGRAM;
if (!program || !existsSync(program)) {
  console.log('skipped: DERM_PROGRAM names no program');
  process.exit(77);
}
const { Derm } = await load('derm.mjs');
// Nothing here needs the second file.
const derm = await Derm.load({ rest: () => { throw new Error('derm.rest.wasm was asked for'); } });
const work = await mkdtemp(path.join(os.tmpdir(), 'derm-web-'));

/** The first frames, and what they need of the clip a moment later. (Those of a loop depend on how it
 *  ends: all of it is baked.) */
async function nativeFrames(recipe, { loop, start_s, end_s, fps }) {
  const file = path.join(work, 'recipe.toml'), out = path.join(work, 'out.pc2');
  await writeFile(file, recipe);
  const last_s = start_s + (kMostFrames - 1) / fps + 0.5;
  const range = loop || last_s >= end_s ? [] : ['--range', `${start_s}`, `${last_s}`];
  execFileSync(program, ['bake', file, ...range, '-o', out], { stdio: ['ignore', 'ignore', 'pipe'] });
  return framesOfPc2(await bytesOf(out));
}

async function compare(name, native_recipe, recipe, files = {}) {
  const scene = await derm.open(recipe, { files });
  const { start_s, end_s, fps, loop, frames } = scene.recipe;
  const native = await nativeFrames(native_recipe, { start_s, end_s, fps, loop });
  check(native.length >= Math.min(kMostFrames, frames), `${name}: ${native.length} of ${frames} frames`);
  let most = 0;
  native.slice(0, kMostFrames).forEach((frame, i) => {
    scene.seek(Math.min(start_s + i / fps, end_s));
    most = Math.max(most, largestDifference(frame, scene.positions));
  });
  const relative = most / scene.character.diagonal_m;
  console.log(`       ${name}: ${native.length} frames, ${relative.toExponential(1)} of the diagonal`);
  check(relative <= kBound, `${name}: ${relative} of the diagonal`);
  scene.close();
}

const tests = {};
for (const { name, text } of derm.recipes)
  tests[name] = async () => {
    // The native program paints some of the cast, which splits vertices along seams; so both sides
    // read what it made.
    const member = /^character = "cast:(.*)"/m.exec(text)[1];
    const file = `${member}.glb`, full = path.join(work, file);
    if (!existsSync(full))
      execFileSync(program, ['cast', member, '-o', full], { stdio: ['ignore', 'ignore', 'pipe'] });
    const recipe = text.replace(`cast:${member}`, file);
    await compare(name, recipe, recipe, { [file]: await readFile(full) });
  };
if (hasData)
  for (const file of ['CesiumMan.glb', 'Fox.glb', 'KayKit_Knight.glb', 'RiggedFigure.glb',
    'RiggedSimple.glb', 'SimpleSkin.gltf', 'AnimatedMorphCube.glb', 'InterpolationTest.glb',
    'SimpleMorph.gltf'])
    tests[file] = async () => {
      const full = path.join(dataFolder, 'gltf-characters', file);
      const recipe = (character) => `character = "${character}"
fps = 15
[skinning]
method = "centre"
[[layer]]
type = "volume"
`;
      await compare(file, recipe(full), recipe(file), { [file]: await readFile(full) });
    };

process.on('exit', () => { rm(work, { recursive: true, force: true }); });
await run(tests);
