import type { Edit, Files, Wasm } from './derm.js';

export interface RemoteSurface {
  vertexCount: number;
  triangles: Uint32Array;
  uvs: Float32Array | null;
  colours: Float32Array | null;
  partRanges: Uint32Array;
}
export interface RemoteFrame {
  topology: number;
  positions: Float32Array;
  normals: Float32Array | null;
  /** Where vertices or triangles are others than in the frame before. */
  surface?: RemoteSurface;
}
export interface FrameRequest {
  time_s?: number;
  dt_s?: number;
  reset?: boolean;
  pose?: Float32Array;
  morphWeights?: Float32Array;
  controls?: Float32Array;
}
export type EditMethod = 'set' | 'setRecipeText' | 'addLayer' | 'removeLayer' | 'moveLayer'
  | 'enableLayer' | 'renameLayer' | 'setGroup' | 'setPoint' | 'setPoints' | 'addFaceShapes';

/** A Scene in a worker: binding stops neither the page nor the animation. */
export class RemoteScene {
  private constructor();
  static open(recipe: string,
    options?: { name?: string; files?: Files; wasm?: Wasm; rest?: Wasm; worker?: () => Worker }):
    Promise<RemoteScene>;
  readonly binding: boolean;
  frame(request: FrameRequest): Promise<RemoteFrame>;
  seek(time_s: number): Promise<RemoteFrame>;
  step(dt_s: number, pose?: Float32Array): Promise<RemoteFrame>;
  ask(name: string, ...args: unknown[]): Promise<any>;
  of(name: string): Promise<any>;
  edit(method: EditMethod, ...args: unknown[]): Promise<Edit>;
  /** Gets ready for edits that bind. */
  prepare(): Promise<void>;
  close(): void;
}

/** A recipe of the same character and of nothing else. */
export function bareRecipe(recipe: string): string;

/** Serves a RemoteScene from a worker of one's own. */
export function serve(port: { onmessage: unknown;
  postMessage(message: unknown, transfer?: Transferable[]): void }): void;
