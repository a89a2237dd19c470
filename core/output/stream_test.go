package output

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/archive"
	"hyperscale/core/message"
	"hyperscale/core/message/record"
	"hyperscale/core/node"
	"hyperscale/core/output/outputtest"
)

// place is a sink that replaces rows by their keys.
type place struct {
	rows map[string]Row
}

func (p *place) take(t *rapid.T, file []byte) (requests uint64) {
	b, _, err := Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range b.Rows {
		was, has := p.rows[r.Key()]
		if is := fmt.Sprintf("%+v", values(r)); has && is != fmt.Sprintf("%+v", values(was)) && r.Kind != RowRun {
			t.Fatalf("key %s has %v, then %s", r.Key(), values(was), is)
		}
		p.rows[r.Key()] = r
		requests += Requests(&r)
	}
	return requests
}

func values(r Row) any {
	if r.Figures == nil {
		return r.Threshold
	}
	return *r.Figures
}

// owners is a job's stream, its owners, who die, and what a majority has.
type owners struct {
	t      *rapid.T
	world  *world
	stream *Stream
	place  *place
	record record.Sink
	files  map[message.FileDigest][]byte // that a majority keeps
	epoch  uint64
	lacks  bool              // this owner's host has no such sink
	tried  map[uint64]uint64 // by batch: the newest owner that tried it
	had    map[uint64]bool   // batches of which a former owner told that the sink has them
}

const sentAt = 1_000_000

// save puts the record on a majority, which the owner learns if it lives.
func (o *owners) save(learns bool) {
	o.record = o.stream.Record()
	if o.record.File != (message.FileDigest{}) && o.files[o.record.File] == nil {
		o.t.Fatalf("the record names a file that no majority keeps: %+v", o.record)
	}
	if learns {
		if free := o.stream.Saved(); free != (message.FileDigest{}) {
			if free == o.record.File && !o.record.Done {
				o.t.Fatal("the stream frees a file that the record names")
			}
			delete(o.files, free)
		}
	}
}

// dies begins the next owner, from the record alone.
func (o *owners) dies() {
	o.epoch++
	o.stream = FromRecord(message.JobOf("a"), "t.star", o.record, sentAt)
	if o.stream.Stage() == Loading {
		file := o.files[o.record.File]
		if file == nil || !o.stream.Load(file, o.epoch) {
			o.t.Fatalf("the record's file cannot be read: %+v", o.record)
		}
	}
	o.stream.Own(o.epoch)
	o.lacks = rapid.IntRange(0, 4).Draw(o.t, "lacks the sink") == 0
}

// handsOver begins the next owner once a record says what this one knows. A gate does that between two writes alone.
func (o *owners) handsOver() {
	if s := o.stream.Stage(); s == Saving || s == Recording {
		return
	}
	fresh := o.stream.Settle(o.lacks)
	if fresh {
		o.save(true)
	}
	number, sending := o.record.Number, o.stream.Stage() == Sending
	if number > 0 && !sending {
		o.had[number] = true
	}
	if o.dies(); sending && fresh && (o.stream.Stage() != Saving || o.stream.again) {
		o.t.Fatalf("no sink had batch %d, and the next owner does not know that", number)
	}
}

// push takes the stream as far as the draw says. It returns false if the owner dies on the way.
func (o *owners) push(result *message.Result, verdicts []node.DeliveryVerdict) bool {
	dies := func(where string) bool {
		return result == nil && rapid.IntRange(0, 14).Draw(o.t, "dies "+where) == 0
	}
	if file, ok := o.stream.Next(); ok {
		if dies("before the file") {
			return false
		}
		if result == nil && rapid.IntRange(0, 9).Draw(o.t, "full") == 0 {
			o.stream.Refused()
			return true
		}
		d := archive.DigestOf(file)
		o.files[d] = file
		o.stream.Kept(d)
	}
	if o.stream.Stage() == Saving || o.stream.Stage() == Recording {
		if dies("before the record") {
			return false
		}
		learns := !dies("before it learns of the record")
		if o.save(learns); !learns {
			return false
		}
	}
	if o.stream.Stage() == Sending {
		verdict := rapid.SampledFrom(verdicts).Draw(o.t, "verdict")
		file, again := o.stream.Batch()
		b, _, err := Read(file)
		if err != nil {
			o.t.Fatal(err)
		}
		if o.record.Number != b.Number {
			o.t.Fatalf("batch %d is tried while the record has %d", b.Number, o.record.Number)
		}
		if o.lacks {
			verdict = node.DeliveryUnconfigured
		}
		if by := o.tried[b.Number]; by != 0 && by != o.epoch && !again {
			o.t.Fatalf("batch %d is tried again as if it were new", b.Number)
		}
		if o.had[b.Number] {
			o.t.Fatalf("batch %d is tried, though a record says that the sink has it", b.Number)
		}
		if o.record.Had == o.record.Number || o.record.Untried == o.record.Number && !o.lacks {
			o.t.Fatalf("batch %d is tried while the record says %+v", b.Number, o.record)
		}
		if verdict == node.DeliveryDone || verdict == node.DeliveryTrying {
			o.tried[b.Number] = o.epoch
		}
		if verdict == node.DeliveryDone || verdict == node.DeliveryTrying {
			o.place.take(o.t, file)
		}
		if dies("before the answer") {
			return false
		}
		if o.stream.Delivered(&node.Delivered{Verdict: verdict, Why: "as drawn"}, result) {
			o.save(true)
		}
	}
	return true
}

func (o *owners) sums() *sums {
	l := newSums()
	keys := slices.Sorted(maps.Keys(o.place.rows))
	rows := make([]Row, 0, len(keys))
	for _, k := range keys {
		rows = append(rows, o.place.rows[k])
	}
	slices.SortStableFunc(rows, func(a, b Row) int { return int(a.From - b.From) })
	l.add(o.t, rows)
	return l
}

// OUTPUT-4 to OUTPUT-6: whenever owners die, and whatever sinks answer, windows = result + lost, no window of a key
// overlaps another, and a batch that goes out again has the same rows.
func TestOwnersDie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t, lost: map[string][]message.LostAttempt{}}
		for _, d := range []string{"east", "east", "west"} {
			w.shards = append(w.shards, &shard{datacenter: d, steps: map[string]*sum{}})
		}
		o := &owners{t: t, world: w, place: &place{rows: map[string]Row{}}, files: map[message.FileDigest][]byte{}, tried: map[uint64]uint64{}, had: map[uint64]bool{}}
		o.record = record.Sink{Name: "lake", Window: 10 * time.Second}
		o.dies()
		alive := true
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if !alive {
				o.dies()
				alive = true
			}
			switch rapid.IntRange(0, 10).Draw(t, "what") {
			case 0:
				w.lose()
			case 10:
				o.handsOver()
			case 1, 2, 3:
				w.now += time.Duration(rapid.IntRange(1, 25).Draw(t, "seconds")) * time.Second
				o.stream.Cut(&message.JobStatus{Job: message.JobOf("a"), State: message.JobRunning, Elapsed: w.now, Datacenters: w.datacenters(rapid.IntRange(-3, 2).Draw(t, "forgets"))})
			case 4, 5, 6:
				alive = o.push(nil, []node.DeliveryVerdict{node.DeliveryDone, node.DeliveryDone, node.DeliveryTrying, node.DeliveryUnconfigured})
			default:
				w.load()
			}
		}
		if !alive || o.lacks {
			o.dies()
		}
		r := w.result()
		for i := 0; !o.stream.Over(); i++ {
			if i == 1 && rapid.Bool().Draw(t, "dies at the end") {
				o.dies()
			}
			if o.lacks && i > 0 {
				o.handsOver()
			}
			o.stream.Finish(r)
			o.push(r, []node.DeliveryVerdict{node.DeliveryDone})
			if i > 100 {
				t.Fatalf("it never ends: %d", o.stream.Stage())
			}
		}
		if d := o.sums().differences(); d != nil {
			t.Fatalf("windows - lost - result: %v", d)
		}
		if rep := o.stream.Report(w.now); !rep.Done || rep.Behind != 0 || rep.Failed != "" || rep.Lost != 0 {
			t.Fatalf("at the end: %+v", rep)
		}
	})
}

// A record tells the next owner that the sink has the newest batch: the owner sends nothing again, goes on behind it, and counts
// it once. The record that names the next batch says so no more.
func TestASuccessorKnowsThatTheSinkHasABatch(t *testing.T) {
	s, kept := NewStream(message.JobOf("k"), "shop.star", Sink{Name: "lake", Window: 10 * time.Second}, sentAt), []byte(nil)
	batch := func(at time.Duration, started uint64) record.Sink {
		t.Helper()
		s.Cut(outputtest.Status(at, nil, started))
		file, ok := s.Next()
		if !ok {
			t.Fatal("there is no batch")
		}
		kept = file
		s.Kept(archive.DigestOf(file))
		named := s.Record()
		s.Saved()
		return named
	}
	if named := batch(11*time.Second, 100); named.Had == named.Number || s.Settle(false) {
		t.Fatalf("a batch on its way is there: %+v", named)
	}
	rows := s.tally.rows
	s.Delivered(&node.Delivered{Verdict: node.DeliveryDone}, nil)
	if !s.Settle(false) || s.Settle(false) {
		t.Fatal("a record must say once that the sink has the batch")
	}
	for range 2 {
		r := s.Record()
		if r.Had != r.Number || r.Delivered != rows {
			t.Fatalf("the record says %+v", r)
		}
		s = FromRecord(s.job, "shop.star", r, sentAt)
		if loading := s.Record(); !reflect.DeepEqual(loading, r) {
			t.Fatalf("before it has the file its record says %+v, want %+v", loading, r)
		}
		if !s.Load(kept, 2) || s.Stage() != Idle || s.Settle(false) {
			t.Fatalf("the next owner is at stage %d", s.Stage())
		}
	}
	if named := batch(21*time.Second, 250); named.Had == named.Number || s.tally.requests != 150 {
		t.Fatalf("behind it: %+v, %d requests", named, s.tally.requests)
	}
}

// An owner without the sink tells the next one that none had the batch: that is no second try. A third owner does not know
// whether the second one has tried.
func TestASuccessorKnowsThatNoSinkHadABatch(t *testing.T) {
	s := NewStream(message.JobOf("k"), "shop.star", Sink{Name: "lake", Window: 10 * time.Second}, sentAt)
	s.Cut(outputtest.Status(11*time.Second, nil, 100))
	file, _ := s.Next()
	s.Kept(archive.DigestOf(file))
	s.Saved()
	s.Delivered(&node.Delivered{Verdict: node.DeliveryUnconfigured}, nil)
	if s.Record().Untried != 0 || !s.Settle(true) || s.Record().Untried != s.Record().Number {
		t.Fatalf("the record says %+v", s.Record())
	}
	r := s.Record()
	s = FromRecord(s.job, "shop.star", r, sentAt)
	if loading := s.Record(); !reflect.DeepEqual(loading, r) {
		t.Fatalf("before it has the file its record says %+v, want %+v", loading, r)
	}
	if !s.Load(file, 2) || s.Stage() != Saving || s.Record().Untried != 0 {
		t.Fatalf("the next owner is at stage %d, its record says %+v", s.Stage(), s.Record())
	}
	s.Saved()
	if _, again := s.Batch(); again || s.Stage() != Sending {
		t.Fatalf("again %v, at stage %d", again, s.Stage())
	}
	s = FromRecord(s.job, "shop.star", s.Record(), sentAt)
	if s.Load(file, 3); s.Stage() != Sending || !s.again || s.Settle(true) {
		t.Fatalf("the third owner is at stage %d, again %v", s.Stage(), s.again)
	}
}

// What an owner says of a batch while the next one's file is on its way says nothing of the next one.
func TestWhatIsSaidOfABatchEndsWithTheNext(t *testing.T) {
	s := NewStream(message.JobOf("k"), "shop.star", Sink{Name: "lake", Window: 10 * time.Second}, sentAt)
	s.Cut(outputtest.Status(11*time.Second, nil, 100))
	file, _ := s.Next()
	s.Kept(archive.DigestOf(file))
	s.Saved()
	s.Delivered(&node.Delivered{Verdict: node.DeliveryDone}, nil)
	s.Cut(outputtest.Status(21*time.Second, nil, 250))
	file, _ = s.Next()
	if !s.Settle(false) || s.Record().Had != 1 || s.Record().Number != 1 {
		t.Fatalf("at stage %d the record says %+v", s.Stage(), s.Record())
	}
	s.Kept(archive.DigestOf(file))
	s.Saved()
	if r := s.Record(); r.Number != 2 || r.Had != 0 || r.Untried != 0 {
		t.Fatalf("of a batch that the sink is taking the record says %+v", r)
	}
	if !s.Settle(true) || s.Record().Untried != 2 {
		t.Fatalf("of a batch whose sink this owner lacks the record says %+v", s.Record())
	}
	older := s.Record() // an owner that does not know the fields carries them on
	older.Number++
	s = FromRecord(s.job, "shop.star", older, sentAt)
	if r := s.Record(); r.Had != 0 || r.Untried != 0 {
		t.Fatalf("behind an owner that does not know the fields the record says %+v", r)
	}
}

// Each count that a host tells of a delivery adds up under its own name, over batches and over owners, also if the sink fails
// at last.
func TestDeliveredAddsUp(t *testing.T) {
	s := NewStream(message.JobOf("k"), "shop.star", Sink{Name: "lake", Window: 10 * time.Second}, sentAt)
	s.Own(1)
	batch := func(at time.Duration, started uint64) {
		t.Helper()
		s.Cut(outputtest.Status(at, nil, started))
		file, ok := s.Next()
		if !ok {
			t.Fatal("there is no batch")
		}
		s.Kept(archive.DigestOf(file))
		s.Saved()
	}
	said := func(v node.DeliveryVerdict) *node.Delivered {
		return &node.Delivered{Verdict: v, Why: "why", Rejected: 1, RejectedRequests: 20, Lost: 1, LostRequests: 300, Twice: 4000}
	}
	batch(11*time.Second, 100)
	rows := s.tally.rows
	s.Delivered(said(node.DeliveryDone), nil)
	batch(21*time.Second, 250)
	rows += s.tally.rows
	s.Delivered(said(node.DeliveryDone), nil)
	want := message.SinkReport{Name: "lake", Delivered: rows - 4, Rejected: 2, RejectedRequests: 40, Lost: 2, LostRequests: 600, Twice: 8000, Why: "why", Through: 20 * time.Second}
	if got := s.Report(20 * time.Second); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	batch(31*time.Second, 300)
	s.Delivered(said(node.DeliveryFailed), nil)
	if got := s.Report(30 * time.Second); got.Failed != "why" || got.Twice != 12000 || got.LostRequests != 650 || got.Rejected != 2 {
		t.Errorf("behind a failure: %+v", got)
	}
	if got := FromRecord(s.job, "shop.star", s.Record(), sentAt).Report(30 * time.Second); got.Twice != 12000 || got.LostRequests != 650 || got.RejectedRequests != 40 {
		t.Errorf("the next owner reports %+v", got)
	}
}

// A lost row costs requests where it counts those of the whole job, once: no datacenter's, no result's, and no calls of
// functions.
func TestRequestsOfARow(t *testing.T) {
	for _, c := range []struct {
		row  Row
		want uint64
	}{
		{Row{Kind: RowWindow, StepKind: message.StepRequest}, 7},
		{Row{Kind: RowWindow, StepKind: message.StepFunction}, 0},
		{Row{Kind: RowWindow, StepKind: message.StepPart}, 7},
		{Row{Kind: RowWindow, StepKind: message.StepRequest, Datacenter: "a"}, 0},
		{Row{Kind: RowResult, StepKind: message.StepRequest}, 0},
		{Row{Kind: RowLost, StepKind: message.StepRequest}, 0},
	} {
		c.row.Figures = &Figures{Begun: 7}
		if got := Requests(&c.row); got != c.want {
			t.Errorf("%+v: %d, want %d", c.row, got, c.want)
		}
	}
}
