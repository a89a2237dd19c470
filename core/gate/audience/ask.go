package audience

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Question says what a client wants from a job.
type Question uint8

// Questions of clients.
const (
	Submit Question = iota + 1
	Status
	Watch
	Cancel
	Replay
)

// Ask is a client's request about one job. The gate answers now or later.
type Ask struct {
	What    Question
	Stream  node.StreamID
	Request message.RequestID
	From    node.ID
	Digest  uint64 // of the submission
	Again   bool   // the gate knew the key
	Now     bool   // of a cancellation: without after_all
	After   uint32 // of a watch: ends of workflows that the client has

	Workflows []string // of a cancellation: by name; none: the whole job
	Reason    string   // of a cancellation

	Detail *message.JobQuery // of a status: which page of details; nil for none

	Grant  node.Grant // of the client's certificate
	Number uint32     // of a replay
	Source string     // of a replay: where the client asks from
}

// Waiting holds the requests that wait for one job.
type Waiting struct {
	asks    []*Ask // until the job is ready, or until its open writes are on a majority
	cancels []*Ask // until CANCELLING, or the end, is on a majority
}

// Len counts all requests.
func (w *Waiting) Len() int { return len(w.asks) + len(w.cancels) }

// Asks counts the requests that wait for the job to be ready.
func (w *Waiting) Asks() int { return len(w.asks) }

// Cancels counts the cancellations that wait for a majority.
func (w *Waiting) Cancels() int { return len(w.cancels) }

// Add keeps a request until TakeAsks, and says whether there was room.
func (w *Waiting) Add(a *Ask, most int) bool {
	if len(w.asks) >= most {
		return false
	}
	w.asks = append(w.asks, a)
	return true
}

// Put replaces the requests that wait for the job to be ready.
func (w *Waiting) Put(asks []*Ask) { w.asks = asks }

// TakeAsks removes the requests that wait for the job to be ready.
func (w *Waiting) TakeAsks() []*Ask {
	asks := w.asks
	w.asks = nil
	return asks
}

// Cancel keeps a cancellation until TakeCancels, and says whether there was room.
func (w *Waiting) Cancel(a *Ask, most int) bool {
	if len(w.cancels) >= most {
		return false
	}
	w.cancels = append(w.cancels, a)
	return true
}

// TakeCancels removes the cancellations.
func (w *Waiting) TakeCancels() []*Ask {
	cancels := w.cancels
	w.cancels = nil
	return cancels
}

// TakeCancelsIf removes the cancellations that a condition picks.
func (w *Waiting) TakeCancelsIf(is func(*Ask) bool) (taken []*Ask) {
	w.cancels = slices.DeleteFunc(w.cancels, func(a *Ask) bool {
		if is(a) {
			taken = append(taken, a)
			return true
		}
		return false
	})
	return taken
}

// All lists the requests, and the watchers as requests. The caller can ask them again from the
// entry that replaces the job.
func (w *Waiting) All(watchers []*Watcher) []*Ask {
	asks := slices.Concat(w.asks, w.cancels)
	for _, o := range watchers {
		asks = append(asks, &Ask{What: Watch, Stream: o.Stream, Request: o.Request, After: o.Told})
	}
	return asks
}
