// Numbers for people, as package units and the axes of package page write them: testdata/formats.json holds both to it.

export const count = n => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ',');

export const counted = (n, noun) => n === 1 ? '1 ' + noun : count(n) + ' ' + noun + 's';

// fixed is toFixed, but of two numbers as near it takes the even one, as Go does.
function fixed(v, digits) {
  const halves = v * 2 ** (digits + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return v.toFixed(digits);
  const n = Math.floor(v * 10 ** digits);
  return ((n + n % 2) / 10 ** digits).toFixed(digits);
}

// milli writes thousandths: no digits behind large numbers, at most three behind small ones.
export function milli(v) {
  if (v >= 1e6) return count(Math.floor((v + 500) / 1000));
  if (v % 1000 === 0) return String(v / 1000);
  return fixed(v / 1000, v >= 1e5 ? 1 : v >= 1e4 ? 2 : 3);
}

const digits = v => fixed(v, v < 9.995 ? 2 : v < 99.95 ? 1 : 0);

export function latency(ns) {
  for (const [name, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]]) {
    if (ns + size / 2000 >= size) return digits(ns / size) + name;
  }
  return Math.round(ns) + 'ns';
}

export const latencyOr = ns => ns ? latency(ns) : '–';

export function duration(ns) {
  const s = ns / 1e9;
  if (s < 0) return '0.0s';
  if (s < 59.95) return fixed(s, 1) + 's';
  if (s < 3600) {
    const whole = Math.round(s);
    return Math.floor(whole / 60) + 'm' + String(whole % 60).padStart(2, '0') + 's';
  }
  const minutes = Math.round(s / 60);
  return Math.floor(minutes / 60) + 'h' + String(minutes % 60).padStart(2, '0') + 'm';
}

// share writes part of whole; the ends are exact, so that 100% means all.
export function share(part, whole) {
  if (whole === 0) return '-';
  if (part >= whole) return '100%';
  if (part === 0) return '0%';
  return fixed(Math.min(99.99, Math.max(0.01, 100 * part / whole)), 2) + '%';
}

export function bytes(n) {
  if (n < 1024) return n + ' B';
  let v = n / 1024, unit = 0;
  while (v >= 1024 && unit < 5) { v /= 1024; unit++; }
  return fixed(v, 1) + ' ' + 'KMGTPE'[unit] + 'iB';
}

const trimmed = s => s.includes('.') ? s.replace(/0+$/, '').replace(/\.$/, '') : s;

// Labels of axes are round: 5ms, not 5.00ms.
export function latencyLabel(v) {
  const [, number, unit] = latency(Math.round(v)).match(/^([\d.]+)(.*)$/);
  return trimmed(number) + unit;
}

export const rateLabel = v => trimmed(milli(Math.round(v * 1000)));

export const percentLabel = ppm => trimmed((ppm / 1e4).toFixed(4)) + '%';

export function timeLabel(ns) {
  const s = Math.round(ns / 1e6) / 1e3, h = Math.floor(s / 3600), m = Math.floor(s % 3600 / 60), rest = +(s % 60).toFixed(3);
  if (s === 0) return '0';
  if (s < 1) return Math.round(s * 1e3) + 'ms';
  return (h ? h + 'h' : '') + (m ? m + 'm' : '') + (rest ? (h && !m ? '0m' : '') + rest + 's' : '');
}

export const from = text => text.toLowerCase().replaceAll('_', ' ');
