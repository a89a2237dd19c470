// The state of a page: a fold of the views that its server streams. It touches no document and no clock.
import { count, counted, duration, from, latencyOr, milli, share } from './units.js';

export const empty = () => ({ view: null, course: null, heardAt: 0, connected: false, tries: 0, nextAt: 0, why: '' });

const arrays = ['ended', 'failed', 'p50_ns', 'p99_ns', 'users_milli'];

// applyView takes a view. Its course has the columns that the page lacks, or all of them.
export function applyView(state, view, now) {
  const sent = view.course, kept = state.course, course = { ...sent };
  const fits = sent.from > 0 && kept && kept.width_ns === sent.width_ns && kept.ended.length >= sent.from;
  for (const name of arrays) course[name] = (fits ? kept[name].slice(0, sent.from) : []).concat(sent[name] || []);
  course.from = 0;
  return { ...state, view: { ...view, course: undefined }, course, heardAt: now, connected: true, tries: 0, nextAt: 0, why: '' };
}

// gap says that a view lacks columns that this page does not have: it must connect again.
export const gap = (state, view) => view.course.from > 0 && !(state.course && state.course.width_ns === view.course.width_ns && state.course.ended.length >= view.course.from);

// lose notes a lost connection. The page tries again after 1, 2, 4 to 15 s.
export function lose(state, now) {
  const wait = Math.min(15000, 1000 * 2 ** state.tries);
  return { ...state, connected: false, tries: state.tries + 1, nextAt: now + wait };
}

// deny notes what the server answers in place of a stream.
export const deny = (state, why) => ({ ...state, why });

// banner says how old the figures are; empty while they are new.
export function banner(state, now) {
  if (state.view && state.view.ended || state.connected && now - state.heardAt < 12000) return '';
  const age = state.heardAt ? `These figures are ${duration((now - state.heardAt) * 1e6)} old. ` : '';
  const next = Math.ceil((state.nextAt - now) / 1000);
  if (state.connected) return age + 'The server says nothing new.';
  const again = next > 0 ? `the next try is in ${next} s.` : 'trying again.';
  if (state.why) return `${age}The server answers: ${state.why.replace(/[.!?]?$/, ';')} ${again}`;
  return `${age}The connection is lost: ${again}`;
}

const missed = view => view.thresholds.filter(t => t.known && !t.ok);

// headline is the verdict in a word, with its class of page.css.
export function headline(view) {
  const broken = missed(view).length;
  switch (view.state) {
    case 'COMPLETED':
      if (broken) return ['bad', 'Thresholds missed'];
      return ['good', view.thresholds.length ? 'Passed' : 'Completed'];
    case 'FAILED': return ['bad', 'Failed'];
    case 'TIMED_OUT': return ['bad', 'Timed out'];
    case 'PARTIAL': return ['warn', 'Partly failed'];
    case 'CANCELLED': return ['warn', 'Cancelled'];
    case 'CANCELLING': return ['warn', 'Cancelling'];
    case 'RUNNING':
      return broken ? ['bad', 'Running, thresholds broken'] : ['good', 'Running'];
  }
  return ['', from(view.state).replace(/^./, c => c.toUpperCase())];
}

// lead is the sentence below the headline.
export function lead(view) {
  const t = view.totals, parts = [];
  if (view.position) parts.push(`Number ${count(view.position)} in the queue.`);
  if (view.reason) parts.push(view.reason.replace(/[.!?]?$/, '.'));
  const broken = missed(view).length, known = view.thresholds.filter(k => k.known).length;
  if (broken) parts.push(`${broken} of ${counted(view.thresholds.length, 'threshold')} ${view.ended ? 'missed' : 'broken so far'}.`);
  else if (known) parts.push(view.ended ? 'All thresholds were met.' : 'All thresholds hold so far.');
  if (!t.started) parts.push(view.ended ? 'No request was sent.' : 'No request has been sent yet.');
  else if (view.latency_ns.count) parts.push(`${share(t.ok, t.started)} of ${counted(t.started, 'request')} were answered as expected: half within ${latencyOr(view.latency_ns.p50)}, 99 of 100 within ${latencyOr(view.latency_ns.p99)}.`);
  return parts.join(' ');
}

export function when(view) {
  const load = view.planned_ns ? `${duration(view.done_ns)} of ${duration(view.planned_ns)} of load` : `${duration(view.done_ns)} of load`;
  const taken = view.takeovers ? `, gates took it over ${counted(view.takeovers, 'time')}` : '';
  return `${load}, accepted ${duration(view.elapsed_ns)} ${view.ended ? 'before its end' : 'ago'}${taken}, job ${view.job}`;
}

// trust is what stands before all figures: its class, its sign and word, and why.
export function trust(view) {
  switch (view.trust.word) {
    case 'yes': return { cls: 'good', text: view.ended ? 'Trust these figures: the generator kept up, and no attempt was lost.' : 'Trust these figures so far: the generator keeps up, and no attempt is lost.', why: [] };
    case 'no': return { cls: 'warn', text: 'These figures are not the target\'s alone:', why: view.trust.why };
  }
  return { cls: '', text: 'There are no figures to trust yet.', why: [] };
}

// facts are the key figures: those of now while the job runs, and of all of it at its end.
export function facts(view) {
  const t = view.totals, n = view.now, l = view.latency_ns, bad = t.failed + t.timed_out, now = !view.ended;
  const out = [];
  if (now) {
    out.push(['requests a second', milli(n.rate_milli), counted(t.started, 'request') + ' so far']);
    out.push(['p50 now', latencyOr(n.p50_ns), latencyOr(l.p50) + ' so far']);
    out.push(['p99 now', latencyOr(n.p99_ns), latencyOr(l.p99) + ' so far']);
    out.push(['errors now', n.rate_milli ? share(n.fail_milli, n.rate_milli) : '–', count(bad) + ' so far']);
    out.push(['virtual users', count(n.users), 'active now']);
    return out;
  }
  out.push(['requests', count(t.started), share(t.ok, t.started) + ' as expected']);
  out.push(['median', latencyOr(l.p50), 'latency']);
  out.push(['99th percentile', latencyOr(l.p99), 'at most ' + latencyOr(l.max)]);
  out.push(['errors', count(bad), share(bad, t.started)]);
  return out;
}

// announce is what a reader who does not see the page must hear; empty if nothing of it changed.
export function announce(before, view) {
  if (!view) return '';
  const said = [], [, word] = headline(view);
  if (!before || headline(before)[1] !== word) said.push(`${word}: ${view.name}.`);
  for (const t of missed(view)) {
    const was = before && before.thresholds.find(o => o.expr === t.expr && o.workflow === t.workflow);
    if (!was || !was.known || was.ok) said.push(`Threshold ${t.expr} is broken: ${t.value}.`);
  }
  if (before && before.trust.word !== view.trust.word && view.trust.word === 'no') said.push('These figures are not the target\'s alone.');
  const had = new Set((before || view).marks.map(k => k.at_ns + k.text));
  for (const k of view.marks) if (!had.has(k.at_ns + k.text)) said.push(k.text + '.');
  return said.join(' ');
}

// shares are errors of what ended, in parts per million, a value for each column.
export const shares = course => course.ended.map((n, i) => n ? course.failed[i] * 1e6 / n : 0);

// rates are requests that ended, a second.
export const rates = course => course.ended.map((n, i) => n * 1e9 / (i === course.ended.length - 1 ? course.last_ns : course.width_ns));
