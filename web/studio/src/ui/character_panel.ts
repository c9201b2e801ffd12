// What the character is, and the parts of a recipe that are no layers.
import type { App } from '../app';
import { h, hasFocus, replaceRows, shortNumber, whileVisible } from './dom';
import { fieldRow, ownValue } from './fields';

const kTitles: Record<string, string> = {
  '': 'Clip and frames', simulation: 'Simulation' };

export class CharacterPanel {
  readonly #body = h('div', { class: 'fields' });
  readonly #help = h('div', { class: 'help' });

  constructor(private readonly app: App, place: HTMLElement) {
    place.append(this.#body, this.#help);
    const tell = (event: Event) => {
      const row = (event.target as HTMLElement).closest<HTMLElement>('[data-help]');
      this.#help.textContent = row?.dataset.help ?? '';
    };
    this.#body.addEventListener('pointerover', tell);
    this.#body.addEventListener('focusin', tell);
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
    const fact = (name: string, value: string) =>
      h('div', { class: 'fact' }, h('span', {}, name), h('span', {}, value));
    const bones = character.joints.filter((joint) => joint.bone).length;
    const sections = this.app.library.fields.sections.filter((s) => s.name in kTitles);
    replaceRows(this.#body, h('h3', {}, character.name || 'Character'),
      fact('vertices', character.vertices.toLocaleString('en')),
      fact('triangles', character.triangles.toLocaleString('en')),
      fact('size', `${shortNumber(character.diagonal_m)} m`),
      fact('joints', `${character.joints.length} (${bones} with skin)`),
      fact('morphs, controls', `${character.morphs.length}, ${character.controls.length}`),
      fact('vertex groups', String(character.groups.length)),
      character.has_skin ? '' : h('p', { class: 'summary' },
        'This character has no skin weights: joints do not move it. `derm weights` makes some.'),
      h('button', { 'data-command': 'saveCharacter', onclick: () => this.app.run('saveCharacter') },
        'Save the character (.glb)'),
      ...sections.flatMap((section) => {
        const values = recipe.sections[section.name] ?? {};
        const prefix = section.name === '' ? '' : `${section.name}.`;
        return [h('h3', {}, kTitles[section.name]!),
          ...section.fields.filter((field) => field.key !== 'character').map((field) =>
            fieldRow(field, ownValue(field, values), character, {
              drag: (value) => document.drag('', prefix + field.key, value),
              done: (value) => {
                document.drag('', prefix + field.key, value);
                void document.commit(field.key);
              } }))];
      }));
  }
}
