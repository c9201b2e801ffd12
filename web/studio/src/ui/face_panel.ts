// Expressions: the character's controls (ARKit's names on heads that have a face rig) and morphs as
// sliders, and its labelled points.
import type { App } from '../app';
import { readFiles } from '../files';
import type { SecondHead } from '../second_head';
import type { PointTool } from '../tools/point_tool';
import type { Tools } from '../tools/tool';
import { h, hasFocus, shortNumber } from './dom';

export class FacePanel {
  readonly #body = h('div', { class: 'fields' });
  #filter = '';

  constructor(private readonly app: App, private readonly tools: Tools,
    private readonly pointTool: PointTool, private readonly second: SecondHead, place: HTMLElement) {
    place.append(this.#body);
    app.opened.add((document) => {
      this.#show();
      document?.changed.add(() => { if (!hasFocus(this.#body)) this.#show(); });
    });
  }

  #show(): void {
    const document = this.app.document;
    if (!document) return;
    const { character, recipe } = document;
    const search = h('input', { type: 'search', placeholder: 'Find an expression', value: this.#filter,
      'aria-label': 'Find an expression', oninput: () => {
        this.#filter = search.value;
        for (const row of this.#body.querySelectorAll<HTMLElement>('[data-name]'))
          row.hidden = !row.dataset.name!.toLowerCase().includes(this.#filter.toLowerCase());
      } });
    const controls = character.controls.map((control, index) => {
      const held = recipe.controls[control.name];
      return this.#slider(control.name, control.low, control.high, held ?? control.preset,
        held !== undefined,
        // Held while the mouse moves, in the recipe when it is let go.
        (value) => void document.scene.ask('holdControl', index, value)
          .then(() => this.app.player.refresh(), () => {}),
        (value) => {
          document.drag('', `controls.${control.name}`, value);
          void document.commit(control.name).then(() => this.#show());
        });
    });
    const morphs = character.controls.length > 0 ? [] : character.morphs.map((morph, index) =>
      this.#slider(morph.name, 0, 1, morph.preset, false,
        (value) => void this.#morph(index, value), (value) => void this.#morph(index, value ?? morph.preset)));
    const points = character.points.map((point) => h('button', { class: 'chip', 'data-point': point.label,
      onclick: () => {
        this.tools.use('point');
        this.pointTool.choose(point.label);
      } }, point.label));
    this.#body.replaceChildren(h('h3', {}, 'Expressions'),
      controls.length + morphs.length > 0 ? search
        : h('p', { class: 'summary' }, 'This character has neither controls nor morphs.'),
      morphs.length === 0 ? '' : h('p', { class: 'summary' },
        'Morphs are held by hand while the clip waits; Play goes on with it.'),
      ...controls, ...morphs,
      h('h3', {}, 'Labelled points'),
      h('p', { class: 'summary' }, points.length > 0
        ? 'Choose one and drag it in the picture to correct it.'
        : 'None yet: place them with the Points tool, then drop a motion of another face.'),
      h('div', { class: 'chips' }, ...points), ...this.#beside());
  }

  /** A second head to compare with. */
  #beside(): HTMLElement[] {
    const { second } = this;
    const chooser = h('input', { type: 'file', accept: '.glb,.obj', hidden: true, onchange: () => {
      void readFiles(chooser.files ?? []).then(async ([file]) => {
        if (file) await second.show(file.name, { [file.name]: file.bytes });
        this.#show();
      }, (error: unknown) => this.app.messages.error(error, 'The file cannot be opened'));
    } });
    const choice = h('select', { 'aria-label': 'Second head', 'data-second': 'yes', onchange: () => {
      const { value } = choice;
      if (value === 'file') return chooser.click();
      if (value !== '') return void second.show(value).then(() => this.#show());
      second.hide();
      this.#show();
    } }, h('option', { value: '' }, second.shown ? 'Hide it' : 'A head beside it …'),
    ...this.app.library.cast.map(({ name }) => h('option', { value: `cast:${name}` }, name)),
    h('option', { value: 'file' }, 'from a file …'));
    const own = `cast:${second.name}`;
    choice.value = second.shown && this.app.library.cast.some(({ name }) => `cast:${name}` === own)
      ? own : '';
    return [h('h3', {}, 'Beside it'),
      h('p', { class: 'summary' }, 'Points of the same label belong together when a motion goes from '
        + 'one face to the other. Drag those that are wrong, on either head.'),
      h('div', { class: 'presets' }, choice, chooser, h('button', {
        disabled: !second.shown, onclick: () => void second.save() }, 'Save it'))];
  }

  async #morph(index: number, value: number): Promise<void> {
    const live = await this.app.player.hold();
    if (live?.morphWeights) live.morphWeights[index] = value;
  }

  #slider(name: string, low: number, high: number, value: number, set: boolean,
    drag: (value: number) => void, done: (value: number | undefined) => void): HTMLElement {
    const number = h('output', {}, shortNumber(Number(value.toFixed(2))));
    const bar = h('input', { type: 'range', min: low, max: high, step: 'any', 'aria-label': name,
      oninput: () => {
        number.textContent = shortNumber(Number(Number(bar.value).toFixed(2)));
        drag(Number(bar.value));
      },
      onchange: () => done(Number(Number(bar.value).toFixed(3))) });
    bar.value = String(value);
    return h('div', { class: `field expression${set ? ' set' : ''}`, 'data-name': name,
      hidden: !name.toLowerCase().includes(this.#filter.toLowerCase()) },
    h('span', { class: 'field-label', title: name }, name), h('div', { class: 'number' }, bar, number),
    h('button', { class: 'reset', title: 'as the clip says', 'aria-label': `${name}: as the clip says`,
      tabindex: set ? 0 : -1, onclick: () => done(undefined) }, '↺'));
  }
}
