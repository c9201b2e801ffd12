// The first thing that is seen: the cast, examples, what was open lately, and a place to drop files.
import type { App } from '../app';
import { autosave, dropAutosave, recentScenes, type StoredScene } from '../storage';
import type { Named } from '../library';
import { h } from './dom';
import { thumbnails } from './thumbnails';

const ago = (then: number): string => {
  const minutes = Math.round((Date.now() - then) / 60_000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.round(hours / 24)} days ago`;
};

function card(title: string, text: string, picture: string | undefined, open: () => void,
  more: Record<string, string> = {}): HTMLElement {
  const image = picture
    ? h('img', { src: picture, alt: '', width: 240, height: 160 })
    : h('div', { class: 'no-picture' }, title.slice(0, 1).toUpperCase());
  return h('button', { class: 'card', onclick: open, ...more }, image,
    h('span', { class: 'card-title' }, title), h('span', { class: 'card-text' }, text));
}

export class StartPage {
  constructor(private readonly app: App, private readonly place: HTMLElement,
    private readonly chooseFiles: () => void) {}

  async show(): Promise<void> {
    const [kept, recent] = await Promise.all([autosave(), recentScenes()]);
    const { library } = this.app;
    const stored = (scene: StoredScene, more = {}) => card(scene.name.replace(/\.toml$/, ''),
      ago(scene.savedAt), scene.picture, () => void this.app.openStored(scene), more);
    this.place.replaceChildren(
      h('div', { class: 'start-inner' },
        h('header', { class: 'start-head' },
          h('h1', {}, 'derm studio'),
          h('p', {}, 'Flesh that swings, joints that keep their volume, skin that folds: '
            + 'open a character and watch it live.')),
        h('button', { class: 'drop-zone', onclick: this.chooseFiles, 'data-command': 'open' },
          h('strong', {}, 'Drop files here, or click to choose'),
          h('span', {}, 'characters and heads (.glb, .gltf, .obj) · recipes (.toml) · motions (.bvh) · '
            + 'ARKit tables (.csv)')),
        kept && h('section', { id: 'recovered' },
          h('h2', {}, 'Where you left off'),
          h('div', { class: 'cards' }, stored(kept, { 'data-recover': 'yes' }),
            h('button', { class: 'flat', onclick: () => {
              void dropAutosave().then(() => this.show());
            } }, 'Forget it'))),
        h('section', {}, h('h2', {}, 'The cast'),
          h('div', { class: 'cards' }, ...inOrder(library.cast).map(({ name, description }) =>
            card(name, description, thumbnails[name], () => void this.app.openCast(name),
              { 'data-cast': name })))),
        h('section', {}, h('h2', {}, 'Examples'),
          h('div', { class: 'cards' }, ...library.recipes.map(({ name, text }) =>
            card(name.replace(/\.toml$/, '').replaceAll('_', ' '), firstComment(text),
              thumbnails[stem(name)], () => void this.app.openText(text, toml(name)),
              { 'data-recipe': stem(name) })))),
        recent.length > 0 && h('section', {}, h('h2', {}, 'Recent'),
          h('div', { class: 'cards' }, ...recent.map((scene) => stored(scene)))),
        h('footer', { class: 'start-foot' },
          `derm ${library.version} · runs in this page alone: nothing is sent anywhere.`)));
  }
}

/** Those that show most come first; reference shapes for tests last. */
function inOrder(cast: readonly Named[]): Named[] {
  const first = ['cat', 'mushroom', 'arm', 'wrist', 'trousers', 'woman', 'man', 'toon'];
  const place = ({ name }: Named) => (first.includes(name) ? first.indexOf(name) : first.length);
  return [...cast].sort((a, b) => place(a) - place(b));
}

const stem = (name: string): string => name.replace(/\.toml$/, '');
const toml = (name: string): string => (name.endsWith('.toml') ? name : `${name}.toml`);
/** What a recipe says about itself in its first lines. */
function firstComment(text: string): string {
  const lines: string[] = [];
  for (const line of text.split('\n')) {
    if (!line.startsWith('#')) break;
    lines.push(line.replace(/^#\s*/, ''));
  }
  return lines.join(' ').replace(/\s*\([^)]*\)/g, '');
}
