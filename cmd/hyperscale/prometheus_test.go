package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/rogpeppe/go-internal/testscript"

	"hyperscale/runtime/report"
	"hyperscale/runtime/target"
)

// TestPrometheus sends a run to a real server. Beside commands of TestScripts there are
//
//	prometheus     start one, its address is $PROMETHEUS
//	arrived FILE   it knows the counts of the result file, and knew others before
//	reported NAME  it knows the end of a job of that name
//	scrape ADDR    wait until the metrics there count requests, in good style; with !,
//	               no server answers
//
// In CI it may not be absent.
func TestPrometheus(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/prometheus",
		Setup: func(env *testscript.Env) error {
			env.Values[serverKey] = new(*target.Server)
			return nil
		},
		Condition: func(string) (bool, error) {
			_, err := exec.LookPath("prometheus")
			return err == nil || os.Getenv("HYPERSCALE_CI") != "", nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code": expectCode, "target": serve, "prometheus": startPrometheus, "arrived": hasArrived, "reported": wasReported, "ports": ports, "scrape": scrape,
		},
	})
}

func startPrometheus(ts *testscript.TestScript, _ bool, _ []string) {
	url, stop, err := runPrometheus(ts.MkAbs("prometheus"), "")
	if stop != nil {
		ts.Defer(stop)
	}
	ts.Check(err)
	ts.Setenv("PROMETHEUS", url)
}

// runPrometheus starts a server in a folder and waits until it is ready.
func runPrometheus(folder, config string) (url string, stop func(), err error) {
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		return "", nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", nil, err
	}
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		return "", nil, err
	}
	child := exec.Command(binary, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.enable-remote-write-receiver", "--web.listen-address="+address)
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return "", nil, err
	}
	child.Stdout, child.Stderr = log, log
	if err := child.Start(); err != nil {
		return "", nil, err
	}
	stop = func() {
		_ = child.Process.Kill()
		_ = child.Wait() // it was killed
		_ = log.Close()
	}
	for limit := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if answer, err := http.Get("http://" + address + "/-/ready"); err == nil {
			_ = answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return "http://" + address, stop, nil
			}
		}
		if time.Now().After(limit) {
			text, _ := os.ReadFile(log.Name()) // what there is of it
			return "", stop, fmt.Errorf("prometheus is not ready after 30s, see its log:\n%s", text)
		}
	}
}

func hasArrived(ts *testscript.TestScript, _ bool, args []string) {
	var r report.Result
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &r))
	step := r.Workflows[0].Steps[0]
	for query, want := range map[string]uint64{
		`hyperscale_requests_total{result="ok"}`:                           step.OK,
		`hyperscale_requests_total{result="failed"}`:                       step.Failed,
		`hyperscale_requests_started_total`:                                step.Started,
		`hyperscale_request_duration_seconds_bucket{le="+Inf"}`:            step.LatencyNS.Count,
		`hyperscale_responses_total{status="500"}`:                         step.Statuses["500"],
		`hyperscale_received_bytes_total`:                                  step.BytesIn,
		`sum(hyperscale_datacenter_requests_total)`:                        step.Started,
		`hyperscale_job_state{state="COMPLETED"}`:                          1,
		`min_over_time(hyperscale_job_state{state="COMPLETED"}[1m])`:       0, // it heard of it before the end
		`count_over_time(hyperscale_requests_started_total[1m]) >= bool 2`: 1,
	} {
		if got := promValue(ts, query); got != float64(want) {
			ts.Fatalf("%s is %v, and %d in the result file", query, got, want)
		}
	}
}

func wasReported(ts *testscript.TestScript, _ bool, args []string) {
	query := fmt.Sprintf("hyperscale_job_state{test=%q,state=\"COMPLETED\"}", args[0])
	if got := promValue(ts, query); got != 1 {
		ts.Fatalf("%s is %v, want 1", query, got)
	}
}

// promValue is the one value that a query has.
func promValue(ts *testscript.TestScript, query string) float64 {
	all, err := promValues(ts.Getenv("PROMETHEUS"), query)
	ts.Check(err)
	if len(all) != 1 {
		ts.Fatalf("%s has %d values, want one", query, len(all))
	}
	return all[0]
}

// promValues are the values that a query has.
func promValues(server, query string) (all []float64, err error) {
	answer, err := http.Get(server + "/api/v1/query?query=" + url.QueryEscape(query))
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }() // it is read
	var body struct {
		Error string
		Data  struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return nil, err
	}
	if body.Error != "" {
		return nil, fmt.Errorf("%s: %s", query, body.Error)
	}
	for _, r := range body.Data.Result {
		v, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func scrape(ts *testscript.TestScript, negated bool, args []string) {
	for limit := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		answer, err := http.Get("http://" + args[0] + "/metrics")
		if negated {
			if err == nil {
				ts.Fatalf("%s answers %s after the run", args[0], answer.Status)
			}
			return
		}
		var b []byte
		if err == nil {
			b, err = io.ReadAll(answer.Body)
			_ = answer.Body.Close() // it is read
		}
		if err == nil && bytes.Contains(b, []byte("\nhyperscale_requests_started_total{")) {
			problems, err := promlint.New(bytes.NewReader(b)).Lint()
			ts.Check(err)
			if len(problems) > 0 {
				ts.Fatalf("%v", problems)
			}
			return
		}
		if time.Now().After(limit) {
			ts.Fatalf("%s tells of no request in 20s: %v\n%s", args[0], err, b)
		}
	}
}
