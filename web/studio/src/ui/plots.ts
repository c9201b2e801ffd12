// Curves under the timeline.
import uPlot from 'uplot';
import type { App } from '../app';
import { Recorder, type Curve, type PlotKind } from '../recorder';
import { h } from './dom';

const kKinds: readonly { kind: PlotKind; title: string; unit: string; none: string }[] = [
  { kind: 'volume', title: 'Volume', unit: '% of rest', none: 'No volume layer: add one, or press Auto.' },
  { kind: 'flesh', title: 'Flesh', unit: 'mm of swing', none: 'No flesh: make an element with two clicks.' },
  { kind: 'folds', title: 'Folds', unit: 'mm', none: 'No folds: draw one on the skin.' },
  { kind: 'ms', title: 'Time', unit: 'ms per layer', none: 'Play to measure.' },
];
// Okabe and Ito's colours, told apart by people with any kind of colour vision.
const kColours = ['#e69f00', '#56b4e9', '#009e73', '#f0e442', '#cc79a7', '#d55e00', '#0072b2', '#ffffff'];
const kEvery_ms = 200;

export class Plots {
  readonly recorder: Recorder;
  #kind: PlotKind = 'volume';
  #plot: uPlot | null = null;
  #series = '';
  #drawnAt = 0;
  readonly #area = h('div', { class: 'plot-area' });
  readonly #none = h('p', { class: 'plot-none' });
  readonly #tabs: HTMLElement;

  constructor(private readonly app: App, private readonly place: HTMLElement) {
    this.recorder = new Recorder(app);
    this.#tabs = h('div', { class: 'plot-tabs', role: 'tablist', 'aria-label': 'Plots' },
      ...kKinds.map(({ kind, title, unit }) => h('button', { role: 'tab', 'data-plot': kind,
        title: unit, onclick: () => this.show(kind) }, title)));
    place.append(this.#tabs, this.#area);
    this.#area.append(this.#none);
    app.player.shown.add(() => this.#drawSoon());
    app.opened.add(() => this.#drop());
    new ResizeObserver(() => {
      if (this.#plot) this.#plot.setSize(this.#size());
    }).observe(this.#area);
    this.show('volume');
  }

  show(kind: PlotKind): void {
    this.#kind = kind;
    for (const tab of this.#tabs.querySelectorAll<HTMLElement>('[data-plot]'))
      tab.setAttribute('aria-selected', String(tab.dataset.plot === kind));
    this.#drop();
    this.#draw();
  }

  #size(): { width: number; height: number } {
    return { width: Math.max(this.#area.clientWidth, 100), height: Math.max(this.#area.clientHeight - 24, 60) };
  }

  #drop(): void {
    this.#plot?.destroy();
    this.#plot = null;
    this.#series = '';
  }

  #drawSoon(): void {
    const now = performance.now();
    if (now - this.#drawnAt < kEvery_ms || this.place.hidden) return;
    this.#drawnAt = now;
    this.#draw();
  }

  #draw(): void {
    const about = kKinds.find((each) => each.kind === this.#kind)!;
    const curves = this.recorder.curves(this.#kind).slice(0, 2 * kColours.length);
    const empty = curves.length === 0;
    this.#none.hidden = !empty;
    this.#none.textContent = this.app.document ? about.none : '';
    if (empty) return this.#drop();
    const series = curves.map((curve) => curve.name).join('\n');
    const data: uPlot.AlignedData = [this.recorder.times(), ...curves.map((curve) => curve.values)];
    if (this.#plot && series === this.#series) {
      this.#plot.setData(data);
      return;
    }
    this.#drop();
    this.#series = series;
    this.#plot = new uPlot(this.#options(about.unit, curves), data, this.#area);
  }

  #options(unit: string, curves: Curve[]): uPlot.Options {
    const letters_px = Math.round(0.85 * parseFloat(getComputedStyle(document.documentElement).fontSize));
    const font = `${letters_px}px system-ui, sans-serif`;
    const axis = { stroke: '#9aa3ad', grid: { stroke: '#33383f', width: 1 },
      ticks: { stroke: '#33383f' }, font };
    const pairs = curves.some((curve) => curve.dashed);
    const { player } = this.app;
    return {
      ...this.#size(),
      padding: [6, 18, 0, 0],
      scales: { x: { time: false } },
      axes: [{ ...axis, size: 2.4 * letters_px, space: 60, values: (_, splits) => splits.map((s) => `${s} s`) },
        { ...axis, size: 5.4 * letters_px, space: 24, label: unit, labelSize: 1.5 * letters_px, labelFont: font }],
      cursor: { points: { size: 6 }, drag: { x: false, y: false } },
      legend: { live: false },
      series: [{ label: 's' }, ...curves.map((curve, i) => ({
        label: curve.name, stroke: kColours[(pairs ? i >> 1 : i) % kColours.length]!, width: 1.5,
        spanGaps: true, points: { show: false }, ...(curve.dashed ? { dash: [5, 4] } : {}) }))],
      hooks: { draw: [(plot) => {
        const x = plot.valToPos(player.time_s, 'x', true);
        plot.ctx.save();
        plot.ctx.strokeStyle = '#ffffff';
        plot.ctx.globalAlpha = 0.6;
        plot.ctx.beginPath();
        plot.ctx.moveTo(x, plot.bbox.top);
        plot.ctx.lineTo(x, plot.bbox.top + plot.bbox.height);
        plot.ctx.stroke();
        plot.ctx.restore();
      }] },
    };
  }
}
