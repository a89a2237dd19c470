package swim

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/node"
)

// Identity names a member that is known without having been heard: from a roster. It never
// changes, and any number of groups may share it.
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

// Config configures a group.
type Config struct {
	Group string      // its name: the group ignores members of another one
	Seeds []node.Addr // configured members; this node's own address is skipped
	// Known members count as alive at the start, in their first incarnation: a roster. Seeds do
	// not: they are unconfirmed until they are heard.
	Known []*Identity
	Names *Names // identities that groups of one process share; nil: this group has its own

	Probing
	Gossiping
	Suspecting
	Lifeguard
	Additions
	Listing

	PushPullInterval time.Duration // between comparisons with a random member
	SeedInterval     time.Duration // between comparisons with a seed that is dead or unconfirmed
	JoinInterval     time.Duration // the same while this node knows no other member
	ReapAge          time.Duration // of tombstones
	HoldMax          time.Duration // of evictions, while more than half of the group fails at once
	MembersMax       int           // beyond it the group accepts no new member
	Untold           bool          // the role needs no changes: Take returns none
}

// Probing configures how members detect silent ones.
type Probing struct {
	ProbeInterval time.Duration // one member is probed in each
	ProbeTimeout  time.Duration // of the direct probe, below ProbeInterval
	IndirectCount int           // members to ask for an indirect probe after a failed direct one
}

// Gossiping configures how news spread.
type Gossiping struct {
	GossipInterval time.Duration // between datagrams with only news, while there are any
	GossipFanout   int
	GossipMax      int // bound of waiting pieces of news
	GossipFactor   int // how often a piece is sent at most: GossipFactor ceil(log10(n+1)) times
}

// Suspecting configures how long a suspect has to refute.
type Suspecting struct {
	SuspicionFactor int           // the shortest suspicion lasts factor max(1, log10 n) ProbeInterval
	SuspicionSpread int           // the longest lasts this many times that; 1: no spread
	SuspicionCap    time.Duration // bound of the longest, unless the shortest is above it; 0: no cap
	Confirmations   int           // independent ones that shorten it to the shortest
}

// Lifeguard configures what its paper adds to SWIM.
type Lifeguard struct {
	MultiplierMax int // of local health
	Scaling       Scaling
	// HealthProbe lets local health stretch probes, and requests nacks (LHA-Probe).
	HealthProbe bool
	// HealthSuspicion lets confirmations shorten suspicions (LHA-Suspicion).
	HealthSuspicion bool
	// Buddy sends a suspicion to the suspect first of all, with a probe or an answer.
	Buddy bool
}

// Additions configures what neither paper has.
type Additions struct {
	// HealthStretch lets local health stretch suspicions.
	HealthStretch bool
	// LagBound is how late a timer may fire. If it fires later, this node repeats the judgement
	// instead; 0: never.
	LagBound time.Duration
	// Distrust rejects all news from a member that this node considers dead, until the member
	// refutes that. A node that hears no member spreads no suspicion and no death. When it
	// hears one again, or learns that others considered it dead, it asks the members that it
	// doubts. A verdict that no other member confirmed stays at its node, and a node does not
	// gossip a death that it knows only from a list.
	Distrust bool
	// Appeal sends a suspicion to the suspect again: this node's own, after three probe
	// intervals without a confirmation, and in each further interval. It sends any suspicion to
	// a few others at half of its shortest time. It asks the suspect a ProbeTimeout before the
	// verdict, and a late confirmation leaves time for that. A suspect that answers a probe after
	// its round hears of the suspicion at once. A node that requests a probe of a
	// member that has left learns that it left.
	Appeal bool
}

// Listing bounds the bytes of lists that a node exchanges with others.
type Listing struct {
	ListRate  int // in a second, in the mean
	ListBurst int // at once; one list more may exceed it
}

// Default is the configuration of production.
func Default() Config {
	return Config{
		Probing:    Probing{ProbeInterval: time.Second, ProbeTimeout: 500 * time.Millisecond, IndirectCount: 3},
		Gossiping:  Gossiping{GossipInterval: 200 * time.Millisecond, GossipFanout: 3, GossipMax: 4096, GossipFactor: 4},
		Suspecting: Suspecting{SuspicionFactor: 3, SuspicionSpread: 6, SuspicionCap: 30 * time.Second, Confirmations: 2},
		Lifeguard:  Lifeguard{MultiplierMax: 8, Scaling: ScaleQuarter, HealthProbe: true, HealthSuspicion: true, Buddy: true},
		Additions:  Additions{HealthStretch: true, LagBound: 500 * time.Millisecond, Distrust: true, Appeal: true},
		// Some 300 members join at once without a wait. The rate is 2 % of a gigabit link.
		Listing: Listing{ListRate: 2 << 20, ListBurst: 4 << 20},

		PushPullInterval: 30 * time.Second, SeedInterval: 5 * time.Second, JoinInterval: time.Second,
		ReapAge: 15 * time.Minute, HoldMax: time.Minute, MembersMax: 20_000,
	}
}

// Paper is Lifeguard with the settings of its paper: alpha 5, beta 6, no cap.
func Paper() Config {
	c := Default()
	c.SuspicionFactor, c.SuspicionSpread, c.SuspicionCap, c.Confirmations = 5, 6, 0, 3
	c.Scaling, c.HealthStretch, c.LagBound, c.Distrust, c.Appeal = ScalePaper, false, 0, false, false
	return c
}

// Plain is SWIM without Lifeguard, with the settings of the same paper.
func Plain() Config {
	c := Paper()
	c.HealthProbe, c.HealthSuspicion, c.Buddy = false, false, false
	return c
}

// Validate reports all faults.
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
	if c.ListRate < 1000 || c.ListBurst < 1 {
		wrong("swim: lists of %d bytes a second and of %d at once must be at least 1000 and 1: start from swim.Default", c.ListRate, c.ListBurst)
	}
	if c.PushPullInterval <= 0 || c.SeedInterval <= 0 || c.JoinInterval <= 0 || c.ReapAge <= 0 || c.HoldMax < 0 || c.MembersMax < 1 || c.MembersMax > placesMax {
		wrong("swim: intervals %v, %v, %v, reap %v, hold %v, members %d must be positive: start from swim.Default",
			c.PushPullInterval, c.SeedInterval, c.JoinInterval, c.ReapAge, c.HoldMax, c.MembersMax)
	}
	return errors.Join(faults...)
}

// Bounds of what hostile bytes could make grow.
const (
	groupMax         = 64
	idMax            = 128
	addrMax          = 255
	stateMax         = 128 // bytes of the application's state
	indirectMax      = 16
	confirmationsMax = 15
	relaysMax        = 1024 // concurrent indirect probes for others
)
