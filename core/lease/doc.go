// Package lease keeps one owner per job, and its record, among a configured set of members.
// Each job has one register on a majority, without a log.
//
// It does not choose who should own a job (Config.Order does) nor act on ownership (roles do).
// It keeps no large values (core/archive does). It knows no streams: a Poster carries its
// messages, and they may be lost, doubled, reordered or late. A machine has one Registers.
//
// Source: docs/ownership.md. It departs from Paxos leases (PaxosLease, 2012): acceptors
// persist, and the holder's clock starts when it sends. A proposer that
// lost its disk may draw an old token again, so a promise names the token and the proposer's
// life, one run of it. Every member is acceptor and proposer. It calls
// its own acceptor in memory, which counts for nothing before its write is durable.
//
// Invariants, while clocks drift within DriftPPM (LEASE-1, LEASE-4, LEASE-5 beyond it too):
//
//	LEASE-1 No two grants of a register have one token.
//	LEASE-2 An attempt that begins after a grant gets a higher token.
//	LEASE-3 Two nodes never hold a register at once: a grant is valid while now - sent < Hold,
//	        and held while now - received < Guard.
//	LEASE-4 What a majority accepted is in the record of every later grant and read,
//	        through crashes and a minority of lost disks at a time.
//	LEASE-5 An acceptor answers only with what is on its disk, except renewals, which change no
//	        record. It answers nothing before it is a member.
//	LEASE-6 A resend carries the Seq of the first send and moves no window.
//	LEASE-7 While a member remembers a tombstone or holds a register, and after it forgot a
//	        promise, it promises and accepts no token below one that it promised.
//
// Roles drain Take after every call:
//
//	r.Acquire(env, job, seed)
//	for _, o := range r.Take() { ... o.Kind == lease.Granted ... }
//
// Granted may repeat with Again set: another node obtained a higher promise, so this node
// re-acquired with a higher token. The outcome's record replaces the role's, and earlier
// tickets will not complete. After Lost or Denied nothing of the job is under way. Vacant
// says that a lease has ended; it repeats after each Guard until a node holds the job. Updated answers each ticket that its
// record or a later one covers. A role that calls Flush last in its Step saves the hop over
// a timer. What its role tells by SetNote goes with each frame to other members. Emit gets no LeaseReturned of a call that may still take effect.
//
// A disk starts blank, then is founding, then member. The member persists each state before
// it answers in it. A
// blank disk beside members joins (rejoin.go). Recover (recover.go) makes one disk the truth of
// a new epoch, on an operator's word, after a majority of disks is lost.
//
// A member that has promised a token and accepted nothing for a guard forgets the register. First
// its disk has the promise's epoch as a floor. The floor binds the member for each register that it
// does not know, as if it had promised that away. Frames tell it: proposers choose tokens above
// the floors that they hear of. A member that joins takes over the floors of a majority.
//
// A role buries a register that it needs no more (watch.go). Package tomb keeps the proof of its
// release in little memory, and an epitaph: what a proposer or reader gets in place of the
// record.
//
// Layers, each calls those below it alone. Registers dispatches. membership founds, joins and
// recovers. proposer and reader want registers. acceptor answers, store writes, mail sends,
// seat knows the set. Rules are values: register, proposal, tag.
//
// Read config.go, outcome.go, errors.go, seat.go, frame.go, register.go, write.go,
// acceptor.go, watch.go, due.go, proposal.go, acquire.go, hold.go, read.go, join.go,
// rejoin.go, recover.go, set.go, machine.go, fault.go.
package lease
