package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

const (
	smtpConnections = 64
	smtpSize        = 1 << 10
)

// postfix returns a test program of Postfix. Where the machine has none it unpacks Debian's package.
func (b *bench) postfix(name string) (tool, error) {
	if path := lookup(name, "/usr/sbin/"+name); path != "" {
		return tool{Path: path}, nil
	}
	dir := filepath.Join(b.cache, "postfix")
	at := filepath.Join(dir, "usr/sbin", name)
	if _, err := os.Stat(at); err != nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return tool{}, err
		}
		if err := unpack(dir, "postfix"); err != nil {
			return tool{}, fmt.Errorf("%s is missing: apt-get install postfix: %w", name, err)
		}
	}
	return tool{Path: at, Env: []string{"LD_LIBRARY_PATH=" + filepath.Join(dir, "usr/lib/postfix")}}, nil
}

// startSink starts smtp-sink, which counts messages.
func (b *bench) startSink(args ...string) (*server, error) {
	t, err := b.postfix("smtp-sink")
	if err != nil {
		return nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{Address: free.Addr().String()}
	if err := free.Close(); err != nil {
		return nil, err
	}
	args = append([]string{"-c", "-m", "20000"}, args...)
	if os.Getuid() == 0 {
		args = append(args, "-u", "nobody") // it refuses to be root
	}
	s.cmd = exec.Command(t.Path, append(args, s.Address, "4096")...)
	s.cmd.Env = append(os.Environ(), t.Env...)
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(s.cmd, b.serverCPUs); err != nil {
		return nil, err
	}
	var messages atomic.Uint64
	go sinkCounts(out, &messages)
	s.count = func() (uint64, error) {
		time.Sleep(100 * time.Millisecond) // what it prints is on its way
		return messages.Load(), nil
	}
	for range 100 {
		if c, err := net.Dial("tcp", s.Address); err == nil {
			return s, c.Close()
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.Join(errors.New("smtp-sink does not listen"), s.close())
}

// sinkCounts follows the counters that smtp-sink prints again and again: sess=1 quit=1 mesg=3, and a return.
func sinkCounts(out io.Reader, messages *atomic.Uint64) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\r')
		if err != nil {
			return
		}
		if _, last, ok := strings.Cut(line, "mesg="); ok {
			if n, err := strconv.ParseUint(strings.TrimSpace(last), 10, 64); err == nil {
				messages.Store(n)
			}
		}
	}
}

// smtpSource makes a contender of smtp-source, which takes a number of messages and no time.
func (b *bench) smtpSource(s *server) contender {
	c := contender{name: "smtp-source"}
	t, err := b.postfix("smtp-source")
	if err != nil {
		c.missing = err.Error()
		return c
	}
	n := 8_000 * uint64(b.duration.Seconds()) // of one core that shares a machine
	c.command = command{Limit: 8*b.duration + time.Minute, Env: t.Env, Args: []string{
		t.Path, "-d", "-s", strconv.Itoa(smtpConnections), "-m", strconv.FormatUint(n, 10), "-l", strconv.Itoa(smtpSize), "-f", "a@x.test", "-t", "b@y.test", s.Address,
	}}
	c.read = func([]byte) (told, error) { return told{Requests: n}, nil }
	return c
}

// smtpStep sends one message of a KiB.
const smtpStep = `smtp.send(smtp.client("smtp://ADDRESS", per_connection = 1000000), sender = "a@x.test", to = "b@y.test", subject = "test", body = ("x" * 63 + "\n") * 16)`

// smtp compares messages of 1 KiB on 64 connections that stay, with PIPELINING and without.
func (b *bench) smtp() error {
	for _, args := range [][]string{nil, {"-p"}} {
		if err := b.smtpOf(args); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) smtpOf(args []string) error {
	s, err := b.startSink(args...)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	step := fmt.Sprintf("step(\"put\", %s)", strings.ReplaceAll(smtpStep, "ADDRESS", s.Address))
	us, err := b.ours("smtp", 1, flow{Name: "smtp", Step: step, VUs: smtpConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	scene := fmt.Sprintf("%d connections, with PIPELINING", smtpConnections)
	if len(args) > 0 {
		scene = fmt.Sprintf("%d connections, without PIPELINING", smtpConnections)
	}
	rows := b.cost("smtp", scene, s, []contender{us, b.smtpSource(s)})
	b.bars("1.0", rows, rival{"smtp-source", 1})
	return nil
}

func (b *bench) takesSMTP() time.Duration { return b.turns(4*b.rounds, b.duration) }
