package message

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/tinylib/msgp/msgp"

	"hyperscale/core/node"
)

// SwimNews reports a member's state, at an incarnation of its own.
type SwimNews struct {
	Node        string
	Addr        string // with Role: only for a receiver that may not know the member
	Role        uint8
	Incarnation uint64        // the node's incarnation << 32, plus one for each refutation
	State       uint8         // 0 alive, 1 suspect, 2 dead, 3 left
	By          string        // the accuser, empty for the member itself
	Age         time.Duration // of a death or leave: how long ago a member first learnt it
}

// SwimNewsList is the encoding of news on a datagram. As most of a group's traffic is news,
// they are not msgpack but one string of bytes. Each piece has a byte of flags and state; the
// name; the incarnation's halves; then what the flags name. Numbers are varints, strings have
// their length first.
type SwimNewsList []SwimNews

// The flags of a piece of news, and the position of its state.
const (
	newsWhole      = 1 << iota // address and role
	newsBy                     // the accuser
	newsAge                    // in milliseconds
	newsFineAge                // in nanoseconds
	newsState      = 4
	newsStateAfter = 0xf // the state did not fit, and has its own byte
)

// newsMax bounds the decoded list, as msgp:limit does elsewhere.
const newsMax = 4096

func (n *SwimNews) flags() byte {
	f := min(n.State, newsStateAfter) << newsState
	if n.Addr != "" || n.Role != 0 {
		f |= newsWhole
	}
	if n.By != "" {
		f |= newsBy
	}
	switch {
	case n.Age == 0:
	case n.Age%time.Millisecond == 0:
		f |= newsAge
	default:
		f |= newsFineAge
	}
	return f
}

// Bytes returns the exact encoded size of n within a list.
func (n *SwimNews) Bytes() int {
	f := n.flags()
	size := 1 + sizeText(n.Node) + sizeVarint(n.Incarnation>>32) + sizeVarint(n.Incarnation&0xffffffff)
	if f>>newsState == newsStateAfter {
		size++
	}
	if f&newsWhole != 0 {
		size += sizeText(n.Addr) + 1
	}
	if f&newsBy != 0 {
		size += sizeText(n.By)
	}
	if f&(newsAge|newsFineAge) != 0 {
		size += sizeVarint(zigzag(n.age(f)))
	}
	return size
}

// age returns the number that encodes the age.
func (n *SwimNews) age(flags byte) int64 {
	if flags&newsAge != 0 {
		return int64(n.Age / time.Millisecond)
	}
	return int64(n.Age)
}

func sizeVarint(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func sizeText(s string) int { return sizeVarint(uint64(len(s))) + len(s) }

func zigzag(v int64) uint64 { return uint64(v)<<1 ^ uint64(v>>63) }

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (n *SwimNews) append(b []byte) []byte {
	f := n.flags()
	b = append(b, f)
	if f>>newsState == newsStateAfter {
		b = append(b, n.State)
	}
	b = appendText(b, n.Node)
	b = binary.AppendUvarint(b, n.Incarnation>>32)
	b = binary.AppendUvarint(b, n.Incarnation&0xffffffff)
	if f&newsWhole != 0 {
		b = append(appendText(b, n.Addr), n.Role)
	}
	if f&newsBy != 0 {
		b = appendText(b, n.By)
	}
	if f&(newsAge|newsFineAge) != 0 {
		b = binary.AppendVarint(b, n.age(f))
	}
	return b
}

// newsReader reads pieces; after the first fault all values are zero.
type newsReader struct {
	b   []byte
	bad bool
}

func (r *newsReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *newsReader) number() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || n != sizeVarint(v) { // one value has one encoding
		r.b, r.bad = nil, true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *newsReader) text() string {
	n := r.number()
	if n > uint64(len(r.b)) {
		r.b, r.bad = nil, true
		return ""
	}
	s := string(r.b[:n])
	r.b = r.b[n:]
	return s
}

func (r *newsReader) signed() int64 {
	v := r.number()
	return int64(v>>1) ^ -int64(v&1)
}

func (n *SwimNews) read(r *newsReader) {
	f := r.byte()
	if n.State = f >> newsState; n.State == newsStateAfter {
		n.State = r.byte()
	}
	n.Node = r.text()
	high, low := r.number(), r.number()
	r.bad = r.bad || high > 0xffffffff || low > 0xffffffff
	n.Incarnation = high<<32 | low
	if f&newsWhole != 0 {
		n.Addr, n.Role = r.text(), r.byte()
	}
	if f&newsBy != 0 {
		n.By = r.text()
	}
	switch {
	case f&newsAge != 0:
		ms := r.signed()
		n.Age = time.Duration(ms) * time.Millisecond
		r.bad = r.bad || int64(n.Age/time.Millisecond) != ms
	case f&newsFineAge != 0:
		n.Age = time.Duration(r.signed())
	}
	r.bad = r.bad || n.flags() != f // one piece has one encoding
}

// bytes returns the exact encoded size of the pieces.
func (l SwimNewsList) bytes() int {
	n := 0
	for i := range l {
		n += l[i].Bytes()
	}
	return n
}

// MarshalMsg implements msgp.Marshaler: nil without news.
func (l SwimNewsList) MarshalMsg(b []byte) ([]byte, error) {
	if len(l) == 0 {
		return msgp.AppendNil(b), nil
	}
	b = msgp.AppendBytesHeader(b, uint32(l.bytes()))
	for i := range l {
		b = l[i].append(b)
	}
	return b, nil
}

// UnmarshalMsg implements msgp.Unmarshaler.
func (l *SwimNewsList) UnmarshalMsg(b []byte) ([]byte, error) {
	*l = nil
	if msgp.IsNil(b) {
		return msgp.ReadNilBytes(b)
	}
	packed, rest, err := msgp.ReadBytesZC(b)
	if err != nil {
		return b, err
	}
	r := newsReader{b: packed}
	for len(r.b) > 0 {
		if len(*l) == newsMax {
			return b, fmt.Errorf("more than %d pieces of news", newsMax)
		}
		var n SwimNews
		if n.read(&r); r.bad {
			return b, fmt.Errorf("piece %d of %d bytes of news makes no sense", len(*l), len(packed))
		}
		*l = append(*l, n)
	}
	if len(*l) == 0 {
		return b, fmt.Errorf("no news are nil, not empty")
	}
	return rest, nil
}

// Msgsize implements msgp.Sizer.
func (l SwimNewsList) Msgsize() int { return l.size() }

func (l SwimNewsList) size() int {
	if len(l) == 0 {
		return 1
	}
	return sizeBytes(l.bytes())
}

func (l SwimNewsList) digest(h uint64) uint64 {
	h = node.Mix(h, uint64(len(l)))
	for i := range l {
		n := &l[i]
		h = node.MixString(node.MixString(h, n.Node), n.Addr)
		h = node.Mix(node.Mix(node.Mix(h, uint64(n.Role)), n.Incarnation), uint64(n.State))
		h = node.Mix(node.MixString(h, n.By), uint64(n.Age))
	}
	return h
}

func (l SwimNewsList) check() error {
	for i := range l {
		if l[i].Node == "" {
			return &MissingError{Path: "node"}
		}
		if l[i].Incarnation == 0 {
			return &MissingError{Path: "incarnation"}
		}
	}
	return nil
}
