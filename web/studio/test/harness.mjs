// A real browser with the studio in it, for tests: Debian's Chromium through playwright-core, the page
// from a file, real mouse and keys. DERM_STUDIO names the page, DERM_CHROMIUM the browser.
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const here = dirname(fileURLToPath(import.meta.url));
export const root = resolve(here, '../../..');
export const page_file = resolve(process.env.DERM_STUDIO ?? join(root, 'out/studio.html'));
export const shared_data = process.env.DERM_SHARED_DATA ?? resolve(root, '../shared/data');
const kBrowser = process.env.DERM_CHROMIUM ?? '/usr/bin/chromium';

/** Why there is nothing to test here, or false. */
export const skip = !existsSync(page_file) ? 'no studio.html: ./run web makes it'
  : !existsSync(kBrowser) ? 'no Chromium' : false;

// WebGL is drawn by the processor here. The page itself is put together without it: that cost as much as
// all else that these tests do.
const kArguments = ['--no-sandbox', '--use-gl=angle', '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader', '--disable-gpu-compositing', '--ignore-gpu-blocklist',
  '--enable-precise-memory-info', '--js-flags=--expose-gc'];

/** A machine that tests has much else to do: nothing fails because it is slow. */
export const kPatience_ms = 300_000;

const kLaunch = { executablePath: kBrowser, headless: true, timeout: kPatience_ms };

// One browser for all tests of a file: each has a context of its own, which knows nothing of others.
// It ends a moment after the last was closed.
const kLinger_ms = 300;
let browser = null, opened = 0, ending = null;

async function contextOfOurs(view) {
  clearTimeout(ending);
  opened += 1;
  browser ??= chromium.launch({ ...kLaunch, args: kArguments });
  const context = await (await browser).newContext(view);
  context.on('close', () => {
    opened -= 1;
    if (opened > 0) return;
    ending = setTimeout(() => {
      void browser.then((it) => it.close());
      browser = null;
    }, kLinger_ms);
  });
  return context;
}

/** Opens the studio, or another `file` with it; `profile` keeps what the browser keeps from one call to
 *  the next, `more` are arguments of the browser: with either it is started anew. Pixels are drawn by the
 *  processor here, so only tests that look at them draw all: `scale` is of the page (the layout of 1 is
 *  the one that visitors see), `picture` of the scene in it. */
export async function openStudio({ file = page_file, profile, width = 1280, height = 720, query = '',
  more = [], wait = true, scale = 0.5, picture = 0.25 } = {}) {
  const view = { viewport: { width, height }, deviceScaleFactor: scale, acceptDownloads: true };
  let context, folder = profile;
  if (profile || more.length > 0) {
    folder ??= mkdtempSync(join(tmpdir(), 'derm-studio-'));
    context = await chromium.launchPersistentContext(folder,
      { ...kLaunch, ...view, args: [...kArguments, ...more] });
  } else {
    context = await contextOfOurs(view);
  }
  context.setDefaultTimeout(kPatience_ms);
  await context.addInitScript((ratio) =>
    Object.defineProperty(window, 'devicePixelRatio', { value: ratio }), picture);
  const page = await context.newPage();
  const requests = [];
  const complaints = [];
  page.on('request', (request) => requests.push(request.url()));
  page.on('console', (message) => {
    // Chromium reports how slow its own software rendering is.
    if (message.type() === 'error' || (message.type() === 'warning'
      && !/GL Driver Message|GPU stall|swiftshader/i.test(message.text())))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  const began = performance.now();
  await page.goto(pathToFileURL(file).href + query);
  if (wait) await page.waitForSelector('body[data-ready]');
  const opened_ms = performance.now() - began;
  return {
    page, context, requests, complaints, opened_ms,
    async close() {
      await context.close();
      if (folder && !profile) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Calls a function of the page with the studio's app. */
export const inApp = (page, work, argument) =>
  page.evaluate(`(${work})(window.studio.app, ${JSON.stringify(argument ?? null)})`);

/** What plays is drawn all the time: tests that wait for something else let it stand (`play` false). */
export async function openCast(page, name, { play = true } = {}) {
  await page.click(`[data-cast="${name}"]`);
  await shown(page);
  if (!play) await inApp(page, (app) => app.player.play(false));
}

export async function openRecipe(page, name) {
  await page.click(`[data-recipe="${name}"]`);
  await shown(page);
}

/** Until a frame is on the screen. (What a function gives back is held by the browser: a frame would be
 *  kept for good, with its scene.) */
export const shown = (page) => page.waitForFunction(
  () => window.studio.app.document !== null && window.studio.app.player.last !== null);

/** Until no edit is under way and the frame of now is shown. */
export async function idle(page) {
  await page.waitForTimeout(120);
  await page.waitForFunction(() => (window.studio.app.document?.busy ?? 0) === 0);
  await page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
}

/** A hash of the frame at an instant of the clip, by seeking there. */
export const hashAt = (page, time_s) => page.evaluate(async (time) => {
  const { player } = window.studio.app;
  player.play(false);
  const arrived = new Promise((done) => {
    const stop = player.shown.add((shown) => {
      if (shown.time_s !== time) return;
      stop();
      done(shown);
    });
  });
  player.seek(time);
  const { frame } = await arrived;
  const digest = await crypto.subtle.digest('SHA-256', frame.positions.slice().buffer);
  return [...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, '0')).join('');
}, time_s);

/** A joint's place on the screen [px]. */
export const jointOnScreen = (page, name) => page.evaluate((wanted) => {
  const { app } = window.studio;
  const j = app.document.character.joints.findIndex((joint) => joint.name === wanted);
  if (j < 0) throw new Error(`no joint ${wanted}`);
  const p = app.viewport.skeleton.positions;
  const at = app.viewport.camera.position.clone().fromArray(p, 3 * j);
  const [x, y] = app.viewport.project(at);
  const box = app.viewport.canvas.getBoundingClientRect();
  return { x: box.left + x, y: box.top + y };
}, name);

/** Drags with the real mouse. */
export async function drag(page, from, to, steps = 12) {
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(to.x, to.y, { steps });
  await page.mouse.up();
}

/** Drops files on the page, as a file manager does. */
export async function dropFiles(page, files) {
  const data = await page.evaluateHandle((list) => {
    const transfer = new DataTransfer();
    for (const { name, base64 } of list) {
      const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
      transfer.items.add(new File([bytes], name));
    }
    return transfer;
  }, files.map(({ name, bytes }) => ({ name, base64: Buffer.from(bytes).toString('base64') })));
  for (const type of ['dragenter', 'dragover', 'drop'])
    await page.dispatchEvent('body', type, { dataTransfer: data });
}
