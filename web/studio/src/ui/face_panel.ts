// Expressions: the character's controls (ARKit's names on heads that have a face rig) and morphs as
// sliders, and its labelled points.
import type { App } from '../app';
import { readFiles } from '../files';
import type { SecondHead } from '../second_head';
import type { PointTool } from '../tools/point_tool';
import type { Tools } from '../tools/tool';
import type { FoundPoints } from 'derm';
import { h, hasFocus, replaceRows, shortNumber, whileVisible } from './dom';
import { fieldRow, ownValue } from './fields';

export class FacePanel {
  readonly #body = h('div', { class: 'fields' });
  #filter = '';

  constructor(private readonly app: App, private readonly tools: Tools,
    private readonly pointTool: PointTool, private readonly second: SecondHead, place: HTMLElement) {
    place.append(this.#body);
    const show = whileVisible(place, () => this.#show());
    app.opened.add((document) => {
      show();
      document?.changed.add(() => { if (!hasFocus(this.#body)) show(); });
      document?.restored.add(show);
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
    // Skin, teeth and lashes have shapes of one name each: one slider for all.
    const named = new Map<string, number[]>();
    character.morphs.forEach(({ name }, index) => named.set(name, [...named.get(name) ?? [], index]));
    const morphs = character.controls.length > 0 ? [] : [...named].map(([name, indices]) => {
      const { preset } = character.morphs[indices[0]!]!;
      return this.#slider(name, 0, 1, preset, false, (value) => void this.#morph(indices, value),
        (value) => void this.#morph(indices, value ?? preset));
    });
    const points = character.points.map((point) => h('button', { class: 'chip', 'data-point': point.label,
      onclick: () => {
        this.tools.use('point');
        this.pointTool.choose(point.label);
      }, title: this.#meaning(point.label) }, point.label));
    const shown = [h('h3', {}, 'Expressions'),
      controls.length + morphs.length > 0 ? search
        : h('p', { class: 'summary' }, 'This character has neither controls nor morphs.'),
      morphs.length === 0 ? '' : h('p', { class: 'summary' },
        'Morphs are held by hand while the clip waits; Play goes on with it.'),
      ...controls, ...morphs,
      this.#lacksShapes() && h('div', { class: 'presets' }, h('button', { 'data-shapes': 'yes',
        title: 'morph targets under ARKit\'s names, from the 28 control points',
        onclick: () => void this.app.long('Making 52 shapes …', () => document.addFaceShapes())
          .then(() => this.#show()) },
      'Make ARKit\'s 52 shapes')),
      h('h3', {}, 'Labelled points'),
      h('p', { class: 'summary' }, points.length > 0
        ? 'Choose one and drag it in the picture to correct it.'
        : 'None yet: let derm find the 28 control points of a face by its shape, or place them with '
          + 'the Points tool; then drop a motion of another face.'),
      h('div', { class: 'presets' }, h('button', { 'data-find-points': 'yes',
        title: 'the 28 control points of a face, by its shape',
        onclick: () => void this.#find() }, points.length > 0 ? 'Find them anew' : 'Find the points')),
      h('div', { class: 'chips' }, ...points), ...this.#beside(), ...this.#motion()];
    replaceRows(this.#body, ...shown.filter((each): each is HTMLElement => typeof each === 'object'));
  }

  /** A face whose expressions have no ARKit names yet. */
  #lacksShapes(): boolean {
    const { points, morphs } = this.app.document!.character;
    const has = (name: string) => morphs.some((morph) => morph.name === name);
    return points.length >= 28 && !(has('jawOpen') && has('mouthSmileLeft') && has('browInnerUp'));
  }

  #meaning(label: string): string {
    const about = this.app.library.faceNames.points.find((each) =>
      each.label === label || each.name === label);
    return about ? `${about.name}: ${about.meaning}` : label;
  }

  async #find(): Promise<void> {
    const { app } = this;
    const document = app.document;
    if (!document) return;
    const found = await app.long('Looking for the points of the face …', () =>
      document.apart((scene) => scene.ask('findPoints') as Promise<FoundPoints>));
    if (!found || document !== app.document) return;
    if (!await document.placePoints(new Map(found.points.map((p) => [p.label, p])), 'find points')) return;
    this.#show();
    this.tools.use('point');
    app.messages.say('done', `${found.points.length} points were found`,
      `From ${found.source}, misfit ${found.residual.toFixed(2)}. Look at them, and drag those that are wrong.`);
  }

  /** What the face plays of other faces: the recipe's section. */
  #motion(): HTMLElement[] {
    const document = this.app.document!;
    const section = this.app.library.fields.sections.find((each) => each.name === 'face');
    if (!section || document.character.points.length === 0) return [];
    const values = document.recipe.sections['face'] ?? {};
    const { regions } = this.app.library.faceNames;
    return [h('h3', {}, 'Motion of other faces'),
      h('p', { class: 'summary' }, `Drop a table of ARKit's coefficients (.csv) or a .bvh of markers. Regions of a `
        + `motion, with commas: ${regions.join(', ')}, each with .left and .right. Colour by “region” shows them.`),
      ...section.fields.map((field) => fieldRow(field, ownValue(field, values), document.character, {
        drag: () => {},
        done: (value) => {
          document.drag('', `face.${field.key}`, value);
          void document.commit(`face ${field.key}`).then(() => this.#show());
        } }))];
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
      h('div', { class: 'presets' }, choice, chooser, h('button', { 'data-match': 'yes',
        disabled: !second.shown || this.app.document!.character.points.length === 0,
        title: 'find the points of the character on the second head, by shape',
        onclick: () => void second.match().then(() => this.#show()) }, 'Match'), h('button', {
        disabled: !second.shown, onclick: () => void second.save() }, 'Save it'))];
  }

  async #morph(indices: readonly number[], value: number): Promise<void> {
    const live = await this.app.player.hold();
    for (const index of indices) if (live?.morphWeights) live.morphWeights[index] = value;
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
