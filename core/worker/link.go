package worker

import (
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// rhythm is when this worker sent the heartbeats of one stream. What a manager
// renews counts from there: it may have answered long after.
type rhythm struct {
	sent     []beat       // from the newest that was answered on, none older than what an answer could renew
	answered node.Instant // when the newest that was answered was sent; zero: none on this stream
}

// beatsMax bounds those that are remembered: where cores come free all the time,
// an answer that is that late renews nothing.
const beatsMax = 1024

type beat struct {
	sequence uint64
	at       node.Instant
}

// answer finds out when the heartbeat of a sequence was sent; false when that is not
// known any more. One may be answered again: by a manager that has taken over a subjob
// since, and whose word is as good for it.
func (r *rhythm) answer(sequence uint64) (at node.Instant, ok bool) {
	for i, b := range r.sent {
		if b.sequence != sequence {
			continue
		}
		r.sent = slices.Delete(r.sent, 0, i)
		r.answered = max(r.answered, b.at)
		return b.at, true
	}
	return 0, false
}

func (m *Machine) onOpened(env node.Env, in *node.Input) {
	if m.group.Opened(env, in) {
		return
	}
	l, ours := m.links.Opened(env, in)
	if !ours && in.From.Role != node.RoleManager && in.From.Role != node.RoleWorker {
		env.Close(in.Stream) // its group compares lists with it; to others it is no server
	}
	if l == nil {
		return
	}
	m.rhythms[l] = &rhythm{}
	m.beat(env, l, m.listed())
	for _, x := range m.outbox {
		if x.manager == l.Peer.ID {
			m.tell(env, x)
		}
	}
}

func (m *Machine) onHeartbeatAck(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	if !m.links.Acked(env, l, ack.Sequence) {
		return // of no heartbeat on this stream
	}
	if at, ok := m.rhythms[l].answer(ack.Sequence); ok {
		m.renew(env, l, at, ack.Shards)
	}
}

func (m *Machine) onHeartbeat(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, node.WorkerHeartbeat), m.config.Heartbeat)
	m.beatAll(env)
}

// beat tells a manager what this worker has and runs. It is sent at once where
// cores come free as well, so that what waits for them is not late by a second.
func (m *Machine) beat(env node.Env, l *uplink.Link, running []message.ShardRef) {
	l.Sequence++
	r, now := m.rhythms[l], env.Now()
	r.sent = append(r.sent, beat{l.Sequence, now})
	for now.Sub(r.sent[0].at) >= m.config.RenewalTimeout || len(r.sent) > beatsMax {
		r.sent = r.sent[1:]
	}
	env.Send(l.Stream, &message.WorkerHeartbeat{
		Datacenter: m.config.Datacenter,
		Sequence:   l.Sequence,
		Draining:   m.draining || m.stopping,
		CoresTotal: uint32(len(m.cores)),
		CoresFree:  uint32(m.free()),
		Running:    running,
	})
}

func (m *Machine) beatAll(env node.Env) {
	running := m.listed() // all managers share it: what is sent never changes
	for _, l := range m.links.All() {
		if l.Stands {
			m.beat(env, l, running)
		}
	}
}

// listed names what has its fence on disk and whose result is not acknowledged,
// and whatever still runs though it was given up: what is not listed has stopped,
// managers dispatch it elsewhere at once.
func (m *Machine) listed() []message.ShardRef {
	var list []message.ShardRef
	for _, x := range m.ordered() {
		switch s := x.shard; {
		case x.phase != waiting && x.phase != running && x.phase != ending:
		case !x.silent:
			list = append(list, message.ShardRef{Shard: s.id, Fence: x.fence})
		case s.current == nil || s.current == x:
			list = append(list, message.ShardRef{Shard: s.id, Fence: s.fence})
		}
	}
	for _, x := range m.outbox {
		list = append(list, message.ShardRef{Shard: x.shard.id, Fence: x.fence})
	}
	slices.SortFunc(list, func(a, b message.ShardRef) int { return a.Shard.Compare(b.Shard) })
	return slices.Compact(list)
}
