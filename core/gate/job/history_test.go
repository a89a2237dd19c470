package job

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestHistoriesKeepTheNewestResults plays ends, ages and removals. A model scans all jobs at
// each step; the history keeps the same results, and drops the oldest first. In the older half of the
// results, those that a watcher has been sent leave before others.
func TestHistoriesKeepTheNewestResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most, bytes := rapid.IntRange(1, 4).Draw(t, "results_max"), rapid.IntRange(10, 40).Draw(t, "result_bytes_max")
		letters, letterBytes := rapid.IntRange(1, 4).Draw(t, "letters_max"), rapid.IntRange(10, 40).Draw(t, "letter_bytes_max")
		h := NewHistory(Bounds{Results: most, ResultBytes: bytes, Letters: letters, LetterBytes: letterBytes})
		var all []*Job // oldest end first
		now := node.Instant(1)
		for n := range rapid.IntRange(1, 30).Draw(t, "steps") {
			now = now.Add(time.Second)
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				h.Age(now, 10*time.Second)
				for _, j := range all {
					if now.Sub(j.Ended) >= 10*time.Second && j.ResultFile != (message.FileDigest{}) {
						t.Fatalf("a result of %v ago is kept", now.Sub(j.Ended))
					}
				}
			case 1:
				want := leaves(all)
				if j := h.Oldest(); j != want {
					t.Fatalf("of %d jobs %+v makes room, want %+v", len(all), j, want)
				} else if j != nil {
					h.Remove(j)
					all = slices.DeleteFunc(all, func(o *Job) bool { return o == j })
				}
			case 2:
				age, letterAge := 5*time.Second, 9*time.Second
				var want *Job
				for _, dead := range []bool{true, false} {
					at := slices.IndexFunc(all, func(o *Job) bool { return o.Letter.Is() == dead })
					if limit := map[bool]time.Duration{true: letterAge, false: age}[dead]; at >= 0 && now.Sub(all[at].Ended) >= limit {
						want = all[at]
					}
				}
				if j := h.Outlived(now, age, letterAge); j != want {
					t.Fatalf("of %d jobs %+v is too old, want %+v", len(all), j, want)
				}
			default:
				j := &Job{ID: message.JobID{byte(n + 1)}, Times: Times{Ended: now}}
				if rapid.IntRange(0, 3).Draw(t, "result") > 0 {
					j.Outcome = Outcome{ResultFile: message.FileDigest{byte(n + 1)}, ResultBytes: rapid.IntRange(1, 20).Draw(t, "bytes")}
					j.Sent = rapid.Bool().Draw(t, "sent")
				}
				if rapid.IntRange(0, 2).Draw(t, "dead") == 0 {
					j.Letter.Program, j.Letter.Bytes = message.FileDigest{byte(n + 1)}, rapid.Uint64Range(1, 20).Draw(t, "program")
				}
				h.Add(j)
				all = append(all, j)
			}
			all = surplus(t, h, all, letters, letterBytes)
			for {
				count, sum := 0, 0
				var oldest, sent *Job
				for _, j := range all {
					if j.ResultFile != (message.FileDigest{}) {
						count, sum = count+1, sum+j.ResultBytes
					}
				}
				seen := 0
				for _, j := range all {
					if j.ResultFile == (message.FileDigest{}) {
						continue
					}
					oldest = cmp.Or(oldest, j)
					if seen++; sent == nil && j.Sent && 2*seen <= count+1 {
						sent = j
					}
				}
				oldest = cmp.Or(sent, oldest)
				h.Rests(func(what string, n, _ int) {
					if n > 0 {
						t.Fatalf("%s is %d", what, n)
					}
				}, count, sum)
				j := h.Excess()
				if over := count > most || sum > bytes; (j != nil) != over || over && j != oldest {
					t.Fatalf("%d results of %d bytes, bounds %d and %d: in excess is %+v", count, sum, most, bytes, j)
				}
				if j == nil {
					break
				}
				h.ForgetResult(j)
			}
			if h.Len() != len(all) {
				t.Fatalf("%d jobs are kept, want %d", h.Len(), len(all))
			}
		}
	})
}

// leaves is the job that makes room in a model: the oldest, but a dead letter only if letters are
// more than half.
func leaves(all []*Job) *Job {
	dead := 0
	for _, j := range all {
		if j.Letter.Is() {
			dead++
		}
	}
	for _, j := range all {
		if j.Letter.Is() == (2*dead > len(all)) {
			return j
		}
	}
	return nil
}

// surplus removes the oldest letters of a history and its model while they exceed their bounds.
func surplus(t *rapid.T, h *History, all []*Job, most, bytes int) []*Job {
	for {
		n, sum := 0, 0
		var oldest *Job
		for _, j := range all {
			if j.Letter.Is() {
				if n, sum = n+1, sum+int(j.Letter.Bytes); oldest == nil {
					oldest = j
				}
			}
		}
		if gotN, gotSum := h.Letters(); gotN != n || gotSum != sum || h.Letter() != oldest {
			t.Fatalf("%d letters of %d bytes, the oldest is %+v, want %d of %d and %+v", gotN, gotSum, h.Letter(), n, sum, oldest)
		}
		if n <= most && sum <= bytes {
			if j := h.Surplus(); j != nil {
				t.Fatalf("%d letters of %d bytes fit, and %+v is too much", n, sum, j)
			}
			return all
		}
		if j := h.Surplus(); j != oldest {
			t.Fatalf("%d letters of %d bytes are too many, and %+v is too much, want %+v", n, sum, j, oldest)
		}
		h.Remove(oldest)
		all = slices.DeleteFunc(all, func(o *Job) bool { return o == oldest })
	}
}

// A history that is full drops the oldest job, and the oldest result, for each job that ends.
// That moves no other entry: an end costs the same among few jobs and among many.
func TestTheOldestLeavesWithoutMovingTheOthers(t *testing.T) {
	h := NewHistory(Bounds{Results: 100, ResultBytes: 1 << 20, Letters: 1, LetterBytes: 1})
	for n := range 100 {
		h.Add(&Job{ID: message.JobID{byte(n)}, Outcome: Outcome{ResultFile: message.FileDigest{1}, ResultBytes: 1}})
	}
	second, result := &h.ended[1], &h.results[1]
	h.Remove(h.Oldest())
	if &h.ended[0] != second || &h.results[0] != result {
		t.Error("the other entries were moved")
	}
}
