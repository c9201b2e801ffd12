// derm with its WebAssembly inside: for pages that are one file, and bundlers that should not ask.
import { Derm as Base } from './derm.mjs';
import packed from './wasm_text.mjs';

export { DermError, Liquid, Scene } from './derm.mjs';

/** The bytes of derm.wasm. */
export async function wasmBytes() {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

export const Derm = {
  load: async () => Base.load({ wasm: await wasmBytes() }),
};
