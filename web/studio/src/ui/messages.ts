// Messages: what went wrong and what was done, in a corner, never in the way of the page's life.
import { DermError } from 'derm';
import { h } from './dom';

export type MessageKind = 'error' | 'warning' | 'info' | 'done';

const kStays_ms: Record<MessageKind, number> = { error: 0, warning: 12_000, info: 8000, done: 5000 };
const kMost = 5;

/** For people: what to do about it, where that can be known. */
function adviceFor(error: unknown): string {
  if (!(error instanceof DermError)) return '';
  switch (error.code) {
    case 'out_of_memory':
      return 'The scene is too large for this browser tab. Close others, or use the program derm.';
    case 'cannot_read':
      return 'Drop the file together with those that it refers to.';
    case 'closed':
      return 'The module was started anew; open the scene again.';
    default:
      return '';
  }
}

export class Messages {
  /** How many errors were shown, for tests. */
  errors = 0;

  constructor(private readonly place: HTMLElement) {}

  error(error: unknown, title: string): void {
    this.errors += 1;
    const text = error instanceof Error ? error.message : String(error);
    this.say('error', title, text, adviceFor(error));
  }

  say(kind: MessageKind, title: string, text: string, advice = ''): void {
    const same = [...this.place.children].find((each) =>
      (each as HTMLElement).dataset.text === `${kind}${title}${text}`);
    same?.remove();
    const close = h('button', { class: 'close', 'aria-label': 'Close this message', onclick: () => box.remove() },
      '✕');
    const box = h('div', { class: `message ${kind}`, role: kind === 'error' ? 'alert' : 'status' },
      h('div', { class: 'body' }, h('strong', {}, title), text && h('p', {}, text),
        advice && h('p', { class: 'advice' }, advice)), close);
    box.dataset.text = `${kind}${title}${text}`;
    this.place.append(box);
    while (this.place.children.length > kMost) this.place.firstElementChild?.remove();
    if (kStays_ms[kind] > 0) setTimeout(() => box.remove(), kStays_ms[kind]);
  }
}
