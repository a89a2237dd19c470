// The pages of all jobs and of the cluster: lists that are asked for again and again.
import { $, set, signs, table } from './view.js';
import { count, duration, from } from './units.js';

const head = (cls, word, lead, note) => {
  $('head').className = cls;
  set($('word'), word);
  set($('name'), '');
  set($('lead'), lead);
  set($('when'), note);
  document.querySelector('footer').hidden = true; // it is about figures
  document.title = word + ': Hyperscale';
};

const states = { COMPLETED: 'good', RUNNING: 'good', FAILED: 'bad', TIMED_OUT: 'bad', PARTIAL: 'warn', CANCELLED: 'warn', CANCELLING: 'warn' };
const state = text => [(signs[states[text]] || '') + from(text), states[text] || ''];

// jobs is the page of all jobs, the newest first.
export function jobs(page) {
  const answered = page.gates.filter(g => g.answered).length, running = page.jobs.filter(j => j.state === 'RUNNING').length, few = 2 * answered <= page.gates.length;
  head(few ? 'warn' : 'good', 'Jobs', page.jobs.length ? `${count(running)} of the newest ${count(page.jobs.length)} run now.` : 'There are no jobs yet: hyperscale submit FILE begins one.',
    `As ${answered} of ${page.gates.length} gates see it.` + (few ? ' Fewer than a majority answered: jobs may be missing.' : ''));
  table($('jobs'), 'Jobs', ['job', 'state', '#age', '#started', '#failed', 'datacenters'], page.jobs.map(j => [j.job, [
    [j.name || j.job, '', j.job, '/jobs/' + j.job], j.position ? [`number ${j.position} in the queue`, ''] : state(j.state), duration(j.age_ns), j.started === null ? '–' : count(j.started),
    j.failed === null ? '–' : [count(j.failed), j.failed ? 'bad' : ''], [j.datacenters.join(', ') || '–', 'wide']]]));
}

const alive = (one, good) => [(good ? signs.good : signs.warn) + one.state + (one.draining ? ', draining' : '') + (one.leader ? ', leader' : ''), good ? 'good' : 'warn'];

// cluster is the page of gates, datacenters' nodes, leases and alerts.
export function cluster(c) {
  const members = c.members.filter(m => m.state === 'alive').length, nodes = c.nodes.filter(n => n.state === 'alive').length, bad = c.warnings.length;
  const free = c.nodes.reduce((n, o) => n + (o.role === 'worker' ? o.cores_free : 0), 0), cores = c.nodes.reduce((n, o) => n + (o.role === 'worker' ? o.cores_total : 0), 0);
  head(bad ? 'warn' : 'good', 'Cluster', bad ? `${count(bad)} to act on.` : 'Nothing to act on.',
    `${members} of ${c.members.length} gates and ${nodes} of ${c.nodes.length} other nodes are alive, ${count(free)} of ${count(cores)} cores are free, as ${c.gate} sees it.`);
  table($('alerts'), 'Alerts', ['', 'what'], c.warnings.map(w => [w, [['! alert', 'warn'], [w, 'wide']]]));
  table($('gates'), 'Gates', ['gate', 'state', '#for', 'address', 'version'], c.members.map(m => [m.address, [
    m.node || m.address, [...alive(m, m.state === 'alive'), m.reason], m.since_ns ? duration(m.since_ns) : '–', m.address, m.version || '–']]));
  table($('nodes'), 'Nodes of datacenters', ['node', 'role', 'datacenter', 'state', '#cores free', '#silent for'], c.nodes.map(n => [n.datacenter + ' ' + n.role + ' ' + n.node, [
    n.node, n.role, n.datacenter, alive(n, n.state === 'alive'), n.role === 'worker' ? `${n.cores_free} of ${n.cores_total}` : '–', duration(n.silent_ns)]]));
  table($('leases'), 'Leases', ['job', 'state', 'holder', 'fence', '#left'], c.leases.map(l => [l.job, [
    [l.name || l.job, '', l.job, '/jobs/' + l.job], state(l.state), l.holder || 'none', l.fence, l.released ? 'released' : duration(l.left_ns)]]));
}
