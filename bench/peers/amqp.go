package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"
)

// amqpQueue is where the messages of both go. Its length counts them: nothing takes any.
const amqpQueue = "bench"

// rabbitProgram is what Debian's command runs as a user of its own.
const rabbitProgram = "/usr/lib/rabbitmq/bin/rabbitmq-server"

// startRabbitMQ starts a RabbitMQ, and the directory of nodes that it needs.
func startRabbitMQ(dir string, cpus []int) (*server, error) {
	if lookup("rabbitmq-server") == "" || lookup("epmd") == "" {
		return nil, errors.New("rabbitmq-server is missing: apt-get install rabbitmq-server")
	}
	var ports [3]int
	for i := range ports {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		ports[i] = free.Addr().(*net.TCPAddr).Port
		if err := free.Close(); err != nil {
			return nil, err
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	config := fmt.Sprintf("listeners.tcp.1 = 127.0.0.1:%d\n", ports[0])
	for name, text := range map[string]string{"rabbit.conf": config, "plugins": "[].\n"} {
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	nodes := exec.Command(lookup("epmd"), "-port", strconv.Itoa(ports[1]), "-address", "127.0.0.1")
	nodes.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := nodes.Start(); err != nil {
		return nil, err
	}
	go func() { _ = nodes.Wait() }() // it is killed
	s := &server{cmd: exec.Command(rabbitProgram), Address: fmt.Sprintf("127.0.0.1:%d", ports[0])}
	s.cmd.Env = append(os.Environ(), "HOME="+dir, "RABBITMQ_NODENAME=bench"+strconv.Itoa(ports[0])+"@localhost", "RABBITMQ_MNESIA_BASE="+at("mnesia"), "RABBITMQ_LOG_BASE="+at("logs"), "RABBITMQ_NODE_PORT="+strconv.Itoa(ports[0]),
		"RABBITMQ_DIST_PORT="+strconv.Itoa(ports[2]), "RABBITMQ_CONFIG_FILE="+at("rabbit.conf"), "RABBITMQ_PID_FILE="+at("pid"), "RABBITMQ_ENABLED_PLUGINS_FILE="+at("plugins"), "RABBITMQ_CONF_ENV_FILE=/dev/null", "ERL_EPMD_PORT="+strconv.Itoa(ports[1]))
	s.cmd.Dir = dir // it writes its dumps there
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	s.count = func() (uint64, error) { return amqpMessages(s.Address) }
	var err error
	for range 600 {
		if _, err = s.count(); err == nil {
			return s, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, errors.Join(fmt.Errorf("rabbitmq-server does not answer at %s: %w", s.Address, err), s.close())
}

// amqpMessages returns the length of the queue, which it declares.
func amqpMessages(address string) (uint64, error) { return queueLength(address, amqpQueue, false) }

// queueLength declares a queue, and returns how many messages it has.
func queueLength(address, name string, durable bool) (uint64, error) {
	c, err := amqp.Dial("amqp://" + address)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	ch, err := c.Channel()
	if err != nil {
		return 0, err
	}
	q, err := ch.QueueDeclare(name, durable, false, false, false, nil)
	return uint64(q.Messages), err
}

// amqpLoop publishes and waits for confirms over amqp091-go, a goroutine for each connection, or several with a
// channel each.
func amqpLoop(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	body := []byte(strings.Repeat("x", c.Size))
	for range c.Connections {
		all.Go(func() {
			conn, err := amqp.Dial("amqp://" + c.Address)
			if err != nil {
				failed.Add(1)
				return
			}
			defer func() { _ = conn.Close() }()
			var users sync.WaitGroup
			for range max(1, c.Streams) {
				users.Go(func() {
					n, err := amqpConfirms(conn, body, until)
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

func amqpConfirms(c *amqp.Connection, body []byte, until time.Time) (n uint64, err error) {
	ch, err := c.Channel()
	if err != nil {
		return 0, err
	}
	if err := ch.Confirm(false); err != nil {
		return 0, err
	}
	ctx := context.Background()
	for ; n%64 != 0 || time.Now().Before(until); n++ {
		confirm, err := ch.PublishWithDeferredConfirmWithContext(ctx, "", amqpQueue, false, false, amqp.Publishing{Body: body})
		if err != nil {
			return n, err
		}
		if !confirm.Wait() {
			return n, errors.New("not confirmed")
		}
	}
	return n, nil
}

const (
	amqpConnections = 64
	amqpSize        = 128
)

// amqp compares publications that RabbitMQ confirms, on 64 connections.
func (b *bench) amqp() error {
	s, err := startRabbitMQ(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() {
		_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) // the server is a child of a shell
		_ = s.close()
	}()
	step := fmt.Sprintf("step(\"put\", amqp.publish(\"amqp://%s\", key = %q, body = \"x\" * %d, confirm = True))", s.Address, amqpQueue, amqpSize)
	us, err := b.ours("amqp", 1, flow{Name: "amqp", Step: step, VUs: amqpConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "amqp091-go", Address: s.Address, Connections: amqpConnections, Size: amqpSize, Duration: b.duration})
	if err != nil {
		return err
	}
	all, err := b.floor([]contender{us, peer}, loopConfig{Name: "epoll-amqp", Address: s.Address, Connections: amqpConnections, Size: amqpSize})
	if err != nil {
		return err
	}
	rows := b.cost("amqp", fmt.Sprintf("%d connections, publish and confirm", amqpConnections), s, all)
	b.bars("0.5", rows, rival{"amqp091-go", 1 / 0.5})
	b.floorTold(rows, "epoll-amqp", rival{"amqp091-go", 1 / 0.5})
	return b.amqpShared(s)
}

// amqpShared compares the same, of users that share connections.
func (b *bench) amqpShared(s *server) error {
	step := fmt.Sprintf("step(\"put\", amqp.publish(amqp.client(\"amqp://%s\", connections = %d), key = %q, body = \"x\" * %d, confirm = True))", s.Address, sharedConnections, amqpQueue, amqpSize)
	us, err := b.ours("amqp-shared", 1, flow{Name: "amqp-shared", Step: step, VUs: sharedConnections * sharedUsers, Duration: b.duration})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "amqp091-go", Address: s.Address, Connections: sharedConnections, Streams: sharedUsers, Size: amqpSize, Duration: b.duration})
	if err != nil {
		return err
	}
	all, err := b.floor([]contender{us, peer}, loopConfig{Name: "epoll-amqp-shared", Address: s.Address, Connections: sharedConnections, Streams: sharedUsers, Size: amqpSize})
	if err != nil {
		return err
	}
	rows := b.cost("amqp-shared", fmt.Sprintf("%d connections that %d users share, publish and confirm", sharedConnections, sharedConnections*sharedUsers), s, all)
	b.bars("0.5", rows, rival{"amqp091-go", 1 / 0.5})
	b.floorTold(rows, "epoll-amqp-shared", rival{"amqp091-go", 1 / 0.5})
	return nil
}

func (b *bench) takesAMQP() time.Duration { return b.turns(6*b.rounds, b.duration) }
