package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const latenessRate = 5000

// timer is a process that does nothing but wake at a rate for so long, and tells
// how late it woke: what this machine allows.
func timer(text string, out io.Writer) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	var start unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &start); err != nil {
		return err
	}
	late := make([]time.Duration, 0, int(d.Seconds()*latenessRate))
	for i := range cap(late) {
		due := start.Nano() + int64(i+1)*int64(time.Second)/latenessRate
		at := unix.NsecToTimespec(due)
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &at, nil) == unix.EINTR {
		}
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			return err
		}
		late = append(late, time.Duration(now.Nano()-due))
	}
	slices.Sort(late)
	return json.NewEncoder(out).Encode(spreadOf(late))
}

func spreadOf(sorted []time.Duration) map[string]time.Duration {
	if len(sorted) == 0 {
		return nil
	}
	return map[string]time.Duration{"p50": at(sorted, 0.5), "p90": at(sorted, 0.9), "p95": at(sorted, 0.95), "p99": at(sorted, 0.99), "p999": at(sorted, 0.999), "max": sorted[len(sorted)-1]}
}

func readTimer(out []byte) (told, error) {
	t := told{}
	return t, json.Unmarshal(out, &t.Late)
}

// lateness is the second half of bar 5: ours as it tells itself and as the server
// saw it, beside a bare timer, in turn.
func (b *bench) lateness() error {
	self, err := selfPath()
	if err != nil {
		return err
	}
	count := int(b.duration.Seconds() * latenessRate * 2)
	var own, seen, bare []map[string]time.Duration
	var note string
	for range b.rounds {
		s, err := startServer(serverConfig{Kind: "http1", Arrivals: count}, b.serverCPUs)
		if err != nil {
			return err
		}
		us, err := b.ours("lateness", 1, flow{Name: "lateness", URL: s.url(), VUs: 500, Duration: b.duration, More: fmt.Sprintf("rate = \"%d/s\", when_full = \"queue\", ", latenessRate)})
		if err != nil {
			return err
		}
		clock := contender{name: "timer", read: readTimer, command: command{Args: []string{self, "timer", b.duration.String()}, Limit: b.duration + time.Minute}}
		both := []contender{us, clock}
		outcomes := b.interleave(s, both, 1)
		note = both[0].missing
		for _, o := range outcomes[0] {
			own, seen = append(own, o.told.Late), append(seen, spreadOf(lateness(o.server.Arrivals, latenessRate)))
		}
		for _, o := range outcomes[1] {
			bare = append(bare, o.told.Late)
		}
		if err := s.close(); err != nil {
			return err
		}
	}
	rows := []row{
		{Experiment: "lateness", Case: "5,000/s", Client: "hyperscale, by itself", Runs: len(own), Late: best(own), Note: note},
		{Experiment: "lateness", Case: "5,000/s", Client: "hyperscale, at the server", Runs: len(seen), Late: best(seen)},
		{Experiment: "lateness", Case: "5,000/s", Client: "a bare timer", Runs: len(bare), Late: best(bare)},
	}
	b.report.rows(rows)
	shown := slices.Clone(rows)
	for i := range shown {
		shown[i].Latency = shown[i].Late
	}
	latencyTable(b.out, "lateness in us; the best run", shown)
	limit := max(time.Millisecond, rows[2].Late["p99"]+200*time.Microsecond)
	b.report.judge(verdict{Bar: "5", What: "start lateness at 5,000/s, p99 in ms, as it tells itself", Want: milli(limit), Got: milli(rows[0].Late["p99"])}, len(own) > 0)
	b.report.judge(verdict{Bar: "5", What: "start lateness at 5,000/s, p99 in ms, as the server saw it", Want: milli(limit), Got: milli(rows[1].Late["p99"])}, len(seen) > 0)
	return nil
}

func milli(d time.Duration) float64 { return d.Seconds() * 1000 }

func selfPath() (string, error) { return filepath.EvalSymlinks("/proc/self/exe") }

// best is the run with the lowest p99.
func best(runs []map[string]time.Duration) map[string]time.Duration {
	if len(runs) == 0 {
		return nil
	}
	return slices.MinFunc(runs, func(a, b map[string]time.Duration) int { return int(a["p99"] - b["p99"]) })
}
