package record

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Job is a job in its register among the gates. It holds spans instead of instants, because the
// node that reads it has another clock.
type Job struct {
	Number      uint64             `rec:"number"` // of its turn, in the order of acceptance
	Key         string             `rec:"key" require:"true"`
	Digest      uint64             `rec:"digest"` // of its plan
	Name        string             `rec:"name"`
	Named       []string           `rec:"named" max:"4096"` // datacenters that the submission names
	RunTimeout  time.Duration      `rec:"run_timeout"`
	Last        Transition         `rec:"last"`
	Elapsed     time.Duration      `rec:"elapsed"` // since its submission
	Ran         bool               `rec:"ran"`
	RunFor      time.Duration      `rec:"run_for"` // since it first ran
	Closed      []string           `rec:"closed" max:"4096"`
	Subjobs     []JobSubjob        `rec:"subjobs" max:"4096"`
	Aborts      []Abort            `rec:"aborts" max:"4096"`
	Spec        message.FileDigest `rec:"spec"`
	Result      message.FileDigest `rec:"result"`
	ResultBytes uint64             `rec:"result_bytes"`
	Now         bool               `rec:"now"` // a client asked to end it without after_all

	// Files are those that only a newer version's fields name: every version keeps them.
	Files []message.FileDigest `rec:"files" max:"4096"`

	Behind Behind `rec:"behind"`

	Unknown Unknown
}

// Ended is how a workflow ended over all datacenters, in figures that clients get at once.
type Ended struct {
	Workflow uint32                `rec:"workflow"`
	State    message.WorkflowState `rec:"state"`
	Started  uint64                `rec:"started"`
	Failed   uint64                `rec:"failed"`
	Duration time.Duration         `rec:"duration"`
	P50      time.Duration         `rec:"p50"`
	P99      time.Duration         `rec:"p99"`
	Met      uint32                `rec:"met"`
	Missed   uint32                `rec:"missed"`
	Left     bool                  `rec:"left"` // in a datacenter that the job left: it runs again

	Unreported time.Duration `rec:"unreported" since:"1"` // it may have sent load for so long that no figure counts
	Unknown    Unknown
}

// Transition is a change of a job's state.
type Transition struct {
	From    message.JobState `rec:"from"`
	To      message.JobState `rec:"to"`
	Reason  string           `rec:"reason"`
	Unknown Unknown
}

// JobSubjob is one of the job's subjobs, in its record.
type JobSubjob struct {
	Datacenter string             `rec:"datacenter"`
	Manager    node.ID            `rec:"manager"`
	Fence      message.Fence      `rec:"fence"`
	Accepted   bool               `rec:"accepted"`
	Losses     uint64             `rec:"losses"` // of its managers
	State      message.JobState   `rec:"state"`  // of an end that no manager sent
	Error      string             `rec:"error"`
	Counted    message.FileDigest `rec:"counted"` // holds the result until the job's file does
	Fault      message.Fault      `rec:"fault"`   // of a FAILED end that no manager sent
	Unknown    Unknown
}

// Abort is a workflow that its own condition ends.
type Abort struct {
	Workflow  uint32 `rec:"workflow"`
	Condition uint32 `rec:"condition"`
	Value     int64  `rec:"value"` // when the condition had held for its time
	By        string `rec:"by"`    // the client that asked for it; empty: the condition did
	Why       string `rec:"why"`   // as that client said
	Unknown   Unknown
}

// Behind is what a job leaves behind it.
type Behind struct {
	Ended     []Ended              `rec:"ended" max:"4096"` // workflows, in the order in which clients learn it
	Freed     []message.FileDigest `rec:"freed" max:"4097"` // files that it needed until its end: no later record names them
	Left      []Left               `rec:"left" max:"65536"` // what datacenters that it left had begun: it counts nowhere
	Letter    Letter               `rec:"letter"`
	Takeovers uint64               `rec:"takeovers" since:"1"` // by gates, since their group has level.Takeovers
	Owner     string               `rec:"owner"`               // who submitted it, by the certificate; empty: there was none, or an older version took it
	// Restored says from which backup the record comes, of a job that had not ended then. What the
	// job did after that is unknown: a gate that adopts it ends it.
	Restored string `rec:"restored" since:"1"`

	Outputs Outputs `rec:"outputs" since:"1"`

	Unknown Unknown
}

// Outputs are the sinks that get a job's rows.
type Outputs struct {
	Sent    uint64 `rec:"sent"`           // when the client submitted it, in ms since 1970
	Sinks   []Sink `rec:"sinks" max:"64"` // by name
	Unknown Unknown
}

// Sink is one of them.
type Sink struct {
	Name   string             `rec:"name"`
	Window time.Duration      `rec:"window"`
	Number uint64             `rec:"number"` // of the newest batch that was tried, from 1
	File   message.FileDigest `rec:"file"`   // that batch, and what makes the rows behind it
	Done   bool               `rec:"done"`   // nothing follows

	// What the owner knew of a batch, by its number. Neither is Number: the sink may have the newest one. An owner that
	// does not know these fields carries them on to a later batch, of which they say nothing.
	Had     uint64 `rec:"had"`     // the sink has it, and the counts include it
	Untried uint64 `rec:"untried"` // no sink had it

	Failed string `rec:"failed"` // why it was given up

	Delivered        uint64 `rec:"delivered"` // rows of the batches before
	Rejected         uint64 `rec:"rejected"`
	RejectedRequests uint64 `rec:"rejected_requests"`
	Lost             uint64 `rec:"lost"`
	LostRequests     uint64 `rec:"lost_requests"`
	Twice            uint64 `rec:"twice"`

	Unknown Unknown
}

// Letter is what of a dead letter outlives the job: it can be replayed.
type Letter struct {
	Program message.FileDigest `rec:"program"` // the file with its submission; zero: the job is no dead letter
	Bytes   uint64             `rec:"bytes"`   // of that file
	Unknown Unknown
}

// Left is what one workflow of a job did in a datacenter that the job left.
type Left struct {
	Workflow   uint32        `rec:"workflow"`
	Reason     string        `rec:"reason"`
	Started    uint64        `rec:"started"`
	OK         uint64        `rec:"ok"`
	Until      time.Duration `rec:"until"`      // of the workflow's time, that of the last report
	Unreported time.Duration `rec:"unreported"` // after it, at most
	Unknown    Unknown
}
