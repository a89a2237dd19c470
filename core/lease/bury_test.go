package lease

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// A job that was buried with an epitaph does not begin anew before the age of its tombstone: a
// member that acquires it gets the record or the epitaph, whatever crashes, and whichever
// minority was away when the job ended, lost its disk since, or buried it later. Tombstones and
// registers are bounded, and each grant has the value that the holder released.
func TestABuriedJobDoesNotBeginAnew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.TombstoneAge = 10 * time.Minute
		if rapid.Bool().Draw(t, "few tombs") {
			c.TombsMax = 2
		}
		g := newGroup([]string{"a", "b", "c"}, c, rapid.Uint64().Draw(t, "seed"))
		away := -1
		cut := g.latency
		g.latency = func(from, to int, m node.Message) []time.Duration {
			if from == away || to == away {
				return nil
			}
			return cut(from, to, m)
		}
		values, ended := map[message.JobID]uint64{}, map[message.JobID]bool{}
		g.watch = func(h *host, e node.Event) {
			if r, ok := e.(event.LeaseReturned); ok && r.OK && ended[r.Job] && r.Value != values[r.Job] {
				t.Fatalf("%s gets the value %x of job %v, want %x", h.name, r.Value, r.Job, values[r.Job])
			}
		}
		g.tell = func(h *host, o Outcome) {
			if o.Kind != Granted || !ended[o.Job] {
				return
			}
			if o.Fresh || Value(o.Record) != values[o.Job] {
				t.Fatalf("%s is granted %v with %q, fresh %v: it has ended", h.name, o.Job, o.Record, o.Fresh)
			}
		}
		for _, h := range g.members {
			h.begin()
		}
		g.advance(time.Second)
		a := g.members[0]
		for n := 1; n <= 4; n++ {
			record := []byte(fmt.Sprint("job ", n))
			a.r.Acquire(a, jobN(n), record)
			values[jobN(n)] = Value(record)
		}
		g.advance(time.Second)
		away = rapid.IntRange(-1, 2).Draw(t, "away at the end")
		if away == 0 {
			away = -1
		}
		for n := 1; n <= 4; n++ {
			a.r.Release(a, jobN(n))
		}
		g.advance(time.Second)
		//lint:orderfree all of them
		for job := range values {
			ended[job] = true
		}
		for range rapid.IntRange(5, 40).Draw(t, "steps") {
			h := g.members[rapid.IntRange(0, 2).Draw(t, "member")]
			job := jobN(rapid.IntRange(1, 4).Draw(t, "job"))
			switch rapid.SampledFrom([]string{"bury", "bury", "bury", "acquire", "release", "read", "crash", "lose", "away", "return", "wait", "wait"}).Draw(t, "what") {
			case "bury":
				was := h.r.known(job)
				if h.r.Bury(h, job, []byte("ended")) && (was == nil || !was.accepted.Released) {
					t.Fatalf("%s buries %+v", h.name, was)
				}
			case "acquire":
				h.r.Acquire(h, job, []byte("anew"))
			case "release":
				h.r.Release(h, job)
			case "read":
				h.r.Read(h, job, 1)
			case "crash":
				h.crash(false)
				h.begin()
			case "lose":
				if away < 0 {
					g.advance(5 * time.Second) // the others know all by then
					h.crash(true)
					h.begin()
					g.advance(5 * time.Second)
				}
			case "away":
				away = h.index
			case "return":
				away = -1
			case "wait":
				g.advance(time.Duration(rapid.IntRange(1, 8000).Draw(t, "ms")) * time.Millisecond)
			}
			for _, h := range g.members {
				h.r.Sizes(func(what string, n, most int) {
					if n > most {
						t.Fatalf("%s has %d of %s, at most %d", h.name, n, what, most)
					}
				})
				if n, most := h.r.Buried(); n > most {
					t.Fatalf("%s has %d tombstones, at most %d", h.name, n, most)
				}
			}
		}
	})
}
