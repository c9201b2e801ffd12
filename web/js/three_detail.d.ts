import type { BufferAttribute, MeshStandardMaterial, Texture } from 'three';
import type { DetailMap } from './derm.js';

/** The most maps that one material can show. */
export const kMostMaps: number;
export function pictureTexture(bytes: Uint8Array, mime_type: string): Promise<Texture>;
/** Makes a material draw wrinkle maps; its geometries need the attributes of DetailWeights, called
 *  alike. Returns the textures to be disposed with it. */
export function drawMaps(material: MeshStandardMaterial, maps: DetailMap[], textures: Texture[],
  attribute?: string): Texture[];
/** One for each list of maps of a geometry. */
export class DetailWeights {
  constructor(map_count: number, vertex_count: number, attribute?: string);
  readonly attributes: Record<string, BufferAttribute>;
  set(map: number, factor: number, channel: ArrayLike<number> | null): void;
}
/** The name for Scene.channel() of what a map is weighted by; '' = the same everywhere. */
export function channelOf(map: DetailMap): string;
