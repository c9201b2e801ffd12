// derm's module inside the page: it is unpacked from the page's own text, so that a double click on
// the file is all it takes. Scenes live in workers; the page's own copy only tells what there is.
import { Derm, DermError, type FaceNames, type Files, type RecipeFields } from 'derm';
import { RemoteScene } from 'derm/worker';

const embeddedText = (id: string): string => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element "${id}"`);
  return element.textContent ?? '';
};

/** gzip in base64, as the build writes it. */
async function unpacked(base64: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(base64.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

export interface Named {
  name: string;
  description: string;
}

export class Library {
  readonly version: string;
  readonly cast: readonly Named[];
  readonly recipes: readonly { name: string; text: string }[];
  readonly fields: RecipeFields;
  readonly faceNames: FaceNames;
  readonly #module: WebAssembly.Module;
  readonly #rest: Promise<WebAssembly.Module>;
  readonly #workerUrl: string;

  private constructor(derm: Derm, rest: Promise<WebAssembly.Module>, workerUrl: string) {
    this.version = derm.version;
    this.cast = derm.cast;
    this.recipes = derm.recipes;
    this.fields = derm.fields;
    this.faceNames = derm.faceNames;
    this.#module = derm.module;
    this.#rest = rest;
    this.#workerUrl = workerUrl;
  }

  static async load(): Promise<Library> {
    if (typeof WebAssembly !== 'object')
      throw new DermError({ code: 'unsupported', text: 'This browser has no WebAssembly.' });
    const wasm = await unpacked(embeddedText('derm-module'));
    const derm = await Derm.load({ wasm });
    const worker = new Blob([embeddedText('derm-worker')], { type: 'text/javascript' });
    const rest = unpacked(embeddedText('derm-rest')).then((bytes) => WebAssembly.compile(bytes));
    return new Library(derm, rest, URL.createObjectURL(worker));
  }

  async openScene(recipe: string, name: string, files: Files): Promise<RemoteScene> {
    return RemoteScene.open(recipe, {
      name,
      files,
      wasm: this.#module,
      rest: await this.#rest,
      worker: () => new Worker(this.#workerUrl, { name: 'derm' }),
    });
  }

  /** Work that takes long, on a scene of its own, so that what plays is not held up. */
  async apart<T>(recipe: string, name: string, files: Files,
    work: (scene: RemoteScene) => Promise<T>): Promise<T> {
    const scene = await this.openScene(recipe, name, files);
    try {
      return await work(scene);
    } finally {
      scene.close();
    }
  }

  layerType(type: string) {
    return this.fields.layers.find((each) => each.type === type);
  }
}
