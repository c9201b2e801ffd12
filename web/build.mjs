// Puts the package together: node web/build.mjs BIN OUT
// BIN: folder with derm.js, derm.wasm and derm.rest.wasm, as the build leaves them; OUT: the folder `npm pack` is run in.
// Where esbuild is installed (tools/node), BIN/derm.single.js is made too: one classic script with
// everything inside, which gives the page `derm`, also from file://.
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = path.dirname(fileURLToPath(import.meta.url));
const [bin, out] = process.argv.slice(2).map((folder) => path.resolve(folder));

await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
for (const name of await readdir(path.join(here, 'js')))
  await copyFile(path.join(here, 'js', name), path.join(out, name));
for (const name of ['package.json', 'README.md', 'LICENCES.md'])
  await copyFile(path.join(here, name), path.join(out, name));
await copyFile(path.join(here, '..', 'LICENSE'), path.join(out, 'LICENSE'));
await copyFile(path.join(bin, 'derm.js'), path.join(out, 'glue.mjs'));
const texts = ['// derm.wasm and derm.rest.wasm, gzipped, as base64.'];
for (const [name, file] of [['first', 'derm.wasm'], ['rest', 'derm.rest.wasm']]) {
  await copyFile(path.join(bin, file), path.join(out, file));
  const packed = gzipSync(await readFile(path.join(bin, file)), { level: 9 }).toString('base64');
  texts.push(`export const ${name} = '${packed}';`);
}
await writeFile(path.join(out, 'wasm_text.mjs'), `${texts.join('\n')}\n`);

try {
  const { build } = await import(path.join(here, '../tools/node/node_modules/esbuild/lib/main.js'));
  await build({
    entryPoints: [path.join(out, 'single.mjs')], outfile: path.join(bin, 'derm.single.js'),
    bundle: true, minify: true, format: 'iife', globalName: 'derm', logLevel: 'error',
    define: { 'import.meta.url': '"file:///"' }, external: ['node:fs/promises'],
  });
} catch (error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
  console.error('no esbuild here: derm.single.js is not made');
}
