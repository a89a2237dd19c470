package netsim

import (
	"errors"
	"fmt"
	"time"
)

// Million is the denominator of all chances.
const Million = 1_000_000

// Link is the path from one place to another, in one direction. Chances apply to datagrams, in
// parts per million; on a stream a loss costs time.
type Link struct {
	Latency   time.Duration // of a message of zero bytes
	Jitter    time.Duration // added, uniform from zero to this
	Loss      uint32
	Duplicate uint32 // chance of a second copy, with its own latency
	Reorder   uint32 // chance that the network holds it for up to Config.ReorderMax
	Late      uint32 // chance that the network holds it from Config.LateMin to Config.LateMax
	Bandwidth uint64 // bytes a second that one node can send on this link
}

// Pair gives two places their own link.
type Pair struct {
	From, To string
	Link     Link
}

// Config is the network without faults.
type Config struct {
	Near  Link   // within a place
	Far   Link   // between two places
	Pairs []Pair // instead of Near and Far; the last of equal pairs applies

	ReorderMax time.Duration // longest hold of a reordered datagram
	LateMin    time.Duration // shortest hold of a late datagram: longer than timeouts
	LateMax    time.Duration // longest
	QueueMax   time.Duration // a datagram that would wait longer for bandwidth is lost
	StreamMax  int           // bytes that may wait on one side of a stream before it breaks

	ConnectMax time.Duration // a stream that is not open after so long breaks
	StallMax   time.Duration // a side whose bytes do not pass for so long breaks
	RetryMin   time.Duration // first wait before a retransmission; it doubles
	RetryMax   time.Duration // up to this
}

// Default is a healthy network: a rack within a place, 20 ms between places, a gigabit a second
// for each node.
func Default() Config {
	return Config{
		Near:       Link{Latency: 200 * time.Microsecond, Jitter: 300 * time.Microsecond, Bandwidth: 125_000_000},
		Far:        Link{Latency: 20 * time.Millisecond, Jitter: 2 * time.Millisecond, Bandwidth: 125_000_000},
		ReorderMax: 50 * time.Millisecond,
		LateMin:    2 * time.Second,
		LateMax:    45 * time.Second,
		QueueMax:   200 * time.Millisecond,
		StreamMax:  8 << 20,
		ConnectMax: 5 * time.Second,
		StallMax:   10 * time.Second,
		RetryMin:   200 * time.Millisecond,
		RetryMax:   2 * time.Second,
	}
}

// Validate reports all faults.
func (c *Config) Validate() error {
	var faults []error
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	link := func(name string, l Link) {
		if l.Latency < 0 || l.Jitter < 0 {
			wrong("network.%s: latency %v and jitter %v must not be negative: use zero for none", name, l.Latency, l.Jitter)
		}
		if l.Bandwidth == 0 || l.Bandwidth > 1<<40 {
			wrong("network.%s.bandwidth = %d must be from 1 to 2^40 bytes a second: use 125000000 for a gigabit", name, l.Bandwidth)
		}
		for _, chance := range []uint32{l.Loss, l.Duplicate, l.Reorder, l.Late} {
			if chance > Million {
				wrong("network.%s: chance %d is above a million parts per million: use 1000000 for always", name, chance)
			}
		}
	}
	link("near", c.Near)
	link("far", c.Far)
	for _, p := range c.Pairs {
		link(fmt.Sprintf("pairs[%s, %s]", p.From, p.To), p.Link)
	}
	if c.ReorderMax <= 0 || c.LateMin <= 0 || c.LateMax < c.LateMin || c.QueueMax <= 0 {
		wrong("network: reorder %v, late %v to %v, queue %v must be positive and in order: start from netsim.Default", c.ReorderMax, c.LateMin, c.LateMax, c.QueueMax)
	}
	if c.StreamMax <= 0 || c.ConnectMax <= 0 || c.StallMax <= 0 || c.RetryMin <= 0 || c.RetryMax < c.RetryMin {
		wrong("network: stream bounds %d bytes, %v, %v, %v to %v must be positive and in order: start from netsim.Default", c.StreamMax, c.ConnectMax, c.StallMax, c.RetryMin, c.RetryMax)
	}
	return errors.Join(faults...)
}
