package restored

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/archive"
	"hyperscale/core/event"
	"hyperscale/core/gate/restore"
	"hyperscale/core/lease/copies"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Worlds returns the worlds of restored groups.
func Worlds() []stage.Scenario {
	return []stage.Scenario{{
		Name: "group-restored", Virtual: 260 * time.Second, Build: cluster.On(buildGroupRestored),
		Doc: "A majority of the gates is backed up while jobs run: each gate's registers at another time, then the files that they name. Each gate restarts, and takes its jobs under higher tokens. Then all gates lose their disks, and begin again from the backup, while their managers and workers run on. What had ended before the backup keeps its end. Each job that had not ends, as FAILED where its end is not known, and its client hears so. No load is sent twice, no old fence is obeyed, and later jobs complete.",
	}}
}

const (
	backupBegins = 30 * time.Second
	gatesLost    = 50 * time.Second
	jobsAgain    = gatesLost + 60*time.Second
)

// restored is a group of gates that is backed up, lost, and restored.
type restored struct {
	*cluster.Cluster
	copies []copies.Copy
	files  map[message.FileDigest][]byte
	jobs   map[message.JobID]restore.Job
	states map[message.JobID]message.JobState // after the restore, as a gate that owns it says
	after  []*cluster.Order
	done   bool
}

func buildGroupRestored(s *cluster.Cluster) {
	s.Standard(cluster.GroupTopology(), func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Until, l.Layers = 2*time.Second, 12*time.Second, 4, backupBegins-4*time.Second, false
	})
	w := &restored{Cluster: s, files: map[message.FileDigest][]byte{}, jobs: map[message.JobID]restore.Job{}, states: map[message.JobID]message.JobState{}}
	s.Fault(sim.Fault{At: backupBegins, For: time.Millisecond, Kind: sim.FaultPause, Nodes: stage.Names(s.Gates[:1])}) // from now on, what befalls the world is more than load
	asked := s.Choose(s.Gates, 2+s.Rand.Int(2))
	var apart []time.Duration
	for range asked {
		apart = append(apart, s.Rand.Duration(0, 2*time.Second))
	}
	w.World.At(backupBegins, func() { w.collect(asked, apart) })
	for i, id := range s.Gates { // the old group gives out higher tokens than the backup knows
		s.Fault(sim.Fault{At: gatesLost - time.Duration(6-2*i)*time.Second, For: 300 * time.Millisecond, Kind: sim.FaultCrash, Nodes: []string{string(id)}})
	}
	w.World.At(gatesLost, w.lose)
	for i := range 6 {
		o := &cluster.Order{Key: fmt.Sprint("after-", i), Client: s.Clients[i%len(s.Clients)]}
		m := s.Submission(o, cluster.Load{Vus: 8, Cores: 2, Duration: 3 * time.Second}, 1000+i)
		s.Orders, w.after = append(s.Orders, o), append(w.after, o)
		w.World.At(jobsAgain+time.Duration(i)*time.Second, func() { s.Submit(o, m, 0) })
	}
	s.Witness = append(s.Witness, w.watch)
	s.Checker.Excuse(w.unknown)
	s.Verdicts = append(s.Verdicts, w.judge)
}

// collect takes registers of one gate after the other, then the files that they name. As long as
// files of jobs that had not ended are gone by then, it begins anew.
func (w *restored) collect(asked []node.ID, apart []time.Duration) {
	at := w.World.Now()
	for i, id := range asked {
		w.World.At(at, func() { w.registers(id) })
		at += apart[i]
	}
	w.World.At(at, func() {
		for _, id := range asked {
			w.named(id)
		}
		if w.absent(func(restore.Job, message.FileDigest) {}) > 0 {
			w.collect(asked, apart)
		}
	})
}

// absent counts the files of jobs that had not ended, and that no gate had.
func (w *restored) absent(tell func(restore.Job, message.FileDigest)) (n int) {
	jobs, err := restore.Mark(copies.Merge(w.copies).Registers, "nowhere")
	if err != nil {
		node.Bug("scenarios: %v", err)
	}
	for _, j := range jobs {
		for _, d := range j.Files {
			if w.files[d] == nil && j.Unknown {
				n++
				tell(j, d)
			}
		}
	}
	return n
}

// registers takes what one gate has on disk of all jobs.
func (w *restored) registers(id node.ID) {
	c := copies.Copy{}
	image := w.World.Image(id)
	for _, key := range slices.Sorted(maps.Keys(image)) {
		if !strings.HasPrefix(key, "lease/gates/register/") {
			continue
		}
		r, err := copies.ReadRegister(key, image[key])
		if err != nil {
			node.Bug("scenarios: %s: %v", key, err)
		}
		c.Registers = append(c.Registers, r)
	}
	w.copies = append(w.copies, c)
}

// named takes the files that the registers name.
func (w *restored) named(id node.ID) {
	jobs, err := restore.Mark(copies.Merge(w.copies).Registers, "nowhere")
	if err != nil {
		node.Bug("scenarios: %v", err)
	}
	image := w.World.Image(id)
	for _, j := range jobs {
		for _, d := range j.Files {
			prefix := fmt.Sprintf("file/gates/%x/", d[:])
			if image[prefix+"whole"] == nil {
				continue
			}
			var b []byte
			for n := 0; image[prefix+fmt.Sprintf("%04d", n)] != nil; n++ {
				b = append(b, image[prefix+fmt.Sprintf("%04d", n)]...)
			}
			w.files[d] = b
		}
	}
}

// lose takes all disks of the gates, and gives one of them the restored one.
func (w *restored) lose() {
	g := copies.Ground{Group: checker.GroupGates, Merged: copies.Merge(w.copies), Draw: uint64(w.Rand.Int(copies.EpochDraw))}
	for _, id := range w.Gates {
		w.World.Crash(id)
		w.World.Restore(id, nil)
		w.Checker.Forget(id)
		g.Members = append(g.Members, w.World.Addr(id))
	}
	jobs, err := restore.Mark(g.Merged.Registers, "a backup")
	if err != nil {
		node.Bug("scenarios: %v", err)
	}
	for _, j := range jobs {
		w.jobs[j.ID] = j
	}
	w.absent(func(j restore.Job, d message.FileDigest) {
		w.Checker.Violate("R", w.Record(w.Gates[0]), "job %v names the file %v, and no gate of the backup has it", j.ID, d)
	})
	records, err := g.Disk()
	if err != nil {
		node.Bug("scenarios: %v", err)
	}
	image := map[string][]byte{}
	for _, r := range records {
		image[r.Key] = r.Value
	}
	//lint:orderfree each file has records of its own
	for _, b := range w.files {
		for _, r := range archive.Records(checker.GroupGates, b) {
			image[r.Key] = r.Value
		}
	}
	first := w.Choose(w.Gates, 1)[0]
	w.World.Restore(first, image)
	w.done = true
	for _, id := range w.Gates {
		after := w.Rand.Duration(time.Second, 8*time.Second)
		w.World.At(gatesLost+after, func() { w.World.Start(id) })
	}
}

// watch follows what gates say of jobs after the restore.
func (w *restored) watch(r checker.Record) {
	if e, ok := r.Event.(event.JobChanged); ok && w.done {
		w.states[e.Job] = e.To
	}
}

// unknown excuses what follows from an end that the old group told after the backup, of a job that
// had not ended then: its own history alone, and no ownership, no fence and no load.
func (w *restored) unknown(v checker.Violation) bool {
	if !w.done || !slices.Contains([]string{"L", "T4", "T8"}, v.Invariant) {
		return false
	}
	//lint:orderfree a detail names one job
	for id, j := range w.jobs {
		if strings.Contains(v.Detail, id.String()) {
			return j.Unknown
		}
	}
	return false
}

func (w *restored) judge() {
	for _, id := range slices.SortedFunc(maps.Keys(w.jobs), message.JobID.Compare) {
		j := w.jobs[id]
		got, told := w.states[id]
		switch {
		case j.Unknown && (!told || !got.Terminal() || got == message.JobCompleted):
			w.Checker.Violate("P", w.Record(w.Gates[0]), "job %v was %v in the backup, and is %v", id, j.State, got)
		case !j.Unknown && told && got != j.State:
			w.Checker.Violate("P", w.Record(w.Gates[0]), "job %v had ended %v before the backup, and is %v", id, j.State, got)
		}
	}
	for _, o := range w.after {
		if got := w.states[o.Job]; got != message.JobCompleted {
			w.Checker.Violate("P", w.Record(o.Client), "job %v was submitted after the restore, and is %v", o.Job, got)
		}
	}
}
