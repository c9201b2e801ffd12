// Labelled points of a face: click places the point that is named above, dragging moves one.
import type { App } from '../app';
import { h } from '../ui/dom';
import type { SecondHead } from '../second_head';
import type { PointsView } from '../view/points_view';
import type { Pointer, Tool } from './tool';

export class PointTool implements Tool {
  readonly id = 'point';
  readonly title = 'Points';
  readonly icon = 'point';
  readonly key = 'o';
  readonly hint = 'Drag a point of the face to correct it; click the skin to place a new one.';
  label = '';
  #wereOn = false;
  #field: HTMLInputElement | null = null;
  #onSecond = false;

  constructor(private readonly app: App, private readonly points: PointsView,
    private readonly second: SecondHead) {}

  enter(): void {
    this.#wereOn = this.app.viewport.settings.points;
    this.app.setView({ points: true });
    this.app.player.play(false);
  }

  leave(): void {
    this.points.choose('');
    this.app.setView({ points: this.#wereOn });
  }

  options(): HTMLElement {
    const names = h('datalist', { id: 'point-names' }, ...this.app.library.faceNames.points.map((point) =>
      h('option', { value: point.label }, `${point.name}: ${point.meaning}`)));
    const field = h('input', { type: 'text', value: this.label, size: 16, placeholder: 'label',
      list: 'point-names', 'aria-label': 'Label of the point',
      onchange: () => { this.label = field.value.trim(); } });
    this.#field = field;
    return h('div', { class: 'tool-options' }, h('label', { class: 'tool-option' }, 'Point', field, names),
      h('button', { onclick: () => {
        if (this.label) void this.app.document?.placePoint(this.label, null);
      } }, 'Remove'));
  }

  choose(label: string): void {
    this.label = label;
    if (this.#field) this.#field.value = label;
    this.points.choose(label);
    this.app.viewport.draw();
  }

  down(at: Pointer): boolean {
    const there = this.second.nearest(at.x, at.y);
    this.#onSecond = there !== '';
    const near = this.#onSecond ? there : this.points.nearest(at.x, at.y);
    if (near !== '') this.choose(near);
    return near !== '' || this.app.overBody(at.x, at.y);
  }

  up(at: Pointer): void {
    void (this.#onSecond ? this.second.place(this.label, at.x, at.y) : this.#place(at));
  }

  async #place(at: Pointer): Promise<void> {
    const document = this.app.document;
    const hit = await this.app.pick(at.x, at.y);
    if (!document || !hit) return;
    if (this.label === '') {
      this.app.messages.say('info', 'Which point is this?', 'Write its label above the picture.');
      return;
    }
    if (hit.characterTriangle < 0) return;
    await document.placePoint(this.label, {
      triangle: hit.characterTriangle, barycentric: hit.barycentric as [number, number, number] });
  }
}
