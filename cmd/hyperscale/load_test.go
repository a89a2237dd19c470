package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
)

// scraped is a cluster with a Prometheus that reads all its gates.
type scraped struct {
	*group
	server string
}

func newScraped(t *testing.T) *scraped {
	t.Helper()
	if _, err := exec.LookPath("prometheus"); err != nil && os.Getenv("HYPERSCALE_CI") == "" {
		t.Skip("prometheus is not installed")
	}
	g := newGroup(t)
	g.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	config := "global: {scrape_interval: 300ms}\nscrape_configs:\n  - job_name: hyperscale\n    static_configs:\n      - targets: [" +
		strings.Join(slices.Sorted(maps.Values(g.admins)), ", ") + "]\n"
	server, stop, err := runPrometheus(g.path("prometheus"), config)
	if stop != nil {
		t.Cleanup(stop)
	}
	if err != nil {
		t.Fatal(err)
	}
	g.up()
	return &scraped{g, server}
}

// asks waits until a query has one value that is right.
func (s *scraped) asks(query string, right func(float64) bool) {
	s.t.Helper()
	var last []float64
	var err error
	eventually(s.t, query, patience, func() bool {
		last, err = promValues(s.server, query)
		return err == nil && len(last) == 1 && right(last[0])
	})
}

// TestLoadOfAClusterInPrometheus: a server that scrapes the gates has the load while it runs. The gate that
// owns the job is killed, and another one goes on. At the end the counters are the result's, and none is
// counted twice: of gates that showed a series the largest counts, as docs/operations.md says.
func TestLoadOfAClusterInPrometheus(t *testing.T) {
	t.Parallel()
	s := newScraped(t)
	url, file := serveTarget(t, "--latency", "5ms"), write(t, "load.star", loadFile)
	wait, job, out := s.submit(file, url, 12*time.Second, "client-1")
	some := func(v float64) bool { return v > 20 }
	of := fmt.Sprintf("{run=%q}", job)
	s.asks(`sum(hyperscale_requests_total`+of+`)`, some)
	s.asks(`sum(hyperscale_active_vus`+of+`)`, func(v float64) bool { return v > 0 })
	first := s.owner(job, "")
	s.nodes[first].kill()
	s.owner(job, first)
	s.asks(`count(count by (instance) (last_over_time(hyperscale_requests_started_total`+of+`[5m])))`, func(v float64) bool { return v == 2 })
	wait.expect(command.ExitGood)
	r := readResult(t, out)
	adds(t, r)
	if requests := stats(t, url).Requests; requests != r.Totals.Started {
		t.Fatalf("the target counted %d requests, the result %d", requests, r.Totals.Started)
	}
	whole := func(metric, labels string) string {
		return fmt.Sprintf(`sum(max without (instance) (last_over_time(%s{run=%q,request="",%s}[5m])))`, metric, job, labels)
	}
	for query, want := range map[string]uint64{
		whole("hyperscale_requests_total", `result="ok"`):                                          r.Totals.OK,
		whole("hyperscale_requests_started_total", ""):                                             r.Totals.Started,
		whole("hyperscale_received_bytes_total", ""):                                               r.Totals.BytesIn,
		whole("hyperscale_request_duration_seconds_count", ""):                                     r.Workflows[0].Steps[0].LatencyNS.Count,
		whole("hyperscale_responses_total", `status="200"`):                                        r.Workflows[0].Steps[0].Statuses["200"],
		whole("hyperscale_lost_requests_total", ""):                                                0,
		whole("hyperscale_job_state", `state="COMPLETED"`):                                         1,
		fmt.Sprintf("sum(hyperscale_active_vus{run=%q})", job):                                     0,
		fmt.Sprintf(`count(count by (instance) (hyperscale_requests_started_total{run=%q}))`, job): 1,
	} {
		s.asks(query, func(v float64) bool { return v == float64(want) })
	}
}
