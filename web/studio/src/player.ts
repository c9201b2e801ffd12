// Time, and the frames of it. One frame is asked for at a time; what is wanted meanwhile is asked
// for when it is there, so a slow scene drops frames and never falls behind.
import type { FrameReport } from 'derm';
import type { FrameRequest, RemoteFrame } from 'derm/worker';
import { Signal } from './signal';
import type { StudioDocument } from './studio_document';

/** What a view wants to know about a frame besides the surface. */
export interface Wanted {
  linear: boolean;
  joints: boolean;
  points: boolean;
  report: boolean;
  channel: string;
  /** Weights of wrinkle maps. */
  maps: readonly string[];
}

export interface Shown {
  document: StudioDocument;
  frame: RemoteFrame;
  time_s: number;
  linear: Float32Array | null;
  joints: Float32Array | null;
  points: Float32Array | null;
  channel: Float32Array | null;
  /** By the names that were wanted. */
  maps: ReadonlyMap<string, Float32Array>;
  report: FrameReport | null;
}

/** Poses that somebody holds: the clip rests meanwhile. */
export interface LivePose {
  pose: Float32Array;
  morphWeights: Float32Array | null;
}

const kLongestStep_s = 0.1;  // of hidden tabs
const kMostSkipped_s = 0.25;

export class Player {
  readonly shown = new Signal<Shown>();
  readonly changed = new Signal();
  readonly failed = new Signal<unknown>();
  readonly wanted: Wanted = {
    linear: false, joints: true, points: false, report: true, channel: '', maps: [] };
  time_s = 0;
  playing = false;
  speed = 1;
  loop = true;
  live: LivePose | null = null;
  /** [s] what is played of the clip; null = all of it. */
  range: [number, number] | null = null;
  last: Shown | null = null;
  #document: StudioDocument | null = null;
  #asking = false;
  #again = false;
  #then = 0;
  #liveDt_s = 0;
  #passed_s = 0;
  #stopListening: () => void = () => {};

  constructor() {
    const tick = (now_ms: number) => {
      requestAnimationFrame(tick);  // first: a listener that fails must not stop the clock
      const passed_s = (now_ms - this.#then) / 1000;
      this.#then = now_ms;
      this.#tick(Math.min(passed_s, kLongestStep_s));
    };
    requestAnimationFrame(tick);
  }

  get document(): StudioDocument | null { return this.#document; }

  show(document: StudioDocument | null): void {
    this.#stopListening();
    this.#document = document;
    this.live = null;
    this.last = null;
    this.range = null;
    if (document) {
      this.time_s = document.recipe.start_s;
      if (!(this.end_s > this.start_s)) this.playing = false;
      this.#stopListening = document.changed.add(() => {
        this.#keepRange();
        if (this.live && document.character.joints.length * 10 !== this.live.pose.length)
          this.live = null;
        if (!this.playing) this.refresh();  // else the next frame shows it, and motion goes on
        this.changed.emit();
      });
      this.refresh();
    }
    this.changed.emit();
  }

  get start_s(): number { return this.range?.[0] ?? this.#document?.recipe.start_s ?? 0; }
  get end_s(): number { return this.range?.[1] ?? this.#document?.recipe.end_s ?? 0; }
  get frame_s(): number { return 1 / (this.#document?.recipe.fps ?? 60); }

  play(on = true): void {
    if (on === this.playing) return;
    if (on) this.release();
    this.playing = on && this.end_s > this.start_s;
    this.#passed_s = 0;
    if (!this.playing) this.refresh();  // after edits of what played, as the clip stands
    if (this.playing && this.time_s >= this.end_s) this.time_s = this.start_s;
    this.changed.emit();
  }

  seek(time_s: number): void {
    this.release();
    const recipe = this.#document?.recipe;
    if (!recipe) return;
    this.time_s = Math.min(Math.max(time_s, recipe.start_s), recipe.end_s);
    this.refresh();
    this.changed.emit();
  }

  /** By whole frames of the recipe. */
  step(frames: number): void {
    this.play(false);
    const at = Math.round((this.time_s - (this.#document?.recipe.start_s ?? 0)) / this.frame_s);
    this.seek((this.#document?.recipe.start_s ?? 0) + (at + frames) * this.frame_s);
  }

  setRange(range: [number, number] | null): void {
    this.range = range;
    if (range) this.time_s = Math.min(Math.max(this.time_s, range[0]), range[1]);
    this.refresh();
    this.changed.emit();
  }

  /** Another clip, or a part of it, may be shorter than what was played. */
  #keepRange(): void {
    const recipe = this.#document?.recipe;
    if (!this.range || !recipe) return;
    const from = Math.max(this.range[0], recipe.start_s), to = Math.min(this.range[1], recipe.end_s);
    this.range = from < to ? [from, to] : null;
  }

  /** Takes the pose into one's own hands, from where the clip stands. */
  async hold(): Promise<LivePose | null> {
    if (this.live) return this.live;
    const document = this.#document;
    if (!document) return null;
    this.play(false);
    const [pose, morphWeights] = await Promise.all([
      document.scene.ask('pose') as Promise<Float32Array | null>,
      document.scene.ask('morphWeights') as Promise<Float32Array | null>])
      .catch((): [null, null] => [null, null]);  // the scene was closed
    if (this.#document !== document || !pose) return null;
    this.live = { pose, morphWeights };
    this.#liveDt_s = 0;
    this.changed.emit();
    return this.live;
  }

  /** Gives the pose back to the clip. */
  release(): void {
    if (!this.live) return;
    this.live = null;
    this.refresh();
    this.changed.emit();
  }

  /** The frame anew, with what is wanted now. */
  refresh(): void {
    if (this.#asking) {
      this.#again = true;
      return;
    }
    const document = this.#document;
    if (!document || document.closed) return;
    this.#asking = true;
    this.#again = false;
    void this.#ask(document).finally(() => {
      this.#asking = false;
      if (this.#again) this.refresh();
    });
  }

  #tick(dt_s: number): void {
    if (!this.#document) return;
    if (this.live) {
      this.#liveDt_s += dt_s;
      if (!this.#asking) this.refresh();
      return;
    }
    if (!this.playing) return;
    // A slow scene shows fewer frames; only one that cannot keep up at all plays slower.
    this.#passed_s = Math.min(this.#passed_s + dt_s, kMostSkipped_s);
    if (this.#asking) return;
    let time_s = this.time_s + this.#passed_s * this.speed;
    this.#passed_s = 0;
    if (time_s > this.end_s) {
      if (this.loop) {
        time_s = this.start_s;
      } else {
        time_s = this.end_s;
        this.playing = false;
      }
    }
    this.time_s = time_s;
    this.refresh();
    this.changed.emit();
  }

  async #ask(document: StudioDocument): Promise<void> {
    const { scene } = document;
    const request: FrameRequest = this.live
      ? { dt_s: Math.min(this.#liveDt_s, kLongestStep_s), pose: this.live.pose,
        ...(this.live.morphWeights ? { morphWeights: this.live.morphWeights } : {}) }
      : { time_s: this.time_s };
    this.#liveDt_s = 0;
    const time_s = this.time_s;
    const wanted = this.wanted;
    const names = wanted.maps;
    const optional = <T>(want: boolean, name: string, ...args: unknown[]): Promise<T | null> =>
      want ? (scene.ask(name, ...args) as Promise<T>).catch(() => null) : Promise.resolve(null);
    try {
      // All in one breath: the worker answers in order, and they belong to one frame.
      const [frame, linear, joints, points, channel, report, ...weights] = await Promise.all([
        scene.frame(request),
        optional<Float32Array>(wanted.linear, 'linearPositions'),
        optional<Float32Array>(wanted.joints, 'jointMatrices'),
        optional<Float32Array>(wanted.points, 'pointPositions'),
        optional<Float32Array>(wanted.channel !== '', 'channel', wanted.channel),
        optional<FrameReport>(wanted.report, 'frameReport'),
        ...names.map((name) => optional<Float32Array>(true, 'channel', name))]);
      if (this.#document !== document) return;
      const maps = new Map<string, Float32Array>();
      names.forEach((name, i) => { if (weights[i]) maps.set(name, weights[i]!); });
      this.last = { document, frame, time_s, linear, joints, points, channel, maps, report };
      this.shown.emit(this.last);
    } catch (error) {
      if (this.#document !== document || document.closed) return;
      if (document.scene !== scene) {  // another took its place meanwhile: that is asked
        this.#again = true;
        return;
      }
      this.playing = false;
      this.live = null;
      this.failed.emit(error);
      this.changed.emit();
    }
  }
}
