package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// contender is one client of one experiment, ready to run.
type contender struct {
	name    string
	command command
	file    string                 // where it writes what it tells; empty: standard output
	after   func() ([]byte, error) // makes what it tells of what it wrote, unmeasured
	read    parser
	missing string // why it cannot run
}

// load is what a contender is asked to send.
type load struct {
	url      string
	vus      int
	duration time.Duration
	rate     int           // starts a second; 0: as fast as they end
	vusMax   int           // of k6's open model
	think    time.Duration // k6 and wrk
	check    bool          // k6: one check of each answer
	streams  int           // of each connection: HTTP/2
}

func (l load) limit() time.Duration { return 2*l.duration + time.Minute }

// peers makes contenders of what is on this machine.
type peers struct {
	tools map[string]tool
	dir   string
}

func (p peers) of(name string, l load) contender {
	t := p.tools[name]
	c := contender{name: name, missing: t.Missing}
	if t.Path == "" {
		return c
	}
	c.missing = ""
	c.command = command{Env: t.Env, Limit: l.limit()}
	vus, d := strconv.Itoa(l.vus), fmt.Sprintf("%ds", int(l.duration.Round(time.Second).Seconds()))
	each := strconv.Itoa(l.rate / max(1, l.vus)) // of one connection
	switch name {
	case "wrk":
		c.read, c.command.Args = readWrk, []string{t.Path, "-t1", "-c" + vus, "-d" + d, "--latency"}
		if l.think > 0 {
			script := filepath.Join(p.dir, "think.lua")
			text := fmt.Sprintf("function delay() return %d end\n", l.think.Milliseconds())
			if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
				c.missing = err.Error()
			}
			c.command.Args = append(c.command.Args, "-s", script)
		}
	case "bombardier":
		c.read, c.command.Args = readBombardier, []string{t.Path, "-c", vus, "-d", d, "-l", "-o", "json", "-p", "r"}
		if l.rate > 0 {
			c.command.Args = append(c.command.Args, "-r", strconv.Itoa(l.rate))
		}
	case "hey":
		c.read, c.command.Args = readHey, []string{t.Path, "-c", vus, "-z", d}
		if l.rate > 0 {
			c.command.Args = append(c.command.Args, "-q", each)
		}
	case "oha":
		c.read, c.command.Args = readOha, []string{t.Path, "--no-tui", "--output-format", "json", "-c", vus, "-z", d}
		if l.rate > 0 {
			c.command.Args = append(c.command.Args, "-q", strconv.Itoa(l.rate))
		}
	case "h2load":
		c.read, c.command.Args = readH2load, []string{t.Path, "-t1", "-c", vus, "-m", strconv.Itoa(l.streams), "-D", strconv.Itoa(int(l.duration.Seconds()))}
	case "k6":
		p.k6(&c, t, l)
		return c
	case "vegeta":
		p.vegeta(&c, t, l)
		return c
	}
	c.command.Args = append(c.command.Args, l.url)
	return c
}

// k6 writes a script that does what ours does.
func (p peers) k6(c *contender, t tool, l load) {
	options := fmt.Sprintf("vus: %d, duration: %q", l.vus, l.duration)
	if l.rate > 0 {
		options = fmt.Sprintf("scenarios: { open: { executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: %q, preAllocatedVUs: %d, maxVUs: %d } }",
			l.rate, l.duration, l.vus, max(l.vus, l.vusMax))
	}
	pass := fmt.Sprintf("http.get(%q);", l.url)
	if l.check {
		pass = fmt.Sprintf("const r = http.get(%q); check(r, { 'is ok': (r) => r.status === 200 });", l.url)
	}
	if l.think > 0 {
		pass += fmt.Sprintf(" sleep(%g);", l.think.Seconds())
	}
	text := fmt.Sprintf("import http from 'k6/http';\nimport { check, sleep } from 'k6';\nexport const options = { discardResponseBodies: true, %s };\nexport default function () { %s }\n", options, pass)
	script := filepath.Join(p.dir, "k6.js")
	if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
		c.missing = err.Error()
	}
	c.file, c.read = filepath.Join(p.dir, "k6.json"), readK6
	c.command.Env = []string{"K6_NO_USAGE_REPORT=true"}
	c.command.Args = []string{t.Path, "run", "--quiet", "--no-color", "--address", "", "--summary-trend-stats", "avg,min,med,p(90),p(95),p(99),p(99.9),max",
		"--summary-export", c.file, script}
}

// vegeta's results go to a file; its report is made when nothing is measured.
func (p peers) vegeta(c *contender, t tool, l load) {
	targets, results := filepath.Join(p.dir, "vegeta.targets"), filepath.Join(p.dir, "vegeta.bin")
	if err := os.WriteFile(targets, []byte("GET "+l.url+"\n"), 0o644); err != nil {
		c.missing = err.Error()
	}
	c.read = readVegeta
	c.command.Args = []string{t.Path, "attack", "-targets", targets, "-output", results, "-duration", l.duration.String()}
	if l.rate > 0 {
		c.command.Args = append(c.command.Args, "-rate", fmt.Sprintf("%d/1s", l.rate))
	} else {
		vus := strconv.Itoa(l.vus)
		c.command.Args = append(c.command.Args, "-rate", "0", "-workers", vus, "-max-workers", vus, "-connections", vus)
	}
	if l.streams > 0 {
		c.command.Args = append(c.command.Args, "-h2c")
	}
	c.after = func() ([]byte, error) { return exec.Command(t.Path, "report", "-type", "json", results).Output() }
}

// outcome is what one run of a contender came to.
type outcome struct {
	usage  usage
	told   told
	served uint64 // by the server's count, if it counts
	server tally
}

// requests returns how many were answered: the server knows best.
func (o outcome) requests() uint64 {
	if o.served > 0 {
		return o.served
	}
	return o.told.Requests
}

// perCPU is requests a CPU second.
func (o outcome) perCPU() float64 { return float64(o.requests()) / o.usage.CPU.Seconds() }

// play runs a contender once against a server.
func (b *bench) play(c contender, s *server) (outcome, error) {
	var o outcome
	before, err := s.tally()
	if err != nil {
		return o, fmt.Errorf("ask the server: %w", err)
	}
	c.command.Out = filepath.Join(b.dir, c.name+".out")
	if len(c.command.CPUs) == 0 {
		c.command.CPUs = b.clientCPUs
	}
	if c.file != "" {
		_ = os.Remove(c.file) // what an earlier run told is not this one's
	}
	began := time.Now()
	o.usage, err = measure(c.command)
	b.played(time.Since(began))
	if err != nil {
		return o, err
	}
	if o.server, err = s.tally(); err != nil {
		return o, fmt.Errorf("ask the server: %w", err)
	}
	o.served = o.server.Requests - before.Requests
	var text []byte
	switch {
	case c.after != nil:
		text, err = c.after()
	case c.file != "":
		text, err = os.ReadFile(c.file)
	default:
		text, err = os.ReadFile(c.command.Out)
	}
	if err == nil {
		o.told, err = c.read(text)
	}
	if err != nil {
		said, _ := os.ReadFile(c.command.Out + ".err") // without it the error is shorter
		return o, errors.New(strings.TrimSuffix(fmt.Sprintf("it ended with %d: %v: %s", o.usage.Exit, err, lastLine(said)), ": "))
	}
	return o, nil
}
