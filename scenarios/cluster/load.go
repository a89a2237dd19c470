package cluster

import (
	"fmt"
	"slices"
	"time"

	"hyperscale/core/gate"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/worker"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Tighten draws small bounds for the nodes of a topology, or takes those of a replay. Call it
// before Build.
func (s *Cluster) Tighten(t *Topology) {
	if s.Loaded() {
		s.Apart("bounds", func() {
			if s.Rand.Chance(2, 3) {
				s.Fault(sim.Fault{Kind: sim.FaultTight, Value: int64(s.Rand.N(1 << 20))})
			}
		})
	}
	if f := s.Planned(sim.FaultTight); f != nil {
		s.tight(t, node.NewRand(uint64(f.Value), "bounds", node.PurposeWorkload))
	}
}

// tight draws which bounds are small, and how small. One bound alone shows its own effect.
func (s *Cluster) tight(t *Topology, r *node.Rand) {
	from := func(low, high int) int { return low + r.Int(high-low+1) }
	small := func(what string, bounds ...int) bool {
		if !r.Chance(1, 3) {
			return false
		}
		s.Draw("%s: at most %v", what, bounds)
		return true
	}
	queue, jobs, keys, asks := from(3, 12), from(5, 16), from(6, 40), from(1, 3)
	bytes, age, subjobs, outbox := from(20, 300)<<10, time.Duration(from(10, 60))*time.Second, from(2, 8), from(2, 8)
	queueSmall, jobsSmall, asksSmall := small("jobs in a queue", queue), small("jobs of a gate, and keys", jobs, keys), small("askers of one job, and lookups", asks)
	bytesSmall, ageSmall := small("KiB of programs", bytes>>10), small("seconds in a queue", int(age/time.Second))
	filesSmall := small("KiB of programs in an archive beside one", bytes>>10)
	t.Gate = func(c *gate.Config) {
		c.RetryAfter = 2 * time.Second
		if queueSmall {
			c.QueueMax = queue
		}
		if jobsSmall {
			s.Forgets = true // ended jobs make room early
			c.QueueMax, c.JobsMax = min(c.QueueMax, jobs), jobs
			c.KeysMax, c.KeyAge, c.SweepInterval = keys, 4*time.Minute, 10*time.Second
		}
		if asksSmall {
			c.WaitersMax, c.LookupsMax, c.WatchersMax = asks, asks, 4*asks
		}
		if bytesSmall {
			c.SpecBytesMax = bytes
		}
		if ageSmall {
			c.QueueInterval, c.QueueAgeMax, c.QueueTimeout, c.QueueStep = time.Second, age, age, age/4
		}
		if filesSmall {
			c.FileBytesMax = c.ResultBytesMax + c.ProgramBytesMax + bytes
		}
	}
	if small("subjobs of a manager", subjobs) {
		t.Manage = func(c *manager.Config) { c.SubjobsMax = subjobs }
	}
	if small("results of a worker", outbox) {
		t.Work = func(c *worker.Config) { c.OutboxMax = outbox }
	}
	t.Boxes = map[node.Role]func(*node.MailboxConfig){}
	s.tightLanes(t, r, node.RoleGate, 4, node.Normal, node.Low)
	s.tightLanes(t, r, node.RoleManager, 4, node.High)
	s.tightLanes(t, r, node.RoleWorker, 1, node.High)
}

// tightLanes bounds lanes of a role's mailboxes. Whatever else they carry, the protocols send it again.
func (s *Cluster) tightLanes(t *Topology, r *node.Rand, role node.Role, most int, lanes ...node.Priority) {
	if !r.Chance(1, 2) {
		return
	}
	n := 1 + r.Int(most)
	s.Draw("messages in a lane of a %v: at most %d", role, n)
	t.Boxes[role] = func(c *node.MailboxConfig) {
		for _, p := range lanes {
			c.Lanes[p] = n
		}
	}
}

// Surge makes load one of the faults that the seed may draw. Call it after Build.
func (s *Cluster) Surge() {
	s.World.Loads(s.ask)
	if s.Loaded() {
		s.Apart("load", func() { s.Swarm(stage.LoadKinds()) })
	}
}

// programsOfOneFault is how many large programs one fault brings.
const programsOfOneFault = 4

// ask plays a fault that is load. The requests come evenly, and none after the healing.
func (s *Cluster) ask(f sim.Fault) {
	from := s.Clients
	if len(f.Nodes) > 0 {
		from = slices.DeleteFunc(slices.Clone(s.Clients), func(id node.ID) bool { return !slices.Contains(f.Nodes, string(id)) })
	}
	n := int(f.Value)
	if f.Kind == sim.FaultPrograms {
		n = programsOfOneFault
	}
	if len(from) == 0 {
		return
	}
	for i := range n {
		at := s.World.Now() + f.For*time.Duration(i)/time.Duration(n)
		id := from[i%len(from)]
		switch {
		case at >= s.Heal:
		case f.Kind == sim.FaultQueries:
			s.World.At(at, func() { s.question(id, i) })
		default:
			s.extra(f, id, i, at)
		}
	}
}

// extra submits one small job of a burst, or one with a large program.
func (s *Cluster) extra(f sim.Fault, id node.ID, i int, at time.Duration) {
	s.extras++
	o := &Order{Key: fmt.Sprintf("%s-%d", f.Kind, s.extras), Client: id}
	m := s.Submission(o, Load{Vus: 1, Cores: 1, Duration: time.Second}, s.extras)
	ranks := []message.Rank{message.RankMedium, message.RankHigh, message.RankBackground, message.RankCritical, message.RankLow}
	m.Rank = ranks[i%len(ranks)]
	if i%6 == 5 {
		m.Deadline = 10 * time.Second
	}
	if f.Kind == sim.FaultPrograms {
		m.Program.Files[0].Data = append(m.Program.Files[0].Data, make([]byte, f.Value<<10)...)
	}
	s.Orders = append(s.Orders, o)
	s.World.At(at, func() { s.Submit(o, m, 0) })
}

// questionsMax bounds the questions of floods about one job that have no answer yet: the checker
// tries all orders of those that overlap.
const questionsMax = 4

// question asks for one of the newest jobs, or watches it, or asks for a list.
func (s *Cluster) question(id node.ID, i int) {
	if !s.World.Alive(id) {
		return
	}
	lists := []node.Message{&message.JobListQuery{}, &message.StatusQuery{}, &message.DatacenterQuery{}}
	o := s.asked(i)
	if o == nil || i%3 == 2 {
		s.World.Command(id, lists[i%len(lists)], func(node.Message) {})
		return
	}
	o.questions++
	var ask node.Message = &message.JobQuery{Job: o.Job}
	watch := i%3 == 1 && id != o.Client && !slices.Contains(o.watchers, id) // a client watches a job once
	if watch {
		ask = &message.JobWatch{Job: o.Job}
		o.watchers = append(o.watchers, id)
	}
	s.World.Command(id, ask, func(answer node.Message) {
		if _, goesOn := answer.(*message.JobStatus); !watch || !goesOn {
			o.questions--
		}
	})
}

// asked returns one of the newest jobs, in turn, that has few questions open.
func (s *Cluster) asked(turn int) *Order {
	const newest = 20
	for back := range newest {
		at := len(s.Orders) - 1 - (turn+back)%newest
		if at >= 0 && s.Orders[at].Acked && s.Orders[at].questions < questionsMax {
			return s.Orders[at]
		}
	}
	return nil
}
