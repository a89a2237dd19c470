package node

import (
	"fmt"
	"net/netip"
	"strings"
	"time"
)

// ID is a node's name, unique in its cluster: "gate-1". Never empty.
type ID string

// Addr is where a node listens: "host:port" in production, an opaque name in the simulator. It
// is empty for a client, to which no node connects.
type Addr string

// Near reports whether an address is certainly of this machine.
func (a Addr) Near() bool {
	host, _, ok := strings.Cut(string(a), ":")
	if at, err := netip.ParseAddrPort(string(a)); err == nil {
		return at.Addr().Unmap().IsLoopback()
	}
	return ok && host == "localhost"
}

// Instant is a reading of one node's own monotonic clock, in nanoseconds since an arbitrary
// zero. It may drift against other nodes' clocks. It never jumps back and never crosses a wire:
// send a Duration.
type Instant int64

// Add returns the instant d later.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d) }

// Sub returns how long after j the instant i is.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i - j) }

// Role is what a node does in the cluster. Values are on the wire: never renumber.
type Role uint8

// The roles. RoleToy belongs to test machines that exercise a world.
const (
	RoleNone Role = iota
	RoleClient
	RoleGate
	RoleManager
	RoleWorker
	RoleExecutor
	RoleToy
	roleEnd
)

// Roles is a set of roles: bit r stands for Role r.
type Roles uint16

// Has reports whether r is in the set.
func (s Roles) Has(r Role) bool { return s>>r&1 != 0 }

// String lists the roles, as a sentence does.
func (s Roles) String() string {
	var names []string
	for r := range roleEnd {
		if r.Valid() && s.Has(r) {
			names = append(names, r.String())
		}
	}
	return strings.Join(names, " or ")
}

func (r Role) String() string {
	switch r {
	case RoleClient:
		return "client"
	case RoleGate:
		return "gate"
	case RoleManager:
		return "manager"
	case RoleWorker:
		return "worker"
	case RoleExecutor:
		return "executor"
	case RoleToy:
		return "toy"
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

// Valid reports whether r is one of the roles above.
func (r Role) Valid() bool { return r > RoleNone && r < roleEnd }

// Peer is one incarnation of one node. The node raises the incarnation and syncs it to disk
// before each start; a client draws it at random.
type Peer struct {
	ID          ID
	Incarnation uint64
	Role        Role
	Addr        Addr // where it listens, empty if nowhere

	// Minor is the minor version of the protocol that it knows, as it says at the beginning of a
	// stream. With a datagram it is zero until the sender's incarnation has said it.
	Minor uint16

	// Source is who pays for a client's requests: its address, or the network that one host has
	// for itself. The host of the machine knows it; a client cannot choose it, as it does its ID.
	Source string

	// Grant is what its certificate says. The host of the machine knows it, too.
	Grant Grant
}

func (p Peer) String() string { return fmt.Sprintf("%s#%d", p.ID, p.Incarnation) }

// Kind numbers a message of the catalogue. Zero is none.
type Kind uint16

// Class says how a message travels, and which account its bytes go to.
type Class uint8

// The classes of DESIGN.md's wire section.
const (
	ClassControl Class = iota
	ClassDispatch
	ClassData
	ClassTelemetry
)

// Priority orders the inputs in a mailbox: the lowest value goes first.
type Priority uint8

// The four lanes.
const (
	Critical Priority = iota
	High
	Normal
	Low
	Priorities = 4
)

func (p Priority) String() string {
	switch p {
	case Critical:
		return "critical"
	case High:
		return "high"
	case Normal:
		return "normal"
	case Low:
		return "low"
	}
	return fmt.Sprintf("priority(%d)", uint8(p))
}

// Full is what a mailbox does with a message that finds its lane full.
type Full uint8

const (
	// Keep breaks the stream: its sender has at most one outstanding, so a full lane shows a
	// peer that violates the protocol.
	Keep Full = iota
	// Latest replaces an older one of the same stream, kind and subject, whether the lane is
	// full or not: a newer one says at least as much.
	Latest
	// Refuse leaves a stub, from which the machine answers.
	Refuse
	// Drop loses it: its protocol sends it again.
	Drop
)

func (f Full) String() string {
	switch f {
	case Keep:
		return "keep"
	case Latest:
		return "latest"
	case Refuse:
		return "refuse"
	case Drop:
		return "drop"
	}
	return fmt.Sprintf("full(%d)", uint8(f))
}

// Message is anything that crosses a wire. core/message holds the catalogue and generates these
// methods. Size and Digest are exact: decoding an encoded message preserves both.
type Message interface {
	Kind() Kind
	Priority() Priority
	Full() Full
	Subject() uint64 // of a Latest one: digest of what it is about, beside its stream and kind
	Size() int       // bytes of the encoded body
	Digest() uint64  // of every field
}

// Stubbed is a message whose Full is Refuse.
type Stubbed interface {
	Message
	// Stub returns a message of the same kind with only the fields that a refusal names.
	Stub() Message
}

// Machine is the whole logic of a node.
type Machine interface {
	// Step handles one input. The machine may use in, and what it points to, only until Step
	// returns. in.Message and in.Body are values that it may keep.
	Step(env Env, in *Input)
}

// Bug stops the node: an invariant of our own is broken, and continuing would spread the
// damage. Give both values that disagree.
func Bug(format string, args ...any) {
	panic("bug: " + fmt.Sprintf(format, args...))
}
