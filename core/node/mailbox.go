package node

// MailboxConfig bounds the four lanes, in inputs. CRITICAL has a bound too: its few senders
// have at most one message outstanding each, so a full lane shows a peer that violates the
// protocol.
type MailboxConfig struct {
	Lanes [Priorities]int
}

// DefaultMailbox returns the bounds of a node: a burst of one message from each
// of 1,000 peers fits every lane.
func DefaultMailbox() MailboxConfig {
	return MailboxConfig{Lanes: [Priorities]int{4096, 4096, 4096, 1024}}
}

// Mailbox queues inputs for a busy node in four first-in first-out lanes, CRITICAL first. It
// has no lock of its own: the runtime locks around it, and the simulator has one thread.
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

// Push queues an input in its lane and reports whether there was room. It rejects only messages
// and commands. Timers, completions, executor events and broken streams always fit: the node
// itself bounds how many it starts. The caller must break the stream of a rejected message.
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

// Pop moves the next input to in, and reports whether there was one.
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

// Dropped returns how many inputs a lane has rejected.
func (m *Mailbox) Dropped(p Priority) uint64 { return m.dropped[p] }

// Clear drops all waiting inputs: the node has crashed.
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
