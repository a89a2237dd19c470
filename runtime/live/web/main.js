// Connects the stream of views to the page. EventSource stops for good at some failures, so this connects by itself.
import { announce, applyView, banner, empty, gap, lose } from './model.js';
import { draw, say, showBanner, themes } from './view.js';

let state = empty(), source = null, announced = null, pending = false;
const path = location.pathname.match(/^\/jobs\/([^/]+)/), job = path ? path[1] : 'this';

function lost() {
  if (source) source.close();
  source = null;
  if (state.view && state.view.ended) return;
  state = lose(state, Date.now());
  setTimeout(connect, state.nextAt - Date.now());
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
  source.onerror = lost;
}

setInterval(() => {
  const now = Date.now();
  showBanner(banner(state, now));
  const text = announce(announced, state.view); // at most once a second
  if (text) say(text);
  if (state.view) announced = state.view;
}, 1000);
themes();
connect();
