// Plays a .glb of `derm face detail export` with examples/three-wrinkle-maps in headless Chromium: the picture with
// wrinkles must differ from the one without, and only where a wrinkle map shows.
// usage: node wrinkle_maps.mjs BROWSER FOLDER TIME...   (FOLDER holds the page and face.glb; screenshots go there)
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { chromium } from '../../tools/node/node_modules/playwright-core/index.mjs';

const [browserPath, folder, ...times] = process.argv.slice(2);
const types = { '.html': 'text/html', '.js': 'text/javascript', '.mjs': 'text/javascript' };
const server = http.createServer((request, answer) => {
  const file = path.join(folder, new URL(request.url, 'http://x').pathname);
  if (!fs.existsSync(file)) { answer.writeHead(404).end(); return; }
  answer.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream' });
  fs.createReadStream(file).pipe(answer);
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--disable-gpu-compositing'],
});
const problems = [];
try {
  const page = await browser.newPage({ viewport: { width: 640, height: 720 } });
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('console', (message) => { if (message.type() === 'error' && !message.text().includes('404')) problems.push(message.text()); });
  await page.goto(`http://127.0.0.1:${server.address().port}/index.html?still`);
  await page.waitForFunction(() => document.body.dataset.ready, null, { timeout: 120000 });
  for (const time of times) {
    const picture = async (what) => {
      const png = await page.evaluate(async ([t, show]) => {
        face.wrinkles.show(show);
        face.draw(t);
        return face.renderer.domElement.toDataURL('image/png');
      }, [Number(time), what]);
      fs.writeFileSync(path.join(folder, `${what}-${time}.png`), Buffer.from(png.split(',')[1], 'base64'));
      return png;
    };
    const urls = [await picture('none'), await picture('wrinkles'), await picture('mask')];
    const found = await page.evaluate(async (three) => {
      const pixels = [];
      for (const url of three) {
        const image = new Image();
        image.src = url;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
        context.drawImage(image, 0, 0);
        pixels.push(context.getImageData(0, 0, image.width, image.height));
      }
      const [without, withMaps, mask] = pixels.map((p) => p.data);
      const { width, height } = pixels[0];
      // Edges of the mask are blended with what is beside them: a pixel around it counts as inside.
      const inside = (x, y) => {
        for (let j = Math.max(y - 1, 0); j <= Math.min(y + 1, height - 1); ++j)
          for (let i = Math.max(x - 1, 0); i <= Math.min(x + 1, width - 1); ++i)
            if (mask[4 * (j * width + i)] > 250 && mask[4 * (j * width + i) + 2] > 250) return true;
        return false;
      };
      let inner = 0, outer = 0, most = 0, masked = 0;
      for (let y = 0; y < height; ++y)
        for (let x = 0; x < width; ++x) {
          const at = 4 * (y * width + x);
          const d = Math.max(...[0, 1, 2].map((c) => Math.abs(without[at + c] - withMaps[at + c])));
          if (inside(x, y)) { ++masked; if (d > 2) ++inner; most = Math.max(most, d); } else if (d > 1) ++outer;
        }
      return { inner, outer, most, masked, theta: Math.max(...face.wrinkles.theta) };
    }, urls);
    console.log(`${time} s: ${found.masked} pixels masked, ${found.inner} changed in it (by up to ${found.most}), ` +
                `${found.outer} outside, theta up to ${found.theta.toFixed(3)}`);
    const rest = Number(time) === 0;
    if (rest ? found.inner > 0 : found.inner < 500) problems.push(`${time} s: ${found.inner} pixels changed`);
    if (found.outer > 0) problems.push(`${time} s: ${found.outer} pixels outside the mask changed`);
  }
} finally {
  await browser.close();
  server.close();
}
for (const problem of problems) console.error('FAIL', problem);
process.exit(problems.length > 0 ? 1 : 0);
