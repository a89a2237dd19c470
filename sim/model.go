package sim

import (
	"encoding/binary"
	"math/bits"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Model decides what the executors of a node do.
type Model interface {
	// Course draws one run's life from its start message.
	Course(s *message.ExecStart, r *node.Rand) Course
	// Stats returns what a run has measured so far. WorkflowRunning means that it goes on. Any
	// other state is the state of its end, when nothing is in flight and the counts add up.
	Stats(s *message.ExecStart, c *Course, elapsed time.Duration, state message.WorkflowState) message.Stats
	// Provided returns what a completed run provides to other workflows.
	Provided(s *message.ExecStart, c *Course) []message.Provided
}

// End is how a run ends without interference.
type End uint8

// Ends.
const (
	EndResult End = iota // a result with Course.State after Course.Length
	EndCrash             // gone after Length, with Course.Reason
	EndHang              // silent after Length, until it is killed
)

// Course is the life of one run, drawn at its start.
type Course struct {
	Boot         time.Duration // from the start to ExecStarted
	Length       time.Duration // from there to the end
	Every        time.Duration // between two progress reports; zero for none
	End          End
	State        message.WorkflowState // of the result
	Reason, Tail string                // of a failure or a crash
	IgnoreCancel bool
	CancelAfter  time.Duration // from a cancel to its result
	GoneAfter    time.Duration // from a result to ExecGone
	Response     time.Duration // typical time of one request
	Salt         uint64        // seed of the other figures
	Joined       time.Duration // of the workflow's time, when it began; set at its boot
	Want         uint64        // rows that it asks for at once; 0: it takes none
	Asks         time.Duration // from an answer with rows to the next question
	Of           uint32        // what it asks for: zero rows, else values of that counter of the plan, from 1
	Quiet        Quiet         // a time without reports
	Script       Script        // of what else it tells its worker; nil: nothing
}

// Quiet is a time in which a run goes on, and its loop does not turn: it reports nothing. Zero: none.
type Quiet struct {
	At, For time.Duration // of the run
}

// hides says that a report of that time is not sent.
func (q Quiet) hides(passed time.Duration) bool { return passed >= q.At && passed < q.At+q.For }

// Script decides what a run tells its worker beside its figures.
type Script interface {
	// Act is called when the run begins, with each message that the run receives, and when the time
	// has come that the last call returned. told is nil if no message has come.
	Act(now time.Duration, told node.Message) (says []node.Message, next time.Duration)
}

func (c *Course) crash(r *node.Rand, reason string) {
	c.End, c.Reason, c.Tail = EndCrash, reason, "panic: the model was told to crash"
	c.Length = time.Duration(r.N(uint64(c.Length) + 1))
}

func (c *Course) hang(r *node.Rand) {
	c.End, c.IgnoreCancel = EndHang, true
	c.Length = time.Duration(r.N(uint64(c.Length) + 1))
}

// join lets a run begin where its workflow stands. It ends with the workflow, unless its load
// begins anew.
func (c *Course) join(s *message.ExecStart, at time.Duration) {
	c.Joined = at
	if s.Duration > 0 && !s.Join.Anew {
		c.Length = min(c.Length, max(0, s.Duration-at))
	}
}

// ArrivalEvery is between two iterations that a plain model has each user of a timed workflow begin.
const ArrivalEvery = 10 * time.Millisecond

// due is how many iterations of a timed workflow so many users begin until then.
func due(vus uint64, at time.Duration) uint64 { return vus * uint64(at/ArrivalEvery) }

// Plain is the Model of a target that answers in a few milliseconds. Chances are in parts per
// million.
type Plain struct {
	// Steps says what a workflow consists of; nil means one request named "home".
	Steps func(*message.ExecStart) []message.StepPlan

	// Heed is called with each run that starts; it may be nil.
	Heed func(*message.ExecStart)
	// Provide returns what a completed run provides to other workflows; nil means nothing.
	Provide func(*message.ExecStart, *Course) []message.Provided

	BootMin, BootMax         time.Duration
	ProgressEvery            time.Duration
	ResponseMin, ResponseMax time.Duration
	CancelMax, GoneMax       time.Duration

	Failed, TimedOut uint32 // of requests

	Asking
	Script func(*message.ExecStart, *node.Rand) Script // of Course; nil: it has none
	Quiet  func(*message.ExecStart, *node.Rand) Quiet  // the same

	Fail         uint32 // chance that a run fails at some point
	Crash        uint32
	Hang         uint32
	IgnoreCancel uint32
	SlowBoot     uint32 // chance that a boot takes 20 times as long
}

// Asking is what a run asks for.
type Asking struct {
	Want uint64        // of Course
	Asks time.Duration // upper bound
	Of   uint32        // of Course
}

var _ Model = (*Plain)(nil)

// DefaultModel is a healthy executor with a healthy target.
func DefaultModel() *Plain {
	return &Plain{
		BootMin: 5 * time.Millisecond, BootMax: 40 * time.Millisecond,
		ProgressEvery: 500 * time.Millisecond,
		ResponseMin:   2 * time.Millisecond, ResponseMax: 20 * time.Millisecond,
		CancelMax: 50 * time.Millisecond, GoneMax: 10 * time.Millisecond,
		Failed: 2000, TimedOut: 100,
	}
}

// Course implements Model. It makes every draw, needed or not, so that one chance does not
// shift the others.
func (m *Plain) Course(s *message.ExecStart, r *node.Rand) Course {
	if m.Heed != nil {
		m.Heed(s)
	}
	c := Course{
		Boot: r.Duration(m.BootMin, m.BootMax), Every: m.ProgressEvery, State: message.WorkflowCompleted,
		Response: r.Duration(m.ResponseMin, m.ResponseMax), CancelAfter: r.Duration(0, m.CancelMax),
		GoneAfter: r.Duration(0, m.GoneMax), Salt: r.Uint64(),
	}
	c.Length = s.Duration
	if c.Length <= 0 { // one iteration of each virtual user
		c.Length = c.Response * time.Duration(max(1, len(m.steps(s))))
	}
	fail, crash, hang := r.Chance(uint64(m.Fail), million), r.Chance(uint64(m.Crash), million), r.Chance(uint64(m.Hang), million)
	c.IgnoreCancel = r.Chance(uint64(m.IgnoreCancel), million)
	if m.Want > 0 {
		c.Want, c.Asks, c.Of = m.Want, r.Duration(0, m.Asks), m.Of
	}
	if m.Quiet != nil {
		c.Quiet = m.Quiet(s, r)
	}
	if m.Script != nil {
		c.Script = m.Script(s, r)
	}
	if r.Chance(uint64(m.SlowBoot), million) {
		c.Boot *= 20
	}
	switch {
	case crash:
		c.crash(r, "exit status 2")
	case hang:
		c.hang(r)
	case fail:
		c.State, c.Reason = message.WorkflowFailed, "the model drew a failure"
		c.Length = time.Duration(r.N(uint64(c.Length) + 1))
	}
	return c
}

// Provided implements Model.
func (m *Plain) Provided(s *message.ExecStart, c *Course) []message.Provided {
	if m.Provide == nil {
		return nil
	}
	return m.Provide(s, c)
}

func (m *Plain) steps(s *message.ExecStart) []message.StepPlan {
	if m.Steps != nil {
		return m.Steps(s)
	}
	return []message.StepPlan{{Name: "home", Kind: message.StepRequest}}
}

// Stats implements Model.
func (m *Plain) Stats(s *message.ExecStart, c *Course, elapsed time.Duration, state message.WorkflowState) message.Stats {
	steps := m.steps(s)
	room := make([]byte, 0, spreadBytes*(1+2*len(steps)))
	out := message.Stats{Elapsed: c.Joined + elapsed, Gap: c.Joined, Steps: make([]message.StepStats, len(steps))}
	done := s.VUs * uint64(elapsed) / uint64(max(1, c.Response)) / uint64(max(1, len(steps)))
	if s.Duration <= 0 {
		done = min(done, s.VUs)
	}
	flight := uint64(0)
	if state == message.WorkflowRunning {
		out.Active, flight = s.VUs, s.VUs
	}
	for i, p := range steps {
		o := &out.Steps[i]
		o.Name, o.Kind = p.Name, p.Kind
		switch p.Kind {
		case message.StepMetric:
			o.Metric = spread(done, 1000, &room)
		case message.StepRequest, message.StepFunction:
			m.requests(o, done, c, &room)
			o.Started += flight
			if state == message.WorkflowCancelled {
				o.Cancelled = s.VUs
				o.Started += s.VUs
			}
			flight = 0 // all are in flight in the first step
		default:
			o.Started, o.OK = done, done
		}
	}
	if s.Duration > 0 {
		from := c.Joined
		if s.Join.Anew {
			from = 0
		}
		out.Generator.Missed = due(s.VUs, min(from, s.Duration))
		out.Generator.Begun = max(due(s.VUs, min(from+elapsed, s.Duration)), out.Generator.Missed) - out.Generator.Missed
	}
	out.Generator.Lag = spread(done, uint64(50*time.Microsecond), &room)
	out.Generator.BusyMax = uint32(200_000 + c.Salt%100_000)
	return out
}

// requests sets the counts of a measured step.
func (m *Plain) requests(o *message.StepStats, done uint64, c *Course, room *[]byte) {
	o.Failed, o.TimedOut = done*uint64(m.Failed)/million, done*uint64(m.TimedOut)/million
	o.OK = done - o.Failed - o.TimedOut
	o.Started = done
	o.BytesOut, o.BytesIn = done*120, o.OK*150
	if o.OK > 0 || o.Failed > 0 {
		o.Statuses = make([]message.StatusCount, 0, 2)
	}
	if o.OK > 0 {
		o.Statuses = append(o.Statuses, message.StatusCount{Status: 200, Count: o.OK})
	}
	if o.Failed > 0 {
		o.Statuses = append(o.Statuses, message.StatusCount{Status: 500, Count: o.Failed})
		o.Errors = make([]message.ErrorCount, 0, 2)
		o.Errors = append(o.Errors, message.ErrorCount{Kind: "status", Count: o.Failed, Example: "status 500"})
	}
	if o.TimedOut > 0 {
		o.Errors = append(o.Errors, message.ErrorCount{Kind: "timeout", Count: o.TimedOut, Example: "no answer in time"})
	}
	o.Latency = spread(done, uint64(c.Response), room)
	o.Service = spread(done, uint64(c.Response)*9/10, room)
}

// spreadBytes bounds the buckets of a spread: five at most.
const spreadBytes = 40

// spread returns a histogram of n values around a typical one, with a long tail to the right.
// Equal arguments give equal histograms. Its buckets take spreadBytes of room.
func spread(n, typical uint64, room *[]byte) message.Histogram {
	if n == 0 {
		return message.Histogram{}
	}
	values := [...]uint64{typical * 3 / 4, typical, typical * 3 / 2, typical * 3, typical * 8}
	shares := [...]uint64{300_000, 500_000, 150_000, 45_000, 5_000} // parts per million
	var counts [len(values)]uint64
	left := n
	for i := len(values) - 1; i > 0; i-- {
		counts[i] = n * shares[i] / million
		left -= counts[i]
	}
	counts[0] = left
	begin := len(*room)
	*room = (*room)[:begin+spreadBytes]
	h := message.Histogram{Count: n, Buckets: (*room)[begin:begin:len(*room)]}
	before, waiting := -1, uint64(0)
	for i, v := range values {
		if counts[i] == 0 {
			continue
		}
		if h.Sum == 0 && waiting == 0 && before == -1 {
			h.Min = v
		}
		h.Max = v
		h.Sum += v * counts[i]
		at := bucket(v)
		if waiting > 0 && at != before {
			h.Buckets = binary.AppendUvarint(h.Buckets, waiting)
			waiting = 0
		}
		if waiting == 0 {
			h.Buckets = binary.AppendUvarint(h.Buckets, uint64(at-before))
			before = at
		}
		waiting += counts[i]
	}
	h.Buckets = binary.AppendUvarint(h.Buckets, waiting)
	return h
}

// bucket is the index of a value in a histogram of the catalogue: 256 buckets for each power of
// two.
func bucket(v uint64) int {
	octave := bits.Len64(v|255) - 8
	return octave<<8 | int(v>>max(octave-1, 0))&255
}
