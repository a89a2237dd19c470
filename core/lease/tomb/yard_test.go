package tomb

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

func jobOf(n int) message.JobID {
	sum := sha256.Sum256([]byte(fmt.Sprint(n)))
	return message.JobID(sum[:16])
}

// TestYardIsAMap plays additions, removals and looks against a map. The yard holds the same
// tombstones unchanged, lists them in the order of their jobs, and knows the oldest.
func TestYardIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := New(rapid.SampledFrom([]int{1, 5, 40, 300, 3000}).Draw(t, "room"))
		twin := map[message.JobID]Tomb{}
		now := node.Instant(1)
		near := message.JobID{15: 1} // shares its first bytes with others
		job := func() message.JobID {
			if rapid.IntRange(0, 4).Draw(t, "near") == 0 {
				return message.JobID{8: byte(rapid.IntRange(0, 3).Draw(t, "ninth byte"))}
			}
			return jobOf(rapid.IntRange(0, 60).Draw(t, "job"))
		}
		for range rapid.IntRange(1, 150).Draw(t, "steps") {
			switch rapid.SampledFrom([]string{"add", "add", "add", "remove", "remove oldest", "wait", "clear"}).Draw(t, "what") {
			case "add":
				tomb := Tomb{
					Job: job(), Token: message.LeaseToken{Epoch: rapid.Uint64().Draw(t, "epoch"), Ordinal: rapid.Uint32Range(1, 258).Draw(t, "ordinal")},
					Life: message.LeaseLife{Incarnation: rapid.Uint64Range(1, 3).Draw(t, "incarnation"), Salt: rapid.Uint64Range(1, 2).Draw(t, "salt")},
					Seq:  rapid.Uint64Range(0, 1<<33).Draw(t, "seq"), Rev: rapid.Uint64Range(0, 1<<33).Draw(t, "rev"), Value: rapid.Uint64().Draw(t, "value"),
					Epitaph: rapid.SliceOfN(rapid.Byte(), 0, EpitaphMax+1).Draw(t, "epitaph"), Buried: now,
				}
				_, known := twin[tomb.Job]
				want := !known && len(twin) < y.Max() && tomb.Seq < 1<<32 && tomb.Rev < 1<<32 && tomb.Token.Ordinal < 256 && len(tomb.Epitaph) <= EpitaphMax
				if got := y.Add(&tomb); got != want {
					t.Fatalf("the yard of %d takes %+v: %v, want %v", len(twin), tomb, got, want)
				}
				if want {
					twin[tomb.Job] = tomb
				}
			case "remove":
				j := job()
				y.Remove(j)
				delete(twin, j)
			case "remove oldest":
				if tomb, ok := y.Oldest(); ok {
					y.Remove(tomb.Job)
					delete(twin, tomb.Job)
				}
			case "wait":
				now++
			case "clear":
				if rapid.IntRange(0, 9).Draw(t, "really") == 0 {
					y.Clear()
					clear(twin)
				}
			}
			if y.Len() != len(twin) {
				t.Fatalf("%d tombstones, want %d", y.Len(), len(twin))
			}
			if n, bound := y.Ages(); n > bound || n < y.Len() {
				t.Fatalf("%d ages of %d tombstones, at most %d", n, y.Len(), bound)
			}
			if _, found := y.Find(near); found {
				t.Fatalf("a job without a tombstone has one")
			}
			jobs := slices.SortedFunc(maps.Keys(twin), message.JobID.Compare)
			oldest := node.Instant(1 << 60)
			for _, j := range jobs {
				oldest = min(oldest, twin[j].Buried)
				if got, ok := y.Find(j); !ok || !same(got, twin[j]) {
					t.Fatalf("job %v has %+v, want %+v", j, got, twin[j])
				}
			}
			if got, ok := y.Oldest(); ok != (len(jobs) > 0) || ok && got.Buried != oldest {
				t.Fatalf("the oldest is %+v, want one of %v", got, oldest)
			}
			var listed []message.JobID
			for tomb, ok := y.After(message.JobID{}); ok; tomb, ok = y.After(tomb.Job) {
				listed = append(listed, tomb.Job)
			}
			if len(jobs) > 0 && jobs[0] == (message.JobID{}) {
				jobs = jobs[1:] // no job is before it
			}
			if !slices.Equal(listed, jobs) {
				t.Fatalf("listed are %v, want %v", listed, jobs)
			}
		}
	})
}

func same(a, b Tomb) bool {
	bytesEqual := bytes.Equal(a.Epitaph, b.Epitaph)
	a.Epitaph, b.Epitaph = nil, nil
	return bytesEqual && fmt.Sprint(a) == fmt.Sprint(b)
}

// A yard that turns over many times its room remembers no more ages than its bound, and each
// bucket gives its memory back.
func TestYardThatTurnsOverStaysSmall(t *testing.T) {
	y := New(1000)
	for n := range 40_000 {
		if y.Len() == y.Max() {
			j := jobOf(n - 1) // the youngest: its age stays behind
			if n%50 == 0 {
				tomb, _ := y.Oldest()
				j = tomb.Job
			}
			y.Remove(j)
		}
		if !y.Add(&Tomb{Job: jobOf(n), Buried: node.Instant(n)}) {
			t.Fatalf("no room for %d beside %d", n, y.Len())
		}
		if got, bound := y.Ages(); got > bound {
			t.Fatalf("%d ages, at most %d", got, bound)
		}
	}
	for y.Len() > 3 {
		tomb, _ := y.Oldest()
		y.Remove(tomb.Job)
	}
	slabs := 0
	for _, bucket := range y.buckets {
		slabs += cap(bucket)
	}
	if slabs > 2*3+8*3 {
		t.Errorf("3 tombstones keep the memory of %d", slabs)
	}
}

// BenchmarkMemory tells the bytes that a tombstone takes, and what it costs to bury one beside
// so many others.
func BenchmarkMemory(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			var bytes float64
			for b.Loop() {
				before := heap()
				y := New(n + n/2)
				for i := range n {
					job := message.JobID{}
					copy(job[:], binary.BigEndian.AppendUint64(nil, node.Mix(uint64(i), 1)))
					y.Add(&Tomb{Job: job, Buried: node.Instant(i), Epitaph: []byte("0123456789")})
				}
				bytes = float64(heap()-before) / float64(n)
				runtime.KeepAlive(&y)
			}
			b.ReportMetric(bytes, "heap-B/job")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/job")
		})
	}
}

func heap() uint64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// A tombstone among a hundred thousand takes at most 100 bytes: a million fit the memory that
// docs/settings.md names.
func TestATombstoneIsSmall(t *testing.T) {
	const n = 100_000
	before := heap()
	y := New(n + n/2)
	for i := range n {
		y.Add(&Tomb{Job: jobOf(i), Buried: node.Instant(i), Epitaph: []byte("0123456789")})
	}
	if got := float64(heap()-before) / n; got > 100 {
		t.Errorf("a tombstone takes %.0f bytes, want at most 100", got)
	}
	runtime.KeepAlive(&y)
}
