package client

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/node"
)

// Config says whom to ask and how long. Every value must be positive.
type Config struct {
	Gates []node.Addr // at least one; asked in this order

	AskTimeout   time.Duration // a command that is not a watch is answered within it
	AskRetry     time.Duration // an unanswered question is asked again on a living stream
	PingInterval time.Duration
	PingSilence  time.Duration // a gate that says nothing for so long is left
	ReconnectMin time.Duration // the first wait is between it and twice as long,
	ReconnectMax time.Duration // later ones are drawn below a bound that doubles up to this
	CommandsMax  int           // open at the same time
	HomesMax     int           // jobs whose gate is remembered
}

// Default returns the configuration of a command-line client; Gates are missing.
func Default() Config {
	return Config{
		AskTimeout: time.Minute, AskRetry: 10 * time.Second,
		PingInterval: 2 * time.Second, PingSilence: 6 * time.Second,
		ReconnectMin: 200 * time.Millisecond, ReconnectMax: 5 * time.Second,
		CommandsMax: 1000, HomesMax: 10_000,
	}
}

// Validate reports every fault.
func (c Config) Validate() error {
	var faults []error
	if len(c.Gates) == 0 {
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
		{"ask_timeout", c.AskTimeout}, {"ask_retry", c.AskRetry}, {"ping_interval", c.PingInterval},
		{"ping_silence", c.PingSilence}, {"reconnect_min", c.ReconnectMin}, {"reconnect_max", c.ReconnectMax},
	} {
		if v.value <= 0 {
			faults = append(faults, fmt.Errorf("client.%s = %v must be above 0", v.key, v.value))
		}
	}
	if c.PingSilence <= c.PingInterval {
		faults = append(faults, fmt.Errorf("client.ping_silence = %v must be above client.ping_interval = %v: use three times as much", c.PingSilence, c.PingInterval))
	}
	if c.ReconnectMax < 2*c.ReconnectMin {
		faults = append(faults, fmt.Errorf("client.reconnect_max = %v must be at least twice client.reconnect_min = %v", c.ReconnectMax, c.ReconnectMin))
	}
	if c.CommandsMax <= 0 || c.HomesMax <= 0 {
		faults = append(faults, fmt.Errorf("client.commands_max = %d and client.homes_max = %d must be at least 1", c.CommandsMax, c.HomesMax))
	}
	return errors.Join(faults...)
}
