// Over the picture: where to look from, what is shown, what colours mean.
import type { Character } from 'derm';
import type { App } from '../app';
import type { Commands } from '../commands';
import { gradientCss, kMapColours, mapCss, zeroCss } from '../view/heat';
import { mapChannels, type ViewSettings } from '../view/viewport';
import { keyText } from './about';
import { h, shortNumber } from './dom';

const kLooks = ['frame', 'front', 'side', 'top'] as const;
const kToggles: readonly [keyof ViewSettings, string][] = [
  ['split', 'Split'], ['skeleton', 'Bones'], ['wire', 'Wire'], ['xray', 'X-ray'],
  ['strokes', 'Lines'], ['ghosts', 'Ghosts'], ['follow', 'Follow']];

export class ViewBar {
  constructor(private readonly app: App, commands: Commands, place: HTMLElement,
    stage: HTMLElement) {
    const button = (id: string, text: string) => {
      const command = commands.get(id)!;
      return h('button', { 'data-command': id, title: `${command.title} (${keyText(command.keys?.[0] ?? '')})`,
        onclick: () => command.run() }, text);
    };
    const toggles = kToggles.map(([key, text]) => button(key, text));
    const colour = h('select', { 'aria-label': 'Colour by', id: 'colour-by',
      onchange: () => commands.get('colour')!.run(colour.value) });
    place.append(h('div', { class: 'bar-group' }, ...kLooks.map((id) =>
      button(id, id[0]!.toUpperCase() + id.slice(1)))),
    h('div', { class: 'bar-group' }, ...toggles), colour);
    const show = () => {
      kToggles.forEach(([key], i) =>
        toggles[i]!.setAttribute('aria-pressed', String(app.viewport.settings[key])));
      if (document.activeElement !== colour) this.#fill(colour);
      colour.value = app.viewport.settings.channel;
    };
    app.viewChanged.add(show);
    app.opened.add((opened) => {
      if (app.viewport.settings.channel !== '') app.setView({ channel: '' });
      this.#fill(colour);
      show();
      opened?.changed.add(() => this.#fill(colour));
    });
    this.#legend(stage);
    this.#divider(stage);
    show();
  }

  #fill(select: HTMLSelectElement): void {
    const document = this.app.document;
    if (!document) return;
    const { character, recipe } = document;
    const group = (label: string, options: [string, string][]) =>
      options.length > 0 && h('optgroup', { label },
        ...options.map(([value, text]) => h('option', { value }, text)));
    const now = this.app.viewport.settings.channel;
    select.replaceChildren(h('option', { value: '' }, 'Colour: material'),
      ...[group('Motion', [['displacement', 'displacement'], ['compression', 'compression']]),
        group('Where layers work', recipe.masks.map((m) => [`mask:${m}`, m])),
        group('Face', [
          ...mapChannels(character).length > 0
            ? [[kMapColours, 'influence of wrinkle maps'] as [string, string]] : [],
          ...this.#hasFace(character) ? this.app.library.faceNames.regions.map((r) =>
            [`region:${r}`, `region: ${r}`] as [string, string]) : []]),
        group('Channels', recipe.channels.filter((c) => !recipe.masks.includes(c))
          .map((c) => [`mask:${c}`, c])),
        group('Vertex groups', character.groups.map((g) => [`group:${g}`, g])),
        group('Weights of joints', character.joints.filter((j) => j.bone)
          .map((j) => [`weight:${j.name}`, j.name]))].filter((each) => each !== false));
    select.value = now;
    if (select.value !== now) this.app.setView({ channel: '' });  // what it showed is gone
  }

  /** Regions are made of the 28 control points. */
  #hasFace({ points }: Character): boolean {
    const there = new Set(points.map((point) => point.label));
    return this.app.library.faceNames.points.every(({ label, name }) =>
      there.has(label) || there.has(name));
  }

  #legend(stage: HTMLElement): void {
    const legend = h('div', { class: 'legend', hidden: true });
    stage.append(legend);
    this.app.viewport.mapsColoured.add((names) => {
      legend.hidden = false;
      legend.replaceChildren(h('div', { class: 'legend-title' }, kMapColours,
        h('span', { class: 'legend-zero' }, h('i', { style: `background: ${zeroCss}` }), 'none')),
      ...names.map((name, i) => h('div', { class: 'legend-map' },
        h('i', { style: `background: ${mapCss(i)}` }), name)));
    });
    this.app.viewport.heatChanged.add((heat) => {
      legend.hidden = heat === null;
      if (!heat) return;
      const { scale, channel } = heat;
      legend.replaceChildren(h('div', { class: 'legend-title' }, channel,
        h('span', { class: 'legend-zero' }, h('i', { style: `background: ${zeroCss}` }), 'exactly 0')),
        h('div', { class: 'legend-bar', style: `background: ${gradientCss(scale.signed)}` }),
        h('div', { class: 'legend-ends' },
          h('span', {}, scale.signed ? 'stretched by half' : 'above 0'),
          h('span', {}, scale.signed ? 'squeezed by half' : `${shortNumber(scale.high)} ${scale.unit}`)));
    });
  }

  /** The line between before and after, to be dragged. */
  #divider(stage: HTMLElement): void {
    const { viewport } = this.app;
    const line = h('div', { class: 'divider', hidden: true, role: 'slider', tabindex: 0,
      'aria-label': 'Before and after', 'aria-valuemin': 0, 'aria-valuemax': 100 },
    h('span', { class: 'divider-before' }, 'plain skinning'),
    h('span', { class: 'divider-grip' }), h('span', { class: 'divider-after' }, 'derm'));
    stage.append(line);
    const put = (share: number) => {
      viewport.divider = Math.min(Math.max(share, 0.02), 0.98);
      line.style.left = `${100 * viewport.divider}%`;
      line.setAttribute('aria-valuenow', String(Math.round(100 * viewport.divider)));
      viewport.draw();
    };
    line.addEventListener('pointerdown', (event) => line.setPointerCapture(event.pointerId));
    line.addEventListener('pointermove', (event) => {
      if (!line.hasPointerCapture(event.pointerId)) return;
      const box = stage.getBoundingClientRect();
      put((event.clientX - box.left) / box.width);
    });
    line.addEventListener('keydown', (event) => {
      const step = { ArrowLeft: -0.02, ArrowRight: 0.02 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      put(viewport.divider + step);
    });
    this.app.viewChanged.add(() => { line.hidden = !viewport.settings.split; });
    put(0.5);
  }
}
