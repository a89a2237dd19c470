package gates

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/cluster"
	"hyperscale/scenarios/stage"
	"hyperscale/sim"
)

func impostorWorlds() []stage.Scenario {
	return []stage.Scenario{
		{Name: "impostor", Virtual: 90 * time.Second, Within: 40 * time.Second, Build: cluster.On(buildImpostor),
			Doc: "A client and a worker send messages of all kinds that their roles do not send, to all nodes, over streams and as datagrams: leases, fences, heartbeats, results, with names, jobs and groups of the cluster and with the highest numbers. No machine receives any of them, and every job completes."},
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
	body := message.New(kind)
	m.fill(r, reflect.ValueOf(body).Elem())
	frame, err := message.Append(nil, body)
	if err != nil {
		return
	}
	if _, err := message.Decode(frame); err != nil {
		return // a required field is zero
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

// fill draws a value that a node may believe: names, jobs and groups of the cluster, small numbers
// and the highest ones.
func (m *impostor) fill(r *node.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				m.fill(r, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.Int(3), 3))
		for i := range v.Len() {
			m.fill(r, v.Index(i))
		}
	case reflect.Array:
		if id := m.job(r); v.Len() == len(id) && v.Type().Elem().Kind() == reflect.Uint8 {
			v.Set(reflect.ValueOf(id).Convert(v.Type()))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		m.fill(r, v.Elem())
	case reflect.String:
		names := slices.Concat(m.c.Gates, m.c.Managers, m.c.Workers, []node.ID{"gates", node.ID(stage.Datacenter(0)), m.c.Clients[0]})
		v.SetString(string(names[r.Int(len(names))]))
	case reflect.Bool:
		v.SetBool(r.Chance(1, 2))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(r.N(1 << 32)))
	case reflect.Uint8:
		v.SetUint(r.N(4))
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(r.N(100))
	case reflect.Uint64:
		v.SetUint([]uint64{1, 2, 3, 1 << 41, 1<<62 - 1}[r.Int(5)])
	}
}

// job draws one that a client knows.
func (m *impostor) job(r *node.Rand) [16]byte {
	if len(m.c.Orders) == 0 {
		return r.ID()
	}
	return m.c.Orders[r.Int(len(m.c.Orders))].Job
}
