package http1

// Insert is bytes that stand in a body and lie elsewhere, such as in a file's mapping: all that
// send them share them, and they are not copied.
type Insert struct {
	At   int // of the body's own bytes, as many stand before it
	Data []byte
}

// Inserted returns how many bytes inserts have.
func Inserted(all []Insert) (n int) {
	for i := range all {
		n += len(all[i].Data)
	}
	return n
}

// Message is a request as it goes on the wire: its own bytes, and inserts between them.
type Message struct {
	Bytes   []byte // head and body
	Head    int    // length of the head; inserts count from there
	Inserts []Insert
}

// Len returns how many bytes go on the wire.
func (m *Message) Len() int { return len(m.Bytes) + Inserted(m.Inserts) }

// From returns the bytes behind so many that are gone, as far as they lie in one place: some,
// unless all are gone.
func (m *Message) From(gone int) []byte {
	if len(m.Inserts) == 0 {
		return m.Bytes[gone:]
	}
	own := 0 // bytes of its own that stand before the next insert
	for i := range m.Inserts {
		in := &m.Inserts[i]
		at := m.Head + in.At
		if gone < at-own {
			return m.Bytes[own+gone : at]
		}
		gone, own = gone-(at-own), at
		if gone < len(in.Data) {
			return in.Data[gone:]
		}
		gone -= len(in.Data)
	}
	return m.Bytes[own+gone:]
}
