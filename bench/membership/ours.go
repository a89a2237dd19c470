package membership

import (
	"slices"
	"strconv"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/swim"
	"hyperscale/netsim"
	"hyperscale/sim"
)

// headerBytes is what a datagram of ours carries besides its message, by the format
// of runtime/transport: the sender's name and address, its incarnation and role, and
// eight bytes that stand for cluster, environment and version.
const headerBytes = 44

// member is a machine that belongs to a group and does nothing else.
type member struct {
	run   *run
	index int
	group *swim.Group
}

// run is one run of ours.
type run struct {
	world  *sim.World
	bytes  uint64
	sent   map[node.Kind]int // datagrams
	deaths []death
}

// wire counts what is sent.
type wire struct {
	node.Env
	r *run
}

// Datagram implements node.Network.
func (w wire) Datagram(to node.Addr, m node.Message) {
	if w.r.world.Now() >= settled {
		w.r.bytes += uint64(m.Size() + headerBytes)
		w.r.sent[m.Kind()]++
	}
	w.Env.Datagram(to, m)
}

// Send implements node.Network.
func (w wire) Send(s node.StreamID, m node.Message) {
	if w.r.world.Now() >= settled {
		w.r.bytes += uint64(m.Size())
	}
	w.Env.Send(s, m)
}

// Step implements node.Machine.
func (m *member) Step(env node.Env, in *node.Input) {
	w := wire{env, m.run}
	switch in.Kind {
	case node.InputStart:
		m.group.Start(w)
	case node.InputMessage:
		m.group.Receive(w, in)
	case node.InputStreamOpened:
		m.group.Opened(w, in)
	case node.InputStreamBroken:
		m.group.Broken(w, in)
	case node.InputTimer:
		m.group.Fire(w, in.Timer)
	}
	changes := m.group.Take()
	for i := range changes {
		if c := &changes[i]; c.Kind == swim.ChangeMember && c.To == swim.Dead {
			m.run.deaths = append(m.run.deaths, death{m.run.world.Now(), m.index, indexOfName(c.Member.ID)})
		}
	}
}

// nameOf is the name that the peer's member has, too.
func nameOf(i int) node.ID { return node.ID(strconv.Itoa(i)) }

func indexOfName(id node.ID) int {
	i, err := strconv.Atoi(string(id))
	if err != nil {
		return -1
	}
	return i
}

// runOurs plays a plan with core/swim.
func runOurs(p plan) (outcome, error) {
	network := netsim.Default()
	network.Near = netsim.Link{Latency: delayMin, Jitter: delayMax - delayMin, Bandwidth: network.Near.Bandwidth}
	r := &run{sent: map[node.Kind]int{}, world: sim.New(sim.Config{Seed: p.seed, Network: network})}
	c := swim.Default()
	c.Group = "bench"
	for i := range members {
		r.world.Add(sim.Spec{ID: nameOf(i), Role: node.RoleToy, Place: "dc", New: func() node.Machine {
			return &member{run: r, index: i, group: swim.New(c)}
		}})
	}
	c.Seeds = []node.Addr{r.world.Addr(nameOf(members - 1))}
	for i := range members {
		r.world.Start(nameOf(i))
	}
	faults := []sim.Fault{
		{At: settled, Kind: sim.FaultLoss, Value: int64(loss * netsim.Million)},
		{At: crashes, Kind: sim.FaultCrash, Nodes: []string{string(nameOf(p.crashed))}},
	}
	for _, s := range p.pauses {
		faults = append(faults, sim.Fault{At: s.from, For: s.to - s.from, Kind: sim.FaultPause, Nodes: []string{string(nameOf(s.member))}})
	}
	slices.SortStableFunc(faults, func(a, b sim.Fault) int { return int((a.At - b.At) / time.Nanosecond) })
	if err := r.world.Schedule(faults); err != nil {
		return outcome{}, err
	}
	r.world.RunUntil(ends)
	o := p.judge(r.deaths, r.bytes)
	o.Probes, o.Gossip = r.sent[message.KindSwimProbe], r.sent[message.KindSwimGossip]
	return o, nil
}
