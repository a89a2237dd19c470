package main

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// untold is a latency that a program does not tell.
const untold = time.Duration(-1)

// told is what a client tells its user.
type told struct {
	Requests uint64 // that were answered well
	Failed   uint64 // that were not, or never began though they should have
	Latency  map[string]time.Duration
	Late     map[string]time.Duration // of starts, if it tells
	Checks   uint64
	Note     string
}

// figures are the names of latencies, in the order in which they are shown.
var figures = []string{"mean", "p50", "p90", "p95", "p99", "p999", "max"}

// latency returns a figure or untold.
func (t told) latency(name string) time.Duration {
	if d, ok := t.Latency[name]; ok {
		return d
	}
	return untold
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }

// parser reads what a client wrote.
type parser func([]byte) (told, error)

var (
	wrkRequests = regexp.MustCompile(`(?m)^\s*(\d+) requests in `)
	wrkErrors   = regexp.MustCompile(`Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
	wrkStatus   = regexp.MustCompile(`Non-2xx or 3xx responses: (\d+)`)
	wrkLatency  = regexp.MustCompile(`(?m)^\s*Latency\s+(\S+)\s+\S+\s+(\S+)\s+\S+%`)
	wrkQuantile = regexp.MustCompile(`(?m)^\s*(50|90|99)%\s+(\S+)$`)

	heyRequests = regexp.MustCompile(`(?m)^\s*\[(\d+)\]\s+(\d+) responses$`)
	heyErrors   = regexp.MustCompile(`(?m)^\s*\[(\d+)\]\s+\D`)
	heyNumber   = regexp.MustCompile(`(?m)^\s*(Average|Slowest):\s+(\S+) secs$`)
	heyQuantile = regexp.MustCompile(`(?m)^\s*(50|90|95|99)%+ in (\S+) secs$`)

	h2Requests = regexp.MustCompile(`requests: \d+ total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout`)
	h2Time     = regexp.MustCompile(`(?m)^time for request:\s+(\S+)\s+(\S+)\s+(\S+)`)
)

func number(s string) uint64 {
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		return 0 // the patterns let only digits pass
	}
	return n
}

// span reads wrk's and h2load's durations: 1.50ms, 12us, 0.99s, 1.00m.
func span(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		return untold
	}
	return d
}

func readWrk(out []byte) (told, error) {
	text := string(out)
	m := wrkRequests.FindStringSubmatch(text)
	if m == nil {
		return told{}, fmt.Errorf("wrk told nothing: %.80s", text)
	}
	t := told{Requests: number(m[1]), Latency: map[string]time.Duration{}}
	if e := wrkErrors.FindStringSubmatch(text); e != nil {
		t.Failed = number(e[1]) + number(e[2]) + number(e[3]) + number(e[4])
	}
	if e := wrkStatus.FindStringSubmatch(text); e != nil {
		t.Failed += number(e[1])
		t.Requests -= min(t.Requests, number(e[1]))
	}
	if l := wrkLatency.FindStringSubmatch(text); l != nil {
		t.Latency["mean"], t.Latency["max"] = span(l[1]), span(l[2])
	}
	for _, q := range wrkQuantile.FindAllStringSubmatch(text, -1) {
		t.Latency["p"+q[1]] = span(q[2])
	}
	return t, nil
}

func readHey(out []byte) (told, error) {
	text := string(out)
	t := told{Latency: map[string]time.Duration{}}
	for _, m := range heyRequests.FindAllStringSubmatch(text, -1) {
		if status := number(m[1]); status < 400 {
			t.Requests += number(m[2])
		} else {
			t.Failed += number(m[2])
		}
	}
	if _, errors, ok := strings.Cut(text, "Error distribution:"); ok {
		for _, m := range heyErrors.FindAllStringSubmatch(errors, -1) {
			t.Failed += number(m[1])
		}
	}
	if t.Requests+t.Failed == 0 {
		return told{}, fmt.Errorf("hey told nothing: %.80s", text)
	}
	names := map[string]string{"Average": "mean", "Slowest": "max"}
	for _, m := range heyNumber.FindAllStringSubmatch(text, -1) {
		if s, err := strconv.ParseFloat(m[2], 64); err == nil {
			t.Latency[names[m[1]]] = seconds(s)
		}
	}
	for _, m := range heyQuantile.FindAllStringSubmatch(text, -1) {
		if s, err := strconv.ParseFloat(m[2], 64); err == nil {
			t.Latency["p"+m[1]] = seconds(s)
		}
	}
	return t, nil
}

func readH2load(out []byte) (told, error) {
	text := string(out)
	m := h2Requests.FindStringSubmatch(text)
	if m == nil {
		return told{}, fmt.Errorf("h2load told nothing: %.80s", text)
	}
	t := told{Requests: number(m[1]), Failed: number(m[2]), Latency: map[string]time.Duration{}}
	if l := h2Time.FindStringSubmatch(text); l != nil {
		t.Latency["max"], t.Latency["mean"] = span(l[2]), span(l[3])
	}
	return t, nil
}

func readBombardier(out []byte) (told, error) {
	var r struct {
		Result struct {
			Req1xx, Req2xx, Req3xx, Req4xx, Req5xx, Others uint64
			Latency                                        struct {
				Mean, Max   float64 // microseconds
				Percentiles map[string]float64
			}
		}
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return told{}, fmt.Errorf("bombardier: %w", err)
	}
	us := func(v float64) time.Duration { return seconds(v / 1e6) }
	t := told{Requests: r.Result.Req2xx + r.Result.Req3xx, Failed: r.Result.Req1xx + r.Result.Req4xx + r.Result.Req5xx + r.Result.Others}
	t.Latency = map[string]time.Duration{"mean": us(r.Result.Latency.Mean), "max": us(r.Result.Latency.Max)}
	for q, v := range r.Result.Latency.Percentiles {
		t.Latency["p"+q] = us(v)
	}
	return t, nil
}

func readVegeta(out []byte) (told, error) {
	var r struct {
		Latencies map[string]float64
		Requests  uint64
		Success   float64
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return told{}, fmt.Errorf("vegeta: %w", err)
	}
	good := uint64(math.Round(r.Success * float64(r.Requests)))
	t := told{Requests: good, Failed: r.Requests - good, Latency: map[string]time.Duration{}}
	for from, to := range map[string]string{"mean": "mean", "50th": "p50", "90th": "p90", "95th": "p95", "99th": "p99", "max": "max"} {
		if v, ok := r.Latencies[from]; ok {
			t.Latency[to] = time.Duration(v)
		}
	}
	return t, nil
}

func readOha(out []byte) (told, error) {
	var r struct {
		Summary struct {
			Average, Slowest float64
		}
		LatencyPercentiles     map[string]*float64
		StatusCodeDistribution map[string]uint64
		ErrorDistribution      map[string]uint64
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return told{}, fmt.Errorf("oha: %w", err)
	}
	t := told{Latency: map[string]time.Duration{"mean": seconds(r.Summary.Average), "max": seconds(r.Summary.Slowest)}}
	for status, n := range r.StatusCodeDistribution {
		if status < "4" {
			t.Requests += n
		} else {
			t.Failed += n
		}
	}
	for why, n := range r.ErrorDistribution {
		if why != "aborted due to deadline" { // its own end of the run
			t.Failed += n
		}
	}
	for from, to := range map[string]string{"p50": "p50", "p90": "p90", "p95": "p95", "p99": "p99", "p99.9": "p999"} {
		if v := r.LatencyPercentiles[from]; v != nil {
			t.Latency[to] = seconds(*v)
		}
	}
	return t, nil
}

// readK6 reads the file of --summary-export.
func readK6(out []byte) (told, error) {
	var r struct {
		Metrics map[string]map[string]any
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return told{}, fmt.Errorf("k6: %w", err)
	}
	value := func(metric, name string) float64 {
		v, ok := r.Metrics[metric][name].(float64)
		if !ok {
			return 0
		}
		return v
	}
	all := value("http_reqs", "count")
	failed := value("http_req_failed", "passes") // a rate's passes are those that are true
	t := told{Requests: uint64(all - failed), Failed: uint64(failed + value("dropped_iterations", "count")), Checks: uint64(value("checks", "passes"))}
	if n := uint64(value("dropped_iterations", "count")); n > 0 {
		t.Note = fmt.Sprintf("%d starts dropped", n)
	}
	t.Latency = map[string]time.Duration{}
	for from, to := range map[string]string{"avg": "mean", "med": "p50", "p(90)": "p90", "p(95)": "p95", "p(99)": "p99", "p(99.9)": "p999", "max": "max"} {
		if v, ok := r.Metrics["http_req_duration"][from].(float64); ok {
			t.Latency[to] = seconds(v / 1e3)
		}
	}
	return t, nil
}
