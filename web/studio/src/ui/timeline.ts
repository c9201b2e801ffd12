// Time under the picture: play, step, scrub, a range, a speed, a clip.
import type { App } from '../app';
import { h, shortNumber } from './dom';
import { keyText } from './about';
import { icon } from './icons';
import type { Commands } from '../commands';

export class Timeline {
  readonly #play: HTMLButtonElement;
  readonly #loop: HTMLButtonElement;
  readonly #head = h('div', { class: 'head' });
  readonly #span = h('div', { class: 'span' });
  readonly #handles: [HTMLElement, HTMLElement];
  readonly #track: HTMLElement;
  readonly #time = h('output', { class: 'time' });
  readonly #clips: HTMLSelectElement;
  readonly #speedText = h('output', { class: 'speed-value' });

  constructor(private readonly app: App, commands: Commands, place: HTMLElement) {
    const { player } = app;
    const button = (id: string, sign: string) => {
      const command = commands.get(id)!;
      return h('button', { class: 'icon-button', 'data-command': id, 'aria-label': command.title,
        title: `${command.title} (${keyText(command.keys?.[0] ?? '')})`, onclick: () => command.run() },
      icon(sign));
    };
    this.#play = button('play', 'play');
    this.#loop = button('loop', 'loop');
    this.#clips = h('select', { 'aria-label': 'Clip', onchange: () => {
      void app.document?.edit(`clip ${this.#clips.value}`, 'set', '', 'clip', this.#clips.value);
      player.setRange(null);
    } });
    const speed = h('input', { type: 'range', min: -1, max: 0.30103, step: 'any', class: 'speed',
      'aria-label': 'Speed', oninput: () => {
        // 0.1 to 2 times, even steps of ratio; near 1 it is 1.
        const value = 10 ** Number(speed.value);
        player.speed = Math.abs(value - 1) < 0.05 ? 1 : value;
        this.#speedText.textContent = `${shortNumber(Number(player.speed.toPrecision(2)))} ×`;
      } });
    speed.value = '0';
    this.#speedText.textContent = '1 ×';
    const handle = (end: 0 | 1) => h('div', { class: `handle ${end === 0 ? 'from' : 'to'}`,
      title: 'range that is played', 'data-end': String(end) });
    this.#handles = [handle(0), handle(1)];
    this.#track = h('div', { class: 'track', role: 'slider', tabindex: 0, 'aria-label': 'Time' },
      this.#span, ...this.#handles, this.#head);
    place.append(h('div', { class: 'time-row' }, button('toStart', 'back'),
      button('stepBack', 'back'), this.#play, button('stepForth', 'forth'), this.#loop,
      this.#time, this.#track,
      h('label', { class: 'speed-label' }, 'Speed', speed, this.#speedText), this.#clips));
    place.querySelectorAll('[data-command=stepBack] svg, [data-command=stepForth] svg')
      .forEach((svg) => svg.classList.add('small'));
    this.#listen();
    player.changed.add(() => this.#show());
    app.opened.add((document) => {
      this.#fillClips();
      document?.changed.add(() => this.#fillClips());
    });
    this.#show();
  }

  #fillClips(): void {
    const document = this.app.document;
    if (!document) return;
    const names = document.character.clips.map((clip) => clip.name);
    const now = document.recipe.clip?.name ?? '';
    this.#clips.replaceChildren(...names.map((name) => h('option', { value: name }, name)),
      h('option', { value: '' }, 'rest pose'));
    this.#clips.value = now;
  }

  #listen(): void {
    const { player } = this.app;
    const timeAt = (event: PointerEvent): number => {
      const box = this.#track.getBoundingClientRect();
      const recipe = this.app.document?.recipe;
      if (!recipe) return 0;
      const share = Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1);
      const time_s = recipe.start_s + share * (recipe.end_s - recipe.start_s);
      // On frames: those are what bakes and films show.
      return recipe.start_s + Math.round((time_s - recipe.start_s) * recipe.fps) / recipe.fps;
    };
    let dragged: 'head' | 0 | 1 | null = null;
    this.#track.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      const end = (event.target as HTMLElement).dataset.end;
      dragged = end === '0' ? 0 : end === '1' ? 1 : 'head';
      this.#track.setPointerCapture(event.pointerId);
      move(event);
    });
    const move = (event: PointerEvent) => {
      if (dragged === null) return;
      const time_s = timeAt(event);
      if (dragged === 'head') {
        player.play(false);
        player.seek(time_s);
        return;
      }
      const range: [number, number] = [player.start_s, player.end_s];
      range[dragged] = time_s;
      if (range[0] < range[1]) player.setRange(range);
    };
    this.#track.addEventListener('pointermove', move);
    for (const end of ['pointerup', 'pointercancel'])
      this.#track.addEventListener(end, () => { dragged = null; });
    this.#track.addEventListener('dblclick', () => player.setRange(null));
    this.#track.addEventListener('keydown', (event) => {
      const steps = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (steps !== undefined) player.step(steps);
      else if (event.key === 'Home') player.seek(player.start_s);
      else if (event.key === 'End') player.seek(player.end_s);
      else return;
      event.preventDefault();
    });
  }

  #show(): void {
    const { player } = this.app;
    const recipe = this.app.document?.recipe;
    const length = recipe ? recipe.end_s - recipe.start_s : 0;
    const share = (time_s: number) => (recipe && length > 0
      ? `${(100 * (time_s - recipe.start_s) / length).toFixed(3)}%` : '0%');
    this.#head.style.left = share(player.time_s);
    this.#handles[0].style.left = share(player.start_s);
    this.#handles[1].style.left = recipe && length > 0 ? share(player.end_s) : '100%';
    this.#span.style.left = share(player.start_s);
    this.#span.style.right = recipe && length > 0
      ? `${(100 - 100 * (player.end_s - recipe.start_s) / length).toFixed(3)}%` : '0%';
    const frame = recipe ? Math.round((player.time_s - recipe.start_s) * recipe.fps) : 0;
    this.#time.textContent = player.live ? 'held by hand'
      : `${player.time_s.toFixed(2)} s · ${frame}`;
    this.#track.setAttribute('aria-valuenow', player.time_s.toFixed(2));
    this.#track.setAttribute('aria-valuemin', String(recipe?.start_s ?? 0));
    this.#track.setAttribute('aria-valuemax', String(recipe?.end_s ?? 0));
    const pressed = String(player.playing);
    if (this.#play.getAttribute('aria-pressed') !== pressed)
      this.#play.replaceChildren(icon(player.playing ? 'pause' : 'play'));
    this.#play.setAttribute('aria-pressed', pressed);
    this.#loop.setAttribute('aria-pressed', String(player.loop));
  }
}
