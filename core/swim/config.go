package swim

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/node"
)

// Identity names a member that is known without having been heard: from a roster.
// It is never changed, and may be shared by any number of groups.
type Identity struct {
	ID   node.ID
	Addr node.Addr
	Role node.Role
}

// Scaling says how local health stretches timeouts.
type Scaling uint8

// The scalings.
const (
	// ScaleQuarter is base x max(1 + multiplier/4, factor of the loop's lag).
	ScaleQuarter Scaling = iota
	// ScalePaper is base x (1 + multiplier), Lifeguard's.
	ScalePaper
)

// Config of a group.
type Config struct {
	Group string      // its name: members of another one are not heard
	Seeds []node.Addr // configured members; this node's own address is skipped
	// Known members are taken to be alive at the start, in their first incarnation:
	// a roster. Seeds are not: they are unconfirmed until they are heard.
	Known []*Identity
	Names *Names // identities that groups of one process share; nil: this group has its own

	Probing
	Gossiping
	Suspecting
	Lifeguard
	Additions

	PushPullInterval time.Duration // between comparisons with a random member
	SeedInterval     time.Duration // between comparisons with a seed that is dead or unconfirmed
	JoinInterval     time.Duration // the same while nobody is known
	ReapAge          time.Duration // of tombstones
	HoldMax          time.Duration // of evictions, while more than half of the group fails at once
	MembersMax       int           // beyond it nobody new is taken in
	Untold           bool          // the role wants no changes: Take returns none
}

// Probing is how members are found to be silent.
type Probing struct {
	ProbeInterval time.Duration // one member is probed in each
	ProbeTimeout  time.Duration // of the direct probe, below ProbeInterval
	IndirectCount int           // members asked to probe where the direct one failed
}

// Gossiping is how news spread.
type Gossiping struct {
	GossipInterval time.Duration // between datagrams of mere news, while there are any
	GossipFanout   int
	GossipMax      int // pieces of news that wait
	GossipFactor   int // a piece is sent at most GossipFactor ceil(log10(n+1)) times
}

// Suspecting is how long a suspect has to refute.
type Suspecting struct {
	SuspicionFactor int           // the least suspicion lasts factor max(1, log10 n) ProbeInterval
	SuspicionSpread int           // the longest lasts so many times that; 1: no spread
	SuspicionCap    time.Duration // and no longer than this, unless the least is; 0: no cap
	Confirmations   int           // independent ones that bring it down to the least
}

// Lifeguard is what its paper adds to SWIM.
type Lifeguard struct {
	MultiplierMax int // of local health
	Scaling       Scaling
	// HealthProbe lets local health stretch probes, and asks for nacks (LHA-Probe).
	HealthProbe bool
	// HealthSuspicion lets confirmations shorten suspicions (LHA-Suspicion).
	HealthSuspicion bool
	// Buddy tells a suspect first of all, with the probe that it answers.
	Buddy bool
}

// Additions are in neither paper.
type Additions struct {
	// HealthStretch lets local health stretch suspicions.
	HealthStretch bool
	// LagBound is how late a timer may fire before what it would have judged is
	// judged again; 0: never.
	LagBound time.Duration
	// Distrust believes nothing that a member says while it is taken for dead: first
	// it has to refute that. A node that hears nobody spreads no suspicion and no
	// death; when it hears somebody again, or that it was taken for dead itself, it
	// asks those it doubts. A verdict that no other member confirmed stays at its node,
	// and a node tells no death that only a list told it.
	Distrust bool
	// Appeal puts a suspicion of its own that nobody confirms within three probe
	// intervals to the suspect again, in each further one; any suspicion to a few others
	// when half of its least time is over; and to the suspect a ProbeTimeout before the
	// verdict, which a late confirmation leaves time for. A node that asks for a probe
	// of a member that has left learns that it left.
	Appeal bool
}

// Default is what production uses.
func Default() Config {
	return Config{
		Probing:    Probing{ProbeInterval: time.Second, ProbeTimeout: 500 * time.Millisecond, IndirectCount: 3},
		Gossiping:  Gossiping{GossipInterval: 200 * time.Millisecond, GossipFanout: 3, GossipMax: 4096, GossipFactor: 4},
		Suspecting: Suspecting{SuspicionFactor: 3, SuspicionSpread: 6, SuspicionCap: 30 * time.Second, Confirmations: 2},
		Lifeguard:  Lifeguard{MultiplierMax: 8, Scaling: ScaleQuarter, HealthProbe: true, HealthSuspicion: true, Buddy: true},
		Additions:  Additions{HealthStretch: true, LagBound: 500 * time.Millisecond, Distrust: true, Appeal: true},

		PushPullInterval: 30 * time.Second, SeedInterval: 5 * time.Second, JoinInterval: time.Second,
		ReapAge: 15 * time.Minute, HoldMax: time.Minute, MembersMax: 20_000,
	}
}

// Paper is Lifeguard as its paper measured it: alpha 5, beta 6, no cap.
func Paper() Config {
	c := Default()
	c.SuspicionFactor, c.SuspicionSpread, c.SuspicionCap, c.Confirmations = 5, 6, 0, 3
	c.Scaling, c.HealthStretch, c.LagBound, c.Distrust, c.Appeal = ScalePaper, false, 0, false, false
	return c
}

// Plain is SWIM without any part of Lifeguard, as the same paper measured it.
func Plain() Config {
	c := Paper()
	c.HealthProbe, c.HealthSuspicion, c.Buddy = false, false, false
	return c
}

// Validate reports all that is wrong.
func (c *Config) Validate() error {
	var faults []error
	wrong := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Group == "" || len(c.Group) > groupMax {
		wrong("swim.group = %q must have from 1 to %d bytes: name the group", c.Group, groupMax)
	}
	if c.ProbeInterval <= 0 || c.ProbeTimeout <= 0 || c.ProbeTimeout >= c.ProbeInterval {
		wrong("swim: probe timeout %v and interval %v must be positive and in order: use 500ms and 1s", c.ProbeTimeout, c.ProbeInterval)
	}
	if c.IndirectCount < 0 || c.IndirectCount > indirectMax {
		wrong("swim.indirect_count = %d must be from 0 to %d: use 3", c.IndirectCount, indirectMax)
	}
	if c.GossipInterval <= 0 || c.GossipFanout < 0 || c.GossipMax < 1 || c.GossipFactor < 1 {
		wrong("swim: gossip to %d every %v, %d waiting, factor %d must be positive: start from swim.Default", c.GossipFanout, c.GossipInterval, c.GossipMax, c.GossipFactor)
	}
	if c.SuspicionFactor < 1 || c.SuspicionSpread < 1 || c.SuspicionCap < 0 || c.Confirmations < 0 || c.Confirmations > confirmationsMax {
		wrong("swim: suspicion factor %d, spread %d, cap %v, %d confirmations: start from swim.Default", c.SuspicionFactor, c.SuspicionSpread, c.SuspicionCap, c.Confirmations)
	}
	if c.MultiplierMax < 0 || c.MultiplierMax > 64 || c.LagBound < 0 {
		wrong("swim: multiplier max %d, lag bound %v: start from swim.Default", c.MultiplierMax, c.LagBound)
	}
	if c.PushPullInterval <= 0 || c.SeedInterval <= 0 || c.JoinInterval <= 0 || c.ReapAge <= 0 || c.HoldMax < 0 || c.MembersMax < 1 || c.MembersMax > placesMax {
		wrong("swim: intervals %v, %v, %v, reap %v, hold %v, members %d must be positive: start from swim.Default",
			c.PushPullInterval, c.SeedInterval, c.JoinInterval, c.ReapAge, c.HoldMax, c.MembersMax)
	}
	return errors.Join(faults...)
}

// Bounds of what hostile bytes can make grow.
const (
	groupMax         = 64
	idMax            = 128
	addrMax          = 255
	stateMax         = 128 // bytes of the application's state
	indirectMax      = 16
	confirmationsMax = 15
	relaysMax        = 1024 // indirect probes made for others at once
)
