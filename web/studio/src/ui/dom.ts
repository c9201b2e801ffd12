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
