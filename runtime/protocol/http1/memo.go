package http1

import "bytes"

// memo is a head that came in one piece, and what it said. Until the second of its Date
// is over a server mostly says the same, and bytes that are the same say the same: to
// compare them costs a tenth of reading them.
type memo struct {
	head    []byte // empty: none yet
	asked   flag   // of the request
	left    int64
	status  uint16
	keepMax uint16
	flags   flag
	state   state
}

// memoMax is the longest head that is remembered, in bytes.
const memoMax = 1 << 10

// memos are chosen by the length of what was read, so that the answers of several steps
// do not displace each other.
type memos [4]memo

func (m *memos) of(b []byte) *memo { return &m[len(b)%len(m)] }

// atStart reports that nothing of a response has arrived, and that its head is not collected.
func (p *Parser) atStart() bool {
	return p.state == stateStatus && p.common != nil && p.collector == nil && p.interim == 0 && len(p.chunks.carry) == 0
}

// recall reads a head that is remembered, and returns its length; 0: it is not.
func (p *Parser) recall(b []byte) int {
	m := p.common.memos.of(b)
	if len(m.head) == 0 || m.asked != p.flags || !bytes.HasPrefix(b, m.head) {
		return 0
	}
	p.status, p.keepMax, p.flags, p.state = m.status, m.keepMax, m.flags, m.state
	p.chunks.left = m.left
	return len(m.head)
}

// remember keeps the head that has just been read, the first bytes of what came. One that
// sets a cookie is read each time, as its cookie goes elsewhere.
func (p *Parser) remember(b []byte, head int) {
	if head > memoMax || p.interim > 0 || p.common.Len() > 0 {
		return
	}
	m := p.common.memos.of(b)
	m.head = append(m.head[:0], b[:head]...)
	m.asked, m.left, m.status = p.flags&flagHead, p.chunks.left, p.status
	m.keepMax, m.flags, m.state = p.keepMax, p.flags, p.state
}
