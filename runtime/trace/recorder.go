package trace

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/runtime/redact"
)

// Bounds of a Recorder.
const (
	Queue      = 256       // samples that wait to become lines
	LinesMax   = 1000      // samples of a second
	batchBytes = 256 << 10 // of one message; a longer one has one line more
)

// Recorder takes the samples of one executor. A nil Recorder takes none.
type Recorder struct {
	plan  Plan
	mask  *redact.Mask
	begun []uint64             // iterations, by user of this executor
	open  map[int32]*Iteration // those that are sampled
	queue chan Sample
	done  chan struct{}

	seen   uint64 // samples
	left   uint64 // that had no room
	second int64  // of the run's time
	count  int    // of its samples
}

// Sender carries lines to the file. It may be slow.
type Sender interface{ SendTrace(m *message.ExecTrace) }

// NewRecorder returns a recorder, which its user closes.
func NewRecorder(p Plan, mask *redact.Mask, to Sender) *Recorder {
	r := &Recorder{plan: p, mask: mask, open: map[int32]*Iteration{}, queue: make(chan Sample, Queue), done: make(chan struct{})}
	go r.write(to)
	return r
}

// Begin notes that a user begins an iteration. The user has the index vu here, and number in the
// whole workflow.
func (r *Recorder) Begin(vu int32, number uint64) {
	if r == nil {
		return
	}
	for int(vu) >= len(r.begun) {
		r.begun = append(r.begun, 0)
	}
	r.begun[vu]++
	if r.plan.Chosen(number, r.begun[vu]) {
		r.open[vu] = &Iteration{User: number, Number: r.begun[vu]}
	}
}

// End notes that its iteration has ended.
func (r *Recorder) End(vu int32) {
	if r != nil && len(r.open) > 0 {
		delete(r.open, vu)
	}
}

// Of returns the iteration of a user if it is sampled.
func (r *Recorder) Of(vu int32) *Iteration {
	if r == nil || len(r.open) == 0 {
		return nil
	}
	return r.open[vu]
}

// Add takes a sample. It never waits.
func (r *Recorder) Add(s Sample) {
	r.seen++
	if second := s.Ended / int64(time.Second); second != r.second {
		r.second, r.count = second, 0
	}
	if r.count++; r.count <= LinesMax {
		select {
		case r.queue <- s:
			return
		default:
		}
	}
	r.left++
}

// Close sends what is left, and how much was left out. No Add may follow.
func (r *Recorder) Close() {
	if r != nil {
		close(r.queue)
		<-r.done
	}
}

// write makes lines of samples and sends them.
func (r *Recorder) write(to Sender) {
	defer close(r.done)
	for s := range r.queue {
		b := s.append(nil, r.plan.Workflow, r.mask)
		for n, more := 1, true; more && n < Queue && len(b) < batchBytes; n++ {
			select {
			case next, ok := <-r.queue:
				if more = ok; ok {
					b = next.append(b, r.plan.Workflow, r.mask)
				}
			default:
				more = false
			}
		}
		to.SendTrace(&message.ExecTrace{Lines: b})
	}
	to.SendTrace(&message.ExecTrace{Sampled: r.seen, LeftOut: r.left, Last: true})
}
