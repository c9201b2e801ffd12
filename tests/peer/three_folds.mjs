// Three pictures of one instant in examples/three_folds: the folded mesh, the smooth mesh with its
// normal maps, and without them. The maps must come much nearer to the mesh than nothing does, and
// their weights must be those of the clip. usage: three_folds.mjs BROWSER FOLDER
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from '../../tools/node/node_modules/playwright-core/index.mjs';
import { sampleTrack } from '../../examples/three_folds/folds.mjs';

const [browserPath, work] = process.argv.slice(2);
const root = fileURLToPath(new URL('../..', import.meta.url));
const types = { '.html': 'text/html', '.mjs': 'text/javascript', '.js': 'text/javascript' };
const server = createServer((request, response) => {
  const name = decodeURIComponent(new URL(request.url, 'http://x').pathname);
  const file = name.startsWith('/baked/') ? path.join(work, name.slice(7)) : path.join(root, name);
  try {
    const bytes = readFileSync(file);
    response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
    response.end(bytes);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const base = `http://127.0.0.1:${server.address().port}/examples/three_folds/index.html`;

/// The document of a .glb.
function jsonOf(file) {
  const bytes = readFileSync(file);
  return JSON.parse(bytes.subarray(20, 20 + bytes.readUInt32LE(12)));
}
const controls = jsonOf(path.join(work, 'maps.glb')).extras.derm_controls;
const tracks = controls.clips[0].tracks;
// Where folds show most.
const time = tracks[0].times.reduce((best, t) => {
  const sum = (at) => tracks.reduce((s, track) => s + sampleTrack(track, at), 0);
  return sum(t) > sum(best) ? t : best;
}, tracks[0].times[0]);

const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--disable-gpu-compositing'],
});
const problems = [];
try {
  const page = await browser.newPage({ viewport: { width: 480, height: 360 } });
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
  const picture = async (file, folds) => {
    const where = '&eye=0.03,0.25,0.25&target=0,0.212,0.085';
    await page.goto(`${base}?file=/baked/${file}&time=${time}&folds=${folds}${where}`);
    await page.waitForFunction(() => document.body.dataset.shown, null, { timeout: 120000 });
    // What lies over the canvas, a box that is ticked or not, would be on the picture.
    await page.addStyleTag({ content: 'body > :not(canvas) { visibility: hidden }' });
    const png = await page.locator('canvas').screenshot({ path: path.join(work, `${file}${folds}.png`) });
    return { png: png.toString('base64'),
             weights: JSON.parse(await page.evaluate(() => document.body.dataset.weights)) };
  };
  const mesh = await picture('mesh.glb', 0);
  const mapped = await picture('maps.glb', 1);
  const smooth = await picture('maps.glb', 0);
  const wanted = tracks.map((track) => sampleTrack(track, time));
  const off = Math.max(...wanted.map((w, i) => Math.abs(w - mapped.weights.flat()[i])));
  console.log('weights', mapped.weights.flat().map((w) => w.toFixed(3)).join(' '), 'at', time, 's');
  if (!(off < 1e-6)) problems.push(`weights are off by ${off}`);
  const difference = (a, b) => page.evaluate(async ([one, other]) => {
    const pixels = async (base64) => {
      const image = new Image();
      image.src = 'data:image/png;base64,' + base64;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height).data;
    };
    const [p, q] = [await pixels(one), await pixels(other)];
    let sum = 0;
    for (let i = 0; i < p.length; ++i) sum += (p[i] - q[i]) ** 2;
    return Math.sqrt(sum / p.length);
  }, [a.png, b.png]);
  const with_maps = await difference(mapped, mesh), without = await difference(smooth, mesh);
  console.log(`from the folded mesh: ${with_maps.toFixed(2)} of 255 with maps, ${without.toFixed(2)} without`);
  if (!(without > 1)) problems.push('no folds are to be seen');
  if (!(with_maps < 0.5 * without)) problems.push('the maps do not look like the folds');
} finally {
  await browser.close();
  server.close();
}
for (const problem of problems) console.error('FAIL', problem);
process.exit(problems.length > 0 ? 1 : 0);
