package record

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Subjob is a subjob in its register among a datacenter's managers. It does not say what runs:
// workers report that.
type Subjob struct {
	// Spilled is the file that holds this record, if it is large. Then no other field is set.
	Spilled    message.FileDigest `rec:"spilled"`
	Epoch      uint64             `rec:"epoch"` // of the job, the highest known
	Gate       node.Addr          `rec:"gate"`  // that the manager reports to
	File       message.FileDigest `rec:"file"`  // of its dispatch
	Age        time.Duration      `rec:"age"`   // since its acceptance
	RunTimeout time.Duration      `rec:"run_timeout"`
	Stop       message.JobState   `rec:"stop"` // the state in which it must end; none while it continues
	Why        string             `rec:"why"`
	Stopped    Offset             `rec:"stopped"` // when that was decided
	Over       bool               `rec:"over"`    // after_all ends, too
	Result     message.FileDigest `rec:"result"`
	Workflows  []Workflow         `rec:"workflows" max:"4096"`
	Counters   []Counter          `rec:"counters" max:"64"` // of the plan, in its order

	// Files are those that only a newer version's fields name: every version keeps them.
	Files []message.FileDigest `rec:"files" max:"4096"`

	Unknown Unknown
}

// Workflow is one workflow of a subjob.
type Workflow struct {
	End     message.WorkflowState `rec:"end"`
	Failure string                `rec:"failure"`
	Started Offset                `rec:"started"`
	Ended   Offset                `rec:"ended"`
	Leased  uint64                `rec:"leased"` // total rows of its feed
	Burned  uint64                `rec:"burned"` // rows that lost attempts held
	Client  bool                  `rec:"client"` // Failure is a client's word: the workflow ends CANCELLED
	Shards  []Shard               `rec:"shards" max:"131072"`
	Unknown Unknown
}

// Counter is a counter of the job, in this datacenter.
type Counter struct {
	Leased  uint64 `rec:"leased"` // total values
	Unknown Unknown
}

// Offset is an instant of a subjob's own time: nanoseconds since its acceptance, plus one. Zero
// means never.
type Offset uint64

// OffsetOf returns the offset of a time since the subjob's acceptance; an earlier time counts
// as zero.
func OffsetOf(since time.Duration) Offset { return Offset(max(0, since)) + 1 }

// Since returns the time since the subjob's acceptance; false for never.
func (o Offset) Since() (since time.Duration, ever bool) {
	if o == 0 {
		return 0, false
	}
	return time.Duration(o - 1), true
}

// Shard is one shard of a workflow; its ordinal is its index in the list.
type Shard struct {
	VUs        uint64                `rec:"vus"`
	First      uint64                `rec:"first"` // number of its first virtual user
	Cores      uint32                `rec:"cores"`
	Tenancy    message.Tenancy       `rec:"tenancy"`
	Dispatches uint64                `rec:"sent"`
	Reruns     uint64                `rec:"reruns"`
	End        message.WorkflowState `rec:"end"` // the end without a result; none while it continues
	Why        string                `rec:"why"`
	Floor      message.Fence         `rec:"floor"`             // a fence up to this one is stale
	Failed     []string              `rec:"failed" max:"4096"` // workers that lost or rejected it
	Lost       []Lost                `rec:"lost" max:"4096"`
	Leased     uint64                `rec:"leased"`             // rows of its current attempt
	Rows       []Rows                `rec:"rows" max:"131072"`  // the newest block of each executor, by Of, then by core
	Kept       Kept                  `rec:"kept"`               // zero while it has no result
	Idle       bool                  `rec:"idle"`               // no attempt is out: the manager gave up the last one, and has not dispatched it since
	Origin     Offset                `rec:"origin"`             // when the workflow's time was zero for it, as far as its manager knows
	Waits      []Waits               `rec:"waits" max:"131072"` // of each executor at each barrier, by Of, then by core
	Unknown    Unknown
}

// Waits says how many waits of an executor at a barrier are released.
type Waits struct {
	Of       uint32 `rec:"of"` // a barrier of the plan, from 1
	Core     uint32 `rec:"core"`
	Released uint64 `rec:"released"`
	Unknown  Unknown
}

// Kept is the result of a shard.
type Kept struct {
	State   message.WorkflowState `rec:"state"`
	Worker  node.ID               `rec:"worker"`
	Fence   message.Fence         `rec:"fence"`
	File    message.FileDigest    `rec:"file"`
	Started uint64                `rec:"started"`
	Why     string                `rec:"why"`
	Unknown Unknown
}

// Lost is an attempt at a shard that was given up.
type Lost struct {
	Attempt uint64 `rec:"attempt"`
	Worker  string `rec:"worker"`
	Reason  string `rec:"reason"`
	Started uint64 `rec:"started"`
	OK      uint64 `rec:"ok"`

	Fence      message.Fence      `rec:"fence"`
	File       message.FileDigest `rec:"file"`       // its last report, if that counts
	From       time.Duration      `rec:"from"`       // of the workflow's time, when it began
	Until      time.Duration      `rec:"until"`      // of the workflow's time, up to which its figures count
	Unreplaced bool               `rec:"unreplaced"` // no other attempt followed before the time of the workflow was over
	Unreported time.Duration      `rec:"unreported"` // bound of the time in which it may have sent load that no figure counts
	Fault      message.Fault      `rec:"fault"`

	Unknown Unknown
}

// Rows is the last block of rows, or of a counter's values, that an executor leased.
type Rows struct {
	Core    uint32 `rec:"core"`
	Ask     uint64 `rec:"ask"`
	First   uint64 `rec:"first"`
	Count   uint64 `rec:"count"`
	Of      uint32 `rec:"of"` // zero: the workflow's feed; else a counter of the plan, from 1
	Unknown Unknown
}
