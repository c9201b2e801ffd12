import { Derm as Base } from './derm.js';

export { DermError, Liquid, Scene } from './derm.js';
/** The bytes of derm.wasm, for Derm.load({ wasm }) and RemoteScene.open(…, { wasm }). */
export function wasmBytes(): Promise<ArrayBuffer>;
/** The bytes of derm.rest.wasm, for `rest` of the same. */
export function restBytes(): Promise<ArrayBuffer>;
export const Derm: { load(): Promise<Base> };
