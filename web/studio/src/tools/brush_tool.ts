// Paints a vertex group. The brush works on the shape at rest, so that both sides of a body can be
// painted at once, whatever the pose.
import type { App } from '../app';
import type { StudioDocument } from '../studio_document';
import { h } from '../ui/dom';
import { Newest, type Pointer, type Tool } from './tool';

type Way = 'add' | 'remove' | 'smooth';

export class BrushTool implements Tool {
  readonly id = 'brush';
  readonly title = 'Brush';
  readonly icon = 'brush';
  readonly key = 'p';
  readonly hint = 'Paint a vertex group. Shift: remove. Ctrl: smooth. [ and ]: size.';
  group = 'painted';
  way: Way = 'add';
  mirror = true;
  /** Of the character's size. */
  radius = 0.05;
  #rest: { document: StudioDocument; positions: Float32Array } | null = null;
  #strengths: Float32Array | null = null;
  #neighbours: { of: Uint32Array; list: number[][] } | null = null;
  #painting = false;
  #painted = false;
  #active = false;
  /** Strokes that are on their way into the character. */
  #saving = 0;
  /** The newest reading of the group: those before it come too late. */
  #reading = 0;
  #channelWas = '';
  #size: HTMLInputElement | null = null;
  readonly #dabs = new Newest<{ at: Pointer; way: Way }>(async ({ at, way }) => {
    const hit = await this.app.pick(at.x, at.y);
    if (hit && this.#strengths) this.#dab(hit.vertex, way);
  });

  constructor(private readonly app: App) {
    // Undo and redo change what was painted, and the next stroke goes on from there.
    app.opened.add((document) => document?.changed.add(({ reopened }) => {
      if (reopened && this.#active && !this.#painting && this.#saving === 0) void this.#read();
    }));
  }

  enter(): void {
    this.#active = true;
    this.#channelWas = this.app.viewport.settings.channel;
    void this.#begin();
  }

  leave(): void {
    this.#active = false;
    this.#reading += 1;
    this.app.viewport.paint(null);
    this.#strengths = null;
    const known = this.app.document?.character.groups.includes(this.group);
    this.app.setView({ channel: this.#channelWas === `group:${this.group}` && !known
      ? '' : this.#channelWas });
  }

  options(): HTMLElement {
    const groups = this.app.document?.character.groups ?? [];
    const name = h('input', {
      type: 'text', value: this.group, list: 'groups-known', size: 14, 'aria-label': 'Vertex group',
      onchange: () => { this.group = name.value.trim() || 'painted'; void this.#begin(); } });
    const way = h('select', { 'aria-label': 'What the brush does',
      onchange: () => { this.way = way.value as Way; } },
    ...(['add', 'remove', 'smooth'] as const).map((each) =>
      h('option', { value: each, selected: each === this.way }, each)));
    const size = h('input', { type: 'range', min: 0.005, max: 0.25, step: 0.005,
      'aria-label': 'Size of the brush', oninput: () => { this.radius = Number(size.value); } });
    size.value = String(this.radius);
    this.#size = size;
    const mirror = h('input', { type: 'checkbox', onchange: () => { this.mirror = mirror.checked; } });
    mirror.checked = this.mirror;
    return h('div', { class: 'tool-options' },
      h('label', { class: 'tool-option' }, 'Group', name,
        h('datalist', { id: 'groups-known' }, ...groups.map((g) => h('option', { value: g })))),
      way, h('label', { class: 'tool-option' }, 'Size', size),
      h('label', { class: 'tool-option' }, mirror, 'Mirror'));
  }

  resize(steps: number): void {
    this.radius = Math.min(Math.max(this.radius * 1.25 ** steps, 0.005), 0.25);
    if (this.#size) this.#size.value = String(this.radius);
  }

  down(at: Pointer): boolean {
    if (!this.#strengths || !this.app.overBody(at.x, at.y)) return false;
    this.#painting = true;
    this.#painted = false;
    this.move(at);
    return true;
  }

  move(at: Pointer): void {
    if (!this.#painting) return;
    this.#dabs.push({ at, way: at.shift ? 'remove' : at.ctrl ? 'smooth' : this.way });
  }

  up(at: Pointer): void {
    if (!this.#painting) return;
    const way: Way = at.shift ? 'remove' : at.ctrl ? 'smooth' : this.way;
    this.#painting = false;
    this.#dabs.clear();
    this.#saving += 1;
    void this.#save(at, way).finally(() => { this.#saving -= 1; });
  }

  async #save(at: Pointer, way: Way): Promise<void> {
    const hit = await this.app.pick(at.x, at.y);
    if (hit) this.#dab(hit.vertex, way);
    const strengths = this.#strengths, document = this.app.document;
    if (!strengths || !document || !this.#painted) return;
    const done = await document.paintGroup(this.group, strengths.slice());
    if (!done && this.#active) void this.#read();  // as it is, not as it was meant to be
    else if (this.#strengths) this.app.setView({ channel: `group:${this.group}` });
  }

  cancel(): void {
    if (!this.#painting) return;
    this.#painting = false;
    void this.#begin();
  }

  async #begin(): Promise<void> {
    this.app.player.play(false);
    await this.#read();
  }

  /** The group as it is, and the shape at rest. Until they are there, nothing is painted. */
  async #read(): Promise<void> {
    const document = this.app.document;
    if (!document) return;
    const reading = ++this.#reading;
    this.#strengths = null;
    const { scene } = document;
    const count = document.character.vertices;
    try {
      if (this.#rest?.document !== document) {
        // In one breath, and not as a frame: whoever draws has to see every change of the triangles.
        const [, , positions] = await Promise.all([scene.ask('sample', -1, 0),
          scene.ask('reset'), scene.ask('positions') as Promise<Float32Array>]);
        this.#rest = { document, positions: positions.slice(0, 3 * count) };
        this.app.player.refresh();
      }
      const there = document.character.groups.includes(this.group)
        ? await scene.ask('channel', `group:${this.group}`) as Float32Array : null;
      if (reading !== this.#reading || document !== this.app.document) return;
      this.#strengths = there ? there.slice(0, count) : new Float32Array(count);
      this.app.viewport.paint(this.#strengths);
    } catch (error) {
      // Where another scene took its place meanwhile, that is read.
      if (!document.closed && document.scene === scene) throw error;
    }
  }

  #dab(vertex: number, way: Way): void {
    const rest = this.#rest?.positions, strengths = this.#strengths;
    const document = this.app.document;
    if (!rest || !strengths || !document || 3 * vertex + 2 >= rest.length) return;
    const centre = [rest[3 * vertex]!, rest[3 * vertex + 1]!, rest[3 * vertex + 2]!] as const;
    this.#dabAt(centre, way);
    if (this.mirror) this.#dabAt([-centre[0], centre[1], centre[2]], way);
    this.#painted = true;
    this.app.viewport.paint(strengths);
  }

  #dabAt(centre: readonly [number, number, number], way: Way): void {
    const rest = this.#rest!.positions, strengths = this.#strengths!;
    const radius = this.radius * (this.app.document?.character.diagonal_m ?? 1);
    const old = way === 'smooth' ? strengths.slice() : strengths;
    for (let v = 0; v < strengths.length; ++v) {
      const distance = Math.hypot(rest[3 * v]! - centre[0], rest[3 * v + 1]! - centre[1],
        rest[3 * v + 2]! - centre[2]);
      if (distance >= radius) continue;
      const force = 0.5 * (1 - (distance / radius) ** 2) ** 2;
      const to = way === 'add' ? 1 : way === 'remove' ? 0 : this.#meanAround(v, old);
      const value = strengths[v]! + force * (to - strengths[v]!);
      strengths[v] = value > 0.995 ? 1 : value < 0.005 ? 0 : value;
    }
  }

  #meanAround(vertex: number, values: Float32Array): number {
    const { triangles } = this.app.viewport.body;
    if (this.#neighbours?.of !== triangles) {
      const list: number[][] = Array.from({ length: values.length }, () => []);
      for (let i = 0; i + 2 < triangles.length; i += 3)
        for (let k = 0; k < 3; ++k) list[triangles[i + k]!]?.push(triangles[i + (k + 1) % 3]!);
      this.#neighbours = { of: triangles, list };
    }
    let sum = 0, count = 0;
    for (const other of this.#neighbours.list[vertex] ?? []) {
      if (other >= values.length) continue;
      sum += values[other]!;
      count += 1;
    }
    return count > 0 ? sum / count : values[vertex]!;
  }
}
