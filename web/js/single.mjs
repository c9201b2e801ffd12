// derm with its WebAssembly inside: for pages that are one file, and bundlers that should not ask.
import { Derm as Base } from './derm.mjs';
import { first, rest } from './wasm_text.mjs';

export { DermError, Liquid, Scene } from './derm.mjs';

function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

/** The bytes of derm.wasm. */
export const wasmBytes = () => unpacked(first);
/** The bytes of derm.rest.wasm. */
export const restBytes = () => unpacked(rest);

export const Derm = {
  load: async () => Base.load({ wasm: await wasmBytes(), rest: restBytes }),
};
