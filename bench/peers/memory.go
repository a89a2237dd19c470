package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"golang.org/x/sys/unix"
)

// crowd is many virtual users, each with a connection and a request a second.
type crowd struct {
	name     string
	vus      int
	parts    int // executors, and servers: no process has descriptors for all
	function bool
	most     float64 // MiB of the executors
	peers    []string
}

// each is how many virtual users an executor may have with some descriptors to spare.
func each() (int, error) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return 0, fmt.Errorf("read the limit of descriptors: %w", err)
	}
	// A workflow has one target here, and that many local ports lead to it.
	return int(min(limit.Max-500, 20_000)), nil
}

// memory is bar 4.
func (b *bench) memory() error {
	most, err := each()
	if err != nil {
		return err
	}
	for _, c := range []crowd{
		{name: "10,000 requests", vus: 10_000, most: 24, peers: []string{"wrk", "k6"}},
		{name: "50,000 requests", vus: 50_000, most: 64},
		{name: "10,000 functions, all in flight", vus: 10_000, function: true, most: 130},
	} {
		c.parts = (c.vus + most - 1) / most
		if err := b.crowd(c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	b.report.remark(b.out, fmt.Sprintf("k6 and wrk are one process each, which may open %d descriptors here: 50,000 virtual users do not fit", most+500))
	return nil
}

func (b *bench) crowd(c crowd) error {
	duration := max(2*b.duration, 5*time.Second)
	var flows []flow
	var first *server
	for i := range c.parts {
		config := serverConfig{Kind: "http1"}
		more := `think = "1s", `
		if c.function {
			// The answer takes the second, so that every function is in flight.
			config.Delay, more = time.Second, `timeout = "30s", `
		}
		s, err := startServer(config, b.serverCPUs)
		if err != nil {
			return err
		}
		defer func() { _ = s.close() }()
		if first == nil {
			first = s
		}
		vus := c.vus*(i+1)/c.parts - c.vus*i/c.parts
		flows = append(flows, flow{Name: fmt.Sprintf("crowd%d", i), URL: s.url(), VUs: vus, Duration: duration, Function: c.function, More: more})
	}
	us, err := b.ours("memory", c.parts, flows...)
	if err != nil {
		return err
	}
	contenders := b.beside(us, load{url: first.url(), vus: c.vus, duration: duration, think: time.Second}, c.peers...)
	for i := range contenders {
		contenders[i].command.Sample = 200 * time.Millisecond
	}
	rows := make([]row, len(contenders))
	for i, outcomes := range b.interleave(first, contenders, 1) {
		rows[i] = row{Experiment: "memory", Case: c.name, Client: contenders[i].name, Note: contenders[i].missing, Runs: len(outcomes)}
		for _, o := range outcomes {
			r, u := &rows[i], o.usage
			r.RSS, r.Anon, r.Requests, r.Failed = mebi(u.Peak.RSS), mebi(u.Peak.Anon), o.told.Requests, o.told.Failed
			r.Rate = float64(o.told.Requests) / duration.Seconds()
			if i == 0 {
				r.Executors, r.Rest = mebi(u.Below.Anon), mebi(u.Root.Anon)
			}
		}
	}
	b.report.rows(rows)
	memoryTable(b.out, c, rows)
	measured := rows[0].Runs > 0
	b.report.judge(verdict{Bar: "4", What: c.name + ": MiB of the executors (RssAnon)", Want: c.most, Got: rows[0].Executors}, measured)
	b.report.judge(verdict{Bar: "4", What: c.name + ": MiB of all else", Want: 60, Got: rows[0].Rest}, measured)
	return nil
}

func memoryTable(w io.Writer, c crowd, rows []row) {
	_, _ = fmt.Fprintf(w, "\n %s, one a second each; %d executors; memory at its highest\n", c.name, c.parts)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "  \tanon MiB\tof it executors\tRSS MiB\tKiB a user\trequests/s\tfailed\t")
	for _, r := range rows {
		if r.Runs > 0 {
			_, _ = fmt.Fprintf(t, "  %s\t%.1f\t%.1f\t%.1f\t%.2f\t%.0f\t%d\t\n", r.Client, r.Anon, r.Executors, r.RSS, 1024*r.Anon/float64(c.vus), r.Rate, r.Failed)
		}
	}
	_ = t.Flush() // what cannot be printed is in the file
	notes(w, rows)
}
