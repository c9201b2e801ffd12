// Opens a page of `derm demo` in headless Chromium and looks at it: the model must be drawn, must
// stand out from the background, and must move; every picture must have loaded.
// usage: node demo_page.mjs BROWSER PAGE FOLDER   (screenshots go to FOLDER)
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { chromium } from '../../tools/node/node_modules/playwright-core/index.mjs';

const [browserPath, page_file, folder] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
    '--disable-gpu-compositing'],
});
const problems = [];
try {
  const page = await browser.newPage({ viewport: { width: 1100, height: 800 } });
  page.on('pageerror', (error) => problems.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => {
    // A film that Chromium stops fetching once it has enough is no failure.
    if (!request.url().endsWith('.mp4')) problems.push(`not loaded: ${request.url()}`);
  });
  await page.goto(pathToFileURL(page_file).href);
  await page.waitForFunction(() => document.body.dataset.shown, null, { timeout: 120000 });
  const shown = await page.evaluate(() => document.body.dataset.shown);
  if (shown !== 'model') problems.push(`shown: ${shown}`);

  // The cat is orange: count pixels much redder than blue in the stage.
  const orange = async (name) => {
    const file = path.join(folder, name);
    const png = await page.locator('#stage').screenshot({ path: file });
    return page.evaluate(async (base64) => {
      const picture = new Image();
      picture.src = 'data:image/png;base64,' + base64;
      await picture.decode();
      const canvas = new OffscreenCanvas(picture.width, picture.height);
      const context = canvas.getContext('2d');
      context.drawImage(picture, 0, 0);
      const { data } = context.getImageData(0, 0, picture.width, picture.height);
      let count = 0, x = 0, y = 0;
      for (let i = 0; i < data.length; i += 4)
        if (data[i] > data[i + 2] + 60) {
          ++count;
          x += (i / 4) % picture.width;
          y += Math.floor(i / 4 / picture.width);
        }
      return { share: count / (data.length / 4), x: x / count, y: y / count };
    }, png.toString('base64'));
  };
  const first = await orange('first.png');
  await page.waitForTimeout(700);
  const later = await orange('later.png');
  console.log('orange share', first.share.toFixed(4), 'then', later.share.toFixed(4));
  if (!(first.share > 0.01)) problems.push('the character is not to be seen');
  if (!(Math.hypot(later.x - first.x, later.y - first.y) > 1)) problems.push('nothing moves');
  // The player above needs nothing but the browser. Its halves differ, and are alike once all layers
  // are off; the time line moves it, and at speed 0 it stands.
  await page.waitForFunction(() => document.body.dataset.player === 'shown', null, { timeout: 60000 });
  const halves = async (name) => {
    const png = await page.locator('#player canvas').screenshot({ path: path.join(folder, name) });
    return page.evaluate(async (base64) => {
      const picture = new Image();
      picture.src = 'data:image/png;base64,' + base64;
      await picture.decode();
      const canvas = new OffscreenCanvas(picture.width, picture.height);
      const context = canvas.getContext('2d');
      context.drawImage(picture, 0, 0);
      const half = Math.floor(picture.width / 2), h = picture.height, top = Math.round(0.15 * h);
      const a = context.getImageData(0, top, half, h - top).data;
      const b = context.getImageData(picture.width - half, top, half, h - top).data;
      let differ = 0, figure = 0;
      for (let i = 0; i < a.length; i += 4) {
        differ += Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 60;
        figure += Math.abs(a[i] - 217) + Math.abs(a[i + 1] - 222) + Math.abs(a[i + 2] - 227) > 60;
      }
      return { differ: differ / figure, figure: figure / (a.length / 4) };
    }, png.toString('base64'));
  };
  const set = (id, value) => page.evaluate(([name, v]) => {
    const input = document.getElementById(name);
    input.value = v;
    input.dispatchEvent(new Event('input'));
  }, [id, value]);
  const choices = await page.evaluate(() => document.querySelector('#player select').options.length);
  if (choices < 3) problems.push(`the player has ${choices} scenes`);
  await set('player-speed', 0);
  await set('player-time', 0.5);
  await page.waitForTimeout(300);
  const on = await halves('player_on.png');
  await page.evaluate(() => document.querySelectorAll('#player input[type=checkbox]').forEach((i) => i.click()));
  await page.waitForTimeout(300);
  const off = await halves('player_off.png');
  console.log('player: halves differ by', on.differ.toFixed(3), 'with layers,', off.differ.toFixed(3), 'without');
  if (!(on.figure > 0.01)) problems.push('the player shows nothing');
  if (!(on.differ > 0.1)) problems.push('the player shows no difference');
  if (!(off.differ < 0.02)) problems.push('layers cannot be switched off');
  await set('player-time', 0);
  await page.waitForTimeout(300);
  const start = await halves('player_start.png');
  if (!(start.differ < 0.1)) problems.push('the time line does not move the player');
  const broken = await page.evaluate(
      () => [...document.images].filter((i) => !i.complete || i.naturalWidth === 0).map((i) => i.src));
  if (broken.length > 0) problems.push(`broken pictures: ${broken}`);
} finally {
  await browser.close();
}
for (const problem of problems) console.error('FAIL', problem);
process.exit(problems.length > 0 ? 1 : 0);
