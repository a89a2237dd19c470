package lease

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Bounds of a configuration.
const (
	MembersMax = 64        // of a group
	LeaseMax   = time.Hour // a member rejects longer ones: a takeover would wait too long
	RecordMax  = 64 << 10  // bytes of a record, as the wire has it
	pageMax    = 1024      // registers of one LeaseJoinState
	putMax     = 4096      // registers of one write
)

// Config describes one member of one group. All members of a group have the same Lease,
// DriftPPM, Granularity and Members. The order of Members may differ while Version is 0.
type Config struct {
	Group   string      // its name, at most 64 bytes, without slashes
	Self    node.Addr   // which of Members this one is
	Members []node.Addr // as configured, never as alive: a majority is counted of them
	Set     seats.Set   // what the disk has once a seat was given to another address: Members are its members then; zero before

	Lease          time.Duration // L: how long a grant lasts unless it is renewed
	AttemptTimeout time.Duration // after this time an acquisition or a read reports that it waits
	RetryMin       time.Duration // between two sends of one request
	RetryMax       time.Duration
	RankWait       time.Duration // after an expiry a member waits this long times its rank before it tries
	TombstoneAge   time.Duration // how long a member remembers a buried register
	DriftPPM       int64         // r: rates of clocks lie within this many parts per million of real time
	Granularity    time.Duration // g: of the clocks
	RegistersMax   int           // that one member holds beside tombstones; it rejects more
	TombsMax       int           // tombstones that it holds in little memory; further ones count as registers
	RecordMax      int           // bytes of a record
	PageRegisters  int           // of one LeaseJoinState
	PutRecords     int           // registers of one write to the disk; the next write takes the rest
	// Recover starts a new epoch of the group from this member's disk and from what the members
	// that it reaches report. It is for the loss of a majority of disks. The member refuses to
	// recover while a majority is alive.
	Recover bool

	Others
	// Records reads what its role keeps in the registers. Nil means that any bytes are a record.
	Records Records
}

// Records reports whether a role reads a record of a job: an acceptor accepts no other one. gate/job and
// manager/subjob implement it.
type Records interface {
	Readable(job message.JobID, record []byte) bool
}

// Others is what this node knows of the other members beside the registers.
type Others struct {
	// Order ranks the members after an expiry. Nil means the order of Members, and that this node hears them all.
	Order Order

	// Versions says which versions the members tell. Nil means that no other one is heard.
	Versions Versions
}

// Order is what this node knows of the other members. quorum.Member implements it.
type Order interface {
	// Rank ranks this member for an expired job; 0 tries first.
	Rank(job message.JobID) int
	// Hears reports whether another member has sent anything of late, or may have while this node was stopped.
	Hears(now node.Instant, a node.Addr) bool
}

// Versions says which minor version the member at an address tells, while it is connected.
// uplink.Links implements it.
type Versions interface {
	Minor(a node.Addr) (minor uint16, heard bool)
}

// Default returns a configuration that lacks only group, address and members.
func Default() Config {
	return Config{
		Lease:          30 * time.Second,
		AttemptTimeout: 2 * time.Second,
		RetryMin:       200 * time.Millisecond,
		RetryMax:       400 * time.Millisecond,
		RankWait:       time.Second,
		TombstoneAge:   24 * time.Hour,
		DriftPPM:       10_000,
		Granularity:    time.Millisecond,
		RegistersMax:   100_000,
		TombsMax:       1_500_000,
		RecordMax:      32 << 10,
		PageRegisters:  pageMax,
		PutRecords:     putMax,
	}
}

// Hold returns H = floor(L(1-r)) - g: a holder is valid while now - sent < H.
func (c Config) Hold() time.Duration {
	return c.Lease - driftUp(c.Lease, c.DriftPPM) - c.Granularity
}

// Guard returns G = ceil(L(1+r)) + g: an acceptor regards a lease as held while now - received
// < G. The window closes first. A valid window means that less than L of real time has passed
// since sending. An expired guard means that at least L has passed since receiving, and each
// message arrives after it is sent.
func (c Config) Guard() time.Duration { return c.guard(c.Lease) }

func (c Config) guard(lease time.Duration) time.Duration {
	return lease + driftUp(lease, c.DriftPPM) + c.Granularity
}

// renewal returns when to renew a lease that was sent at an instant: after a third of it,
// rounded down so that renewals of about one moment share a frame.
func (c Config) renewal(sent node.Instant) node.Instant {
	slot := node.Instant(max(c.Lease/128, 1))
	return max((sent.Add(c.Lease/3))/slot*slot, sent+1)
}

// driftUp returns ceil(d r).
func driftUp(d time.Duration, ppm int64) time.Duration {
	const million = 1_000_000
	whole, rest := int64(d)/million, int64(d)%million
	return time.Duration(whole*ppm + (rest*ppm+million-1)/million)
}

// Majority returns how many of the configured members are a majority.
func (c Config) Majority() int { return len(c.Members)/2 + 1 }

// Validate reports all faults.
func (c Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Group == "" || len(c.Group) > 64 || strings.ContainsRune(c.Group, '/') {
		fault("lease.group = %q must have 1 to 64 bytes and no slash: name the datacenter, or gates", c.Group)
	}
	if len(c.Members) == 0 || len(c.Members) > MembersMax {
		fault("lease.members has %d addresses, must have 1 to %d: list the whole set", len(c.Members), MembersMax)
	}
	if sorted := slices.Sorted(slices.Values(c.Members)); len(slices.Compact(sorted)) != len(c.Members) {
		fault("lease.members = %v names an address twice: list each once", c.Members)
	}
	if !slices.Contains(c.Members, c.Self) {
		fault("lease.self = %q is not in lease.members = %v: add it there, as the others reach it", c.Self, c.Members)
	}
	for _, d := range []struct {
		name       string
		value      time.Duration
		least, top time.Duration
	}{
		{"lease", c.Lease, 10 * time.Millisecond, LeaseMax}, {"attempt_timeout", c.AttemptTimeout, time.Millisecond, LeaseMax},
		{"retry_min", c.RetryMin, time.Millisecond, LeaseMax}, {"retry_max", c.RetryMax, c.RetryMin, LeaseMax},
		{"rank_wait", c.RankWait, time.Millisecond, LeaseMax}, {"tombstone_age", c.TombstoneAge, time.Second, 8760 * time.Hour},
		{"granularity", c.Granularity, 1, time.Second},
	} {
		if d.value < d.least || d.value > d.top {
			fault("lease.%s = %v must be %v to %v: leave it out for the default", d.name, d.value, d.least, d.top)
		}
	}
	if c.DriftPPM < 0 || c.DriftPPM > 200_000 {
		fault("lease.drift_ppm = %d must be 0 to 200000: 10000 is 1 %%", c.DriftPPM)
	} else if c.Hold() <= c.Lease/2 {
		fault("lease.lease = %v leaves a holder %v of it: raise it, or lower lease.drift_ppm = %d", c.Lease, c.Hold(), c.DriftPPM)
	}
	if c.RetryMax > c.Lease/3 {
		fault("lease.retry_max = %v must not exceed a third of lease.lease = %v: a renewal needs a second try", c.RetryMax, c.Lease)
	}
	if c.RegistersMax < 1 || c.RegistersMax > 10_000_000 {
		fault("lease.registers_max = %d must be 1 to 10000000", c.RegistersMax)
	}
	if c.TombsMax < 1 || c.TombsMax > 100_000_000 {
		fault("lease.tombs_max = %d must be 1 to 100000000", c.TombsMax)
	}
	if c.RecordMax < 1 || c.RecordMax > RecordMax {
		fault("lease.record_max = %d must be 1 to %d: keep what is larger in the archive", c.RecordMax, RecordMax)
	}
	if c.PageRegisters < 1 || c.PageRegisters > pageMax {
		fault("lease.page_registers = %d must be 1 to %d: leave it out for the default", c.PageRegisters, pageMax)
	}
	if c.PutRecords < 1 || c.PutRecords > putMax {
		fault("lease.put_records = %d must be 1 to %d: leave it out for the default", c.PutRecords, putMax)
	}
	return errors.Join(faults...)
}
