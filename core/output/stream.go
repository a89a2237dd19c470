package output

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
)

// Bounds of what a stream holds beside the batch on its way. Beyond them it cuts no rows: later ones are wider.
const (
	pendingWindows = 8
	pendingBytes   = 1 << 20
)

// Stage says what a stream waits for.
type Stage uint8

// The stages of a batch, in their order.
const (
	Idle      Stage = iota // there is none
	Loading                // the file of a former owner is on its way here
	Stalled                // the archive took no file: Next offers it again
	Keeping                // its file is on its way to a majority
	Saving                 // the record that names it is
	Sending                // the sink gets it
	Recording              // all is delivered, or given up: the record that says so is on its way
	Ended                  // that record is on a majority
)

// Stream is the rows of one job on their way to one sink, as its owner has it.
type Stream struct {
	Sink   string
	Window time.Duration

	job      message.JobID
	stage    Stage
	made     *Ledger // behind all rows that were made; nil while Loading
	kept     *Ledger // behind the newest batch
	earlier  *Ledger // behind the one before, from where a successor goes on until a record names the newest
	finished bool    // the last rows are made
	settled  bool    // Settle has returned true for the newest batch
	pending  []Row   // made, and in no batch
	windows  int     // of pending
	bytes    int     // of pending

	number uint64             // of the newest batch
	digest message.FileDigest // its file
	before message.FileDigest // that of the batch before, until no record names it
	upTo   time.Duration      // of the job's time: the sink has all before it
	told   record.Sink
	why    string

	sending // the batch on its way
}

// sending is a batch on its way.
type sending struct {
	file  []byte // nil: there is none
	final bool   // it is the last one, or the last one was
	again bool   // a former owner may have delivered it
	tally tally
}

// tally counts rows, and the requests in those of them that count those of the whole job.
type tally struct{ rows, requests uint64 }

func tallyOf(rows []Row) (t tally) {
	for i := range rows {
		t.rows++
		t.requests += Requests(&rows[i])
	}
	return t
}

// Requests are those of a row whose loss is theirs: of the whole job's windows, each request once. Calls of functions are
// none.
func Requests(r *Row) uint64 {
	if r.Kind == RowWindow && r.Datacenter == "" && r.StepKind.Requests() && r.Figures != nil {
		return r.Figures.Begun
	}
	return 0
}

// NewStream returns the stream of a job that no owner has delivered anything of.
func NewStream(job message.JobID, test string, s Sink, sent uint64) *Stream {
	l := New(job, test, s.Window, time.UnixMilli(int64(sent)))
	return &Stream{Sink: s.Name, Window: s.Window, job: job, made: l, kept: l.clone(), told: record.Sink{Name: s.Name, Window: s.Window}}
}

// FromRecord returns a stream as the record of a former owner has it. If it names a file, Load follows.
func FromRecord(job message.JobID, test string, r record.Sink, sent uint64) *Stream {
	s := NewStream(job, test, Sink{Name: r.Name, Window: max(time.Second, r.Window)}, sent)
	s.told, s.number, s.digest = r, r.Number, r.File
	switch {
	case r.Done:
		s.stage = Ended
	case r.File != message.FileDigest{}:
		s.stage, s.made, s.kept = Loading, nil, nil
	}
	return s
}

// Record is what the job's record says of the stream.
func (s *Stream) Record() record.Sink {
	r := s.told
	r.Number, r.File, r.Done, r.Had, r.Untried = s.number, s.digest, s.stage >= Recording, 0, 0
	if s.stage == Keeping || s.stage == Stalled { // no majority has its file: a successor makes its rows anew
		r.Number--
	}
	if s.had() {
		r.Had = r.Number
	}
	if s.stage == Sending && s.settled || s.untried() {
		r.Untried = r.Number
	}
	return r
}

// had says that the sink has the newest batch that a record may name. The counts include it.
func (s *Stream) had() bool {
	switch {
	case s.Failed() || s.digest == message.FileDigest{}:
		return false
	case s.stage == Loading:
		return s.told.Had == s.number
	}
	return s.stage == Idle || s.stage == Stalled || s.stage == Keeping
}

// untried says that the record of a stream whose file is not read yet says that no sink had its batch.
func (s *Stream) untried() bool { return s.stage == Loading && s.told.Untried == s.number }

// Settle returns true if a record must say, before another owner goes on, what this one knows of the newest batch: the
// sink has it, or none had it, as this owner lacks the sink. Without that record the next owner sends the batch again.
func (s *Stream) Settle(lacks bool) bool {
	if s.settled || s.stage == Loading || !s.had() && (!lacks || s.stage != Sending || s.again) {
		return false
	}
	s.settled = true
	return true
}

// Stage says what the stream waits for.
func (s *Stream) Stage() Stage { return s.stage }

// File is the digest of the newest batch that a majority keeps.
func (s *Stream) File() message.FileDigest { return s.digest }

// Files lists the files that the job's record names, or is about to.
func (s *Stream) Files() (all []message.FileDigest) {
	for _, d := range []message.FileDigest{s.digest, s.before} {
		if d != (message.FileDigest{}) {
			all = append(all, d)
		}
	}
	return all
}

// Over says that nothing follows: the record that says so is on a majority.
func (s *Stream) Over() bool { return s.stage == Ended }

// Failed says that the sink was given up.
func (s *Stream) Failed() bool { return s.told.Failed != "" }

// Own says which owner makes the rows from now on, by the epoch of its fence.
func (s *Stream) Own(epoch uint64) {
	if s.made != nil {
		s.made.Own(epoch)
		s.kept.Own(epoch)
	}
}

// Load takes the file that the record names. Its rows go out again, unless the record says that the sink has them: the
// former owner may have died before the answer came. If the record says that no sink had them, another one must say
// first that this owner tries: the stage is Saving. Load returns false if the file is none of the stream's.
func (s *Stream) Load(file []byte, epoch uint64) bool {
	if s.stage != Loading {
		return true // it was given up meanwhile
	}
	b, l, err := Read(file)
	if err != nil || b.Job != s.job || b.Sink != s.Sink || b.Number != s.number || l.window != s.Window {
		return false
	}
	had, untried := s.had(), s.untried()
	s.made, s.kept, s.stage = l, l.clone(), Idle
	s.Own(epoch)
	if s.Failed() {
		return true
	}
	if s.upTo, s.settled = l.at, had; had {
		return true
	}
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Kind == RowWindow {
			s.upTo = min(s.upTo, r.From)
		}
	}
	s.stage, s.file, s.final, s.finished, s.again, s.tally = Sending, file, b.Final, b.Final, true, tallyOf(b.Rows)
	if untried {
		s.stage, s.again = Saving, false
	}
	return true
}

// Due says that Cut would make rows of a status of that age.
func (s *Stream) Due(elapsed time.Duration) bool {
	return s.made != nil && !s.Failed() && !s.finished && s.windows < pendingWindows && s.bytes < pendingBytes && s.made.Due(elapsed)
}

// Cut makes the rows of a status.
func (s *Stream) Cut(status *message.JobStatus) {
	if s.Due(status.Elapsed) {
		s.add(s.made.Apply(status))
		s.windows++
	}
}

func (s *Stream) add(rows []Row) {
	for i := range rows {
		s.bytes += rows[i].Size()
	}
	s.pending = append(s.pending, rows...)
}

// Finish makes the last rows, once, of the job's result.
func (s *Stream) Finish(r *message.Result) {
	switch {
	case s.finished || s.stage == Loading || s.stage >= Recording:
	case !s.Failed():
		s.add(s.made.Finish(r, Run{}))
		s.finished = true
	default:
		if s.made != nil {
			s.lose(tallyOf(s.made.Finish(r, Run{})))
		}
		s.finished, s.stage = true, Recording
	}
}

// Next begins the next batch, if there are rows for one and none is on its way: it returns the file, which a majority
// must keep. Kept or Refused follows. A job of more steps than a file holds gives the sink up.
func (s *Stream) Next() (file []byte, ok bool) {
	if s.stage == Stalled {
		s.stage = Keeping
		return s.file, true
	}
	if s.stage != Idle || len(s.pending) == 0 || s.Failed() {
		return nil, false
	}
	b := Batch{Job: s.job, Sink: s.Sink, Number: s.number + 1, Final: s.finished, Rows: s.pending}
	if file = b.Append(nil, s.made); len(file) > BatchMax {
		s.made.Blunt()
		for i := range b.Rows {
			if f := b.Rows[i].Figures; f != nil {
				b.Rows[i].Figures = f.blunt()
			}
		}
		if file = b.Append(nil, s.made); len(file) > BatchMax {
			s.GiveUp(nil, fmt.Sprintf("the counts of one window have %d bytes, the bound is %d: declare fewer steps", len(file), BatchMax))
			return nil, false
		}
	}
	s.number, s.file, s.stage, s.final, s.again, s.tally = b.Number, file, Keeping, b.Final, false, tallyOf(b.Rows)
	s.settled = false
	s.earlier, s.kept, s.pending, s.windows, s.bytes = s.kept, s.made.clone(), nil, 0, 0
	return file, true
}

// blunt returns the counts alone.
func (f *Figures) blunt() *Figures {
	out := *f
	out.Blunt, out.Latency, out.Service = true, message.Histogram{}, message.Histogram{}
	return &out
}

// Kept notes that a majority keeps the file: the record that names it must be saved next.
func (s *Stream) Kept(d message.FileDigest) {
	if s.stage == Keeping {
		s.before, s.digest, s.stage, s.settled = s.digest, d, Saving, false
	}
}

// Refused notes that the archive does not take the file for now.
func (s *Stream) Refused() {
	if s.stage == Keeping {
		s.stage = Stalled
	}
}

// Saved notes that a majority has a record that Record described at number, and returns the file that no record names
// any more: zero if there is none. The batch goes to the sink now if the stage is Sending.
func (s *Stream) Saved() (free message.FileDigest) {
	switch s.stage {
	case Saving:
		s.stage = Sending
		free, s.before = s.before, message.FileDigest{}
	case Recording:
		s.stage = Ended
		free, s.digest, s.before, s.file, s.made, s.kept, s.earlier = s.digest, message.FileDigest{}, message.FileDigest{}, nil, nil, nil, nil
	}
	return free
}

// Batch is the file of the batch on its way, and whether a former owner may have delivered it.
func (s *Stream) Batch() (file []byte, again bool) { return s.file, s.again }

// Delivered notes what has become of the batch. The result is nil while the job runs. It returns true if a record must
// say so at once; else the record of the next batch does.
func (s *Stream) Delivered(d *node.Delivered, r *message.Result) (save bool) {
	if s.stage != Sending {
		return false
	}
	switch s.why = d.Why; d.Verdict {
	case node.DeliveryDone:
		t := &s.told
		t.Delivered += s.tally.rows - min(s.tally.rows, d.Rejected+d.Lost)
		t.Rejected, t.RejectedRequests = t.Rejected+d.Rejected, t.RejectedRequests+d.RejectedRequests
		t.Lost, t.LostRequests, t.Twice = t.Lost+d.Lost, t.LostRequests+d.LostRequests, t.Twice+d.Twice
		s.file, s.tally, s.again, s.stage, s.upTo = nil, tally{}, false, Idle, s.kept.at
		if s.final {
			s.stage = Recording
		}
		return s.final
	case node.DeliveryFailed:
		s.told.Twice += d.Twice // what is lost to us may be there, and more than once
		s.GiveUp(r, d.Why)
		return true
	case node.DeliveryNone, node.DeliveryTrying, node.DeliveryUnconfigured:
	}
	return false
}

// GiveUp ends the delivery: what the sink has not taken is lost. The result is nil while the job runs: Finish counts
// the rest then. A record must say so.
func (s *Stream) GiveUp(r *message.Result, why string) {
	if s.stage >= Recording || s.Failed() {
		return
	}
	s.told.Failed = why
	whole := s.final && s.file != nil
	if s.stage == Keeping || s.stage == Stalled { // no record names it: its rows are made once more, to be counted
		s.number, s.kept, whole = s.number-1, s.earlier, false
	} else {
		s.lose(s.tally)
	}
	s.made, s.pending, s.windows, s.bytes, s.file, s.tally = s.kept, nil, 0, 0, nil, tally{}
	switch s.stage = Idle; {
	case whole:
		s.stage = Recording
	case r != nil:
		s.finished = false
		s.Finish(r)
	default:
		s.finished = false
	}
}

// Abandon ends the delivery of a stream whose figures are gone: how much the sink lacks is not known.
func (s *Stream) Abandon(why string) {
	if s.stage < Recording {
		s.told.Failed, s.stage, s.finished, s.pending = why, Recording, true, nil
		s.file, s.tally = nil, tally{}
	}
}

func (s *Stream) lose(t tally) {
	s.told.Lost, s.told.LostRequests = s.told.Lost+t.rows, s.told.LostRequests+t.requests
}

// Report is how far the sink is, of a job of that age. While Loading only the counts are known.
func (s *Stream) Report(elapsed time.Duration) message.SinkReport {
	t := &s.told
	r := message.SinkReport{
		Name: t.Name, Delivered: t.Delivered, Rejected: t.Rejected, RejectedRequests: t.RejectedRequests,
		Lost: t.Lost, LostRequests: t.LostRequests, Twice: t.Twice, Done: s.stage == Ended, Failed: t.Failed, Why: s.why, Through: s.upTo,
	}
	if s.stage < Recording && s.stage != Loading && !s.Failed() {
		r.Behind = uint64(max(0, elapsed-s.upTo) / s.Window)
		if r.Behind = max(r.Behind, min(1, s.tally.rows)); r.Behind > 0 {
			r.Since = max(0, elapsed-s.upTo-s.Window)
		}
	}
	return r
}

// clone copies what changes of a ledger.
func (l *Ledger) clone() *Ledger {
	out := *l
	out.parts = make(map[part]*flow, len(l.parts))
	//lint:orderfree each is copied by itself
	for p, f := range l.parts {
		g := *f
		g.order = slices.Clone(f.order)
		g.steps = make(map[stepKey]*series, len(f.steps))
		//lint:orderfree each is copied by itself
		for key, s := range f.steps {
			one := *s
			g.steps[key] = &one
		}
		out.parts[p] = &g
	}
	return &out
}
