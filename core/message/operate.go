package message

//msgp:limit arrays:4096 maps:64 marshal:false
//msgp:noduplicates

import (
	"fmt"
	"time"
)

// ClusterListed bounds each list of a ClusterStatus.
const ClusterListed = 1000

// ClusterQuery requests a gate's view: which nodes are alive, which one leads, and which gate
// owns which job.
//
//catalogue:message kind=136 class=control priority=low full=refuse from=client needs=view since=0 stub=Request
type ClusterQuery struct {
	Request RequestID `msg:"request"`
}

// MemberInfo is one member of the gates' group.
type MemberInfo struct {
	Node        string        `msg:"node"` // empty if it was never heard
	Addr        string        `msg:"addr" require:"true"`
	Role        uint8         `msg:"role"`
	Incarnation uint64        `msg:"incarnation"`
	State       string        `msg:"state"` // "unknown", "alive", "suspect", "dead", "left"; "no manager": alive, and it hears no manager
	By          string        `msg:"by"`    // the member that raised it
	Reason      string        `msg:"reason"`
	Since       time.Duration `msg:"since"`
	Draining    bool          `msg:"draining"` // it reports that it takes no new work

	Version string `msg:"version,omitempty" since:"1"` // of the protocol, of a gate that this one is connected to
}

// LeaseInfo is one register in this gate's own acceptor.
type LeaseInfo struct {
	Job      JobID         `msg:"job" require:"true"`
	Name     string        `msg:"name"`
	State    JobState      `msg:"state"`  // in its record
	Holder   string        `msg:"holder"` // address of the last one that this gate knows, empty if its lease has run out
	Token    LeaseToken    `msg:"token"`
	Left     time.Duration `msg:"left"`
	Released bool          `msg:"released"`
	Missing  uint32        `msg:"missing"`           // files that its record names and this gate's disk lacks
	Unheard  bool          `msg:"unheard" since:"1"` // this gate does not know who holds it: it has heard of no renewal since its start, or for a lease
}

// ClusterStatus answers a ClusterQuery. ClusterListed bounds its lists; the sums count
// everything.
//
//catalogue:message kind=137 class=control priority=normal full=keep from=gate since=0
type ClusterStatus struct {
	Request   RequestID    `msg:"request"`
	Gate      string       `msg:"gate" require:"true"` // the gate that answers
	Standing  string       `msg:"standing"`            // "founding", "joining", "member"
	Draining  bool         `msg:"draining"`
	Leader    string       `msg:"leader"` // address, empty if unknown
	Term      uint64       `msg:"term"`
	Gates     []string     `msg:"gates"`   // the configured set
	Members   []MemberInfo `msg:"members"` // by address
	MemberSum uint32       `msg:"member_sum"`
	Leases    []LeaseInfo  `msg:"leases"` // held ones first, by job
	LeaseSum  uint32       `msg:"lease_sum"`
	Alarms    uint32       `msg:"alarms"` // of clocks, since this gate started
	Alarm     string       `msg:"alarm"`  // the newest
	Warnings  []string     `msg:"warnings"`

	SetVersion uint64 `msg:"set_version" since:"1"` // how many seats of Gates were given to other addresses: Gates are by seat then
}

// DrainRequest asks a gate to drain a node: it takes no new work and hands over what it owns.
// With Undo it takes work again.
//
//catalogue:message kind=138 class=control priority=high full=refuse from=client needs=operate since=0 stub=Request
type DrainRequest struct {
	Request RequestID `msg:"request"`
	Node    string    `msg:"node" require:"true"`
	Undo    bool      `msg:"undo"`
}

// DrainAck reports that the order was given, and which node passes it on.
//
//catalogue:message kind=139 class=control priority=high full=keep from=gate since=0
type DrainAck struct {
	Request RequestID `msg:"request"`
	Node    string    `msg:"node" require:"true"`
	Via     string    `msg:"via"` // the node that passes it on, empty if this gate obeyed it
}

// Drain orders the named node to take no new work and hand over what it owns, or to take work
// again. A node with another name passes it to the named one if it knows it.
//
//catalogue:message kind=140 class=control priority=high full=keep from=gate,manager since=0
type Drain struct {
	Node string `msg:"node" require:"true"`
	Undo bool   `msg:"undo"`
}

// JobListQuery asks a gate for the next page of the jobs that it knows. A client that gets one
// as a command asks every gate for all pages, and merges them.
//
//catalogue:message kind=144 class=control priority=low full=refuse from=client needs=view since=0 stub=Request
type JobListQuery struct {
	Request RequestID `msg:"request"`
	After   JobID     `msg:"after"` // the last job of the page before; zero for the first page
	Dead    bool      `msg:"dead"`  // only dead letters
}

// LetterInfo describes a dead letter: a job that the gate acknowledged and the cluster ended, not
// its program, its user or a client.
type LetterInfo struct {
	Job     JobID         `msg:"job" require:"true"`
	Key     string        `msg:"key"`
	Reason  string        `msg:"reason"`  // of the end
	Ended   time.Duration `msg:"ended"`   // so long ago, at least
	Program FileDigest    `msg:"program"` // the file with its submission
	Bytes   uint64        `msg:"bytes"`   // of that file
}

// JobReplay asks a gate to submit a dead letter's program once more, under the key of ReplayKey.
// The letter stays, and JobAck names the new job.
//
//catalogue:message kind=149 class=dispatch priority=normal full=refuse from=client needs=submit since=0 stub=Request
type JobReplay struct {
	Request RequestID `msg:"request"`
	Job     JobID     `msg:"job" require:"true"`
	Number  uint32    `msg:"number"` // of the replay: equal numbers are one job
}

// ReplayKey is the key of a dead letter's replay.
func ReplayKey(job JobID, number uint32) string { return fmt.Sprintf("replay/%v/%d", job, number) }

// GateView says whether a gate listed its jobs.
type GateView struct {
	Node string `msg:"node"` // empty if it was never heard
	Addr string `msg:"addr" require:"true"`
	Why  string `msg:"why"` // its list is missing; empty: it is there
}

// JobList is a page of the jobs in a gate's own acceptor and memory, ordered by job. A client
// answers its command with one that merges the pages of all gates, the newest job first.
//
//catalogue:message kind=145 class=control priority=normal full=keep from=gate since=0
type JobList struct {
	Request RequestID  `msg:"request"`
	Gate    string     `msg:"gate" require:"true"` // the node that answers
	Addr    string     `msg:"addr"`                // of the gate, as other gates know it
	Jobs    []JobInfo  `msg:"jobs"`
	More    bool       `msg:"more"`  // further jobs follow; in a merged list: they exceed the client's bound
	Gates   []GateView `msg:"gates"` // of a merged list: all gates, by address

	Letters []LetterInfo `msg:"letters"` // the jobs of the page that are dead letters, by job
}

// BackupQuery asks a gate for the next page of its registers, or for bytes of a file. A client asks
// all gates for all registers first: a record names a file only once a majority has it.
//
//catalogue:message kind=170 class=control priority=low full=refuse from=client needs=operate since=1 stub=Request
type BackupQuery struct {
	Request RequestID  `msg:"request"`
	After   JobID      `msg:"after"`  // the last register of the page before; zero for the first page
	File    FileDigest `msg:"file"`   // whose bytes are asked for; zero: registers are
	Offset  uint64     `msg:"offset"` // of the first byte
}

// BackupPage answers a BackupQuery with what is on the gate's disk.
//
//catalogue:message kind=171 class=control priority=normal full=keep from=gate since=1
type BackupPage struct {
	Request   RequestID       `msg:"request"`
	Gate      string          `msg:"gate" require:"true"`
	Addr      string          `msg:"addr" require:"true"` // of the gate, as other gates know it
	Members   []string        `msg:"members"`             // the configured set, sorted
	Epoch     uint64          `msg:"epoch"`               // of the group
	Floor     uint64          `msg:"floor"`               // of the promises that this member has forgotten
	Level     uint16          `msg:"level"`               // of what the group writes
	Registers []LeaseRegister `msg:"registers"`
	Length    uint64          `msg:"length"` // of the file; 0: this gate does not have it
	Data      []byte          `msg:"data,limit=1048576"`
	More      bool            `msg:"more"`
}

// UpgradeQuery asks a gate for the versions of all groups: of the gates, and of each datacenter's
// managers.
//
//catalogue:message kind=167 class=control priority=low full=refuse from=client needs=view since=1 stub=Request
type UpgradeQuery struct {
	Request RequestID `msg:"request"`
}

// UpgradeFinalize orders each group to use what its members' version has added. A group of which one
// member is older, or is not heard, keeps its level. The answer is as to an UpgradeQuery.
//
//catalogue:message kind=168 class=control priority=high full=refuse from=client needs=operate since=1 stub=Request
type UpgradeFinalize struct {
	Request RequestID `msg:"request"`
}

// GroupVersion is what one member knows of its group's version.
type GroupVersion struct {
	Group   string          `msg:"group" require:"true"`
	Level   uint16          `msg:"level"`  // on the disk of the member that answers
	Agreed  bool            `msg:"agreed"` // a majority has this level on disk
	Target  uint16          `msg:"target"` // the level that an operator can raise it to: the version of that member
	Held    []string        `msg:"held"`   // why the group cannot have that level; none: it can
	Members []MemberVersion `msg:"members"`
}

// MemberVersion is one member of such a group.
type MemberVersion struct {
	Addr  string `msg:"addr" require:"true"`
	Heard bool   `msg:"heard"` // it is connected
	Minor uint16 `msg:"minor"` // its version
	Level uint16 `msg:"level"` // as it said last
}

// UpgradeStatus answers a gate's client, or the order of a gate to a manager.
//
//catalogue:message kind=169 class=control priority=normal full=keep from=gate,manager since=1
type UpgradeStatus struct {
	Request RequestID      `msg:"request"`
	Gate    string         `msg:"gate"`   // the gate that answers
	Groups  []GroupVersion `msg:"groups"` // the gates' first, then by datacenter
}

// SeatReplace gives the seat that one address has in the set of the gates, or of a datacenter's
// managers, to another address.
//
//catalogue:message kind=161 class=control priority=high full=refuse from=client needs=operate since=1 stub=Request
type SeatReplace struct {
	Request RequestID `msg:"request"`
	Old     string    `msg:"old" require:"true"`
	New     string    `msg:"new" require:"true"`
}

// SeatOrder passes SeatReplace to a manager of the group that it is about.
//
//catalogue:message kind=165 class=control priority=high full=drop from=gate since=1
type SeatOrder struct {
	Request RequestID `msg:"request"`
	Old     string    `msg:"old" require:"true"`
	New     string    `msg:"new" require:"true"`
}

// SeatReplaced reports the set that a member's disk has now. A manager also reports why nothing
// changed, or, with neither, that the address is not of its set.
//
//catalogue:message kind=162 class=control priority=high full=drop from=gate,manager since=1
type SeatReplaced struct {
	Request RequestID `msg:"request"`
	Group   string    `msg:"group"`
	Version uint64    `msg:"version"`
	Set     []string  `msg:"set"`             // by seat
	Why     string    `msg:"why"`             // nothing changed; never to a client, which gets Refused
	Known   uint32    `msg:"known,omitempty"` // how many of that set are known to have it on disk, the sender included
}

// Majority says that a majority of the set is known to have it on disk.
func (r *SeatReplaced) Majority() bool { return 2*int(r.Known) > len(r.Set) }

// SeatAsk asks another member of a group whether the group can bear that a member leaves with its disk.
//
//catalogue:message kind=163 class=control priority=high full=drop from=gate,manager since=1
type SeatAsk struct {
	Group   string `msg:"group" require:"true"`
	Nonce   uint64 `msg:"nonce" require:"true"`
	Version uint64 `msg:"version"` // of the sender's set
	Old     string `msg:"old" require:"true"`
}

// SeatWord answers SeatAsk.
//
//catalogue:message kind=164 class=control priority=high full=drop from=gate,manager since=1
type SeatWord struct {
	Group string `msg:"group" require:"true"`
	Nonce uint64 `msg:"nonce" require:"true"`
	Why   string `msg:"why"`   // the sender does not agree; empty: it does
	Hears bool   `msg:"hears"` // it would agree if the member that leaves were silent
}
