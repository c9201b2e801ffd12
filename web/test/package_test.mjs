// The package as others get it: packed, installed into an empty folder, the README's lines run, its
// types checked; and as one self-contained page from file://.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

import { kPatience_ms, openBrowser } from './browser.mjs';
import { check, load, packageFolder, run } from './setup.mjs';

const kMostBytes = 3e6;  // of derm.wasm; docs/web.md says what its parts take
const tools = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../tools/node/node_modules');
const work = await mkdtemp(path.join(os.tmpdir(), 'derm-package-'));
const inWork = (program, ...args) =>
  execFileSync(program, args, { cwd: work, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

await run({
  async size() {
    const { size } = await stat(path.join(packageFolder, 'derm.wasm'));
    const rest = await stat(path.join(packageFolder, 'derm.rest.wasm'));
    console.log(`       derm.wasm ${(size / 1e6).toFixed(2)} MB, derm.rest.wasm ${(rest.size / 1e6).toFixed(2)} MB`);
    check(size <= kMostBytes, `derm.wasm has ${size} bytes`);
  },

  async installsAndRuns() {
    await writeFile(path.join(work, 'package.json'), '{"name": "fresh", "type": "module"}\n');
    const packed = JSON.parse(inWork('npm', 'pack', '--json', packageFolder))[0].filename;
    inWork('npm', 'install', '--offline', '--no-audit', '--no-fund', '--omit=peer', `./${packed}`);
    const readme = await readFile(path.join(packageFolder, 'README.md'), 'utf8');
    const lines = /## Without three\.js\s+```js\n([\s\S]*?)```/.exec(readme)[1];
    await writeFile(path.join(work, 'readme.mjs'), lines);
    const printed = inWork('node', 'readme.mjs');
    check(/^\d{4,} -?\d/.test(printed), `the README's lines print ${printed}`);
    await writeFile(path.join(work, 'single.mjs'),
      'import { Derm } from "derm/single"; console.log((await Derm.load()).version);\n');
    check(/^\d+\.\d+\.\d+\n$/.test(inWork('node', 'single.mjs')), 'derm/single does not load');
  },

  async types() {
    if (!existsSync(path.join(tools, 'typescript'))) { console.log('       no typescript here'); return; }
    for (const name of ['three', '@types/three']) {
      if (existsSync(path.join(work, 'node_modules', name))) continue;
      await mkdir(path.dirname(path.join(work, 'node_modules', name)), { recursive: true });
      await symlink(path.join(tools, name), path.join(work, 'node_modules', name));
    }
    await writeFile(path.join(work, 'use.ts'), `
import { Derm, DermError, type Scene } from 'derm';
import { LivingSkin, SurfaceMesh } from 'derm/three';
import { RemoteScene } from 'derm/worker';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';

export async function use(gltf: GLTF): Promise<number> {
  const derm = await Derm.load();
  const scene: Scene = await derm.open('character = "cast:cat"');
  const edit = scene.set('belly', 'frequency_hz', 3);
  const skin = await LivingSkin.from(gltf, { derm, recipe: '' });
  skin.update(1 / 60);
  const remote = await RemoteScene.open('', { wasm: derm.module });
  const frame = await remote.seek(0);
  const mesh = new SurfaceMesh(scene);
  mesh.show();
  // @ts-expect-error there is no such layer edit
  scene.paint();
  try { scene.seek(0); } catch (error) { if (error instanceof DermError) return error.line; }
  return edit.ms + frame.positions.length + derm.fields.layers[0]!.fields[0]!.key.length;
}
`);
    const flags = ['--noEmit', '--strict', '--module', 'esnext', '--moduleResolution', 'bundler',
      '--target', 'es2022', '--lib', 'es2022,dom', '--skipLibCheck', 'use.ts'];
    try {
      inWork('node', path.join(tools, 'typescript/bin/tsc'), ...flags);
    } catch (error) {
      check(false, `types: ${error.stdout}`);
    }
  },

  async oneFileFromDisk() {
    const single = path.join(packageFolder, '../bin/derm.single.js');
    if (!existsSync(single)) { console.log('       no derm.single.js here'); return; }
    const hashOf = `async (Derm) => {
      const start = performance.now();
      const derm = await Derm.load();
      const ready = performance.now() - start;
      const cat = await derm.open(derm.recipes.find((each) => each.name === 'cat_jump').text);
      let hash = 2166136261;
      for (let i = 0; i < 20; ++i) {
        cat.seek(i / 30);
        const bits = new Uint32Array(cat.positions.slice().buffer);
        for (const word of bits) hash = Math.imul(hash ^ word, 16777619) >>> 0;
      }
      cat.close();
      return { hash, ready };
    }`;
    const { Derm } = await load('single.mjs');
    const here = await eval(hashOf)(Derm);
    const text = (await readFile(single, 'utf8')).replaceAll('</script', '<\\/script');
    const file = path.join(work, 'page.html');
    await writeFile(file, `<!doctype html><meta charset="utf-8"><script>${text}</script>
<script>(${hashOf})(derm.Derm).then((result) => { window.result = result; });</script>`);
    const { page, problems, close } = await openBrowser();
    const requests = [];
    page.on('request', (request) => { if (/^https?:/.test(request.url())) requests.push(request.url()); });
    await page.goto(pathToFileURL(file).href);
    await page.waitForFunction(() => window.result, null, { timeout: kPatience_ms }).catch(() => {});
    const there = await page.evaluate(() => window.result);
    await close();
    check(there?.hash === here.hash, `Chromium ${there?.hash}, Node ${here.hash}: ${problems}`);
    check(requests.length === 0, `asks for ${requests}`);
    console.log(`       page of ${(text.length / 1e6).toFixed(2)} MB, ready ${there?.ready.toFixed(0)} ms after load, hash ${here.hash}`);
  },

  async cleanUp() { await rm(work, { recursive: true, force: true }); },
});
