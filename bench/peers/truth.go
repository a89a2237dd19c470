package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"
)

// trial is one way to send 500 a second through a stall.
type trial struct {
	name    string
	times   float64       // capacity of the server, in rates; 0: as many as it can
	vus     int           // how many may be in flight
	cores   int           // executors
	stopped time.Duration // the generator stands still, and not the server
}

const truthRate = 500

// stallOf scales the oracle's run: T = 60 s, S = 6 s.
func (b *bench) stallOf(t trial) stall {
	s := stall{Run: 60 * time.Second, Stall: 6 * time.Second, Rate: truthRate, Capacity: t.times * truthRate}
	if b.quick {
		s.Run, s.Stall = 5*time.Second, 500*time.Millisecond
	}
	if t.stopped > 0 {
		s.Stall = t.stopped
		if b.quick {
			s.Stall = t.stopped / 10
		}
	}
	return s
}

// truth is bar 5: what is told about a server that stood still.
func (b *bench) truth() error {
	// Every arrival of the stall may have to wait at the same time, and of what follows.
	const many = 4000
	executors := min(4, runtime.NumCPU()) // no run has more of them than it has processors
	trials := []trial{
		{name: "server stands still, then as fast as it can", vus: many, cores: 1},
		{name: "server stands still, then 5 times the rate", times: 5, vus: many, cores: 1},
		{name: "server stands still, then twice the rate", times: 2, vus: many, cores: 1},
		{name: "server stands still, 10 in flight at most", vus: 10, cores: 1},
		{name: "generator stands still for 2 s", vus: many, cores: 1, stopped: 2 * time.Second},
		{name: fmt.Sprintf("server stands still, %d executors merged", executors), vus: many, cores: executors},
	}
	for i, t := range trials {
		if err := b.trial(t, i == 0); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

// trial plays ours, and the peers if asked to, each against a server of its own.
func (b *bench) trial(t trial, withPeers bool) error {
	s := b.stallOf(t)
	var names []string
	if withPeers {
		for _, name := range []string{"wrk", "hey", "bombardier", "oha", "vegeta", "k6"} {
			if b.tools[name].Path != "" {
				names = append(names, name)
			}
		}
		if b.tools["k6"].Path != "" {
			names = append(names, "k6, 10 VUs")
		}
	}
	var rows []row
	var truth stall
	for i := range len(names) + 1 {
		config := serverConfig{Kind: "http1", Capacity: s.Capacity}
		if t.stopped == 0 {
			config.StallAt, config.StallFor = s.Run/3, s.Stall
		}
		server, err := startServer(config, b.serverCPUs)
		if err != nil {
			return err
		}
		c, err := b.truthful(t, s, server, i, names)
		if err != nil {
			return err
		}
		r := row{Experiment: "truth", Case: t.name, Client: c.name, Note: c.missing}
		if c.missing == "" {
			o, err := b.play(c, server)
			if err != nil {
				r.Note = err.Error()
			} else {
				r.Runs, r.Requests, r.Failed, r.Latency, r.Note = 1, o.requests(), o.told.Failed, o.told.Latency, o.told.Note
				r.Late = o.told.Late
				if i == 0 {
					truth = s
					truth.Stall = max(o.server.Stalled, o.usage.Stopped) // as long as it really was
				}
			}
		}
		if err := server.close(); err != nil {
			return err
		}
		rows = append(rows, r)
	}
	if truth.Run == 0 {
		truth = s
	}
	b.report.rows(rows)
	truthTable(b.out, t.name, truth, rows)
	b.tells(t.name, "5", truth, rows[0])
	return nil
}

// tells judges what a row says of each figure.
func (b *bench) tells(what, bar string, truth stall, r row) {
	if r.Runs == 0 {
		b.report.judge(verdict{Bar: bar, What: what + ": latencies", Want: 0.01}, false)
		return
	}
	for _, e := range truth.expected() {
		got := told{Latency: r.Latency}.latency(e.Name)
		if got == untold {
			b.report.judge(verdict{Bar: bar, What: what + ": " + e.Name, Want: e.Tolerance}, false)
			continue
		}
		b.report.judge(verdict{Bar: bar, What: fmt.Sprintf("%s: how far %s is from %.4g s, in seconds", what, e.Name, e.Want), Want: e.Tolerance, Got: e.apart(got)}, true)
	}
}

// truthful makes the contender number i: ours is the first.
func (b *bench) truthful(t trial, s stall, server *server, i int, names []string) (contender, error) {
	if i == 0 {
		more := fmt.Sprintf("rate = \"%d/s\", when_full = \"queue\", ", truthRate)
		c, err := b.ours("truth", t.cores, flow{Name: "truth", URL: server.url(), VUs: t.vus, Duration: s.Run, More: more})
		if err != nil {
			return c, err
		}
		if t.cores > len(b.clientCPUs) {
			c.command.CPUs = slices.Concat(b.clientCPUs, b.serverCPUs)
		}
		if t.stopped > 0 {
			c.command.StopAt, c.command.StopFor = s.Run/3, s.Stall
		}
		return c, nil
	}
	p, l := peers{b.tools, b.dir}, load{url: server.url(), vus: 10, duration: s.Run, rate: truthRate}
	switch name := names[i-1]; name {
	case "k6":
		l.vus, l.vusMax = 50, t.vus
		return p.of(name, l), nil
	case "k6, 10 VUs":
		c := p.of("k6", l)
		c.name = name
		return c, nil
	default:
		return p.of(name, l), nil
	}
}

// truthTable prints what each tells beside what is true.
func truthTable(w io.Writer, name string, s stall, rows []row) {
	_, _ = fmt.Fprintf(w, "\n %s: %.0f/s for %v, %v still\n", name, s.Rate, s.Run, s.Stall.Round(time.Millisecond))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(client, requests, failed string, latency func(string) time.Duration) {
		_, _ = fmt.Fprintf(t, "  %s\t%s\t%s\t", client, requests, failed)
		for _, f := range figures {
			text := "-"
			if d := latency(f); d != untold {
				text = fmt.Sprintf("%.1f", d.Seconds()*1000)
			}
			_, _ = fmt.Fprintf(t, "%s\t", text)
		}
		_, _ = fmt.Fprintln(t)
	}
	_, _ = fmt.Fprint(t, "  ms\trequests\tfailed\t")
	for _, f := range figures {
		_, _ = fmt.Fprintf(t, "%s\t", f)
	}
	_, _ = fmt.Fprintln(t)
	right := map[string]time.Duration{"max": s.Stall}
	for _, e := range s.expected() {
		right[e.Name] = seconds(e.Want)
	}
	line("the truth", fmt.Sprintf("%.0f", s.Rate*s.Run.Seconds()), "0", func(f string) time.Duration { return right[f] })
	for _, r := range rows {
		if r.Runs > 0 {
			line(r.Client, fmt.Sprint(r.Requests), fmt.Sprint(r.Failed), told{Latency: r.Latency}.latency)
		}
	}
	_ = t.Flush() // what cannot be printed is in the file
	notes(w, rows)
}
