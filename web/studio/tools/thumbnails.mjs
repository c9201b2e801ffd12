// Makes the start page's small pictures: node tools/thumbnails.mjs. Needs out/studio.html and Chromium.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openStudio, shown, skip } from '../test/harness.mjs';

if (skip) throw new Error(skip);
const folder = join(dirname(fileURLToPath(import.meta.url)), '../thumbnails');
mkdirSync(folder, { recursive: true });
const studio = await openStudio({ width: 900, height: 560, scale: 1 });
const { page } = studio;
const { cast, recipes } = await page.evaluate(() => {
  const { library } = window.studio.app;
  return { cast: library.cast.map(({ name }) => name),
    recipes: library.recipes.map(({ name, text }) => ({ name: name.replace(/\.toml$/, ''), text })) };
});
const scenes = [...cast.map((name) => ({ name, text: `character = "cast:${name}"\n` })), ...recipes];
for (const { name, text } of scenes) {
  const opened = await page.evaluate(([recipe, file]) =>
    window.studio.app.openText(recipe, `${file}.toml`), [text, name]);
  if (!opened) continue;
  await shown(page);
  const picture = await page.evaluate(async () => {
    const { app } = window.studio;
    app.player.play(false);
    // Where the clip is well under way.
    app.player.seek(app.player.start_s + 0.4 * (app.player.end_s - app.player.start_s));
    await new Promise((done) => setTimeout(done, 900));
    app.setView({ floor: false });
    app.viewport.frame();
    return app.thumbnail();
  });
  writeFileSync(join(folder, `${name}.jpg`), Buffer.from(picture.split(',')[1], 'base64'));
  console.log(name);
}
await studio.close();
