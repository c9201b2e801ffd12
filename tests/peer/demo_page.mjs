// Opens a page of `derm demo` in headless Chromium and looks at it: the model must be drawn, must
// stand out from the background, and must move; every picture must have loaded.
// usage: node demo_page.mjs BROWSER PAGE FOLDER   (screenshots go to FOLDER)
import { pathToFileURL } from 'node:url';
import path from 'node:path';
import { chromium } from '../../tools/node/node_modules/playwright-core/index.mjs';

const [browserPath, page_file, folder] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: browserPath,
  args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
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
  const broken = await page.evaluate(
      () => [...document.images].filter((i) => !i.complete || i.naturalWidth === 0).map((i) => i.src));
  if (broken.length > 0) problems.push(`broken pictures: ${broken}`);
} finally {
  await browser.close();
}
for (const problem of problems) console.error('FAIL', problem);
process.exit(problems.length > 0 ? 1 : 0);
