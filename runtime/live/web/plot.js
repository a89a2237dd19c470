// Plots as plain values: paths from arrays, axes with their labels, lines and marks. view.js makes elements of them.
// The grid is stretched to the width of the page, while labels, placed by percent, keep their size.
import { latencyLabel, timeLabel } from './units.js';

export const gridX = 6000, gridY = 1000, height = 170, top = 18, bottom = 22;
const ticksMost = 6;

export function place(axis, v) {
  let { low, high } = axis;
  if (axis.log) [v, low, high] = [Math.log(Math.max(v, low)), Math.log(low), Math.log(high)];
  return high <= low ? 0 : Math.min(1, Math.max(0, (v - low) / (high - low)));
}

function mark(axis, v, label) {
  if (v < axis.low * (1 - 1e-9) || v > axis.high * (1 + 1e-9)) return;
  axis.ticks.push({ at: place(axis, v), label });
}

export function roundStep(high, most) {
  const size = 10 ** Math.floor(Math.log10(high / most));
  for (const n of [1, 2, 5, 10]) if (high / (n * size) <= most) return n * size;
  return 10 * size;
}

// linear is an axis from 0 to a round value that is not below high.
export function linear(high, label) {
  if (!(high > 0)) high = 1;
  const step = roundStep(high, 4), n = Math.ceil(high / step - 1e-9), axis = { low: 0, high: n * step, log: false, ticks: [] };
  for (let i = 0; i <= n; i++) mark(axis, i * step, label(i * step));
  return axis;
}

export function around(low, high) {
  let below = 10 ** Math.floor(Math.log10(low)), above = 10 ** Math.ceil(Math.log10(high) - 1e-9);
  for (const n of [5, 2]) if (n * below <= low) { below *= n; break; }
  for (const n of [0.2, 0.5]) if (n * above >= high) { above *= n; break; }
  return [below, above];
}

// octaves is a logarithmic axis of latencies.
export function octaves(low, high) {
  [low, high] = around(Math.max(low, 1), high);
  const axis = { low, high: Math.max(high, 2 * low), log: true, ticks: [] }, decades = Math.log10(axis.high / axis.low);
  const digits = decades > 3 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5], every = Math.ceil(decades / 6);
  for (let e = Math.floor(Math.log10(axis.low)); e <= Math.ceil(Math.log10(axis.high)); e++) {
    if (e % every === 0) for (const d of digits) mark(axis, d * 10 ** e, latencyLabel(d * 10 ** e));
  }
  return axis;
}

const ms = 1e6, s = 1e9, m = 60 * s, h = 60 * m;
const timeSteps = [ms, 10 * ms, 50 * ms, 100 * ms, 200 * ms, 500 * ms, s, 2 * s, 5 * s, 10 * s, 15 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 15 * m, 30 * m, h, 2 * h, 3 * h, 6 * h, 12 * h];

export function times(span) {
  const axis = { low: 0, high: Math.max(span, 1), log: false, ticks: [] };
  const step = timeSteps.find(n => Math.floor(span / n) <= ticksMost) || 24 * h * Math.max(1, roundStep(span / (24 * h), ticksMost));
  for (let at = 0; at <= span && axis.ticks.length < 2 * ticksMost; at += step) mark(axis, at, timeLabel(at));
  return axis;
}

const column = (i, n) => Math.floor(i * gridX / Math.max(n, 1));
const gridAt = (axis, v) => gridY - Math.floor(place(axis, v) * gridY + 0.5);

// steps keeps each value for its column; many is how many columns the time has.
export function steps(axis, values, many) {
  let d = '', before;
  values.forEach((v, i) => {
    const y = gridAt(axis, v);
    d += i === 0 ? 'M0 ' + y : y !== before ? 'V' + y : '';
    d += 'H' + column(i + 1, many);
    before = y;
  });
  return d;
}

export const area = (axis, values, many) => values.length ? steps(axis, values, many) + 'V' + gridAt(axis, axis.low) + 'H0Z' : '';

// band is from where to where the latencies of a bucket reach that begins at low: quantiles over time are known to so much.
export const band = (low, per) => [low, low + Math.max(2048, 2 ** Math.floor(Math.log2(low))) / per];

export function bands(axis, lows, per, many) {
  let d = '';
  for (let i = 0; i < lows.length;) {
    const begin = i;
    for (i++; i < lows.length && lows[i] === lows[begin]; i++);
    if (!lows[begin]) continue;
    const [low, high] = band(lows[begin], per);
    d += `M${column(begin, many)} ${gridAt(axis, high)}H${column(i, many)}V${gridAt(axis, low)}H${column(begin, many)}Z`;
  }
  return d;
}

// threads connect the bands of neighbours, so that the eye can follow them: in the middle of each.
export function threads(axis, lows, per, many) {
  let d = '', on = false;
  lows.forEach((low, i) => {
    if (low) d += `${on ? 'L' : 'M'}${Math.floor((column(i, many) + column(i + 1, many)) / 2)} ${gridAt(axis, Math.sqrt(low * band(low, per)[1]))}`;
    on = low > 0;
  });
  return d;
}

const windows = [10 * s, 20 * s, 30 * s, m, 2 * m, 3 * m, 5 * m, 10 * m, 15 * m, 20 * m, 30 * m, h, 2 * h, 3 * h, 6 * h, 12 * h, 24 * h];

// window is how much time the plots of a running job show: a round span that has room for more, no more than is planned.
export const window = (span, planned) => Math.max(span, Math.min(planned || Infinity, windows.find(n => n > span) || span * 1.25));

const limitsMost = 6;

// limits are the thresholds of a plot, those that are broken first.
export const limits = (thresholds, kind) => thresholds.filter(t => t.plot === kind).map(t => ({ bound: kind === 'rate' ? t.bound / 1000 : t.bound, text: t.expr, broken: t.known && !t.ok }))
  .sort((a, b) => b.broken - a.broken).slice(0, limitsMost);

// bounds are thresholds as lines across a plot. One beyond its edge is no line: its key says so.
export const bounds = (axis, thresholds) => thresholds.map(t => ({ ...t, off: t.bound > axis.high || t.bound < axis.low, at: place(axis, t.bound) }));

// reach is how far an axis goes, so that thresholds that are near are lines on it.
export const reach = (most, thresholds, far) => thresholds.reduce((high, t) => t.bound <= far * most ? Math.max(high, t.bound) : high, most);

// marksAt places marks on the time; those before the page looked have no place.
export const marksAt = (axis, marks) => marks.filter(k => k.at_ns >= 0 && k.at_ns <= axis.high).map(k => ({ ...k, at: place(axis, k.at_ns), until: place(axis, k.until_ns || k.at_ns) }));
