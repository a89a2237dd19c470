// What harnesses ask of a page in a frame: view is its window, doc its document.
const look = (view, e) => view.getComputedStyle(e);
// contrast is WCAG's, of two colours as computed styles write them.
const light = c => c.match(/[\d.]+/g).slice(0, 3).map(v => v / 255).map(v => v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const contrast = (a, b) => (Math.max(light(a), light(b)) + .05) / (Math.min(light(a), light(b)) + .05);

// cut is what no reader sees whole: it leaves the screen, is a table of a phone that scrolls, stands on data or on another label, or is a figure in two lines.
function cut(view, doc) {
  const out = [], wide = view.innerWidth, plots = doc.querySelectorAll('svg.plot');
  const scrolls = e => e && e !== doc.body && (/auto|scroll/.test(look(view, e).overflowX) || scrolls(e.parentElement));
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3;
  for (const e of doc.body.querySelectorAll('*')) {
    const r = e.getBoundingClientRect();
    if (r.width && !e.closest('svg svg') && !e.closest('.said') && (r.right > wide + 1 || r.left < -1) && !scrolls(e)) out.push('leaves: ' + e.tagName + ' ' + e.textContent.slice(0, 40));
  }
  if (wide <= 600) for (const e of doc.querySelectorAll('.scroll')) if (e.scrollWidth > e.clientWidth + 1) out.push('scrolls: ' + e.querySelector('caption').textContent);
  for (const p of plots) {
    const labels = [...p.querySelectorAll('text')].filter(t => t.textContent && t.getBoundingClientRect().width).map(t => [t.getBoundingClientRect(), t.textContent]), data = p.querySelector('svg').getBoundingClientRect();
    labels.forEach(([a, x], i) => {
      if (meet(a, data)) out.push('on data: ' + x);
      for (const [b, y] of labels.slice(i + 1)) if (meet(a, b)) out.push('on a label: ' + x + ', ' + y);
    });
  }
  for (const e of doc.querySelectorAll('.bars b, dd, dd span, td.n, td.n span')) {
    const range = doc.createRange();
    if (!e.firstChild || e.firstChild.nodeType !== 3) continue;
    range.selectNode(e.firstChild);
    if (new Set([...range.getClientRects()].map(r => Math.round(r.top))).size > 1) out.push('in two lines: ' + e.textContent.slice(0, 40));
  }
  return [...new Set(out)].slice(0, 20);
}

// themes are page and text of both themes, faint is text with too little contrast.
function themes(view, doc, kinds) {
  const out = { themes: [], faint: [] };
  for (let i = 0; i < 2; i++) {
    doc.getElementById('theme').click();
    const page = look(view, doc.body).backgroundColor;
    out.themes.push([page, look(view, doc.body).color]);
    for (const what of kinds) {
      const e = doc.querySelector(what), colour = e && (e.namespaceURI.endsWith('svg') ? look(view, e).fill : look(view, e).color);
      if (e && contrast(colour, page) < 4.5) out.faint.push(what + ' ' + colour + ' on ' + page);
    }
  }
  return out;
}
