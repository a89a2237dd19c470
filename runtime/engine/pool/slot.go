package pool

import (
	"time"

	"hyperscale/runtime/engine/measure"
	"hyperscale/runtime/epoll"
	"hyperscale/runtime/protocol/codec"
	"hyperscale/runtime/protocol/http1"
)

const (
	Never = 1<<63 - 1 // an instant that never arrives
	None  = -1        // no index
)

// ticket names an entry that may have ended, or been replaced, when its turn arrives.
type ticket struct {
	index  int32
	serial uint32
}

// breakage is a request that failed while it started: it ends in a later turn, so that a start
// never calls itself.
type breakage struct {
	Slot int32
	Err  error
}

// RequestSlot is a place for one request at a time, and holds the request in progress. It
// belongs to a virtual user's request steps, of which some share one, or to a coroutine. An
// alarm of the wheel carries its index.
type RequestSlot struct {
	Parser  http1.Parser
	Call    *http1.Call // what it sends
	Host    *Host       // its destination
	Account *measure.Account
	Due     int64 // intended start of the request
	measure.Instants
	Deadline int64
	alarm    int64 // when the wheel fires for it; 0: not set
	turn
	stream
	answer
	trial
	Sent    int   // sent bytes of the request
	Conn    int32 // none: it has no connection
	VU      int32
	Serial  uint32 // of the request: tickets of another one are void
	Refused uint16 // errno of a write that an answer may still explain; 0: none
	Step    int16  // none: no request in progress
	Counted bool   // its step has counted the start
	broke   bool   // it is listed as broken: nothing else may end the request
}

// turn is a slot's state in pools.
type turn struct {
	patience int64 // while it waits in a pool: its remaining time once its turn arrives
	pool     *pool // where it waits; nil: it does not
	reserved *pool // the pool for which it opens a connection
}

// stream is a slot's request on a connection that carries several.
type stream struct {
	Framed *codec.Operation // its call, as last sent
	Own    *OwnOperation    // its memory
	home   ticket           // the connection of its last stream
	id     uint32
}

// answer is what the slot knows of an answer whose body is not kept.
type answer struct {
	Size   int64 // of the body
	In     int64 // bytes of it that were read
	Status uint16
	Tap    http1.Tap // that reads the body as it comes; nil: nothing does
	Talk   Talk      // the messages that it exchanges in place of an answer; nil: it is HTTP
	Pin    *Pin      // what keeps its connection; nil: its user does
	Called Called    // of an exchange with a custom program
}

// Called is where the call of a custom program is. The zero value: nowhere.
type Called struct {
	Process int32 // its number, from 1; below 0: it waits for one
	Place   int32 // within the process's conversation
}

// trial is a slot's progress through the addresses of its host.
type trial struct {
	first uint8 // index of the first one
	tried uint8 // those that accepted no connection
	found uint8 // the look-up of its host that found the address, as sought counts them
}

// slots are the places of requests, by index: those of user 0's request steps, of user 1's,
// ..., and then those of functions.
type slots struct {
	*Connections
	Own    []RequestSlot
	others []*RequestSlot
	Wheel  *epoll.Wheel // deadlines, by index
	Broken []breakage
	Common http1.Common // of all parsers
}

func newSlots(c *Connections, o Options) slots {
	s := slots{Connections: c, Own: make([]RequestSlot, o.Slots), Wheel: epoll.NewWheel(0)}
	s.Common.BodyMax = o.Workflow.HTTP.MaxBody
	for i := range s.Own {
		s.Own[i].Step, s.Own[i].Conn, s.Own[i].home.index = None, None, None
	}
	return s
}

// At returns a slot by its index.
func (s *slots) At(index int32) *RequestSlot {
	if int(index) < len(s.Own) {
		return &s.Own[index]
	}
	return s.others[int(index)-len(s.Own)]
}

// More adds a slot after the others, and returns its index.
func (s *slots) More(n *RequestSlot) int32 {
	n.Step, n.Conn, n.home.index = None, None, None
	s.others = append(s.others, n)
	return int32(len(s.Own) + len(s.others) - 1)
}

// Quiet drops all alarms: the clock starts over, and nothing is in flight.
func (s *slots) Quiet() {
	s.Wheel = epoll.NewWheel(0)
	for _, n := range s.others {
		n.alarm = 0
	}
	s.talks.beatAnew()
}

// count counts a request when it is dispatched.
func (s *slots) count(n *RequestSlot) {
	if !n.Counted {
		n.Counted = true
		n.Account.Start(time.Duration(s.Clock.Now))
	}
}

// Alarm makes the wheel fire for the slot. An earlier deadline moves the alarm; a later one
// does not: an alarm that fires too early is set again, which is far rarer than a request.
func (s *slots) Alarm(index int32, at int64) {
	if n := s.At(index); n.alarm == 0 || n.alarm > at {
		n.alarm = at
		s.Wheel.Set(index, at)
	}
}

// SetOut dispatches a request that Aside carries: its timeout starts.
func (s *slots) SetOut(index int32) { s.setOut(index) }

// setOut dispatches a request: its timeout starts, also if it has waited for its turn.
func (s *slots) setOut(index int32) {
	n := s.At(index)
	if n.pool != nil {
		n.pool = nil
		n.Deadline = s.Clock.Now + n.patience
	}
	s.count(n)
	s.Alarm(index, n.Deadline)
}

// parses prepares a slot for an answer over HTTP/1.1.
func (s *slots) parses(n *RequestSlot) {
	n.Parser.Share(&s.Common)
	n.Parser.Reset(n.Call.Method)
}

// Breaks notes that a request failed while it started or was written.
func (s *slots) Breaks(index int32, err error) {
	s.At(index).broke = true
	s.Broken = append(s.Broken, breakage{index, err})
}

// OwnOperation is a request that only its slot sends, with its own memory.
type OwnOperation struct {
	codec.Operation
	Copy []byte // memory of its body
}
