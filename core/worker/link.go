package worker

import (
	"slices"

	"hyperscale/core/alert"
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
	m.seed(env)
	m.managers.known(false)
	m.managers.beat(env, l, m.heartbeat(env))
	for _, x := range m.outbox.Of(l.Peer.ID) {
		m.tell(env, x)
	}
}

// onNames follows the addresses behind names.
func (m *Machine) onNames(env node.Env, found *node.Names) {
	c := m.managers.names.Take(env, found)
	for _, a := range c.Added {
		m.managers.links.Find(env, a)
	}
	for _, a := range c.Removed {
		m.managers.links.Lose(env, a)
	}
}

// seed lets the group join by the managers that were found. A candidate is no seed before its Hello
// has said whose it is.
func (m *Machine) seed(env node.Env) {
	if len(m.config.Discover) > 0 {
		m.group.SetSeeds(env, slices.Concat(m.config.Managers, m.managers.links.Found()))
	}
}

func (m *Machine) onHeartbeatAck(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	if !m.managers.links.Acked(env, l, ack.Sequence) {
		return // of no heartbeat on this stream
	}
	if m.managers.follow(env, l, ack); !l.Stands {
		return // it has lost its seat
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
	m.managers.beatInTurn(env, m.heartbeat(env), m.config.Heartbeat)
	m.report(env)
}

// watch is what a worker measures for its alerts, which are about itself alone.
type watch struct {
	alert.Board
	post  alert.Post
	lines alert.Lines
}

// report reports changes of alerts.
func (m *Machine) report(env node.Env) {
	w := &m.watch
	w.post.Read(&w.Board, env.Now())
	var lines []alert.Line
	for _, l := range m.managers.links.All() {
		lines = append(lines, alert.Line{Peer: l.Known.ID, Stream: l.Stream})
	}
	w.See(env.Now(), alert.DestinationSaturated, w.lines.Read(env, lines))
	for _, c := range w.Judge(alert.Follows, 0) {
		why := w.lines.Why()
		if c.ID != alert.DestinationSaturated {
			why = w.post.Why(c.ID)
		}
		c.Emit(env, "", why)
	}
}
