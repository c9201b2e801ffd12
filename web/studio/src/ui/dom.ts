// Elements of the page, made in one expression.

type Child = Node | string | null | undefined | false;
type Listener = (event: never) => void;
type Attributes = Record<string, string | number | boolean | Listener | null | undefined>;

/** h('button', {class: 'flat', title: 'Undo', onclick: undo}, 'Undo') */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {},
  ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function')
      element.addEventListener(name.slice(2), value as unknown as EventListener);
    else if (value === true) element.setAttribute(name, '');
    else element.setAttribute(name, String(value));
  }
  for (const child of children) if (child) element.append(child);
  return element;
}

export const byId = <T extends HTMLElement = HTMLElement>(id: string): T => {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`the page has no element "${id}"`);
  return element as T;
};

/** Keeps what is typed or dragged: a part that has the focus is not made anew. */
export const hasFocus = (element: Element): boolean => element.contains(document.activeElement);

/** Puts rows (with data-key or data-name) in the place of others; who came there by keys stays where
 *  they were. */
export function replaceRows(panel: HTMLElement, ...rows: (Node | string)[]): void {
  const kRow = '[data-key], [data-name]', kInput = 'input, select, textarea, button';
  const focused = panel.querySelector<HTMLElement>(':focus-visible');
  const row = focused?.closest<HTMLElement>(kRow);
  const place = focused && row ? [...row.querySelectorAll<HTMLElement>(kInput)].indexOf(focused) : -1;
  panel.replaceChildren(...rows);
  if (!row || place < 0) return;
  const same = [...panel.querySelectorAll<HTMLElement>(kRow)].find((each) =>
    each.dataset.key === row.dataset.key && each.dataset.name === row.dataset.name);
  const inputs = [...same?.querySelectorAll<HTMLElement>(kInput) ?? []];
  inputs[place]?.focus({ preventScroll: true });
  // The button of a default is gone with what it took back.
  if (!hasFocus(panel)) inputs[0]?.focus({ preventScroll: true });
}

/** A number in as few digits as tell it. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value);
  return String(Number(value.toPrecision(4)));
}

/** A panel that shows what is only while it can be seen: tabs say when it comes up (`shown`). */
export function whileVisible(panel: HTMLElement, show: () => void): () => void {
  let stale = false;
  panel.addEventListener('shown', () => {
    if (!stale) return;
    stale = false;
    show();
  });
  return () => {
    stale = panel.hidden;
    if (!stale) show();
  };
}
