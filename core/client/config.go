package client

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/discovery"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// Config says which gates to ask, and how long. Every value must be positive.
type Config struct {
	Gates    []node.Addr   // they report the others
	Discover []node.Addr   // names of more gates, such as dns:gates:7400: core/discovery
	Cached   []node.Addr   // gates that an earlier client knew: it asks them if no name leads to one
	Explore  time.Duration // between two looks at another gate, for questions that any of them answers; 0: it asks those that it knows in turn
	Near     bool          // it asks gates on this machine alone: what it says must not travel in clear text

	AskTimeout   time.Duration // a command that is not a watch has its answer within it: three leases of a job
	ReachTimeout time.Duration // the same while the client has reached no gate
	AskRetry     time.Duration // after so long without an answer the next gate is asked
	RetryMin     time.Duration // lower bound of the wait after a round without an answer
	RetryMax     time.Duration // upper bound of the wait, which doubles up to this
	Redirects    int           // that it follows before such a wait
	Retries      retry.Limit   // tries that repeat earlier ones, over all commands but cancels and watches
	PingInterval time.Duration
	PingSilence  time.Duration // it closes the stream of a gate that is silent for so long
	ReconnectMin time.Duration // first wait before it opens a broken stream again
	ReconnectMax time.Duration // the wait doubles up to this while no stream opens
	CommandsMax  int           // open at the same time
	HomesMax     int           // jobs whose gate it remembers
	GatesMax     int           // gates that it knows
	ListMax      int           // jobs of one list
}

// Default returns the configuration of a command-line client; Gates are missing.
func Default() Config {
	return Config{
		AskTimeout: 90 * time.Second, ReachTimeout: 90 * time.Second, AskRetry: 10 * time.Second,
		RetryMin: 500 * time.Millisecond, RetryMax: 5 * time.Second, Redirects: 5,
		Retries:      retry.Limit{Span: 10 * time.Second, Asks: 10, Least: 4},
		PingInterval: 2 * time.Second, PingSilence: 6 * time.Second,
		ReconnectMin: 200 * time.Millisecond, ReconnectMax: 5 * time.Second,
		CommandsMax: 1000, HomesMax: 10_000, GatesMax: 255, ListMax: 100_000,
	}
}

// Validate reports every fault.
func (c Config) Validate() error {
	var faults []error
	if len(c.Discover) > discovery.NamesMax {
		faults = append(faults, fmt.Errorf("client.gates has %d names: give at most %d of dns: and srv: to --gate", len(c.Discover), discovery.NamesMax))
	}
	if len(c.Gates)+len(c.Discover) == 0 {
		faults = append(faults, errors.New("client.gates is empty: name at least one gate with --gate HOST:PORT"))
	}
	seen := map[node.Addr]bool{}
	for _, g := range c.Gates {
		if g == "" || seen[g] {
			faults = append(faults, fmt.Errorf("client.gates: %q is empty or named twice: name each gate once", g))
		}
		seen[g] = true
	}
	for _, v := range []struct {
		key   string
		value time.Duration
	}{
		{"ask_timeout", c.AskTimeout}, {"reach_timeout", c.ReachTimeout}, {"ask_retry", c.AskRetry}, {"retry_min", c.RetryMin},
		{"ping_interval", c.PingInterval}, {"ping_silence", c.PingSilence}, {"reconnect_min", c.ReconnectMin},
	} {
		if v.value <= 0 {
			faults = append(faults, fmt.Errorf("client.%s = %v must be above 0", v.key, v.value))
		}
	}
	if c.PingSilence <= c.PingInterval {
		faults = append(faults, fmt.Errorf("client.ping_silence = %v must be above client.ping_interval = %v: use three times as much", c.PingSilence, c.PingInterval))
	}
	if c.RetryMax < c.RetryMin || c.ReconnectMax < c.ReconnectMin {
		faults = append(faults, fmt.Errorf("client.retry_max = %v and client.reconnect_max = %v must not be below client.retry_min = %v and client.reconnect_min = %v: raise them",
			c.RetryMax, c.ReconnectMax, c.RetryMin, c.ReconnectMin))
	}
	if c.Retries.Span < time.Second || c.Retries.Asks <= 0 || c.Retries.Least <= 0 {
		faults = append(faults, fmt.Errorf("client.retries = one of %d asks, at least %d, in %v: all must be at least 1, and the span 1s", c.Retries.Asks, c.Retries.Least, c.Retries.Span))
	}
	if c.CommandsMax <= 0 || c.HomesMax <= 0 || c.Redirects <= 0 || c.ListMax <= 0 || c.GatesMax < len(c.Gates) {
		faults = append(faults, fmt.Errorf("client.commands_max = %d, client.homes_max = %d, client.redirects = %d and client.list_max = %d must be at least 1, client.gates_max = %d no less than the gates given",
			c.CommandsMax, c.HomesMax, c.Redirects, c.ListMax, c.GatesMax))
	}
	return errors.Join(faults...)
}
