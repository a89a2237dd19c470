package manager

import (
	"testing"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/window"
)

// A subjob runs nothing before a gate has answered a heartbeat with its name, and nothing long
// after the last such answer.
func TestNothingRunsWithoutAGatesWord(t *testing.T) {
	d := newDatacenter(t, 3)
	d.run(3 * time.Second)
	d.slow(true)
	d.model.mute = true
	j := d.submit(1, 1, 6)
	d.until("it is accepted", 5*time.Second, func() bool { return j.accepted })
	d.run(20 * time.Second)
	if len(d.runs) > 0 {
		t.Fatalf("%d shards ran before a gate's word", len(d.runs))
	}
	d.model.mute = false
	d.until("it runs", 3*time.Second, func() bool { return d.running(j.dispatch.Job) == 2 })
	d.model.mute = true
	last := d.now
	d.run(50 * time.Second)
	if n := d.running(j.dispatch.Job); n != 2 {
		t.Fatalf("%d of 2 shards run 50 s after the last word", n)
	}
	d.until("it has stopped", 20*time.Second, func() bool { return d.running(j.dispatch.Job) == 0 })
	if most := (window.Terms{Word: time.Minute, Renewal: 5 * time.Second, DriftPPM: 10_000}).Load(); d.now.Sub(last) > most {
		t.Errorf("it ran for %v after the last word, want %v at most", d.now.Sub(last), most)
	}
}

// A manager that takes a subjob over continues it only once a gate names it: the record does
// not tell its own age.
func TestTakeOverWaitsForAGatesWord(t *testing.T) {
	for _, mute := range []bool{false, true} {
		d, j, old := startedLayers(t, 1)
		began := len(d.runs)
		d.model.mute = mute
		old.crash()
		h := d.another(j, old)
		d.run(8 * time.Second)
		p := h.machine.(*Machine).subjobs[j.dispatch.Job]
		switch running := d.running(j.dispatch.Job); {
		case !mute && (running != 2 || len(d.runs) != began):
			t.Errorf("with a gate's word %d of 2 shards go on, %d began anew", running, len(d.runs)-began)
		case mute && (running != 0 || len(d.runs) != began || p.Deadline != 0 || p.Stop.Decided != message.JobNone):
			t.Errorf("without a gate's word %d shards run, %d began anew, the deadline is %v, and it is to end as %v", running, len(d.runs)-began, p.Deadline, p.Stop.Decided)
		}
		d.model.mute = false
		d.until("it runs again", 10*time.Second, func() bool { return d.running(j.dispatch.Job) == 2 })
		d.slow(false)
		want(t, d.ended(j, 30*time.Second), message.JobCompleted)
	}
}

// A gate answers a heartbeat late: its word counts from the send of the heartbeat.
func TestWordCountsFromTheQuestion(t *testing.T) {
	d, j, h := startedLayers(t, 1)
	m := h.machine.(*Machine)
	p, l := m.subjobs[j.dispatch.Job], m.gates.All()[0]
	asked := m.sent[l.Stream].sent[l.Sequence%beatsKept]
	d.model.mute = true
	d.run(5 * time.Second) // heartbeats under way get answers without a name
	p.Deadline = 0
	m.onHeartbeatAck(h, l, &message.HeartbeatAck{Sequence: l.Sequence - 5, Subjobs: []message.SubjobRef{{Job: p.Job, Fence: p.Fence}}})
	if want := asked.Add(m.config.terms().Hold()); p.Deadline < want-node.Instant(time.Second) || p.Deadline > want {
		t.Errorf("the word ends at %v, %v after the question, want %v", p.Deadline, p.Deadline.Sub(asked), m.config.terms().Hold())
	}
}

// TestRoundTrip: a manager tells a gate the least of its last round trips. One that was busy does not
// look far away, and a way that has grown shows after so many answers.
func TestRoundTrip(t *testing.T) {
	var b trips
	if b.least() != 0 {
		t.Errorf("a round trip of %v before any answer", b.least())
	}
	for _, d := range []time.Duration{30, 2000, 20, 40} {
		b.add(d * time.Millisecond)
	}
	if b.least() != 20*time.Millisecond {
		t.Errorf("the round trip is %v, want the least of the last ones, 20ms", b.least())
	}
	for range tripsKept {
		b.add(90 * time.Millisecond)
	}
	if b.least() != 90*time.Millisecond {
		t.Errorf("the round trip is %v, want 90ms: the way has grown", b.least())
	}
}
