(() => {
  const root = document.documentElement, button = document.getElementById('theme');
  const dark = () => (root.dataset.theme || (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
  button.hidden = false;
  button.onclick = () => { root.dataset.theme = dark() ? 'light' : 'dark'; };

  const digits = v => v < 9.995 ? v.toFixed(2) : v < 99.95 ? v.toFixed(1) : v.toFixed(0);
  const latency = ns => ns >= 999.5e6 ? digits(ns / 1e9) + 's' : ns >= 999.5e3 ? digits(ns / 1e6) + 'ms' : ns >= 999.5 ? digits(ns / 1e3) + 'µs' : Math.round(ns) + 'ns';
  const rate = milli => (milli / 1000).toLocaleString('en', { maximumFractionDigits: milli < 1e5 ? 2 : 0 }) + '/s';
  const time = ns => {
    const s = ns / 1e9, m = Math.floor(s / 60);
    return s < 60 ? +s.toFixed(3) + 's' : m < 60 ? m + 'm' + String(Math.floor(s % 60)).padStart(2, '0') + 's' : Math.floor(m / 60) + 'h' + String(m % 60).padStart(2, '0') + 'm';
  };
  const value = { ns: latency, milli: rate, share: ppm => +(ppm / 1e4).toFixed(2) + '%', band: (v, per) => v ? latency(v) + ' to ' + latency(v + Math.max(2048, 2 ** Math.floor(Math.log2(v))) / per) : 'nothing ended' };
  const quantile = nines => { const left = 100 * Math.pow(10, -nines); return +(100 - left).toFixed(Math.max(1, Math.ceil(nines))) + '%'; };

  // A broad table does not fit a phone: there each row is a card, and each figure stands below its head.
  for (const box of document.querySelectorAll('.scroll')) {
    const heads = [...box.querySelectorAll('thead tr > *')].map(e => e.textContent);
    if (heads.length < 4 && !box.querySelector('td.wide')) continue;
    box.classList.add('cards');
    for (const row of box.querySelectorAll('tbody tr')) [...row.children].forEach((e, i) => { e.dataset.of = heads[i]; });
  }

  for (const box of document.querySelectorAll('.hover')) {
    let said, tip, rule;
    const leave = () => { if (tip) { tip.remove(); rule.remove(); tip = rule = null; } };
    const move = e => {
      said ||= JSON.parse(box.dataset.hover);
      const n = said.curves.length && said.curves[0].values.length;
      if (!n) return;
      const wide = box.clientWidth, at = Math.min(1, Math.max(0, (e.clientX - box.getBoundingClientRect().left) / wide));
      const timed = said.x === 'time', i = timed ? Math.min(n - 1, Math.floor(at * n)) : Math.round(at * (n - 1));
      if (!tip) {
        tip = document.createElement('div'); tip.className = 'tip';
        rule = document.createElement('div'); rule.className = 'rule';
        box.append(rule, tip);
      }
      const lines = [timed ? time(i * said.width) + ' to ' + time((i + 1) * said.width) : quantile(i * said.width)];
      for (const c of said.curves) lines.push(c.name + ': ' + (c.values[i] === undefined ? '–' : value[said.unit](c.values[i], said.per)));
      tip.replaceChildren(...lines.map((text, k) => { const p = document.createElement(k ? 'div' : 'b'); p.textContent = text; return p; }));
      const x = (timed ? (i + .5) / n : i / (n - 1)) * wide;
      rule.style.left = x + 'px';
      tip.style.left = Math.max(0, x + 14 + tip.offsetWidth > wide ? x - 14 - tip.offsetWidth : x + 14) + 'px';
    };
    box.addEventListener('pointermove', move);
    box.addEventListener('pointerdown', move);
    box.addEventListener('pointerleave', leave);
  }
  addEventListener('beforeprint', () => { for (const d of document.querySelectorAll('details.step')) d.open = true; });
})();
