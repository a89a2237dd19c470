package story

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
	"hyperscale/sim/journey"
)

// kind distinguishes moments.
type kind uint8

const (
	kindSends  kind = iota // a message leaves; shown only if it never arrives
	kindGets               // a message arrives
	kindEvent              // a machine emits a decision
	kindAsked              // a user's command reaches a client
	kindAnswer             // a client answers its user
	kindExec               // a worker starts an executor
	kindStart              // a node starts again
	kindHalt               // a node ends itself
	kindFault              // a fault begins
)

// moment is one thing that happened. Its fields depend on its kind.
type moment struct {
	at      time.Duration
	node    node.ID
	kind    kind
	journey *journey.Journey
	message node.Message
	event   node.Event
	fault   sim.Fault
	n       uint64 // of kindStart: the incarnation; of kindExec: the core
	reason  string
	key     string // the client's key, before the job has an ID
}

// momentsMax bounds what the recorder keeps: some 200 MB.
const momentsMax = 1 << 20

// ask identifies one request of one client.
type ask struct {
	client  node.ID
	request message.RequestID
}

// Recorder is a sim.Observer that keeps what is about jobs.
type Recorder struct {
	tracker *journey.Tracker
	moments []moment
	dropped int
	asks    map[ask]string
	keys    map[string]message.JobID
	names   map[message.JobID]string // the keys, by job
	order   []message.JobID          // order of acceptance, or of first mention
	seen    map[message.JobID]bool
	lives   map[node.ID]uint64
	end     time.Duration // the last moment
}

var _ sim.Observer = (*Recorder)(nil)

// NewRecorder returns an empty recorder.
func NewRecorder() *Recorder {
	return &Recorder{
		tracker: journey.NewTracker(), asks: map[ask]string{}, keys: map[string]message.JobID{},
		names: map[message.JobID]string{}, seen: map[message.JobID]bool{}, lives: map[node.ID]uint64{},
	}
}

func (r *Recorder) add(m moment) {
	if len(r.moments) >= momentsMax {
		r.dropped++
		return
	}
	r.moments = append(r.moments, m)
}

// know records a job, in the order in which jobs became known.
func (r *Recorder) know(id message.JobID) {
	if id != (message.JobID{}) && !r.seen[id] {
		r.seen[id] = true
		r.order = append(r.order, id)
	}
}

// Input implements sim.Observer.
func (r *Recorder) Input(at time.Duration, id node.ID, in *node.Input) {
	r.end = at
	switch in.Kind {
	case node.InputStart:
		if r.lives[id]++; r.lives[id] > 1 {
			r.add(moment{at: at, node: id, kind: kindStart, n: r.lives[id]})
		}
	case node.InputCommand:
		if key, ok := keyOf(in.Message); ok || journey.JobOf(in.Message) != (message.JobID{}) {
			r.add(moment{at: at, node: id, kind: kindAsked, message: in.Message, key: key})
		}
	case node.InputMessage, node.InputStreamOpened, node.InputStreamBroken:
		r.travel(at, id, kindGets, r.tracker.Got(at, id, in))
	}
}

// Effect implements sim.Observer.
func (r *Recorder) Effect(at time.Duration, id node.ID, e *sim.Effect) {
	r.end = at
	switch e.Kind {
	case sim.EffectDatagram, sim.EffectOpen, sim.EffectSend:
		r.travel(at, id, kindSends, r.tracker.Sent(at, id, e))
	case sim.EffectAnswer:
		if journey.JobOf(e.Message) != (message.JobID{}) {
			r.add(moment{at: at, node: id, kind: kindAnswer, message: e.Message})
		}
	case sim.EffectExecStart:
		r.add(moment{at: at, node: id, kind: kindExec, message: e.Message, n: uint64(e.Core)})
	case sim.EffectHalt:
		r.add(moment{at: at, node: id, kind: kindHalt, reason: e.Reason})
	}
}

// travel keeps one end of a journey that belongs to a job, and connects the key of a submission
// to its job.
func (r *Recorder) travel(at time.Duration, id node.ID, k kind, j *journey.Journey) {
	if j == nil || journey.Routine(j.Message) || k == kindSends && journey.Progress(j.Message) {
		return
	}
	m := moment{at: at, node: id, kind: k, journey: j, message: j.Message}
	client := j.From
	if _, ok := j.Message.(*message.JobSubmit); !ok {
		client = r.tracker.Whom(j)
	}
	job := journey.JobOf(j.Message)
	if request := journey.RequestOf(j.Message); request != (message.RequestID{}) {
		a := ask{client, request}
		if key, ok := keyOf(j.Message); ok {
			r.asks[a] = key
		}
		m.key = r.asks[a]
		if job != (message.JobID{}) && m.key != "" {
			r.keys[m.key], r.names[job] = job, m.key
		}
	}
	if job != (message.JobID{}) || m.key != "" {
		r.add(m)
	}
}

func keyOf(m node.Message) (string, bool) {
	if s, ok := m.(*message.JobSubmit); ok {
		return s.Key, true
	}
	return "", false
}

// Event implements sim.Observer.
func (r *Recorder) Event(at time.Duration, id node.ID, _ uint64, e node.Event) {
	job := journey.JobOfEvent(e)
	if job == (message.JobID{}) {
		return
	}
	r.know(job)
	r.add(moment{at: at, node: id, kind: kindEvent, event: e})
}

// Fault implements sim.Observer.
func (r *Recorder) Fault(at time.Duration, f sim.Fault) {
	r.add(moment{at: at, kind: kindFault, fault: f})
}

// job returns the job that a moment belongs to, or zero.
func (r *Recorder) job(m *moment) message.JobID {
	if m.event != nil {
		return journey.JobOfEvent(m.event)
	}
	if m.message == nil {
		return message.JobID{}
	}
	if id := journey.JobOf(m.message); id != (message.JobID{}) {
		return id
	}
	return r.keys[m.key]
}
