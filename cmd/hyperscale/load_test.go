package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hyperscale/cmd/hyperscale/internal/command"
)

// scraped is a cluster with a Prometheus that reads all its nodes.
type scraped struct {
	*apis
	server string
}

func newScraped(t *testing.T) *scraped {
	t.Helper()
	if _, err := exec.LookPath("prometheus"); err != nil && os.Getenv("HYPERSCALE_CI") == "" {
		t.Skip("prometheus is not installed")
	}
	g := withAPI(t)
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})) // it takes all rows
	t.Cleanup(hook.Close)
	sinks := write(t, "sinks.yaml", fmt.Sprintf("outputs:\n  hook: {kind: webhook, address: %q, window: 1s, default: true}\n", hook.URL))
	g.more = append(g.more, "--set", "gate.sweep_interval=1s", "--config", sinks) // how often they tell of their bounds
	g.start("gate-1", "gate-2", "gate-3", "manager-1", "manager-2", "manager-3", "worker-1", "worker-2")
	rules, err := filepath.Abs(filepath.Join("..", "..", "deploy", "prometheus", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := "global: {scrape_interval: 300ms, evaluation_interval: 1s}\nrule_files: [" + rules + "]\nscrape_configs:\n  - job_name: hyperscale\n    static_configs:\n      - targets: [" +
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

// A panel of a dashboard, as the file has it.
type panelJSON struct {
	Title   string
	Targets []struct{ Expr string }
}

// panels returns those of all dashboards.
func panels(t *testing.T) (all []panelJSON) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "deploy", "grafana", "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no dashboards: %v", err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var board struct{ Panels []panelJSON }
		if err := json.Unmarshal(b, &board); err != nil || len(board.Panels) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, board.Panels...)
	}
	return all
}

// TestPanelsHaveData: when a job has run, and a worker was killed meanwhile, each panel of each dashboard has data,
// and each metric that it names is there. When the other worker is killed, too, one alert fires, once.
func TestPanelsHaveData(t *testing.T) {
	t.Parallel()
	s := newScraped(t)
	from := time.Now()
	url, file := serveTarget(t, "--latency", "5ms", "--error-every", "10"), write(t, "load.star", loadFile)
	wait, job, _ := s.submit(file, url, 12*time.Second, "client-1")
	for role, status := range map[string]int{"viewer": http.StatusOK, "unknown": http.StatusUnauthorized} { //lint:orderfree two requests
		if r := s.call(t.Context(), "gate-1", role, http.MethodGet, "/v1/whoami", ""); r.StatusCode != status || r.Body.Close() != nil {
			t.Errorf("a token %s: %s", role, r.Status)
		}
	}
	s.asks(fmt.Sprintf("sum(hyperscale_requests_total{run=%q})", job), func(v float64) bool { return v > 20 })
	busy := ""
	eventually(t, "a worker is busy", patience, func() bool {
		c, _ := s.status()
		for _, n := range c.Nodes {
			if n.Role == "worker" && n.CoresTotal > 0 && n.CoresFree == 0 {
				busy = n.Node
			}
		}
		return busy != ""
	})
	s.nodes[busy].kill()
	s.asks("sum(hyperscale_shard_losses_total) >= 1", func(float64) bool { return true })
	wait.code()
	s.asks(fmt.Sprintf(`sum(hyperscale_job_state{run=%q,state!="RUNNING"} == 1)`, job), func(v float64) bool { return v == 1 })

	fill := strings.NewReplacer("$__rate_interval", "5s", "$__range", "5m", "$test", ".*", "$run", job)
	word := regexp.MustCompile(`\b(hyperscale|process|go)_[a-z_]+`)
	for _, p := range panels(t) {
		data := false
		for _, q := range p.Targets {
			expr := fill.Replace(q.Expr)
			all, err := promValues(s.server, fmt.Sprintf("count_over_time((%s)[%ds:1s])", expr, 1+int(time.Since(from).Seconds())))
			if err != nil {
				t.Errorf("%s: %v", p.Title, err)
			}
			data = data || len(all) > 0
			for _, name := range word.FindAllString(expr, -1) {
				if all, err := promValues(s.server, fmt.Sprintf("count(last_over_time(%s[5m]))", name)); err != nil || len(all) != 1 {
					t.Errorf("%s: there is no metric %s: %v", p.Title, name, err)
				}
			}
		}
		if !data {
			t.Errorf("panel %q has no data", p.Title)
		}
	}
	s.asks(`count(last_over_time(hyperscale:requests:rate1m{step="home"}[5m]))`, func(v float64) bool { return v == 1 })
	for _, id := range []string{"worker-1", "worker-2"} {
		if id != busy {
			s.nodes[id].kill()
		}
	}
	eventually(t, "the alert of no worker fires", 3*patience, func() bool {
		all, err := promValues(s.server, `count(ALERTS{alertname="HyperscaleNoWorkerHealthy",alertstate="firing"})`)
		return err == nil && len(all) == 1 && all[0] == 1
	})
}
