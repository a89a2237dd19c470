package http2

// tableMost is the dynamic table's size that SETTINGS_HEADER_TABLE_SIZE starts with. The client
// asks for no more, since each connection needs that memory.
const tableMost = 4096

const (
	entryOverhead = 32 // what RFC 7541 (4.1) adds to an entry's bytes
	rowsMost      = tableMost / entryOverhead
)

// row is one entry of the dynamic table: the place of its bytes, the value after the name, and
// its meaning.
type row struct {
	at          uint64 // absolute; table.base is subtracted
	name, value uint16
	nameClass   class
	meaning     meaning
}

// table is the dynamic table (RFC 7541, 2.3.2). Bytes are appended to one buffer, which is
// shifted when it is full, so that an insertion allocates nothing once it has grown.
type table struct {
	bytes []byte
	base  uint64 // absolute position of bytes[0]
	rows  []row  // a ring: its length is a power of two
	first uint32 // the oldest row, not wrapped
	count uint32
	size  int // as RFC 7541 counts
	most  int

	changes uint64 // how often anything was inserted or evicted
}

// reset empties the table and keeps its memory.
func (t *table) reset() {
	*t = table{bytes: t.bytes[:0], rows: t.rows, most: tableMost}
}

// limit takes a size update. Some servers repeat it in each block: that changes nothing.
func (t *table) limit(most int) {
	if most == t.most {
		return
	}
	t.most = most
	t.changes++
	for t.size > t.most {
		t.evict()
	}
}

func (t *table) evict() {
	r := t.row(t.first)
	t.size -= int(r.name) + int(r.value) + entryOverhead
	t.first++
	t.count--
}

func (t *table) row(i uint32) *row { return &t.rows[i&uint32(len(t.rows)-1)] }

// at returns the i-th newest entry, from 0.
func (t *table) at(i uint64) (*row, bool) {
	if i >= uint64(t.count) {
		return nil, false
	}
	return t.row(t.first + t.count - 1 - uint32(i)), true
}

// text returns an entry's name and value, valid until the next insertion.
func (t *table) text(r *row) (name, value []byte) {
	from := r.at - t.base
	middle := from + uint64(r.name)
	return t.bytes[from:middle:middle], t.bytes[middle : middle+uint64(r.value)]
}

// insert adds an entry. Neither name nor value may lie in the table's own bytes.
func (t *table) insert(name, value []byte, c class, m meaning) {
	need := len(name) + len(value)
	t.changes++
	if need+entryOverhead > t.most {
		t.first, t.count, t.size = t.first+t.count, 0, 0 // too large for all: it empties the table
		return
	}
	for t.size+need+entryOverhead > t.most {
		t.evict()
	}
	t.room(need)
	if int(t.count) == len(t.rows) {
		t.growRows()
	}
	*t.row(t.first + t.count) = row{
		at: t.base + uint64(len(t.bytes)), name: uint16(len(name)), value: uint16(len(value)),
		nameClass: c, meaning: m,
	}
	t.bytes = append(append(t.bytes, name...), value...)
	t.count++
	t.size += need + entryOverhead
}

// room makes place for need more bytes, by shifting the live ones down or by growing.
func (t *table) room(need int) {
	if len(t.bytes)+need <= cap(t.bytes) {
		return
	}
	live := t.bytes[len(t.bytes):]
	if t.count > 0 {
		live = t.bytes[t.row(t.first).at-t.base:]
	}
	t.base += uint64(len(t.bytes) - len(live))
	if want := 2 * (len(live) + need); cap(t.bytes) < want {
		t.bytes = append(make([]byte, 0, max(want, 256)), live...)
		return
	}
	t.bytes = t.bytes[:copy(t.bytes[:cap(t.bytes)], live)]
}

func (t *table) growRows() {
	rows := make([]row, max(8, 2*len(t.rows)))
	for i := range t.count {
		rows[(t.first+i)&uint32(len(rows)-1)] = *t.row(t.first + i)
	}
	t.rows = rows
}
