package picture

import (
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/sim"
	"hyperscale/sim/journey"
)

// WindowMax bounds what a picture from the beginning shows: a minute of a storm is 25,000 things.
const WindowMax = 30000

// AroundMax bounds what a picture around a moment shows: a reader begins at that moment.
const AroundMax = 5000

// beginMax and entriesMax leave room for the heartbeats that never arrived: the recorder knows them
// only at the end.
const (
	beginMax   = WindowMax - lostMax
	entriesMax = AroundMax - lostMax
)

// afterMax is how much of a window may lie after the moment that it surrounds.
const afterMax = entriesMax / 4

// FromBeginning asks for a window that begins with the run.
const FromBeginning = time.Duration(-1)

// faultsMax bounds the bands.
const faultsMax = 1000

// sort distinguishes entries. page.html uses the same numbers.
type sort uint8

const (
	sortSend  sort = iota // a journey, drawn as an arrow
	sortTimer             // a timer fired
	sortEvent             // a decision
	sortBad               // a decision about something that went wrong
	sortStart             // a node starts
	sortEnd               // a node ends, of its own accord or not
	sortStop              // an operator asks a node to end
	sortUser              // a user's command, or an answer to it
	sortExec              // a message of an executor, or an order to it
	sortBreak             // a stream broke
	sortCopy              // a second copy of a datagram arrives
	sortPause             // a node is paused
)

// entry is one thing in the window.
type entry struct {
	at      time.Duration
	node    node.ID
	sort    sort
	journey *journey.Journey
	message node.Message
	event   node.Event
	timer   node.TimerKey
	reason  string
}

// band is a fault.
type band struct {
	fault sim.Fault
	at    time.Duration
}

// Recorder is a sim.Observer that keeps a window of what it sees.
type Recorder struct {
	around  time.Duration
	tracker *journey.Tracker
	before  []entry // up to around
	after   []entry
	cut     bool // something before, or after, did not fit
	bands   []band
	more    int // number of faults that did not fit
	lives   map[node.ID]int
	starts  []life // of the whole run, to know which nodes are down
	ends    []life
	roles   map[node.ID]node.Role
	places  map[node.ID]string
	seen    time.Duration // the last moment of the run
}

// life is a start or an end of a node.
type life struct {
	at   time.Duration
	node node.ID
}

var _ sim.Observer = (*Recorder)(nil)

// NewRecorder returns a recorder with a window around a time, or FromBeginning.
func NewRecorder(around time.Duration) *Recorder {
	return &Recorder{
		around: around, tracker: journey.NewTracker(), lives: map[node.ID]int{},
		roles: map[node.ID]node.Role{}, places: map[node.ID]string{},
	}
}

// add keeps an entry if the window has room for it.
func (r *Recorder) add(e entry) {
	switch {
	case r.around == FromBeginning:
		if len(r.before) == beginMax {
			r.cut = true
			return
		}
		r.before = append(r.before, e)
	case e.at <= r.around:
		if len(r.before) == 2*entriesMax {
			r.cut = true
			r.before = r.before[:copy(r.before, r.before[entriesMax:])]
		}
		r.before = append(r.before, e)
	case len(r.after) < afterMax:
		r.after = append(r.after, e)
	default:
		r.cut = true
	}
}

// window returns the entries of the window, in order.
func (r *Recorder) window() []entry {
	if r.around == FromBeginning {
		return r.before
	}
	room := entriesMax - len(r.after)
	if len(r.before) > room {
		r.cut = true
		r.before = r.before[len(r.before)-room:]
	}
	return append(r.before[:len(r.before):len(r.before)], r.after...)
}

// Input implements sim.Observer.
func (r *Recorder) Input(at time.Duration, id node.ID, in *node.Input) {
	r.seen = at
	if in.From.ID != "" {
		r.roles[in.From.ID] = in.From.Role
	}
	e := entry{at: at, node: id}
	switch in.Kind {
	case node.InputMessage, node.InputStreamOpened:
		r.arrived(at, id, in)
		return
	case node.InputStreamBroken:
		r.tracker.Got(at, id, in)
		e.sort, e.reason = sortBreak, string(in.From.ID)+": "+in.Reason
		if in.From.ID == "" {
			e.reason = in.Reason
		}
	case node.InputStart:
		r.starts = append(r.starts, life{at, id})
		e.sort = sortStart
	case node.InputStop:
		e.sort = sortStop
	case node.InputTimer:
		if routineTimer(in.Timer) {
			return
		}
		e.sort, e.timer = sortTimer, in.Timer
	case node.InputStored:
		if in.Err == nil {
			return
		}
		e.sort, e.reason = sortBad, "the disk refuses a write: "+in.Err.Error()
	case node.InputCommand:
		e.sort, e.message = sortUser, in.Message
	case node.InputExec:
		if !execNews(&in.Exec) {
			return
		}
		e.sort, e.message, e.reason = sortExec, in.Exec.Body, in.Exec.Reason
	default:
		return
	}
	r.add(e)
}

// execNews says whether an executor's message is more than progress.
func execNews(e *node.ExecEvent) bool {
	if e.Body == nil {
		return e.Reason != ""
	}
	_, progress := e.Body.(*message.ExecProgress)
	return !progress
}

func (r *Recorder) arrived(at time.Duration, id node.ID, in *node.Input) {
	j := r.tracker.Got(at, id, in)
	if j == nil {
		return
	}
	switch m := j.Message.(type) {
	case *message.ManagerHeartbeat:
		r.places[j.From] = m.Datacenter
	case *message.WorkerHeartbeat:
		r.places[j.From] = m.Datacenter
	}
	if j.Copy() && !journey.Routine(j.Message) {
		r.add(entry{at: at, node: id, sort: sortCopy, message: j.Message, reason: string(j.From)})
	}
}

// Effect implements sim.Observer.
func (r *Recorder) Effect(at time.Duration, id node.ID, e *sim.Effect) {
	r.seen = at
	switch e.Kind {
	case sim.EffectDatagram, sim.EffectOpen, sim.EffectSend:
		if j := r.tracker.Sent(at, id, e); j != nil && !journey.Routine(j.Message) {
			r.add(entry{at: at, node: id, sort: sortSend, journey: j, message: j.Message})
		}
	case sim.EffectAnswer:
		if !journey.Progress(e.Message) {
			r.add(entry{at: at, node: id, sort: sortUser, message: e.Message, reason: "answer"})
		}
	case sim.EffectExecStart:
		r.add(entry{at: at, node: id, sort: sortExec, message: e.Message})
	case sim.EffectHalt:
		r.ends = append(r.ends, life{at, id})
		r.add(entry{at: at, node: id, sort: sortEnd, reason: e.Reason})
	}
}

// Event implements sim.Observer.
func (r *Recorder) Event(at time.Duration, id node.ID, _ uint64, e node.Event) {
	r.seen = at
	s := sortEvent
	if wrong(e) {
		s = sortBad
	}
	r.add(entry{at: at, node: id, sort: s, event: e})
}

// Fault implements sim.Observer.
func (r *Recorder) Fault(at time.Duration, f sim.Fault) {
	r.seen = at
	if len(r.bands) == faultsMax {
		r.more++
		return
	}
	r.bands = append(r.bands, band{f, at})
	for _, id := range f.Nodes {
		switch f.Kind {
		case sim.FaultCrash:
			r.ends = append(r.ends, life{at, node.ID(id)})
			r.add(entry{at: at, node: node.ID(id), sort: sortEnd, reason: "crash"})
		case sim.FaultPause, sim.FaultSuspend:
			r.add(entry{at: at, node: node.ID(id), sort: sortPause})
		}
	}
}
