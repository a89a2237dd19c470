package discovery

import (
	"time"

	"hyperscale/core/node"
)

// CandidatesMax bounds the addresses of one name.
const CandidatesMax = 64

// NamesMax bounds the names of one role.
const NamesMax = 16

// Config configures the names of one role.
type Config struct {
	Group uint64 // of the timers, unique in the node, below 2^32
	Names []node.Addr

	TTL       time.Duration // of an answer that has none
	TTLMin    time.Duration // a shorter one of an answer does not count
	TTLMax    time.Duration // nor does a longer one
	Negative  time.Duration // until an absent name is asked again
	RetryMin  time.Duration // bound of the wait after the first failure
	RetryMax  time.Duration // the wait doubles up to this
	LookupMax time.Duration // of one look-up
}

// Default returns the times; Group and Names are left to set.
func Default() Config {
	return Config{
		TTL: 30 * time.Second, TTLMin: 5 * time.Second, TTLMax: 5 * time.Minute, Negative: 30 * time.Second,
		RetryMin: time.Second, RetryMax: 15 * time.Second, LookupMax: 10 * time.Second,
	}
}

func (c *Config) check() {
	if c.Group >= 1<<32 || len(c.Names) > NamesMax || c.TTL <= 0 || c.TTLMin <= 0 || c.TTLMax < c.TTLMin || c.Negative <= 0 ||
		c.RetryMin <= 0 || c.RetryMax < c.RetryMin || c.LookupMax <= 0 {
		node.Bug("discovery: config %+v", *c)
	}
}
