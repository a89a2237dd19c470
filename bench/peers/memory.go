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
	tls      bool
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
		{name: "50,000 functions, all in flight", vus: 50_000, function: true, most: 600},
		{name: "10,000 requests over TLS", vus: 10_000, tls: true, most: 120},
	} {
		c.parts = (c.vus + most - 1) / most
		if err := b.crowd(c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	b.report.remark(b.out, fmt.Sprintf("k6 and wrk are one process each, which may open %d descriptors here: 50,000 virtual users do not fit", most+500))
	return nil
}

// crowd measures ours, then its peers, each with servers of its own.
func (b *bench) crowd(c crowd) error {
	var rows []row
	for i := range len(c.peers) + 1 {
		if i > 0 && b.tools[c.peers[i-1]].Path == "" {
			continue // that has been told
		}
		r, err := b.member(c, i)
		if err != nil {
			return err
		}
		rows = append(rows, r)
	}
	b.report.rows(rows)
	memoryTable(b.out, c, rows)
	// Who is not there takes no memory.
	whole := rows[0].Connections >= c.vus
	b.report.judge(verdict{Bar: "4", What: c.name + ": MiB of the executors (RssAnon)", Want: c.most, Got: rows[0].Executors}, whole)
	b.report.judge(verdict{Bar: "4", What: c.name + ": MiB of all else", Want: 60, Got: rows[0].Rest}, whole)
	return nil
}

// member measures one of a crowd's clients: 0 is ours.
func (b *bench) member(c crowd, i int) (row, error) {
	servers, err := b.crowdServers(c, i == 0)
	defer func() {
		for _, s := range servers {
			_ = s.close()
		}
	}()
	if err != nil {
		return row{}, err
	}
	duration := max(2*b.duration, 10*time.Second) // to connect takes a while
	var client contender
	if i > 0 {
		client = peers{b.tools, b.dir}.of(c.peers[i-1], load{url: servers[0].url(), vus: c.vus, duration: duration, think: time.Second})
	} else if client, err = b.ours("memory", 1, c.flows(servers, duration)...); err != nil {
		return row{}, err
	}
	r := row{Experiment: "memory", Case: c.name, Client: client.name, Note: client.missing}
	if client.missing != "" {
		return r, nil
	}
	client.command.Sample = 200 * time.Millisecond
	o, err := b.play(client, servers[0])
	if err != nil {
		r.Note = err.Error()
		return r, nil
	}
	r.Runs, r.RSS, r.Anon, r.Requests, r.Failed, r.Note = 1, mebi(o.usage.Peak.RSS), mebi(o.usage.Peak.Anon), o.told.Requests, o.told.Failed, o.told.Note
	r.Rate = float64(o.told.Requests) / duration.Seconds()
	if i == 0 {
		r.Executors, r.Rest = mebi(o.usage.Below.Anon), mebi(o.usage.Root.Anon)
	}
	for _, s := range servers {
		t, err := s.tally()
		if err != nil {
			return r, err
		}
		r.Connections += int(t.Most)
	}
	if c.tls { // the test server counts answers
		r.Connections = int(min(o.told.Requests, uint64(c.vus)))
	}
	return r, nil
}

// crowdServers starts a server for each executor of ours, one for a peer.
func (b *bench) crowdServers(c crowd, ours bool) ([]*server, error) {
	parts := c.parts
	if !ours {
		parts = 1
	}
	var servers []*server
	for range parts {
		var s *server
		var err error
		if c.tls {
			s, err = startTLS(b.binary, b.serverCPUs)
		} else {
			config := serverConfig{Kind: "http1"}
			if c.function {
				config.Delay = time.Second // the answer takes it, so that every function is in flight
			}
			s, err = startServer(config, b.serverCPUs)
		}
		if err != nil {
			return servers, err
		}
		servers = append(servers, s)
	}
	return servers, nil
}

// flows is a workflow for each executor, which take turns on one processor: all that one has goes to one server.
func (c crowd) flows(servers []*server, duration time.Duration) []flow {
	more := `think = "1s", `
	if c.function {
		more = `timeout = "30s", `
	}
	if c.tls {
		more += "http = http.client(tls = tls(verify = False)), "
	}
	var flows []flow
	for i, s := range servers {
		vus := c.vus*(i+1)/c.parts - c.vus*i/c.parts
		flows = append(flows, flow{Name: fmt.Sprintf("crowd%d", i), URL: s.url(), VUs: vus, Duration: duration, Function: c.function, More: more})
	}
	return flows
}

func memoryTable(w io.Writer, c crowd, rows []row) {
	_, _ = fmt.Fprintf(w, "\n %s, one a second each; %d executors; memory at its highest\n", c.name, c.parts)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "  \tanon MiB\tof it executors\tRSS MiB\tKiB a user\tconnections\trequests/s\tfailed\t")
	for _, r := range rows {
		if r.Runs > 0 {
			_, _ = fmt.Fprintf(t, "  %s\t%.1f\t%.1f\t%.1f\t%.2f\t%d\t%.0f\t%d\t\n", r.Client, r.Anon, r.Executors, r.RSS, 1024*r.Anon/float64(c.vus), r.Connections, r.Rate, r.Failed)
		}
	}
	_ = t.Flush() // what cannot be printed is in the file
	notes(w, rows)
}
