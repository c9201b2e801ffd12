// What the left mouse button does in the picture.
import type { App } from '../app';
import { Signal } from '../signal';

/** Places are the picture's pixels. */
export interface Pointer {
  x: number;
  y: number;
  shift: boolean;
  ctrl: boolean;
}

export interface Tool {
  readonly id: string;
  readonly title: string;
  readonly icon: string;
  readonly key: string;
  readonly hint: string;
  enter?(): void;
  leave?(): void;
  /** True: the tool takes this drag, and the camera rests. */
  down?(at: Pointer): boolean;
  move?(at: Pointer): void;
  up?(at: Pointer): void;
  hover?(at: Pointer): void;
  /** True: taken, no zoom. */
  wheel?(steps: number): boolean;
  /** The keys [ and ]. */
  resize?(steps: number): void;
  /** Escape. */
  cancel?(): void;
  /** Settings of the tool, for the bar above the picture. */
  options?(): HTMLElement;
}

export class Tools {
  readonly changed = new Signal<Tool>();
  #current: Tool;
  /** The pointer that the tool has taken; other fingers do nothing meanwhile. */
  #taken: number | null = null;

  constructor(private readonly app: App, readonly all: readonly Tool[]) {
    this.#current = all[0]!;
    const { canvas, controls } = app.viewport;
    const at = (event: PointerEvent): Pointer => {
      const [x, y] = app.viewport.local(event);
      return { x, y, shift: event.shiftKey, ctrl: event.ctrlKey || event.metaKey };
    };
    // Before the camera hears of it: listeners of the capture phase come first.
    canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0 || this.#taken !== null || !app.document) return;
      if (!this.#current.down?.(at(event))) return;
      this.#taken = event.pointerId;
      controls.enabled = false;
      canvas.setPointerCapture(event.pointerId);
    }, { capture: true });
    canvas.addEventListener('pointermove', (event) => {
      if (this.#taken === event.pointerId) this.#current.move?.(at(event));
      else if (this.#taken === null && event.buttons === 0) this.#current.hover?.(at(event));
    }, { capture: true });
    canvas.addEventListener('pointerup', (event) => {
      if (this.#taken !== event.pointerId) return;
      this.#taken = null;
      controls.enabled = true;
      this.#current.up?.(at(event));
    }, { capture: true });
    // The browser took the finger for itself: nothing was meant to happen where it was.
    canvas.addEventListener('pointercancel', (event) => {
      if (this.#taken === event.pointerId) this.cancel();
    });
    canvas.addEventListener('wheel', (event) => {
      if (!this.#current.wheel?.(event.deltaY > 0 ? -1 : 1)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    }, { capture: true, passive: false });
    app.opened.add(() => this.use(this.all[0]!.id));
  }

  get current(): Tool { return this.#current; }

  use(id: string): boolean {
    const next = this.all.find((tool) => tool.id === id);
    if (!next) return false;
    if (next === this.#current) return true;
    this.cancel();
    this.#current.leave?.();
    this.#current = next;
    next.enter?.();
    this.changed.emit(next);
    this.app.viewport.draw();
    return true;
  }

  cancel(): void {
    this.#taken = null;
    this.app.viewport.controls.enabled = true;
    this.#current.cancel?.();
  }
}

/** Asks for one thing at a time and for the newest when that is answered. */
export class Newest<T> {
  #running = false;
  #next: T | null = null;

  constructor(private readonly work: (value: T) => Promise<void>) {}

  push(value: T): void {
    this.#next = value;
    if (!this.#running) void this.#run();
  }

  /** What was pushed and not begun is dropped. */
  clear(): void { this.#next = null; }

  async #run(): Promise<void> {
    this.#running = true;
    while (this.#next !== null) {
      const value = this.#next;
      this.#next = null;
      await this.work(value).catch(() => {});
    }
    this.#running = false;
  }
}
