package trust

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/manager"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

// Worlds returns the worlds of this package.
func Worlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "owned-jobs", Virtual: 2 * time.Minute, Within: 40 * time.Second, Build: cluster.On(buildOwnedJobs),
			Doc: "Two submitters submit jobs and cancel some of their own. Each also tries to cancel those of the other, and so does a viewer, who submits as well, while gates crash, are cut off and take jobs over. No gate accepts any of it, however it learned of the job, and each answer that is final names the right."},
		{Name: "liar", Virtual: 200 * time.Second, Within: 130 * time.Second, Build: cluster.On(buildLiar),
			Doc: "A gate, a manager or a worker does none of its work. It sends the others forged messages of every kind that its role sends, over streams and as datagrams: bent copies of what it hears, and random ones with the highest numbers. Then it is gone for ever. Half of the jobs are its victims: it names no other. Many tell of sets in which another address has the seat of a member. Every invariant holds for the others, all jobs end, each group has one leader, and no seat is given away. Beside a gate that lies the others complete; a manager or worker that lies may keep cores until their time is up."},
		{Name: "impostor", Virtual: 90 * time.Second, Within: 40 * time.Second, Build: cluster.On(buildImpostor),
			Doc: "A client and a worker send messages of all kinds that their roles do not send, to all nodes, over streams and as datagrams: leases, fences, heartbeats, results, with names, jobs and groups of the cluster and with the highest numbers. No machine receives any of them, and every job completes."},
		{Name: "replayer", Virtual: 5 * time.Minute, Build: cluster.On(buildReplayer),
			Doc: "Someone on the network records datagrams, without a key, and sends them again: at any time, and in front of each answer that a node waits for which has just started, with or without its disk. A sealed datagram opens once in a process, but a process that starts later has not seen it: only a nonce, a life, a term or a token in the message tells that it is old. Every invariant holds, and every job ends."},
	}
}

const (
	impostorEvery = 20 * time.Millisecond
	impostorReady = 3 * time.Second // groups have formed
)

func buildImpostor(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	s.Build(t)
	s.Complete = true
	s.SubmitAll(cluster.Load{Vus: 8, Cores: 2, Duration: 5 * time.Second, Every: 2 * time.Second, Until: s.Heal})
	forged, shown := 0, 0
	for _, role := range []node.Role{node.RoleClient, node.RoleWorker} {
		id := node.ID(cluster.Impostor + role.String())
		s.World.Add(sim.Spec{ID: id, Role: role, Place: stage.Datacenter(0), New: func() node.Machine {
			return &impostor{c: s, role: role, forged: &forged, streams: map[node.Addr]node.StreamID{}}
		}})
		s.World.At(impostorReady, func() { s.World.Start(id) })
	}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if e, ok := r.Event.(event.Ignored); ok && e.Misplaced() && strings.HasPrefix(string(e.Peer), cluster.Impostor) {
			shown++
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		if forged < 1000 || shown < forged/2 {
			s.Checker.Violate("P", s.Record(s.Gates[0]), "%d messages were forged, and nodes turned %d of them away at their doors", forged, shown)
		}
	})
}

// buildLiar lets one member lie until the healing. Its kind is the seed's.
func buildLiar(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	role := []node.Role{node.RoleGate, node.RoleManager, node.RoleWorker}[s.Options.Seed%3]
	liar := map[node.Role]node.ID{
		node.RoleGate: "gate-3", node.RoleManager: node.ID("manager-" + stage.Datacenter(0) + "-3"), node.RoleWorker: node.ID("worker-" + stage.Datacenter(0) + "-1"),
	}[role]
	t.Manage = func(c *manager.Config) { c.ResultAge = time.Minute } // no gate acknowledges the end of a job that a liar invents
	t.Lies = &cluster.Lying{Who: liar, Every: lieEvery, From: liarReady, Until: s.Heal, Forged: map[node.Kind]int{}, Quiet: drains, Victim: victim}
	s.Build(t)
	for _, id := range s.Nodes {
		if id != liar {
			s.Core = append(s.Core, id)
		}
	}
	s.Fault(sim.Fault{At: liarReady, For: time.Millisecond, Kind: sim.FaultPause, Nodes: []string{string(liar)}}) // from now on, what befalls the world is more than load
	s.Fault(sim.Fault{At: s.Heal + time.Millisecond, Kind: sim.FaultCrash, Nodes: []string{string(liar)}})
	s.SubmitAll(cluster.Load{Vus: 8, Cores: 2, Duration: 5 * time.Second, Every: time.Second, Until: s.Heal})
	s.Complete = true
	s.Excused = func(id message.JobID) bool { return victim(id) || role != node.RoleGate } // a manager may fill all cores, and a worker keep a shard, until runs have timed out
	s.Checker.Excuse(func(v checker.Violation) bool {
		if v.Invariant == "T13" && strings.Contains(v.Detail+" ", " on "+string(liar)+" ") {
			return true // only a worker itself can say whether it runs a shard
		}
		return slices.Contains(ofVictims, v.Invariant) && !slices.ContainsFunc(s.Orders, func(o *cluster.Order) bool {
			return !victim(o.Job) && strings.Contains(v.Detail, o.Job.String())
		})
	})
	leaders := map[node.ID]node.ID{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		switch e := r.Event.(type) {
		case event.GroupMoved:
			s.Checker.Violate("P", r, "%s is in the set %s, and no operator gave a seat away", r.Node, e.Set)
		case event.Reached:
			if slices.Contains([]string{"lease/moves", "lease/unseated", "manager/follows-set", "worker/follows-set"}, e.What) {
				s.Checker.Violate("P", r, "%s reaches %s, and no operator gave a seat away", r.Node, e.What)
			}
		}
		if e, ok := r.Event.(event.LeaderKnown); ok {
			leaders[r.Node] = e.Leader
		}
	})
	s.Verdicts = append(s.Verdicts, func() {
		for _, group := range [][]node.ID{s.Gates, s.Managers} {
			honest := slices.DeleteFunc(slices.Clone(group), func(id node.ID) bool { return id == liar })
			for _, id := range honest {
				if leader := leaders[id]; leader != leaders[honest[0]] || !slices.Contains(honest, leader) {
					s.Checker.Violate("P", s.Record(id), "long after %s is gone, %s follows %q", liar, id, leader)
				}
			}
		}
		for _, k := range cluster.KindsOf(role) {
			if t.Lies.Forged[k] < 5 && !drains(k) {
				s.Checker.Violate("P", s.Record(liar), "%s forged %d messages of kind %s", liar, t.Lies.Forged[k], message.Name(k))
			}
		}
	})
}

const (
	lieEvery  = 2 * time.Millisecond
	liarReady = 8 * time.Second // groups have formed, and jobs run
)

// victim says that a liar may name a job. It names none of the others, and those complete.
func victim(id message.JobID) bool { return id[0]%2 == 0 }

// ofVictims are the invariants that a member can break for the jobs that it names: it writes to their registers
// and votes twice for them (T1, T2, T4), orders their shards again (T6, T13), and reports results that no
// worker had (T3, T8). docs/proof.md says so.
var ofVictims = []string{"T1", "T2", "T3", "T4", "T6", "T8", "T13"}

// drains says that a message orders a node to drain. An operator's order goes through members, so one that lies
// may drain each node, until an operator lifts that: docs/proof.md.
func drains(k node.Kind) bool { return k == message.KindDrain }

// impostor sends messages of kinds that its role does not send.
type impostor struct {
	c       *cluster.Cluster
	role    node.Role
	forged  *int
	streams map[node.Addr]node.StreamID
}

// Step implements node.Machine.
func (m *impostor) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStart:
		env.SetTimer(node.Key(node.PartPing, 1), impostorEvery)
	case node.InputTimer:
		m.forge(env)
		env.SetTimer(node.Key(node.PartPing, 1), impostorEvery)
	case node.InputStreamBroken:
		maps.DeleteFunc(m.streams, func(_ node.Addr, s node.StreamID) bool { return s == in.Stream })
	case node.InputStop:
		env.Halt("")
	}
}

// forge sends one message to one node, on a stream or as a datagram.
func (m *impostor) forge(env node.Env) {
	r := env.Rand(node.PurposeModel)
	all := slices.Concat(m.c.Gates, m.c.Managers, m.c.Workers)
	to := m.c.World.Addr(all[r.Int(len(all))])
	kinds := message.Kinds()
	kind := kinds[r.Int(len(kinds))]
	if message.Senders(kind).Has(m.role) {
		return
	}
	body := cluster.Forger{Cluster: m.c}.Forge(r, kind)
	if body == nil {
		return
	}
	*m.forged++
	if body.Size() <= message.DatagramBody && r.Chance(1, 2) {
		env.Datagram(to, body)
		return
	}
	if m.streams[to] == 0 {
		m.streams[to] = env.Open(to)
	}
	env.Send(m.streams[to], body)
}

// Clients of the world, by their place among all.
const (
	ownAnn = iota
	ownBob
	ownEve
	owners
)

func ownGrant(i int) node.Grant {
	switch i {
	case ownAnn:
		return node.Grant{Subject: "ann", Right: node.RightSubmit}
	case ownBob:
		return node.Grant{Subject: "bob", Right: node.RightSubmit}
	}
	return node.Grant{Subject: "eve", Right: node.RightView}
}

// owned counts what clients tried.
type owned struct {
	s                     *cluster.Cluster
	mine                  map[message.JobID]bool // jobs that their owner cancels
	forbidden, ended, own int
}

func buildOwnedJobs(s *cluster.Cluster) {
	t := cluster.GroupTopology()
	t.Clients, t.Grant = owners, ownGrant
	s.Build(t)
	w := &owned{s: s, mine: map[message.JobID]bool{}}
	s.Witness = append(s.Witness, w.judge)
	s.Slots(16*time.Second, func(_ int, at time.Duration) {
		kinds := []string{sim.FaultCrash, sim.FaultCrash, sim.FaultPartition}
		s.Fault(sim.Fault{At: at, For: s.Rand.Duration(2*time.Second, 12*time.Second).Truncate(stage.Tick), Kind: kinds[s.Rand.Int(len(kinds))], Nodes: stage.Names(s.Choose(s.Gates, 1))})
	})
	load := cluster.Load{Vus: 4, Cores: 2, Duration: 6 * time.Second}
	n := 0
	for at := 3 * time.Second; at < s.Heal; at += 2 * time.Second {
		n++
		owner := n % 2
		o := &cluster.Order{Key: fmt.Sprintf("owned-%d", n), Client: s.Clients[owner], Cancel: n%3 == 0}
		s.Orders = append(s.Orders, o)
		submit := s.Submission(o, load, n)
		if o.Cancel {
			w.mine[message.JobOf(o.Key)] = true
			s.World.At(at+s.Rand.Duration(load.Duration, 4*load.Duration), func() { w.claim(o) })
		}
		delay := s.Rand.Duration(0, load.Duration/2) // most still run
		s.World.At(at, func() { s.Submit(o, submit, delay) })
		for _, i := range []int{1 - owner, ownEve} {
			s.World.At(at+s.Rand.Duration(time.Second, 10*time.Second), func() {
				w.try(s.Clients[i], &message.JobCancel{Job: message.JobOf(o.Key), Now: true})
			})
		}
		if n%4 == 0 {
			hers := *submit
			hers.Key = fmt.Sprintf("hers-%d", n)
			s.World.At(at, func() { w.try(s.Clients[ownEve], &hers) })
		}
	}
	s.Verdicts = append(s.Verdicts, w.end)
}

// try asks for what the client has no right to.
func (w *owned) try(who node.ID, m node.Message) {
	if !w.s.World.Alive(who) {
		return
	}
	w.s.World.Command(who, m, func(answer node.Message) {
		switch a := answer.(type) {
		case *message.JobAck, *message.JobCancelAck:
			w.s.Checker.Violate("P", w.s.Record(who), "%s of %s is accepted, and its certificate does not allow it", message.NameOf(m), who)
		case *message.Refused:
			switch {
			case a.Code == message.CodeForbidden:
				w.forbidden++
			case !a.Code.Retryable() && a.Code != message.CodeUnknownJob:
				w.s.Checker.Violate("P", w.s.Record(who), "%s of %s is refused: %v: %s", message.NameOf(m), who, a.Code, a.Detail)
			}
		}
	})
}

// claim cancels a job as its owner, also one that has ended or that another gate has taken over.
func (w *owned) claim(o *cluster.Order) {
	if !w.s.World.Alive(o.Client) {
		return
	}
	w.s.World.Command(o.Client, &message.JobCancel{Job: message.JobOf(o.Key)}, func(answer node.Message) {
		if r, refused := answer.(*message.Refused); refused && r.Code == message.CodeForbidden {
			w.s.Checker.Violate("P", w.s.Record(o.Client), "the owner of job %v may not cancel it: %s", message.JobOf(o.Key), r.Detail)
		}
	})
}

// judge follows what gates decide with a majority.
func (w *owned) judge(r checker.Record) {
	e, ok := r.Event.(event.JobChanged)
	switch {
	case !ok:
	case e.To == message.JobCancelling || e.To == message.JobCancelled:
		if w.own++; !w.mine[e.Job] {
			w.s.Checker.Violate("P", r, "job %v is %v, and its owner did not ask for that", e.Job, e.To)
		}
	case e.To == message.JobCompleted:
		w.ended++
	}
}

func (w *owned) end() {
	if w.forbidden < 10 || w.ended < 5 || w.own == 0 && w.s.Options.Faults == nil {
		w.s.Checker.Violate("P", w.s.Record(w.s.Gates[0]), "%d requests were forbidden, %d jobs completed, and owners cancelled %d times: this world is to have more", w.forbidden, w.ended, w.own)
	}
}
