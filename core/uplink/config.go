package uplink

import (
	"time"

	"hyperscale/core/node"
)

// Config configures one list of peers. A machine with several gives each its own Group.
type Config struct {
	Group      uint64 // of the timers, unique in the node, below 2^32
	Role       node.Role
	Datacenter string // in event.PeerRegistered
	// Remedy is what to correct if a peer of another role answers: "--managers or --seed";
	// empty if only the address can be wrong.
	Remedy string

	Beats        bool          // send message.Beat, because the role has no heartbeat of its own
	Beat         time.Duration // between two of them
	Silence      time.Duration // before Links closes a silent stream and opens it again
	ReconnectMin time.Duration // bound of the first wait before it opens a stream again
	ReconnectMax time.Duration // the wait doubles up to here
}

// Default returns the intervals between peers; Group, Role and Beats are left to set.
func Default() Config {
	return Config{
		Beat:         time.Second,
		Silence:      5 * time.Second,
		ReconnectMin: 250 * time.Millisecond,
		ReconnectMax: 2 * time.Second,
	}
}

func (c Config) check() {
	if c.Group >= 1<<32 || !c.Role.Valid() || c.Silence <= 0 || c.ReconnectMin <= 0 || c.ReconnectMax < c.ReconnectMin {
		node.Bug("uplink: config %+v", c)
	}
	if c.Beats && (c.Beat <= 0 || c.Silence < 2*c.Beat) {
		node.Bug("uplink: silence of %v with a beat each %v", c.Silence, c.Beat)
	}
}
