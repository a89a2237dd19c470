package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/runtime/live"
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
