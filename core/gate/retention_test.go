package gate_test

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// keeper is a gate with small bounds, and what a client remembers of its jobs.
type keeper struct {
	*member
	t      *rapid.T
	keys   []string
	jobs   map[string]message.JobID // by key
	begun  map[message.JobID]int    // how often the gate accepted a job
	ended  map[message.JobID]message.JobState
	orders map[message.JobID]message.Fence // dispatched and not ended
	heard  node.Message                    // the last answer to c1
	full   bool                            // the gate has reported that a bound is used up
}

// small returns the bounds of a gate that keeps little.
func small() gate.Config {
	c := gate.Default()
	c.QueueMax, c.JobsMax, c.KeysMax, c.ResultsMax, c.FilesMax = 3, 6, 40, 2, 12
	c.QueueAgeMax, c.DatacenterAge = 10*time.Hour, 10*time.Hour
	return c
}

func newKeeper(t *rapid.T, c gate.Config) *keeper {
	k := &keeper{
		member: newMember(c), t: t, jobs: map[string]message.JobID{}, begun: map[message.JobID]int{},
		ended: map[message.JobID]message.JobState{}, orders: map[message.JobID]message.Fence{},
	}
	k.world.Discard = true
	k.world.WatchEvent = func(e node.Event) {
		switch e := e.(type) {
		case event.JobChanged:
			if e.To == message.JobSubmitted {
				k.begun[e.Job]++
			}
			if e.To.Terminal() {
				k.ended[e.Job] = e.To
				delete(k.orders, e.Job)
			}
		case event.BoundNear:
			k.full = e.Near
		}
	}
	k.world.WatchSend = func(s node.StreamID, m node.Message) {
		if o, ok := m.(*message.JobDispatch); ok {
			k.orders[o.Job] = o.Fence
		}
		if slices.Contains(k.world.StreamsOf("c1"), s) {
			if _, ok := m.(*message.GateSet); !ok {
				k.heard = m
			}
		}
	}
	k.start()
	return k
}

func (k *keeper) start() {
	k.world.Start()
	k.world.Accept(client("c1"))
	k.world.Accept(managerPeer("m1"))
	k.says("m1")
	k.world.Advance(time.Second)
	k.says("m1")
}

// submits submits a key and returns whether the gate has accepted the job or had it already.
func (k *keeper) submits(key string) (duplicate bool, refused *message.Refused) {
	k.heard = nil
	k.deliver("c1", k.submission(key, []string{"a"}, 2))
	switch m := k.heard.(type) {
	case *message.JobAck:
		k.jobs[key] = m.Job
		return m.Duplicate, nil
	case *message.Refused:
		return false, m
	}
	k.t.Fatalf("a submission is answered by %T %+v", k.heard, k.heard)
	return false, nil
}

// ends lets the manager run a job to its end.
func (k *keeper) ends(id message.JobID, state message.JobState) {
	fence := k.orders[id]
	fence.SubjobEpoch = message.LeaseToken{Epoch: 1, Ordinal: 1}.Packed()
	k.deliver("m1", &message.JobAccepted{Job: id, Fence: fence})
	k.deliver("m1", subjobResult(id, fence, "a", state, 10, ""))
}

func (k *keeper) state(id message.JobID) message.JobState {
	k.heard = nil
	k.request++
	k.deliver("c1", &message.JobQuery{Request: message.RequestID{Incarnation: 1, Counter: k.request}, Job: id})
	if s, ok := k.heard.(*message.JobStatus); ok {
		return s.State
	}
	return message.JobNone
}

func (k *keeper) filesOnDisk() (n int) {
	for _, key := range k.world.Disk() {
		if strings.HasSuffix(key, "/whole") {
			n++
		}
	}
	return n
}

// TestEndedJobsMakeRoom submits many times as many jobs as a gate may hold, some of them again.
// While few are open, the gate refuses none. It answers for each job until its key is too old:
// no job that runs or waits is evicted, no key runs twice, and no end changes. Memory and disk
// stay within their bounds, across restarts.
func TestEndedJobsMakeRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := newKeeper(t, small())
		for range rapid.IntRange(10, 70).Draw(t, "steps") {
			open := slices.SortedFunc(maps.Keys(k.orders), message.JobID.Compare)
			switch rapid.SampledFrom([]string{"new", "new", "new", "again", "end", "end", "end", "cancel", "wait", "restart"}).Draw(t, "what") {
			case "new":
				live := len(k.jobs) - len(k.ended)
				if live >= k.config.QueueMax || len(k.jobs) >= k.config.KeysMax {
					continue
				}
				key := fmt.Sprint("k", len(k.keys))
				k.keys = append(k.keys, key)
				if _, refused := k.submits(key); refused != nil {
					t.Fatalf("with %d open jobs of %d a new one is refused: %v", live, len(k.jobs), refused.Detail)
				}
			case "again":
				if len(k.keys) == 0 {
					continue
				}
				key := rapid.SampledFrom(k.keys).Draw(t, "key")
				if again, refused := k.submits(key); refused != nil || !again {
					t.Fatalf("key %s is submitted again: duplicate %v, refused %v", key, again, refused)
				}
			case "end":
				if len(open) > 0 {
					k.ends(rapid.SampledFrom(open).Draw(t, "job"), rapid.SampledFrom([]message.JobState{message.JobCompleted, message.JobFailed}).Draw(t, "state"))
				}
			case "cancel":
				if len(open) > 0 {
					k.deliver("c1", &message.JobCancel{Request: k.ask(), Job: open[0]})
					k.ends(open[0], message.JobCancelled)
				}
			case "wait":
				k.world.Advance(time.Duration(rapid.IntRange(1, 120).Draw(t, "seconds")) * time.Second)
				k.says("m1")
			case "restart":
				k.world.Crash()
				k.start()
			}
			k.judge(t, 4)
		}
		for _, id := range slices.SortedFunc(maps.Keys(k.orders), message.JobID.Compare) {
			k.ends(id, message.JobCompleted)
		}
		k.world.Advance(2 * time.Minute)
		if got, most := k.filesOnDisk(), k.config.ResultsMax+len(k.letters()); len(k.orders) == 0 && len(k.jobs) == len(k.ended) && got > most {
			t.Fatalf("all %d jobs have ended, and %d files are on disk, want at most %d results and programs of dead letters", len(k.jobs), got, most)
		}
		k.judge(t, len(k.jobs))
	})
}

// judge compares what the gate says of some jobs with what the client remembers of them.
func (k *keeper) judge(t *rapid.T, some int) {
	keys := slices.Sorted(maps.Keys(k.jobs))
	if some < len(keys) {
		keys = keys[:some]
		for i := range keys {
			keys[i] = rapid.SampledFrom(k.keys).Draw(t, "judged")
		}
	}
	for _, key := range keys {
		if _, ok := k.jobs[key]; !ok {
			continue
		}
		id := k.jobs[key]
		if n := k.begun[id]; n != 1 {
			k.t.Fatalf("key %s began %d times", key, n)
		}
		switch got, end := k.state(id), k.ended[id]; {
		case end != message.JobNone && got != end:
			k.t.Fatalf("job %s ended %v, and the gate says %v", key, end, got)
		case end == message.JobNone && (got == message.JobNone || got.Terminal()):
			k.t.Fatalf("job %s has not ended, and the gate says %v", key, got)
		}
	}
	k.world.Machine().(*gate.Machine).Sizes(func(what string, n, most int) {
		if n > most {
			k.t.Fatalf("%s: %d, at most %d", what, n, most)
		}
	})
	k.world.Machine().(*gate.Machine).Rests(func(what string, n, rest int) {
		if strings.HasSuffix(what, "that no job names") && n > rest {
			k.t.Fatalf("%s: %d, want %d", what, n, rest)
		}
	})
	if got, most := k.filesOnDisk(), k.config.FilesMax; got > most {
		k.t.Fatalf("%d files are on disk, at most %d", got, most)
	}
}

// A gate whose keys are all younger than gate.key_age refuses the next job, names the setting,
// and has said so before: no key is forgotten early. After that age there is room again.
func TestKeysAreKeptForTheirAge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.KeysMax = rapid.IntRange(1, 20).Draw(t, "keys")
		c.KeyAge, c.ResultAge = time.Hour, 30*time.Minute
		k := newKeeper(t, c)
		last := ""
		for n := range c.KeysMax + c.JobsMax + 3 {
			key := fmt.Sprint("k", n)
			_, refused := k.submits(key)
			if want := n >= c.KeysMax+c.JobsMax; (refused != nil) != want {
				t.Fatalf("job %d beside %d keys and %d jobs: refused %v", n, c.KeysMax, c.JobsMax, refused)
			}
			if refused != nil {
				last = refused.Detail
				continue
			}
			k.ends(k.jobs[key], message.JobCompleted)
		}
		if !k.full || !strings.Contains(last, "gate.keys_max") || !strings.Contains(last, "gate.key_age") {
			t.Fatalf("the refusal says %q, bound-near was emitted: %v", last, k.full)
		}
		k.judge(t, len(k.jobs))
		k.world.Advance(c.KeyAge*9/8 + 5*time.Minute)
		k.says("m1")
		if _, refused := k.submits("another"); refused != nil {
			t.Fatalf("after gate.key_age a job is refused: %s", refused.Detail)
		}
	})
}

// BenchmarkEndedJob tells the heap that a gate keeps of each job that has ended, together with
// what the toy disk of the test keeps of it.
func BenchmarkEndedJob(b *testing.B) {
	for _, n := range []int{2000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := gate.Default()
				c.JobsMax, c.ResultsMax = 1000, 100
				var begin, end runtime.MemStats
				k := newKeeper(nil, c)
				for i := range n {
					if i == n/10 {
						runtime.GC()
						runtime.ReadMemStats(&begin)
					}
					if k.world.Advance(85 * time.Millisecond); i%20 == 0 { // a million a day
						k.says("m1")
					}
					key := fmt.Sprint("k", i)
					k.submits(key)
					k.ends(k.jobs[key], message.JobCompleted)
					k.world.Take()
					clear(k.member.jobs)
					clear(k.jobs)
					clear(k.begun)
					clear(k.ended)
				}
				runtime.GC()
				runtime.ReadMemStats(&end)
				b.ReportMetric((float64(end.HeapAlloc)-float64(begin.HeapAlloc))/float64(n-n/10), "heap-B/job")
				runtime.KeepAlive(k)
			}
		})
	}
}
