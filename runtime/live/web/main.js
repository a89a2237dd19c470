// Connects the page to its server: a job by a stream of views, lists by asking again. EventSource stops for good at
// some failures, so this connects by itself.
import { announce, applyView, banner, deny, empty, gap, lose } from './model.js';
import { $, draw, say, set, showBanner, themes } from './view.js';
import * as lists from './lists.js';

let state = empty(), source = null, announced = null, pending = false;
const path = location.pathname, job = (path.match(/^\/jobs\/([^/]+)/) || [])[1];
const askEvery = 2000;

// admitted says whether the server shows us something; a command's own server asks no token.
async function admitted() {
  const answer = await fetch('/v1/whoami');
  $('login').hidden = answer.status !== 401;
  if (answer.ok) $('nav').hidden = !(await answer.json()).name;
  if (answer.status !== 401) return true;
  set($('word'), 'A token is needed');
  $('token').focus();
  return false;
}

$('login').onsubmit = async e => {
  e.preventDefault();
  const answer = await fetch('/v1/session', { method: 'POST', headers: { 'X-Hyperscale': '1' }, body: JSON.stringify({ token: $('token').value }) }).catch(() => null);
  $('token').value = '';
  set($('denied'), answer && answer.ok ? '' : answer ? (await answer.json()).error.message : 'The server does not answer: try again.');
  if (answer && answer.ok) begin();
};

async function begin() {
  try {
    if (await admitted()) await (job ? connect() : ask());
  } catch { lost(); }
}

function lost() {
  if (source) source.close();
  source = null;
  if (state.view && state.view.ended) return;
  state = lose(state, Date.now());
  setTimeout(begin, state.nextAt - Date.now());
}

function connect() {
  if (source) return;
  source = new EventSource(`/v1/jobs/${encodeURIComponent(job)}/view`);
  source.addEventListener('view', e => {
    const view = JSON.parse(e.data);
    if (gap(state, view)) return lost();
    state = applyView(state, view, Date.now());
    if (view.ended) { source.close(); source = null; }
    if (!pending) { // a hidden page draws when it is seen
      pending = true;
      requestAnimationFrame(() => { pending = false; draw(state); });
    }
  });
  source.onerror = () => { lost(); explain(); };
}

// explain shows why there is no stream: EventSource tells nothing of an answer that is none.
async function explain() {
  const stop = new AbortController(), answer = await fetch(`/v1/jobs/${encodeURIComponent(job)}/view`, { signal: stop.signal }).catch(() => null);
  const body = answer && !answer.ok ? await answer.json().catch(() => null) : null;
  stop.abort();
  if (body && body.error && !state.connected) state = deny(state, body.error.message);
}

// ask draws a list, and asks again.
async function ask() {
  const whole = path === '/cluster', answer = await fetch(whole ? '/v1/cluster' : '/v1/jobs');
  if (answer.status === 401) return admitted();
  if (!answer.ok) throw new Error(answer.status);
  const body = await answer.json();
  (whole ? lists.cluster : lists.jobs)(body);
  state = { ...state, heardAt: Date.now(), connected: true, tries: 0 };
  setTimeout(() => ask().catch(lost), askEvery);
}

setInterval(() => {
  const now = Date.now();
  showBanner(banner(state, now));
  const text = announce(announced, state.view); // at most once a second
  if (text) say(text);
  if (state.view) announced = state.view;
}, 1000);
for (const a of $('nav').children) if (a.getAttribute('href') === path) a.setAttribute('aria-current', 'page');
themes();
begin();
