package main

import (
	"fmt"
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
	asked   map[message.RequestID]*cancellation // without an answer
	no      int                                 // cancellations that were rejected
	broken  string
}

func newProber(from, gate string) (*prober, error) {
	sockets, err := transport.Listen(from + ":0")
	if err != nil {
		return nil, err
	}
	p := &prober{asked: map[message.RequestID]*cancellation{}, told: make(chan node.Message, 1024)}
	p.Transport = transport.New(transport.Config{Self: node.Peer{ID: "prober", Role: node.RoleClient, Incarnation: 1}, Cluster: "chaos", Environment: "default"}, sockets)
	p.Serve(p)
	p.to = p.Open(node.Addr(gate))
	return p, nil
}

// StreamOpened implements transport.Sink.
func (p *prober) StreamOpened(node.StreamID, node.Peer) {}

// StreamBroken implements transport.Sink.
func (p *prober) StreamBroken(_ node.StreamID, _ node.Peer, reason string, _ bool) {
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
	if c, ok := p.asked[r]; ok {
		delete(p.asked, r)
		c.took = at.Sub(c.at)
		if m.Kind() == message.KindRefused {
			p.no++
		}
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

// cancellation is one request.
type cancellation struct {
	at   time.Time
	took time.Duration // from the request to the answer
	late time.Duration // of this process's own timers before and after it: what the machine adds to any wait
}

// cancel cancels jobs, evenly over a while. One without an answer took until now.
func (p *prober) cancel(jobs []message.JobID, lasts time.Duration) (all []*cancellation, rejected int) {
	begun := time.Now()
	for i, id := range jobs {
		due := begun.Add(lasts * time.Duration(i) / time.Duration(len(jobs)))
		time.Sleep(time.Until(due))
		c := &cancellation{at: time.Now()}
		c.late = c.at.Sub(due)
		if i > 0 {
			all[i-1].late = max(all[i-1].late, c.late)
		}
		all = append(all, c)
		p.mu.Lock()
		r := p.request()
		p.asked[r] = c
		p.mu.Unlock()
		p.Send(p.to, &message.JobCancel{Request: r, Job: id})
	}
	time.Sleep(time.Second)
	p.mu.Lock()
	defer p.mu.Unlock()
	//lint:orderfree each by itself
	for _, c := range p.asked {
		c.took = time.Since(c.at)
	}
	clear(p.asked)
	rejected, p.no = p.no, 0
	return all, rejected
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
