package worker

import (
	"slices"
	"time"

	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/uplink"
)

// managers are the streams to the managers of the datacenter.
type managers struct {
	links   *uplink.Links
	rhythms map[*uplink.Link]*rhythm // of the streams that stand
	timeout time.Duration            // what an answered heartbeat renews
}

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

// send tells a manager something, if it is connected.
func (m *managers) send(env node.Env, to node.ID, msg node.Message) {
	if l := m.links.Peer(to); l != nil {
		env.Send(l.Stream, msg)
	}
}

// connected names the managers whose streams stand.
func (m *managers) connected() (all []node.ID) {
	for _, l := range m.links.All() {
		if l.Stands {
			all = append(all, l.Peer.ID)
		}
	}
	return all
}

// beat tells a manager what this worker has and runs. It is sent at once where
// cores come free as well, so that what waits for them is not late by a second.
func (m *managers) beat(env node.Env, l *uplink.Link, what message.WorkerHeartbeat) {
	l.Sequence++
	r, now := m.rhythms[l], env.Now()
	r.sent = append(r.sent, beat{l.Sequence, now})
	for now.Sub(r.sent[0].at) >= m.timeout || len(r.sent) > beatsMax {
		r.sent = r.sent[1:]
	}
	what.Sequence = l.Sequence
	env.Send(l.Stream, &what)
}

func (m *managers) beatAll(env node.Env, what message.WorkerHeartbeat) {
	for _, l := range m.links.All() {
		if l.Stands {
			m.beat(env, l, what)
		}
	}
}

// limit returns until when a dispatch that a manager sends now may run: the
// RenewalTimeout of the last heartbeat that it answered, since the dispatch may
// have been held for long. The manager answered before it sent, and counts from
// there.
func (m *managers) limit(now node.Instant, l *uplink.Link) (until node.Instant, ok bool) {
	answered := m.rhythms[l].answered
	until = answered.Add(m.timeout)
	return until, answered != 0 && until > now
}
