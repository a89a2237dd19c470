package cluster

import (
	"time"

	"hyperscale/checker"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// late records the orders that nodes received, and has them sent again once the nodes have
// obeyed a higher fence. Correct roles never send such an order, because streams keep order: a
// node of the past sends it.
type late struct {
	held    map[heldKey][]node.Message
	to      map[node.Message]node.ID // the node that receives it again
	Cancels bool                     // the past also cancels the orders that it repeats
	// again gives an order to the past, which sends it.
	again func(order node.Message, subjob bool)
}

// heldKey is a receiver and the subject of the orders.
type heldKey struct {
	node   node.ID
	shard  message.ShardID
	subjob bool
}

// recordWrapper records the orders that its machine receives.
type recordWrapper struct {
	wrapper
	late *late
	id   node.ID
}

// Step implements node.Machine.
func (o recordWrapper) Step(env node.Env, in *node.Input) {
	if in.Kind == node.InputMessage {
		o.late.hear(o.id, in.Message)
	}
	o.Machine.Step(env, in)
}

func (l *late) hear(id node.ID, order node.Message) {
	if shard, _, subjob, ok := orderOf(order); ok {
		key := heldKey{id, shard, subjob}
		l.held[key] = append(l.held[key], order)
		l.to[order] = id
	}
}

func orderOf(m node.Message) (shard message.ShardID, fence message.Fence, subjob, ok bool) {
	switch m := m.(type) {
	case *message.ShardDispatch:
		return m.Shard, m.Fence, false, true
	case *message.ShardCancel:
		return m.Shard, m.Fence, false, true
	case *message.JobDispatch:
		return message.ShardID{Job: m.Job}, m.Fence, true, true
	case *message.SubjobCancel:
		return message.ShardID{Job: m.Job}, m.Fence, true, true
	}
	return shard, fence, false, false
}

// cancelOf returns the cancellation of an order, by its sender.
func cancelOf(order node.Message, f message.Fence) node.Message {
	switch m := order.(type) {
	case *message.JobDispatch:
		return &message.SubjobCancel{Job: m.Job, Fence: f, State: message.JobCancelled, Reason: "it was given up long ago"}
	case *message.ShardDispatch:
		return &message.ShardCancel{Shard: m.Shard, Fence: f, State: message.WorkflowCancelled, Reason: "it was given up long ago"}
	}
	return order
}

// acted repeats the orders below a fence that a node obeyed.
func (l *late) acted(id node.ID, e event.Acted) {
	key := heldKey{id, e.Shard, e.Subjob}
	var keep []node.Message
	for _, order := range l.held[key] {
		if _, fence, subjob, _ := orderOf(order); fence.Less(e.Fence) {
			l.again(order, subjob)
			if l.Cancels && (!subjob || fence.JobEpoch < e.Fence.JobEpoch) { // a gate's order names no manager
				end := cancelOf(order, fence)
				l.to[end] = id
				l.again(end, subjob)
			}
		} else {
			keep = append(keep, order)
		}
	}
	l.held[key] = keep
}

// past is a gate or a manager that other nodes have not heard of for long. It answers
// heartbeats, and sends what it is commanded to.
type past struct {
	late    *late
	streams map[node.ID]node.StreamID
}

// Step implements node.Machine.
func (p *past) Step(env node.Env, in *node.Input) {
	switch in.Kind {
	case node.InputStreamOpened:
		p.streams[in.From.ID] = in.Stream
	case node.InputCommand:
		if s := p.streams[p.late.to[in.Message]]; s != 0 {
			env.Send(s, in.Message)
		}
	case node.InputMessage:
		switch m := in.Message.(type) {
		case *message.ManagerHeartbeat:
			env.Send(in.Stream, &message.HeartbeatAck{Sequence: m.Sequence})
		case *message.WorkerHeartbeat:
			env.Send(in.Stream, &message.HeartbeatAck{Sequence: m.Sequence})
		}
	}
}

// fromThePast makes the orders of nodes arrive again, up to 20 s late.
func (s *Cluster) fromThePast(gate, manager node.ID) {
	s.Late.held, s.Late.to = map[heldKey][]node.Message{}, map[node.Message]node.ID{}
	s.Witness = append(s.Witness, func(r checker.Record) {
		if acted, ok := r.Event.(event.Acted); ok {
			s.Late.acted(r.Node, acted)
		}
	})
	s.Late.again = func(order node.Message, subjob bool) {
		sender := manager
		if subjob {
			sender = gate
		}
		s.World.At(s.World.Now()+s.Rand.Duration(0, 20*time.Second), func() {
			s.World.Command(sender, order, func(node.Message) {})
		})
	}
}
