package host

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A line of a log has each key once: JSON readers keep the last of two and lose the first.
func TestEventsKeepTheNodesOwnKeys(t *testing.T) {
	var out bytes.Buffer
	l := slog.New(slog.NewJSONHandler(&out, nil)).With(ownKeys[0], "gate-1", ownKeys[1], uint64(1))
	(&lines{of: map[string]*budget{}}).logEvent(l, 0, event.MemberChanged{Group: "gates", Member: "gate-2", Incarnation: 1 << 32, To: "dead"})
	line := out.String()
	for _, want := range []string{`"node":"gate-1"`, `"incarnation":1,`, `"member":"gate-2"`, `"member_incarnation":4294967296`} {
		if !strings.Contains(line, want) {
			t.Errorf("got %s want %s in it", line, want)
		}
	}
	for _, key := range ownKeys {
		if n := strings.Count(line, `"`+key+`":`); n != 1 {
			t.Errorf("got %s with %d times %q, want it once", line, n, key)
		}
	}
}

// A flood of one event leaves a bounded number of lines, and hides neither other events nor
// errors. The next line says how many were left out. At debug nothing is.
func TestFloodsOfEventsAreFewLines(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	all := &lines{of: map[string]*budget{}}
	var at node.Instant
	for range 10_000 { // a second
		all.logEvent(log, at, event.Shed{What: "submit"})
		at = at.Add(100 * time.Microsecond)
	}
	if n := strings.Count(out.String(), "msg=shed"); n != 110 {
		t.Errorf("10,000 events of a second are %d lines, want 110", n)
	}
	out.Reset()
	all.logEvent(log, at, event.PeerLost{})
	for range 2 * linesAtOnce {
		all.logEvent(log, at, event.GroupAlarm{})
	}
	if n := strings.Count(out.String(), "\n"); n != 1+2*linesAtOnce {
		t.Errorf("a lost peer and %d alarms are %d lines", 2*linesAtOnce, n)
	}
	out.Reset()
	all.logEvent(log, at.Add(time.Second), event.Shed{What: "submit"})
	if !strings.Contains(out.String(), "lines_left_out=") {
		t.Errorf("the line after a flood is %q", out.String())
	}
	out.Reset()
	everything := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	for range 2 * linesAtOnce {
		all.logEvent(everything, at, event.Shed{What: "submit"})
	}
	if n := strings.Count(out.String(), "msg=shed"); n != 2*linesAtOnce {
		t.Errorf("a log of everything has %d of %d lines", n, 2*linesAtOnce)
	}
}

// A job that nothing befalls leaves two lines; a takeover and a lost lease each leave one.
func TestAJobLeavesTwoLines(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	all := &lines{of: map[string]*budget{}}
	job := message.JobID{1}
	all.logEvent(log, 1, event.JobSubmitted{Job: job, Name: "checkout", Subject: "ann", Rank: message.RankHigh, File: message.FileDigest{0xab}})
	from := message.JobNone
	for _, to := range []message.JobState{message.JobSubmitted, message.JobQueued, message.JobDispatching, message.JobRunning, message.JobCompleting, message.JobCompleted} {
		all.logEvent(log, 1, event.JobChanged{Job: job, From: from, To: to})
		from = to
	}
	for _, e := range []node.Event{
		event.LeaseGranted{Job: job, Token: message.LeaseToken{Epoch: 1, Ordinal: 1}}, event.LeaseEnded{Job: job, Reason: "released"},
		event.SubjobDispatched{Job: job}, event.SubjobCounted{Job: job},
	} {
		all.logEvent(log, 1, e)
	}
	if got := strings.Count(out.String(), "\n"); got != 2 {
		t.Errorf("a job leaves %d lines, want 2:\n%s", got, out.String())
	}
	if !strings.Contains(out.String(), "name=checkout subject=ann rank=high file=ab00000000000000") {
		t.Errorf("its first line does not say who submitted what:\n%s", out.String())
	}
	out.Reset()
	all.logEvent(log, 1, event.LeaseGranted{Job: job, Token: message.LeaseToken{Epoch: 2, Ordinal: 1}})
	all.logEvent(log, 1, event.LeaseEnded{Job: job, Reason: "expired"})
	if got := strings.Count(out.String(), "\n"); got != 2 {
		t.Errorf("a takeover and a lost lease leave %d lines, want 2:\n%s", got, out.String())
	}
}

// Logs and `status --cluster` have one wording: a fence is epoch/ordinal wherever it stands, and no instant of a node's own
// clock is printed, nor a struct of Go.
func TestLogsSpeakAsStatusDoes(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	all := &lines{of: map[string]*budget{}}
	at := node.Instant(2_840_000_000_000)
	token := message.LeaseToken{Epoch: 4, Ordinal: 2}
	fence := message.Fence{JobEpoch: token.Packed(), SubjobEpoch: message.LeaseToken{Epoch: 1, Ordinal: 1}.Packed()}
	all.logEvent(log, at, event.LeaseGranted{Token: token, Life: message.LeaseLife{Incarnation: 3, Salt: 7}, Until: at.Add(27923 * time.Millisecond), Began: at.Add(-20 * time.Millisecond)})
	all.logEvent(log, at, event.SubjobDispatched{Fence: fence})
	fence.Attempt = 3
	all.logEvent(log, at, event.ShardDispatched{Fence: fence})
	all.logEvent(log, at, event.FenceStored{Fence: message.Fence{JobEpoch: token.Packed()}})
	for _, want := range []string{" fence=4/2 holder_incarnation=3 left=27.923s began_ago=20ms\n", " fence=4/2.1/1 ", " fence=4/2.1/1.3 ", " fence=4/2\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %swant %q in it", out.String(), want)
		}
	}
	out.Reset()
	for _, e := range event.All() {
		all.logEvent(log, at, e)
	}
	if strings.Contains(out.String(), "{") {
		t.Errorf("a line has a struct of Go:\n%s", out.String())
	}
}
