package nodetest

import (
	"maps"
	"slices"

	"hyperscale/core/message"
	"hyperscale/core/node"
)

// Streams are a node's streams: those that it opens, and those that it accepts.
type Streams struct {
	// WatchSend, if set, gets every message that the node sends, and WatchOpen every stream
	// that it opens, at once.
	WatchSend func(to node.StreamID, m node.Message)
	WatchOpen func(s node.StreamID, to node.Addr)

	// Waiting is what Backlog returns of each stream, in bytes.
	Waiting map[node.StreamID]int

	recorder *Recorder
	all      map[node.StreamID]*stream
	last     node.StreamID
}

type stream struct {
	addr node.Addr // of a stream that the node opened
	peer node.Peer // zero until opened
}

func (s *stream) name() string {
	if s.peer.ID != "" {
		return string(s.peer.ID)
	}
	return string(s.addr) + " (opening)"
}

func (s *Streams) add(k *stream) node.StreamID {
	s.last++
	s.all[s.last] = k
	return s.last
}

// Resolve implements node.Env.
func (s *Streams) Resolve(name node.Addr) {
	if s.recorder.show("resolve") {
		s.recorder.line("resolve %s", name)
	}
}

// Backlog implements node.Network.
func (s *Streams) Backlog(id node.StreamID) (bytes, bound int) { return s.Waiting[id], BacklogMax }

// BacklogMax is what Backlog returns as the bound of each stream.
const BacklogMax = 8 << 20

// Open implements node.Env.
func (s *Streams) Open(to node.Addr) node.StreamID {
	id := s.add(&stream{addr: to})
	if s.WatchOpen != nil {
		s.WatchOpen(id, to)
	}
	if s.recorder.show("open") {
		s.recorder.line("open %s", to)
	}
	return id
}

// Send implements node.Env.
func (s *Streams) Send(id node.StreamID, m node.Message) {
	r := s.recorder
	k := s.all[id]
	if k == nil {
		if r.show(message.NameOf(m)) {
			r.line("dropped %s", r.text.Message(m))
		}
		return
	}
	r.keep(m)
	if s.WatchSend != nil {
		s.WatchSend(id, m)
	}
	if r.show(message.NameOf(m)) {
		r.line("-> %s %s", k.name(), r.text.Message(m))
	}
}

// Close implements node.Env.
func (s *Streams) Close(id node.StreamID) {
	if k := s.all[id]; k != nil && s.recorder.show("close") {
		s.recorder.line("close %s", k.name())
	}
	delete(s.all, id)
}

// Opening returns the streams that the node opens and that are not open yet.
func (s *Streams) Opening() []node.StreamID {
	return s.find(func(k *stream) bool { return k.peer.ID == "" })
}

// StreamsOf returns the open streams with a peer, newest last.
func (s *Streams) StreamsOf(id node.ID) []node.StreamID {
	return s.find(func(k *stream) bool { return k.peer.ID == id })
}

// OpeningTo returns the streams that the node opens to an address.
func (s *Streams) OpeningTo(a node.Addr) []node.StreamID {
	return s.find(func(k *stream) bool { return k.peer.ID == "" && k.addr == a })
}

func (s *Streams) find(want func(*stream) bool) []node.StreamID {
	var found []node.StreamID
	for _, id := range slices.Sorted(maps.Keys(s.all)) {
		if want(s.all[id]) {
			found = append(found, id)
		}
	}
	return found
}
