package node

// MailboxConfig bounds the four lanes.
type MailboxConfig struct {
	// Lanes bounds the messages and commands of each lane that no newer one replaces. CRITICAL
	// has a bound too: its few senders have at most one message outstanding each, so a full lane
	// shows a peer that violates the protocol.
	Lanes [Priorities]int
	// Latest bounds the messages of each lane that a newer one replaces: one for each subject of
	// each stream.
	Latest int
	// Bytes bounds the encoded messages of each lane. An empty lane takes one of any size.
	Bytes int
	// Stubs bounds the refused requests whose refusal waits.
	Stubs int
}

// DefaultMailbox returns the bounds of a node. A burst of one message from each of 4,000 peers
// fits every lane, and so do three subjects of each of 10,000 peers. A lane's bytes are 64
// messages of the largest size: a node that is behind by more does not catch up in a second.
func DefaultMailbox() MailboxConfig {
	return MailboxConfig{Lanes: [Priorities]int{4096, 4096, 4096, 1024}, Latest: 32768, Bytes: 64 << 20, Stubs: 1024}
}

// Fate is what became of an input that was pushed.
type Fate uint8

// The fates of an input.
const (
	FateQueued   Fate = iota
	FateReplaced      // it waits, and an older one of its subject is gone
	FateRefused       // it is gone, and the machine gets an InputShed
	FateDropped       // it is gone: a datagram, or a message whose protocol sends it again
	FateRejected      // it is gone, and its stream must break
	fates
)

// Mailbox queues inputs for a busy node in four first-in first-out lanes, CRITICAL first. It
// has no lock of its own: the runtime locks around it, and the simulator has one thread.
type Mailbox struct {
	lanes    [Priorities]lane
	size     int
	stubs    int
	config   MailboxConfig
	counts   [Priorities][fates]uint64
	before   uint64   // critical messages that were lost before Clear
	entrance Entrance // nil: it takes all for which there is room
}

// lane is a ring of slots. A slot has a sequence number for as long as it waits, and lies at that
// number modulo the ring's length.
type lane struct {
	ring  []slot
	first uint64 // sequence of the next one to serve; the first of all is 1
	next  uint64 // sequence of the next one to come

	bounded int // that count against the lane's bound
	latest  int // whose Full is Latest
	bytes   int

	last    map[uint64]uint64 // by stream: its last slot here
	subject map[uint64]uint64 // by digest of stream, kind and subject: the slot of a Latest message
}

type slot struct {
	in     Input
	behind uint64 // sequence of the next slot of the same stream; zero: none
	key    uint64 // in lane.subject; zero: no newer message replaces this one
	size   int
	at     Instant
}

// NewMailbox returns an empty mailbox. Rings grow up to their bounds as used.
func NewMailbox(c MailboxConfig) *Mailbox {
	m := &Mailbox{config: c}
	if c.Latest <= 0 || c.Bytes <= 0 || c.Stubs <= 0 {
		Bug("mailbox: bounds of %d messages that are replaced, %d bytes and %d stubs: start from DefaultMailbox", c.Latest, c.Bytes, c.Stubs)
	}
	for p := range m.lanes {
		if c.Lanes[p] <= 0 {
			Bug("mailbox: lane %v has bound %d", Priority(p), c.Lanes[p])
		}
		m.lanes[p] = lane{first: 1, next: 1, last: map[uint64]uint64{}, subject: map[uint64]uint64{}}
	}
	return m
}

// Push queues an input in its lane. It rejects only messages and commands. Timers, completions,
// executor events and broken streams always fit: the node itself bounds how many it starts. The
// caller must break the stream of a message with FateRejected. at is the time, by any clock that
// the caller gives Pop as well.
func (m *Mailbox) Push(in *Input, at Instant) Fate {
	p := in.Lane()
	f := m.push(&m.lanes[p], in, at)
	m.counts[p][f]++
	return f
}

func (m *Mailbox) push(l *lane, in *Input, at Instant) Fate {
	switch in.Kind {
	case InputMessage:
	case InputCommand:
		if l.bounded >= m.config.Lanes[in.Lane()] {
			return FateRejected
		}
		l.bounded++
		m.append(l, in, at)
		return FateQueued
	default:
		m.append(l, in, at)
		return FateQueued
	}
	full, size := in.Message.Full(), in.Message.Size()
	if full == Latest {
		return m.pushLatest(l, in, at, size)
	}
	if l.bounded >= m.config.Lanes[in.Lane()] || !m.fits(l, size) {
		return m.refuse(in, full, at, Refusal{})
	}
	place := int32(0)
	if m.entrance != nil && full == Refuse {
		var no Refusal
		if place, no = m.entrance.Admit(in.Message, in.From.Role, in.From.Source, at); no.Reason != "" {
			return m.refuse(in, full, at, no)
		}
	}
	l.bounded++
	s := m.append(l, in, at)
	s.in.Place = place
	s.size = size
	l.bytes += size
	return FateQueued
}

// fits says whether a lane has room for that many more bytes.
func (m *Mailbox) fits(l *lane, more int) bool {
	return l.bytes+more <= m.config.Bytes || l.bounded+l.latest == 0
}

// refuse handles a message for which there is no room, or that the entrance refuses.
func (m *Mailbox) refuse(in *Input, full Full, at Instant, no Refusal) Fate {
	switch {
	case in.Stream == 0 || full == Drop:
		return FateDropped
	case full != Refuse || m.stubs >= m.config.Stubs:
		return FateRejected
	}
	stub := *in
	stub.shed(no)
	m.stubs++
	m.append(&m.lanes[High], &stub, at)
	return FateRefused
}

// pushLatest queues a message in the place of an older one of its subject.
func (m *Mailbox) pushLatest(l *lane, in *Input, at Instant, size int) Fate {
	key := keyOf(in)
	if old, ok := l.subject[key]; ok && m.replace(l, old, in, size) {
		return FateReplaced
	}
	if l.latest >= m.config.Latest || !m.fits(l, size) {
		if in.Stream == 0 || in.Message.Priority() != Critical {
			return FateDropped // its sender says it again, and more
		}
		return FateRejected
	}
	l.latest++
	sequence := l.next
	s := m.append(l, in, at)
	s.key, s.size = key, size
	l.bytes += size
	l.subject[key] = sequence
	return FateQueued
}

// keyOf distinguishes what newer messages replace. A datagram has no stream but a sender.
func keyOf(in *Input) uint64 {
	from := uint64(in.Stream)
	if from == 0 {
		from = MixString(in.From.Incarnation, string(in.From.ID))
	}
	return max(1, Mix(Mix(from, uint64(in.Message.Kind())), in.Message.Subject()))
}

// replace drops the message in the slot old and queues in behind all that its stream sent
// since. These move up by one place each: the stream keeps its places, so that a peer that sends
// often does not starve itself, and its messages keep their order. It returns false if that
// cannot be.
func (m *Mailbox) replace(l *lane, old uint64, in *Input, size int) bool {
	s := l.at(old)
	if l.bytes-s.size+size > m.config.Bytes && size > s.size {
		return false
	}
	for next := s.behind; next != 0; next = l.at(next).behind {
		if kind := l.at(next).in.Kind; kind != InputMessage && kind != InputShed {
			return false
		}
	}
	l.bytes += size - s.size
	key := s.key
	for s.behind != 0 {
		next := l.at(s.behind)
		s.in.take(&next.in)
		s.key, s.size = next.key, next.size
		if l.subject[s.key] == s.behind {
			l.subject[s.key] = old
		}
		old, s = s.behind, next
	}
	s.in.take(in)
	s.key, s.size = key, size
	l.subject[key] = old
	return true
}

// append queues an input at the end of a lane.
func (m *Mailbox) append(l *lane, in *Input, at Instant) *slot {
	if l.next-l.first == uint64(len(l.ring)) {
		l.grow()
	}
	sequence := l.next
	l.next++
	m.size++
	s := l.at(sequence)
	s.in, s.at = *in, at
	if in.Stream != 0 {
		if before, ok := l.last[uint64(in.Stream)]; ok {
			l.at(before).behind = sequence
		}
		l.last[uint64(in.Stream)] = sequence
	}
	return s
}

// Pop moves the next input to in, and reports whether there was one.
func (m *Mailbox) Pop(in *Input, at Instant) bool {
	if m.size == 0 {
		return false
	}
	for p := range m.lanes {
		l := &m.lanes[p]
		if l.first == l.next {
			continue
		}
		s := l.at(l.first)
		*in = s.in
		in.Waited = max(0, at.Sub(s.at))
		m.release(l, s)
		s.in = Input{}
		s.behind, s.key, s.size = 0, 0, 0
		l.first++
		m.size--
		in.Mail = m.mail(at)
		m.begin(in, at)
		return true
	}
	Bug("mailbox: size %d but all lanes are empty", m.size)
	return false
}

// mail describes what is left.
func (m *Mailbox) mail(at Instant) Mail {
	high := &m.lanes[High]
	mail := Mail{
		Lost: uint32(m.Dropped(Critical) - m.before),
		High: uint8(min(100, max(100*high.bounded/m.config.Lanes[High], 100*high.bytes/m.config.Bytes))),
	}
	if m.entrance != nil {
		mail.Load = m.entrance.Load(at)
	}
	return mail
}

// release takes the first slot of a lane out of its books.
func (m *Mailbox) release(l *lane, s *slot) {
	l.bytes -= s.size
	switch {
	case s.in.Kind == InputShed:
		m.stubs--
	case s.key != 0:
		l.latest--
		if l.subject[s.key] == l.first {
			delete(l.subject, s.key)
		}
	case s.in.Kind == InputMessage || s.in.Kind == InputCommand:
		l.bounded--
	}
	if s.in.Stream != 0 && s.behind == 0 {
		delete(l.last, uint64(s.in.Stream))
	}
}

// Len returns how many inputs wait.
func (m *Mailbox) Len() int { return m.size }

// Waiting returns how many inputs wait in one lane.
func (m *Mailbox) Waiting(p Priority) int { return int(m.lanes[p].next - m.lanes[p].first) }

// Bytes returns how many bytes the messages of one lane have.
func (m *Mailbox) Bytes(p Priority) int { return m.lanes[p].bytes }

// Counted returns how many inputs of a lane have had a fate.
func (m *Mailbox) Counted(p Priority, f Fate) uint64 { return m.counts[p][f] }

// Dropped returns how many inputs a lane has not taken: refused, dropped or rejected.
func (m *Mailbox) Dropped(p Priority) uint64 {
	c := &m.counts[p]
	return c[FateRefused] + c[FateDropped] + c[FateRejected]
}

// Sizes reports what peers make the mailbox hold, against its bounds.
func (m *Mailbox) Sizes(tell Tell) {
	names := [...][3]string{
		{"mailbox/critical", "mailbox/critical latest", "mailbox/critical bytes"}, {"mailbox/high", "mailbox/high latest", "mailbox/high bytes"},
		{"mailbox/normal", "mailbox/normal latest", "mailbox/normal bytes"}, {"mailbox/low", "mailbox/low latest", "mailbox/low bytes"},
	}
	for p := range m.lanes {
		l := &m.lanes[p]
		tell(names[p][0], l.bounded, m.config.Lanes[p])
		tell(names[p][1], l.latest, m.config.Latest)
		tell(names[p][2], l.bytes, m.config.Bytes+messageMax)
	}
	tell("mailbox/stubs", m.stubs, m.config.Stubs)
}

// messageMax is what an empty lane takes beyond its bytes: the largest frame.
const messageMax = 1 << 20

// Clear drops all waiting inputs: the node has crashed.
func (m *Mailbox) Clear() {
	for p := range m.lanes {
		l := &m.lanes[p]
		clear(l.ring)
		clear(l.last)
		clear(l.subject)
		l.first, l.bounded, l.latest, l.bytes = l.next, 0, 0, 0
	}
	m.size, m.stubs, m.before = 0, 0, m.Dropped(Critical)
	if m.entrance != nil {
		m.entrance.Clear()
	}
}

// at returns the slot of a sequence number that waits, or the next free one.
func (l *lane) at(sequence uint64) *slot { return &l.ring[sequence&uint64(len(l.ring)-1)] }

func (l *lane) grow() {
	old := *l
	l.ring = make([]slot, max(8, 2*len(old.ring)))
	for s := old.first; s < old.next; s++ {
		*l.at(s) = *old.at(s)
	}
}
