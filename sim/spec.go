package sim

import (
	"errors"
	"fmt"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Costs are the CPU times that handlers take: by the kind of a message, the default for
// everything else. All zero: handlers take no time.
type Costs struct {
	Default time.Duration
	ByKind  map[node.Kind]time.Duration
}

// Disk is the disk of a node. One sync runs at a time and takes all Puts that came before it
// began.
type Disk struct {
	Latency time.Duration // of a sync
	Jitter  time.Duration // added, uniform
	// LostPPM is the chance that a crash loses all unsynced Puts. Otherwise a prefix of these
	// Puts is on disk, each of them whole, although the machine never learnt of it.
	LostPPM uint32
}

// DefaultDisk is a solid state disk behind a virtual machine.
func DefaultDisk() Disk {
	return Disk{Latency: 150 * time.Microsecond, Jitter: 150 * time.Microsecond, LostPPM: 800_000}
}

// Sinks are the places to which nodes of the world deliver rows.
type Sinks interface {
	// Take is called with each delivery of a node, when it leaves the node. It returns when the node hears
	// of it, and what; the batch arrives even if the node crashes first. A negative time: never.
	Take(from node.ID, d *node.Delivery) (after time.Duration, out node.Delivered)
}

// Spec is a node of the world.
type Spec struct {
	ID          node.ID
	Role        node.Role
	Place       string
	New         func() node.Machine // called once per incarnation
	Costs       Costs
	Cores       int                // number on which executors can run
	Model       Model              // what executors do; nil only without cores
	Disk        Disk               // the zero Disk means DefaultDisk
	ClockOffset time.Duration      // from ClockStart
	DriftPPM    int64              // of its clock, at most a tenth of a million either way
	Mailbox     node.MailboxConfig // the zero value means node.DefaultMailbox
	Cluster     string             // nodes of two clusters refuse each other, as Hellos and datagrams say
	Grant       node.Grant         // of its certificate; the zero value means that it has none
	Minor       func() uint16      // version of the protocol, asked at each start; nil means this one
	Sinks       Sinks              // to which it delivers rows; nil: none is configured
}

func (s *Spec) validate(known bool) error {
	var faults []error
	if s.ID == "" || known {
		faults = append(faults, fmt.Errorf("spec.id = %q is empty or taken: name each node once", s.ID))
	}
	if !s.Role.Valid() || s.New == nil {
		faults = append(faults, fmt.Errorf("spec of %q: role %v and New must be set", s.ID, s.Role))
	}
	if s.Cores < 0 || s.Cores > 0 && s.Model == nil {
		faults = append(faults, fmt.Errorf("spec of %q: %d cores need a model: use sim.DefaultModel()", s.ID, s.Cores))
	}
	if s.DriftPPM < -driftBound || s.DriftPPM > driftBound {
		faults = append(faults, fmt.Errorf("spec of %q: drift %d is beyond %d parts per million", s.ID, s.DriftPPM, driftBound))
	}
	if s.Disk.LostPPM > million || s.Disk.Latency < 0 || s.Disk.Jitter < 0 {
		faults = append(faults, fmt.Errorf("spec of %q: disk %+v has a chance above a million or a negative time: start from sim.DefaultDisk()", s.ID, s.Disk))
	}
	return errors.Join(faults...)
}

// Add puts a node into the world. It does not start it.
func (w *World) Add(s Spec) {
	if err := s.validate(w.byID[s.ID] != nil); err != nil {
		node.Bug("sim: %v", err)
	}
	w.mixed = w.mixed || s.Cluster != ""
	host := w.net.Add(s.Place)
	p := newProcess(w, s, uint32(host))
	w.add(p)
}

func newProcess(w *World, s Spec, index uint32) *process {
	if s.Disk == (Disk{}) {
		s.Disk = DefaultDisk()
	}
	if s.Mailbox == (node.MailboxConfig{}) {
		s.Mailbox = node.DefaultMailbox()
	}
	p := &process{
		w: w, spec: s, index: index, status: status{bars: barUnstarted}, prices: pricesOf(&s.Costs),
		clock: clock{local: node.Instant(ClockStart).Add(s.ClockOffset), ppm: s.DriftPPM},
		box:   node.NewMailbox(s.Mailbox),
		peer:  node.Peer{ID: s.ID, Role: s.Role, Grant: s.Grant, Minor: message.Minor},
	}
	if s.Role == node.RoleClient {
		p.peer.Source = string(s.ID)
	} else {
		p.peer.Addr = w.addresses.of(index)
	}
	p.header = uint16(headerFixed + len(p.peer.ID) + len(p.peer.Addr))
	p.look.p, p.calls.p, p.outputs.p = p, p, p
	p.disk = disk{Disk: s.Disk, p: p, rand: node.NewRand(w.config.Seed, s.ID, node.PurposeDisk), records: map[string][]byte{}, slow: 1}
	p.exec = executor{p: p, cores: make([][]*run, s.Cores), models: node.NewRand(w.config.Seed, s.ID, node.PurposeModel)}
	return p
}
