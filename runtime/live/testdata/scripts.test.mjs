// Tests of the scripts that touch no document. The recorded stream is that of a job in two datacenters: its owner
// gate is killed, then a worker of west.
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import * as units from '../web/units.js';
import * as plot from '../web/plot.js';
import * as model from '../web/model.js';

const read = name => readFileSync(new URL(name, import.meta.url), 'utf8');
const golden = JSON.parse(read('../../page/testdata/formats.json'));
const views = read('cluster.events').split('\n').filter(l => l.startsWith('data: ')).map(l => JSON.parse(l.slice(6)));
const sum = all => all.reduce((a, b) => a + b, 0);

for (const name of ['count', 'milli', 'bytes', 'latency', 'duration', 'share']) {
  test(`${name} reads as in a result`, () => {
    for (const row of golden[name]) assert.equal(units[name](...row.in), row.out, `${name}(${row.in})`);
  });
}

for (const [name, make] of [['linear', high => plot.linear(high, units.rateLabel)], ['octaves', plot.octaves], ['times', plot.times]]) {
  test(`an axis of ${name} is that of a result`, () => {
    for (const row of golden[name]) {
      const { low, high, ticks } = make(...row.in);
      assert.ok(Math.abs(low - row.out.low) <= low * 1e-9 && Math.abs(high - row.out.high) <= high * 1e-9, `${name}(${row.in}): ${low} to ${high}`);
      assert.deepEqual(ticks.map(t => ({ at: Math.round(t.at * 1e6) / 1e6, label: t.label })), row.out.ticks, `${name}(${row.in})`);
    }
  });
}

// folded is the state after some views, of which the page heard one a second.
const folded = all => all.reduce((state, v, i) => model.applyView(state, structuredClone(v), 1000 * i), model.empty());

test('the pieces of a course add up', () => {
  const { view, course } = folded(views);
  assert.ok(view.ended);
  assert.equal(sum(course.ended), view.totals.ok + view.totals.failed + view.totals.timed_out);
  assert.equal(sum(course.failed), view.totals.failed + view.totals.timed_out);
  assert.ok(views.slice(1).some(v => v.course.from > 0), 'the recorded stream has pieces');
});

test('a piece that does not fit connects again', () => {
  assert.ok(!model.gap(folded(views.slice(0, 1)), views[1]));
  assert.ok(model.gap(model.empty(), views.find(v => v.course.from > 0)));
});

test('a page that connects again has what the other one has', () => {
  const whole = folded(views), late = folded(views.slice(0, 3));
  const again = model.applyView(model.lose(late, 5000), { ...structuredClone(whole.view), course: { ...structuredClone(whole.course), from: 0 } }, 9000);
  assert.deepEqual(again.course, whole.course);
  assert.ok(again.connected);
});

test('the verdict comes first, and says why not', () => {
  const { view } = folded(views);
  assert.equal(model.trust(view).cls, 'warn');
  assert.ok(model.trust(view).why.some(w => /shop: 1 attempt lost/.test(w)));
  assert.match(model.trust({ ...view, trust: { word: 'yes', why: [] } }).text, /^Trust these figures/);
  assert.match(model.trust({ ...view, trust: { word: 'unknown', why: [] } }).text, /no figures/);
});

test('the headline names the outcome', () => {
  const { view } = folded(views);
  const of = (state, ok = true) => model.headline({ ...view, state, thresholds: [{ expr: 'a', known: true, ok }] });
  assert.deepEqual(of('COMPLETED'), ['good', 'Passed']);
  assert.deepEqual(of('COMPLETED', false), ['bad', 'Thresholds missed']);
  assert.deepEqual(of('RUNNING', false), ['bad', 'Running, thresholds broken']);
  assert.deepEqual(of('QUEUED'), ['', 'Queued']);
  assert.deepEqual(of('TIMED_OUT'), ['bad', 'Timed out']);
});

test('what a reader must hear is said once', () => {
  let before = null, said = [];
  for (const v of views) {
    const text = model.announce(before, v);
    if (text) said.push(text);
    before = v;
  }
  const all = said.join(' ');
  assert.match(said[0], /^Running/);
  assert.equal(all.match(/lost its share/g).length, 1);
  assert.equal(all.match(/search.latency.p50 < 4ms is broken/g).length, 1);
  assert.equal(model.announce(before, before), '');
});

test('a lost connection says how old the figures are, and waits longer each time', () => {
  let state = folded(views.slice(0, 3)); // heard at 2 s
  assert.equal(model.banner(state, 3000), '');
  state = model.lose(state, 4000);
  assert.equal(state.nextAt, 5000);
  assert.match(model.banner(state, 4000), /2\.0s old.*lost.*next try is in 1 s/);
  for (let i = 0; i < 9; i++) state = model.lose(state, 60000);
  assert.equal(state.nextAt, 75000);
  assert.match(model.banner(state, 80000), /1m18s old.*trying again/);
  assert.equal(model.banner(folded(views), 1e9), '', 'a job that ended has no news');
});

test('a page that gets no stream says what the server answers', () => {
  let state = model.deny(model.lose(model.empty(), 0), 'job X is not known: GET /v1/jobs lists jobs');
  assert.equal(model.banner(state, 0), 'The server answers: job X is not known: GET /v1/jobs lists jobs; the next try is in 1 s.');
  state = model.applyView(state, views[0], 10);
  assert.match(model.banner(model.lose(state, 20), 20), /connection is lost/);
});

test('quantiles are bands, and nothing stands where nothing ended', () => {
  const axis = plot.octaves(1e6, 1e8);
  assert.equal(plot.bands(axis, [0, 0], 8, 2), '');
  assert.match(plot.bands(axis, [4718592, 4718592, 0], 8, 3), /^M0 \d+H4000V\d+H0Z$/);
  assert.deepEqual(plot.band(4718592, 8), [4718592, 4718592 + 524288]);
  assert.equal(plot.threads(axis, [0, 5e6, 0, 5e6], 8, 4).match(/M/g).length, 2);
});

test('a plot of a running job has room for more, and no more than is planned', () => {
  assert.equal(plot.window(26e9, 300e9), 30e9);
  assert.equal(plot.window(26e9, 28e9), 28e9);
  assert.equal(plot.window(31e9, 0), 60e9);
  assert.equal(plot.window(90e9, 60e9), 90e9);
});

test('thresholds are lines, those that are broken first', () => {
  const lines = plot.limits([{ plot: 'latency', bound: 1, expr: 'a', known: true, ok: true }, { plot: 'latency', bound: 2, expr: 'b', known: true, ok: false }, { plot: '', bound: 3, expr: 'c' }], 'latency');
  assert.deepEqual(lines.map(l => l.text), ['b', 'a']);
  assert.equal(plot.bounds(plot.linear(10, String), [{ bound: 20 }])[0].off, true);
});

test('a mark has its place, and one that lasts its end', () => {
  const [moment, span, ...more] = plot.marksAt(plot.times(100e9), [{ at_ns: 25e9, kind: 'lost' }, { at_ns: 50e9, until_ns: 75e9, kind: 'sink' }, { at_ns: -1, kind: 'takeover' }, { at_ns: 101e9, kind: 'lost' }]);
  assert.deepEqual([moment.at, moment.until, span.at, span.until, more.length], [0.25, 0.25, 0.5, 0.75, 0]);
});

test('a mark that comes between others is heard, and the end of one that lasts is not', () => {
  const at = (...marks) => ({ ...folded(views).view, marks: marks.map(([at_ns, until_ns, text]) => ({ at_ns, until_ns, text, kind: 'sink' })) });
  const one = at([9e9, 0, 'late']);
  assert.equal(model.announce(one, at([4e9, 40e9, 'early'], [9e9, 0, 'late'])), 'early.');
  assert.equal(model.announce(at([4e9, 40e9, 'early']), at([4e9, 50e9, 'early'])), '');
});

test('the page keeps a bounded state', () => {
  let state = model.empty();
  const v = views[1];
  for (let i = 0; i < 3600; i++) state = model.applyView(state, structuredClone(v.course.from ? v : views[0]), i);
  assert.ok(state.course.ended.length <= 600);
});
