import { Mesh } from 'three';
import type { Material, Object3D } from 'three';
import type { GLTF } from 'three/addons/loaders/GLTFLoader.js';
import type { Derm, Files, Liquid, Scene } from './derm.js';

/** The skin of one glTF, or of one clone of it. */
export class LivingSkin {
  private constructor();
  static from(gltf: GLTF,
    options: { derm: Derm; recipe?: string; root?: Object3D; files?: Files }): Promise<LivingSkin>;
  readonly scene: Scene;
  readonly meshes: Mesh[];
  /** For each of them the glTF's own mesh, which is not drawn meanwhile. */
  readonly originals: (Mesh | undefined)[];
  /** [s] Where the motion of another face, which the recipe's [face] names, has come: update() goes
   *  on with it, set it to seek. What it moves is its own; the rest follows the glTF. */
  faceTime_s: number;
  /** After the mixer's update: the frame dt_s seconds after the last. */
  update(dt_s: number): void;
  /** After a cut to another pose or place. */
  reset(): void;
  dispose(): void;
}

/** The materials of a scene's character, textures included, one for each part. */
export function materialsOf(scene: Scene): Promise<Material[]>;

/** Draws the present frame of a Scene or a Liquid: call show() after each. */
export class SurfaceMesh extends Mesh {
  constructor(source: Scene | Liquid, material?: Material | Material[]);
  show(): void;
  dispose(): void;
}
