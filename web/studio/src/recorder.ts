// Numbers of the frames that were shown since the last edit. The same instant is the same frame, so
// after one round the curves are whole.
import type { App } from './app';
import type { FrameReport } from 'derm';

export type PlotKind = 'volume' | 'flesh' | 'folds' | 'ms';

export interface Curve {
  name: string;
  values: (number | null)[];
  dashed: boolean;
}

const kMostRegions = 4;

export class Recorder {
  readonly #reports = new Map<number, FrameReport>();
  #text = '';

  constructor(private readonly app: App) {
    // The same text may be of another file, or of a character that was painted since.
    const forget = () => this.#reports.clear();
    app.opened.add((document) => {
      forget();
      document?.changed.add(({ reopened }) => { if (reopened) forget(); });
    });
    app.player.shown.add(({ document, report, time_s }) => {
      if (!report || app.player.live) return;
      if (document.text !== this.#text) {
        this.#text = document.text;
        this.#reports.clear();
      }
      const { start_s, fps } = document.recipe;
      this.#reports.set(Math.round((time_s - start_s) * fps), report);
    });
  }

  get size(): number { return this.#reports.size; }

  times(): number[] {
    const recipe = this.app.document?.recipe;
    if (!recipe) return [];
    const count = Math.max(1, Math.round((recipe.end_s - recipe.start_s) * recipe.fps) + 1);
    return Array.from({ length: count }, (_, i) => recipe.start_s + i / recipe.fps);
  }

  curves(kind: PlotKind): Curve[] {
    const count = this.times().length;
    const curve = (name: string, of: (report: FrameReport) => number | null | undefined,
      dashed = false): Curve => {
      const values: (number | null)[] = new Array<number | null>(count).fill(null);
      for (const [frame, report] of this.#reports)
        if (frame >= 0 && frame < count) values[frame] = of(report) ?? null;
      return { name, values, dashed };
    };
    const sample = this.#reports.values().next().value as FrameReport | undefined;
    if (!sample) return [];
    const layer = (report: FrameReport, name: string) =>
      report.layers.find((each) => each.name === name);
    const names = (has: (layer: FrameReport['layers'][number]) => boolean) =>
      sample.layers.filter(has).map((each) => each.name);
    switch (kind) {
      case 'volume':
        return names((l) => l.regions !== undefined).flatMap((name) =>
          this.#volumes(name, curve));
      case 'flesh':
        return names((l) => l.elongation_m !== undefined).map((name) => curve(name, (report) => {
          const e = layer(report, name)?.elongation_m;
          return e && 1000 * Math.hypot(...e);
        }));
      case 'folds':
        return names((l) => l.tools !== undefined).flatMap((name) =>
          (sample.layers.find((l) => l.name === name)?.tools ?? []).flatMap((_, i) => {
            const label = `${name} ${i + 1}`;
            return [
              curve(`${label} height`, (r) => 1000 * (layer(r, name)?.tools?.[i]?.height_m ?? 0)),
              curve(`${label} lost`, (r) => {
                const tool = layer(r, name)?.tools?.[i];
                return tool && 1000 * (tool.rest_length_m - tool.length_m);
              }, true)];
          }));
      case 'ms':
        return names(() => true).map((name) => curve(name, (report) => layer(report, name)?.ms));
    }
  }

  /** Per cent of the volume at rest: all of it, and the regions that change most. */
  #volumes(name: string, curve: (name: string, of: (report: FrameReport) => number | null | undefined,
    dashed?: boolean) => Curve): Curve[] {
    const regions = (report: FrameReport) =>
      report.layers.find((each) => each.name === name)?.regions ?? [];
    const sum = (report: FrameReport, key: 'rest_m3' | 'before_m3' | 'after_m3') =>
      regions(report).reduce((total, region) => total + region[key], 0);
    const change = new Map<string, number>();
    for (const report of this.#reports.values())
      for (const region of regions(report)) {
        const lost = region.rest_m3 > 0 ? Math.abs(region.before_m3 / region.rest_m3 - 1) : 0;
        change.set(region.name, Math.max(change.get(region.name) ?? 0, lost));
      }
    const most = [...change].filter(([, lost]) => lost > 1e-4).sort((a, b) => b[1] - a[1])
      .slice(0, kMostRegions).map(([region]) => region);
    const of = (report: FrameReport, region: string, key: 'before_m3' | 'after_m3') => {
      const found = regions(report).find((each) => each.name === region);
      return found && 100 * found[key] / found.rest_m3;
    };
    return [
      curve('all: before', (r) => 100 * sum(r, 'before_m3') / sum(r, 'rest_m3'), true),
      curve('all: after', (r) => 100 * sum(r, 'after_m3') / sum(r, 'rest_m3')),
      ...most.filter(() => change.size > 1).flatMap((region) => [
        curve(`${region}: before`, (r) => of(r, region, 'before_m3'), true),
        curve(`${region}: after`, (r) => of(r, region, 'after_m3'))])];
  }
}
