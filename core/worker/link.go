package worker

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

func (m *Machine) onOpened(env node.Env, in *node.Input) {
	if m.group.Opened(env, in) {
		return
	}
	l, ours := m.managers.links.Opened(env, in)
	if !ours && in.From.Role != node.RoleManager && in.From.Role != node.RoleWorker {
		env.Close(in.Stream) // its group exchanges membership lists; it serves no other stream
	}
	if l == nil {
		return
	}
	m.managers.rhythms[l] = &rhythm{}
	m.managers.known(false)
	m.managers.beat(env, l, m.heartbeat(env))
	for _, x := range m.outbox.Of(l.Peer.ID) {
		m.tell(env, x)
	}
}

func (m *Machine) onHeartbeatAck(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	if !m.managers.links.Acked(env, l, ack.Sequence) {
		return // of no heartbeat on this stream
	}
	m.managers.hear(env, l, ack.Every)
	if at, ok := m.managers.rhythms[l].answer(ack.Sequence); ok {
		m.renew(env, l, at, ack.Shards)
	}
	if m.managers.heardOf(l, ack.Sequence) {
		m.beatAll(env)
	}
}

func (m *Machine) onHeartbeat(env node.Env) {
	env.SetTimer(node.Key(node.PartWorker, node.WorkerHeartbeat), m.config.Heartbeat)
	m.beatAll(env)
}
