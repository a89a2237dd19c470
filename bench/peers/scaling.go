package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// scaling is bar 10: ours beside itself.
func (b *bench) scaling() error {
	s, err := startServer(serverConfig{Kind: "http1"}, b.serverCPUs)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	var grow []contender
	for _, vus := range []int{64, 500, 2000, 10_000} {
		c, err := b.ours(fmt.Sprintf("scaling-%d", vus), 1, flow{Name: "scaling", URL: s.url(), VUs: vus, Duration: 2 * b.duration}) // 10,000 connections are not opened for nothing
		if err != nil {
			return err
		}
		c.name = fmt.Sprintf("%d VUs", vus)
		grow = append(grow, c)
	}
	rows := b.cost("scaling", "virtual users", s, grow)
	last := rows[len(rows)-1]
	b.report.judge(verdict{Bar: "10", What: "CPU per request, 10,000 VUs over 64", Want: 1.2, Got: last.Ratio}, last.Ratio > 0)
	b.growOfWrk(s)
	if err := b.halves(s); err != nil {
		return err
	}
	return b.greedy(s)
}

// growOfWrk says how much of that is the kernel's: wrk does little else than call it.
func (b *bench) growOfWrk(s *server) {
	if b.tools["wrk"].Path == "" {
		return // that has been told
	}
	var grow []contender
	for _, connections := range []int{64, 10_000} {
		c := peers{b.tools, b.dir}.of("wrk", load{url: s.url(), vus: connections, duration: 2 * b.duration})
		c.name = fmt.Sprintf("wrk, %d", connections)
		grow = append(grow, c)
	}
	if rows := b.cost("scaling", "connections of wrk", s, grow); rows[1].Ratio > 0 {
		b.report.remark(b.out, fmt.Sprintf("of wrk's, 10,000 connections cost %.2f times what 64 do", rows[1].Ratio))
	}
}

// halves sends the same load from one executor and from two.
func (b *bench) halves(s *server) error {
	const vus = 1000
	think := "50ms" // 20,000 a second in all
	var both []contender
	for _, cores := range []int{1, 2} {
		c, err := b.ours(fmt.Sprintf("halves-%d", cores), cores, flow{Name: "halves", URL: s.url(), VUs: vus, Duration: b.duration, More: fmt.Sprintf("think = %q, ", think)})
		if err != nil {
			return err
		}
		c.name = []string{"", "one executor", "two executors"}[cores]
		c.command.CPUs = slices.Clone(b.clientCPUs)
		if cpus, err := usable(); err == nil && len(cpus) > 2 {
			c.command.CPUs = append(c.command.CPUs, cpus[2])
		}
		both = append(both, c)
	}
	rows := b.cost("scaling", "1,000 users, a request each 50 ms", s, both)
	b.report.judge(verdict{Bar: "10", What: "CPU per request, two executors at half rate over one", Want: 1.1, Got: rows[1].Ratio}, rows[1].Ratio > 0)
	return nil
}

// greedy compares how late the answers of others are when one user's code loops for
// about a second, again and again, with when it does not.
func (b *bench) greedy(s *server) error {
	o := ours{b.binary, b.dir}
	var both []contender
	for _, loops := range []int{0, 10} { // of a million each
		f := flow{Name: "greedy", URL: s.url(), VUs: 64, Duration: max(b.duration, 5*time.Second), Function: true, More: `think = "10ms", `}
		name := fmt.Sprintf("greedy-%d", loops)
		path, err := o.write(name, f)
		if err != nil {
			return err
		}
		text := strings.Replace(f.text(), "(vu):\n", fmt.Sprintf("(vu):\n    if vu.id == 1:\n        for _ in range(%d):\n            for _ in range(1000000):\n                pass\n", loops), 1)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
		c := o.contender(path, 1, 2*f.Duration+time.Minute)
		c.name = "nobody loops"
		if loops > 0 {
			c.name = "one user loops"
		}
		if why := o.refuses(path); why != "" {
			c.missing = "not yet: " + why
		}
		both = append(both, c)
	}
	rows := make([]row, len(both))
	for i, outcomes := range b.interleave(s, both, b.rounds) {
		rows[i] = row{Experiment: "scaling", Case: "a user's code loops", Client: both[i].name, Note: both[i].missing, Runs: len(outcomes)}
		for _, o := range outcomes {
			if rows[i].Latency == nil || o.told.latency("max") < rows[i].Latency["max"] {
				rows[i].Latency, rows[i].Requests, rows[i].Failed = o.told.Latency, o.requests(), o.told.Failed
			}
		}
	}
	b.report.rows(rows)
	latencyTable(b.out, "latency in us of 64 users, one of whom loops for a second; the best run", rows)
	worse := rows[1].Latency["max"] - rows[0].Latency["max"]
	b.report.judge(verdict{Bar: "10", What: "a user's loop of a second: ms that others are later at most", Want: 5, Got: milli(worse)}, rows[0].Runs > 0 && rows[1].Runs > 0)
	return nil
}
