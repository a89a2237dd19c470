package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"hyperscale/cmd/hyperscale/internal/command"
	"hyperscale/core/manager"
	"hyperscale/runtime/outputs/files"
	"hyperscale/runtime/outputs/outputstest/servers/serverstest"
	"hyperscale/runtime/protocol/hostile/postgres/postgrestest"
	"hyperscale/runtime/report"
	"hyperscale/runtime/ui"
)

// hook is a server that gets rows, and counts how often each one came.
type hook struct {
	mu     sync.Mutex
	rows   map[string]int // by what names them
	begun  uint64         // requests of the whole job's windows, each row once
	bodies int
	broken int
	came   chan struct{} // takes a signal from each body that waits for its answer, if a test listens
}

// answer is how long a hook takes, so that a batch is on its way when its gate dies.
const answer = 200 * time.Millisecond

func (h *hook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Rows []struct {
			Kind, Datacenter, Workflow, Step, Expression string
			From                                         int64 `json:"from_ms"`
			To                                           int64 `json:"to_ms"`
			Begun                                        uint64
		}
	}
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(b, &in)
	}
	select {
	case h.came <- struct{}{}:
	default:
	}
	time.Sleep(answer)
	h.mu.Lock()
	defer h.mu.Unlock()
	if err != nil { // its sender was killed
		h.broken++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	h.bodies++
	for _, row := range in.Rows {
		key := fmt.Sprintf("%s/%s/%s/%s/%s/%d/%d", row.Kind, row.Datacenter, row.Workflow, row.Step, row.Expression, row.From, row.To)
		if h.rows[key]++; h.rows[key] == 1 && row.Kind == "window" && row.Datacenter == "" {
			h.begun += row.Begun
		}
	}
}

// count returns how many rows came, and how many of them more than once.
func (h *hook) count() (rows, twice int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, n := range h.rows {
		if rows++; n > 1 && key[:4] != "run/" { // the row of the job comes at its begin, and again at its end
			twice++
		}
	}
	return rows, twice
}

// sumsArrived judges what a Prometheus has of a job's sums: the newest of each series is the result's, and none fell.
func sumsArrived(t *testing.T, server, job string, r *report.Result) {
	t.Helper()
	of := fmt.Sprintf("{run=%q}", job)
	value := func(query string) float64 {
		all, err := promValues(server, query)
		require.NoError(t, err)
		require.Len(t, all, 1, query)
		return all[0]
	}
	step := r.Workflows[0].Steps[0]
	for query, want := range map[string]uint64{
		"sum(last_over_time(hyperscale_requests_started_total" + of + "[1h]))":                                      r.Totals.Started,
		fmt.Sprintf("sum(last_over_time(hyperscale_requests_total{run=%q,result=\"ok\"}[1h]))", job):                r.Totals.OK,
		"sum(last_over_time(hyperscale_datacenter_requests_total" + of + "[1h]))":                                   r.Totals.Started,
		"sum(last_over_time(hyperscale_received_bytes_total" + of + "[1h]))":                                        step.BytesIn,
		fmt.Sprintf("sum(last_over_time(hyperscale_request_duration_seconds_bucket{run=%q,le=\"+Inf\"}[1h]))", job): step.LatencyNS.Count,
		fmt.Sprintf("last_over_time(hyperscale_job_state{run=%q,state=\"COMPLETED\"}[1h])", job):                    1,
		"sum(resets(hyperscale_requests_started_total" + of + "[1h]))":                                              0,
		"sum(count_over_time(hyperscale_requests_started_total" + of + "[1h])) > bool 5":                            1,
	} {
		require.Equal(t, float64(want), value(query), query)
	}
	series := serverstest.PrometheusSamples(t, strings.TrimPrefix(server, "http://"), fmt.Sprintf(`hyperscale_requests_started_total{run=%q}`, job), time.Now())
	require.Len(t, series, 1)
	times := slices.Sorted(maps.Keys(series[0].Samples))
	begin := int64(math.Round(1000 * value("last_over_time(hyperscale_job_start_timestamp_seconds"+of+"[1h])")))
	for _, at := range times[:len(times)-1] { // the last window ends with the job
		require.Zero(t, (at-begin)%1000, "a sample has the time of its row: %d ms behind %d", at, begin)
	}
}

// TestGatesDeliverWhateverDies: the gate that owns a job delivers its rows, and dies of SIGKILL while a batch is on its
// way, again and again (HYPERSCALE_KILLS times, else once). A place that is exact has each row once, and adds up; a place
// that adds up has no more rows twice than the gates say. Each owner lives until managers have its word: the job would not
// outlive two owners that die without one (docs/ownership.md).
func TestGatesDeliverWhateverDies(t *testing.T) {
	kills := killsWanted(t, "1")
	url, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	h := &hook{rows: map[string]int{}, came: make(chan struct{})}
	server := httptest.NewServer(h)
	defer server.Close()
	g := newGroup(t)
	g.timing = []string{"--profile", "lan"}
	database := postgrestest.Start(t)
	database.Ask("shop", "create role load login", "create schema load authorization load", "alter role load set search_path = load")
	folder := g.path("rows") // of a volume that all gates have
	require.NoError(t, os.Mkdir(folder, 0o700))
	prometheus, stop, err := runPrometheus(g.path("prometheus"), "")
	if stop != nil {
		defer stop()
	}
	require.NoError(t, err)
	place := "postgres://load@" + database.Address() + "/shop?sslmode=disable"
	config := write(t, "sinks.yaml", fmt.Sprintf(`
outputs:
  house: {kind: postgres, address: %q, window: 1s, default: true}
  hook: {kind: webhook, address: %q, window: 1s, tags: {team: checkout}}
  prom: {kind: prometheus, address: %q, window: 1s, prefix: hyperscale_}
  rows: {kind: jsonl, address: %q, window: 1s}
`, place, server.URL, prometheus, folder+"/"))
	g.more = []string{"--config", config}
	g.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	g.up()

	run(t, command.ExitUsage, "submit", file, "--gate", list(g.gates), "--set", "target="+url, "--out", "sink=hous").says(`sink "hous" is not configured`)
	out := g.path("client.json")
	lasts := time.Duration(kills) * 15 * time.Second
	began := time.Now()
	wait := start(t, "submit", file, "--gate", list(g.gates), "--set", "target="+url, "--duration", lasts.String(), "--wait", "--ui", "none",
		"--out", "json="+out, "--out", "sink=house", "--out", "sink=hook", "--out", "sink=prom", "--out", "sink=rows", "--out-wait", "2m", "--journal", g.path("client.jsonl"))
	job := wait.await(`^([0-9a-z]{26})\n`)
	last := ""
	for range kills {
		owner, owns := g.owner(job, last), time.Now()
		before, _ := h.count()
		eventually(t, owner+" delivers, and has answered heartbeats", patience, func() bool {
			now, _ := h.count()
			return now > before+6 && time.Since(owns) > 2*manager.Default().Heartbeat
		})
		select {
		case <-h.came:
		case <-time.After(patience):
			t.Fatalf("%s delivers no more", owner)
		}
		g.nodes[owner].kill()
		g.owner(job, owner)
		g.start(owner)
		eventually(t, owner+" is ready again", patience, func() bool { return get(t, "http://"+g.admins[owner]+"/readyz") == "ok\n" })
		last = owner
	}
	require.Regexp(t, `(?s)sink hook \(webhook\): [a-z ]+, [0-9]+ rows delivered.*sink house \(postgres\): [a-z ]+, [0-9]+ rows delivered`, run(t, command.ExitGood, "status", job, "--gate", list(g.gates)).out.String())
	t.Logf("%d kills took %v", kills, time.Since(began).Round(time.Second))
	select {
	case <-wait.done:
	case <-time.After(time.Until(began.Add(lasts))):
	}
	wait.expect(command.ExitGood)
	r := readResult(t, out)
	adds(t, r)
	require.Len(t, r.Sinks, 4)
	rows, twice := h.count()
	for _, s := range r.Sinks {
		t.Log(ui.SinkText(&s))
		require.True(t, s.Done && s.Whole(), "%s", ui.SinkText(&s))
	}
	require.Contains(t, run(t, command.ExitGood, "outputs", "verify", "postgres="+place, job).out.String(), "home")
	require.Equal(t, r.Totals.Started, h.begun, "requests of the windows that the server has")
	require.LessOrEqual(t, twice, int(r.Sinks[0].PerhapsTwice), "of %d rows", rows)
	require.Zero(t, r.Sinks[1].PerhapsTwice, "it is exact")
	require.Zero(t, r.Sinks[2].PerhapsTwice, "it is exact")
	sumsArrived(t, prometheus, job, r)
	require.Contains(t, run(t, command.ExitGood, "outputs", "verify", "jsonl="+folder+"/", job).out.String(), "home")
	lines, err := files.Read(folder, job)
	require.NoError(t, err)
	require.Len(t, lines, int(r.Sinks[3].Delivered), "each row is in one file")
	require.Zero(t, r.Sinks[3].PerhapsTwice, "it is exact")
	t.Logf("%d rows, %d of them twice, %d perhaps; %d bodies, %d broken", rows, twice, r.Sinks[0].PerhapsTwice, h.bodies, h.broken)
}
