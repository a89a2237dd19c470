package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
)

// A sealed datagram is, in this order,
//
//	1 byte of magic, 1 byte of format
//	4 bytes of the secret's name
//	16 random bytes that the sender draws when it starts, the salt of its key
//	8 bytes of a counter, the nonce
//	the sealed bytes, with a tag of 16
//
// The clear bytes are authenticated with the rest.
const (
	datagramMagic  = 'S'
	datagramFormat = 1
	saltLength     = 16
	clearLength    = 2 + len(ID{}) + saltLength + 8
)

// DatagramOverhead is what sealing adds to a datagram.
const DatagramOverhead = clearLength + Overhead

// SealedDatagram says whether bytes begin as a sealed datagram does.
func SealedDatagram(b []byte) bool {
	return len(b) >= DatagramOverhead && b[0] == datagramMagic && b[1] == datagramFormat
}

// sendersMax bounds how many senders' keys and windows are remembered: twice as many, in two
// generations. Each takes about 2 KiB.
const sendersMax = 8192

type salt [saltLength]byte

// datagramKey derives the key of a sender.
func (r *Ring) datagramKey(s Secret, of salt) cipher.AEAD {
	return aeadOf(derive(mix(s.root, of[:]), "datagram "+r.scope))
}

// Sender seals datagrams. One goroutine uses it.
type Sender struct {
	ring    *Ring
	id      ID
	aead    cipher.AEAD // nil before the first
	salt    salt
	counter uint64 // datagrams of this salt
}

// NewSender returns the sender of one run of a process.
func (r *Ring) NewSender() *Sender { return &Sender{ring: r} }

// Seal appends the sealed datagram to b.
func (s *Sender) Seal(b, frame []byte) []byte {
	// A salt belongs to one secret for at most keyFrames datagrams of one process: no two datagrams
	// share key and nonce, whatever happens to disks and clocks.
	if now := s.ring.secrets()[0]; s.aead == nil || now.id != s.id || s.counter == keyFrames {
		_, _ = rand.Read(s.salt[:]) // it never returns an error, it ends the process
		s.id, s.counter = now.id, 0
		s.aead = s.ring.datagramKey(now, s.salt)
	}
	at := len(b)
	b = append(b, datagramMagic, datagramFormat)
	b = append(b, s.id[:]...)
	b = append(b, s.salt[:]...)
	b = binary.BigEndian.AppendUint64(b, s.counter)
	var nonce [12]byte
	binary.BigEndian.PutUint64(nonce[4:], s.counter)
	s.counter++
	return s.aead.Seal(b, nonce[:], frame, b[at:])
}

// Receiver opens datagrams, each once. One goroutine uses it.
type Receiver struct {
	ring *Ring
	// young holds the senders that were heard last, old those before. When young is full it becomes
	// old: who was not heard meanwhile is forgotten.
	young, old map[who]*sender
}

// who is one sender under one secret.
type who struct {
	id   ID
	salt salt
}

type sender struct {
	aead   cipher.AEAD
	window window
}

// NewReceiver returns the receiver of one process.
func (r *Ring) NewReceiver() *Receiver {
	return &Receiver{ring: r, young: map[who]*sender{}}
}

// Open opens a datagram in its own bytes. A sender whom this process has not heard lately may be an
// old one whose datagrams are replayed: only messages that change nothing a second time travel in
// datagrams.
func (r *Receiver) Open(b []byte) ([]byte, error) {
	if !SealedDatagram(b) {
		return nil, ErrPlain
	}
	from := who{id: ID(b[2:]), salt: salt(b[2+len(ID{}):])}
	secret, ok := r.ring.find(from.id)
	if !ok {
		return nil, &KeyError{Got: []ID{from.id}, Want: r.ring.IDs()}
	}
	s, known := r.known(from)
	if !known {
		s = &sender{aead: r.ring.datagramKey(secret, from.salt)}
	}
	counter := binary.BigEndian.Uint64(b[clearLength-8:])
	if !s.window.fresh(counter) {
		return nil, ErrReplayed
	}
	var nonce [12]byte
	binary.BigEndian.PutUint64(nonce[4:], counter)
	clear, sealed := b[:clearLength], b[clearLength:]
	frame, err := s.aead.Open(sealed[:0], nonce[:], sealed, clear)
	if err != nil {
		return nil, ErrForged
	}
	s.window.mark(counter)
	if !known {
		r.remember(from, s)
	}
	return frame, nil
}

// known finds a sender, and keeps it.
func (r *Receiver) known(from who) (*sender, bool) {
	if s, ok := r.young[from]; ok {
		return s, true
	}
	s, ok := r.old[from]
	if ok {
		r.remember(from, s)
	}
	return s, ok
}

func (r *Receiver) remember(from who, s *sender) {
	if len(r.young) >= sendersMax {
		r.young, r.old = map[who]*sender{}, r.young
	}
	r.young[from] = s
}
