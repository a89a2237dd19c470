package cluster

import (
	"reflect"
	"slices"

	"hyperscale/core/lease/seats"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/scenarios/stage"
)

// tops are the numbers that end something for ever where a node believes them.
var tops = []uint64{1<<64 - 1, 1 << 63, 1<<63 - 1, 1<<62 - 1, 1 << 61, 1<<56 - 2, 1<<49 + 1, 1 << 41, 1<<40 - 1, 1<<40 + 1, 1<<32 - 1, 1 << 31}

// Forger makes messages that no honest node sends.
type Forger struct{ *Cluster }

// Forge returns a message of a kind that a node may believe: names, jobs and groups of the cluster,
// small numbers and the highest ones. It returns nil if no such message can be sent: a required field is zero.
func (s Forger) Forge(r *node.Rand, kind node.Kind) message.Body {
	for range forgeTries {
		body := message.New(kind)
		s.forge(r, reflect.ValueOf(body).Elem())
		s.reseat(r, body)
		if m := sound(body); m != nil {
			return m
		}
	}
	return nil
}

// forgeTries bounds the draws of one message: most kinds need one, and those with lists of plans a few.
const forgeTries = 50

// Bend returns a copy of a message with a few of its fields forged, nil if it cannot be sent.
func (s Forger) Bend(r *node.Rand, m node.Message) message.Body {
	c, _, err := message.Clone(m, nil)
	if err != nil {
		return nil
	}
	body, ok := c.(message.Body)
	if !ok {
		return nil
	}
	for range 1 + r.Int(2) {
		s.bend(r, reflect.ValueOf(body).Elem())
	}
	s.reseat(r, body)
	return sound(body)
}

func sound(body message.Body) message.Body {
	frame, err := message.Append(nil, body)
	if err != nil {
		return nil
	}
	sent, err := message.Decode(frame)
	if err != nil {
		return nil
	}
	return sent
}

// forge draws a value.
func (s Forger) forge(r *node.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				s.forge(r, v.Field(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.Int(3), 3))
		for i := range v.Len() {
			s.forge(r, v.Index(i))
		}
	case reflect.Array:
		if id := s.someJob(r); v.Len() == len(id) && v.Type().Elem().Kind() == reflect.Uint8 {
			v.Set(reflect.ValueOf(id).Convert(v.Type()))
			return
		}
		for i := range v.Len() {
			s.forge(r, v.Index(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		s.forge(r, v.Elem())
	case reflect.String:
		v.SetString(s.someName(r))
	case reflect.Bool:
		v.SetBool(r.Chance(1, 2))
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{1, 1 << 20, 1 << 30, 1 << 40, 1<<62 - 1, -1}[r.Int(6)])
	case reflect.Uint8:
		v.SetUint(r.N(5))
	case reflect.Uint16:
		v.SetUint([]uint64{1, 2, 1<<16 - 1}[r.Int(3)])
	case reflect.Uint32:
		v.SetUint([]uint64{1, 2, 3, 1<<32 - 1}[r.Int(4)])
	case reflect.Uint64:
		v.SetUint(s.someNumber(r))
	}
}

// bend draws one field of a value anew, at any depth.
func (s Forger) bend(r *node.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if n := v.NumField(); n > 0 {
			if f := v.Field(r.Int(n)); f.CanSet() {
				s.bend(r, f)
			}
		}
	case reflect.Slice:
		switch {
		case v.Len() == 0 || r.Chance(1, 8):
			s.forge(r, v)
		default:
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)) // what others hold stays as it is
			s.bend(r, v.Index(r.Int(v.Len())))
		}
	case reflect.Pointer:
		if v.IsNil() {
			s.forge(r, v)
			return
		}
		s.bend(r, v.Elem())
	case reflect.Uint64:
		if r.Chance(1, 2) {
			v.SetUint(v.Uint() + 1 + r.N(3))
			return
		}
		s.forge(r, v)
	default:
		s.forge(r, v)
	}
}

func (s Forger) someNumber(r *node.Rand) uint64 {
	if r.Chance(1, 2) {
		return 1 + r.N(5)
	}
	return tops[r.Int(len(tops))] - r.N(2)
}

func (s Forger) someName(r *node.Rand) string {
	switch r.Int(4) {
	case 0:
		return []string{"gates", stage.Datacenter(0)}[r.Int(2)]
	case 1:
		all := slices.Concat(s.Gates, s.Managers, s.Workers)
		return string(s.World.Addr(all[r.Int(len(all))]))
	}
	names := slices.Concat(s.Gates, s.Managers, s.Workers, s.Clients)
	return string(names[r.Int(len(names))])
}

// someJob draws a job that a client knows.
func (s Forger) someJob(r *node.Rand) [16]byte {
	if len(s.Orders) == 0 || r.Chance(1, 16) {
		return r.ID()
	}
	return s.Orders[r.Int(len(s.Orders))].Job
}

// reseat lets messages of sets tell, half of the time, a set that could be true: one seat has another address.
func (s Forger) reseat(r *node.Rand, body message.Body) {
	if len(s.Gates) == 0 || len(s.Managers) == 0 || r.Chance(1, 2) {
		return
	}
	ids := [][]node.ID{s.Gates, s.Managers[:s.topology.Managers]}[r.Int(2)]
	var members []string
	for _, id := range ids {
		members = append(members, string(s.World.Addr(id)))
	}
	if len(members) < 2 {
		return
	}
	slices.Sort(members)
	set, leaves := seats.Founded(members), r.Int(len(members))
	to := s.someName(r)
	for range 1 + r.Int(2) { // the second change may give the seat back
		set = set.Replaced(leaves, (leaves+1+r.Int(len(members)-1))%len(members), to)
		to += "x"
	}
	switch m := body.(type) {
	case *message.LeaseHail:
		m.Version, m.Members, m.Ordinals, m.Retired, m.Epoch = set.Version, set.Members, set.Ordinals, set.Retired, 0
	case *message.HeartbeatAck:
		m.SetVersion, m.Set = set.Version, set.Members
	case *message.SeatAsk:
		m.Old, m.Version = members[leaves], 0
	case *message.SeatOrder:
		m.Old, m.New = members[leaves], to
	case *message.SeatReplaced:
		m.Version, m.Set, m.Why = set.Version, set.Members, ""
	}
}
