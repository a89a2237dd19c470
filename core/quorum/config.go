package quorum

import (
	"slices"
	"strings"

	"hyperscale/core/archive"
	"hyperscale/core/election"
	"hyperscale/core/event"
	"hyperscale/core/health"
	"hyperscale/core/lease"
	"hyperscale/core/lease/seats"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/core/uplink"
)

// Config describes one member of one group. New fills in the group, the addresses and the clock
// rates of the parts.
type Config struct {
	Group   string
	Self    node.Addr
	Members []node.Addr // configured, at least one, Self included; after Seated those that have the seats
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

// Seated returns the configuration with the set that this member's disk has, if seats were given to
// other addresses since it was configured. A recovery takes the configured set: it may say so by
// other addresses than the disk. Call it while InputStart is handled.
func (c Config) Seated(env node.Env) Config {
	set, moved := seats.OnDisk(env.Store(), c.Group)
	if !moved || !slices.Contains(set.Members, string(c.Self)) {
		return c
	}
	if c.Lease.Recover && !c.configures(set.Members) {
		return c
	}
	c.Lease.Set = set
	env.Emit(event.GroupMoved{Group: c.Group, Version: set.Version, Set: strings.Join(set.Members, ","), Configured: c.configures(set.Members)})
	c.Members = make([]node.Addr, len(set.Members))
	for i, a := range set.Members {
		c.Members[i] = node.Addr(a)
	}
	return c
}

// configures says that the configured set has just these addresses.
func (c *Config) configures(set []string) bool {
	return slices.EqualFunc(slices.Sorted(slices.Values(set)), slices.Sorted(slices.Values(c.Members)), func(a string, b node.Addr) bool { return a == string(b) })
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
