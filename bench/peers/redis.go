package main

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// startRedis starts redis-server without data.
func startRedis(dir string, cpus []int, more ...string) (*server, error) {
	path := lookup("redis-server")
	if path == "" {
		return nil, errors.New("redis-server is missing: apt-get install redis-server redis-tools")
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(path, append([]string{"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no"}, more...)...), Address: address}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) { return redisCalls(address) }
	for range 100 {
		if _, err = s.count(); err == nil {
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("redis-server does not answer at %s: %w", address, err), s.close())
}

// redisCalls asks how many GETs a server has called.
func redisCalls(address string) (uint64, error) {
	c, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	if _, err := io.WriteString(c, "INFO commandstats\r\n"); err != nil {
		return 0, err
	}
	r := bufio.NewReader(c)
	head, err := r.ReadString('\n')
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(head, "$")))
	if err != nil {
		return 0, fmt.Errorf("the server answered %q", head)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return 0, err
	}
	_, figures, found := strings.Cut(string(text), "cmdstat_get:calls=")
	if !found {
		return 0, nil
	}
	calls, _, _ := strings.Cut(figures, ",")
	return strconv.ParseUint(calls, 10, 64)
}

// redisBenchmark makes a contender of redis-benchmark, which takes a number of requests and no time.
func (b *bench) redisBenchmark(s *server, vus, depth int) contender {
	c := contender{name: "redis-benchmark"}
	path := lookup("redis-benchmark")
	if path == "" {
		c.missing = "redis-benchmark is missing: apt-get install redis-tools"
		return c
	}
	each := 30_000 // a second, of one core that shares a machine
	if depth > 1 {
		each = 300_000
	}
	n := uint64(each) * uint64(b.duration.Seconds())
	host, port, _ := net.SplitHostPort(s.Address)
	c.command = command{Limit: 4*b.duration + time.Minute, Args: []string{
		path, "-h", host, "-p", port, "-t", "get", "-c", strconv.Itoa(vus), "-P", strconv.Itoa(depth), "-n", strconv.FormatUint(n, 10), "--csv",
	}}
	c.read = func(out []byte) (told, error) { return readRedisBenchmark(out, n) }
	return c
}

// readRedisBenchmark reads the CSV of one test with so many requests.
func readRedisBenchmark(out []byte, n uint64) (told, error) {
	rows, err := csv.NewReader(strings.NewReader(string(out))).ReadAll()
	if err != nil || len(rows) < 2 {
		return told{}, fmt.Errorf("redis-benchmark: %d rows: %w", len(rows), err)
	}
	t := told{Requests: n, Latency: map[string]time.Duration{}}
	names := map[string]string{"avg_latency_ms": "mean", "p50_latency_ms": "p50", "p95_latency_ms": "p95", "p99_latency_ms": "p99", "max_latency_ms": "max"}
	for i, head := range rows[0] {
		if name := names[head]; name != "" && i < len(rows[1]) {
			ms, err := strconv.ParseFloat(rows[1][i], 64)
			if err != nil {
				return told{}, fmt.Errorf("redis-benchmark: %w", err)
			}
			t.Latency[name] = seconds(ms / 1000)
		}
	}
	return t, nil
}

const redisConnections = 64

// redis compares GETs on 64 connections, one at a time and in pipelines of 16.
func (b *bench) redis() error {
	s, err := startRedis(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	for _, depth := range []int{1, 16} {
		get := `"GET", "key:__rand_int__"`
		step := fmt.Sprintf("step(\"get\", redis.command(\"redis://%s\", %s))", s.Address, get)
		if depth > 1 {
			step = fmt.Sprintf("step(\"get\", redis.pipeline(\"redis://%s\", [[%s]] * %d))", s.Address, get, depth)
		}
		us, err := b.ours("redis", 1, flow{Name: "redis", Step: step, VUs: redisConnections, Duration: b.duration})
		if err != nil {
			return err
		}
		read := us.read
		us.read = func(out []byte) (told, error) {
			t, err := read(out)
			t.Requests *= uint64(depth) // the server counts commands
			return t, err
		}
		rows := b.cost("redis", fmt.Sprintf("%d connections, pipelines of %d", redisConnections, depth), s, []contender{us, b.redisBenchmark(s, redisConnections, depth)})
		b.bars(map[int]string{1: "1.0", 16: "1.3"}[depth], rows, rival{"redis-benchmark", map[int]float64{1: 1, 16: 1 / 1.3}[depth]})
	}
	return nil
}

func (b *bench) takesRedis() time.Duration { return b.turns(4*b.rounds, b.duration) }
