/** What went wrong, with text and place. The only thing that this package throws. */
export class DermError extends Error {
  constructor(fields: Partial<DermErrorFields>);
  readonly code: DermErrorCode;
  /** What is wrong, without the place. */
  readonly reason: string;
  readonly file: string;
  readonly element: string;
  /** From 1; 0 = not known. */
  readonly line: number;
  readonly column: number;
  toJSON(): DermErrorFields;
}
export type DermErrorCode = 'bad_data' | 'bad_argument' | 'unsupported' | 'cannot_read'
  | 'cannot_write' | 'cancelled' | 'not_loaded' | 'out_of_memory' | 'internal' | 'closed';
export interface DermErrorFields {
  code: DermErrorCode; text: string; message: string; file: string; element: string;
  line: number; column: number;
}

export type Bytes = Uint8Array | ArrayBuffer | ArrayBufferView | string;
export type Files = Record<string, Bytes>;
export type Wasm = string | URL | Response | ArrayBuffer | ArrayBufferView | WebAssembly.Module;

/** A key of a recipe. No low or high: no such limit. No default: the key may be absent. */
export interface Field {
  key: string;
  kind: 'flag' | 'number' | 'integer' | 'text' | 'numbers' | 'joint' | 'joints' | 'group'
    | 'groups' | 'word' | 'word_or_groups' | 'word_or_joints' | 'tables';
  help: string;
  low?: number;
  high?: number;
  unit?: string;
  default?: unknown;
  /** Least and most entries of 'numbers'. */
  count?: [number, number];
  words?: string[];
  /** Of one table of 'tables'. */
  fields?: Field[];
  /** A change shows at once: no second scene is needed to bind it in; absent inside tables. */
  live?: boolean;
}
export interface RecipeFields {
  /** '' (the top level), skinning, face, simulation. */
  sections: { name: string; fields: Field[] }[];
  layers: { type: string; summary: string; fields: Field[] }[];
}

export interface Character {
  name: string;
  vertices: number;
  triangles: number;
  diagonal_m: number;
  has_skin: boolean;
  metres_per_unit: number;
  /** parent -1 = none; node: its number in the glTF, -1 = none; bone: a skin uses it. */
  joints: { name: string; parent: number; node: number; bone: boolean }[];
  /** joints, morphs: what the clip moves, by number. */
  clips: { name: string; duration_s: number; joints: number[]; morphs: number[] }[];
  morphs: { name: string; preset: number }[];
  controls: { name: string; low: number; high: number; preset: number }[];
  points: { label: string; triangle: number; barycentric: [number, number, number] }[];
  groups: string[];
  images: { name: string; mime_type: string; uri: string; bytes: number }[];
  materials: Material[];
  parts: Part[];
  notes: string[];
}
export interface Material {
  name: string;
  base_colour: [number, number, number, number];
  base_colour_image: number;
  normal_image: number;
  metallic: number;
  roughness: number;
  double_sided: boolean;
  transparent: boolean;
  /** Its number in the glTF, -1 = none. */
  source: number;
  detail_maps: DetailMap[];
}
/** A normal map over the material's own, weighted by a group, a control or a channel. */
export interface DetailMap {
  image: number;
  strength: number;
  uv_set: number;
  uv_scale: [number, number];
  uv_offset: [number, number];
  group: string;
  control: string;
  channel: string;
}
export interface Part {
  name: string;
  instance: string;
  material: number;
  node: number;
  mesh: number;
  primitive: number;
  rigid: boolean;
  first_morph: number;
  morph_count: number;
  first_vertex: number;
  vertex_count: number;
}
export interface Recipe {
  clip: { name: string; number: number; duration_s: number } | null;
  start_s: number;
  end_s: number;
  loop: boolean;
  fps: number;
  frames: number;
  sections: Record<string, Record<string, unknown>>;
  controls: Record<string, number>;
  layers: RecipeLayer[];
  /** Names for channel('mask:NAME'). */
  masks: string[];
  channels: string[];
}
export interface RecipeLayer {
  name: string;
  type: string;
  enabled: boolean;
  before_skinning: boolean;
  keys: Record<string, unknown>;
}
/** What an edit did. */
export interface Edit {
  /** Layers that were bound again. */
  rebound: string[];
  /** Everything was bound anew: character may be another. */
  reopened: boolean;
  ms: number;
  notes: string[];
}
export interface FrameReport {
  time_s: number;
  layers: {
    name: string;
    type: string;
    /** 0 after step(). */
    ms: number;
    elongation_m?: [number, number, number];
    velocity_m_per_s?: [number, number, number];
    tools?: {
      length_m: number; rest_length_m: number; height_m: number; bumps: number; missing_m: number;
    }[];
    regions?: {
      name: string; rest_m3: number; before_m3: number; target_m3: number; after_m3: number;
      idle: boolean;
    }[];
    largest_move_m?: number;
    iterations?: number;
  }[];
}
export interface Hit {
  triangle: number;
  vertex: number;
  joint: number;
  part: number;
  barycentric: number[];
  position: number[];
  normal: number[];
  distance: number;
  characterTriangle: number;
}
export interface BakeOptions {
  format?: 'glb' | 'pc2' | 'mdd' | 'obj';
  as?: 'cache' | 'correctives';
  shapes?: number;
  error_m?: number;
  measure?: boolean;
}

/** What is said about faces: the 28 control points, and the regions that they make. */
export interface FaceNames {
  points: { label: string; name: string; meaning: string }[];
  regions: string[];
}
export interface PlacedPoint {
  label: string;
  /** Of the character's own mesh; -1 takes the point away. */
  triangle: number;
  barycentric?: [number, number, number];
}
export interface FoundPoints {
  source: string;
  /** Misfit of the two heads: 0.1 to 0.4 between people, above 0.5 for what is no face. */
  residual: number;
  points: { label: string; triangle: number; barycentric: [number, number, number];
    confidence: number }[];
}

/** The module: one for any number of scenes. */
export class Derm {
  static load(options?: { wasm?: Wasm; rest?: Wasm | (() => Wasm | Promise<Wasm>) }): Promise<Derm>;
  /** Loads derm.rest.wasm, what few pages need. Members of the cast do so by themselves; before
   *  findPoints(), addFaceShapes(), bake() and characterGlb(), which throw "not_loaded" else, the
   *  page does. */
  loadRest(): Promise<void>;
  readonly hasRest: boolean;
  readonly module: WebAssembly.Module;
  readonly version: string;
  readonly cast: { name: string; description: string }[];
  readonly liquids: { name: string; description: string }[];
  readonly recipes: { name: string; text: string }[];
  readonly fields: RecipeFields;
  readonly faceNames: FaceNames;
  readonly memoryBytes: number;
  open(recipe: string, options?: { name?: string; files?: Files }): Promise<Scene>;
  openCharacter(character: string, options?: { files?: Files }): Promise<Scene>;
  openLiquid(name: string, options?: { detail?: number }): Promise<Liquid>;
}

/** A character at play. Views are of the module's memory: valid until the next call. */
export class Scene {
  private constructor();
  readonly closed: boolean;
  readonly character: Character;
  readonly recipe: Recipe;
  readonly recipeText: string;

  setRecipeText(text: string): Edit;
  set(layer: string, key: string, value?: unknown): Edit;
  addLayer(type: string,
    options?: { name?: string; index?: number; keys?: Record<string, unknown> }): Edit;
  removeLayer(name: string): Edit;
  moveLayer(name: string, index: number): Edit;
  enableLayer(name: string, enabled: boolean): Edit;
  renameLayer(name: string, to: string): Edit;
  propose(what?: 'flesh' | 'contact' | 'volume' | 'wrinkles' | 'all'): string;

  seek(time_s: number): void;
  step(dt_s: number): void;
  reset(): void;
  sample(clip: number, time_s: number): void;
  /** Until the next edit, whatever the clip says; without a value: as the clip says. */
  holdControl(control: number, value?: number): void;
  readonly pose: Float32Array | null;
  readonly morphWeights: Float32Array | null;
  readonly controls: Float32Array | null;

  readonly vertexCount: number;
  readonly triangleCount: number;
  /** Changes whenever vertices or triangles are others than before. */
  readonly topology: number;
  readonly positions: Float32Array;
  readonly normals: Float32Array | null;
  readonly tangents: Float32Array | null;
  readonly uvs: Float32Array | null;
  readonly colours: Float32Array | null;
  readonly triangles: Uint32Array;
  readonly partRanges: Uint32Array;
  linearPositions(): Float32Array;
  jointMatrices(): Float32Array | null;
  pointPositions(): Float32Array | null;
  channel(name: string): Float32Array;
  frameReport(): FrameReport;
  pick(origin: ArrayLike<number>, direction: ArrayLike<number>): Hit | null;

  setGroup(name: string, strengths: ArrayLike<number>): Edit;
  setPoint(label: string, triangle: number, barycentric?: ArrayLike<number>): Edit;
  setPoints(points: PlacedPoint[]): Edit;
  addFaceShapes(): Edit;
  findPoints(source?: string): FoundPoints;

  bake(options?: BakeOptions): { bytes: Uint8Array; report: Record<string, unknown> };
  characterGlb(): Uint8Array;
  image(index: number): Uint8Array;
  close(): void;
}

export class Liquid {
  private constructor();
  readonly closed: boolean;
  step(dt_s: number): void;
  readonly time_s: number;
  readonly volume_m3: number;
  readonly vertexCount: number;
  readonly triangleCount: number;
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  readonly triangles: Uint32Array;
  close(): void;
}
