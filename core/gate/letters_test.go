package gate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hyperscale/core/message"
)

// letters lists the dead letters of the gate.
func (k *keeper) letters() []message.LetterInfo {
	k.heard = nil
	k.deliver("c1", &message.JobListQuery{Request: k.ask(), Dead: true})
	l, ok := k.heard.(*message.JobList)
	if !ok || l.More || len(l.Jobs) != len(l.Letters) {
		k.t.Fatalf("the dead letters are %+v", k.heard)
	}
	return l.Letters
}

// TestLettersKeepTheirPrograms ends jobs of the cluster, of their programs and by clients, beside
// replays, restarts and ages. Each dead letter that the gate lists was ended by the cluster, and its
// program is on disk; a replay of it is accepted. There are at most as many as the bound, and the
// newest one is listed while its age is not over. No key begins twice.
func TestLettersKeepTheirPrograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.LettersMax, c.LetterAge = rapid.IntRange(1, 4).Draw(t, "letters_max"), time.Hour
		c.LetterBytesMax = rapid.SampledFrom([]int{1 << 20, 3000}).Draw(t, "letter_bytes_max")
		k := newKeeper(t, c)
		dead := map[message.JobID]bool{}
		newest, since := message.JobID{}, time.Duration(0)
		for i := range rapid.IntRange(5, 40).Draw(t, "steps") {
			open := slices.SortedFunc(maps.Keys(k.orders), message.JobID.Compare)
			switch what := rapid.SampledFrom([]string{"new", "new", "lost", "lost", "program", "cancel", "replay", "wait", "restart"}).Draw(t, "what"); what {
			case "new":
				if len(k.jobs)-len(k.ended) < c.QueueMax {
					k.keys = append(k.keys, fmt.Sprint("k", i))
					k.submits(fmt.Sprint("k", i))
				}
			case "lost", "program":
				if len(open) == 0 {
					continue
				}
				id := rapid.SampledFrom(open).Draw(t, "job")
				fence := k.orders[id]
				fence.SubjobEpoch = message.LeaseToken{Epoch: 1, Ordinal: 1}.Packed()
				r := subjobResult(id, fence, "a", message.JobFailed, 10, "")
				if r.Fault = message.FaultProgram; what == "lost" {
					r.Fault = message.FaultLost
				}
				k.deliver("m1", &message.JobAccepted{Job: id, Fence: fence})
				k.deliver("m1", r)
				if what == "lost" && k.ended[id] == message.JobFailed { // else the gate has another epoch since its restart
					dead[id], newest, since = true, id, 0
				}
			case "cancel":
				if len(open) > 0 {
					k.deliver("c1", &message.JobCancel{Request: k.ask(), Job: open[0]})
					k.ends(open[0], message.JobCancelled)
				}
			case "replay":
				letters := k.letters()
				if len(letters) == 0 || len(k.jobs)-len(k.ended) >= c.QueueMax {
					continue
				}
				of := rapid.SampledFrom(letters).Draw(t, "letter")
				k.heard = nil
				k.deliver("c1", &message.JobReplay{Request: k.ask(), Job: of.Job, Number: 1})
				key := message.ReplayKey(of.Job, 1)
				a, ok := k.heard.(*message.JobAck)
				_, had := k.jobs[key]
				if !ok || a.Job != message.JobOf(key) || a.Duplicate != had {
					k.t.Fatalf("a replay of a listed letter is answered by %+v, and it was replayed before: %v", k.heard, had)
				}
				k.jobs[key] = a.Job
			case "wait":
				for _, id := range open { // else their datacenter falls silent
					k.ends(id, message.JobCompleted)
				}
				d := time.Duration(rapid.IntRange(1, 1200).Draw(t, "seconds")) * time.Second
				k.world.Advance(d)
				since += d
				k.says("m1")
			case "restart":
				k.world.Crash()
				k.start()
				newest = message.JobID{} // a gate that restarts knows the order of acceptance, not that of ends
			}
			letters := k.letters()
			if len(letters) > c.LettersMax {
				k.t.Fatalf("%d dead letters are listed, at most %d", len(letters), c.LettersMax)
			}
			found := false
			for _, l := range letters {
				found = found || l.Job == newest
				if strings.Contains(l.Reason, "was silent") && !dead[l.Job] { // after a restart
					dead[l.Job], newest = true, message.JobID{}
				}
				if !dead[l.Job] || k.state(l.Job) != message.JobFailed {
					k.t.Fatalf("job %v is listed as a dead letter: %+v", l.Job, l)
				}
				if !slices.Contains(k.world.Disk(), fmt.Sprintf("file/gates/%x/whole", l.Program[:])) {
					k.t.Fatalf("the program of the dead letter %v is not on disk", l.Job)
				}
			}
			if newest != (message.JobID{}) && since < c.LetterAge && !found {
				k.t.Fatalf("the newest dead letter %v ended %v ago, and is not among %+v", newest, since, letters)
			}
		}
		//lint:orderfree each is judged by itself
		for _, id := range k.jobs {
			if n := k.begun[id]; n != 1 {
				k.t.Fatalf("job %v began %d times", id, n)
			}
		}
	})
}

// A dead letter keeps no other job out: it makes room in a full archive, the oldest first.
func TestLettersMakeRoom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := small()
		c.ResultsMax, c.LettersMax, c.JobsMax, c.KeysMax = 2, 100, 100, 100
		c.FilesMax = rapid.IntRange(5, 9).Draw(t, "files_max") // beside results, programs of so many less two
		k := newKeeper(t, c)
		for i := range rapid.IntRange(6, 20).Draw(t, "jobs") {
			key := fmt.Sprint("k", i)
			if _, refused := k.submits(key); refused != nil {
				k.t.Fatalf("beside %d dead letters a job is refused: %v", len(k.letters()), refused.Detail)
			}
			id := k.jobs[key]
			fence := k.orders[id]
			fence.SubjobEpoch = message.LeaseToken{Epoch: 1, Ordinal: 1}.Packed()
			r := subjobResult(id, fence, "a", message.JobFailed, 10, "")
			r.Fault = message.FaultLost
			k.deliver("m1", &message.JobAccepted{Job: id, Fence: fence})
			k.deliver("m1", r)
			if got := k.letters(); len(got) == 0 || len(got) > c.FilesMax-c.ResultsMax {
				k.t.Fatalf("%d dead letters beside %d files", len(got), c.FilesMax)
			}
		}
	})
}
