package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// startKafka builds and starts kfake, which counts records; without more arguments it keeps none.
func startKafka(dir string, cpus []int, args ...string) (*server, error) {
	if len(args) == 0 {
		args = []string{"-topics", "orders:4", "-blackhole"}
	}
	return startBuilt("kafka", "end orders", dir, cpus, args...)
}

// startBuilt builds and starts a program of bench/servers, which prints its address in one line, and counts
// when it reads a question.
func startBuilt(name, question, dir string, cpus []int, args ...string) (*server, error) {
	path := filepath.Join(dir, name)
	build := exec.Command("go", "build", "-o", path, "./"+name)
	build.Dir = filepath.Join("..", "servers")
	if text, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the server: %w: %s", err, text)
	}
	s := &server{cmd: exec.Command(path, args...)}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := startOn(s.cmd, cpus); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	address, err := lines.ReadString('\n')
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	s.Address = strings.TrimSpace(address)
	s.count = func() (uint64, error) {
		if _, err := fmt.Fprintln(s.in, question); err != nil {
			return 0, err
		}
		text, err := lines.ReadString('\n')
		if err != nil {
			return 0, err
		}
		return strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	}
	return s, nil
}

// kafkaLoop produces one record after the other over franz-go, in as many goroutines as there are connections.
// Shared: they have one client, which gathers their records in batches; else one each.
func kafkaLoop(c loopConfig, shared bool) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	until := time.Now().Add(c.Duration)
	value := []byte(strings.Repeat("x", c.Size))
	connect := func() (*kgo.Client, error) {
		return kgo.NewClient(kgo.SeedBrokers(c.Address), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.ProducerLinger(0), kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(1))
	}
	one, err := connect()
	if err != nil {
		return 0, 0, err
	}
	defer one.Close()
	for range c.Connections {
		all.Go(func() {
			client := one
			if !shared {
				own, err := connect()
				if err != nil {
					failed.Add(1)
					return
				}
				defer own.Close()
				client = own
			}
			n := uint64(0)
			for ; n%64 != 0 || time.Now().Before(until); n++ {
				if err := client.ProduceSync(context.Background(), &kgo.Record{Topic: "orders", Value: value}).FirstErr(); err != nil {
					failed.Add(1)
					break
				}
			}
			done.Add(n)
		})
	}
	all.Wait()
	return done.Load(), failed.Load(), nil
}

const (
	kafkaConnections = 64
	kafkaSize        = 128
)

// kafka compares records that the leader acknowledges, of 64 at once.
func (b *bench) kafka() error {
	s, err := startKafka(b.dir, b.serverCPUs)
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	step := fmt.Sprintf("step(\"put\", kafka.produce(\"kafka://%s\", \"orders\", \"x\" * %d))", s.Address, kafkaSize)
	us, err := b.ours("kafka", 1, flow{Name: "kafka", Step: step, VUs: kafkaConnections, Duration: b.duration})
	if err != nil {
		return err
	}
	all := []contender{us}
	for _, name := range []string{"franz-go", "franz-go, one client"} {
		peer, err := loopContender(loopConfig{Name: name, Address: s.Address, Connections: kafkaConnections, Size: kafkaSize, Duration: b.duration})
		if err != nil {
			return err
		}
		all = append(all, peer)
	}
	rows := b.cost("kafka", fmt.Sprintf("%d records at once, each acknowledged", kafkaConnections), s, all)
	b.bars("0.8", rows, rival{"franz-go", 1 / 0.8})
	return nil
}

func (b *bench) takesKafka() time.Duration { return b.turns(3*b.rounds, b.duration) }

const (
	kafkaReaders = 16
	kafkaLog     = 100_000 // records, which each reader reads once
)

// kafkaRead is a loop of readers over franz-go: each has a client of its own, and reads the log from its
// beginning.
func kafkaRead(c loopConfig) (requests, failures uint64, err error) {
	var all sync.WaitGroup
	var done, failed atomic.Uint64
	for range c.Connections {
		all.Go(func() {
			client, err := kgo.NewClient(kgo.SeedBrokers(c.Address), kgo.ConsumeTopics("orders"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
			if err != nil {
				failed.Add(1)
				return
			}
			defer client.Close()
			for n := 0; n < kafkaLog; {
				fetches := client.PollFetches(context.Background())
				if len(fetches.Errors()) > 0 {
					failed.Add(1)
					return
				}
				n += fetches.NumRecords()
			}
			done.Add(1)
		})
	}
	all.Wait()
	return done.Load(), failed.Load(), nil
}

// fillKafka writes a log in batches, as franz-go gathers them.
func fillKafka(address string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.RecordPartitioner(kgo.RoundRobinPartitioner()), kgo.ProducerLinger(5*time.Millisecond), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		return err
	}
	defer client.Close()
	records := make([]*kgo.Record, kafkaLog)
	for i := range records {
		records[i] = &kgo.Record{Topic: "orders", Value: []byte(strings.Repeat("x", kafkaSize))}
	}
	return client.ProduceSync(context.Background(), records...).FirstErr()
}

// kafkaReads compares readers that read a log once each.
func (b *bench) kafkaReads() error {
	s, err := startKafka(b.dir, b.serverCPUs, "-topics", "orders:4")
	if err != nil {
		b.report.remark(b.out, err.Error())
		return nil
	}
	defer func() { _ = s.close() }()
	if err := fillKafka(s.Address); err != nil {
		return err
	}
	s.count = func() (uint64, error) { return 0, nil } // it counts no fetches
	step := fmt.Sprintf("step(\"take\", kafka.consume(\"kafka://%s\", [\"orders\"], start = \"earliest\", count = %d, within = \"60s\", timeout = \"61s\"))", s.Address, kafkaLog)
	us, err := b.ours("kafka-read", 1, flow{Name: "read", Step: step, VUs: kafkaReaders, Duration: b.duration + time.Minute, More: fmt.Sprintf("iterations = %d, ", kafkaReaders)})
	if err != nil {
		return err
	}
	peer, err := loopContender(loopConfig{Name: "franz-go reads", Address: s.Address, Connections: kafkaReaders, Duration: b.duration})
	if err != nil {
		return err
	}
	b.cost("kafka-read", fmt.Sprintf("%d readers, each of %d records", kafkaReaders, kafkaLog), s, []contender{us, peer})
	return nil
}

func (b *bench) takesKafkaReads() time.Duration { return b.turns(2*b.rounds, b.duration) }
