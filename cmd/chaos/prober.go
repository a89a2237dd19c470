package main

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/workflow"
	"hyperscale/runtime/transport"
)

// prober is one honest client. It submits jobs, and cancels them one by one.
type prober struct {
	*transport.Transport
	to   node.StreamID
	told chan node.Message // answers to submissions

	mu      sync.Mutex
	counter uint64
	asked   map[message.RequestID]time.Time // cancellations without an answer
	took    []time.Duration
	broken  string
}

func newProber(from, gate string) (*prober, error) {
	sockets, err := transport.Listen(from + ":0")
	if err != nil {
		return nil, err
	}
	p := &prober{asked: map[message.RequestID]time.Time{}, told: make(chan node.Message, 1024)}
	p.Transport = transport.New(transport.Config{Self: node.Peer{ID: "prober", Role: node.RoleClient, Incarnation: 1}, Cluster: "chaos", Environment: "default"}, sockets)
	p.Serve(p)
	p.to = p.Open(node.Addr(gate))
	return p, nil
}

// StreamOpened implements transport.Sink.
func (p *prober) StreamOpened(node.StreamID, node.Peer) {}

// StreamBroken implements transport.Sink.
func (p *prober) StreamBroken(_ node.StreamID, _ node.Peer, reason string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.broken = reason
}

// Resolved implements transport.Sink.
func (p *prober) Resolved(node.Names) {}

// Message implements transport.Sink.
func (p *prober) Message(_ node.Peer, _ node.StreamID, m node.Message) bool {
	at := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	var r message.RequestID
	switch m := m.(type) {
	case *message.JobCancelAck:
		r = m.Request
	case *message.Refused:
		r = m.Request
	}
	if since, ok := p.asked[r]; ok {
		delete(p.asked, r)
		p.took = append(p.took, at.Sub(since))
		return true
	}
	select {
	case p.told <- m:
	default: // news of jobs, which it does not read
	}
	return true
}

func (p *prober) request() message.RequestID {
	p.counter++
	return message.RequestID{Incarnation: 1, Counter: p.counter}
}

// cancel cancels jobs, evenly over a while, and returns how long each took. One without an answer
// took until now.
func (p *prober) cancel(jobs []message.JobID, lasts time.Duration) []time.Duration {
	begun := time.Now()
	for i, id := range jobs {
		time.Sleep(time.Until(begun.Add(lasts * time.Duration(i) / time.Duration(len(jobs)))))
		p.mu.Lock()
		r := p.request()
		p.asked[r] = time.Now()
		p.mu.Unlock()
		p.Send(p.to, &message.JobCancel{Request: r, Job: id})
	}
	time.Sleep(time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Clone(p.took)
	//lint:orderfree they are sorted
	for _, at := range p.asked {
		all = append(all, time.Since(at))
	}
	clear(p.asked)
	p.took = nil
	return all
}

// submit submits so many jobs, one after the other.
func (p *prober) submit(n int, file string, lasts time.Duration) (jobs []message.JobID, err error) {
	program := message.Program{Main: "probe.star", Files: []message.File{{Name: "probe.star", Data: []byte(file)}}, Duration: lasts, Seed: 1}
	loaded, err := workflow.Load(program)
	if err != nil {
		return nil, err
	}
	for len(jobs) < n {
		p.mu.Lock()
		r := p.request()
		p.mu.Unlock()
		p.Send(p.to, &message.JobSubmit{Request: r, Key: "probe-" + strconv.Itoa(len(jobs)), Name: "probe", Program: program, Plan: *loaded.Plan()})
		select {
		case m := <-p.told:
			switch m := m.(type) {
			case *message.JobAck:
				jobs = append(jobs, m.Job)
			case *message.Refused:
				if m.RetryAfter == 0 {
					return nil, fmt.Errorf("a submission was refused: %v: %s", m.Code, m.Detail)
				}
				time.Sleep(m.RetryAfter)
			}
		case <-time.After(20 * time.Second):
			p.mu.Lock()
			defer p.mu.Unlock()
			return nil, fmt.Errorf("no answer to a submission: its stream: %q", p.broken)
		}
	}
	return jobs, nil
}
