package worker

import (
	"slices"
	"time"

	"hyperscale/core/discovery"
	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/pressure"
	"hyperscale/core/uplink"
)

// managers are the streams to the managers of the datacenter.
type managers struct {
	links   *uplink.Links
	names   *discovery.Names
	rhythms map[*uplink.Link]*rhythm // of the open streams
	timeout time.Duration            // how long an answered heartbeat renews
	held    *message.WorkerHeld      // what goes before each heartbeat; nil: nothing
	set     uint64                   // version of the managers' set
}

// follow connects to the managers of a later set, once a majority of those that this worker knows tells it.
func (m *managers) follow(env node.Env, l *uplink.Link, ack *message.HeartbeatAck) {
	if !m.links.Tells(l, nil, ack.Set, ack.SetVersion) || ack.SetVersion <= m.set {
		return
	}
	env.Emit(event.Reached{What: "worker/follows-set"})
	m.set = ack.SetVersion
	to := make([]node.Addr, len(ack.Set))
	for i, a := range ack.Set {
		to[i] = node.Addr(a)
	}
	m.links.Retarget(env, to)
	all := m.links.All()
	//lint:orderfree each entry goes or stays by itself
	for l := range m.rhythms {
		if !slices.Contains(all, l) {
			delete(m.rhythms, l)
		}
	}
}

// rhythm records when this worker sent the heartbeats of one stream. A renewal counts from that
// time, since the manager may have answered long after it.
type rhythm struct {
	sent     []beat       // none older than an answer could renew
	answered node.Instant // when the newest answered one was sent; zero: none on this stream
	told     uint64       // sequence of the first that followed word of the hold; zero: none
	knows    bool         // it was answered

	word pressure.Word // how often the manager wants reports
}

// beatsMax bounds the remembered heartbeats. If cores become free all the time, an answer that
// is so late renews nothing.
const beatsMax = 1024

type beat struct {
	sequence uint64
	at       node.Instant
}

// of returns when the heartbeat of a sequence was sent, and false if the worker has forgotten that.
func (r *rhythm) of(sequence uint64) (at node.Instant, ok bool) {
	for _, b := range slices.Backward(r.sent) {
		if b.sequence == sequence {
			return b.at, true
		}
	}
	return 0, false
}

// answer notes an answer, and returns when its heartbeat was sent. A second answer is valid, too:
// the manager may have taken over a subjob since the first.
func (r *rhythm) answer(sequence uint64) (at node.Instant, ok bool) {
	if at, ok = r.of(sequence); ok {
		r.answered = max(r.answered, at)
	}
	return at, ok
}

// send sends a message to a manager, if it is connected.
func (m *managers) send(env node.Env, to node.ID, msg node.Message) {
	if l := m.links.Peer(to); l != nil {
		env.Send(l.Stream, msg)
	}
}

// hear takes a manager's word on how often it wants reports.
func (m *managers) hear(env node.Env, l *uplink.Link, every time.Duration) {
	m.rhythms[l].word.Hear(env.Now(), every)
}

// every is how often a manager wants reports; zero: as often as this worker likes.
func (m *managers) every(env node.Env, of node.ID) time.Duration {
	if l := m.links.Peer(of); l != nil {
		return m.rhythms[l].word.Every(env.Now())
	}
	return 0
}

// connected lists the connected managers.
func (m *managers) connected() (all []node.ID) {
	for _, l := range m.links.All() {
		if l.Stands {
			all = append(all, l.Peer.ID)
		}
	}
	return all
}

// beat sends a heartbeat to a manager. The worker also sends one as soon as cores become free,
// so that waiting shards get them without a delay.
func (m *managers) beat(env node.Env, l *uplink.Link, what message.WorkerHeartbeat) {
	l.Sequence++
	r, now := m.rhythms[l], env.Now()
	r.sent = append(r.sent, beat{l.Sequence, now})
	for now.Sub(r.sent[0].at) >= m.timeout || len(r.sent) > beatsMax {
		r.sent = r.sent[1:]
	}
	what.Sequence = l.Sequence
	first := l.Sequence == 1 // it registers this worker: the manager takes nothing before it
	if m.held != nil && !first {
		env.Send(l.Stream, m.held)
		if r.told == 0 {
			r.told = l.Sequence
		}
	}
	env.Send(l.Stream, &what)
	if m.held != nil && first {
		env.Send(l.Stream, m.held)
	}
}

func (m *managers) beatAll(env node.Env, what message.WorkerHeartbeat) {
	m.prune()
	for _, l := range m.links.All() {
		if l.Stands {
			m.beat(env, l, what)
		}
	}
}

// beatInTurn sends each manager its regular heartbeat. A stream that the last interval opened has
// just sent one, which registers this worker: a second one waits for its answer, so that workers that
// reconnect to a slow manager do not send it twice as much.
func (m *managers) beatInTurn(env node.Env, what message.WorkerHeartbeat, interval time.Duration) {
	m.prune()
	for _, l := range m.links.All() {
		if !l.Stands {
			continue
		}
		if r := m.rhythms[l]; l.Sequence == 1 && r.answered == 0 && env.Now().Sub(r.sent[0].at) < interval {
			env.Emit(event.Reached{What: "worker/registers"})
			continue
		}
		m.beat(env, l, what)
	}
}

// prune forgets the rhythms of candidates that are gone.
func (m *managers) prune() {
	if len(m.rhythms) <= len(m.links.All()) {
		return
	}
	//lint:orderfree each entry goes or stays by itself
	for l := range m.rhythms {
		if !l.Stands {
			delete(m.rhythms, l)
		}
	}
}

// limit returns until when a dispatch may run that arrives now: RenewalTimeout after the send of the heartbeat
// that its manager had heard when it sent the dispatch, since the network may have held it for long. A manager
// of 1.0 names none. Then the last answered heartbeat counts, although its answer may have overtaken the dispatch.
func (m *managers) limit(now node.Instant, l *uplink.Link, heard uint64) (until node.Instant, ok bool) {
	at := m.rhythms[l].answered
	if heard != 0 {
		at, _ = m.rhythms[l].of(heard)
	}
	until = at.Add(m.timeout)
	return until, at != 0 && until > now
}
