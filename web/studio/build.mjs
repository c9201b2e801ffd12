// Bundles the studio into one page: node build.mjs [MODULE_FOLDER] [OUT]. The module is the web
// build's derm.js, derm.wasm and derm.rest.wasm; the page opens by a double click and asks for nothing.
import { readFileSync, writeFileSync, mkdirSync, existsSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const module = resolve(process.argv[2] ?? join(here, '../../build/web/bin'));
const out = resolve(process.argv[3] ?? join(here, '../../out/studio.html'));
const kMost_bytes = 8e6;

/** derm's JavaScript by its package's names, and the glue that the web build wrote. */
const dermFiles = {
  name: 'derm',
  setup(esbuild) {
    const js = join(here, '../js');
    esbuild.onResolve({ filter: /^derm$/ }, () => ({ path: join(js, 'derm.mjs') }));
    esbuild.onResolve({ filter: /^derm\/worker$/ }, () => ({ path: join(js, 'worker.mjs') }));
    esbuild.onResolve({ filter: /^derm\/three_detail$/ }, () =>
      ({ path: join(js, 'three_detail.mjs') }));
    esbuild.onResolve({ filter: /\/glue\.mjs$/ }, () => ({ path: join(module, 'derm.js') }));
    // Only Node reads files, and it is not here.
    esbuild.onResolve({ filter: /^node:/ }, (node) => ({ path: node.path, external: true }));
  },
};

function licences() {
  const of = (name, folder, file, licence) => {
    const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return { name, version, licence, text: readFileSync(join(folder, file), 'utf8') };
  };
  const npm = (name) => join(here, 'node_modules', name);
  const own = readFileSync(join(here, '../../LICENSE'), 'utf8');
  return [
    { ...of('derm', join(here, '..'), '../LICENSE', 'MIT'), text: own },
    of('three.js', npm('three'), 'LICENSE', 'MIT'),
    of('uPlot', npm('uplot'), 'LICENSE', 'MIT'),
    { name: 'parts of the module', version: '', licence: 'see below',
      text: readFileSync(join(here, '../LICENCES.md'), 'utf8') },
  ];
}

function thumbnails() {
  const folder = join(here, 'thumbnails');
  const out = {};
  for (const file of existsSync(folder) ? readdirSync(folder) : [])
    if (file.endsWith('.jpg'))
      out[file.slice(0, -4)] =
        `data:image/jpeg;base64,${readFileSync(join(folder, file)).toString('base64')}`;
  return out;
}

const common = {
  bundle: true, minify: true, format: 'iife', target: 'es2022', write: false, legalComments: 'none',
  plugins: [dermFiles], alias: { three: join(here, 'node_modules/three') }, logLevel: 'warning', charset: 'utf8',
  logOverride: { 'empty-import-meta': 'silent', 'commonjs-variable-in-esm': 'silent' },
};
const page = await build({
  ...common,
  entryPoints: [join(here, 'src/main.ts')],
  outfile: 'studio.js',
  define: {
    DERM_LICENCES: JSON.stringify(licences()),
    DERM_THUMBNAILS: JSON.stringify(thumbnails()),
  },
});
const worker = await build({ ...common, entryPoints: [join(here, '../js/worker.mjs')] });
const textOf = (result, ending) =>
  result.outputFiles.find((file) => file.path.endsWith(ending))?.text ?? '';

// Inside a <script> the only dangers are its own end and a comment's start.
const escaped = (text) => text.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const packed = (file) => gzipSync(readFileSync(join(module, file)), { level: 9 }).toString('base64');
const parts = {
  STYLE: textOf(page, '.css'),
  MODULE: packed('derm.wasm'),
  REST: packed('derm.rest.wasm'),
  WORKER: escaped(worker.outputFiles[0].text),
  PAGE: escaped(textOf(page, '.js')),
};
const html = readFileSync(join(here, 'src/index.html'), 'utf8')
  .replace(/\/\*(STYLE|MODULE|REST|WORKER|PAGE)\*\//g, (_, name) => parts[name]);
if (Buffer.byteLength(html) > kMost_bytes)
  throw new Error(`the page has ${Buffer.byteLength(html)} bytes, more than ${kMost_bytes}`);
mkdirSync(dirname(out), { recursive: true });
writeFileSync(out, html);
console.log(`${out}: ${(Buffer.byteLength(html) / 1e6).toFixed(2)} MB (module `
  + `${((parts.MODULE.length + parts.REST.length) / 1e6).toFixed(2)}, page ${(parts.PAGE.length / 1e6).toFixed(2)})`);
