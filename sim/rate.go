package sim

import (
	"time"

	"hyperscale/core/node"
)

// rateWindow is what messages are counted by.
const rateWindow = time.Second

// rates counts the messages that a process handles in one window, by kind.
type rates struct {
	window time.Duration // its number
	counts []int
}

// count says how many of a kind were handled in this window, with this one.
func (r *rates) count(now time.Duration, k node.Kind) int {
	if w := now / rateWindow; w != r.window {
		r.window = w
		clear(r.counts)
	}
	for len(r.counts) <= int(k) {
		r.counts = append(r.counts, 0)
	}
	r.counts[k]++
	return r.counts[k]
}

// measure tells of a kind of message that comes at wire speed: two nodes that answer
// each other's answers wait for no timer.
func (p *process) measure(in *node.Input) {
	c := &p.w.config
	if in.Kind != node.InputMessage {
		return
	}
	if k := in.Message.Kind(); p.rates.count(p.w.now, k) == c.RateMax+1 {
		c.Flooded(p.peer.ID, k)
	}
}
