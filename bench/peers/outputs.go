package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"text/tabwriter"
	"time"
)

const (
	outputsRate  = 2000
	outputsDelay = 20 * time.Millisecond // of the server, so that a percent of p99 is more than noise
	outputsMost  = 64                    // MiB
	outputsBack  = 60 * time.Second      // until all rows are there, behind the load's end
)

// place is a sink of rows that fails in one way.
type place struct {
	name  string
	slow  time.Duration // before each answer; forever: it never answers
	away  bool          // it takes no connection
	comes bool          // it takes none in the first half of the load
}

const forever = time.Hour

var placesOfRows = []place{{name: "no output"}, {name: "a sink that answers"}, {name: "dead", away: true}, {name: "hung", slow: forever}, {name: "1 s an answer", slow: time.Second}, {name: "dead, then back", comes: true}}

// taken are the rows that a sink has acknowledged.
type taken struct{ posts atomic.Int64 }

func (p *place) serve(l net.Listener, n *taken) *http.Server {
	s := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // a body that is cut is not acknowledged either
		select {
		case <-time.After(p.slow):
			n.posts.Add(1)
		case <-r.Context().Done():
		}
	})}
	go func() { _ = s.Serve(l) }() // it ends with Close
	return s
}

// outputs runs a fixed rate with a sink that fails, beside runs without one, in turn: rate, p99 and memory may not move.
func (b *bench) outputs() error {
	s, err := startServer(serverConfig{Kind: "http1", Delay: outputsDelay}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	rows := make([]row, len(placesOfRows))
	p99 := make([][]float64, len(placesOfRows))
	for range b.rounds {
		for i := range placesOfRows {
			if err := b.outputsOf(&placesOfRows[i], s, &rows[i], &p99[i]); err != nil {
				return err
			}
		}
	}
	b.report.rows(rows)
	b.outputsTable(rows, p99)
	for i := 1; i < len(rows); i++ {
		r, measured := &rows[i], rows[i].Note == "" && len(p99[i]) > 0 && len(p99[0]) > 0
		if !measured {
			b.report.judge(verdict{Bar: "4", What: "outputs, " + r.Case + ": p99 over that without an output", Want: 1.01}, false)
			continue
		}
		b.report.judge(verdict{Bar: "4", What: "outputs, " + r.Case + ": requests over those without an output", Want: 0.99, Got: float64(r.Requests) / float64(rows[0].Requests), Least: true}, true)
		b.report.judge(verdict{Bar: "4", What: "outputs, " + r.Case + ": p99 over that without an output", Want: 1.01, Got: middle(p99[i]) / middle(p99[0])}, true)
		b.report.judge(verdict{Bar: "4", What: "outputs, " + r.Case + ": MiB of the command above those without an output", Want: outputsMost, Got: r.Rest - rows[0].Rest}, true)
	}
	return nil
}

// outputsOf plays one run.
func (b *bench) outputsOf(p *place, s *server, r *row, p99 *[]float64) error {
	r.Experiment, r.Case, r.Client = "outputs", p.name, "hyperscale"
	c, err := b.ours("outputs", 1, flow{Name: "outputs", URL: s.url(), VUs: 200, Duration: b.duration, More: fmt.Sprintf("rate = \"%d/s\", ", outputsRate)})
	if err != nil {
		return err
	}
	if r.Note = c.missing; r.Note != "" {
		return nil
	}
	var n taken
	if p != &placesOfRows[0] {
		end, address, err := p.open(&n, b.duration/2)
		if err != nil {
			return err
		}
		defer end()
		wait := outputsBack
		if p.away || p.slow == forever {
			wait = 2 * time.Second
		}
		c.command.Args = append(c.command.Args, "--out", "webhook=http://"+address+"/,window=1s,required=false", "--out-wait", wait.String())
	}
	c.command.Sample, c.command.Limit = 100*time.Millisecond, b.duration+2*outputsBack
	o, err := b.play(c, s)
	if err != nil {
		r.Note = err.Error()
		return nil
	}
	r.Runs, r.Requests, r.Failed, r.Rest = r.Runs+1, r.Requests+o.told.Requests, r.Failed+o.told.Failed, max(r.Rest, mebi(o.usage.Root.Anon))
	*p99 = append(*p99, milli(o.told.Latency["p99"]))
	if arrives := p.away || p.slow == forever; p != &placesOfRows[0] && (n.posts.Load() == 0) != arrives || !p.away && p.slow != forever && o.usage.Exit != 0 {
		r.Note = fmt.Sprintf("it ended with %d, and the sink has acknowledged %d batches", o.usage.Exit, n.posts.Load())
	}
	return nil
}

// open starts a sink at a free port, now or behind a while.
func (p *place) open(n *taken, half time.Duration) (end func(), address string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	address = l.Addr().String()
	if !p.away && !p.comes {
		server := p.serve(l, n)
		return func() { _ = server.Close() }, address, nil
	}
	if err := l.Close(); err != nil || p.away {
		return func() {}, address, err
	}
	begun := make(chan *http.Server, 1)
	comes := time.AfterFunc(half, func() {
		if l, err := net.Listen("tcp", address); err == nil {
			begun <- p.serve(l, n)
		}
	})
	return func() {
		comes.Stop()
		select {
		case server := <-begun:
			_ = server.Close()
		default:
		}
	}, address, nil
}

// middle is the median.
func middle(all []float64) float64 {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}

func (b *bench) outputsTable(rows []row, p99 [][]float64) {
	_, _ = fmt.Fprintf(b.out, "\n %d requests a second of a server that takes %v; all rounds\n", outputsRate, outputsDelay)
	t := tabwriter.NewWriter(b.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, _ = fmt.Fprintln(t, "  sink\trequests\tfailed\tp99 ms, median\tby round\tcommand, anon MiB\t")
	for i := range rows {
		if len(p99[i]) == 0 {
			_, _ = fmt.Fprintf(t, "  %s\t%s\t\n", rows[i].Case, rows[i].Note)
			continue
		}
		var each []string
		for _, one := range p99[i] {
			each = append(each, fmt.Sprintf("%.2f", one))
		}
		_, _ = fmt.Fprintf(t, "  %s\t%d\t%d\t%.2f\t%s\t%.1f\t%s\n", rows[i].Case, rows[i].Requests, rows[i].Failed, middle(p99[i]), strings.Join(each, " "), rows[i].Rest, rows[i].Note)
	}
	_ = t.Flush()
}

func (b *bench) takesOutputs() time.Duration {
	return time.Duration(b.rounds*len(placesOfRows)) * (b.duration + 2*time.Second)
}
