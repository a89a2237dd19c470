package seal

import (
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
)

// OpeningLength is what each end of a stream says in clear before its first sealed frame:
//
//	4 bytes of magic, the last one the version
//	8 bytes of a digest of the scope
//	4 names of secrets of 4 bytes each, in the order of preference, zero for none
//	32 random bytes
const OpeningLength = len(magic) + digestLength + secretsMax*len(ID{}) + nonceLength

const (
	magic       = "HSK\x01"
	nonceLength = 32

	digestLength = 8
	namesAt      = len(magic) + digestLength
)

// Overhead is what sealing adds to a frame of a stream.
const Overhead = 16

// Sealed says whether bytes begin as an opening does; four suffice.
func Sealed(b []byte) bool { return len(b) >= len(magic) && string(b[:len(magic)]) == magic }

// Handshake is one end of a stream that begins.
type Handshake struct {
	ring    *Ring
	secrets []Secret
	dialed  bool
	said    [OpeningLength]byte
}

// Begin starts a stream. Dialed says which end this is.
func (r *Ring) Begin(dialed bool) *Handshake {
	h := &Handshake{ring: r, secrets: r.secrets(), dialed: dialed}
	b := append(h.said[:0], magic...)
	b = append(b, r.digest[:]...)
	for i := range secretsMax {
		id := none
		if i < len(h.secrets) {
			id = h.secrets[i].id
		}
		b = append(b, id[:]...)
	}
	_, _ = rand.Read(h.said[len(b):]) // it never returns an error, it ends the process
	return h
}

// Opening is what this end says first.
func (h *Handshake) Opening() []byte { return h.said[:] }

// Keys are the two directions of a stream, and the secret that both ends chose.
type Keys struct {
	ID  ID
	Out *Direction
	In  *Direction
}

// Finish takes what the other end said, of OpeningLength. The caller's first secret that the
// acceptor knows too makes the keys. They depend on all bytes of both openings: neither end accepts
// an opening that was changed, a recorded stream, or its own frames.
func (h *Handshake) Finish(theirs []byte) (Keys, error) {
	if len(theirs) != OpeningLength || !Sealed(theirs) {
		return Keys{}, ErrPlain
	}
	if [digestLength]byte(theirs[len(magic):]) != h.ring.digest {
		return Keys{}, ErrScope
	}
	dialer, acceptor := h.said[:], theirs
	if !h.dialed {
		dialer, acceptor = theirs, h.said[:]
	}
	secret, ok := h.common(dialer, acceptor)
	if !ok {
		return Keys{}, &KeyError{Got: namesIn(theirs), Want: namesIn(h.said[:])}
	}
	sum := sha256.New()
	sum.Write(dialer)
	sum.Write(acceptor)
	root := mix(secret.root, sum.Sum(nil))
	k := Keys{
		ID:  secret.id,
		Out: newDirection(derive(root, "stream from dialer "+h.ring.scope)),
		In:  newDirection(derive(root, "stream from acceptor "+h.ring.scope)),
	}
	if !h.dialed {
		k.Out, k.In = k.In, k.Out
	}
	return k, nil
}

// common returns the dialer's first secret that the acceptor has.
func (h *Handshake) common(dialer, acceptor []byte) (Secret, bool) {
	has := namesIn(acceptor)
	for _, id := range namesIn(dialer) {
		for _, other := range has {
			if id != other {
				continue
			}
			for _, s := range h.secrets {
				if s.id == id {
					return s, true
				}
			}
		}
	}
	return Secret{}, false
}

// namesIn returns the names of an opening.
func namesIn(opening []byte) []ID {
	var ids []ID
	for i := range secretsMax {
		id := ID(opening[namesAt+i*len(ID{}):])
		if id != none {
			ids = append(ids, id)
		}
	}
	return ids
}

// keyFrames is after how many frames a direction takes the next key. TLS 1.3 advises to stay below
// 2^24.5 records of a key of AES-GCM: RFC 8446, 5.5.
const keyFrames = 1 << 24

// Direction seals or opens the frames of one end, in order. The n-th frame has nonce n, so no two
// frames of a key share one. Each 2^24 frames both ends derive the next key.
type Direction struct {
	root   []byte
	aead   cipher.AEAD
	frames uint64 // sealed or opened with this key
	nonce  [12]byte
}

func newDirection(root []byte) *Direction {
	d := &Direction{root: root}
	d.aead = aeadOf(derive(root, "key"))
	return d
}

// next returns the nonce of the next frame.
func (d *Direction) next() []byte {
	if d.frames == keyFrames {
		*d = *newDirection(derive(d.root, "next"))
	}
	binary.BigEndian.PutUint64(d.nonce[4:], d.frames)
	d.frames++
	return d.nonce[:]
}

// Seal appends the sealed frame to b.
func (d *Direction) Seal(b, frame []byte) []byte { return d.aead.Seal(b, d.next(), frame, nil) }

// Open opens the next frame in its own bytes. After an error the direction is of no use: a frame
// is missing, doubled or changed.
func (d *Direction) Open(sealed []byte) ([]byte, error) {
	frame, err := d.aead.Open(sealed[:0], d.next(), sealed, nil)
	if err != nil {
		return nil, ErrForged
	}
	return frame, nil
}
