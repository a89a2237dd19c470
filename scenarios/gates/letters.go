package gates

import (
	"fmt"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/gate"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// letterWorlds are about jobs that the cluster ended, and that operators submit once more.
func letterWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "replayed-letters", Virtual: 4 * time.Minute, Build: cluster.On(buildReplayedLetters),
			Doc: "More jobs arrive than run, and some wait in the queues for too long. Operators replay these dead letters, each at two gates at once, while gates crash and are cut off. However often a letter is replayed, it is one new job, and the dead letter keeps its end. Once the world has healed, every letter that a gate lists can be replayed."},
		{Name: "borrowed-letters", Virtual: 100 * time.Second, Within: 40 * time.Second, Build: cluster.On(buildBorrowedLetters),
			Doc: "A gate misses the files of jobs that die in the queues of the other gates. Later an operator reaches that gate alone, and replays each dead letter there, twice. The gate borrows the programs from the others: each replay is a new job at once, and completes."},
	}
}

// Bounds of the gates: more jobs die than they keep letters.
const (
	letterWait = 6 * time.Second
	lettersMax = 12
)

// letters follows the replays of dead letters.
type letters struct {
	s        *cluster.Cluster
	ended    map[message.JobID]message.JobState // with a word of a majority
	begun    map[message.JobID]int              // how often a gate accepted it
	asked    map[message.JobID]bool             // replays, by the id of the new job
	replayed map[message.JobID]bool             // those that a gate acknowledged
}

func buildReplayedLetters(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients = 3
	t.Gate = func(c *gate.Config) {
		c.QueueInterval, c.QueueAgeMax, c.SweepInterval, c.LettersMax = time.Second, letterWait, 20*time.Second, lettersMax
	}
	s.Standard(t, func(l *cluster.Load) {
		l.Every, l.Duration, l.Cores, l.Layers = time.Second, 4*time.Second, 8, false
	})
	s.Forgets = true // a letter that makes room takes the result of its job with it
	w := &letters{s: s, ended: map[message.JobID]message.JobState{}, begun: map[message.JobID]int{}, asked: map[message.JobID]bool{}, replayed: map[message.JobID]bool{}}
	s.Witness = append(s.Witness, w.judge)
	s.Slots(30*time.Second, func(i int, at time.Duration) {
		kinds := []string{sim.FaultCrash, sim.FaultCrash, sim.FaultPartition}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(time.Second, 8*time.Second).Truncate(stage.Tick), Kind: kinds[s.Rand.Int(len(kinds))], Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
	for at := 20 * time.Second; at < s.Heal; at += s.Rand.Duration(3*time.Second, 6*time.Second) {
		a, b := s.Clients[s.Rand.Int(len(s.Clients))], s.Clients[s.Rand.Int(len(s.Clients))]
		pick := s.Rand.Int(lettersMax)
		if s.Rand.Int(3) == 0 { // a gate crashes while it accepts a replay
			s.Fault(sim.Fault{At: (at + s.Rand.Duration(0, 100*time.Millisecond)).Truncate(stage.Tick), For: 2 * time.Second, Kind: sim.FaultCrash, Nodes: stage.Names(s.Choose(s.Gates, 1))})
		}
		s.World.At(at, func() {
			w.list(a, func(l *message.JobList) {
				if n := len(l.Letters); n > 0 {
					id := l.Letters[pick%n].Job
					w.replay(a, id, 1, false)
					w.replay(b, id, 1, false)
				}
			})
		})
	}
	s.World.At(s.Heal+20*time.Second, func() {
		w.list(s.Clients[0], func(l *message.JobList) {
			for i := range l.Letters {
				w.replay(s.Clients[i%len(s.Clients)], l.Letters[i].Job, 2, true)
			}
		})
	})
	s.Ends = append(s.Ends, w.end)
}

// judge follows what gates decide with a majority.
func (w *letters) judge(r checker.Record) {
	e, ok := r.Event.(event.JobChanged)
	switch {
	case !ok:
		return
	case e.To == message.JobSubmitted:
		if w.begun[e.Job]++; w.begun[e.Job] > 1 {
			w.s.Checker.Violate("P", r, "job %v began %d times", e.Job, w.begun[e.Job])
		}
	case e.To.Terminal():
		w.ended[e.Job] = e.To
	}
	if was, ended := w.ended[e.Job]; ended && e.To != was {
		w.s.Checker.Violate("P", r, "job %v ended %v, and becomes %v", e.Job, was, e.To)
	}
}

// list asks the gates for their dead letters.
func (w *letters) list(who node.ID, f func(*message.JobList)) {
	if !w.s.World.Alive(who) {
		return
	}
	w.s.World.Command(who, &message.JobListQuery{Dead: true}, func(answer node.Message) {
		l, ok := answer.(*message.JobList)
		if !ok {
			return
		}
		for i := range l.Letters {
			if d := &l.Letters[i]; w.ended[d.Job] == message.JobNone || w.ended[d.Job] == message.JobCompleted || w.ended[d.Job] == message.JobCancelled {
				w.s.Checker.Violate("P", w.s.Record(who), "job %v is listed as a dead letter, and ended %v", d.Job, w.ended[d.Job])
			}
		}
		f(l)
	})
}

// replay replays a dead letter. If all gates are well, they must accept it.
func (w *letters) replay(who node.ID, id message.JobID, number uint32, well bool) {
	again := message.JobOf(message.ReplayKey(id, number))
	w.asked[again] = true
	w.s.Replays = len(w.asked)
	w.s.World.Command(who, &message.JobReplay{Job: id, Number: number}, func(answer node.Message) {
		switch a := answer.(type) {
		case *message.JobAck:
			if a.Job != again {
				w.s.Checker.Violate("P", w.s.Record(who), "replay %d of job %v is job %v, want %v", number, id, a.Job, again)
			}
			w.replayed[again] = true
		case *message.Refused:
			if well && a.Code == message.CodeNoLetter {
				w.left(who, id) // it made room for a newer one since it was listed
				return
			}
			if well || !a.Code.Retryable() && a.Code != message.CodeNoLetter {
				w.s.Checker.Violate("P", w.s.Record(who), "replay %d of the dead letter %v is refused: %v: %s", number, id, a.Code, a.Detail)
			}
		}
	})
}

// left judges that no gate lists a letter any more.
func (w *letters) left(who node.ID, id message.JobID) {
	w.list(who, func(l *message.JobList) {
		for i := range l.Letters {
			if l.Letters[i].Job == id {
				w.s.Checker.Violate("P", w.s.Record(who), "the dead letter %v is listed, and its replay was refused: there is no such letter", id)
			}
		}
	})
}

// end judges that each replay that a gate acknowledged has ended.
func (w *letters) end() {
	who := w.s.Record(w.s.Clients[0])
	if len(w.replayed) < 5 {
		w.s.Checker.Violate("P", who, "%d replays were acknowledged: this world is to have more", len(w.replayed))
	}
	//lint:orderfree each is judged by itself
	for id := range w.replayed {
		if w.ended[id] == message.JobNone {
			w.s.Checker.Violate("P", who, "the replay %v was acknowledged, and has not ended", id)
		}
	}
}

const (
	borrowedLetters = 4
	borrowsFrom     = 46 * time.Second // before the gate's first sweep, which fetches what it lacks
	borrowsAnswer   = 2 * time.Second
)

// buildBorrowedLetters keeps clients away from one gate until jobs have died, and from the others
// afterwards. Files reach that gate only if it asks for them.
func buildBorrowedLetters(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients = 1
	t.Gate = func(c *gate.Config) { c.QueueInterval, c.QueueAgeMax = time.Second, letterWait }
	s.Build(t)
	s.Reaches("gate/letter-borrowed")
	who, far := s.Clients[0], s.Choose(s.Gates, 1)
	near := stage.Without(s.Gates, far[0])
	s.Fault(sim.Fault{At: time.Second, For: borrowsFrom - 16*time.Second, Kind: sim.FaultPartition, Nodes: stage.Names(far), Peers: stage.Names(s.Clients)})
	s.Fault(sim.Fault{At: borrowsFrom - 2*time.Second, For: 15 * time.Second, Kind: sim.FaultRefuseAccept, Nodes: stage.Names(near)})
	s.Fault(sim.Fault{At: borrowsFrom - time.Second, Kind: sim.FaultBreakStreams, Nodes: stage.Names(near), Peers: stage.Names(s.Clients)})
	wanted := map[message.FileDigest]bool{}
	s.World.Engage(func(l sim.Letter) bool {
		switch m := l.Message.(type) {
		case *message.FileFetch:
			wanted[m.File] = wanted[m.File] || l.From == far[0]
		case *message.FileChunk:
			return l.To == far[0] && !wanted[m.File] && s.World.Now() < borrowsFrom
		case *message.FileOffer:
			return l.To == far[0] && s.World.Now() < s.Heal
		}
		return false
	})
	order := func(n int, at time.Duration, l cluster.Load) *cluster.Order {
		o := &cluster.Order{Key: fmt.Sprintf("letter-%d", n), Client: who}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, l, n+1)
		s.World.At(at, func() { s.Submit(o, submit, 0) })
		return o
	}
	order(0, 4*time.Second, cluster.Load{Vus: 64, Cores: uint32(t.Workers * t.Cores), Duration: 25 * time.Second})
	completed, want := 0, 0
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.JobChanged); ok && e.To == message.JobCompleted {
			completed++
		}
	})
	for n := range borrowedLetters {
		o := order(n+1, 13*time.Second+s.Rand.Duration(0, time.Second), cluster.Load{Vus: 1, Cores: 1, Duration: 3 * time.Second})
		for number := range uint32(2) {
			want++
			at := borrowsFrom + time.Duration(n)*300*time.Millisecond + time.Duration(number)*borrowsAnswer
			acked := false
			s.World.At(at, func() {
				s.World.Command(who, &message.JobReplay{Job: o.Job, Number: number + 1}, func(answer node.Message) {
					_, acked = answer.(*message.JobAck)
				})
			})
			s.World.At(at+borrowsAnswer, func() {
				if !acked && s.Options.Faults == nil {
					s.Checker.Violate("P", s.Record(far[0]), "replay %d of the dead letter %v is not acknowledged after %v by %s, which can borrow its program", number+1, o.Job, borrowsAnswer, far[0])
				}
			})
		}
	}
	s.Replays = want
	s.Verdicts = append(s.Verdicts, func() {
		if completed != want+1 && s.Options.Faults == nil {
			s.Checker.Violate("P", s.Record(far[0]), "%d jobs completed, of one that ran and %d replays", completed, want)
		}
	})
}
