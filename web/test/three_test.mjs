// LivingSkin in Chromium against three.js's own skinning, and against a measure of volume.
import { openBrowser } from './browser.mjs';
import { check, hasData, run } from './setup.mjs';

if (!hasData) {
  console.log('skipped: no shared data here');
  process.exit(77);
}
const { page, address, problems, close } = await openBrowser();
await page.goto(`${address}/test/blank.html`);
await page.evaluate(async () => {
  const THREE = await import('three');
  const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');
  const { clone } = await import('three/addons/utils/SkeletonUtils.js');
  const { Derm } = await import('derm');
  const { LivingSkin } = await import('derm/three');
  const derm = await Derm.load();

  /** World positions of a mesh's vertices as three.js skins and morphs them. */
  const worldOf = (mesh) => {
    const out = [], p = new THREE.Vector3();
    for (let v = 0; v < mesh.geometry.getAttribute('position').count; ++v)
      out.push(mesh.getVertexPosition(v, p).applyMatrix4(mesh.matrixWorld).toArray());
    return out;
  };
  /** Largest difference of all parts, over the diagonal of the first frame. */
  const differenceOf = (skin) => {
    const p = new THREE.Vector3(), box = new THREE.Box3();
    let most = 0;
    skin.scene.character.parts.forEach((part, i) => {
      const mesh = skin.meshes[i];
      const own = worldOf(skin.originals[i]);
      const drawn = mesh.geometry.getAttribute('position');
      own.forEach((at, v) => {
        p.fromBufferAttribute(drawn, part.first_vertex + v).applyMatrix4(mesh.matrixWorld);
        most = Math.max(most, Math.hypot(p.x - at[0], p.y - at[1], p.z - at[2]));
        box.expandByPoint(p.set(...at));
      });
      if (own.length !== part.vertex_count) most = Infinity;
    });
    return most / box.getSize(p).length();
  };
  const load = (name) => new GLTFLoader().loadAsync(`/data/gltf-characters/${name}`);
  Object.assign(window, { THREE, clone, derm, LivingSkin, load, worldOf, differenceOf });
});

const kCharacters = ['CesiumMan.glb', 'Fox.glb', 'KayKit_Knight.glb', 'RiggedFigure.glb',
  'RiggedSimple.glb', 'SimpleSkin.gltf', 'AnimatedMorphCube.glb', 'SimpleMorph.gltf',
  'InterpolationTest.glb'];

const tests = {};
for (const name of kCharacters)
  tests[`linear ${name}`] = async () => {
    const most = await page.evaluate(async (file) => {
      const gltf = await load(file);
      // A scene that is turned, moved and scaled: the skin goes with it.
      const parent = new THREE.Group();
      parent.position.set(1, 2, -3);
      parent.rotation.set(0.4, -0.8, 0.2);
      parent.scale.set(1.5, 1.5, 1.5);
      parent.add(gltf.scene);
      const skin = await LivingSkin.from(gltf, { derm });
      const mixer = new THREE.AnimationMixer(gltf.scene);
      if (gltf.animations[0]) mixer.clipAction(gltf.animations[0]).play();
      let worst = 0;
      for (let frame = 0; frame < 20; ++frame) {
        mixer.update(1 / 12);
        skin.update(1 / 12);
        parent.updateMatrixWorld(true);
        worst = Math.max(worst, differenceOf(skin));
      }
      skin.dispose();
      return worst;
    }, name);
    console.log(`       ${most.toExponential(1)} of the diagonal`);
    check(most <= 1e-5, `${name}: ${most} of the diagonal`);
  };

tests['several primitives and two meshes on one skeleton, below a parent of uneven scale'] = async () => {
  const result = await page.evaluate(async () => {
    const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');
    const bytes = new Uint8Array(await (await fetch('/data/gltf-characters/CesiumMan.glb')).arrayBuffer());
    const view = new DataView(bytes.buffer);
    const length = view.getUint32(12, true);
    const json = JSON.parse(new TextDecoder().decode(bytes.subarray(20, 20 + length)));
    // The man's triangles as two primitives, and the same mesh once more on the same skin.
    const [primitive] = json.meshes[0].primitives;
    const whole = json.accessors[primitive.indices];
    const half = 3 * Math.floor(whole.count / 6);
    const size = whole.componentType === 5125 ? 4 : 2;
    json.accessors.push({ ...whole, count: half });
    json.accessors.push({ ...whole, count: whole.count - half, byteOffset: (whole.byteOffset ?? 0) + size * half });
    for (const accessor of json.accessors.slice(-2)) { delete accessor.min; delete accessor.max; }
    const count = json.accessors.length;
    json.meshes[0].primitives = [{ ...primitive, indices: count - 2 }, { ...primitive, indices: count - 1 }];
    const at = json.nodes.findIndex((node) => node.mesh === 0);
    json.nodes.push({ ...json.nodes[at], name: 'twin' });
    const parent = json.nodes.find((node) => node.children?.includes(at));
    (parent ? parent.children : json.scenes[0].nodes).push(json.nodes.length - 1);
    const text = new TextEncoder().encode(JSON.stringify(json).padEnd(length + 4096, ' '));
    const padded = text.subarray(0, text.length - text.length % 4);
    const rest = bytes.subarray(20 + length);
    const made = new Uint8Array(20 + padded.length + rest.length);
    made.set(bytes.subarray(0, 20));
    made.set(padded, 20);
    made.set(rest, 20 + padded.length);
    new DataView(made.buffer).setUint32(8, made.length, true);
    new DataView(made.buffer).setUint32(12, padded.length, true);
    const gltf = await new GLTFLoader().parseAsync(made.buffer, '');
    const above = new THREE.Group();
    above.rotation.set(0.3, 1.1, -0.4);
    above.scale.set(2, 0.6, 1.3);
    above.add(gltf.scene);
    const skin = await LivingSkin.from(gltf, { derm });
    const mixer = new THREE.AnimationMixer(gltf.scene);
    mixer.clipAction(gltf.animations[0]).play();
    let worst = 0;
    for (let frame = 0; frame < 10; ++frame) {
      mixer.update(1 / 6);
      skin.update(1 / 6);
      above.updateMatrixWorld(true);
      worst = Math.max(worst, differenceOf(skin));
    }
    const parts = skin.meshes.length, found = skin.originals.filter(Boolean).length;
    skin.dispose();
    return { worst, parts, found };
  });
  console.log(`       ${result.parts} parts, ${result.worst.toExponential(1)} of the diagonal`);
  check(result.parts === 4 && result.found === 4, JSON.stringify(result));
  check(result.worst <= 1e-5, `off by ${result.worst}`);
};

tests['a skeleton with other bones than the recipe wants: an error, the glTF is drawn as before'] = async () => {
  const result = await page.evaluate(async () => {
    const gltf = await load('CesiumMan.glb');
    const error = await LivingSkin.from(gltf, { derm, recipe:
      '[[layer]]\ntype = "flesh"\ndominant = "no_such_bone"\nends = ["nor_this"]\n' }).catch((e) => e);
    let drawn = 0;
    gltf.scene.traverse((o) => { if (o.isMesh && o.layers.mask !== 0) ++drawn; });
    return { name: error.name, code: error.code, text: error.message, drawn };
  });
  check(result.name === 'DermError' && result.code === 'bad_data', JSON.stringify(result));
  check(/no_such_bone/.test(result.text), result.text);
  check(result.drawn === 1, `${result.drawn} meshes drawn`);
};

tests['volume is exact by a measure of our own'] = async () => {
  const error = await page.evaluate(async () => {
    const bytes = (await derm.openCharacter('cast:cat')).characterGlb();
    const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');
    const gltf = await new GLTFLoader().parseAsync(bytes.slice().buffer, '');
    const skin = await LivingSkin.from(gltf, {
      derm, recipe: '[skinning]\nmethod = "centre"\n[[layer]]\ntype = "volume"\n' });
    const volume = () => {
      let sum = 0;
      for (const mesh of skin.meshes) {
        const p = mesh.geometry.getAttribute('position').array, index = mesh.geometry.index.array;
        for (let t = 0; t < index.length; t += 3) {
          const [a, b, c] = [3 * index[t], 3 * index[t + 1], 3 * index[t + 2]];
          sum += p[a] * (p[b + 1] * p[c + 2] - p[b + 2] * p[c + 1]) +
            p[a + 1] * (p[b + 2] * p[c] - p[b] * p[c + 2]) +
            p[a + 2] * (p[b] * p[c + 1] - p[b + 1] * p[c]);
        }
      }
      return sum / 6;
    };
    if (skin.originals.some((mesh) => !mesh || mesh.layers.mask !== 0)) return Infinity;
    const rest = volume();
    const mixer = new THREE.AnimationMixer(gltf.scene);
    mixer.clipAction(gltf.animations[0]).play();
    let worst = 0;
    for (let frame = 0; frame < 40; ++frame) {
      mixer.update(1 / 30);
      skin.update(1 / 30);
      worst = Math.max(worst, Math.abs(volume() / rest - 1));
    }
    skin.dispose();
    return worst;
  });
  console.log(`       ${error.toExponential(1)} of the volume`);
  check(error <= 1e-5, `volume off by ${error}`);
};

tests['several characters, clones too, and dispose'] = async () => {
  const result = await page.evaluate(async () => {
    const gltf = await load('CesiumMan.glb');
    const copies = [gltf.scene, clone(gltf.scene), clone(gltf.scene)];
    const skins = [];
    for (const root of copies) skins.push(await LivingSkin.from(gltf, { derm, root }));
    const mixers = copies.map((root) => new THREE.AnimationMixer(root));
    mixers.forEach((mixer, i) => { mixer.clipAction(gltf.animations[0]).play(); mixer.update(0.3 * i); });
    let worst = 0;
    skins.forEach((skin, i) => {
      skin.update(0.01);
      copies[i].updateMatrixWorld(true);
      worst = Math.max(worst, differenceOf(skin));
    });
    const apart = Math.abs(skins[0].meshes[0].geometry.getAttribute('position').array[0] -
      skins[2].meshes[0].geometry.getAttribute('position').array[0]);
    for (const skin of skins) skin.dispose();
    const before = derm.memoryBytes;
    for (let i = 0; i < 30; ++i) (await LivingSkin.from(gltf, { derm })).dispose();
    let drawn = 0;
    gltf.scene.traverse((o) => { if (o.isMesh && o.layers.mask !== 0) ++drawn; });
    return { worst, apart, grown: derm.memoryBytes - before, drawn };
  });
  check(result.worst <= 1e-5, `clones off by ${result.worst}`);
  check(result.apart > 1e-4, 'clones move as one');
  check(result.grown === 0, `memory grew by ${result.grown}`);
  check(result.drawn === 1, `${result.drawn} meshes drawn after dispose`);
};

tests['draws, with flesh, folds and edits while it plays'] = async () => {
  const drawn = await page.evaluate(async () => {
    const gltf = await load('CesiumMan.glb');
    const skin = await LivingSkin.from(gltf, { derm });
    skin.scene.setRecipeText(skin.scene.propose('all'));
    const renderer = new THREE.WebGLRenderer({ antialias: false });
    renderer.setSize(320, 240);
    const scene = new THREE.Scene();
    scene.background = new THREE.Color(0x000000);
    scene.add(gltf.scene, new THREE.HemisphereLight(0xffffff, 0x444444, 3));
    const camera = new THREE.PerspectiveCamera(40, 4 / 3, 0.01, 100);
    camera.position.set(0, 1, 3.5);
    camera.lookAt(0, 0.8, 0);
    const mixer = new THREE.AnimationMixer(gltf.scene);
    mixer.clipAction(gltf.animations[0]).play();
    for (let i = 0; i < 10; ++i) {
      mixer.update(1 / 30);
      skin.update(1 / 30);
      renderer.render(scene, camera);
    }
    const pixels = new Uint8Array(4 * 320 * 240);
    renderer.getContext().readPixels(0, 0, 320, 240, 0x1908, 0x1401, pixels);
    let bright = 0;
    for (let i = 0; i < pixels.length; i += 4) if (pixels[i] + pixels[i + 1] + pixels[i + 2] > 60) ++bright;
    const layers = skin.scene.recipe.layers.map((layer) => layer.type);
    skin.dispose();
    renderer.dispose();
    return { bright: bright / (320 * 240), layers };
  });
  console.log(`       ${(100 * drawn.bright).toFixed(1)} % of the picture, layers ${drawn.layers}`);
  check(drawn.bright > 0.02, 'nothing to be seen');
  check(drawn.layers.includes('volume'), 'no volume layer');
};

tests['a face plays another face\'s motion, the rest follows the glTF'] = async () => {
  const result = await page.evaluate(async () => {
    const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');
    const files = { 'talk.csv': 'time,jawOpen,browInnerUp\n0,0,0\n1,1,1\n' };
    const recipe = '[[face.motion]]\nsource = "talk.csv"\n';
    const bytes = (await derm.openCharacter('cast:man')).characterGlb();
    const gltf = await new GLTFLoader().parseAsync(bytes.slice().buffer, '');
    const skin = await LivingSkin.from(gltf, { derm, recipe, files });
    const played = await derm.open(`character = "m.glb"\n${recipe}`, { files: { ...files, 'm.glb': bytes } });
    const { diagonal_m } = played.character;
    let worst = 0, moved = 0;
    const rest = skin.scene.positions.slice();
    for (let i = 1; i <= 10; ++i) {
      skin.update(0.1);
      played.seek(i / 10);
      skin.scene.positions.forEach((v, k) => {
        worst = Math.max(worst, Math.abs(v - played.positions[k]));
        moved = Math.max(moved, Math.abs(v - rest[k]));
      });
    }
    skin.faceTime_s = 0;
    skin.update(0);
    const back = skin.scene.positions.every((v, k) => Math.abs(v - rest[k]) < 1e-6);
    // Half-way through the second round, or at the end of the only one.
    const beyond = (loop) => {
      skin.scene.set('', 'loop', loop);
      skin.faceTime_s = 1.5;
      skin.update(0);
      return skin.scene.positions.slice();
    };
    const [round, end] = [beyond(true), beyond(false)];
    const edited = round.reduce((most, v, k) => Math.max(most, Math.abs(v - end[k])), 0);
    skin.dispose();
    played.close();
    return { worst: worst / diagonal_m, moved: moved / diagonal_m, back, edited: edited / diagonal_m };
  });
  console.log(`       ${result.worst.toExponential(1)} of the diagonal from the scene's own playing`);
  check(result.worst <= 1e-6, `off by ${result.worst}`);
  check(result.moved > 0.01, `moves by ${result.moved} only`);
  check(result.back, 'seeking back gives another face');
  check(result.edited > 0.002, `an edit of loop changes ${result.edited} only`);
};

tests['wrinkle maps come with the expression'] = async () => {
  const result = await page.evaluate(async () => {
    const { GLTFLoader } = await import('three/addons/loaders/GLTFLoader.js');
    const recipe = derm.recipes.find((each) => each.name === 'wrinkle_maps').text
      .replace(/^(character|clip) = .*$/gm, '');
    const bytes = (await derm.openCharacter('cast:woman')).characterGlb();
    const gltf = await new GLTFLoader().parseAsync(bytes.slice().buffer, '');
    const skin = await LivingSkin.from(gltf, { derm, recipe });
    const renderer = new THREE.WebGLRenderer({ antialias: false });
    renderer.setSize(400, 400);
    const scene = new THREE.Scene();
    const lamp = new THREE.DirectionalLight(0xffffff, 3);
    lamp.position.set(0.5, 2, 1);
    scene.add(gltf.scene, lamp, new THREE.HemisphereLight(0xffffff, 0x444444, 1));
    const box = new THREE.Box3().setFromArray(skin.scene.positions);
    const middle = box.getCenter(new THREE.Vector3()), size = box.getSize(new THREE.Vector3());
    const camera = new THREE.PerspectiveCamera(30, 1, 0.01, 10);
    camera.position.set(middle.x, middle.y, middle.z + 2.2 * size.y);
    camera.lookAt(middle);
    const shot = () => {
      renderer.render(scene, camera);
      const pixels = new Uint8Array(4 * 400 * 400);
      renderer.getContext().readPixels(0, 0, 400, 400, 0x1908, 0x1401, pixels);
      return pixels;
    };
    const drawn = skin.meshes.filter((mesh) => mesh.geometry.getAttribute('dermDetail0'));
    const weights = () => drawn.map((mesh) => mesh.geometry.getAttribute('dermDetail0'));
    const mixer = new THREE.AnimationMixer(gltf.scene);
    mixer.clipAction(gltf.animations.find((clip) => clip.name === 'expressions')).play();
    const restWeight = Math.max(...weights().flatMap((each) => [...each.array]));
    let most = 0, changed = 0;
    for (let i = 0; i < 60; ++i) {
      mixer.update(0.1);
      skin.update(0.1);
      const largest = weights().reduce((sum, each) => Math.max(sum, ...each.array), 0);
      if (largest <= most + 0.02) continue;
      most = largest;
      const wrinkled = shot();
      for (const each of weights()) { each.array.fill(0); each.needsUpdate = true; }
      const smooth = shot();
      let count = 0;
      for (let p = 0; p < smooth.length; p += 4) if (Math.abs(smooth[p] - wrinkled[p]) > 4) ++count;
      changed = Math.max(changed, count);
    }
    skin.dispose();
    renderer.dispose();
    const decode = window.createImageBitmap;
    window.createImageBitmap = () => Promise.reject(new DOMException('no picture', 'InvalidStateError'));
    const error = await LivingSkin.from(gltf, { derm, recipe }).catch((e) => e);
    window.createImageBitmap = decode;
    return { maps: drawn.length, restWeight, most, changed, error: `${error.name} ${error.code}: ${error.message}` };
  });
  console.log(`       weights up to ${result.most.toFixed(2)}, ${result.changed} pixels of wrinkles`);
  check(result.maps > 0, 'no part has weights');
  check(result.restWeight < 0.05, `wrinkles at rest: ${result.restWeight}`);
  check(result.most > 0.5, `weights stay at ${result.most}`);
  check(result.changed > 300, `${result.changed} pixels change`);
  check(/^DermError bad_data: wrinkle map /.test(result.error), result.error);
};

tests['a scene in a worker binds while it plays'] = async () => {
  const result = await page.evaluate(async () => {
    const { RemoteScene } = await import('derm/worker');
    const text = derm.recipes.find((recipe) => recipe.name === 'cat_belly_jump').text;
    const scene = await RemoteScene.open(text, { wasm: derm.module });
    const first = await scene.seek(0.2);
    let frames = 0, playing = true;
    const play = (async () => { while (playing) { await scene.seek((frames % 30) / 30); ++frames; } })();
    const edited = scene.edit('set', '', 'skinning.alpha', 0.3);
    const before = frames;
    const flesh = (await scene.ask('recipe')).layers.find((layer) => layer.type === 'flesh').name;
    const live = await scene.edit('set', flesh, 'frequency_hz', 3.25);
    const report = await edited;
    const during = frames - before;
    playing = false;
    await play;
    const after = await scene.ask('recipeText');
    const error = await scene.edit('set', flesh, 'frequency_hz', -1).catch((e) => e);
    const last = await scene.seek(0.2);
    scene.close();
    return { during, live: live.rebound, rebound: report.rebound, after, error: `${error.name} ${error.code}`,
      surface: !!first.surface, again: !!last.surface, count: last.positions.length };
  });
  check(result.during > 0, `${result.during} frames while it was bound`);
  check(result.rebound.includes('skinning'), JSON.stringify(result.rebound));
  check(/alpha = 0\.3/.test(result.after) && /frequency_hz = 3\.25/.test(result.after), result.after);
  check(result.error === 'DermError bad_data', result.error);
  check(result.surface && result.count > 3000, JSON.stringify({ ...result, after: 0 }));
};

tests['a scene in a worker whose module ends in a frame plays on in another, edits included'] = async () => {
  const result = await page.evaluate(async () => {
    const { RemoteScene } = await import('derm/worker');
    const text = derm.recipes.find((recipe) => recipe.name === 'cat_belly_jump').text;
    // The first worker's module ends at one instant.
    const script = `import { Scene } from '${location.origin}/derm/derm.mjs';
      import { serve } from '${location.origin}/derm/worker.mjs';
      const { seek } = Scene.prototype;
      Scene.prototype.seek = function (time_s) {
        if (time_s === 0.4) this._do(() => { throw new WebAssembly.RuntimeError('unreachable'); });
        seek.call(this, time_s);
      };
      serve(self);`;
    let workers = 0;
    const worker = () => {
      const options = { type: 'module' };
      if (++workers > 1)
        return new Worker(`${location.origin}/derm/worker.mjs`, { ...options, name: 'derm' });
      return new Worker(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })), options);
    };
    const scene = await RemoteScene.open(text, { wasm: derm.module, worker });
    const flesh = (await scene.ask('recipe')).layers.find((layer) => layer.type === 'flesh').name;
    await scene.edit('set', flesh, 'frequency_hz', 3.5);
    await scene.edit('set', flesh, 'frequency_hz', 3.25);
    await scene.seek(0.2);
    const [frame, matrices] = await Promise.all([scene.seek(0.4), scene.ask('jointMatrices')]);
    const after = await scene.ask('recipeText');
    const edit = await scene.edit('set', flesh, 'frequency_hz', 4);
    scene.close();
    const same = await derm.open(after);
    same.seek(0.4);
    const want = same.positions.slice();
    same.close();
    return { workers, after, count: matrices.length, rebound: edit.rebound.length,
      same: frame.positions.length === want.length && frame.positions.every((v, i) => v === want[i]) };
  });
  check(result.workers === 2, `${result.workers} workers`);
  check(/frequency_hz = 3\.25/.test(result.after), result.after);
  check(result.same && result.count > 0 && result.rebound === 1, JSON.stringify({ ...result, after: 0 }));
};

tests['workers that the browser ends without a word are replaced'] = async () => {
  const result = await page.evaluate(async () => {
    const { RemoteScene } = await import('derm/worker');
    const text = derm.recipes.find((recipe) => recipe.name === 'cat_belly_jump').text;
    const workers = [];
    const worker = () => {
      workers.push(new Worker(`${location.origin}/derm/worker.mjs`, { type: 'module', name: 'derm' }));
      return workers.at(-1);
    };
    const scene = await RemoteScene.open(text, { wasm: derm.module, worker });
    const flesh = (await scene.ask('recipe')).layers.find((layer) => layer.type === 'flesh').name;
    await scene.edit('set', flesh, 'frequency_hz', 3.25);
    const asked = scene.seek(0.3);
    workers[0].terminate();  // the scene is not told
    const count = (await asked).positions.length;
    const after = await scene.ask('recipeText');
    await scene.prepare();
    workers[2].terminate();
    const edit = scene.edit('set', '', 'skinning.alpha', 0.3);
    const first = await edit.then(() => 'made', (error) => error.code);
    await scene.edit('set', '', 'skinning.alpha', 0.4);
    const last = await scene.ask('recipeText');
    scene.close();
    return { count, after, first, last, workers: workers.length };
  });
  check(result.count > 3000 && /frequency_hz = 3\.25/.test(result.after), JSON.stringify(result));
  check(['made', 'internal'].includes(result.first), result.first);
  check(/alpha = 0\.4/.test(result.last) && /frequency_hz = 3\.25/.test(result.last), result.last);
};

try {
  process.on('exit', () => { for (const problem of problems) console.log(`page: ${problem}`); });
  const exit = process.exit;
  process.exit = (code) => { close().then(() => exit(code || (problems.length > 0 ? 1 : 0))); };
  await run(tests);
} finally {
  // run() ends the process.
}
