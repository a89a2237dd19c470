package main

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// interleave plays all contenders so many rounds, each round from another one on,
// and returns the outcomes of each by its index.
func (b *bench) interleave(s *server, contenders []contender, rounds int) [][]outcome {
	outcomes := make([][]outcome, len(contenders))
	for round := range rounds {
		for i := range contenders {
			at := (i + round) % len(contenders)
			c := &contenders[at]
			if c.missing != "" {
				continue
			}
			o, err := b.play(*c, s)
			if err != nil {
				c.missing = err.Error() // it will not run any better
				continue
			}
			outcomes[at] = append(outcomes[at], o)
		}
	}
	return outcomes
}

// cost compares what requests cost, prints a table and returns the rows. The first
// contender is ours, or stands for it.
func (b *bench) cost(experiment, scene string, s *server, contenders []contender) []row {
	for i := range contenders {
		if contenders[i].missing == "" {
			contenders[i].command.Sample = 500 * time.Millisecond
		}
	}
	rows := make([]row, len(contenders))
	played := b.interleave(s, contenders, b.rounds)
	for i, outcomes := range played {
		rows[i] = costRow(experiment, scene, contenders[i], outcomes)
		rows[i].compare(rows[0], played[0], outcomes)
	}
	b.report.rows(rows)
	costTable(b.out, scene, rows)
	return rows
}

// compare sets the ratio of the best runs, and the median and extremes of those of the rounds.
func (r *row) compare(first row, ours, theirs []outcome) {
	if first.PerCPU == 0 || r.PerCPU == 0 {
		return
	}
	r.Ratio = first.PerCPU / r.PerCPU
	r.RatioLow, r.RatioHigh = r.Ratio, r.Ratio
	var all []float64
	for i := range min(len(ours), len(theirs)) {
		ratio := ours[i].perCPU() / theirs[i].perCPU()
		r.RatioLow, r.RatioHigh = min(r.RatioLow, ratio), max(r.RatioHigh, ratio)
		all = append(all, ratio)
	}
	slices.Sort(all)
	r.RatioMedian = (all[(len(all)-1)/2] + all[len(all)/2]) / 2
}

func costRow(experiment, scene string, c contender, outcomes []outcome) row {
	r := row{Experiment: experiment, Case: scene, Client: c.name, Note: c.missing, Runs: len(outcomes)}
	if len(outcomes) == 0 {
		return r
	}
	r.Low = math.Inf(1)
	for _, o := range outcomes {
		r.Low = min(r.Low, o.perCPU())
		if o.perCPU() > r.PerCPU {
			r.PerCPU, r.Rate, r.Requests, r.Failed = o.perCPU(), float64(o.requests())/o.usage.Wall.Seconds(), o.requests(), o.told.Failed
		}
		r.RSS, r.Anon = max(r.RSS, mebi(o.usage.Peak.RSS)), max(r.Anon, mebi(o.usage.Peak.Anon))
		if claim, served := float64(o.told.Requests), float64(o.served); served > 0 && math.Abs(claim-served) > 0.02*served {
			r.Note = fmt.Sprintf("tells %.0f answers, the server gave %.0f", claim, served)
		}
	}
	r.Micros = 1e6 / r.PerCPU
	r.Spread = (r.PerCPU - r.Low) / r.PerCPU
	return r
}

// rival is a client and how many times its figure ours must be.
type rival struct {
	name  string
	least float64
}

// bars compares ratios with what they must be. Who is missing was not beaten.
func (b *bench) bars(bar string, rows []row, rivals ...rival) {
	for _, rival := range rivals {
		v := verdict{Bar: bar, What: fmt.Sprintf("%s, %s: requests per CPU second over %s's", rows[0].Experiment, rows[0].Case, rival.name), Want: rival.least, Least: true}
		for _, r := range rows[1:] {
			if r.Client == rival.name {
				v.Got = r.Ratio
			}
		}
		b.report.judge(v, v.Got > 0)
	}
}

// plaintext is bar 1: against a server that costs next to nothing, and against nginx.
func (b *bench) plaintext() error {
	fast, err := startServer(serverConfig{Kind: "http1"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = fast.close() }()
	if err := b.plaintextOf(fast, "", "wrk", "bombardier", "oha", "hey", "vegeta", "k6"); err != nil {
		return err
	}
	nginx, err := startNginx(b.dir, b.serverCPUs, "")
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = nginx.close() }()
	return b.plaintextOf(nginx, ", nginx", "wrk")
}

// plaintextOf compares ours with its peers at one server.
func (b *bench) plaintextOf(s *server, of string, names ...string) error {
	for _, vus := range []int{64, 500} {
		l := load{url: s.url(), vus: vus, duration: b.duration}
		us, err := b.ours("plaintext", 1, flow{Name: "plaintext", URL: s.url(), VUs: vus, Duration: b.duration})
		if err != nil {
			return err
		}
		rows := b.cost("plaintext", fmt.Sprintf("%d connections%s", vus, of), s, b.beside(us, l, names...))
		if of != "" {
			b.bars("1", rows, rival{"wrk", 1.15})
			continue
		}
		b.bars("1", rows, rival{"wrk", 1.1}, rival{"bombardier", 1.5}, rival{"vegeta", 6}, rival{"k6", 12})
	}
	return nil
}

// ours makes a contender of workflows, or one that says what is not understood.
func (b *bench) ours(name string, cores int, flows ...flow) (contender, error) {
	o := ours{b.binary, b.dir}
	path, err := o.write(name, flows...)
	if err != nil {
		return contender{}, err
	}
	c := o.contender(path, cores, 2*flows[0].Duration+time.Minute)
	if why := o.refuses(path); why != "" {
		c.missing = "not yet: " + why
	}
	return c, nil
}

// beside puts ours before its peers.
func (b *bench) beside(us contender, l load, names ...string) []contender {
	all := []contender{us}
	for _, name := range names {
		if b.tools[name].Path != "" { // what is missing has been told
			all = append(all, peers{b.tools, b.dir}.of(name, l))
		}
	}
	return all
}

// function is bar 2: the same request, and a check, written as functions.
func (b *bench) function() error {
	s, err := startServer(serverConfig{Kind: "http1"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	for _, vus := range []int{64, 500} {
		l := load{url: s.url(), vus: vus, duration: b.duration, check: true}
		us, err := b.ours("function", 1, flow{Name: "function", URL: s.url(), VUs: vus, Duration: b.duration, Function: true})
		if err != nil {
			return err
		}
		rows := b.cost("function", fmt.Sprintf("%d connections", vus), s, b.beside(us, l, "wrk", "k6"))
		b.bars("2", rows, rival{"wrk", 0.85}, rival{"k6", 10})
	}
	return nil
}

// http2 is bar 3. What others call clients and streams is a pool of connections of
// ours, shared by as many virtual users as there are streams.
func (b *bench) http2() error {
	nginx, err := startNginx(b.dir, b.serverCPUs, " http2")
	if err != nil {
		b.report.remark(b.out, err.Error())
	} else {
		defer func() { _ = nginx.close() }()
	}
	batch, err := startServer(serverConfig{Kind: "http2"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = batch.close() }()
	for _, shape := range []struct {
		vus, streams int
		least        float64
	}{{8, 16, 1.4}, {64, 1, 1.1}} {
		for _, s := range []*server{batch, nginx} {
			if s == nil {
				continue
			}
			name := "batching server"
			if s == nginx {
				name = "nginx"
			}
			l := load{url: s.url(), vus: shape.vus, duration: b.duration, streams: shape.streams}
			more := "http = http.client(version = \"2\"), "
			if shape.streams > 1 {
				more += fmt.Sprintf("connections = %d, ", shape.vus)
			}
			us, err := b.ours("http2", 1, flow{Name: "http2", URL: s.url(), VUs: shape.vus * shape.streams, Duration: b.duration, More: more})
			if err != nil {
				return err
			}
			rows := b.cost("http2", fmt.Sprintf("%d connections of %d streams, %s", shape.vus, shape.streams, name), s, b.beside(us, l, "h2load", "vegeta"))
			if s == batch {
				b.bars("3", rows, rival{"h2load", shape.least})
			}
		}
	}
	return nil
}
