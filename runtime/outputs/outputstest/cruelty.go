package outputstest

import (
	"context"
	"testing"
	"time"

	"hyperscale/runtime/outputs"
)

// Fault is what a place does wrong.
type Fault uint8

// The faults.
const (
	FaultNone     Fault = iota
	FaultRefuse         // it refuses one try in five
	FaultHang           // it takes a batch and does not answer within the try, once in five tries
	FaultLate           // it answers after the try's deadline, once in five tries
	FaultCut            // it closes half-way through a batch, once in five tries
	FaultHalf           // it accepts half of a batch, and says so
	FaultLoseWord       // it takes a batch, and its answer is lost, once in five tries
	FaultDead           // nothing listens, until Misbehave(FaultNone)
	FaultMax
)

var faultNames = [...]string{"none", "refuse", "hang", "late", "cut", "half", "lose its answer", "dead"}

// String is the fault in words.
func (f Fault) String() string { return faultNames[f] }

// Place is where a kind delivers to in a test.
type Place interface {
	// Name is the PLACE with options for outputs.Parse.
	Name() string
	// Misbehave sets what goes wrong from now on.
	Misbehave(f Fault)
	// Can says that the place can do a fault: a file refuses nothing.
	Can(f Fault) bool
	// Stored reads back how often each row of a job is stored or counted, by Row.Key. A kind whose format lacks parts
	// of the key gives Key too.
	Stored(job string) (map[string]int, error)
	// Key is the key by which Stored counts a row.
	Key(r *outputs.Row) string
}

// Pace is one of tests: waits of milliseconds.
func Pace() outputs.Pace {
	return outputs.Pace{Min: time.Millisecond, Max: 8 * time.Millisecond, Denied: 100 * time.Millisecond, Last: 8 * time.Millisecond, Grace: time.Second}
}

// Timeout is that of a try in tests, unless the kind's own is shorter.
const Timeout = 300 * time.Millisecond

// patience bounds the end of a delivery in tests: nothing waits for it that works.
const patience = time.Minute

// Cruelty delivers rows under each fault that a place can do, and judges what is there.
func Cruelty(t *testing.T, kind outputs.Kind, place Place) {
	for f := FaultNone; f < FaultMax; f++ {
		if f == FaultNone || place.Can(f) {
			t.Run(f.String(), func(t *testing.T) { cruel(t, kind, place, f) })
		}
	}
}

// batchRows is a small batch, so that there are enough of them for each fault.
const batchRows = 4

func cruel(t *testing.T, kind outputs.Kind, place Place, fault Fault) {
	kind.Limits = kind.Limits.Filled()
	kind.Limits.Rows, kind.Limits.Age, kind.Limits.Timeout = batchRows, time.Millisecond, min(kind.Limits.Timeout, Timeout)
	place.Misbehave(FaultNone)
	settings, err := outputs.Parse(&kind, place.Name())
	if err != nil {
		t.Fatal(err)
	}
	sink, err := kind.Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	shell := outputs.NewShell(kind.Name, settings, sink, Pace())
	defer shell.Close()
	if err := shell.Check(); err != nil {
		t.Fatalf("check: %v", err)
	}
	rows := Rows(Job(fault))
	if kind.Sums {
		Summed(rows)
	}
	place.Misbehave(fault)
	for i := 0; i < len(rows); i += batchRows {
		shell.Offer(rows[i:min(i+batchRows, len(rows))])
	}
	if fault == FaultDead {
		for shell.Report().Tries < 2 { // it has found the place dead
			time.Sleep(time.Millisecond)
		}
		place.Misbehave(FaultNone)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	report := shell.Finish(ctx)
	place.Misbehave(FaultNone)
	judge(t, kind.Delivery, place, rows, &report)
}

func judge(t *testing.T, delivery outputs.Delivery, place Place, rows []outputs.Row, report *outputs.Report) {
	stored, err := place.Stored(rows[0].Job)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows, %d keys stored, %+v", len(rows), len(stored), report)
	if report.Behind > 0 {
		t.Errorf("%d rows were not delivered: %s", report.Behind, report.Because())
	}
	if report.Rows != uint64(len(rows)) || report.Delivered+report.Rejected+report.Lost+report.Behind+report.Merged != report.Rows {
		t.Errorf("the report does not add up: %+v", report)
	}
	want := map[string]int{}
	for i := range rows {
		want[place.Key(&rows[i])]++
	}
	var missing, extra int
	for key, n := range want {
		missing += max(0, n-stored[key])
		extra += max(0, stored[key]-n)
		if delivery == outputs.Exact && stored[key] > n {
			t.Errorf("%q is there %d times", key, stored[key])
		}
	}
	for key := range stored {
		if want[key] == 0 {
			t.Errorf("%q is there, and was not offered", key)
		}
	}
	if missing > int(report.Rejected+report.Lost) {
		t.Errorf("%d rows are missing, the report says %d rejected, %d lost", missing, report.Rejected, report.Lost)
	}
	if extra > int(report.PerhapsTwice) {
		t.Errorf("%d rows are there too often, the report says %d perhaps twice", extra, report.PerhapsTwice)
	}
}
