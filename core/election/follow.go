package election

import (
	"hyperscale/core/message"
	"hyperscale/core/node"
)

// onBeat follows the leader that sent the beat.
func (e *Election) onBeat(env node.Env, from node.Peer, m *message.LeaderBeat) {
	switch {
	case m.Term > e.term:
		e.heighten(env, m.Term, "another leads in a higher term")
		e.save(env, put{})
	case m.Term == e.term && (e.role == leader || e.known != "" && e.known != from.Addr):
		ignore(env, from, m, "another leads in that term")
		return
	}
	if m.Term == e.term {
		if m.Counter <= e.counter {
			return // late or repeated
		}
		e.role, e.counter, e.silent, e.heard = follower, m.Counter, 0, env.Now()
		e.follow(env, from)
		if !e.blank() {
			e.wait(env)
		}
	}
	e.tell(env, from.Addr, &message.LeaderBeatAck{
		Group: m.Group, Term: e.term, Counter: m.Counter, Fitness: uint32(max(0, e.fitness)), Stands: e.stands(env.Now()),
	})
}

func (e *Election) onBeatAck(env node.Env, from node.Peer, m *message.LeaderBeatAck) {
	switch {
	case m.Term > e.term:
		e.heighten(env, m.Term, "a voter has a higher term")
		e.save(env, put{})
	case e.role != leader || m.Term != e.term || m.Counter > e.counter || m.Counter+beatsKept <= e.counter:
		return
	default:
		sent := e.sent[m.Counter%beatsKept]
		if k, ok := e.acks[from.Addr]; ok {
			sent = max(sent, k.sent)
		}
		e.acks[from.Addr] = ack{sent: sent, fitness: m.Fitness, stands: m.Stands}
		e.watch(env)
		e.judgeHealth(env)
	}
}

func (e *Election) onHandOver(env node.Env, from node.Peer, m *message.LeaderHandOver) {
	if m.Term != e.term || e.known != from.Addr || e.drain || e.blank() || !e.within(e.term+1) {
		return // late
	}
	e.follow(env, node.Peer{})
	e.stand(env, true)
}
