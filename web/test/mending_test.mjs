// What a page sees of a scene whose module ends: RemoteScene with workers that are none, so that a
// trap comes when it is asked for.
import { check, load, run } from './setup.mjs';

const { RemoteScene } = await load('worker.mjs');

/** Plays every text but those in `traps`, whose frames end the module. */
class FakeWorker {
  static started = 0;
  static traps = new Set();
  #text = '';
  #gone = false;
  constructor() { ++FakeWorker.started; }
  terminate() {}
  postMessage({ id, method, args }) {
    const answer = (fields) => queueMicrotask(() => this.onmessage?.({ data: { id, ...fields } }));
    if (this.#gone)
      return answer({ error: { code: 'closed', text: 'the module of this scene has ended' }, gone: true });
    if (method === 'open') this.#text = args[0];
    if (method === 'ask' && args[0] === 'setRecipeText') this.#text = args[1][0];
    if (method === 'frame' && FakeWorker.traps.has(this.#text)) {
      this.#gone = true;
      return answer({ error: { code: 'internal', text: 'unreachable' }, gone: true });
    }
    const result = method === 'of' ? { sections: [], layers: [] }
      : method === 'frame' ? { topology: 0, text: this.#text }
      : method === 'ask' && args[0] === 'recipeText' ? this.#text : true;
    const changes = method === 'open' || (method === 'ask' && args[0] === 'setRecipeText');
    return answer({ result, ...(changes ? { text: this.#text } : {}) });
  }
}

const opened = (text, ...traps) => {
  FakeWorker.started = 0;
  FakeWorker.traps = new Set(traps);
  return RemoteScene.open(text, { worker: () => new FakeWorker() });
};
const played = async (scene) => (await scene.frame({ time_s: 0 })).text;
const failure = (promise) => promise.then(() => null, (error) => error);

await run({
  async 'an edit whose frames end the module is taken back'() {
    const scene = await opened('good', 'bad');
    check(await played(scene) === 'good', 'no frame');
    await scene.edit('setRecipeText', 'better');
    check(await played(scene) === 'better', 'no frame after an edit');
    await scene.edit('setRecipeText', 'bad');
    check(await played(scene) === 'better', 'not what was played before');
    check(FakeWorker.started <= 4, `${FakeWorker.started} workers for one trap`);
    await scene.edit('setRecipeText', 'good again');
    check(await played(scene) === 'good again', 'no edit afterwards');
    scene.close();
  },
  async 'of texts that all end it the last that does not is played'() {
    const scene = await opened('good', 'bad');
    await played(scene);
    await scene.edit('setRecipeText', 'also good');
    await played(scene);
    FakeWorker.traps.add('also good');  // from now on
    await scene.edit('setRecipeText', 'bad');
    check(await failure(played(scene)) === null || await played(scene) === 'good', 'not the first');
    check(await played(scene) === 'good', 'not the first');
    scene.close();
  },
  async 'a scene that cannot be played at all says so and starts no more workers'() {
    const scene = await opened('bad', 'bad');
    for (let i = 0; i < 5; ++i)
      check(await failure(played(scene)) !== null, 'a frame of nothing');
    check(FakeWorker.started <= 3, `${FakeWorker.started} workers`);
    scene.close();
  },
});
