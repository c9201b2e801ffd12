// The recipe as text: exactly what is saved, and what the program derm reads.
import type { App } from '../app';
import { h, hasFocus } from './dom';

export class RecipePanel {
  constructor(app: App, place: HTMLElement) {
    const text = h('textarea', { spellcheck: 'false', 'aria-label': 'Recipe', wrap: 'off' });
    const apply = h('button', { class: 'primary', onclick: () => {
      const document = app.document;
      if (document && text.value !== document.text)
        void app.long('Binding …', () => document.edit('edit the recipe', 'setRecipeText', text.value));
    } }, 'Apply (Ctrl+Enter)');
    const copy = h('button', { onclick: () => app.run('copyCommand') }, 'Copy CLI command');
    place.append(text, h('div', { class: 'panel-foot' }, apply, copy));
    text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) apply.click();
    });
    const show = () => { if (!hasFocus(text)) text.value = app.document?.text ?? ''; };
    app.opened.add((document) => {
      text.value = document?.text ?? '';
      document?.changed.add(show);
    });
    text.addEventListener('blur', () => { if (app.document?.busy === 0) apply.disabled = false; });
  }
}
