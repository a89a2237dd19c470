package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"hyperscale/runtime/epoll"
)

// startNATS starts nats-server without streams.
func startNATS(dir string, cpus []int, more ...string) (*server, error) {
	path := lookup("nats-server")
	if path == "" {
		return nil, errors.New("nats-server is missing: apt-get install nats-server")
	}
	var ports [2]string
	for i := range ports {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		ports[i] = free.Addr().String()
		if err := free.Close(); err != nil {
			return nil, err
		}
	}
	config := filepath.Join(dir, "nats.conf")
	if err := os.WriteFile(config, fmt.Appendf(nil, "listen: %s\nhttp: %s\n%s\n", ports[0], ports[1], strings.Join(more, "\n")), 0o600); err != nil {
		return nil, err
	}
	s := &server{cmd: exec.Command(path, "-c", config), Address: ports[0]}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) { return natsMessages(ports[1]) }
	var err error
	for range 200 {
		if _, err = s.count(); err == nil {
			return s, nil
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("nats-server does not answer at %s: %w", ports[1], err), s.close())
}

// natsMessages asks how many messages a server has taken.
func natsMessages(address string) (uint64, error) {
	r, err := http.Get("http://" + address + "/varz")
	if err != nil {
		return 0, err
	}
	defer func() { _ = r.Body.Close() }()
	var v struct {
		In uint64 `json:"in_msgs"`
	}
	return v.In, json.NewDecoder(r.Body).Decode(&v)
}

// natsLoop publishes and flushes over nats.go, a goroutine for each connection, or several that share it.
func natsLoop(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	data := []byte(strings.Repeat("x", c.Size))
	for range c.Connections {
		all.Go(func() {
			conn, err := nats.Connect("nats://" + c.Address)
			if err != nil {
				failed.Add(1)
				return
			}
			defer conn.Close()
			var users sync.WaitGroup
			for range max(1, c.Streams) {
				users.Go(func() {
					n, err := natsFlushes(conn, data, until)
					if done.Add(n); err != nil {
						failed.Add(1)
					}
				})
			}
			users.Wait()
		})
	}
	all.Wait()
	return done.Load(), failed.Load(), nil
}

func natsFlushes(conn *nats.Conn, data []byte, until time.Time) (n uint64, err error) {
	for ; n%64 != 0 || time.Now().Before(until); n++ {
		if err = conn.Publish("orders.new", data); err == nil {
			err = conn.Flush()
		}
		if err != nil {
			break
		}
	}
	return n, err
}

// natsGreeted connects; each request is a publication and a PING.
func natsGreeted(c net.Conn, size int) ([]byte, error) {
	in := bufio.NewReader(c)
	if _, err := in.ReadString('\n'); err != nil {
		return nil, err
	}
	if _, err := c.Write([]byte("CONNECT {\"verbose\":false}\r\nPING\r\n")); err != nil {
		return nil, err
	}
	for line := ""; line != "PONG\r\n"; {
		var err error
		if line, err = in.ReadString('\n'); err != nil {
			return nil, err
		}
	}
	return natsFlush(size), nil
}

// natsFlush is a publication, and a PING that confirms it.
func natsFlush(size int) []byte {
	return fmt.Appendf(nil, "PUB orders.new %d\r\n%s\r\nPING\r\n", size, strings.Repeat("x", size))
}

// natsPinged answers the server's own PING, and returns how many bytes are left without it.
func natsPinged(fd int, b []byte, n int) int {
	at := bytes.Index(b[:max(0, n)], []byte("PING\r\n"))
	if at < 0 {
		return n
	}
	_, _ = epoll.Write(fd, []byte("PONG\r\n")) // what fails here fails the next write, too
	return at + copy(b[at:], b[at+len("PING\r\n"):n])
}

const (
	natsConnections = 64
	natsSize        = 128
)

// Connections that users share, and how many users each has.
const (
	sharedConnections = 8
	sharedUsers       = 64
)

// nats compares publications that a PONG confirms, on 64 connections.
func (b *bench) nats() error {
	s, err := startNATS(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	step := fmt.Sprintf("step(\"put\", nats.publish(\"nats://%s\", \"orders.new\", \"x\" * %d, flush = True))", s.Address, natsSize)
	us, err := b.ours("nats", 1, flow{Name: "nats", Step: step, VUs: natsConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	all := []contender{us}
	for _, name := range []string{"nats.go", "epoll-nats"} {
		c, err := loopContender(loopConfig{Name: name, Address: s.Address, Connections: natsConnections, Size: natsSize, Duration: b.duration})
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	rows := b.cost("nats", fmt.Sprintf("%d connections, publish and flush", natsConnections), s, all)
	b.bars("0.6", rows, rival{"nats.go", 1 / 0.6})
	b.floorTold(rows, "epoll-nats", rival{"nats.go", 1 / 0.6})
	return b.natsShared(s)
}

// natsShared compares the same, of users that share connections.
func (b *bench) natsShared(s *server) error {
	step := fmt.Sprintf("step(\"put\", nats.publish(nats.client(\"nats://%s\", connections = %d), \"orders.new\", \"x\" * %d, flush = True))", s.Address, sharedConnections, natsSize)
	us, err := b.ours("nats-shared", 1, flow{Name: "nats-shared", Step: step, VUs: sharedConnections * sharedUsers, Duration: b.duration})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "nats.go", Address: s.Address, Connections: sharedConnections, Streams: sharedUsers, Size: natsSize, Duration: b.duration})
	if err != nil {
		return err
	}
	rows := b.cost("nats-shared", fmt.Sprintf("%d connections that %d users share, publish and flush", sharedConnections, sharedConnections*sharedUsers), s, []contender{us, peer})
	b.bars("0.6", rows, rival{"nats.go", 1 / 0.6})
	return nil
}

func (b *bench) takesNATS() time.Duration { return b.turns(5*b.rounds, b.duration) }
