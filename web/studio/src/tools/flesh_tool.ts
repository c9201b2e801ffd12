// Flesh hangs on one joint and ends at another: two clicks.
import type { App } from '../app';
import { freeName } from './fold_tool';
import { layerIndexBefore } from './layer_order';
import type { Pointer, Tool } from './tool';

export class FleshTool implements Tool {
  readonly id = 'flesh';
  readonly title = 'Flesh';
  readonly icon = 'flesh';
  readonly key = 'e';
  readonly hint = 'Click the joint that the flesh hangs on, then the one where it ends.';
  #dominant = -1;
  #skeletonWasOn = false;

  constructor(private readonly app: App) {}

  enter(): void {
    this.#skeletonWasOn = this.app.viewport.settings.skeleton;
    this.app.setView({ skeleton: true });
    this.#choose(-1);
  }

  leave(): void {
    this.#choose(-1);
    this.app.setView({ skeleton: this.#skeletonWasOn });
  }

  cancel(): void { this.#choose(-1); }

  down(at: Pointer): boolean {
    return this.#jointAt(at) >= 0;
  }

  up(at: Pointer): void {
    const joint = this.#jointAt(at);
    if (joint < 0 || joint === this.#dominant) return this.#choose(-1);
    if (this.#dominant < 0) return this.#choose(joint);
    const [first, second] = [this.#dominant, joint];
    this.#choose(-1);
    void this.#make(first, second);
  }

  /** The one nearer to the root carries the flesh, whichever was clicked first. */
  async #make(first: number, second: number): Promise<void> {
    const document = this.app.document;
    if (!document) return;
    const { joints } = document.character;
    const isBelow = (joint: number, above: number): boolean => {
      for (let j = joint; j >= 0; j = joints[j]!.parent) if (j === above) return true;
      return false;
    };
    const [dominant, end] = isBelow(first, second) ? [second, first] : [first, second];
    if (!isBelow(end, dominant)) {
      this.app.messages.say('warning', 'These two joints are not on one line',
        `${joints[end]!.name} does not hang below ${joints[dominant]!.name}.`);
      return;
    }
    const names = document.recipe.layers.map((each) => each.name);
    const name = freeName(names, `flesh ${joints[dominant]!.name}`);
    const done = await document.edit(`make ${name}`, 'addLayer', 'flesh', {
      name, index: layerIndexBefore(document.recipe, ['volume', 'wrinkles', 'detail']),
      keys: { dominant: joints[dominant]!.name, ends: [joints[end]!.name] } });
    if (done) this.app.chooseLayer(name);
  }

  #jointAt(at: Pointer): number {
    const { viewport } = this.app;
    return viewport.skeleton.nearest(at.x, at.y, (point) => viewport.project(point));
  }

  #choose(joint: number): void {
    this.#dominant = joint;
    const chosen = new Set(joint < 0 ? [] : [joint]);
    this.app.viewport.skeleton.choose(chosen);
    this.app.jointsChosen.emit(chosen);
    this.app.viewport.draw();
  }
}
