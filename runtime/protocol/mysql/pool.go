package mysql

// Pool has the memory that connections of one goroutine hold only while an operation is under way.
// The zero value is empty.
type Pool struct {
	idle   [][]byte
	size   int // bytes
	tables []*table
}

const (
	bufferLeast = 512
	bufferMost  = 64 << 10 // larger ones are not kept
	poolMost    = 4 << 20  // bytes
	tablesMost  = 256
)

// buffer returns an empty buffer.
func (p *Pool) buffer() []byte {
	last := len(p.idle) - 1
	if last < 0 {
		return make([]byte, 0, bufferLeast)
	}
	b := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	p.size -= cap(b)
	return b
}

// free takes a buffer back; nil is none.
func (p *Pool) free(b []byte) {
	if n := cap(b); n > 0 && n <= bufferMost && p.size+n <= poolMost {
		p.idle = append(p.idle, b[:0])
		p.size += n
	}
}

// table returns an empty table.
func (p *Pool) table() *table {
	last := len(p.tables) - 1
	if last < 0 {
		return new(table)
	}
	t := p.tables[last]
	p.tables = p.tables[:last]
	return t
}

// freeTable takes a table back; nil is none.
func (p *Pool) freeTable(t *table) {
	if t != nil && len(p.tables) < tablesMost && cap(t.names) <= bufferMost {
		t.reset()
		p.tables = append(p.tables, t)
	}
}
