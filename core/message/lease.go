package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"cmp"
	"fmt"
	"time"
)

// LeaseToken names one grant of a register. Tokens are ordered by Epoch, then Ordinal. No two
// grants have the same token; the zero token is none.
type LeaseToken struct {
	Epoch   uint64 `msg:"e"`
	Ordinal uint32 `msg:"o"` // of the member that chose it, from 1
}

// OrdinalMax bounds the members of a group: a token packs into a fence.
const OrdinalMax = 255

// Compare orders tokens.
func (t LeaseToken) Compare(o LeaseToken) int {
	return cmp.Or(cmp.Compare(t.Epoch, o.Epoch), cmp.Compare(t.Ordinal, o.Ordinal))
}

// Less reports whether t is a lower token than o.
func (t LeaseToken) Less(o LeaseToken) bool { return t.Compare(o) < 0 }

// Zero reports whether t names no grant.
func (t LeaseToken) Zero() bool { return t == LeaseToken{} }

// Packed returns the token as an epoch of a Fence, in the same order.
func (t LeaseToken) Packed() uint64 { return t.Epoch<<8 | uint64(t.Ordinal) }

// UnpackToken returns the token that Packed made.
func UnpackToken(n uint64) LeaseToken {
	return LeaseToken{Epoch: n >> 8, Ordinal: uint32(n & OrdinalMax)}
}

func (t LeaseToken) String() string { return fmt.Sprintf("%d/%d", t.Epoch, t.Ordinal) }

// LeaseLife is one incarnation of one proposer. With a blank disk it may choose a token that it
// has chosen before, and only the life distinguishes the two.
type LeaseLife struct {
	Incarnation uint64 `msg:"i"`
	Salt        uint64 `msg:"s"` // drawn at each start
}

// LeaseState is what an acceptor has accepted of one register.
type LeaseState struct {
	Token    LeaseToken    `msg:"token"`
	Life     LeaseLife     `msg:"life"`
	Seq      uint64        `msg:"seq"` // of accepts under the token, from 0
	Rev      uint64        `msg:"rev"` // the Seq that last changed the record
	Released bool          `msg:"released"`
	Copied   bool          `msg:"copied"` // copied while joining: it proves no majority
	Lease    time.Duration `msg:"lease"`
	Record   []byte        `msg:"record,limit=65536"`
}

// LeasePrepare requests a promise.
type LeasePrepare struct {
	Job     JobID      `msg:"job" require:"true"`
	Token   LeaseToken `msg:"token"`
	Life    LeaseLife  `msg:"life"`
	Consent LeaseToken `msg:"consent"` // of the holder, zero for none
}

// LeasePromise answers a LeasePrepare, with what the acceptor has accepted.
type LeasePromise struct {
	Job      JobID      `msg:"job" require:"true"`
	Token    LeaseToken `msg:"token"`
	Life     LeaseLife  `msg:"life"`
	Accepted LeaseState `msg:"accepted"`
}

// LeaseRefusal rejects a prepare or an accept.
type LeaseRefusal struct {
	Job      JobID         `msg:"job" require:"true"`
	Token    LeaseToken    `msg:"token"`
	Life     LeaseLife     `msg:"life"`
	Promised LeaseToken    `msg:"promised"`
	Held     LeaseToken    `msg:"held"` // zero if no member holds it
	Left     time.Duration `msg:"left"` // until the lease runs out
}

// LeaseAccept grants, updates, renews or releases a register.
type LeaseAccept struct {
	Job      JobID         `msg:"job" require:"true"`
	Token    LeaseToken    `msg:"token"`
	Life     LeaseLife     `msg:"life"`
	Seq      uint64        `msg:"seq"`
	Rev      uint64        `msg:"rev"`
	Released bool          `msg:"released"`
	Lease    time.Duration `msg:"lease"`
	Record   []byte        `msg:"record,limit=65536"`
	Renewal  bool          `msg:"renewal"` // the message omits the record, which is the one of Rev
	Rest     []uint64      `msg:"rest"`    // by ordinal: disk generation of each promise that it rests on, 0 for none
}

// LeaseAccepted answers a LeaseAccept.
type LeaseAccepted struct {
	Job   JobID      `msg:"job" require:"true"`
	Token LeaseToken `msg:"token"`
	Life  LeaseLife  `msg:"life"`
	Seq   uint64     `msg:"seq"`
}

// LeaseQuery asks what an acceptor has accepted, and changes nothing.
type LeaseQuery struct {
	Job   JobID  `msg:"job" require:"true"`
	Nonce uint64 `msg:"nonce"`
}

// LeaseAnswer answers a LeaseQuery.
type LeaseAnswer struct {
	Job      JobID      `msg:"job" require:"true"`
	Nonce    uint64     `msg:"nonce"`
	Accepted LeaseState `msg:"accepted"`
}

// LeaseConsent lets a successor acquire what its sender holds and no longer acts for.
type LeaseConsent struct {
	Job   JobID      `msg:"job" require:"true"`
	Token LeaseToken `msg:"token"` // of the holder
}

// LeaseFrame carries one member's messages to another about any number of registers. The
// receiver writes them to its disk together.
//
//catalogue:message kind=96 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type LeaseFrame struct {
	Group     string          `msg:"group" require:"true"`
	Gens      []uint64        `msg:"gens"` // by ordinal: highest known generation of each member's disk
	Prepares  []LeasePrepare  `msg:"prepares"`
	Promises  []LeasePromise  `msg:"promises"`
	Refusals  []LeaseRefusal  `msg:"refusals"`
	Accepts   []LeaseAccept   `msg:"accepts"`
	Accepteds []LeaseAccepted `msg:"accepteds"`
	Queries   []LeaseQuery    `msg:"queries"`
	Answers   []LeaseAnswer   `msg:"answers"`
	Consents  []LeaseConsent  `msg:"consents"`
	Note      []byte          `msg:"note,limit=64"` // what the sender's role tells the members beside: core/lease.Note
	Floor     uint64          `msg:"floor"`         // no token up to this epoch gets a register that the sender does not know
}

// LeaseHail reports a member's standing before it has joined, and its configured set: members
// reject a different set.
//
//catalogue:message kind=97 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type LeaseHail struct {
	Group      string   `msg:"group" require:"true"`
	Members    []string `msg:"members"`
	Standing   uint8    `msg:"standing"` // 0 blank, 1 founding, 2 member, 3 member whose disk is the truth of a new epoch
	Generation uint64   `msg:"generation"`
	Answer     bool     `msg:"answer"`             // to a hail: the receiver does not answer it again
	Epoch      uint64   `msg:"epoch"`              // of the cluster: the recovery of a lost majority raises it
	Nonce      uint64   `msg:"nonce"`              // of the hail, and of its answer: answers to an earlier incarnation do not count
	Version    uint64   `msg:"version" since:"1"`  // how many seats of Members were given to other addresses: Members are in the order of their seats then
	Ordinals   []uint64 `msg:"ordinals" since:"1"` // of the seats in tokens, then
	Retired    []string `msg:"retired" since:"1"`  // addresses that had seats before
}

// LeaseJoinRead requests the highest known generation of the sender's disk, which it has lost.
//
//catalogue:message kind=98 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type LeaseJoinRead struct {
	Group string `msg:"group" require:"true"`
	Nonce uint64 `msg:"nonce" require:"true"`
}

// LeaseJoinKnown answers a LeaseJoinRead.
//
//catalogue:message kind=99 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type LeaseJoinKnown struct {
	Group string   `msg:"group" require:"true"`
	Nonce uint64   `msg:"nonce" require:"true"`
	Known uint64   `msg:"known"`
	Gens  []uint64 `msg:"gens"`
}

// LeaseJoinSet announces a new generation and requests all registers, one page at a time.
//
//catalogue:message kind=100 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type LeaseJoinSet struct {
	Group      string `msg:"group" require:"true"`
	Nonce      uint64 `msg:"nonce" require:"true"`
	Generation uint64 `msg:"generation" require:"true"`
	After      JobID  `msg:"after"` // the last register of the earlier page
}

// LeaseRegister is one register of such a page.
type LeaseRegister struct {
	Job      JobID      `msg:"job" require:"true"`
	Promised LeaseToken `msg:"promised"`
	Life     LeaseLife  `msg:"life"` // of the promise
	Accepted LeaseState `msg:"accepted"`
	Reaped   bool       `msg:"reaped"` // a tombstone
}

// LeaseJoinState answers a LeaseJoinSet.
//
//catalogue:message kind=101 class=control priority=critical full=keep from=gate,manager since=0 datagram=yes
type LeaseJoinState struct {
	Group     string          `msg:"group" require:"true"`
	Nonce     uint64          `msg:"nonce" require:"true"`
	Gens      []uint64        `msg:"gens"`
	Registers []LeaseRegister `msg:"registers"`
	More      bool            `msg:"more"`
	Floor     uint64          `msg:"floor"` // as in a LeaseFrame
}

// LeaseLevel tells another member the level of the group that the sender has on its disk, and asks it
// to raise its own. From a gate to a manager it orders the same for the manager's group.
//
//catalogue:message kind=166 class=control priority=critical full=keep from=gate,manager since=1 datagram=yes
type LeaseLevel struct {
	Group  string `msg:"group" require:"true"`
	Level  uint16 `msg:"level"`
	Raise  uint16 `msg:"raise"`  // the level that an operator wants; zero: none
	Answer bool   `msg:"answer"` // to a LeaseLevel: the receiver does not answer it again
}
