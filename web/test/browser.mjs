// A page of Chromium with the package, three.js and the shared data behind a small server.
import { createReadStream, existsSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { dataFolder, packageFolder } from './setup.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const tools = path.join(here, '../../tools/node/node_modules');
const kTypes = { '.mjs': 'text/javascript', '.js': 'text/javascript', '.html': 'text/html',
  '.wasm': 'application/wasm', '.json': 'application/json' };

/** A machine that tests has much else to do: nothing fails because it is slow. */
export const kPatience_ms = 300_000;

/** {page, close}; skips the test (77) where there is no browser. */
export async function openBrowser() {
  const program = process.env.DERM_BROWSER ?? '/usr/bin/chromium';
  if (!existsSync(program) || !existsSync(path.join(tools, 'playwright-core'))) {
    console.log('skipped: no Chromium or no playwright-core here');
    process.exit(77);
  }
  const { chromium } = await import(path.join(tools, 'playwright-core/index.mjs'));
  const roots = { derm: packageFolder, three: path.join(tools, 'three'), data: dataFolder,
    test: here, examples: path.join(here, '../examples') };
  const server = createServer((request, response) => {
    const [, root, ...rest] = decodeURIComponent(new URL(request.url, 'http://x').pathname).split('/');
    if (root === 'favicon.ico') { response.writeHead(204).end(); return; }
    const file = roots[root] && path.join(roots[root], ...rest);
    if (!file || !existsSync(file)) { response.writeHead(404).end(); return; }
    response.writeHead(200, { 'content-type': kTypes[path.extname(file)] ?? 'application/octet-stream' });
    createReadStream(file).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${server.address().port}`;
  const browser = await chromium.launch({
    executablePath: program, timeout: kPatience_ms,
    args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader',
      '--disable-gpu-compositing'],
  });
  const page = await browser.newPage({ viewport: { width: 960, height: 540 } });
  page.setDefaultTimeout(kPatience_ms);
  const problems = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  return { page, address, problems,
    close: async () => { await browser.close(); server.close(); } };
}
