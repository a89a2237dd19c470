package manager

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
)

// A manager keeps a stream open only while it knows the worker or waits for a first heartbeat.
// It closes the stream of a worker that it drops: the worker opens another one, and registers
// again.
func TestStreamsEndWithTheirWorkers(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		d := newDesk(t, nil, "w1", "w2", "w3")
		worker := func(r *rapid.T) node.ID { return node.ID(fmt.Sprintf("w%d", rapid.IntRange(1, 3).Draw(r, "worker"))) }
		open := func(id node.ID) bool { return slices.Contains(d.StreamsOf(id), d.up[id]) }
		r.Repeat(map[string]func(*rapid.T){
			"connect": func(r *rapid.T) { // it may never send a message
				id := worker(r)
				d.up[id] = d.Accept(node.Peer{ID: id, Incarnation: 1, Role: node.RoleWorker, Addr: node.Addr(id + ":1")})
			},
			"beat": func(r *rapid.T) {
				if id := worker(r); open(id) {
					d.lists(id)
				}
			},
			"break": func(r *rapid.T) {
				if id := worker(r); open(id) {
					d.Break(d.up[id], "reset")
				}
			},
			"rumour": func(r *rapid.T) { // that the worker is dead
				id := worker(r)
				for _, state := range []swim.State{swim.Alive, swim.Dead} {
					d.ReceiveDatagram(node.Peer{ID: "w9", Incarnation: 1, Role: node.RoleWorker, Addr: "w9:1"}, &message.SwimGossip{
						Group: "dc1", Incarnation: 1 << 32, News: []message.SwimNews{{
							Node: string(id), Addr: string(id + ":1"), Role: uint8(node.RoleWorker), Incarnation: 1 << 32, State: uint8(state), By: "m9",
						}}})
				}
			},
			"wait": func(r *rapid.T) {
				d.Advance(rapid.SampledFrom([]time.Duration{time.Second, d.m.config.Silence + time.Second}).Draw(r, "for"))
			},
			"": func(r *rapid.T) {
				for _, id := range []node.ID{"w1", "w2", "w3"} {
					for _, s := range d.StreamsOf(id) {
						w, open := d.m.roster.On(s)
						if !open || w != nil && (d.m.roster.Of(id) != w || w.Stream != s) {
							r.Fatalf("stream %d of %s is open, and the manager listens to it no more", s, id)
						}
					}
				}
			},
		})
	})
}
