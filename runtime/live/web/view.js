// The document: elements are made once, keyed, and changed in place. Text goes in by textContent alone.
import * as plot from './plot.js';
import * as units from './units.js';
import { facts, headline, lead, rates, shares, trust, when } from './model.js';

export const $ = id => document.getElementById(id), ns = 'http://www.w3.org/2000/svg';

// el makes an element with a class and text.
export function el(tag, cls, text) {
  const e = document.createElement(tag);
  if (cls) e.className = cls;
  if (text !== undefined) e.textContent = text;
  return e;
}

function shape(tag, attributes, text) {
  const e = document.createElementNS(ns, tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

export const set = (e, text) => { if (e.textContent !== text) e.textContent = text; };

// keyed gives a parent a child for each key, in order, keeps those that it has, and fills each of them.
function keyed(parent, items, make, fill) {
  parent.kept ||= new Map();
  const rest = new Map(parent.kept);
  let at = parent.firstChild;
  for (const [key, item] of items) {
    let child = parent.kept.get(key);
    if (!child) parent.kept.set(key, child = make(item));
    rest.delete(key);
    if (child === at) at = at.nextSibling; else parent.insertBefore(child, at);
    fill(child, item);
  }
  for (const [key, child] of rest) { child.remove(); parent.kept.delete(key); }
}

export function themes() {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  $('theme').onclick = () => { root.dataset.theme = dark() ? 'light' : 'dark'; };
}

export const say = text => set($('said'), text);

export function showBanner(text) {
  $('lost').hidden = !text;
  set($('lost'), text);
}

export function draw({ view, course }) {
  const [cls, word] = headline(view);
  $('head').className = cls;
  set($('word'), word);
  set($('name'), view.name);
  document.title = word + ': ' + view.name;
  set($('lead'), lead(view));
  set($('when'), when(view));
  const done = $('done');
  done.hidden = !view.planned_ns || view.ended;
  done.value = view.planned_ns ? Math.min(1, view.done_ns / view.planned_ns) : 0;
  drawTrust(trust(view));
  keyed($('facts'), facts(view).map(f => [f[0], f]), () => {
    const div = el('div'), dd = el('dd');
    dd.append(el('span'), el('small'));
    div.append(el('dt'), dd);
    return div;
  }, (div, [name, value, more]) => {
    set(div.firstChild, name);
    set(div.lastChild.firstChild, value);
    set(div.lastChild.lastChild, more);
  });
  drawTables(view);
  drawPlots(view, course);
}

function drawTrust(t) {
  keyed($('trust'), [['', t], ...t.why.map(text => [text, { text }])], () => el('p'), (p, one) => {
    const sign = one.cls === 'good' ? '✓ ' : one.cls === 'warn' ? '! ' : '';
    p.className = one.cls === undefined ? 'warning' : one.cls === 'warn' ? 'trust warn' : 'trust ' + one.cls;
    set(p, sign + one.text);
  });
}

// table fills a box with a table: heads that begin with # are of numbers; a cell is text, or [text, class, under, href].
export function table(box, caption, heads, rows, note) {
  box.hidden = !rows.length;
  if (!rows.length) return;
  if (!box.firstChild) {
    box.cards = heads.length > 3 || rows[0][1].some(c => Array.isArray(c) && c[1] === 'wide'); // on a phone each row is a card
    const scroll = el('div', 'scroll'), t = el('table'), tr = el('tr'), thead = el('thead');
    for (const h of heads) {
      const th = el(h ? 'th' : 'td', h.startsWith('#') ? 'n' : '', h.replace('#', ''));
      if (h) th.scope = 'col';
      tr.append(th);
    }
    thead.append(tr);
    t.append(el('caption', '', caption), thead, el('tbody'));
    scroll.append(t);
    if (box.cards) scroll.classList.add('cards');
    box.append(scroll, el('p', 'note'));
    box.named = heads.findIndex(h => h);
  }
  set(box.lastChild, note || '');
  keyed(box.querySelector('tbody'), rows, () => {
    const tr = el('tr');
    heads.forEach((h, i) => {
      const cell = el(i === box.named ? 'th' : 'td');
      if (i === box.named) cell.scope = 'row';
      if (box.cards) cell.dataset.of = h.replace('#', '');
      cell.append(el('span'), el('small'));
      tr.append(cell);
    });
    return tr;
  }, (tr, cells) => cells.forEach((c, i) => {
    const [text, cls, under, href] = Array.isArray(c) ? c : [c], cell = tr.children[i];
    cell.className = (heads[i].startsWith('#') ? 'n ' : '') + (cls || '');
    if (href && !cell.firstChild.firstElementChild) cell.firstChild.append(el('a'));
    if (href) cell.firstChild.firstElementChild.href = href;
    set(href ? cell.firstChild.firstElementChild : cell.firstChild, text);
    set(cell.lastChild, under || '');
  }));
}

const alarm = (n, cls) => [units.count(n), n ? cls : ''];
export const signs = { good: '✓ ', warn: '! ', bad: '✗ ' };
export const shapes = { lost: '▼', takeover: '◆', abort: '✕', sink: '■' };
const kinds = { lost: 'loss', takeover: 'take-over', abort: 'end before its time', sink: 'late rows' };

function drawTables(view) {
  const several = new Set(view.steps.map(s => s.workflow)).size > 1;
  table($('thresholds'), 'Thresholds', ['', 'threshold', '#measured'], view.thresholds.map((t, i) => [i, [
    !t.known ? ['not yet known', ''] : t.ok ? ['✓ ' + (view.ended ? 'met' : 'holds'), 'good'] : ['✗ ' + (view.ended ? 'missed' : 'broken'), 'bad'],
    [t.expr, '', several ? t.workflow : ''], t.value || '–']]));
  table($('marks'), 'Events', ['', '#at', 'what'], view.marks.map((k, i) => [i + k.text, [
    [shapes[k.kind] + ' ' + kinds[k.kind], k.kind === 'abort' ? 'bad' : 'warn'], k.at_ns < 0 ? 'earlier' : [units.duration(k.at_ns), '', k.until_ns ? 'to ' + units.duration(k.until_ns) : ''], [k.text, 'wide']]]));
  table($('places'), 'Datacenters', ['datacenter', 'state', '#share', '#users', '#a second', '#99% now', '#started', '#failed', 'waits for'], view.datacenters.map(d => [d.name, [
    d.name, [signs[d.health] + units.from(d.state), d.health], units.share(d.share_ppm, 1e6), units.count(d.users), units.milli(d.rate_milli), units.latencyOr(d.p99_ns),
    units.count(d.started), alarm(d.failed, 'bad'), [d.waits || '–', 'wide']]]));
  table($('steps'), 'Steps', ['step', '#started', '#ok', '#failed', '#timed out', '#a second', '#50%', '#99%', '#slowest'], view.steps.map(s => [s.workflow + '\n' + s.name, [
    [s.name, '', several ? s.workflow : ''], units.count(s.started), units.count(s.ok), alarm(s.failed, 'bad'), alarm(s.timed_out, 'bad'), units.milli(s.rate_milli),
    units.latencyOr(s.p50_ns), units.latencyOr(s.p99_ns), units.latencyOr(s.max_ns)]]), 'Since the load began. In flight is what is in no other column.');
  table($('errors'), 'Errors', ['where', '#times', 'what'], view.errors.map(e => [e.step + '\n' + e.kind, [e.step, alarm(e.count, 'bad'), [e.kind, 'wide', e.example === e.kind ? '' : e.example]]]));
  table($('sinks'), 'Sinks', ['sink', 'state', '#rows delivered', '#through', '#late by', '#lost', '#rejected', '#perhaps twice', 'why'], (view.sinks || []).map(s => [s.name, [
    [s.name, '', s.kind], [signs[s.health] + s.state, s.health], units.count(s.delivered), s.done ? 'the end' : s.through_ns ? units.duration(s.through_ns) : '–', [s.behind_ns ? units.duration(s.behind_ns) : '–', s.health === 'warn' ? 'warn' : ''],
    alarm(s.lost, 'bad'), alarm(s.rejected, 'bad'), alarm(s.perhaps_twice, 'warn'), [s.why || '–', 'wide']]]), 'Places that the gate delivers the rows of this job to. What is late still comes; what is lost or rejected does not.');
  const workers = view.datacenters.flatMap(d => d.workers.map(w => [d.name + '\n' + w.name, [
    [w.name || `${units.count(w.others)} more`, '', view.datacenters.length > 1 ? d.name : ''], [units.from(w.state) + (w.lost ? `, ${w.lost} lost` : ''), w.lost ? 'warn' : ''],
    units.count(w.cores), units.count(w.users), units.count(w.started), alarm(w.failed, 'bad'), units.latencyOr(w.late_p99_ns),
    [Math.floor(w.busy_max_ppm / 1e4) + '%', w.saturated ? 'warn' : '', w.saturated ? 'saturated' : '']]]));
  table($('workers'), 'Workers', ['worker', 'state', '#cores', '#users', '#started', '#failed', '#late, 99%', '#busiest second'], workers);
}

// drawPlots shows what happened over time. All plots share the time and its marks.
function drawPlots(view, course) {
  const n = course.ended.length, span = n ? (n - 1) * course.width_ns + course.last_ns : 0;
  const whole = view.ended ? span : plot.window(span, view.planned_ns), many = whole / Math.max(course.width_ns, 1);
  const x = plot.times(whole), of = kind => plot.limits(view.thresholds, kind);
  const per = course.per || 8, most = values => values.reduce((a, b) => Math.max(a, b), 0);
  const rate = rates(course), bad = shares(course), users = course.users_milli.map(v => v / 1000);
  const lows = [...course.p50_ns, ...course.p99_ns].filter(v => v), high = most(course.p99_ns);
  const highest = v => v ? units.latency(plot.band(v, per)[1]) : '–'; // of its bucket
  const least = lows.reduce((a, b) => Math.min(a, b), Infinity), latencies = of('latency').filter(t => high && t.bound <= 30 * high && t.bound * 30 >= least);
  const latencyAxis = lows.length ? plot.octaves(Math.min(least, ...latencies.map(t => t.bound)), Math.max(plot.band(high, per)[1], ...latencies.map(t => t.bound))) : plot.octaves(1e6, 1e8);
  const line = (title, unit, cls, values, label, text, kind, far) => {
    const limits = kind ? of(kind) : [], y = plot.linear(plot.reach(most(values), limits, far || 4), label);
    return { title, unit, y, paths: [['area ' + cls, plot.area(y, values, many)], ['line ' + cls, plot.steps(y, values, many)]], keys: [[cls, text]], limits: plot.bounds(y, limits), columns: [[text, values.map(label)]] };
  };
  const all = [
    line('Requests over time', 'a second', 'good', rate, units.rateLabel, 'ended', 'rate'),
    { title: 'Latency over time', unit: 'logarithmic', y: latencyAxis, paths: [['thread p99', plot.threads(latencyAxis, course.p99_ns, per, many)], ['thread p50', plot.threads(latencyAxis, course.p50_ns, per, many)],
      ['band p99', plot.bands(latencyAxis, course.p99_ns, per, many)], ['band p50', plot.bands(latencyAxis, course.p50_ns, per, many)]],
      keys: [['p99', '99 of 100 took at most'], ['p50', 'half of them']], limits: plot.bounds(latencyAxis, of('latency')), columns: [['99% at most', course.p99_ns.map(highest)], ['50% at most', course.p50_ns.map(highest)]] },
    line('Errors over time', 'of requests that ended', 'bad', bad, units.percentLabel, 'failed or timed out', 'errors', 20),
    line('Active virtual users over time', 'on average', 'good', users, units.rateLabel, 'active', ''),
  ];
  keyed($('plots'), all.map(p => [p.title, p]), makePlot, (figure, p) => fillPlot(figure, { ...p, x, course, whole, marks: plot.marksAt(x, view.marks) }));
}

function makePlot(p) {
  const figure = el('figure'), caption = el('figcaption'), box = el('div', 'hover'), svg = shape('svg', { class: 'plot', role: 'img', width: '100%', height: plot.top + plot.height + plot.bottom });
  caption.append(el('b', '', p.title), ' ', el('span', 'unit', p.unit), el('span', 'keys'));
  box.tabIndex = 0;
  box.setAttribute('role', 'group');
  svg.append(shape('title', {}, p.title), shape('g', {}), shape('svg', { y: plot.top, width: '100%', height: plot.height, viewBox: `0 0 ${plot.gridX} ${plot.gridY}`, preserveAspectRatio: 'none' }), shape('g', {}));
  box.append(svg);
  const details = el('details', 'as-table');
  details.append(el('summary', '', 'as a table'), el('div'));
  details.ontoggle = () => fillTable(figure);
  figure.append(caption, box, details);
  readout(figure, box);
  return figure;
}

function fillPlot(figure, p) {
  figure.plotted = p;
  const [, under, grid, over] = figure.querySelector('svg.plot').children;
  const at = t => (plot.top + (1 - t) * plot.height).toFixed(1), percent = t => (100 * t).toFixed(2) + '%';
  under.replaceChildren(...p.y.ticks.map(t => shape('line', { class: 'grid', x1: 0, x2: '100%', y1: at(t.at), y2: at(t.at) })), ...p.x.ticks.flatMap((t, i) => [
    shape('line', { class: 'tick', x1: percent(t.at), x2: percent(t.at), y1: plot.top + plot.height, y2: plot.top + plot.height + 4 }),
    shape('text', { class: i % 2 && p.x.ticks.length > 4 ? 'odd' : '', x: percent(t.at), y: plot.top + plot.height + 17, 'text-anchor': i === 0 && t.at < 0.02 ? 'start' : t.at > 0.95 ? 'end' : 'middle' }, t.label)]));
  keyed(grid, p.paths.map(([cls, d], i) => [i, { cls, d }]), () => shape('path', {}), (path, { cls, d }) => { path.setAttribute('class', cls); path.setAttribute('d', d); });
  over.replaceChildren(...p.limits.filter(t => !t.off).map(t => shape('line', { class: t.broken ? 'limit broken' : 'limit', x1: 0, x2: '100%', y1: at(t.at), y2: at(t.at) })),
    ...p.marks.filter(k => k.until > k.at).map(k => shape('line', { class: 'during ' + k.kind, x1: percent(k.at), x2: percent(k.until), y1: plot.top, y2: plot.top })),
    ...p.marks.flatMap(k => [shape('line', { class: 'event ' + k.kind, x1: percent(k.at), x2: percent(k.at), y1: plot.top, y2: plot.top + plot.height }), shape('text', { class: 'event ' + k.kind, x: percent(k.at), y: plot.top - 5, 'text-anchor': 'middle' }, shapes[k.kind])]),
    ...p.y.ticks.map(t => shape('text', { class: 'y', x: -8, y: +at(t.at) + 4, 'text-anchor': 'end' }, t.label)));
  const keys = [...p.keys.map(([cls, text]) => ['line ' + cls, text]), ...p.limits.map(t => [t.broken ? 'limit broken' : 'limit', (t.broken ? '✗ ' : '') + t.text + (t.off ? ' (off the plot)' : '')])];
  keyed(figure.querySelector('.keys'), keys.map(k => [k[1], k]), () => {
    const key = el('span', 'key'), svg = shape('svg', { width: 18, height: 10, 'aria-hidden': 'true' });
    svg.append(shape('line', { x1: 0, x2: 18, y1: 5, y2: 5 }));
    key.append(svg, el('span'));
    return key;
  }, (key, [cls, text]) => { key.querySelector('line').setAttribute('class', cls); set(key.lastChild, text); });
  figure.querySelector('.hover').setAttribute('aria-label', p.title + '. Arrow keys read the values.');
  if (figure.read) figure.read();
  fillTable(figure);
}

const rowsMost = 60;

// fillTable lists the newest columns of a plot whose table is open.
function fillTable(figure) {
  const p = figure.plotted, details = figure.querySelector('details'), n = p ? p.course.ended.length : 0;
  if (!details.open || !p) return;
  const rows = [];
  for (let i = n - 1; i >= Math.max(0, n - rowsMost); i--) rows.push([i, [units.timeLabel(i * p.course.width_ns), ...p.columns.map(c => c[1][i])]]);
  table(details.lastChild, p.title, ['from', ...p.columns.map(c => '#' + c[0])], rows, n > rowsMost ? `The newest ${rowsMost} of ${n} columns, each of ${units.timeLabel(p.course.width_ns)}.` : '');
  const box = details.querySelector('.scroll');
  if (!box || box.tabIndex === 0) return;
  box.tabIndex = 0; // it scrolls: keys reach it
  box.setAttribute('role', 'group');
  box.setAttribute('aria-label', p.title + ', as a table');
}

// readout shows the values of a column under the pointer, or at the place that arrow keys choose.
function readout(figure, box) {
  let tip, rule, i = -1, kept = false;
  const leave = () => { if (tip) { tip.remove(); rule.remove(); tip = rule = null; i = -1; } };
  const show = () => {
    const p = figure.plotted, n = p.course.ended.length;
    if (i < 0 || !n) return leave();
    i = Math.min(i, n - 1);
    if (!tip) box.append(rule = el('div', 'rule'), tip = el('div', 'tip'));
    const width = p.course.width_ns, lines = [units.timeLabel(i * width) + ' to ' + units.timeLabel(i === n - 1 ? i * width + p.course.last_ns : (i + 1) * width), ...p.columns.map(([name, values]) => name + ': ' + values[i])];
    tip.replaceChildren(...lines.map((text, k) => el(k ? 'div' : 'b', '', text)));
    const svg = box.firstChild, left = svg.getBoundingClientRect().left - box.getBoundingClientRect().left, wide = svg.clientWidth || svg.getBoundingClientRect().width, x = left + (i + .5) * width / p.whole * wide;
    rule.style.left = x + 'px';
    tip.style.left = Math.max(0, x + 14 + tip.offsetWidth > box.clientWidth ? x - 14 - tip.offsetWidth : x + 14) + 'px';
  };
  const move = e => {
    const p = figure.plotted, r = box.firstChild.getBoundingClientRect(), n = p.course.ended.length;
    i = Math.min(n - 1, Math.max(0, Math.floor((e.clientX - r.left) / r.width * p.whole / Math.max(p.course.width_ns, 1))));
    kept = false;
    show();
  };
  box.addEventListener('pointermove', move);
  box.addEventListener('pointerdown', move);
  box.addEventListener('pointerleave', () => { if (!kept) leave(); });
  box.addEventListener('blur', leave);
  box.addEventListener('keydown', e => {
    const n = figure.plotted.course.ended.length, by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -n, End: n }[e.key];
    if (e.key === 'Escape') return leave();
    if (!by || !n) return;
    e.preventDefault();
    kept = true;
    i = Math.min(n - 1, Math.max(0, (i < 0 ? n - 1 : i) + by));
    show();
    say(tip ? [...tip.children].map(c => c.textContent).join(', ') : '');
  });
  figure.read = () => { if (tip) show(); };
}
