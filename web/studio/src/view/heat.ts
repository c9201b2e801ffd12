// Numbers as colours. The scale runs from dark blue to yellow (cividis), which people with any kind of
// colour vision tell apart by its lightness alone; exactly zero is grey, so that "nothing" does not
// look like "little". Signed numbers go from blue over white to orange.

type Rgb = readonly [number, number, number];

const kCividis: readonly Rgb[] = [
  [0, 0.135, 0.305], [0.122, 0.246, 0.436], [0.306, 0.345, 0.422], [0.440, 0.445, 0.453],
  [0.575, 0.551, 0.470], [0.722, 0.665, 0.435], [0.871, 0.788, 0.354], [0.996, 0.910, 0.217]];
const kSigned: readonly Rgb[] = [
  [0.13, 0.30, 0.62], [0.45, 0.64, 0.83], [0.93, 0.93, 0.93], [0.93, 0.66, 0.36],
  [0.75, 0.36, 0.05]];
export const kZero: Rgb = [0.47, 0.48, 0.50];

/** In place of a channel: every wrinkle map in a colour of its own. */
export const kMapColours = 'wrinkle maps';
// Okabe and Ito's, told apart by people with any kind of colour vision.
const kOfMaps: readonly Rgb[] = [
  [0.902, 0.624, 0], [0.337, 0.706, 0.914], [0, 0.620, 0.451], [0.941, 0.894, 0.259],
  [0.8, 0.475, 0.655], [0.835, 0.369, 0], [0, 0.447, 0.698], [1, 1, 1]];
export const mapCss = (map: number): string => css(kOfMaps[map % kOfMaps.length]!);

/** Where each map shows: its colour over the grey of nothing, by its weight. */
export function mapColours(weights: readonly Float32Array[], out: Float32Array): void {
  const zero = kZero.map(toLinear);
  const colours = weights.map((_, i) => kOfMaps[i % kOfMaps.length]!.map(toLinear));
  for (let v = 0; 3 * v < out.length; ++v) {
    let sum = 0, r = 0, g = 0, b = 0;
    weights.forEach((of, i) => {
      const w = of[v] ?? 0, c = colours[i]!;
      sum += w;
      r += w * c[0]!;
      g += w * c[1]!;
      b += w * c[2]!;
    });
    const share = Math.min(sum, 1), each = sum > 0 ? share / sum : 0;
    out[3 * v] = (1 - share) * zero[0]! + each * r;
    out[3 * v + 1] = (1 - share) * zero[1]! + each * g;
    out[3 * v + 2] = (1 - share) * zero[2]! + each * b;
  }
}

export interface HeatScale {
  low: number;
  high: number;
  unit: string;
  signed: boolean;
}

function at(table: readonly Rgb[], t: number): Rgb {
  const x = Math.min(Math.max(t, 0), 1) * (table.length - 1);
  const i = Math.min(Math.floor(x), table.length - 2), f = x - i;
  const a = table[i]!, b = table[i + 1]!;
  return [a[0] + f * (b[0] - a[0]), a[1] + f * (b[1] - a[1]), a[2] + f * (b[2] - a[2])];
}

/** 1, 2, 5 times a power of ten, not below the value. */
export function roundUp(value: number): number {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) if (value <= step * power * (1 + 1e-9)) return step * power;
  return 10 * power;
}

export function scaleOf(channel: string, values: Float32Array): HeatScale {
  if (channel === 'compression') return { low: -0.5, high: 0.5, unit: '', signed: true };
  let high = 0;
  for (const value of values) if (value > high) high = value;
  if (channel === 'displacement')
    return { low: 0, high: roundUp(Math.max(1000 * high, 1e-3)), unit: 'mm', signed: false };
  // Shares that add up to a little more than 1 by rounding are still shares.
  return { low: 0, high: high > 1.0001 ? roundUp(high) : 1, unit: '', signed: false };
}

const toLinear = (c: number): number => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);

/** Colours for three.js, which wants them linear. */
export function heatColours(values: Float32Array, scale: HeatScale, out: Float32Array): void {
  const table = scale.signed ? kSigned : kCividis;
  const steps = 256;
  const colours = new Float32Array(3 * (steps + 1));
  for (let i = 0; i <= steps; ++i)
    colours.set(at(table, i / steps).map(toLinear), 3 * i);
  const zero = kZero.map(toLinear);
  const factor = scale.unit === 'mm' ? 1000 : 1;
  for (let v = 0; v < values.length; ++v) {
    const value = factor * values[v]!;
    if (value === 0) {
      out.set(zero, 3 * v);
      continue;
    }
    const t = (value - scale.low) / (scale.high - scale.low);
    const i = 3 * Math.round(Math.min(Math.max(t, 0), 1) * steps);
    out[3 * v] = colours[i]!;
    out[3 * v + 1] = colours[i + 1]!;
    out[3 * v + 2] = colours[i + 2]!;
  }
}

const css = (c: Rgb): string => `rgb(${c.map((x) => Math.round(255 * x)).join(' ')})`;
export const zeroCss = css(kZero);
export function gradientCss(signed: boolean): string {
  return `linear-gradient(to right, ${(signed ? kSigned : kCividis).map(css).join(', ')})`;
}
