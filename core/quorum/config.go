package quorum

import (
	"slices"

	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/health"
	"hyperscale/core/lease"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

// Config describes one member of one group. New fills in the group, the addresses and the clock
// rates of the parts.
type Config struct {
	Group   string
	Self    node.Addr
	Members []node.Addr // configured, at least one, Self included
	// Open lets nodes outside Members take part in the membership, as workers do beside
	// managers. A closed group ignores them.
	Open bool
	// DriftPPM bounds the rate of each member's clock against real time, in parts per
	// million.
	DriftPPM int64

	Links uplink.Config
	Lease lease.Config
	Files archive.Config
}

// Validate reports what is wrong with the registers' configuration.
func (c Config) Validate() error { return c.leases(nil, nil).Validate() }

func (c *Config) leases(order lease.Order, versions lease.Versions) lease.Config {
	l := c.Lease
	l.Group, l.Self, l.Members, l.DriftPPM, l.Order, l.Versions = c.Group, c.Self, c.Members, c.DriftPPM, order, versions
	return l
}

func (c *Config) files() archive.Config {
	f := c.Files
	f.Group, f.Self, f.Members = c.Group, c.Self, c.Members
	return f
}

func (c *Config) votes(r *lease.Registers) election.Config {
	v := election.Default()
	v.Group, v.Self, v.Voters, v.Registers = c.Group, c.Self, c.Members, r
	return v
}

func (c *Config) swim() swim.Config {
	s := swim.Default()
	s.Group, s.Seeds = c.Group, c.Members
	return s
}

// clocks allows two clocks to drift apart as fast as both together may drift.
func (c *Config) clocks() health.ClockConfig {
	h := health.DefaultClock()
	h.BoundPPM = 2 * c.DriftPPM
	return h
}

// Addresses returns the configured members in their order, or self alone if none is configured.
// It returns false if self is not among them.
func Addresses(configured []node.Addr, self node.Addr) ([]node.Addr, bool) {
	if len(configured) == 0 {
		return []node.Addr{self}, true
	}
	all := slices.Sorted(slices.Values(configured))
	return all, slices.Contains(all, self)
}
