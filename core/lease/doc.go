// Package lease keeps one owner per job, and its record, among a configured set
// of members: one register a job, replicated to a majority, without a log.
//
// It does not choose who should own (Config.Order ranks the members) nor act on ownership
// (roles do); it keeps no large values (core/archive does) and knows no streams:
// a Poster carries its messages, and they may be lost, doubled, reordered, late.
// A machine has one Registers at most: timers and store tokens are the part's.
//
// Source: DESIGN.md, "Ownership". Departs from Paxos leases (PaxosLease, 2012):
// acceptors are durable, the holder's clock starts when it sends, and a promise
// belongs to a (token, life), as a lost disk may lead to a token once more.
// Every member is acceptor and proposer; it speaks to its own acceptor in memory,
// and what that has not synced counts for nothing.
//
// Invariants, while clocks drift within DriftPPM (LEASE-1, LEASE-4, LEASE-5 beyond it too):
//
//	LEASE-1 No two grants of a register have one token.
//	LEASE-2 An attempt that begins after a grant gets a higher token.
//	LEASE-3 Two nodes never hold a register at once: valid while now - sent < Hold,
//	        held while now - received < Guard.
//	LEASE-4 What a majority has accepted is in the record of every later grant and
//	        read, through crashes and a minority of lost disks at a time.
//	LEASE-5 An acceptor tells nothing that is not on its disk, but for renewals, which
//	        change no record; nothing at all before it is a member.
//	LEASE-6 A resend carries the Seq of the first send and moves no window.
//
// For roles. Drain Take after every call. Outcome Granted may come again for a job
// that is held (Again): somebody was promised more, so this node acquired above
// that; the record of the outcome replaces what the role remembers, tickets of
// before are void. After Lost or Denied nothing of the job is under way; Vacant
// comes again, each guard, until somebody holds it. Updated answers each ticket
// that its record or a later one covers. A role that calls Flush last in its Step
// saves the hop over a timer. LeaseReturned of a call that may yet take effect is
// never emitted; a read by the holder alone is called "read-held".
//
//	r.Acquire(env, job, seed)
//	for _, o := range r.Take() { ... o.Kind == lease.Granted ... }
//
// Founding: blank, founding, member, each on disk before it is told. A blank disk
// beside members joins (rejoin.go): a generation of its disk above all known, on
// a majority of the others, then their registers, as copies that prove nothing to
// readers. When a majority of the disks is lost nobody founds anew: recover.go
// makes one disk the truth of a new epoch, on an operator's word.
//
// Layers, of which each calls those below it alone: Registers dispatches; membership
// founds, joins and recovers; proposer and reader want registers; acceptor answers
// them, store writes and mail sends what it says; seat says who all are. Rules are
// values: register judges requests, proposal holds one wish, tag names what follows
// a write.
//
// Read config.go, outcome.go, errors.go, seat.go, frame.go, register.go, write.go,
// acceptor.go, watch.go, due.go, proposal.go, acquire.go, hold.go, read.go, join.go,
// rejoin.go, recover.go, machine.go, fault.go, rest.go.
package lease
