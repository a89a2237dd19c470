package job

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// TestHistoriesKeepTheNewestResults plays ends, ages and removals. A model scans all jobs at
// each step; the history keeps the same results, and drops the oldest first.
func TestHistoriesKeepTheNewestResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most, bytes := rapid.IntRange(1, 4).Draw(t, "results_max"), rapid.IntRange(10, 40).Draw(t, "result_bytes_max")
		h := NewHistory(most, bytes)
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
				if j := h.Oldest(); (j == nil) != (len(all) == 0) || j != nil && j != all[0] {
					t.Fatalf("of %d jobs the oldest is %+v", len(all), j)
				} else if j != nil {
					h.Remove(j)
					all = all[1:]
				}
			default:
				j := &Job{ID: message.JobID{byte(n + 1)}, Times: Times{Ended: now}}
				if rapid.IntRange(0, 3).Draw(t, "result") > 0 {
					j.Outcome = Outcome{ResultFile: message.FileDigest{byte(n + 1)}, ResultBytes: rapid.IntRange(1, 20).Draw(t, "bytes")}
				}
				h.Add(j)
				all = append(all, j)
			}
			for {
				count, sum := 0, 0
				var oldest *Job
				for _, j := range all {
					if j.ResultFile != (message.FileDigest{}) {
						count, sum = count+1, sum+j.ResultBytes
						if oldest == nil {
							oldest = j
						}
					}
				}
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

// A history that is full drops the oldest job, and the oldest result, for each job that ends.
// That moves no other entry: an end costs the same among few jobs and among many.
func TestTheOldestLeavesWithoutMovingTheOthers(t *testing.T) {
	h := NewHistory(100, 1<<20)
	for n := range 100 {
		h.Add(&Job{ID: message.JobID{byte(n)}, Outcome: Outcome{ResultFile: message.FileDigest{1}, ResultBytes: 1}})
	}
	second, result := &h.ended[1], &h.results[1]
	h.Remove(h.Oldest())
	if &h.ended[0] != second || &h.results[0] != result {
		t.Error("the other entries were moved")
	}
}
