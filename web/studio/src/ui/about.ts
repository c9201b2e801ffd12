// About: what this is, its keys, and the licences of what is in the page.
import type { Commands } from '../commands';
import type { Library } from '../library';
import { h } from './dom';

declare const DERM_LICENCES: { name: string; version: string; licence: string; text: string }[];

const kMouse: readonly [string, string][] = [
  ['drag', 'orbit'], ['right button, or Shift + drag', 'pan'], ['wheel', 'zoom']];

/** Keys as they are printed on them. */
export const keyText = (key: string): string => key.split('+').map((part) =>
  ({ ctrl: 'Ctrl', shift: 'Shift', arrowleft: '←', arrowright: '→', space: 'Space', home: 'Home',
    end: 'End', escape: 'Esc' } as Record<string, string>)[part] ?? part.toUpperCase()).join(' + ');

export function makeAbout(library: Library, commands: () => Commands): () => void {
  const dialog = h('dialog', { class: 'about', 'aria-label': 'About derm studio' });
  document.body.append(dialog);
  return () => {
    const keys = [...commands().values()].filter((command) => command.keys?.length);
    dialog.replaceChildren(
      h('form', { method: 'dialog' }, h('button', { class: 'close', 'aria-label': 'Close' }, '✕')),
      h('h2', {}, 'derm studio'),
      h('p', {}, `derm ${library.version}. Everything happens in this page: no server, no network.`),
      h('h3', {}, 'Mouse and keys'),
      h('dl', { class: 'keys' },
        ...kMouse.flatMap(([mouse, what]) => [h('dt', {}, mouse), h('dd', {}, what)]),
        ...keys.flatMap((command) =>
          [h('dt', {}, command.keys!.map(keyText).join('  ')), h('dd', {}, command.title)])),
      h('h3', {}, 'In this page'),
      ...DERM_LICENCES.map((each) => h('details', {},
        h('summary', {}, `${each.name} ${each.version} · ${each.licence}`), h('pre', {}, each.text))));
    if (!dialog.open) dialog.showModal();
  };
}
