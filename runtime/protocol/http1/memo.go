package http1

import "bytes"

// memo is a head that arrived in one piece, with its parsed form. Within the second of its Date
// a server mostly sends the same head again. Comparing the bytes costs a tenth of parsing them.
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

// memos are indexed by the length of the read bytes, so that the answers of several steps do
// not displace each other.
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

// remember keeps the head just parsed, the first bytes of b. It skips a head with a cookie,
// which the parser must read each time.
func (p *Parser) remember(b []byte, head int) {
	if head > memoMax || p.interim > 0 || p.common.Len() > 0 {
		return
	}
	m := p.common.memos.of(b)
	m.head = append(m.head[:0], b[:head]...)
	m.asked, m.left, m.status = p.flags&(flagHead|flagUpgrade), p.chunks.left, p.status
	m.keepMax, m.flags, m.state = p.keepMax, p.flags, p.state
}
