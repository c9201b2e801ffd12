// How long edits take to show while a body plays: for every key of every kind of layer whether a change
// binds, what it costs, how long until the frame that has it is there, and the longest wait for a frame
// meanwhile. In Node, through RemoteScene as the studio does. usage: node edit_bench.mjs BODY.glb
// [MOTION.bvh [TYPE[.KEY]]]
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

import { bytesOf, load, packageFolder } from './setup.mjs';

if (!isMainThread) {
  const { serve } = await import(pathToFileURL(path.join(packageFolder, 'worker.mjs')).href);
  const port = { postMessage: (message, transfer) => parentPort.postMessage(message, transfer) };
  serve(port);
  parentPort.on('message', (data) => port.onmessage({ data }));
} else {
  await main(...process.argv.slice(2));
}

/** A thread of Node as pages know workers. */
function threadAsWorker() {
  const thread = new Worker(fileURLToPath(import.meta.url));
  const out = { postMessage: (message) => thread.postMessage(message),
    terminate: () => thread.terminate(), onmessage: null, onerror: null };
  thread.on('message', (data) => out.onmessage({ data }));
  thread.on('error', (error) => out.onerror({ message: error.message }));
  return out;
}

/** Another value of a field that a layer may have; undefined = none is known. */
function otherValue(field, now, character) {
  const value = now ?? field.default;
  const inRange = (x) => x >= (field.low ?? -Infinity) && x <= (field.high ?? Infinity);
  switch (field.kind) {
    case 'flag': return value !== true;
    case 'integer': return [value + 1, value - 1].find(inRange);
    case 'number': {
      const from = value ?? (field.high < 1e5 ? (field.low + field.high) / 2 : 1);
      return [from * 1.1, from * 0.9, from + 0.1].find((x) => x !== value && inRange(x));
    }
    case 'word': return field.words.find((word) => word !== value);
    case 'numbers': return Array.isArray(value) && value.length > 0 ? value.map((x) => x * 0.999 + 1e-4) : undefined;
    case 'joint': return character.joints.find(({ name }) => name === value)
      && character.joints[character.joints.find(({ name }) => name === value).parent]?.name;
    default: return undefined;
  }
}

async function main(body, motion, only = '') {
  if (!body) throw new Error('usage: node edit_bench.mjs BODY.glb [MOTION.bvh [TYPE[.KEY]]]');
  const { Derm } = await load('derm.mjs');
  const { RemoteScene } = await load('worker.mjs');
  const derm = await Derm.load();
  await derm.loadRest();
  const name = path.basename(body);
  const files = { [name]: await bytesOf(body) };
  let text = `character = "${name}"\n`;
  if (motion) {
    files['motion.bvh'] = await bytesOf(motion);
    text += 'motion = "motion.bvh"\n';
  }
  const scene = await derm.open(text, { files });
  scene.setRecipeText(scene.propose('all'));
  if (!scene.recipe.layers.some(({ type }) => type === 'contact'))
    scene.addLayer('contact', { index: scene.recipe.layers.findIndex(({ type }) => type === 'volume') });
  if (!scene.recipe.layers.some(({ type }) => type === 'wrinkles')) {
    const { positions } = scene;  // a stroke over the belly, say
    const near = (x, y, z) => { let best = 0, least = Infinity;
      for (let v = 0; 3 * v < positions.length; ++v) {
        const d = Math.hypot(positions[3 * v] - x, positions[3 * v + 1] - y, positions[3 * v + 2] - z);
        if (d < least) [best, least] = [v, d];
      }
      return best; };
    scene.addLayer('wrinkles', { keys: { from_vertex: near(0, 1.05, 1), to_vertex: near(0, 0.95, 1),
      width_m: 0.1 } });
  }
  const fields = derm.fields;
  const { character } = scene;
  text = scene.recipeText;
  console.log(`${name}: ${character.vertices} vertices, ${scene.vertexCount} with folds; layers `
    + scene.recipe.layers.map((layer) => `${layer.name} (${layer.type})`).join(', '));
  const length = scene.recipe.end_s - scene.recipe.start_s;
  scene.close();

  const wasm = await bytesOf(path.join(packageFolder, 'derm.wasm'));
  const rest = await bytesOf(path.join(packageFolder, 'derm.rest.wasm'));
  const remote = await RemoteScene.open(text, { files, wasm: wasm.buffer, rest: rest.buffer, worker: threadAsWorker });
  // Plays at 60 Hz all the while.
  let time_s = 0, arrived = performance.now(), longest = 0, playing = true;
  const loop = (async () => {
    while (playing) {
      const began = performance.now();
      await remote.frame({ time_s });
      const now = performance.now();
      longest = Math.max(longest, now - arrived);
      arrived = now;
      time_s = (time_s + Math.max(1 / 60, (now - began) / 1000)) % Math.max(length, 0.01);
      await new Promise((done) => setTimeout(done, Math.max(0, 16 - (now - began))));
    }
  })();
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  await pause(3000);
  longest = 0;
  await pause(1000);
  console.log(`no edit: longest wait for a frame ${longest.toFixed(0)} ms`);
  console.log('| key | live | bound again | bind ms | shown after ms | longest wait for a frame ms |');
  console.log('|---|---|---|---|---|---|');
  const { layers } = await remote.ask('recipe');
  const worst = {};
  for (const type of fields.layers) {
    const layer = layers.find((each) => each.type === type.type);
    if (!layer || !`${type.type}.`.startsWith(`${only.split('.')[0]}${only ? '.' : ''}`)) continue;
    for (const field of type.fields) {
      if (only.includes('.') && only !== `${type.type}.${field.key}`) continue;
      const other = otherValue(field, layer.keys[field.key], character);
      if (other === undefined) continue;
      let row = null;
      for (const value of [other, layer.keys[field.key]]) {
        longest = 0;
        const began = performance.now();
        let report;
        try {
          report = await remote.edit('set', layer.name, field.key, value);
        } catch (error) {
          row = [0, 0, 0, error.text];
          break;
        }
        await remote.frame({ time_s });
        const shown = performance.now() - began;
        await pause(120);
        if (!row || shown > row[1])
          row = [report.ms, shown, longest, report.rebound.join(' ')];
      }
      console.log(`| ${type.type}.${field.key} | ${field.live ? 'yes' : ''} | ${row[3]} | ${row[0].toFixed(1)} | `
        + `${row[1].toFixed(0)} | ${row[2].toFixed(0)} |`);
      worst[type.type] = Math.max(worst[type.type] ?? 0, row[1]);
    }
  }
  console.log(`slowest: ${Object.entries(worst).map(([type, ms]) => `${type} ${ms.toFixed(0)} ms`).join(', ')}`);
  playing = false;
  await loop;
  remote.close();
  process.exit(0);
}
