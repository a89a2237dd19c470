package node

// MailboxConfig bounds the four lanes, in inputs. CRITICAL is bounded too: its
// senders are few and keep at most one outstanding each, so a full critical lane
// means a peer that does not obey the protocol.
type MailboxConfig struct {
	Lanes [Priorities]int
}

// DefaultMailbox returns the bounds of a node: a burst of one message from each
// of 1,000 peers fits every lane.
func DefaultMailbox() MailboxConfig {
	return MailboxConfig{Lanes: [Priorities]int{4096, 4096, 4096, 1024}}
}

// Mailbox holds what waits for a busy node: four first-in first-out lanes,
// CRITICAL first. It is plain data: the runtime locks around it, the simulator
// need not.
type Mailbox struct {
	lanes   [Priorities]lane
	size    int
	dropped [Priorities]uint64
}

type lane struct {
	ring  []Input
	head  int
	count int
	bound int
}

// NewMailbox returns an empty mailbox. Rings grow up to their bounds as used.
func NewMailbox(c MailboxConfig) *Mailbox {
	m := &Mailbox{}
	for p := range m.lanes {
		if c.Lanes[p] <= 0 {
			Bug("mailbox: lane %v has bound %d", Priority(p), c.Lanes[p])
		}
		m.lanes[p].bound = c.Lanes[p]
	}
	return m
}

// Push files in by its lane and says whether there was room. Only messages and
// commands can be refused: what a node set in motion itself (timers, completions,
// executor events, broken streams) is bounded by what it set in motion. When
// a message of a stream is refused, the caller must break the stream.
func (m *Mailbox) Push(in *Input) bool {
	p := in.Lane()
	l := &m.lanes[p]
	if l.count >= l.bound && (in.Kind == InputMessage || in.Kind == InputCommand) {
		m.dropped[p]++
		return false
	}
	if l.count == len(l.ring) {
		l.grow()
	}
	l.ring[(l.head+l.count)&(len(l.ring)-1)] = *in
	l.count++
	m.size++
	return true
}

// Pop moves the next input to in, and says whether there was one.
func (m *Mailbox) Pop(in *Input) bool {
	if m.size == 0 {
		return false
	}
	for p := range m.lanes {
		l := &m.lanes[p]
		if l.count == 0 {
			continue
		}
		*in = l.ring[l.head]
		l.ring[l.head] = Input{}
		l.head = (l.head + 1) & (len(l.ring) - 1)
		l.count--
		m.size--
		return true
	}
	Bug("mailbox: size %d but all lanes are empty", m.size)
	return false
}

// Len returns how many inputs wait.
func (m *Mailbox) Len() int { return m.size }

// Waiting returns how many inputs wait in one lane.
func (m *Mailbox) Waiting(p Priority) int { return m.lanes[p].count }

// Dropped returns how many inputs a lane has refused.
func (m *Mailbox) Dropped(p Priority) uint64 { return m.dropped[p] }

// Clear forgets everything that waits: the node has crashed.
func (m *Mailbox) Clear() {
	for p := range m.lanes {
		clear(m.lanes[p].ring)
		m.lanes[p].head, m.lanes[p].count = 0, 0
	}
	m.size = 0
}

func (l *lane) grow() {
	ring := make([]Input, max(8, 2*len(l.ring)))
	for i := range l.count {
		ring[i] = l.ring[(l.head+i)&(len(l.ring)-1)]
	}
	l.ring, l.head = ring, 0
}
