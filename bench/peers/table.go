package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"
)

// row is one client in one case. Figures that were not measured are zero.
type row struct {
	Experiment  string                   `json:"experiment"`
	Case        string                   `json:"case"`
	Client      string                   `json:"client"`
	Runs        int                      `json:"runs"`
	Requests    uint64                   `json:"requests,omitempty"`
	Failed      uint64                   `json:"failed,omitempty"`
	Rate        float64                  `json:"requests_per_second,omitempty"`
	PerCPU      float64                  `json:"requests_per_cpu_second,omitempty"` // best
	Low         float64                  `json:"worst_requests_per_cpu_second,omitempty"`
	Spread      float64                  `json:"spread,omitempty"` // (best - worst) / best
	Micros      float64                  `json:"cpu_us_per_request,omitempty"`
	Ratio       float64                  `json:"ratio,omitempty"` // hyperscale's best over this one's
	RatioLow    float64                  `json:"lowest_ratio_of_a_round,omitempty"`
	RatioMedian float64                  `json:"median_ratio_of_the_rounds,omitempty"`
	RatioHigh   float64                  `json:"highest_ratio_of_a_round,omitempty"`
	RSS         float64                  `json:"rss_mib,omitempty"`
	Anon        float64                  `json:"rss_anon_mib,omitempty"`
	Executors   float64                  `json:"executors_rss_anon_mib,omitempty"`
	Rest        float64                  `json:"rest_rss_anon_mib,omitempty"`
	Connections int                      `json:"connections,omitempty"`
	Latency     map[string]time.Duration `json:"latency_ns,omitempty"`
	Late        map[string]time.Duration `json:"start_lateness_ns,omitempty"`
	Note        string                   `json:"note,omitempty"`
}

// The states of a verdict.
const (
	met         = "met"
	missed      = "MISSED"
	notMeasured = "not measured"
)

// verdict is one bar.
type verdict struct {
	Bar   string  `json:"bar"`
	What  string  `json:"what"`
	Want  float64 `json:"want"`
	Got   float64 `json:"got"`
	Least bool    `json:"at_least"` // else at most
	State string  `json:"state"`
}

// report is what machines read.
type report struct {
	Began       time.Time         `json:"began"`
	CPUs        int               `json:"cpus"`
	LoadBefore  string            `json:"load_before"`
	LoadAfter   string            `json:"load_after"`
	Quick       bool              `json:"quick"`
	Peers       map[string]string `json:"peers"` // version, or why it is missing
	Experiments []string          `json:"experiments"`
	Rows        []row             `json:"rows"`
	Verdicts    []verdict         `json:"verdicts"`
	Remarks     []string          `json:"remarks,omitempty"`
}

func (r *report) rows(rows []row) { r.Rows = append(r.Rows, rows...) }

// judge keeps a verdict; what was not measured is not met.
func (r *report) judge(v verdict, measured bool) {
	switch {
	case !measured:
		v.State = notMeasured
	case v.Least && v.Got >= v.Want || !v.Least && v.Got <= v.Want:
		v.State = met
	default:
		v.State = missed
	}
	r.Verdicts = append(r.Verdicts, v)
}

// remark tells people and machines what the figures do not.
func (r *report) remark(w io.Writer, text string) {
	r.Remarks = append(r.Remarks, text)
	_, _ = fmt.Fprintln(w, "  "+text)
}

// begin tells what is compared, and on what.
func (r *report) begin(b *bench) {
	r.Began, r.Quick, r.LoadBefore, r.Peers = time.Now().UTC(), b.quick, loadAverage(), map[string]string{}
	cpus, err := usable()
	if err == nil {
		r.CPUs = len(cpus)
	}
	_, _ = fmt.Fprintf(b.out, "client on processor %d, server on %d of %d; load average %s; %d rounds of %v\n", b.clientCPUs[0], b.serverCPUs[0], r.CPUs, r.LoadBefore, b.rounds, b.duration)
	if first, err := strconv.ParseFloat(strings.Fields(r.LoadBefore + " 0")[0], 64); err == nil && first > 0.5 {
		r.remark(b.out, "this machine is busy with other work: the figures are noisy, the ratios less so")
	}
	if b.quick {
		r.remark(b.out, "quick: the runs are too short to believe their figures")
	}
	for _, name := range []string{"wrk", "bombardier", "oha", "hey", "vegeta", "k6", "h2load"} {
		t, ok := b.tools[name]
		if !ok {
			continue
		}
		r.Peers[name] = t.Version
		if t.Path == "" {
			r.Peers[name] = "missing"
			r.remark(b.out, name+" is skipped: "+t.Missing)
		}
	}
}

// summary prints every bar.
func (r *report) summary(w io.Writer) {
	_, _ = fmt.Fprintf(w, "\nbars (load average %s before, %s after)\n", r.LoadBefore, r.LoadAfter)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range r.Verdicts {
		word, got := "at most", format(v.Got)
		if v.Least {
			word = "at least"
		}
		if v.State == notMeasured {
			got = "-"
		}
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\t%s %s\t%s\n", v.Bar, v.What, got, word, format(v.Want), v.State)
	}
	_ = t.Flush() // what cannot be printed is in the file
}

func format(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func mebi(kibi int) float64 { return float64(kibi) / 1024 }

// costTable prints what requests cost.
func costTable(w io.Writer, scene string, rows []row) {
	_, _ = fmt.Fprintln(w, "\n "+scene)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintf(t, "  \trequests/CPU s\tspread\tus/request\trequests/s\tfailed\tRSS MiB\tanon MiB\t%s is times\tmedian\tby round\t\n", rows[0].Client)
	for _, r := range rows {
		if r.Runs == 0 {
			continue
		}
		times, median, rounds := "-", "-", "-"
		if r.Ratio > 0 {
			times, median, rounds = fmt.Sprintf("%.2f", r.Ratio), fmt.Sprintf("%.2f", r.RatioMedian), fmt.Sprintf("%.2f to %.2f", r.RatioLow, r.RatioHigh)
		}
		_, _ = fmt.Fprintf(t, "  %s\t%.0f\t%.0f %%\t%.2f\t%.0f\t%d\t%.1f\t%.1f\t%s\t%s\t%s\t\n", r.Client, r.PerCPU, 100*r.Spread, r.Micros, r.Rate, r.Failed, r.RSS, r.Anon, times, median, rounds)
	}
	_ = t.Flush() // what cannot be printed is in the file
	notes(w, rows)
}

func notes(w io.Writer, rows []row) {
	for _, r := range rows {
		if r.Note != "" {
			_, _ = fmt.Fprintf(w, "  %s: %s\n", r.Client, r.Note)
		}
	}
}

// loadAverage is the machine's, of 1, 5 and 15 minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) < 3 {
		return "unknown"
	}
	return strings.Join(fields[:3], " ")
}

// usable returns the processors that this process may run on.
func usable() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("read the affinity: %w", err)
	}
	var cpus []int
	for i := 0; len(cpus) < set.Count(); i++ {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus, nil
}

// latencyTable prints latencies in microseconds.
func latencyTable(w io.Writer, title string, rows []row) {
	_, _ = fmt.Fprintln(w, "\n "+title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "  \tp50\tp90\tp95\tp99\tp999\tmax\t")
	for _, r := range rows {
		if r.Runs == 0 {
			continue
		}
		_, _ = fmt.Fprintf(t, "  %s\t", r.Client)
		for _, f := range []string{"p50", "p90", "p95", "p99", "p999", "max"} {
			_, _ = fmt.Fprintf(t, "%.0f\t", r.Latency[f].Seconds()*1e6)
		}
		_, _ = fmt.Fprintln(t)
	}
	_ = t.Flush() // what cannot be printed is in the file
	notes(w, rows)
}
