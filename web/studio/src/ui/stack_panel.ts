// The layers from the skin outwards, and the parameters of the one that is chosen.
import type { RecipeLayer } from 'derm';
import type { App } from '../app';
import { keepPreset, ownPresets, type Preset } from '../storage';
import type { StudioDocument } from '../studio_document';
import { h, hasFocus, replaceRows, whileVisible } from './dom';
import { fieldRow, ownValue, type FieldActions } from './fields';
import { icon } from './icons';

/** Good starts for each kind of layer. */
const kPresets: readonly Preset[] = [
  { type: 'flesh', name: 'muscle', keys: { softness: 'muscle' } },
  { type: 'flesh', name: 'fat', keys: { softness: 'fat' } },
  { type: 'flesh', name: 'belly', keys: { softness: 'belly' } },
  { type: 'flesh', name: 'jelly', keys: { softness: 'jelly' } },
  { type: 'wrinkles', name: 'skin: fine', keys: { points: 17, h_max_m: 0.002, profile: 'round', strategy: 'squeezed', spacing: 0 } },
  { type: 'wrinkles', name: 'skin: deep', keys: { points: 9, h_max_m: 0.006, profile: 'round', strategy: 'squeezed', spacing: 0 } },
  { type: 'wrinkles', name: 'cloth', keys: { points: 7, h_max_m: 0.015, profile: 'round', strategy: 'squeezed', spacing: 0 } },
];
const kSkinning = 'skinning';

export class StackPanel {
  readonly #list = h('div', { class: 'layers', role: 'listbox', 'aria-label': 'Layers' });
  readonly #fields = h('div', { class: 'fields' });
  readonly #help = h('div', { class: 'help', 'aria-live': 'polite' });
  #shownText = '';
  #stroking = false;

  constructor(private readonly app: App, place: HTMLElement) {
    const add = h('select', { 'aria-label': 'Add a layer', class: 'add', onchange: () => {
      const type = add.value;
      add.value = '';
      if (type) void this.#add(type);
    } }, h('option', { value: '' }, '+ Add a layer'),
    ...app.library.fields.layers.map((layer) =>
      h('option', { value: layer.type, title: layer.summary }, `${layer.type}: ${layer.summary}`)));
    place.append(h('div', { class: 'panel-head' }, add), this.#list, this.#fields, this.#help);
    const tell = (event: Event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-help]');
      this.#help.textContent = row?.dataset.help ?? '';
    };
    this.#fields.addEventListener('pointerover', tell);
    this.#fields.addEventListener('focusin', tell);
    const show = whileVisible(place, () => this.#show(false));
    app.opened.add((document) => {
      this.#shownText = '';
      this.#show(true);
      document?.changed.add(show);
      document?.restored.add(() => {
        this.#stroking = false;
        this.#show(true);
      });
    });
    app.layerChosen.add(() => this.#show(true));
  }

  get #document(): StudioDocument | null { return this.app.document; }

  async #add(type: string): Promise<void> {
    const document = this.#document;
    if (!document) return;
    const before = new Set(document.recipe.layers.map((layer) => layer.name));
    if (await document.edit(`add ${type}`, 'addLayer', type, {})) {
      const fresh = document.recipe.layers.find((layer) => !before.has(layer.name));
      if (fresh) this.app.chooseLayer(fresh.name);
    } else if (type === 'flesh' || type === 'wrinkles') {
      this.app.messages.say('info', type === 'flesh' ? 'Flesh hangs on joints' : 'Folds are drawn',
        type === 'flesh' ? 'Use the Flesh tool and click two joints.'
          : 'Use the Fold tool and drag over the skin.');
    }
  }

  #show(force: boolean): void {
    const document = this.#document;
    if (!document) return;
    if (!force && this.#shownText === document.text) return;
    this.#shownText = document.text;
    const { recipe } = document;
    if (this.app.chosenLayer !== kSkinning && !document.layer(this.app.chosenLayer))
      this.app.chosenLayer = recipe.layers[0]?.name ?? kSkinning;
    this.#list.replaceChildren(this.#skinningRow(),
      ...recipe.layers.map((layer, index) => this.#layerRow(layer, index)));
    // What is being dragged or typed is not pulled away from under the hand.
    if (!force && (this.#stroking || hasFocus(this.#fields))) {
      this.#markSet();
      return;
    }
    this.#showFields();
  }

  #choose(name: string): void { this.app.chooseLayer(name); }

  #skinningRow(): HTMLElement {
    const chosen = this.app.chosenLayer === kSkinning;
    return h('div', { class: `layer fixed${chosen ? ' chosen' : ''}` },
      h('button', { class: 'layer-name', role: 'option', 'aria-selected': String(chosen),
        onclick: () => this.#choose(kSkinning) }, 'skinning',
      h('span', { class: 'layer-type' },
        String(this.#document!.recipe.sections['skinning']?.['method'] ?? 'linear'))));
  }

  #layerRow(layer: RecipeLayer, index: number): HTMLElement {
    const document = this.#document!;
    const chosen = layer.name === this.app.chosenLayer;
    const last = document.recipe.layers.length - 1;
    const on = h('input', { type: 'checkbox', title: 'on or off', 'aria-label': `${layer.name}: on`,
      onchange: () => void document.edit(`${on.checked ? 'enable' : 'disable'} ${layer.name}`,
        'enableLayer', layer.name, on.checked) });
    on.checked = layer.enabled;
    const move = (to: number) => () =>
      void document.edit(`move ${layer.name}`, 'moveLayer', layer.name, to);
    const row = h('div', { class: `layer${chosen ? ' chosen' : ''}`, draggable: 'true',
      'data-layer': layer.name }, on,
    h('button', { class: 'layer-name', role: 'option', 'aria-selected': String(chosen),
      title: 'double click or F2: rename', onclick: () => this.#choose(layer.name),
      ondblclick: () => this.#rename(layer.name),
      onkeydown: (event: KeyboardEvent) => { if (event.key === 'F2') this.#rename(layer.name); } },
    layer.name, h('span', { class: 'layer-type' }, layer.type)),
    h('button', { class: 'flat', title: 'earlier', 'aria-label': `${layer.name}: earlier`,
      disabled: index === 0, onclick: move(index - 1) }, icon('up')),
    h('button', { class: 'flat', title: 'later', 'aria-label': `${layer.name}: later`,
      disabled: index === last, onclick: move(index + 1) }, icon('down')),
    h('button', { class: 'flat', title: 'remove', 'aria-label': `${layer.name}: remove`,
      onclick: () => void document.edit(`remove ${layer.name}`, 'removeLayer', layer.name) },
    icon('remove')));
    row.addEventListener('dragstart', (event) => event.dataTransfer?.setData('text/layer', layer.name));
    row.addEventListener('dragover', (event) => {
      if (event.dataTransfer?.types.includes('text/layer')) event.preventDefault();
    });
    row.addEventListener('drop', (event) => {
      const name = event.dataTransfer?.getData('text/layer');
      if (!name || name === layer.name) return;
      event.preventDefault();
      void document.edit(`move ${name}`, 'moveLayer', name, index);
    });
    return row;
  }

  #rename(name: string): void {
    const row = this.#list.querySelector(`[data-layer="${CSS.escape(name)}"]`);
    const button = row?.querySelector('.layer-name');
    if (!button) return;
    let ended = false;
    const end = (keep: boolean) => {
      if (ended) return;
      ended = true;
      const to = box.value.trim();
      box.replaceWith(button);
      if (!keep || to === '' || to === name) return;
      void this.#document?.edit(`rename ${name}`, 'renameLayer', name, to).then((done) => {
        if (done) this.#choose(to);
      });
    };
    const box = h('input', { type: 'text', value: name, class: 'layer-name', 'aria-label': 'New name',
      onblur: () => end(true),
      onkeydown: (event: KeyboardEvent) => {
        if (event.key === 'Enter') end(true);
        if (event.key === 'Escape') end(false);
      } });
    button.replaceWith(box);
    box.select();
    box.focus();
  }

  #actions(layer: string, key: string): FieldActions {
    const document = this.#document!;
    return {
      drag: (value) => {
        this.#stroking = true;
        document.drag(layer, key, value);
      },
      done: (value) => {
        this.#stroking = false;
        document.drag(layer, key, value);
        void document.commit(`${layer} ${key}`.trim()).then(() => {
          this.#markSet();
          // A value that was refused is not left standing.
          const taken = JSON.stringify(this.#valueOf(layer, key)) === JSON.stringify(value);
          if (!taken || !hasFocus(this.#fields) || value === undefined || typeof value === 'object')
            this.#showFields();
        });
      },
    };
  }

  /** What the recipe says; a section's keys are written "section.key". */
  #valueOf(layer: string, key: string): unknown {
    const document = this.#document;
    if (layer !== '') return document?.layer(layer)?.keys[key];
    const [section = '', name = ''] = key.split('.');
    return document?.recipe.sections[section]?.[name];
  }

  #showFields(): void {
    const document = this.#document;
    if (!document) return;
    const { character, recipe } = document;
    const scroll = this.#fields.scrollTop;
    const name = this.app.chosenLayer;
    if (name === kSkinning) {
      const section = this.app.library.fields.sections.find((each) => each.name === kSkinning);
      const values = recipe.sections[kSkinning] ?? {};
      replaceRows(this.#fields, h('h3', {}, 'Skinning'),
        h('p', { class: 'summary' }, 'how the skin follows the joints, before any layer'),
        ...(section?.fields ?? []).map((field) => fieldRow(field, ownValue(field, values), character,
          this.#actions('', `${kSkinning}.${field.key}`))));
      return;
    }
    const layer = document.layer(name);
    const type = layer && this.app.library.layerType(layer.type);
    if (!layer || !type) {
      this.#fields.replaceChildren(h('p', { class: 'summary' },
        'No layers yet. Auto finds flesh, volume and folds for this character.'));
      return;
    }
    replaceRows(this.#fields, h('h3', {}, layer.name),
      h('p', { class: 'summary' }, type.summary), this.#presets(layer),
      ...type.fields.map((field) => fieldRow(field, layer.keys[field.key], character,
        this.#actions(layer.name, field.key))));
    this.#fields.scrollTop = scroll;
  }

  /** Which keys are set, without touching the inputs. */
  #markSet(): void {
    const keys = this.#document?.layer(this.app.chosenLayer)?.keys;
    if (!keys) return;
    for (const row of this.#fields.querySelectorAll<HTMLElement>(':scope > .field'))
      row.classList.toggle('set', row.dataset.key! in keys);
  }

  #presets(layer: RecipeLayer): HTMLElement {
    const document = this.#document!;
    const fitting = [...kPresets, ...ownPresets()].filter((preset) => preset.type === layer.type);
    const select = h('select', { 'aria-label': 'Presets', onchange: () => {
      const preset = fitting[Number(select.value)];
      if (!preset) return;
      for (const [key, value] of Object.entries(preset.keys)) document.drag(layer.name, key, value);
      void document.commit(`preset ${preset.name}`).then(() => this.#showFields());
    } }, h('option', { value: '' }, 'Presets'),
    ...fitting.map((preset, i) => h('option', { value: i }, preset.name)));
    const keep = h('button', { class: 'flat', title: 'keep these values as a preset',
      onclick: () => {
        const own = { ...layer.keys };
        for (const place of ['dominant', 'ends', 'from', 'to', 'from_vertex', 'to_vertex', 'path',
          'from_m', 'to_m', 'contact']) delete own[place];
        keepPreset({ type: layer.type, name: layer.name, keys: own });
        this.#showFields();
        this.app.messages.say('done', 'Kept', `"${layer.name}" is a preset for ${layer.type} now.`);
      } }, 'Keep');
    return h('div', { class: 'presets' }, select, keep);
  }
}
