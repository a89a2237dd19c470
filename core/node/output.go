package node

import "fmt"

// Outputs carries batches of rows to the sinks that this node's configuration names. Outcomes come as
// InputDelivered.
type Outputs interface {
	// Deliver hands a batch over. The host tries until the sink has it, never takes it, or is given up.
	// Then InputDelivered follows, once, with a last verdict; others may come before it. The host owns
	// the batch from here on, and changes none of its bytes.
	Deliver(d Delivery)
	// Forget drops a delivery: another node may own its job. A try that is under way may still reach the
	// sink, and an InputDelivered that waits already still arrives.
	Forget(id DeliveryID)
}

// DeliveryID names a batch on its way. The machine chooses it, and never uses it again within its
// incarnation.
type DeliveryID uint64

// Delivery is one batch of one job for one sink.
type Delivery struct {
	ID    DeliveryID
	Sink  string // its name in the configuration
	Batch []byte // a file: core/output.Read reads it
	// Again says that an earlier owner of the job, or an earlier incarnation, may have delivered the same
	// batch: of a sink that adds up, all of its rows are perhaps there twice.
	Again bool
}

// DeliveryVerdict says what has become of a delivery.
type DeliveryVerdict uint8

// The verdicts. All but DeliveryTrying are the last one of their delivery.
const (
	DeliveryNone         DeliveryVerdict = iota
	DeliveryTrying                       // a try failed for the reason Why: the host tries again
	DeliveryDone                         // the sink has all rows, but for those that are counted as rejected or lost
	DeliveryFailed                       // the host gives the sink up: none of the rows is certainly there, and later ones fail, too
	DeliveryUnconfigured                 // this node has no sink of that name
)

func (v DeliveryVerdict) String() string {
	names := [...]string{"none", "trying", "done", "failed", "unconfigured"}
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("verdict(%d)", uint8(v))
}

// Delivered is one report on a delivery. Its counts are those of this batch, with the last verdict alone.
type Delivered struct {
	ID      DeliveryID
	Verdict DeliveryVerdict
	Why     string // for people, without secrets; empty if all went well
	// Rejected rows are those that the sink never takes. The host keeps them as dead letters.
	Rejected, RejectedRequests uint64
	// Lost rows are those that no try can bring there: of a sink without answers.
	Lost, LostRequests uint64
	Twice              uint64 // rows that a sink that adds up perhaps has twice
}
