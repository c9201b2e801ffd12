// The frame around the panels: top bar, tools, tabs, what is under way.
import type { App } from '../app';
import type { Commands } from '../commands';
import type { Tools } from '../tools/tool';
import { byId, h } from './dom';
import { keyText } from './about';
import { icon } from './icons';

export function makeTopBar(app: App, commands: Commands, place: HTMLElement): void {
  const button = (id: string, text: string, sign = '', classes = '') => {
    const command = commands.get(id)!;
    const keys = command.keys?.[0] ? ` (${keyText(command.keys[0])})` : '';
    return h('button', { class: classes, 'data-command': id, title: command.title + keys,
      'aria-label': text || command.title, onclick: () => void command.run() },
    sign ? icon(sign) : null, text);
  };
  const undo = button('undo', '', 'undo', 'icon-button');
  const redo = button('redo', '', 'redo', 'icon-button');
  const title = h('span', { class: 'scene-name' });
  place.append(button('start', 'derm', '', 'logo'), title,
    h('div', { class: 'bar-group' }, button('open', 'Open'), button('saveRecipe', 'Save'),
      button('bake', 'Bake'), button('picture', 'Picture'), button('film', 'Film'),
      button('copyCommand', 'Command')),
    h('div', { class: 'bar-group' }, undo, redo),
    button('auto', 'Auto', 'auto', 'primary'),
    h('span', { class: 'spring' }), h('span', { id: 'busy', class: 'busy', hidden: true }, 'binding …'),
    button('about', 'About'));
  const show = () => {
    const history = app.document?.history;
    undo.disabled = !history || history.undoLabel === null;
    redo.disabled = !history || history.redoLabel === null;
    undo.title = `Undo ${history?.undoLabel ?? ''} (Ctrl+Z)`;
    redo.title = `Redo ${history?.redoLabel ?? ''} (Ctrl+Shift+Z)`;
    title.textContent = app.document?.name.replace(/\.toml$/, '') ?? '';
    byId('busy').hidden = (app.document?.busy ?? 0) === 0;
  };
  app.opened.add((document) => {
    show();
    document?.changed.add(show);
    document?.busyChanged.add(show);
  });
}

export function makeToolRail(tools: Tools, place: HTMLElement, bar: HTMLElement): void {
  const buttons = tools.all.map((tool) => h('button', { 'data-tool': tool.id,
    title: `${tool.title} (${keyText(tool.key)}): ${tool.hint}`, onclick: () => tools.use(tool.id) },
  icon(tool.icon), h('span', {}, tool.title)));
  place.append(...buttons);
  const show = () => {
    tools.all.forEach((tool, i) =>
      buttons[i]!.setAttribute('aria-pressed', String(tool === tools.current)));
    const options = tools.current.options?.();
    bar.replaceChildren(h('span', { class: 'hint' }, tools.current.hint), options ?? '');
  };
  tools.changed.add(show);
  show();
}

export function makeTabs(place: HTMLElement): void {
  const tabs = [...place.querySelectorAll<HTMLElement>('[role=tab]')];
  const choose = (chosen: HTMLElement) => {
    for (const tab of tabs) {
      tab.setAttribute('aria-selected', String(tab === chosen));
      tab.tabIndex = tab === chosen ? 0 : -1;
      byId(tab.getAttribute('aria-controls')!).hidden = tab !== chosen;
    }
    byId(chosen.getAttribute('aria-controls')!).dispatchEvent(new Event('shown'));
  };
  tabs.forEach((tab, i) => {
    tab.addEventListener('click', () => choose(tab));
    tab.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (step === undefined) return;
      const next = tabs[(i + step + tabs.length) % tabs.length]!;
      choose(next);
      next.focus();
    });
  });
  choose(tabs[0]!);
}

export function makeWorking(app: App, place: HTMLElement): void {
  let delay = 0;
  app.working.add((what) => {
    window.clearTimeout(delay);
    place.hidden = true;
    if (what === '') return;
    // Short work needs no word.
    delay = window.setTimeout(() => {
      place.replaceChildren(h('span', { class: 'spinner' }), what);
      place.hidden = false;
    }, 250);
  });
}
