package uplink

import (
	"slices"
	"time"

	"hyperscale/core/event"
	"hyperscale/core/message"
	"hyperscale/core/node"
	"hyperscale/core/retry"
)

// Link is the stream to one address: closed, opening, or open.
type Link struct {
	Addr       node.Addr
	Stream     node.StreamID // zero while it is closed
	Peer       node.Peer     // zero unless it is open
	Known      node.Peer     // the last peer, also after the stream is lost
	Stands     bool
	Registered bool   // the peer has answered a heartbeat on this stream
	Sequence   uint64 // of the heartbeats sent on this stream

	set     []string // of its group, as it told last
	version uint64   // of that set

	candidate candidate
	index     uint64
	tries     int // openings since the peer was last heard
	missed    int // beats since the last answer to one
}

// missedMax is how many beats in a row a peer leaves unanswered before it counts as unreachable. One
// broken stream does not use them up.
const missedMax = 3

// Answers says whether the peer has answered one of the last beats.
func (k *Link) Answers() bool { return k.missed < missedMax }

// Minor returns the version of the peer at an address, while it is connected and answers.
func (l *Links) Minor(a node.Addr) (minor uint16, heard bool) {
	k := l.To(a)
	if k == nil || !k.Stands || !k.Answers() {
		return 0, false
	}
	return k.Peer.Minor, true
}

// Patience is for how long a peer that sends beats may be silent before it counts as unreachable.
func (l *Links) Patience() time.Duration { return missedMax * l.config.Beat }

// Links are the streams to one list of peers.
type Links struct {
	config Config
	links  []*Link
	next   uint64       // index of the next link
	due    node.Instant // of the next beats
}

// New returns closed links. Start leaves out a node's own address among them.
func New(c Config, to []node.Addr) *Links {
	c.check()
	l := &Links{config: c}
	for _, a := range to {
		if l.To(a) == nil {
			l.add(&Link{Addr: a})
		}
	}
	return l
}

// Retarget closes the links to addresses that are not in the list, and opens one to each that is new.
func (l *Links) Retarget(env node.Env, to []node.Addr) {
	l.links = slices.DeleteFunc(l.links, func(k *Link) bool {
		gone := !slices.Contains(to, k.Addr)
		if gone {
			if k.Stream != 0 {
				env.Close(k.Stream)
			}
			l.drop(env, k, "its seat has another address")
			env.CancelTimer(l.key(node.UplinkReconnect, k.index))
		}
		return gone
	})
	for _, a := range to {
		if l.To(a) == nil && a != env.Self().Addr {
			l.open(env, l.add(&Link{Addr: a}))
		}
	}
}

// setMax bounds the set that a peer tells.
const setMax = 64

// Tells notes the set of its group that a peer tells, and reports whether a majority of some addresses tells the
// very same one: one peer's word moves no node. Without addresses all peers count.
func (l *Links) Tells(k *Link, of []string, set []string, version uint64) bool {
	k.set, k.version = nil, 0
	if len(set) == 0 || len(set) > setMax {
		return false
	}
	k.set, k.version = set, version
	same, all := 0, len(of)
	if all == 0 {
		all = len(l.links)
	}
	for _, o := range l.links {
		if o.version == version && slices.Equal(o.set, set) && (len(of) == 0 || slices.Contains(of, string(o.Addr))) {
			same++
		}
	}
	return 2*same > all
}

// Start opens all links. Call it when the node starts.
func (l *Links) Start(env node.Env) {
	for i, k := range l.links {
		if k.Addr == env.Self().Addr {
			l.links = append(l.links[:i], l.links[i+1:]...)
			break
		}
	}
	for _, k := range l.links {
		l.open(env, k)
	}
	if l.config.Beats {
		l.beatLater(env)
	}
}

func (l *Links) beatLater(env node.Env) {
	l.due = env.Now().Add(l.config.Beat)
	env.SetTimer(l.key(node.UplinkBeat, 0), l.config.Beat)
}

// key names a timer: the group keeps two Links of one machine apart.
func (l *Links) key(kind uint8, index uint64) node.TimerKey {
	return node.KeyN(node.PartUplink, kind, l.config.Group<<32|index)
}

// open also watches the opening: a stream that neither opens nor breaks is as silent as a dead
// one.
func (l *Links) open(env node.Env, k *Link) {
	k.Stream = env.Open(k.at())
	env.SetTimer(l.key(node.UplinkSilence, k.index), l.config.Silence)
}

// Opened handles InputStreamOpened. ours reports whether the stream is one of these links. The
// link is nil if it is not, or if Opened rejected the peer.
func (l *Links) Opened(env node.Env, in *node.Input) (k *Link, ours bool) {
	k = l.with(in.Stream)
	if k == nil {
		return nil, false
	}
	if in.From.Role != l.config.Role {
		l.refuse(env, k, in.From)
		return nil, true
	}
	if l.twin(k, in.From) {
		l.rest(env, k)
		return nil, true
	}
	k.meet(in.From)
	k.Peer, k.Known, k.Stands = in.From, in.From, true
	k.Registered, k.Sequence, k.tries = false, 0, 0
	env.SetTimer(l.key(node.UplinkSilence, k.index), l.config.Silence)
	if l.config.Beats {
		l.beat(env, k)
	}
	return k, true
}

func (l *Links) refuse(env node.Env, k *Link, from node.Peer) {
	reason := "it is a " + from.Role.String() + ", not a " + l.config.Role.String() + ": correct "
	if l.config.Remedy != "" {
		reason += l.config.Remedy
	} else {
		reason += "the address " + string(k.Addr)
	}
	env.Emit(event.PeerRefused{Peer: from.ID, Role: from.Role, Reason: reason})
	env.Close(k.Stream)
	l.drop(env, k, "it is no "+l.config.Role.String())
}

// Broken handles InputStreamBroken likewise. The link is closed by now, and Known names its
// peer.
func (l *Links) Broken(env node.Env, in *node.Input) (k *Link, ours bool) {
	if k = l.with(in.Stream); k == nil {
		return nil, false
	}
	l.drop(env, k, in.Reason)
	return k, true
}

// Fire handles a timer; false means that it belongs to another group.
func (l *Links) Fire(env node.Env, t node.TimerKey) bool {
	if t.Part != node.PartUplink || t.N()>>32 != l.config.Group {
		return false
	}
	if t.Kind == node.UplinkBeat {
		late := env.Now().Sub(l.due) >= l.config.Beat/2 // this node was stopped: answers still wait for it
		l.beatLater(env)
		for _, k := range l.links {
			if !late {
				k.missed = min(k.missed+1, missedMax)
			}
			if k.Stands {
				l.beat(env, k)
			}
		}
		return true
	}
	for _, k := range l.links {
		if k.index != t.N()&(1<<32-1) {
			continue
		}
		switch {
		case t.Kind == node.UplinkSilence && k.Stream != 0:
			l.onSilence(env, k)
		case t.Kind == node.UplinkReconnect && k.Stream == 0:
			l.open(env, k)
		}
	}
	return true
}

// onSilence reports a peer that is connected and answers no heartbeat: its configuration may
// differ. It reports none for beats, which contain nothing that a peer could reject.
func (l *Links) onSilence(env node.Env, k *Link) {
	if k.Stands && !k.Registered && !l.config.Beats {
		env.Emit(event.PeerRefused{Peer: k.Peer.ID, Role: k.Peer.Role, Reason: "it took no heartbeat of this " + env.Self().Role.String() +
			", and its log says why: correct " + settings(env.Self().Role)})
	}
	env.Close(k.Stream)
	l.drop(env, k, "silent for "+l.config.Silence.String())
}

// drop forgets the stream, and sets the timer that opens the next one.
func (l *Links) drop(env node.Env, k *Link, why string) {
	if k.Registered {
		env.Emit(event.PeerLost{Peer: k.Peer.ID, Role: k.Peer.Role, Reason: why})
	}
	k.Stream, k.Peer, k.Stands, k.Registered = 0, node.Peer{}, false, false
	env.CancelTimer(l.key(node.UplinkSilence, k.index))
	if l.lost(k) {
		return
	}
	wait := retry.Backoff{Base: l.config.ReconnectMin, Cap: l.patience(k), Kind: retry.Equal}
	env.SetTimer(l.key(node.UplinkReconnect, k.index), wait.Next(env.Rand(node.PurposeJitter), k.tries))
	k.tries++
}

// Heard notes a sign of life on an open link.
func (l *Links) Heard(env node.Env, k *Link) {
	if k.Stands {
		env.SetTimer(l.key(node.UplinkSilence, k.index), l.config.Silence)
	}
}

// Acked takes the peer's answer to the heartbeat of a sequence. It returns false if there was
// no such heartbeat: then the answer is no sign of life. The first answer registers.
func (l *Links) Acked(env node.Env, k *Link, sequence uint64) bool {
	if !k.Stands || sequence > k.Sequence {
		return false
	}
	k.missed = 0
	l.Heard(env, k)
	if !k.Registered {
		k.Registered = true
		env.Emit(event.PeerRegistered{Peer: k.Peer.ID, Role: k.Peer.Role, Datacenter: l.config.Datacenter})
	}
	return true
}

func (l *Links) beat(env node.Env, k *Link) {
	k.Sequence++
	env.Send(k.Stream, &message.Beat{Counter: k.Sequence})
}

// settings name what peers compare of a role.
func settings(role node.Role) string {
	if role == node.RoleManager {
		return "--gates, --lease, --datacenter or --id"
	}
	return "--datacenter or --id"
}
