// Parameters as the library describes them: kind, range, unit, default and help come from derm.
import type { Character, Field } from 'derm';
import { h, shortNumber } from './dom';

/** What a field does when it changes: while dragged, and when the stroke ends. */
export interface FieldActions {
  drag(value: unknown): void;
  done(value: unknown): void;
}

interface Slider { low: number; high: number; log: boolean }

/** The part of a range that is of use: fields allow more than a slider can show. */
function sliderOf(field: Field, value: number): Slider {
  const preset = typeof field.default === 'number' ? field.default : value;
  const around = Math.max(Math.abs(preset), Math.abs(value), 1e-6);
  let low = field.low ?? -4 * around, high = field.high ?? 4 * around;
  if (field.kind === 'number' && high > 20 * around) high = Math.max(4 * around, 10 * low);
  if (field.kind === 'integer' && high > 20 * around) high = Math.max(4 * around, low + 16);
  if (low < -20 * around) low = -4 * around;
  const log = field.kind === 'number' && low > 0 && high / low > 50;
  if (log && low < around / 100) low = around / 100;
  return { low, high, log };
}

const places = (slider: Slider) => ({
  at: (value: number): number => (slider.log
    ? Math.log(Math.max(value, slider.low) / slider.low) / Math.log(slider.high / slider.low)
    : (value - slider.low) / (slider.high - slider.low || 1)),
  from: (place: number): number => (slider.log
    ? slider.low * (slider.high / slider.low) ** place
    : slider.low + place * (slider.high - slider.low)),
});

function numberInput(field: Field, value: number | undefined, actions: FieldActions): HTMLElement {
  const whole = field.kind === 'integer';
  const shown = value ?? (typeof field.default === 'number' ? field.default : undefined);
  const slider = sliderOf(field, shown ?? 0);
  const scale = places(slider);
  const round = (v: number) => (whole ? Math.round(v) : Number(v.toPrecision(3)));
  const bar = h('input', { type: 'range', min: 0, max: 1, step: 'any', 'aria-label': field.key,
    oninput: () => {
      const v = round(scale.from(Number(bar.value)));
      box.value = shortNumber(v);
      actions.drag(v);
    },
    onchange: () => actions.done(round(scale.from(Number(bar.value)))) });
  bar.value = String(shown === undefined ? 0 : scale.at(shown));
  const box = h('input', { type: 'number', step: 'any', 'aria-label': `${field.key} as a number`,
    placeholder: 'auto', ...(field.low !== undefined ? { min: field.low } : {}),
    ...(field.high !== undefined ? { max: field.high } : {}),
    onchange: () => actions.done(box.value === '' ? undefined : Number(box.value)) });
  if (shown !== undefined) box.value = shortNumber(shown);
  return h('div', { class: 'number' }, bar, box, h('span', { class: 'unit' }, field.unit ?? ''));
}

function choice(label: string, options: readonly { value: string; text: string }[], value: string,
  done: (value: string) => void): HTMLSelectElement {
  const select = h('select', { 'aria-label': label, onchange: () => done(select.value) },
    ...options.map((each) => h('option', { value: each.value }, each.text)));
  select.value = value;
  return select;
}

/** Several names: those that are in, each to be taken out, and a choice of more. */
function nameList(label: string, names: readonly string[], value: readonly string[],
  done: (value: string[]) => void): HTMLElement {
  return h('div', { class: 'chips' },
    ...value.map((name) => h('button', { class: 'chip', title: `take ${name} out`,
      onclick: () => done(value.filter((each) => each !== name)) }, `${name} ✕`)),
    choice(`add to ${label}`, [{ value: '', text: '+' },
      ...names.filter((n) => !value.includes(n)).map((n) => ({ value: n, text: n }))], '',
    (name) => { if (name) done([...value, name]); }));
}

function numberList(field: Field, value: unknown, actions: FieldActions): HTMLElement {
  const box = h('input', { type: 'text', 'aria-label': field.key, placeholder: 'none',
    oninput: () => box.setCustomValidity(''),
    onchange: () => {
      const numbers = box.value.split(/[\s,;]+/).filter((part) => part !== '').map(Number);
      if (numbers.every(Number.isFinite)) {
        actions.done(numbers.length === 0 ? undefined : numbers);
        return;
      }
      box.setCustomValidity('Numbers, with commas between them');
      box.reportValidity();
    } });
  box.value = Array.isArray(value) ? value.map((v) => shortNumber(Number(v))).join(', ') : '';
  return h('div', { class: 'number' }, box, h('span', { class: 'unit' }, field.unit ?? ''));
}

/** A list of small tables, each with fields of its own. */
function tables(field: Field, value: unknown, character: Character,
  actions: FieldActions): HTMLElement {
  const list = [value ?? []].flat() as Record<string, unknown>[];  // one is a table, several a list
  const changed = (index: number, key: string, to: unknown) => list.map((table, i) => {
    if (i !== index) return table;
    const copy: Record<string, unknown> = { ...table };
    if (to === undefined) delete copy[key];
    else copy[key] = to;
    return copy;
  });
  return h('div', { class: 'tables' },
    ...list.map((table, index) => h('fieldset', {},
      h('legend', {}, `${index + 1} `, h('button', { class: 'flat', title: 'remove',
        onclick: () => actions.done(list.filter((_, i) => i !== index)) }, '✕')),
      ...(field.fields ?? []).map((inner) => fieldRow(inner, table[inner.key], character, {
        drag: (v) => actions.drag(changed(index, inner.key, v)),
        done: (v) => actions.done(changed(index, inner.key, v)) })))),
    h('button', { class: 'flat', onclick: () => {
      const first: Record<string, unknown> = {};
      for (const inner of field.fields ?? [])
        if (inner.kind === 'word' && inner.words?.[0]) first[inner.key] = inner.words[0];
      actions.done([...list, first]);
    } }, '+ add'));
}

function inputFor(field: Field, value: unknown, character: Character,
  actions: FieldActions): HTMLElement {
  const joints = character.joints.map((joint) => joint.name);
  const asOptions = (names: readonly string[]) => names.map((n) => ({ value: n, text: n }));
  const now = value ?? field.default;
  switch (field.kind) {
    case 'flag': {
      const box = h('input', { type: 'checkbox', 'aria-label': field.key,
        onchange: () => actions.done(box.checked) });
      box.checked = now === true;
      return box;
    }
    case 'number':
    case 'integer':
      return numberInput(field, typeof value === 'number' ? value : undefined, actions);
    case 'numbers':
      return numberList(field, now, actions);
    case 'word':
      return choice(field.key, asOptions(field.words ?? []), String(now ?? ''), (v) => actions.done(v));
    case 'joint':
    case 'group': {
      const names = field.kind === 'joint' ? joints : character.groups;
      return choice(field.key, [{ value: '', text: '–' }, ...asOptions(names)], String(now ?? ''),
        (v) => actions.done(v === '' ? undefined : v));
    }
    case 'joints':
    case 'groups':
      return nameList(field.key, field.kind === 'joints' ? joints : character.groups,
        Array.isArray(now) ? now.map(String) : [], (v) => actions.done(v));
    case 'word_or_groups':
    case 'word_or_joints': {
      const names = field.kind === 'word_or_joints' ? joints
        : character.groups.map((group) => `group:${group}`);
      const text = Array.isArray(now) ? String(now[0] ?? '') : String(now ?? '');
      return choice(field.key, asOptions([...new Set([...field.words ?? [], ...names, text])]), text,
        (v) => actions.done(v));
    }
    case 'tables':
      return tables(field, value, character, actions);
    case 'text': {
      const box = h('input', { type: 'text', 'aria-label': field.key,
        onchange: () => actions.done(box.value === '' ? undefined : box.value) });
      box.value = String(now ?? '');
      return box;
    }
  }
}

/** "frequency_hz" → "frequency": the unit stands behind the number. */
const labelOf = (field: Field): string =>
  (field.unit ? field.key.replace(/_(hz|m|s|kg|deg)$/, '') : field.key).replaceAll('_', ' ');

/** A section's value, or undefined where it is the default: sections tell all of theirs. */
export function ownValue(field: Field, values: Record<string, unknown>): unknown {
  const value = values[field.key];
  const preset = JSON.stringify(field.default ?? '');
  return value === undefined || JSON.stringify(value) === preset ? undefined : value;
}

export function fieldRow(field: Field, value: unknown, character: Character,
  actions: FieldActions): HTMLElement {
  const preset = field.default === undefined ? 'none' : JSON.stringify(field.default);
  const range = field.low !== undefined || field.high !== undefined
    ? `${field.low ?? '…'} to ${field.high ?? '…'}${field.unit ? ` ${field.unit}` : ''}` : '';
  const help = [field.help, range, `default ${preset}`, field.live === false ? 'binds again' : '']
    .filter((part) => part !== '').join(' · ');
  const row = h('div', { class: `field kind-${field.kind}${value === undefined ? '' : ' set'}`,
    'data-key': field.key, 'data-help': `${field.key}: ${help}`, title: help },
  h('span', { class: 'field-label' }, labelOf(field)),
  inputFor(field, value, character, actions),
  h('button', { class: 'reset', title: `default: ${preset}`, 'aria-label': `${field.key}: default`,
    tabindex: value === undefined ? -1 : 0, onclick: () => actions.done(undefined) }, '↺'));
  return row;
}
