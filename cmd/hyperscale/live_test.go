package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/live"
	"hyperscale/runtime/page/pagetest"
)

// TestLivePage: the last view of a run's page has the figures of its result.
func TestLivePage(t *testing.T) {
	t.Parallel()
	url, out := serveTarget(t), t.TempDir()+"/result.json"
	p := start(t, "run", url+"/", "--vus", "4", "--duration", "3s", "--ui", "none", "--live", "127.0.0.1:0", "--out", "json="+out)
	page := p.await(`live page of this job: (http://\S+/)`)
	answer, err := http.Get(page + "v1/jobs/this/view")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }() // it was only read
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	views, last := 0, live.View{}
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			views++
			last = live.View{}
			if err := json.Unmarshal([]byte(data), &last); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.expect(command.ExitGood)
	r := readResult(t, out)
	if views < 2 || !last.Ended || last.Totals != r.Requested || last.Job != r.Job || last.State != r.Outcome {
		t.Errorf("the last of %d views is of job %s, %s, with %+v: want %s, %s, %+v", views, last.Job, last.State, last.Totals, r.Job, r.Outcome, r.Requested)
	}
	if missing, err := http.Get(page); err == nil {
		_ = missing.Body.Close() // the same
		t.Error("the page is there although its command has ended")
	}
	run(t, command.ExitUsage, "run", url+"/", "--live", "256.0.0.1:1").says(`--live "256.0.0.1:1": cannot listen there: give a free address`)
	run(t, command.ExitUsage, "submit", write(t, "load.star", loadFile), "--live", "127.0.0.1:0", "--gate", "127.0.0.1:1").says("--live goes with --wait")
}

// outlives is a page around the live one: it asks for the kill once requests are on it, and tells how long its text
// stood still then. The image keeps the browser until that is done.
const outlives = `<!doctype html><meta charset="utf-8"><body><iframe id="frame" style="width:1200px;height:1500px"></iframe><img src="/wait" alt=""><pre id="outcome"></pre>
<script>
const frame = document.getElementById('frame'), pause = ms => new Promise(r => setTimeout(r, ms));
const text = id => { const e = frame.contentDocument && frame.contentDocument.getElementById(id); return e ? e.textContent : ''; };
(async () => {
  frame.src = '/jobs/this';
  while (!/requests were answered/.test(text('lead'))) await pause(50);
  await fetch('/kill');
  const killed = performance.now();
  await pause(1500); // what was on its way has come
  const stood = text('lead');
  while (text('lead') === stood) await pause(50);
  document.getElementById('outcome').textContent = JSON.stringify({ ms: Math.round(performance.now() - killed), word: text('word'), lead: text('lead') });
  fetch('/done');
})();
</script>`

// TestLivePageOutlivesItsGate: the gate that owns the job is killed, and within 10 s the page shows new figures.
func TestLivePageOutlivesItsGate(t *testing.T) {
	t.Parallel()
	target, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	g := newGroup(t)
	g.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	g.up()
	_, job, _ := g.submit(file, target, 40*time.Second, "client-1")
	owner := g.nodes[g.owner(job, "")]
	at, err := url.Parse(start(t, "watch", job, "--gate", list(g.gates), "--ui", "none", "--live", "127.0.0.1:0").await(`live page of this job: (http://\S+/)`))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.FlushInterval = -1
	proxy.ModifyResponse = func(w *http.Response) error { // the page may be in our frame
		w.Header.Set("Content-Security-Policy", strings.Replace(w.Header.Get("Content-Security-Policy"), "frame-ancestors 'none'", "frame-ancestors 'self'", 1))
		return nil
	}
	done := make(chan struct{})
	var seen struct {
		MS         int64
		Word, Lead string
	}
	pagetest.Open(t, func(w http.ResponseWriter, in *http.Request) {
		switch in.URL.Path {
		case pagetest.Harness:
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(outlives)) // the browser may be gone
		case "/kill":
			_ = owner.cmd.Process.Kill() // what follows tells
		case "/done":
			close(done)
		case "/wait":
			select {
			case <-done:
			case <-in.Context().Done():
			}
		case "/favicon.ico":
			w.WriteHeader(http.StatusNotFound)
		default:
			proxy.ServeHTTP(w, in)
		}
	}, &seen)
	t.Logf("the page goes on after %d ms: %s, %s", seen.MS, seen.Word, seen.Lead)
	if seen.MS > 10_000 || !strings.HasPrefix(seen.Word, "Running") {
		t.Errorf("the page shows new figures after %d ms (%s): want at most 10 s", seen.MS, seen.Word)
	}
}
