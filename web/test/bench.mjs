// Milliseconds of the module in Node: frames, opening, start. usage: node bench.mjs [BODY.glb [MOTION.bvh]]
import path from 'node:path';

import { bytesOf, load } from './setup.mjs';

const { Derm } = await load('derm.mjs');
const least = (times, count = 5) => times.sort((a, b) => a - b).slice(0, count)
  .reduce((sum, t, _, all) => sum + t / all.length, 0);

const start = performance.now();
const derm = await Derm.load();
console.log(`start ${(performance.now() - start).toFixed(0)} ms`);

async function measure(name, recipe, files) {
  const opens = [];
  let scene = null;
  for (let i = 0; i < 3; ++i) {
    scene?.close();
    const before = performance.now();
    scene = await derm.open(recipe, { files });
    opens.push(performance.now() - before);
  }
  const { start_s, end_s } = scene.recipe;
  const frames = 40;
  // The mean over the frames of the least of many runs.
  const best = new Float64Array(frames).fill(Infinity);
  const layers = {};
  for (let run = 0; run < 20; ++run)
    for (let i = 0; i < frames; ++i) {
      const at = start_s + (end_s - start_s) * i / frames;
      const before = performance.now();
      scene.seek(at);
      best[i] = Math.min(best[i], performance.now() - before);
      if (run === 19)
        for (const layer of scene.frameReport().layers)
          layers[layer.type] = (layers[layer.type] ?? 0) + layer.ms / frames;
    }
  const mean = best.reduce((sum, ms) => sum + ms / frames, 0);
  console.log(`${name}: ${scene.vertexCount} vertices, frame ${mean.toFixed(3)} ms, opens ${opens.map((ms) => ms.toFixed(0)).join(', ')} ms, memory ${derm.memoryBytes >> 20} MB`);
  console.log(`  ${Object.entries(layers).map(([type, ms]) => `${type} ${ms.toFixed(3)}`).join(', ')} ms`);
  scene.close();
  return least(opens, 1);
}

await measure('cat_jump', derm.recipes.find((recipe) => recipe.name === 'cat_jump').text, {});
const [body, motion] = process.argv.slice(2);
if (body) {
  const name = path.basename(body);
  const files = { [name]: await bytesOf(body) };
  let recipe = `character = "${name}"\n`;
  if (motion) {
    files['motion.bvh'] = await bytesOf(motion);
    recipe += 'motion = "motion.bvh"\n';
  }
  const bare = await derm.open(recipe, { files });
  recipe = bare.propose('volume');
  bare.setRecipeText(recipe);
  recipe = bare.propose('flesh');
  bare.close();
  await measure(name, recipe, files);
}
